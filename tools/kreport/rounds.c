/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of a linear search: the trend table, and the conditions that would end it. See kreport.h.
 */

#include "kends.h"
#include "kgain.h"
#include "kreport.h"

enum { MOST_SHAPES = 6 };

static const char *
word_of(const char *verdict)
{
	static const char *const words[][2] = { { "baseline", "BASELINE" },
		{ "accepted", "ACCEPTED" }, { "rolled_back", "ROLLED BACK" } };

	for (size_t i = 0; i < LEN(words); i++)
		if (!strcmp(words[i][0], verdict))
			return words[i][1];
	return *verdict ? verdict : "–";
}

/* The workloads that get a column: the first of those on which the reference was timed. */
static size_t
shapes_of(const char *names[MOST_SHAPES])
{
	const json_t *timing = of(report.reference, "eval.timing");
	size_t n = 0;

	kjson_foreach(row, timing)
		if (n < MOST_SHAPES)
			names[n++] = kjson_str_or(row, "workload", "?");
	return n;
}

static json_t *
shape_json(const struct kcandidate *c, const char *name)
{
	const struct ktask_workload *w = ktask_workload(report.task, name);
	int64_t flops =
	    w && !own_metric(report.camp) ? ktask_value(report.task, w, report.task->flops) : 0;
	const json_t *row = kgain_row(of(c, "eval.timing"), name);
	double ns = row ? kgain_time_ns(row) : 0;

	return json_pack(
	    "{s:f,s:f}", "ns", ns, "flops", ns > 0 && flops > 0 ? (double)flops / ns * 1e9 : 0);
}

static json_t *
round_json(const struct kcandidate *c, const char **names, size_t shapes)
{
	bool baseline = !strcmp(c->verdict, "baseline");
	json_t *o = candidate_json(c), *list = json_array();

	for (size_t i = 0; i < shapes; i++)
		json_array_append_new(list, shape_json(c, names[i]));
	json_object_update_new(o,
	    json_pack("{s:s,s:s,s:O*,s:o}", "verdict", word_of(c->verdict), "change",
	        baseline ? "the naive reference"
	                 : text_of(c, "eval.plan.change",
	                       text_of(c, "eval.plan_fault", status_rows[c->status].name)),
	        "improvement_pct",
	        baseline ? NULL : (json_t *)of(c, "score.decision.improvement_pct"), "shapes",
	        list));
	return o;
}

/* What would end the campaign. */
static json_t *
ends_json(void)
{
	const struct kcandidate *accepted =
	    find_candidate(kjson_str_or(report.archive.header, "linear.accepted", NULL));
	struct kends e;
	json_t *rows;

	kends_find(report.camp, report.last,
	    (long)kjson_int(report.archive.header, "linear.drafts"),
	    accepted ? accepted->json : NULL, &e);
	rows = kends_rows(&e);
	kends_free(&e);
	return rows;
}

void
add_rounds(json_t *f)
{
	const char *names[MOST_SHAPES];
	size_t shapes = shapes_of(names);
	json_int_t accepted = 0, back = 0;
	json_auto_t *rows = json_array(), *columns = json_array();

	for (size_t i = 0; i < report.count; i++) {
		const struct kcandidate *c = &report.list[i];

		accepted += !strcmp(c->verdict, "accepted");
		back += !strcmp(c->verdict, "rolled_back");
		if (of(c, "score.decision"))
			json_array_append_new(rows, round_json(c, names, shapes));
	}
	for (size_t i = 0; i < shapes; i++)
		json_array_append_new(columns, json_string(names[i]));
	if (report.linear)
		json_object_set_new(f, "rounds",
		    json_pack("{s:I,s:I,s:s,s:O,s:O,s:I,s:o}", "accepted", accepted, "rolled_back",
		        back, "last_accepted",
		        kjson_str_or(report.archive.header, "linear.accepted",
		            report.best ? report.best->id : KARCH_REFERENCE),
		        "rows", rows, "columns", columns, "hidden",
		        (json_int_t)(json_array_size(of(report.reference, "eval.timing")) - shapes),
		        "ends", ends_json()));
}
