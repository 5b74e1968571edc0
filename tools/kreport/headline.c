/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result: the best kernel against the reference and the baselines, and what was verified. See
 * kreport.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kgain.h"
#include "kio.h"
#include "kreport.h"
#include "status.h"

/* The device that kernels ran on, as the evaluations name it. */
static const char *
device_of(const struct report *r)
{
	static const char *const paths[] = { "eval.environment.device.name",
		"eval.environment.opencl.device", "eval.environment.cpu" };

	for (size_t i = 0; i < LEN(paths); i++) {
		const char *name = text_of(r->reference, paths[i], NULL);

		if (name)
			return name;
	}
	return kjson_str_or(r->machine, "cpu", "an unnamed device");
}

/*
 * As `kcampaign best` counts them: what the audit refuses is not correct, and what is held for
 * suspect was compiled.
 */
static void
count_statuses(const struct report *r, long *correct, long *compiled)
{
	*correct = *compiled = 0;
	for (size_t i = 0; i < r->count; i++) {
		const struct kcandidate *c = &r->list[i];

		if (c == r->reference)
			continue;
		*correct += c->correct && !of(c, "score.overfit");
		*compiled += status_rows[c->status].built;
	}
}

/* Nothing beats the reference: why. */
static void
put_no_best(struct doc *d, const struct report *r)
{
	long correct, compiled;

	count_statuses(r, &correct, &compiled);
	if (!r->linear)
		doc_lead(d, "After %s no candidate is %s.", plural(r->last, "trial", "trials"),
		    correct ? "faster than the reference" : status_rows[STATUS_CORRECT].name);
	else if (!r->last)
		doc_lead(d, "Only the baseline has been measured.");
	else
		doc_lead(d, "None of %s was accepted; the naive reference is still the best. %s.",
		    plural(r->last, "round", "rounds"),
		    correct ? plural(correct, "candidate was correct", "candidates were correct")
		            : "No candidate was correct");
}

/* Where the figure of the best comes from. */
static const char *
how_measured(const struct report *r)
{
	const char *anchor = text_of(r->best, "score.anchor.name", NULL);

	if (r->verify)
		return "measured again after the search, in turns with the reference in one run.";
	if (!anchor)
		return "by the evaluation that scored it, from times measured separately.";
	return !strcmp(anchor, "reference")
	    ? "by the evaluation that scored it, in turns with the reference."
	    : "by the evaluation that scored it, in turns with a program whose speed-up is known.";
}

static void
put_lead(struct doc *d, const struct report *r)
{
	if (!r->best) {
		put_no_best(d, r);
		return;
	}
	doc_lead(d,
	    "The best kernel, \1%s\1, runs \2%s\2 as fast as the naive reference (%s) on %s: %s",
	    r->best->id, show_times(r->best->speedup.mean),
	    show_interval(&r->best->speedup, show_times), device_of(r), how_measured(r));
	if (r->best->provisional)
		doc_note(d,
		    "\2Provisional:\2 the machine was busy during a race behind this figure, or "
		    "the times were measured separately.");
	if (r->refused)
		doc_note(d,
		    "\2Not accepted:\2 measured again on the full set after trial %ld, it is %s.",
		    r->verify_trial, kjson_str_or(r->refused, "status", "?"));
	else if (!r->verify)
		doc_note(d,
		    "Not verified yet: \1make verify\1 measures the best kernel, the reference and "
		    "the baselines in turns on all workloads.");
	if (r->audit && !strcmp(kjson_str_or(r->audit, "verdict", ""), "inflated"))
		doc_note(d,
		    "\2Do not quote this figure:\2 the audit calls it inflated. Of %s, %s would "
		    "remain outside a benchmark.",
		    show_change(kjson_num_or(r->audit, "headline_pct", 0)),
		    show_change(kjson_num_or(r->audit, "real_pct", 0)));
}

static void
put_baseline_tiles(struct doc *d, const struct report *r)
{
	for (size_t i = 0; i < r->task->baseline_count && i < 4; i++) {
		const char *name = r->task->baselines[i].name;
		struct kgain_ratio ratio = kgain_ratio_of_pairs(
		    kjson_path(r->verify, "pairs"), name, NULL, kjson_path(r->verify, "timing"));
		char *what = kasprintf("of the speed of %s", name);

		if (ratio.n)
			doc_tile(d, show_percent(ratio.mean), what, "%s, same run",
			    show_interval(&ratio, show_percent));
		free(what);
	}
}

static void
put_tiles(struct doc *d, const struct report *r)
{
	long correct, compiled;
	double efficiency = kjson_num_or(r->best ? r->best->json : NULL, "score.efficiency_pct", 0);
	double cost = kjson_num_or(r->archive.header, "cost_usd", 0);
	long long unpriced = kjson_int_or(r->archive.header, "unpriced", 0);

	count_statuses(r, &correct, &compiled);
	if (r->best) {
		doc_tile(d, show_times(r->best->speedup.mean), "as fast as the reference", "%s%s%s",
		    show_interval(&r->best->speedup, show_times), r->verify ? ", same run" : "",
		    r->best->provisional ? ", provisional" : "");
		put_baseline_tiles(d, r);
	}
	if (efficiency > 0)
		doc_tile(d, show_percent(efficiency / 100), "of the roofline",
		    "of the binding ceiling, over all timed workloads%s",
		    efficiency > 100 ? "; see there for how that can be" : "");
	doc_tile(d, show_count(correct), "correct candidates", "of %s; %ld compiled",
	    show_count((long long)r->count - 1), compiled);
	if (cost > 0)
		doc_tile(d, show_usd(cost), "cost", "%s%s",
		    plural((long long)r->count - 1, "reply", "replies"),
		    unpriced ? "; some have no price" : "");
}

/* How many different values a member has over the cases. */
static size_t
count_values(const json_t *cases, const char *member)
{
	json_t *seen = json_object();
	size_t i, n;
	json_t *c;

	json_array_foreach(cases, i, c)
	    json_object_set_new(seen, kjson_str_or(c, member, ""), json_true());
	n = json_object_size(seen);
	json_decref(seen);
	return n;
}

static bool
all_checked(const json_t *timing)
{
	size_t i;
	json_t *row;

	json_array_foreach(timing, i, row) if (kjson_int_or(row, "checked_per_sample", 0) <
	    kjson_int_or(row, "calls_per_sample", 1)) return false;
	return json_array_size(timing) > 0;
}

static void
put_checks(struct doc *d, const char *when, const json_t *eval)
{
	const json_t *cases = kjson_path(eval, "correctness.cases");
	long long passed = kjson_int_or(eval, "correctness.passed", 0),
	          total = kjson_int_or(eval, "correctness.total", 0);

	if (!total)
		return;
	if (json_array_size(cases))
		doc_item(d, "%s: right in %lld of %lld cases (%s, %s of values%s%s).", when, passed,
		    total,
		    plural((long long)count_values(cases, "workload"), "workload", "workloads"),
		    plural((long long)count_values(cases, "distribution"), "distribution",
		        "distributions"),
		    kjson_str_or(eval, "seed", NULL) ? ", inputs generated after the build from "
		                                       "seed "
		                                     : "",
		    kjson_str_or(eval, "seed", ""));
	else
		doc_item(d, "%s: right in %lld of %lld cases.", when, passed, total);
}

static void
put_verified(struct doc *d, const struct report *r)
{
	const json_t *eval = r->verify ? r->verify : of(r->best, "eval");
	const char *sandbox = kjson_str_or(eval, "sandbox.name", NULL);
	const char *caches = kjson_str_or(eval, "environment.caches", NULL);
	const char *when = text_of(r->best, "reply.time", NULL);

	doc_heading(d, "What was verified");
	put_checks(d, "When it was scored", of(r->best, "eval"));
	if (r->verify || r->refused) {
		char *after = kasprintf("Again after trial %ld", r->verify_trial);

		put_checks(d, after, r->verify ? r->verify : r->refused);
		doc_items(d, kjson_path(r->verify ? r->verify : r->refused, "sanitizers"),
		    "\1{{tool}}\1: {{status}}{{#detail}} ({{detail}}){{/detail}}");
		free(after);
	}
	if (all_checked(kjson_path(eval, "timing")))
		doc_item(d,
		    "The result of every timed call was compared too, not only those of the "
		    "correctness cases.");
	if (sandbox)
		doc_item(d,
		    "A separate process judged the kernel; the kernel's sandbox was \1%s\1 (level "
		    "%lld of 3).",
		    sandbox, (long long)kjson_int_or(eval, "sandbox.level", 0));
	if (caches)
		doc_item(
		    d, "Caches before every sample: %s. Every call had its own inputs.", caches);
	if (when)
		doc_item(d,
		    "The reply with this kernel arrived at %s. Evaluations record no time of day; "
		    "%s trial %ld.",
		    when, r->verify ? "it was verified after" : "it was scored in",
		    r->verify ? r->verify_trial : r->best->trial);
}

/* What could not be read, so that nobody takes the rest for the whole. */
static void
put_damage(struct doc *d, const struct report *r)
{
	if (!r->trials.fault_count)
		return;
	doc_note(d, "\2Damaged:\2 %s of this campaign could not be used:",
	    plural((long long)r->trials.fault_count, "record", "records"));
	for (char *line = r->trials.faults.data, *end; (end = strchr(line, '\n')); line = end + 1)
		doc_item(d, "%.*s", (int)(end - line), line);
}

void
put_headline(struct doc *d, const struct report *r)
{
	doc_text(d, "Campaign \1%s\1: %s on %s, backend %s, %s of search after %s.",
	    kcamp_str(r->camp, "name"), r->task->op, device_of(r), kcamp_str(r->camp, "backend"),
	    plural(r->last, r->linear ? "round" : "trial", r->linear ? "rounds" : "trials"),
	    r->linear ? "the baseline" : "the reference");
	doc_section(d, "result", "Result");
	if (!strcmp(kcamp_str(r->camp, "eval.evaluator"), "null"))
		doc_note(d,
		    "\2Nothing was measured:\2 the evaluator is \1null\1, which derives times from "
		    "the code's hash to try out the loop.");
	put_lead(d, r);
	put_tiles(d, r);
	if (r->begun)
		doc_note(d,
		    "Trial %ld has begun but is not in this report, which ends with trial %ld.",
		    r->begun, r->last);
	put_damage(d, r);
	put_workloads(d, r);
	put_sources(d, r);
	if (!r->best)
		return;
	put_times(d, r);
	if (strcmp(kcamp_str(r->camp, "eval.evaluator"), "null"))
		put_verified(d, r);
}
