/* SPDX-License-Identifier: Apache-2.0 */
/* klinear: see klinear.h. */
#include "klinear.h"

#include "kstat.h"

const char *const klinear_codes[KLINEAR_CODES] = {
	[KLINEAR_NO_PLAN] = "no_plan",
	[KLINEAR_BUILD] = "build",
	[KLINEAR_RUN] = "run",
	[KLINEAR_WRONG] = "wrong",
	[KLINEAR_REJECTED] = "rejected",
	[KLINEAR_AUDIT] = "audit",
	[KLINEAR_DUPLICATE] = "duplicate",
	[KLINEAR_AGGREGATE] = "aggregate",
	[KLINEAR_QUALITY] = "quality",
	[KLINEAR_CORE_SHAPE] = "core_shape",
	[KLINEAR_NOISE] = "noise",
	[KLINEAR_VOLATILE] = "volatile",
	[KLINEAR_TIE_WAIVER] = "tie_waiver",
	[KLINEAR_TRADE_OFF] = "trade_off",
	[KLINEAR_GAIN] = "gain",
	[KLINEAR_BASELINE] = "baseline",
	[KLINEAR_INCONCLUSIVE] = "inconclusive",
};

double
klinear_percent(double now, double was)
{
	return (now - was) / was * 100;
}

double
klinear_geomean(const double *x, size_t n)
{
	double logs = 0;

	kforeach_of(one, x, n)
		logs += log(*one);
	return n == 1 ? x[0] : exp(logs / (double)n);
}

/* How many times as fast a unit, or the whole, became. */
static struct kgain_ratio
klinear_ratio(const struct klinear_unit *u)
{
	return (struct kgain_ratio){ u->was / u->now, u->low / u->now, u->high / u->now, 1 };
}

double
klinear_delta(const struct klinear_unit *u)
{
	return klinear_percent(u->was, u->now);
}

static struct klinear_unit *
unit_of(struct klinear_compare *c, const char *name)
{
	kforeach_of(one, c->unit, c->count)
		if (!strcmp(one->name, name))
			return one;
	if (c->count == KLINEAR_UNITS)
		return NULL;
	c->unit[c->count] = (struct klinear_unit){ .name = name };
	return &c->unit[c->count++];
}

/*
 * Adds one row to its unit; SUMS are the logarithms over forward and backward passes, and their
 * numbers.
 */
static char *
add_row(struct klinear_compare *c, const json_t *workload, const json_t *row, const json_t *rival,
    const json_t *pairs, double sums[2][2])
{
	const char *name = kjson_str(row, "workload"), *pair = kjson_maybe(workload, "pair");
	struct klinear_unit *u = unit_of(c, pair ?: name);
	double now = kgain_time_ns(row);
	struct kgain_ratio r;

	if (!u)
		return kasprintf("more than %d timed workloads", KLINEAR_UNITS);
	r = c->pairs ? kgain_pair(pairs, "incumbent", name)
	             : kgain_apart(kgain_row(rival, name), row, 0);
	if (isnan(now) || !r.n)
		return kasprintf("workload %s: the %s has no valid median time", name,
		    isnan(now) ? "candidate" : "last accepted round");
	u->now += now;
	u->was += now * r.mean;
	u->low += now * r.low;
	u->high += now * r.high;
	u->core |= kjson_bool(workload, "core");
	u->weight = fmax(u->weight, kgain_weight(row));
	if (pair) {
		double *sum = sums[kjson_is(workload, "pass", "backward")];

		sum[0] += log(r.mean);
		sum[1]++;
	}
	return NULL;
}

char *
klinear_compare(const json_t *workloads, const json_t *rival, const json_t *timing,
    const json_t *pairs, struct klinear_compare *out)
{
	double sums[2][2] = { { 0 } };
	bool all_core =
	    !kany(kjson_foreach(w, workloads), kjson_bool(w, "core") && kjson_bool(w, "timed"));
	struct kgain_sums ratio = { 0 };
	char *fault = NULL;

	*out = (struct klinear_compare){ .pairs =
		                             kgain_raced(pairs, "incumbent", timing, &out->ratio) };
	kjson_foreach(row, timing) {
		fault = fault
		    ?: add_row(out, kgain_workload(workloads, kjson_str(row, "workload")), row,
		           rival, pairs, sums);
	}
	if (!fault && !out->count)
		fault = kstrdup("no workload is timed");
	for (size_t i = 0; i < out->count && !fault; i++) {
		struct klinear_unit *u = &out->unit[i];

		u->core |= all_core;
		kgain_add(&ratio, u->weight, klinear_ratio(u));
	}
	out->ratio = kgain_sum(&ratio);
	out->forward = sums[0][1] > 0 ? exp(sums[0][0] / sums[0][1]) : 0;
	out->backward = sums[1][1] > 0 ? exp(sums[1][0] / sums[1][1]) : 0;
	return fault;
}

struct klinear_again
klinear_again(
    const json_t *workloads, const json_t *rival, const json_t *timing, const json_t *repeats)
{
	double x[KLINEAR_REPEATS_MOST];
	struct klinear_again a = { 0 };
	struct klinear_compare c;
	struct kstat stat;

	kjson_foreach(row, repeats) {
		auto_free char *fault =
		    klinear_compare(workloads, rival, timing, json_object_get(row, "pairs"), &c);

		if (!fault && c.pairs && a.n < LEN(x))
			x[a.n++] = c.ratio.mean - 1;
	}
	if (!a.n)
		return a;
	kstat_of(x, a.n, &stat);
	a.mean = stat.mean;
	a.sd = stat.sd * sqrt((double)KLINEAR_REPEATS / (double)a.n);
	return a;
}

/* The mean's error is SD over the root of REPEATS; three times that leaves little doubt. */
bool
klinear_again_open(const struct klinear_again *a)
{
	return a->n < KLINEAR_REPEATS ||
	    (a->n < KLINEAR_REPEATS_MOST &&
	        fabs(a->mean - KLINEAR_MIN_MEAN) < 3 * a->sd / sqrt(KLINEAR_REPEATS));
}

bool
klinear_near_noise(const struct kgain_ratio *gain)
{
	return (gain->mean > 1 || gain->high > 1 + KLINEAR_MIN_MEAN) &&
	    (gain->mean < 1 + KLINEAR_NEAR_NOISE || gain->low <= 1);
}

/* Candidates without a measurement: the code for each fault. */
static const enum klinear_code failures[FAULT_COUNT] = {
	[FAULT_PLAN] = KLINEAR_NO_PLAN,
	[FAULT_BUILD] = KLINEAR_BUILD,
	[FAULT_RUN] = KLINEAR_RUN,
	[FAULT_RESULT] = KLINEAR_WRONG,
	[FAULT_RULES] = KLINEAR_REJECTED,
};

/* The decision that is being made, and about what. */
static const struct klinear_case *the_case;
static struct klinear_decision *decision;

static void __attribute__((format(printf, 2, 3)))
because(enum klinear_code code, const char *format, ...)
{
	kformatted(text, format);

	decision->code = code;
	snprintf(decision->why, sizeof decision->why, "%s", text);
}

/* True when the status says that there is no result to compare. */
static bool
fails(void)
{
	const struct status_row *row = &status_rows[the_case->status];

	if (row->fault == FAULT_PLAN && the_case->why)
		because(
		    failures[row->fault], "%.*s", (int)strcspn(the_case->why, ":"), the_case->why);
	else if (row->fault)
		because(failures[row->fault], "it %s%s%.120s", row->phrase,
		    the_case->why ? ": " : "", the_case->why ?: "");
	if (row->fault)
		return true;
	if (!the_case->compare)
		because(KLINEAR_INCONCLUSIVE, "it was not timed, because the machine was too busy");
	return !the_case->compare;
}

/*
 * A ratio of this comparison; for times measured separately, at least as wide as the noise of both.
 */
static struct kgain_ratio
beside_noise(struct kgain_ratio r)
{
	if (!the_case->compare->pairs) {
		r.low = fmin(r.low, r.mean / (1 + the_case->floor));
		r.high = fmax(r.high, r.mean * (1 + the_case->floor));
	}
	return r;
}

/*
 * The unit that lost most, and the core unit that lost most, among those whose whole interval is a
 * loss.
 */
static void
find_worst(const struct klinear_unit **worst, const struct klinear_unit **core)
{
	*worst = *core = NULL;
	kforeach_of(u, the_case->compare->unit, the_case->compare->count) {
		/* A loss that would be printed as 0.0 % does not count. */
		if (klinear_delta(u) > -0.05 || beside_noise(klinear_ratio(u)).high >= 1)
			continue;
		if (!*worst || klinear_delta(u) < klinear_delta(*worst))
			*worst = u;
		if (u->core && (!*core || klinear_delta(u) < klinear_delta(*core)))
			*core = u;
	}
}

/* The interval contains gains as well as losses. */
static void
because_inconclusive(const struct kgain_ratio *r)
{
	if (r->low > 0 && isfinite(r->high))
		because(KLINEAR_INCONCLUSIVE,
		    "within the noise, it is anything from %+.1f%% to %+.1f%%", 100 * (r->low - 1),
		    100 * (r->high - 1));
	else
		because(KLINEAR_INCONCLUSIVE, "there are too few samples to tell");
}

/* A gain that was measured again: does the mean stand out from the scatter? */
static bool
remeasured_holds(const struct klinear_again *a)
{
	if (a->n < KLINEAR_REPEATS) {
		because(KLINEAR_NOISE, "it was measured again %zu time%s, but %d are needed", a->n,
		    a->n == 1 ? "" : "s", KLINEAR_REPEATS);
		return false;
	}
	if (!(a->mean > KLINEAR_MIN_MEAN)) {
		because(KLINEAR_NOISE,
		    "the mean of %zu more measurements, %+.1f%%, is not above %.1f%%", a->n,
		    100 * a->mean, 100 * KLINEAR_MIN_MEAN);
		return false;
	}
	if (!(a->sd < a->mean / 2)) {
		because(KLINEAR_VOLATILE,
		    "%zu more measurements scatter by %.1f%%, "
		    "at least half of their mean of %+.1f%%",
		    a->n, 100 * a->sd, 100 * a->mean);
		return false;
	}
	return true;
}

/* Is a gain one by the noise policy? */
static bool
is_sure(void)
{
	struct kgain_ratio gain = beside_noise(the_case->compare->ratio);

	if (the_case->needs_full && gain.mean - 1 < KLINEAR_BORDERLINE) {
		because(KLINEAR_NOISE, "a gain below %.1f%% on the quick set needs the full set",
		    100 * KLINEAR_BORDERLINE);
		return false;
	}
	if (the_case->again.n)
		return remeasured_holds(&the_case->again);
	if (gain.low <= 1) {
		because_inconclusive(&gain);
		return false;
	}
	if (gain.mean - 1 < KLINEAR_NEAR_NOISE) {
		because(KLINEAR_NOISE, "a gain below %.1f%% was not measured again",
		    100 * KLINEAR_NEAR_NOISE);
		return false;
	}
	return true;
}

/*
 * The aggregate did not improve, or not certainly. A tie may be kept for another benefit; anything
 * else may not.
 */
static bool
is_kept_tie(void)
{
	return the_case->waived && fabs(decision->improvement) <= KLINEAR_MIN_MEAN;
}

static void
no_gain(bool core_lost)
{
	struct kgain_ratio ratio = beside_noise(the_case->compare->ratio);

	if (!core_lost && is_kept_tie() && the_case->quality) {
		because(KLINEAR_QUALITY, "%s", the_case->quality);
	} else if (!core_lost && is_kept_tie()) {
		decision->code = KLINEAR_TIE_WAIVER;
		decision->accepted = true;
	} else if (the_case->independent && decision->worst) {
		because(KLINEAR_AGGREGATE,
		    "shape %.64s got %.1f%% slower, but no objective may get slower",
		    decision->worst->name, -klinear_delta(decision->worst));
	} else if (!strcmp(kgain_verdict(&ratio, 0), "inconclusive")) {
		because_inconclusive(&ratio);
	} else {
		because(KLINEAR_AGGREGATE, "the aggregate did not improve");
	}
}

void
klinear_decide(const struct klinear_case *c, struct klinear_decision *d)
{
	const struct klinear_unit *core;
	bool core_lost, gained;

	the_case = c;
	decision = d;
	*d = (struct klinear_decision){ .code = KLINEAR_BASELINE };
	if (fails())
		return;
	find_worst(&d->worst, &core);
	d->improvement = c->again.n ? c->again.mean : c->compare->ratio.mean - 1;
	core_lost = core && -klinear_delta(core) / 100 >= KLINEAR_CORE_REGRESSION;
	gained = (c->again.n ? c->again.mean > 0 : c->compare->ratio.mean > 1) &&
	    !(c->independent && d->worst && -klinear_delta(d->worst) / 100 > KLINEAR_NEAR_NOISE);
	if (c->overfit) {
		because(KLINEAR_AUDIT, "the audit rejects it as overfit%s%.120s",
		    c->overfit_why ? ": " : "", c->overfit_why ?: "");
	} else if (c->alarm) {
		because(KLINEAR_REJECTED, "its times cannot be right (%.80s)", c->alarm);
	} else if (c->duplicate_of) {
		because(KLINEAR_DUPLICATE, "it is the same program as %s", c->duplicate_of);
	} else if (!gained) {
		no_gain(core_lost);
	} else if (core_lost) {
		because(KLINEAR_CORE_SHAPE,
		    "core shape %.64s regressed %.1f%%; the limit is %.1f%%", core->name,
		    -klinear_delta(core), 100 * KLINEAR_CORE_REGRESSION);
	} else if (c->quality && d->improvement < KLINEAR_QUALITY_GAIN) {
		because(KLINEAR_QUALITY, "%s", c->quality);
	} else if (is_sure()) {
		d->accepted = true;
		d->trade_off = d->worst != NULL;
		d->code = d->trade_off ? KLINEAR_TRADE_OFF : KLINEAR_GAIN;
	} else if (is_kept_tie()) {
		no_gain(false);
	}
}

char *
klinear_line(long round, const struct klinear_case *c, const struct klinear_decision *d)
{
	size_t count = c->compare ? c->compare->count : 0;
	auto_free char *result = c->compare ? kasprintf("avg %+.1f%%", 100 * d->improvement)
	                                    : kstrdup("no result"),
	               *shapes = kasprintf("%zu shape%s", count, count == 1 ? "" : "s");

	if (d->code == KLINEAR_BASELINE)
		return kasprintf("Round %ld: BASELINE — %s measured", round, shapes);
	if (d->code == KLINEAR_TIE_WAIVER)
		return kasprintf("Round %ld: ACCEPTED — %s, "
		                 "a tie kept for the benefit named in its waiver",
		    round, result);
	if (d->trade_off)
		return kasprintf("Round %ld: ACCEPTED (trade-off) — %s, shape %s regressed %.1f%%",
		    round, result, d->worst->name, -klinear_delta(d->worst));
	if (d->accepted)
		return kasprintf(
		    "Round %ld: ACCEPTED — %s, no regression in %s", round, result, shapes);
	return kasprintf("Round %ld: ROLLED BACK — %s, %s %s", round, result,
	    d->code == KLINEAR_INCONCLUSIVE ? "inconclusive:" : "because", d->why);
}

bool
klinear_target(const char *text, struct klinear_target *t)
{
	static const struct {
		const char *unit;
		int kind;
		double scale;
	} units[] = {
		{ "x", KLINEAR_SPEEDUP, 1 },
		{ "GFLOP/s", KLINEAR_FLOPS, 1e9 },
		{ "TFLOP/s", KLINEAR_FLOPS, 1e12 },
		{ "GB/s", KLINEAR_BYTES, 1e9 },
		{ "TB/s", KLINEAR_BYTES, 1e12 },
	};
	char *end;
	double v = strtod(text, &end);

	end += strspn(end, " ");
	kforeach(one, units)
		if (!strcmp(end, one->unit)) {
			t->kind = one->kind;
			t->value = v * one->scale;
			return end != text && v > 0 && isfinite(v);
		}
	return false;
}

const char *
klinear_escalation(long streak)
{
	static const char *const levels[] = { "none", "diagnose", "profile", "isa", "sota" };

	return levels[streak < 0 ? 0 : streak < (long)LEN(levels) ? streak : (long)LEN(levels) - 1];
}

bool
klinear_refutes(const char *code)
{
	return kis_one_of("audit duplicate aggregate core_shape noise", code);
}

void
klinear_next(struct klinear_run *r, bool kept, enum status status)
{
	bool draft = !kept && status_rows[status].fault == FAULT_BUILD && r->row < KLINEAR_DRAFTS;

	r->row = draft ? r->row + 1 : 0;
	r->drafts += draft;
	if (!draft)
		r->streak = kept ? 0 : r->streak + 1;
}
