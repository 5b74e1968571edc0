/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result: the best kernel compared with the reference and the baselines, and what was verified.
 * See kreport.h.
 */

#include "kreport.h"
#include "status.h"

/*
 * Counts as in `kcampaign best`: a candidate that the audit rejects is not correct, and one that is
 * suspect was compiled.
 */
static json_t *
counts_of(void)
{
	long correct = 0, compiled = 0;

	for (size_t i = 0; i < report.count; i++) {
		const struct kcandidate *c = &report.list[i];

		if (c == report.reference)
			continue;
		correct += c->correct && !of(c, "score.overfit");
		compiled += status_rows[c->status].built;
	}
	return json_pack("{s:I,s:I,s:I}", "correct", (json_int_t)correct, "compiled",
	    (json_int_t)compiled, "made", (json_int_t)report.count - 1);
}

/*
 * The best, with details that only it has: how it was timed, and its share of each baseline's
 * speed.
 */
static json_t *
best_of(void)
{
	json_t *o = candidate_json(report.best), *against = json_array();
	double share = kjson_num(o, "score.efficiency_pct") / 100;

	for (size_t i = 0; i < report.task->baseline_count && i < 4; i++) {
		const char *name = report.task->baselines[i].name;
		struct kgain_ratio ratio = kgain_ratio_of_pairs(kjson_path(report.verify, "pairs"),
		    name, NULL, kjson_path(report.verify, "timing"));

		if (ratio.n)
			json_array_append_new(against,
			    json_pack("{s:s,s:o}", "name", name, "speed", ratio_json(&ratio)));
	}
	json_object_update_new(o,
	    json_pack("{s:o,s:b,s:f,s:b,s:b}", "against", against, "by_reference",
	        kjson_is(o, "score.anchor.name", "reference"), "efficiency", share, "above",
	        share > 1, "unverified", !report.verify && !report.refused));
	return o;
}

/* How many different values a member has among the cases. */
static json_int_t
count_values(const json_t *cases, const char *member)
{
	json_auto_t *seen = json_object();

	kjson_foreach(c, cases)
		json_object_set_new(seen, kjson_str(c, member), json_true());
	return (json_int_t)json_object_size(seen);
}

static bool
all_checked(const json_t *timing)
{
	kjson_foreach(row, timing)
		if (kjson_int(row, "checked_per_sample") < kjson_int_or(row, "calls_per_sample", 1))
			return false;
	return json_array_size(timing) > 0;
}

/* AFTER: the trial after which it was verified; 0: when it was scored. */
static void
add_check(json_t *list, const json_t *eval, long after)
{
	const json_t *cases = kjson_path(eval, "correctness.cases");
	json_t *sanitizers = json_object_get(eval, "sanitizers");

	if (!kjson_int(eval, "correctness.total"))
		return;
	json_array_append_new(list,
	    json_pack("{s:I,s:I,s:I,s:I,s:I,s:s,s:o}", "after", (json_int_t)after, "passed",
	        kjson_int(eval, "correctness.passed"), "total",
	        kjson_int(eval, "correctness.total"), "workloads", count_values(cases, "workload"),
	        "distributions", count_values(cases, "distribution"), "seed",
	        kjson_str(eval, "seed"), "sanitizers",
	        after && sanitizers ? json_incref(sanitizers) : json_array()));
}

/* What could not be read, so that nobody takes the rest for everything. */
static json_t *
damage_of(void)
{
	json_t *lines = json_array();

	if (!report.trials.fault_count) {
		json_decref(lines);
		return NULL;
	}
	for (char *line = report.trials.faults.data, *end; (end = strchr(line, '\n'));
	     line = end + 1)
		json_array_append_new(lines, kjson_text(line, (size_t)(end - line)));
	return json_pack(
	    "{s:I,s:o}", "count", (json_int_t)report.trials.fault_count, "lines", lines);
}

/* The program's files, for the page: the code, and the other files of a bundle. */
static json_t *
source_of(const struct kcandidate *c, const char *what)
{
	json_t *o = karch_program(report.dir, c->id, false);

	json_object_set_new(o, "what", json_string(what));
	if (!json_object_get(o, "code"))
		json_object_set_new(o, "code", json_string(""));
	return o;
}

void
add_result(json_t *f)
{
	json_t *eval = report.verify ? report.verify : (json_t *)of(report.best, "eval");
	json_t *checks = json_array(), *sources = json_array();

	if (report.best) {
		json_object_set_new(f, "best", best_of());
		add_check(checks, of(report.best, "eval"), 0);
		add_check(
		    checks, report.verify ? report.verify : report.refused, report.verify_trial);
	}
	json_array_append_new(sources, source_of(report.reference, "reference"));
	if (report.best)
		json_array_append_new(sources, source_of(report.best, "best kernel"));
	json_object_update_new(f,
	    json_pack("{s:o,s:O*,s:O*,s:O*,s:I,s:I,s:o*,s:o,s:o,s:f,s:b}", "counts", counts_of(),
	        "final", eval, "verify", report.verify, "refused", report.refused, "verify_trial",
	        (json_int_t)report.verify_trial, "begun", (json_int_t)report.begun, "damage",
	        damage_of(), "checks", checks, "sources", sources, "noise",
	        kjson_num(eval, "noise.floor"), "all_checked",
	        all_checked(kjson_path(eval, "timing"))));
}
