/* SPDX-License-Identifier: Apache-2.0 */
/* What a round measured, as numbers: rates, means over shapes, changes. See krecords.h. */

#include "krecords.h"

const char *
set_of(const struct candidate *x)
{
	return strcmp(x->level, "full") ? kcamp_str("eval.set") : KLINEAR_FULL_SET;
}

/* Adds the results of the correctness cases for a workload. */
static void
add_check(const struct candidate *x, const char *workload, struct shape *s)
{
	const json_t *cases = kjson_path(x->eval, "correctness.cases");
	bool seen = false, failed = false;

	kjson_foreach(k, cases) {
		if (!kjson_is(k, "workload", workload))
			continue;
		seen = true;
		failed |= !kjson_bool(k, "ok");
		s->max_abs_err = fmax(s->max_abs_err, kjson_num_or(k, "max_abs_err", -1));
		s->max_err_share = fmax(s->max_err_share, kjson_num_or(k, "max_err_share", -1));
		s->max_rel_err = fmax(s->max_rel_err, kjson_num_or(k, "max_rel_err", -1));
	}
	/*
	 * A campaign's own command may list no cases: its verdict covers all of them, and is not a
	 * test of ours.
	 */
	if (!cases && status_at(x->eval, "status") == STATUS_CORRECT)
		s->check = "OWN";
	else
		s->check = !seen ? "ERROR" : failed ? "FAIL" : "PASS";
}

const char *
test_text(const struct candidate *x)
{
	const char *who = kcamp_json("eval.correctness") ? "the campaign's own "
	                                                   "command"
	                                                 : "keval, tier 2";
	long total = kjson_int(x->eval, "correctness.total");

	if (total)
		return kshown("%s: %ld of %ld cases passed", who,
		    kjson_int(x->eval, "correctness.passed"), total);
	return kshown("%s%s", who,
	    status_at(x->eval, "status") == STATUS_CORRECT ? " passed it and lists no cases; kiln "
	                                                     "itself compared no results"
	                                                   : ": no case was reached");
}

/* Rates are computed from times, not from another metric of a command. */
static bool
is_timed(void)
{
	return !strcmp(kcamp_unit(), "ms");
}

bool
counts_flops(void)
{
	return campaign.task->flops && is_timed();
}

bool
counts_bytes(void)
{
	return campaign.task->bytes && is_timed();
}

static void
add_time(const struct candidate *x, const struct ktask_workload *w, struct shape *s)
{
	/* For the reference also from the quick set, if that was timed separately. */
	const json_t *row = kgain_row(json_object_get(x->eval, "timing"), w->name)
	    ?: kgain_row(kjson_path(x->eval, "quick.timing"), w->name);
	double flops = (double)ktask_value(campaign.task, w, campaign.task->flops),
	       bytes = (double)ktask_value(campaign.task, w, campaign.task->bytes);
	double ns = row ? kgain_time_ns(row) : NAN;

	if (isnan(ns))
		return;
	s->ns = ns;
	s->sd_ns = kjson_num(row, "sd_ns");
	s->rate = counts_flops() ? flops / ns / 1e3 : 1e6 / ns;
	s->gbps = counts_bytes() ? bytes / ns : 0;
}

void
add_shapes(struct candidate *x)
{
	x->shape = kcalloc(campaign.task->workload_count, sizeof *x->shape);
	for (size_t i = 0; i < campaign.task->workload_count; i++) {
		const struct ktask_workload *w = &campaign.task->workloads[i];
		struct shape *s = &x->shape[i];

		/* The reference is measured on all workloads of later rounds. */
		*s = (struct shape){ .active = ktask_in_set(w, set_of(x)) ||
			    (!x->base && ktask_in_set(w, kcamp_str("eval.set"))),
			.max_abs_err = -1,
			.max_err_share = -1,
			.max_rel_err = -1 };
		add_check(x, w->name, s);
		if (s->active && w->timed)
			add_time(x, w, s);
	}
}

const char *
untimed_shape(const struct candidate *x)
{
	if (status_at(x->eval, "status") != STATUS_CORRECT ||
	    !json_array_size(json_object_get(x->eval, "timing")))
		return NULL;
	for (size_t i = 0; i < campaign.task->workload_count; i++)
		if (x->shape[i].active && campaign.task->workloads[i].timed &&
		    !(x->shape[i].ns > 0))
			return campaign.task->workloads[i].name;
	return NULL;
}

static bool
is_backward(size_t i)
{
	const char *pass = campaign.task->workloads[i].pass;

	return pass && !strcmp(pass, "backward");
}

/* The forward workload of the step that a backward one belongs to, or -1. */
static long
forward_of(size_t backward)
{
	const char *pair = campaign.task->workloads[backward].pair;

	for (size_t i = 0; pair && i < campaign.task->workload_count; i++) {
		const char *other = campaign.task->workloads[i].pair;

		if (!is_backward(i) && other && !strcmp(other, pair))
			return (long)i;
	}
	return -1;
}

static void
take(struct aggregate *a, double rate)
{
	a->average += log(rate);
	a->peak = fmax(a->peak, rate);
	a->n++;
}

static void
finish(struct aggregate *a)
{
	if (a->n)
		a->average = exp(a->average / (double)a->n);
}

/* The rate of forward and backward together: the work of both divided by the time of both. */
static double
step_rate(const struct candidate *x, size_t forward, size_t backward)
{
	const struct shape *f = &x->shape[forward], *b = &x->shape[backward];
	double work = counts_flops() ? f->rate * f->ns + b->rate * b->ns : 1e6;

	return work / (f->ns + b->ns);
}

struct aggregates
aggregates_of(const struct candidate *x, const struct candidate *common)
{
	struct aggregates a = { 0 };
	size_t n = campaign.task->workload_count;
	auto_free bool *use = kcalloc(n, sizeof *use);

	for (size_t i = 0; i < n; i++)
		use[i] = x->shape[i].ns > 0 && (!common || common->shape[i].ns > 0);
	for (size_t i = 0; i < n; i++)
		if (use[i])
			take(is_backward(i) ? &a.backward : &a.forward, x->shape[i].rate);
	for (size_t i = 0; i < n; i++) {
		long f = use[i] && is_backward(i) ? forward_of(i) : -1;

		if (f >= 0 && use[f]) {
			take(&a.step, step_rate(x, (size_t)f, i));
			use[i] = use[f] = false;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (use[i])
			take(&a.step, x->shape[i].rate);
	finish(&a.forward);
	finish(&a.backward);
	finish(&a.step);
	return a;
}

static double
ratio_pct(double now, double before)
{
	return now > 0 && before > 0 ? (now / before - 1) * 100 : NAN;
}

/*
 * The change from OLD to X. Pairs timed in turns show a small one better than two separate times,
 * so the decision's figure comes first.
 */
static double
change_pct(const struct candidate *x, const struct candidate *old)
{
	bool first = old && !old->base;
	double judged = old == x->base ? kjson_num_or(x->decision, "improvement_pct", NAN)
	    : first                    ? kjson_num_or(x->decision, "vs_baseline_pct", NAN)
	                               : NAN;

	if (!old)
		return NAN;
	if (!isnan(judged))
		return judged;
	return ratio_pct(aggregates_of(x, old).step.average, aggregates_of(old, x).step.average);
}

double
gain_pct(const struct candidate *x)
{
	return change_pct(x, x->base);
}

double
shape_baseline_pct(const struct candidate *x, size_t workload)
{
	const struct candidate *first = campaign.round[0].accepted;

	return first == x ? NAN : ratio_pct(x->shape[workload].rate, first->shape[workload].rate);
}

double
shape_change_pct(const struct candidate *x, size_t workload)
{
	const json_t *s = kjson_find(json_object_get(x->decision, "shapes"), "workload",
	    campaign.task->workloads[workload].name);

	/*
	 * For a step with two passes the decision gives the sum, which stays the step's; the passes
	 * are compared here.
	 */
	if (s)
		return kjson_num_or(s, "delta_pct", NAN);
	return x->base ? ratio_pct(x->shape[workload].rate, x->base->shape[workload].rate) : NAN;
}

const char *
pct_text(double pct, int decimals)
{
	/* No "-0.000". */
	if (fabs(pct) < 0.5 * pow(10, -decimals))
		pct = 0;
	return isnan(pct) ? "—" : kshown("%+.*f%%", decimals, pct);
}

const char *
vs_baseline(const struct candidate *x)
{
	const struct candidate *first = campaign.round[0].accepted;
	struct aggregates now, then;

	if (first == x)
		return "—";
	now = aggregates_of(x, first);
	then = aggregates_of(first, x);
	/* Without a backward pass the step is the forward pass, and both must show the same. */
	return kshown("step %s, fwd %s, bwd %s", pct_text(change_pct(x, first), 3),
	    pct_text(now.backward.n ? ratio_pct(now.forward.average, then.forward.average)
	                            : change_pct(x, first),
	        3),
	    pct_text(ratio_pct(now.backward.average, then.backward.average), 3));
}

double
shown_time(double ns)
{
	return kcamp_shown(ns / 1e6);
}

double
shown_sd(const struct shape *s)
{
	return s->sd_ns / s->ns * shown_time(s->ns);
}

const char *
rate_unit(void)
{
	return counts_flops() ? "TFLOPS" : kcamp_unit();
}

const char *
rate_text(const struct aggregate *a, double rate)
{
	return a->n ? kshown("%#.6g", counts_flops() ? rate : shown_time(1e6 / rate)) : "-";
}

const char *
result_text(const struct candidate *x)
{
	struct aggregate step = aggregates_of(x, x->base).step;
	double pct = gain_pct(x);
	bool changed = x->base && !isnan(pct);

	if (!step.n)
		return kshown("not timed (`%s`)", x->status);
	/*
	 * Compute the rate before from the change: a separate measurement would not agree with it.
	 */
	return kshown("%s%s%s %s (%s)",
	    changed ? rate_text(&step, step.average / (1 + pct / 100)) : "", changed ? " -> " : "",
	    rate_text(&step, step.average), rate_unit(), x->base ? pct_text(pct, 3) : "baseline");
}
