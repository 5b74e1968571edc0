/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judged: what the rounds of a linear search are judged by: the task but for its words, and the
 * programs that results are held against. Digests of it are noted when round 1 is closed, and
 * nothing else is accepted from then on: a wider tolerance or a slower reference would make later
 * rounds look better. See kcampaign.h.
 */
#include "kcampaign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "ktask.h"

#define JUDGED "trials/000/judged.json"

enum { SOURCE_MAX = 64 << 20 };

/*
 * Members of a task that judge nothing, and workloads, which are noted by name. Baselines are shown
 * beside a result.
 */
static bool
is_aside(const char *member)
{
	static const char *const aside[] = { "name", "description", "baselines", "workloads" };

	for (size_t i = 0; i < LEN(aside); i++)
		if (!strcmp(aside[i], member))
			return true;
	return false;
}

static json_t *
digest_of(const json_t *value)
{
	char *dump = json_dumps(value, KIO_DUMP | JSON_ENCODE_ANY), hex[65];

	ksha256_hex(dump, strlen(dump), hex);
	free(dump);
	return json_string(hex);
}

static void
add_file(json_t *files, const struct ktask *t, const char *name)
{
	char *path = name ? ktask_path(t, name) : NULL, *data, hex[65];
	size_t len;

	if (!path)
		return;
	data = kread_file(path, SOURCE_MAX, &len);
	if (!data && errno != ENOENT)
		kdie_errno(K_IO, "%s", path);
	if (data) {
		ksha256_hex(data, len, hex);
		json_object_set_new(files, name, json_string(hex));
	}
	free(data);
	free(path);
}

static json_t *
judged_json(const struct ktask *t)
{
	json_t *task = json_object(), *workloads = json_object(), *files = json_object(), *value;
	const char *member;
	size_t i;

	json_object_foreach(t->json, member, value) if (!is_aside(member))
	    json_object_set_new(task, member, digest_of(value));
	json_array_foreach(json_object_get(t->json, "workloads"), i, value)
	    json_object_set_new(workloads, kjson_str_or(value, "name", ""), digest_of(value));
	add_file(files, t, t->reference);
	add_file(files, t, t->oracle);
	return json_pack("{s:s,s:o,s:o,s:o}", "schema", "judged/1", "task", task, "workloads",
	    workloads, "files", files);
}

/* A line for each member of WHICH that is not what it was. */
static void
add_changes(
    struct kbuf *text, const char *file, const json_t *was, const json_t *now, const char *which)
{
	json_t *both = json_copy(json_object_get(was, which)), *digest;
	const char *name;

	json_object_update(both, json_object_get(now, which));
	json_object_foreach(both, name, digest)
	{
		const json_t *a = json_object_get(json_object_get(was, which), name),
		             *b = json_object_get(json_object_get(now, which), name);

		if (!a || !b || !json_equal(a, b))
			kbuf_printf(text,
			    "%s: %s%s %s since round 1, so rounds before and after cannot be "
			    "compared (" JUDGED "); restore it, or begin a new campaign\n",
			    file, strcmp(which, "workloads") ? "" : "workload ", name,
			    !b       ? "was removed"
			        : !a ? "was added"
			             : "changed");
	}
	json_decref(both);
}

bool
judged_faults(const struct kcamp *c, struct kbuf *text)
{
	static const char *const parts[] = { "task", "workloads", "files" };
	char *file = kcamp_path(c, kcamp_str(c, "task"));
	size_t before = text->len;
	struct ktask *t;
	json_t *was, *now;

	/*
	 * A run that was killed may leave it while round 1 is open. Campaigns from before there was
	 * such a file have none; in one that has, kround vouches for it.
	 */
	if (shapes_frozen() && exists(JUDGED)) {
		t = ktask_load(file);
		was = kjson_load(JUDGED);
		now = judged_json(t);
		for (size_t i = 0; i < LEN(parts); i++)
			add_changes(text, file, was, now, parts[i]);
		json_decref(now);
		json_decref(was);
		ktask_free(t);
	}
	free(file);
	return text->len > before;
}

void
judged_freeze(const struct kcamp *c)
{
	char *file = kcamp_path(c, kcamp_str(c, "task"));
	struct ktask *t = ktask_load(file);
	json_t *now = judged_json(t);

	freeze(JUDGED, now);
	json_decref(now);
	ktask_free(t);
	free(file);
}
