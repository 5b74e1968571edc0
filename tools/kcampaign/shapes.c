/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes: which workloads a linear search measures in every round: proposed from the baseline, and
 * rejected if they are cherry-picked. See kcampaign.h.
 */
#include "kcampaign.h"

/* Does a case of the baseline fail on the workload? */
static bool
is_failing(const json_t *baseline, const char *name)
{
	return kany(kjson_foreach(one, baseline, "eval.correctness.cases"),
	    kjson_is(one, "workload", name) && !kjson_bool_or(one, "ok", true));
}

static bool
has_set(const struct ktask *t, const char *set)
{
	return kany(kforeach_of(workload, t->workloads, t->workload_count),
	    workload->sets && ktask_in_set(workload, set));
}

/* The size of a workload is its operations, else its bytes, else the baseline's time. */
static json_t *
shape_of(const struct ktask *t, const struct ktask_workload *w, const json_t *baseline)
{
	const json_t *row = kgain_row(kjson_path(baseline, "eval.timing"), w->name);
	const char *formula = t->flops ?: t->bytes;
	double ms = kgain_time_ns(row) / 1e6,
	       spread = kjson_num(row, "sd_ns") / kjson_num_or(row, "mean_ns", NAN);

	ms = isfinite(ms) ? ms : 0;
	return json_pack("{s:s,s:f,s:f,s:f,s:b,s:b,s:b,s:s*}", "name", w->name, "size",
	    formula ? (double)ktask_value(t, w, formula) : ms, "ms", ms, "spread",
	    isfinite(spread) ? spread : 0, "quick", ktask_in_set(w, kcamp_str("eval.set")), "fails",
	    is_failing(baseline, w->name), "skew", w->skew, "pair", w->pair);
}

/*
 * What views/shapes.jq makes of the task's workloads. BASELINE: the record of trial 000, or NULL.
 */
static json_t *
examine(const struct ktask *t, const json_t *baseline)
{
	const char *quick = kcamp_str("eval.set"),
	           *full = has_set(t, KLINEAR_FULL_SET) ? KLINEAR_FULL_SET : quick;
	json_auto_t *input =
	    json_pack("{s:s,s:s,s:[],s:[]}", "quick", quick, "full", full, "shapes", "extra");

	kforeach_of(w, t->workloads, t->workload_count) {
		bool in_full = ktask_in_set(w, full);

		if (ktask_in_set(w, quick) && !in_full)
			kjson_add(json_object_get(input, "extra"), w->name);
		if (w->timed && in_full)
			json_array_append_new(
			    json_object_get(input, "shapes"), shape_of(t, w, baseline));
	}
	return kjq("views/shapes.jq", input);
}

bool
shapes_faults(struct kbuf *text)
{
	struct ktask *t = ktask_load(kcamp.task);
	json_auto_t *baseline = fact_of(0, 0, KFACT_EVAL), *found = examine(t, baseline);
	const json_t *faults = json_object_get(found, "faults");

	kjson_foreach_text(fault, faults)
		kbuf_printf(text, "%s\n", fault);
	ktask_free(t);
	return json_array_size(faults) > 0;
}

static void
put_proposal(const struct ktask *t, const json_t *shapes)
{
	const char *unit = t->flops ? "GFLOP"
	    : t->bytes              ? "GB"
	                            : "ms",
	           *set = kcamp_str("eval.set");
	double scale = t->flops || t->bytes ? 1e-9 : 1;
	bool same = true;

	tell(
	    "%-24s %12s %10s %7s  %-6s %s\n", "timed shape", unit, "ms", "spread", set, "proposed");
	kjson_foreach(x, shapes) {
		const char *why = kjson_maybe(x, "why");
		bool quick = kjson_bool(x, "quick");

		tell("%-24.24s %12.4g %10.4g %5.1f %%  %-6s %s\n", kjson_str(x, "name"),
		    kjson_num(x, "size") * scale, kjson_num(x, "ms"), 100 * kjson_num(x, "spread"),
		    quick ? "yes" : "-",
		    kjson_bool(x, "fails") ? "- (the baseline fails on it)"
		        : why ?: "-");
		same &= quick == (why != NULL);
	}
	if (same)
		tell("The set %s already has these shapes.\n", set);
	else
		tell("To use it, put \"%s\" into the \"sets\" of these workloads in %s before "
		     "round 2 begins.\n",
		    set, t->file);
}

static void
propose(void)
{
	struct ktask *t = ktask_load(kcamp.task);
	json_auto_t *baseline = fact_of(0, 0, KFACT_EVAL), *found = NULL;

	if (!baseline)
		kdie_usage("the baseline has not been measured yet; run kcampaign baseline");
	found = examine(t, baseline);
	put_proposal(t, json_object_get(found, "shapes"));
	ktask_free(t);
}

int
command_shapes(void)
{
	int code = K_OK;

	if (given.check) {
		if (shapes_faults(&page) | judged_faults(&page))
			code = K_NO;
		else
			tell("the set %s represents the full set\n", kcamp_str("eval.set"));
	} else {
		propose();
	}
	emit();
	return code;
}
