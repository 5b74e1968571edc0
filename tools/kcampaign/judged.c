/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judged: what the rounds of a linear search are judged by: the set of shapes, the task except its
 * descriptions, and the programs that results are compared with. The seal records them when round 1
 * is closed, and from then on they may not change: a wider tolerance, a slower reference or other
 * shapes would make later rounds look better. See kcampaign.h.
 */
#include "kcampaign.h"

#include "kseal.h"
#include "ktask.h"

#define FROZEN "frozen"

/* Characters shown of the old and the new value of a change. */
enum { SHOWN = 60 };

/*
 * Members of a task that have no influence on verdicts, and workloads, which are compared by name.
 * Baselines are only shown next to a result. The formulas for what a call computes and moves, for a
 * roofline, may be added or corrected later, but not removed: reports have shown them.
 */
static bool
is_aside(const char *member, bool there)
{
	static const char *const aside[] = { "name", "description", "baselines", "workloads" };

	if (there && (!strcmp(member, "flops") || !strcmp(member, "bytes")))
		return true;

	return kindex_of(member, aside, LEN(aside)) < LEN(aside);
}

/* The line of the seal, or NULL: round 1 is open. New reference. */
static json_t *
frozen_line(void)
{
	struct kseal s;
	json_t *line;

	kseal_open(&s, ".", FROZEN);
	line = json_incref((json_t *)kseal_last(&s, FROZEN));
	kseal_close(&s);
	return line;
}

/* Adds the current state as a line of S. */
static void
add_frozen(struct kseal *s)
{
	auto_free char **paths = NULL;
	struct ktask *t = ktask_load(camp->task);
	json_auto_t *recordings = ktask_recordings(t->json);
	size_t n = 0;

	paths = kcalloc(json_array_size(recordings) + 3, sizeof *paths);
	paths[n++] = ktask_path(t, t->reference);
	if (t->oracle)
		paths[n++] = ktask_path(t, t->oracle);
	for (size_t i = 0; i < json_array_size(recordings); i++)
		paths[n++] = ktask_path(t, json_string_value(json_array_get(recordings, i)));
	kseal_add(s, FROZEN,
	    json_pack("{s:O,s:s,s:o}", "task", t->json, "set", kcamp_str(camp, "eval.set"), "files",
	        kseal_files(".", (const char *const *)paths)));
	while (n)
		free(paths[--n]);
	ktask_free(t);
}

bool
judged_freeze(void)
{
	int lock = kseal_lock(".", true);
	struct kseal s;
	bool first;

	kseal_open(&s, ".", FROZEN);
	first = !kseal_last(&s, FROZEN);
	if (first)
		add_frozen(&s);
	kseal_save(&s);
	kseal_close(&s);
	close(lock);
	return first;
}

/* The changes of a campaign, for a message. */
struct changes {
	struct kbuf *text;
	long long line; /* of the seal */
};

static void
add_change(const struct changes *c, const char *file, const char *what, const json_t *was,
    const json_t *now)
{
	auto_free char *before = was
	    ? json_dumps(was, KIO_DUMP | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))
	    : NULL,
	               *after = now
	    ? json_dumps(now, KIO_DUMP | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))
	    : NULL;

	kbuf_printf(c->text, "%s: %s", file, what);
	if (before && after)
		kbuf_printf(c->text, " changed since round 1, from %.*s to %.*s", SHOWN, before,
		    SHOWN, after);
	else
		kbuf_printf(c->text, " was %s since round 1", before ? "removed" : "added");
	kbuf_printf(c->text,
	    ", so rounds before and after cannot be compared (" KSEAL_FILE ":%lld); restore it, or "
	    "begin a new campaign\n",
	    c->line);
}

/* The members in which two objects differ; NAME is put before theirs, unless it is "". */
static void
compare(const struct changes *c, const char *file, const char *name, const json_t *was,
    const json_t *now)
{
	json_auto_t *both = json_copy((json_t *)was);
	json_t *value;
	const char *member;

	json_object_update(both, (json_t *)now);
	json_object_foreach(both, member, value) {
		const json_t *a = json_object_get(was, member), *b = json_object_get(now, member);
		auto_free char *what = kasprintf("%s%s%s", name, *name ? ": " : "", member);

		if ((*name || !is_aside(member, b)) && !(a && b && json_equal(a, b)))
			add_change(c, file, what, a, b);
	}
}

/* The workloads of LIST, with the keys "workload NAME". New reference. */
static json_t *
by_name(const json_t *list)
{
	json_t *all = json_object(), *w;
	size_t i;

	json_array_foreach((json_t *)list, i, w) {
		auto_free char *what = kasprintf("workload %s", kjson_str_or(w, "name", ""));

		json_object_set(all, what, w);
	}
	return all;
}

static void
compare_workloads(const struct changes *c, const char *file, const json_t *was, const json_t *now)
{
	json_auto_t *before = by_name(was), *after = by_name(now), *both = json_copy(before);
	json_t *w;
	const char *what;

	json_object_update(both, after);
	json_object_foreach(both, what, w) {
		const json_t *a = json_object_get(before, what), *b = json_object_get(after, what);

		if (a && b)
			compare(c, file, what, a, b);
		else
			add_change(c, file, what, a, b);
	}
}

bool
judged_faults(struct kbuf *text)
{
	json_auto_t *line = frozen_line();
	json_t *now, *set;
	const json_t *was = json_object_get(line, "task");
	struct changes c = { text, (long long)kjson_int_or(line, "n", 0) };
	size_t before = text->len;
	char *fault;

	if (line) {
		now = kjson_load(camp->task);
		set = json_string(kcamp_str(camp, "eval.set"));
		if (!json_equal(set, json_object_get(line, "set")))
			add_change(&c, camp->file, "eval.set", json_object_get(line, "set"), set);
		compare(&c, camp->task, "", was, now);
		compare_workloads(&c, camp->task, json_object_get(was, "workloads"),
		    json_object_get(now, "workloads"));
		fault = kseal_changed(".", FROZEN, "round 1 was closed");
		kbuf_printf(text, "%s%s", fault ? fault : "", fault ? "\n" : "");
		free(fault);
		json_decref(set);
		json_decref(now);
	}
	return text->len > before;
}
