/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The null evaluator: nothing is run; status and times are drawn from the code's token hash, the
 * same everywhere.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "keval.h"
#include "kio.h"
#include "kutil.h"

enum { REFERENCE_NS = 10000000 };

/* Shares of the outcomes of a model that is neither very good nor very bad. */
static const struct {
	double share;
	enum status status;
	int tier;
} outcomes[] = {
	{ 0.06, STATUS_COMPILE_ERROR, 1 },
	{ 0.02, STATUS_RUN_ERROR, 2 },
	{ 0.04, STATUS_WRONG_VALUE, 2 },
	{ 0.02, STATUS_PARTIAL, 2 },
	{ 1.00, STATUS_CORRECT, 3 },
};

static json_t *
timing_row(const char *workload, json_int_t ns)
{
	return json_pack("{s:s,s:[I],s:i,s:I,s:I,s:I,s:i,s:i}", "workload", workload, "samples_ns",
	    ns, "calls_per_sample", 1, "median_ns", ns, "min_ns", ns, "mean_ns", ns, "sd_ns", 0,
	    "iqr_ns", 0);
}

/*
 * Rows for the timed workloads of the set, as a real run would have, or one row when there is no
 * task.
 */
static json_t *
timing_of(const struct keval *k, struct krng *rng, double speedup)
{
	const json_t *workloads = json_object_get(k->task, "workloads");
	json_t *timing = json_array();

	for (size_t i = 0; i < json_array_size(workloads); i++) {
		const json_t *w = json_array_get(workloads, i);
		double spread = rng ? 0.9 + 0.2 * krng_double(rng) : 1;

		if (kjson_bool_or(w, "timed", false) && in_set(w, k->set))
			json_array_append_new(timing,
			    timing_row(kjson_str_or(w, "name", "?"),
			        (json_int_t)llround(REFERENCE_NS / speedup * spread)));
	}
	if (!json_array_size(timing))
		json_array_append_new(
		    timing, timing_row("null", (json_int_t)llround(REFERENCE_NS / speedup)));
	return timing;
}

/*
 * Log-normal in effect: e to the sum of uniform draws, from about 0.2 to 60 with a median of 3.3.
 */
static double
draw_speedup(struct krng *rng)
{
	double sum = 0;

	for (int i = 0; i < 4; i++)
		sum += krng_double(rng) - 0.5;
	return exp(1.2 + 1.45 * sum);
}

void
null_evaluate(struct keval *k, const char *tokens, bool reference, json_t *eval)
{
	struct krng rng;
	double draw;
	size_t i = 0;

	krng_init(&rng, strtoull(tokens, NULL, 16), 0, 0, "null-evaluator");
	draw = reference ? 1 : krng_double(&rng);
	while (i < LEN(outcomes) - 1 && draw >= outcomes[i].share)
		draw -= outcomes[i++].share;
	if (reference)
		i = LEN(outcomes) - 1;
	eval_set(eval, "status", status_json(outcomes[i].status));
	eval_set(eval, "tier", json_integer(outcomes[i].tier));
	eval_set(
	    eval, "log", json_sprintf("null evaluator: %s", status_rows[outcomes[i].status].name));
	if (i < LEN(outcomes) - 1)
		return;
	/* What costs nothing to measure is measured on the full set. */
	if (kcamp_linear(k->camp)) {
		choose_full_set(k);
		eval_set(eval, "level", json_string("full"));
	}
	eval_set(eval, "timing",
	    timing_of(k, reference ? NULL : &rng, reference ? 1 : draw_speedup(&rng)));
	eval_set(eval, "noise", json_pack("{s:f}", "floor", 0.01));
}
