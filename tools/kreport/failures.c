/* SPDX-License-Identifier: Apache-2.0 */
/* What failed and why: statuses, grouped reasons, cheats, rolled-back rounds. See kreport.h. */

#include "kregex.h"
#include "kreport.h"
#include "status.h"

enum { MOST_REASONS = 12, LONGEST_REASON = 240, MOST_IDS = 8 };

/*
 * Counts a reason in ALL. The key is the status and the text without numbers; the text shown is
 * that of the first.
 */
static void
add_reason(json_t *all, const struct kcandidate *c, const char *text)
{
	const char *status = status_rows[c->status].name;
	/* Line numbers, counts and sizes make similar messages differ. */
	auto_free char *similar = kregex_sub("\\d+", text, "#"),
	               *key = kasprintf("%s: %s", status, similar);
	json_t *o = json_object_get(all, key);
	json_int_t n = kjson_int(o, "n");
	const char *ids = kjson_str(o, "ids");

	if (!o) {
		o = json_pack("{s:s,s:s,s:o}", "key", key, "status", status, "text",
		    cut_json(text, LONGEST_REASON));
		json_object_set_new(all, key, o);
	}
	if (n <= MOST_IDS)
		json_object_set_new(o, "ids",
		    json_sprintf("%s%s%s", ids, n ? " " : "", n < MOST_IDS ? c->id : "…"));
	json_object_set_new(o, "n", json_integer(n + 1));
}

/* The first error without the place "file:12:3: " before it, else the first line. */
static char *
error_line(const char *log)
{
	const char *from = strcasestr(log, "error") ?: log;

	return kstrndup(from, strcspn(from, "\n"));
}

static void
add_failure(json_t *all, const struct kcandidate *c)
{
	const json_t *reasons = of(c, "eval.reasons"), *first = json_array_get(reasons, 0);
	const char *log = text_of(c, "eval.build.log", "");
	auto_free char *text = NULL;

	if (c->status == STATUS_COMPILE_ERROR && *log)
		text = error_line(log);
	else if (first)
		text = kasprintf(
		    "%s: %s", kjson_str_or(first, "check", "?"), kjson_str(first, "detail"));
	else if (of(c, "eval.plan_fault"))
		text = kstrdup(text_of(c, "eval.plan_fault", ""));
	else
		text = error_line(text_of(c, "eval.log", ""));
	add_reason(all, c, *text ? text : "no reason recorded");
}

static int
by_count(const void *x, const void *y)
{
	const json_t *a = *(json_t *const *)x, *b = *(json_t *const *)y;
	json_int_t n = kjson_int(a, "n"), m = kjson_int(b, "n");

	return n != m ? (n < m) - (n > m) : strcmp(kjson_str(a, "key"), kjson_str(b, "key"));
}

static json_t *
statuses_json(void)
{
	json_t *rows = json_array();

	for (int s = STATUS_COUNT - 1; s > STATUS_NONE; s--) {
		json_int_t n = 0;

		for (size_t k = 0; k < report.count; k++)
			n += &report.list[k] != report.reference && (int)report.list[k].status == s;
		if (n)
			json_array_append_new(
			    rows, json_pack("{s:s,s:I}", "status", status_rows[s].name, "n", n));
	}
	return rows;
}

/* The most frequent reasons in ALL, which is taken over. */
static json_t *
reasons_json(json_t *all)
{
	size_t count = json_object_size(all);
	json_t *rows = json_array(), *o;
	const char *key;

	json_object_foreach(all, key, o)
		json_array_append(rows, o);
	json_decref(all);
	kjson_sort(rows, by_count);
	while (json_array_size(rows) > MOST_REASONS)
		json_array_remove(rows, MOST_REASONS);
	o = rows_json(rows);
	if (o)
		json_object_update_new(o,
		    json_pack(
		        "{s:I,s:b}", "kinds", (json_int_t)count, "more", count > MOST_REASONS));
	return o;
}

void
add_failures(json_t *f)
{
	bool cheats = false, rolled_back = false;
	json_t *all;

	if (report.count < 2)
		return;
	all = json_object();
	for (size_t i = 0; i < report.count; i++) {
		const struct kcandidate *c = &report.list[i];

		cheats |= is_cheat(c);
		rolled_back |= !strcmp(c->verdict, "rolled_back");
		if (c != report.reference && !c->correct && !is_cheat(c))
			add_failure(all, c);
	}
	json_object_set_new(f, "failures",
	    json_pack("{s:o,s:o*,s:b,s:b}", "statuses", statuses_json(), "reasons",
	        reasons_json(all), "cheats", cheats, "rolled_back", rolled_back));
}
