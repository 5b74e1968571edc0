/* SPDX-License-Identifier: Apache-2.0 */
/* kends: see kends.h. */
#include "kends.h"

#include "karch.h"
#include "kchain.h"
#include "klinear.h"
#include "kroof.h"
#include "ktask.h"

#define REQUEST "stop.request"

const struct kends_text kends_texts[KENDS] = {
	[KENDS_TARGET] = { "target", "performance target reached",
	    "linear.target or stop.speedup" },
	[KENDS_EFFICIENCY] = { "efficiency", "hardware efficiency reached", "stop.efficiency" },
	[KENDS_ROUNDS] = { "rounds", "number of rounds reached", "stop.trials" },
	[KENDS_REQUEST] = { "request", "someone asks for it", "the file " REQUEST },
};

/* Index in TIMING of the other pass of the step that workload W belongs to; -1: there is none. */
static long
other_pass(
    const struct ktask *task, const struct ktask_workload *w, const json_t *timing, size_t own)
{
	for (size_t i = 0; w->pair && i < json_array_size(timing); i++) {
		const struct ktask_workload *p =
		    ktask_workload(task, kjson_str(json_array_get(timing, i), "workload"));

		if (i != own && p && p->pair && !strcmp(p->pair, w->pair))
			return (long)i;
	}
	return -1;
}

/* Adds work and time of row I; does nothing for a workload that the task does not have. */
static const struct ktask_workload *
add_row(const struct ktask *task, const char *formula, const json_t *row, double *work, double *ns)
{
	const struct ktask_workload *w = ktask_workload(task, kjson_str(row, "workload"));

	if (w) {
		*work += (double)ktask_value(task, w, formula);
		*ns += kgain_time_ns(row);
	}
	return w;
}

/*
 * Rate of a record in operations or bytes per second: geometric mean over its timed workloads, with
 * the two passes of a step counted as one; 0 when the task has no formula for it.
 */
static double
rate_of(const struct ktask *task, const char *formula, const json_t *timing)
{
	double rate[KLINEAR_UNITS];
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(timing) && formula && n < LEN(rate); i++) {
		double work = 0, ns = 0;
		const struct ktask_workload *w =
		    add_row(task, formula, json_array_get(timing, i), &work, &ns);
		long other = w ? other_pass(task, w, timing, i) : -1;

		/* A step counts once, at its first row. */
		if (other >= 0 && (size_t)other < i)
			continue;
		if (other >= 0)
			add_row(task, formula, json_array_get(timing, (size_t)other), &work, &ns);
		if (work > 0 && ns > 0)
			rate[n++] = work / ns * 1e9;
	}
	return n ? klinear_geomean(rate, n) : 0;
}

/* The last accepted record, and what is found. */
static const json_t *accepted;
static struct kends *ends;

static double
reached(double speedup, int kind)
{
	struct ktask *task;
	double rate;

	if (kind == KLINEAR_SPEEDUP)
		return speedup;
	task = ktask_load(kcamp.task);
	rate = rate_of(task, kind == KLINEAR_FLOPS ? task->flops : task->bytes,
	    kjson_path(accepted, "eval.timing"));
	ktask_free(task);
	return rate;
}

static void
hold(int which, char *reason)
{
	ends->at[which].holds = true;
	if (ends->reason)
		free(reason);
	else
		ends->reason = reason;
}

static void
check_target(long last)
{
	const char *text = kcamp_str("linear.target");
	double goal = kcamp_num("stop.speedup"), speedup;
	struct klinear_target target;
	struct kchain chain;
	bool aims = *text && klinear_target(text, &target);

	ends->at[KENDS_TARGET].set = aims || goal > 0;
	/* The baseline does not reach a target. */
	if (!strcmp(kjson_str_or(accepted, "id", KARCH_REFERENCE), KARCH_REFERENCE))
		return;
	kchain_of_record(accepted, last, &chain);
	speedup = chain.speedup.mean;
	kchain_free(&chain);
	if (aims && reached(speedup, target.kind) >= target.value)
		hold(KENDS_TARGET,
		    kasprintf("over: the target of %s is reached (T1, linear.target)", text));
	if (goal > 0 && speedup >= goal)
		hold(KENDS_TARGET,
		    kasprintf(
		        "over: %.4gx reaches the goal of %.4gx (T1, stop.speedup)", speedup, goal));
}

/* If the share of ceilings cannot be right, it ends nothing. */
static void
check_efficiency(void)
{
	double least = kcamp_num("stop.efficiency"),
	       efficiency = kjson_num(accepted, "score.efficiency_pct");
	json_auto_t *roofline = least > 0 && efficiency >= least ? kroof_load() : NULL;
	auto_free char *doubt = kroof_doubt(roofline, efficiency);

	ends->at[KENDS_EFFICIENCY].set = least > 0;
	if (least > 0 && efficiency >= least && !doubt)
		hold(KENDS_EFFICIENCY,
		    kasprintf("over: %.1f %% of the ceiling reaches the goal of %.1f %% (T2, "
		              "stop.efficiency)",
		        efficiency, least));
}

void
kends_find(long last, long drafts, const json_t *record, struct kends *e)
{
	long trials = kcamp_int("stop.trials");

	accepted = record;
	ends = e;
	*e = (struct kends){ .at[KENDS_ROUNDS].set = true, .at[KENDS_REQUEST].set = true };
	check_target(last);
	check_efficiency();
	if (last - drafts >= trials)
		hold(KENDS_ROUNDS,
		    kasprintf("over: %ld of %ld trials are done (T3, stop.trials)", last - drafts,
		        trials));
	if (kis_there(kcamp_path(REQUEST)))
		hold(KENDS_REQUEST, kstrdup("over: you asked to stop (T4, the file " REQUEST ")"));
}

void
kends_free(struct kends *e)
{
	free(e->reason);
	*e = (struct kends){ 0 };
}

json_t *
kends_rows(const struct kends *e)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < KENDS; i++)
		kjson_append(rows, "{s:I,s:s,s:s,s:b,s:b}", "number", (json_int_t)i + 1, "what",
		    kends_texts[i].what, "from", kends_texts[i].from, "holds", e->at[i].holds,
		    "set", e->at[i].set);
	return rows;
}
