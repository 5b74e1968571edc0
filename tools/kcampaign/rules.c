/* SPDX-License-Identifier: Apache-2.0 */
/* What views depend on besides records, as files that make can compare. See kcampaign.h. */
#include "kcampaign.h"
#include "khw.h"

#define FOLDER "trials/.rules"

/* The digest of a file, so that only a change of content counts. */
static void
add_file(json_t *rule, const char *what, const char *path)
{
	const char *digest = kseal_file(path);

	json_object_set_new(rule, what, digest ? json_string(digest) : json_null());
}

/*
 * Values of a group of knobs, or of one, including defaults: writing down a default changes
 * nothing.
 */
static void
add_knobs(json_t *rule, const char *group)
{
	size_t n = strlen(group);

	kforeach_of(k, kknobs, kknobs_count) {
		json_t *v = (json_t *)kjson_path(kcamp.json, k->path);

		if (strncmp(k->path, group, n) || (k->path[n] && group[n - 1] != '.'))
			continue;
		v = v ? json_incref(v) : json_loads(k->def, JSON_DECODE_ANY, NULL);
		json_object_set_new(rule, k->path, v ?: json_string(k->def));
	}
}

/* The pattern table and the tables that it extends. */
static void
add_tables(json_t *rule)
{
	const char *own = kcamp_str("classify.patterns");
	auto_free char *shipped = kdata_path(kshown("patterns/%s.json", kcamp_str("backend")));
	const char *path = *own ? kcamp_path(own) : shipped;

	for (int depth = 0; path && depth < 8; depth++) {
		json_auto_t *table = kjson_load(path);
		const char *extends = kjson_maybe(table, "extends");

		add_file(rule, basename(path), path);
		path = extends ? kbeside(path, extends) : NULL;
	}
}

/* What people have waived. */
/* The audit depends on its rules, on roles and groups in the task, and on waivers. */
static void
add_audit(json_t *rule)
{
	auto_free char *table = kdata_path("patterns/audit.json");

	add_file(rule, "table", table);
	add_file(rule, "file", kcamp.task);
	kpath_foreach(waiver, "waivers/*.md")
		add_file(rule, waiver, waiver);
}

/* Decisions of a linear search also depend on the task's core workloads and pairs. */
static void
add_linear(json_t *rule)
{
	if (kcamp_linear()) {
		json_auto_t *task = kjson_if_there(kcamp.task);

		add_knobs(rule, "linear.");
		add_knobs(rule, "search.mode");
		json_object_set(rule, "workloads", json_object_get(task, "workloads"));
	}
}

/*
 * What a roofline depends on besides knobs: the task, the hardware facts, and what a person
 * confirmed.
 */
static void
add_roofline(json_t *rule)
{
	json_auto_t *files = khw_files(NULL, ".", NULL);

	kjson_foreach(f, files)
		json_object_set(rule, kjson_str(f, "file"), json_object_get(f, "sha256"));
	add_file(rule, "file", kcamp.task);
	add_file(rule, "placeholder.ok", kcamp_path("placeholder.ok"));
}

/*
 * A kind of view, and the knobs (or groups of knobs, with a final dot) that it depends on, and what
 * else. When a new version of a tool makes different views, its form changes here, so that old
 * views are made again.
 */
static const struct {
	const char *view;
	int form;
	const char *knobs[4];
	void (*add_more)(json_t *rule);
} rules[] = {
	{ "classify", 1, { "classify.", "backend" }, add_tables },
	{ "audit", 1, { "backend", "task" }, add_audit },
	{ "roofline", 1, { "gpu", "backend", "task" }, add_roofline },
	{ "score", 2, { "score." }, add_linear },
	{ "archive", 2, { "name", "search." }, NULL },
	{ "gradient", 3, { "gradient.", "backend" }, NULL },
};

void
rules_refresh(void)
{
	kmake_folder(FOLDER);
	kforeach(one, rules) {
		auto_free char *text = NULL;
		json_auto_t *rule = json_pack("{s:i}", "form", one->form);

		for (const char *const *knob = one->knobs; *knob; knob++)
			add_knobs(rule, *knob);
		if (one->add_more)
			one->add_more(rule);
		text = json_dumps(rule, JSON_INDENT(1) | JSON_SORT_KEYS);
		kwrite_if_changed(kshown(FOLDER "/%s", one->view), text, strlen(text));
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
	struct stat rule, made;
	bool yes = !kfind(kplace_trial(trial, "gradient.ndjson"), &made) || from_future(&made);

	for (size_t i = 0; i < LEN(rules) && !yes; i++) {
		yes = kfind(kshown(FOLDER "/%s", rules[i].view), &rule) && newer(&rule, &made);
	}
	return yes;
}

/* A file dated in the future gets the time *WHEN. */
static void
settle(const char *pattern, time_t when)
{
	struct timespec times[2] = { { .tv_sec = when }, { .tv_sec = when } };
	struct stat st;

	kpath_foreach(path, pattern)
		if (kfind(path, &st) && from_future(&st) && utimensat(AT_FDCWD, path, times, 0) < 0)
			kdie_io("%s", path);
}

static void
settle_trial(long trial, time_t now)
{
	static const char *const views[] = { "score.ndjson", "archive.ndjson", "gradient.ndjson",
		"roofline.json" };
	time_t long_ago = 1000000000;

	kforeach(view, views)
		settle(kplace_trial(trial, *view), long_ago);
	settle(kplace_trial(trial, "*.*json"), now);
	settle(kplace_trial(trial, "*/*.ndjson"), now);
}

void
rules_settle(long first, long last)
{
	time_t now = time(NULL);

	settle(FOLDER "/*", now);
	settle_trial(0, now);
	for (long trial = first > 0 ? first : 1; trial <= last; trial++)
		settle_trial(trial, now);
}
