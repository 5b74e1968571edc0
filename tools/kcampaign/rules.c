/* SPDX-License-Identifier: Apache-2.0 */
/* What views depend on beside records, as files that make can compare. See kcampaign.h. */
#include "kcampaign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kio.h"

#define FOLDER "trials/.rules"
#define TABLE_MAX ((size_t)16 << 20)

/* A kind of view, and the knobs (or groups of knobs, with a final dot) that it depends on. */
static const struct {
	const char *view;
	const char *knobs[6];
} rules[] = {
	{ "classify", { "classify.", "backend" } },
	{ "score", { "score." } },
	{ "archive", { "name", "search.", "prompt.errors", "prompt.error_chars" } },
	{ "gradient", { "gradient.", "backend" } },
};

static bool
depends(const char *const *knobs, size_t count, const char *path)
{
	for (size_t i = 0; i < count && knobs[i]; i++) {
		size_t n = strlen(knobs[i]);

		if (!strcmp(knobs[i], path) || (knobs[i][n - 1] == '.' && !strncmp(knobs[i], path, n)))
			return true;
	}
	return false;
}

/* Knobs as they hold, defaults included: writing a default down changes nothing. */
static void
add_knobs(struct kbuf *text, const struct kcamp *c, const char *const *paths, size_t count)
{
	for (size_t i = 0; i < kknobs_count; i++) {
		const struct kknob *k = &kknobs[i];
		const json_t *v = kjson_path(c->json, k->path);
		char *value;

		if (!depends(paths, count, k->path))
			continue;
		if (k->type == KKNOB_NUM || k->type == KKNOB_INT)
			value = kasprintf("%.17g", kcamp_num(c, k->path));
		else if (v && json_is_string(v))
			value = kstrdup(json_string_value(v));
		else
			value = v ? json_dumps(v, KIO_DUMP | JSON_ENCODE_ANY) : kstrdup(k->def);
		kbuf_printf(text, "%s=%s\n", k->path, value);
		free(value);
	}
}

/* The pattern table and those it extends: their digests, so that only a change of content counts. */
static void
add_tables(struct kbuf *text, const struct kcamp *c)
{
	const char *own = kcamp_str(c, "classify.patterns");
	char *path, *name = NULL;

	if (*own) {
		path = kcamp_path(c, own);
	} else {
		name = kasprintf("patterns/%s.json", kcamp_str(c, "backend"));
		path = kdata_path(name);
	}
	for (int depth = 0; path && depth < 8; depth++) {
		json_t *table = kjson_load(path);
		const char *base = kjson_str_or(table, "extends", NULL);
		size_t len;
		char *data = kread_file_or_die(path, TABLE_MAX, &len), *slash = strrchr(path, '/'), hex[65];

		ksha256_hex(data, len, hex);
		kbuf_printf(text, "table=%s\n", hex);
		free(data);
		free(name);
		name = !base ? NULL : slash ? kasprintf("%.*s/%s", (int)(slash - path), path, base) : kstrdup(base);
		free(path);
		path = name ? kstrdup(name) : NULL;
		json_decref(table);
	}
	free(path);
	free(name);
}

static void
write_if_changed(const char *path, const struct kbuf *text)
{
	size_t len;
	char *old = kread_file(path, TABLE_MAX, &len);

	if (!old && errno != ENOENT)
		kdie_errno(K_IO, "%s", path);
	if (!old || len != text->len || memcmp(old, text->data, len))
		if (kwrite_file(path, text->data, text->len) < 0)
			kdie_errno(K_IO, "%s", path);
	free(old);
}

void
rules_refresh(const struct kcamp *c)
{
	if ((mkdir("trials", 0777) < 0 && errno != EEXIST) || (mkdir(FOLDER, 0777) < 0 && errno != EEXIST))
		kdie_errno(K_IO, "%s", FOLDER);
	for (size_t i = 0; i < LEN(rules); i++) {
		char *path = kasprintf(FOLDER "/%s", rules[i].view);
		struct kbuf text = { 0 };

		add_knobs(&text, c, rules[i].knobs, LEN(rules[i].knobs));
		if (!strcmp(rules[i].view, "classify"))
			add_tables(&text, c);
		write_if_changed(path, &text);
		kbuf_free(&text);
		free(path);
	}
}

static bool
newer(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* The gradient is the last view of a trial to be made: it hangs on the archive. */
bool
rules_newer(long trial)
{
	char *view = trial_path(trial, "gradient.ndjson");
	struct stat rule, made;
	bool yes = stat(view, &made) < 0;

	for (size_t i = 0; i < LEN(rules) && !yes; i++) {
		char *path = kasprintf(FOLDER "/%s", rules[i].view);

		yes = stat(path, &rule) == 0 && newer(&rule, &made);
		free(path);
	}
	free(view);
	return yes;
}
