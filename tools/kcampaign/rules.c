/* SPDX-License-Identifier: Apache-2.0 */
/* What views depend on besides records, as files that make can compare. See kcampaign.h. */
#include "kcampaign.h"

#include "khw.h"
#include "kseal.h"

#define FOLDER "trials/.rules"
#define TABLE_MAX ((size_t)16 << 20)

/*
 * A kind of view, and the knobs (or groups of knobs, with a final dot) that it depends on. When a
 * new version of a tool makes different views, its form changes here, so that old views are made
 * again.
 */
static const struct {
	const char *view, *form, *knobs[6];
} rules[] = {
	{ "classify", "", { "classify.", "backend" } },
	{ "audit", "", { "backend", "task" } },
	{ "roofline", "", { "gpu", "backend", "task" } },
	{ "score", "form=2\n", { "score." } },
	{ "archive", "form=2\n", { "name", "search." } },
	{ "gradient", "form=2\n", { "gradient.", "backend" } },
};

static bool
depends(const char *const *knobs, size_t count, const char *path)
{
	for (size_t i = 0; i < count && knobs[i]; i++) {
		size_t n = strlen(knobs[i]);

		if (!strcmp(knobs[i], path) ||
		    (knobs[i][n - 1] == '.' && !strncmp(knobs[i], path, n)))
			return true;
	}
	return false;
}

/* Values of knobs, including defaults: writing down a default changes nothing. */
static void
add_knobs(struct kbuf *text, const char *const *paths, size_t count)
{
	for (size_t i = 0; i < kknobs_count; i++) {
		const struct kknob *k = &kknobs[i];
		const json_t *v = kjson_path(camp->json, k->path);
		char *value;

		if (!depends(paths, count, k->path))
			continue;
		if (k->type == KKNOB_NUM || k->type == KKNOB_INT)
			value = kasprintf("%.17g", kcamp_num(camp, k->path));
		else if (v && json_is_string(v))
			value = kstrdup(json_string_value(v));
		else
			value = v ? json_dumps(v, KIO_DUMP | JSON_ENCODE_ANY) : kstrdup(k->def);
		kbuf_printf(text, "%s=%s\n", k->path, value);
		free(value);
	}
}

/* The digest of a file, so that only a change of content counts. */
static void
add_file(struct kbuf *text, const char *what, const char *path)
{
	char hex[65];

	kbuf_printf(text, "%s=%s\n", what, kseal_file(path, hex) ? hex : "none");
}

/* The pattern table and the tables that it extends. */
static void
add_tables(struct kbuf *text)
{
	const char *own = kcamp_str(camp, "classify.patterns");
	char *path, *name = NULL;

	if (*own) {
		path = kcamp_path(camp, own);
	} else {
		name = kasprintf("patterns/%s.json", kcamp_str(camp, "backend"));
		path = kdata_path(name);
	}
	for (int depth = 0; path && depth < 8; depth++) {
		json_auto_t *table = kjson_load(path);
		const char *base = kjson_str_or(table, "extends", NULL),
		           *slash = strrchr(path, '/');

		add_file(text, "table", path);
		free(name);
		name = !base ? NULL
		    : slash  ? kasprintf("%.*s/%s", (int)(slash - path), path, base)
		             : kstrdup(base);
		free(path);
		path = name ? kstrdup(name) : NULL;
	}
	free(path);
	free(name);
}

/* What people have waived. */
static void
add_waiver(const char *path, void *text)
{
	add_file(text, path, path);
}

/* The audit depends on its rules, on roles and groups in the task, and on waivers. */
static void
add_audit(struct kbuf *text)
{
	auto_free char *table = kdata_path("patterns/audit.json");

	add_file(text, "table", table);
	add_file(text, "task", camp->task);
	keach_path(kstrdup("waivers/*.md"), add_waiver, text);
}

/* Decisions of a linear search also depend on the task's core workloads and pairs. */
static void
add_linear(struct kbuf *text)
{
	static const char *const knobs[] = { "linear.", "search.mode" };
	char *dump, hex[65];
	json_auto_t *task = kjson_if_there(camp->task) ?: json_object();
	json_t *workloads = json_object_get(task, "workloads");

	add_knobs(text, knobs, LEN(knobs));
	dump = json_dumps(workloads ? workloads : task, KIO_DUMP);
	ksha256_hex(dump, strlen(dump), hex);
	kbuf_printf(text, "workloads=%s\n", hex);
	free(dump);
}

/*
 * What a roofline depends on besides knobs: the task, the hardware facts, and what a person
 * confirmed.
 */
static void
add_roofline(struct kbuf *text)
{
	struct khw *h = khw_load(NULL, ".");
	auto_free char *consent = kcamp_path(camp, "placeholder.ok");

	for (size_t i = 0; i < h->count; i++)
		kbuf_printf(text, "%s=%s\n", h->devices[i].file, h->devices[i].sha256);
	add_file(text, "task.json", camp->task);
	add_file(text, "placeholder.ok", consent);
	khw_free(h);
}

void
write_if_changed(const char *path, const struct kbuf *text)
{
	size_t len;
	auto_free char *old = kread_if_there(path, TABLE_MAX, &len);

	if (!old || len != text->len || memcmp(old, text->data, len))
		kwrite_or_die(path, text->data, text->len);
}

void
rules_refresh(void)
{
	if ((mkdir("trials", 0777) < 0 && errno != EEXIST) ||
	    (mkdir(FOLDER, 0777) < 0 && errno != EEXIST))
		kdie_errno(K_IO, "%s", FOLDER);
	for (size_t i = 0; i < LEN(rules); i++) {
		auto_free char *path = kasprintf(FOLDER "/%s", rules[i].view);
		auto_buf struct kbuf text = { 0 };

		kbuf_puts(&text, rules[i].form);
		add_knobs(&text, rules[i].knobs, LEN(rules[i].knobs));
		if (!strcmp(rules[i].view, "classify"))
			add_tables(&text);
		if (!strcmp(rules[i].view, "audit"))
			add_audit(&text);
		if (!strcmp(rules[i].view, "score") && kcamp_linear(camp))
			add_linear(&text);
		if (!strcmp(rules[i].view, "roofline"))
			add_roofline(&text);
		write_if_changed(path, &text);
	}
}

static bool
newer(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* A second is within the normal inaccuracy of clocks. */
static bool
from_future(const struct stat *st)
{
	return st->st_mtim.tv_sec > time(NULL) + 1;
}

/* The gradient is made last of a trial's views: it depends on the archive. */
bool
rules_newer(long trial)
{
	auto_free char *view = trial_path(trial, "gradient.ndjson");
	struct stat rule, made;
	bool yes = !kfind(view, &made) || from_future(&made);

	for (size_t i = 0; i < LEN(rules) && !yes; i++) {
		auto_free char *path = kasprintf(FOLDER "/%s", rules[i].view);

		yes = kfind(path, &rule) && newer(&rule, &made);
	}
	return yes;
}

/* A file dated in the future gets the time *WHEN. */
static void
settle(const char *path, void *when)
{
	struct timespec times[2] = { { .tv_sec = *(time_t *)when }, { .tv_sec = *(time_t *)when } };
	struct stat st;

	if (kfind(path, &st) && from_future(&st) && utimensat(AT_FDCWD, path, times, 0) < 0)
		kdie_errno(K_IO, "%s", path);
}

static void
settle_trial(long trial, time_t *now)
{
	static const char *const views[] = { "score.ndjson", "archive.ndjson", "gradient.ndjson",
		"roofline.json" };
	time_t long_ago = 1000000000;

	for (size_t i = 0; i < LEN(views); i++)
		keach_path(trial_path(trial, views[i]), settle, &long_ago);
	keach_path(trial_path(trial, "*.*json"), settle, now);
	keach_path(trial_path(trial, "*/*.ndjson"), settle, now);
}

void
rules_settle(long first, long last)
{
	time_t now = time(NULL);

	keach_path(kstrdup(FOLDER "/*"), settle, &now);
	settle_trial(0, &now);
	for (long trial = first > 0 ? first : 1; trial <= last; trial++)
		settle_trial(trial, &now);
}
