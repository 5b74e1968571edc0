/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do next, if a measurement suggests it: findings of a profile, the gap to the roofline, a
 * faster baseline. See kreport.h.
 */

#include "kreport.h"

enum { STEPS = 3, TEXT = 300 };

static void
add_step(json_t *steps, json_t *what, const char *action, json_t *from)
{
	if (json_array_size(steps) < STEPS)
		json_array_append_new(steps,
		    json_pack("{s:O,s:o,s:O}", "what", what, "action", cut_json(action, TEXT),
		        "from", from));
	json_decref(what);
	json_decref(from);
}

/*
 * The findings of the profile of C numbered FROM up to but not including TO, the most severe first.
 */
static void
add_findings(json_t *steps, const struct kcandidate *c, size_t from, size_t to)
{
	const json_t *list = of(c, "eval.findings");

	for (size_t i = from; i < to && i < json_array_size(list); i++) {
		const json_t *finding = json_array_get(list, i);

		add_step(steps, cut_json(kjson_str_or(finding, "text", "?"), TEXT),
		    kjson_str(finding, "action"),
		    json_sprintf(
		        "profile of %s, finding %.60s", c->id, kjson_str_or(finding, "id", "?")));
	}
}

/* The workload that is furthest from its least possible time, as a factor. */
static void
add_gap(json_t *steps, const json_t *facts)
{
	const json_t *rows = kjson_path(facts, "roofline.ceilings.rows"), *widest = NULL;
	double most = 1.05;

	kjson_foreach(row, rows) {
		double least = kjson_num(row, "floor_ns"),
		       gap = least > 0 ? kjson_num(row, "ns") / least : 0;

		if (gap > most) {
			most = gap;
			widest = row;
		}
	}
	if (widest)
		add_step(steps,
		    json_sprintf("Workload %.80s has the widest gap: %.3g times its least time; "
		                 "what bounds it is %.40s",
		        kjson_str_or(widest, "workload", "?"), most,
		        kjson_str_or(widest, "bound", "unknown")),
		    "", json_string("roofline"));
}

/* The program that is furthest ahead of the best on some workload. */
static void
add_rival(json_t *steps, const json_t *facts)
{
	const json_t *list = json_object_get(facts, "workloads"), *ahead = NULL;
	double least = 0.95;

	kjson_foreach(w, list)
		kjson_foreach(p, json_object_get(w, "programs")) {
			double behind = kjson_num_or(p, "behind.mean", 1);

			if (!kjson_bool(p, "is_best") && behind > 0 && behind < least) {
				least = behind;
				ahead = p;
			}
		}
	if (ahead)
		add_step(steps,
		    json_sprintf("On workload %.80s, %.60s is %.3g times as fast as the best",
		        kjson_str_or(ahead, "workload", "?"), kjson_str_or(ahead, "name", "?"),
		        1 / least),
		    "", json_string("times of the baselines"));
}

void
add_next(json_t *f)
{
	const struct kcandidate *c = report.best ? report.best : report.reference;
	json_t *steps = json_array();

	add_findings(steps, c, 0, 1);
	add_gap(steps, f);
	add_rival(steps, f);
	add_findings(steps, c, 1, STEPS);
	json_object_set_new(f, "next", steps);
}
