/* SPDX-License-Identifier: Apache-2.0 */
/* kgain: see kgain.h. */
#include "kgain.h"

#include "kstat.h"

static double
median_of(const json_t *row)
{
	size_t n;
	auto_free double *v = kjson_numbers(json_object_get(row, "samples_ns"), &n);
	struct kstat st = { 0 };

	if (n)
		kstat_of(v, n, &st);
	return st.min > 0 ? st.median : NAN;
}

double
kgain_time_ns(const json_t *row)
{
	const json_t *v = json_object_get(row, "median_ns");
	double ns = v ? kjson_num_or(row, "median_ns", NAN) : median_of(row);

	return isfinite(ns) && ns > 0 ? ns : NAN;
}

double
kgain_weight(const json_t *row)
{
	double w = kjson_num_or(row, "weight", 1);

	return isfinite(w) && w > 0 ? w : 1;
}

const json_t *
kgain_row(const json_t *timing, const char *workload)
{
	return kjson_find(timing, "workload", workload);
}

const json_t *
kgain_workload(const json_t *workloads, const char *name)
{
	return kjson_find(workloads, "name", name);
}

json_t *
kgain_rows_like(const json_t *past, const json_t *timing)
{
	json_t *rows = json_array();

	kjson_foreach(row, timing)
		json_array_append(rows, (json_t *)kgain_row(past, kjson_str(row, "workload")));
	return rows;
}

double
kgain_runtime_ms(const json_t *timing)
{
	size_t n = json_array_size(timing);
	double sum = 0;

	kjson_foreach(row, timing)
		sum += kgain_time_ns(row);
	return n ? sum / (double)n / 1e6 : NAN;
}

/* Names that are in A and not in B, or NULL. */
static char *
names_missing(const json_t *a, const json_t *b)
{
	struct kbuf text = { 0 };

	kjson_foreach(row, a) {
		const char *name = kjson_str(row, "workload");

		if (!kgain_row(b, name))
			kbuf_printf(
			    &text, "%s%s", text.len ? ", " : "", *name ? name : "(without a name)");
	}
	return text.data;
}

static char *
workload_fault(const json_t *reference, const json_t *candidate)
{
	auto_free char *only_reference = names_missing(reference, candidate),
	               *only_candidate = names_missing(candidate, reference);
	char *text = NULL;

	if (only_reference || only_candidate ||
	    json_array_size(reference) != json_array_size(candidate))
		text = kasprintf("timed workloads differ: only the reference has {%s}, only the "
		                 "candidate has {%s}",
		    only_reference ?: "", only_candidate ?: "");
	else if (!json_array_size(candidate))
		text = kstrdup("no workload is timed");
	return text;
}

void
kgain_add(struct kgain_sums *s, double weight, struct kgain_ratio r)
{
	double below = weight * log(r.mean / r.low), above = weight * log(r.high / r.mean);

	s->logs += weight * log(r.mean);
	s->below += below * below;
	s->above += above * above;
	s->weights += weight;
	s->last = r;
	s->n++;
}

struct kgain_ratio
kgain_sum(const struct kgain_sums *s)
{
	double mean = s->logs / s->weights;

	if (s->n < 2)
		return s->n ? s->last : (struct kgain_ratio){ 0 }; /* exact if possible */
	return (struct kgain_ratio){ exp(mean), exp(mean - sqrt(s->below) / s->weights),
		exp(mean + sqrt(s->above) / s->weights), s->n };
}

char *
kgain_speedup(const json_t *reference, const json_t *candidate, double *speedup)
{
	char *fault = workload_fault(reference, candidate);
	struct kgain_sums sums = { 0 };

	kjson_foreach(row, candidate) {
		const char *name = kjson_str(row, "workload");
		double own = kgain_time_ns(row), other = kgain_time_ns(kgain_row(reference, name)),
		       ratio = other / own;

		if (!fault && isnan(ratio))
			fault = kasprintf("workload %s: the %s has no valid median time", name,
			    isnan(own) ? "candidate" : "reference");
		kgain_add(&sums, kgain_weight(row), (struct kgain_ratio){ ratio, ratio, ratio, 1 });
	}
	if (!fault && speedup)
		*speedup = kgain_sum(&sums).mean;
	return fault;
}

static struct kgain_ratio
ratio_of_pair(const json_t *pair)
{
	double v = kjson_num(pair, "ratio");
	struct kgain_ratio r = { v, kjson_num_or(pair, "low", v), kjson_num_or(pair, "high", v),
		1 };

	return v > 0 && r.low >= 0 && r.high > 0 ? r : (struct kgain_ratio){ 0 };
}

struct kgain_ratio
kgain_pair(const json_t *pairs, const char *name, const char *workload)
{
	kjson_foreach(p, pairs) {
		if (kjson_is(p, "name", name) && kjson_is(p, "workload", workload))
			return ratio_of_pair(p);
	}
	return (struct kgain_ratio){ 0 };
}

bool
kgain_raced(const json_t *pairs, const char *name, const json_t *timing, struct kgain_ratio *ratio)
{
	struct kgain_sums sums = { 0 };

	kjson_foreach(row, timing) {
		struct kgain_ratio r = kgain_pair(pairs, name, kjson_str(row, "workload"));

		if (!r.n)
			return false;
		kgain_add(&sums, kgain_weight(row), r);
	}
	*ratio = kgain_sum(&sums);
	return sums.n > 0;
}

bool
kgain_pairs(const json_t *pairs, const char *name, const json_t *timing, double *ratio, double *low)
{
	struct kgain_ratio r;

	if (!kgain_raced(pairs, name, timing, &r) || !(r.low > 0))
		return false;
	*ratio = r.mean;
	*low = r.low;
	return true;
}

struct kgain_ratio
kgain_ratio_of_pairs(
    const json_t *pairs, const char *name, const char *workload, const json_t *timing)
{
	struct kgain_sums sums = { 0 };

	kjson_foreach(p, pairs) {
		const char *of = kjson_str(p, "workload");
		struct kgain_ratio r = ratio_of_pair(p);

		if (r.n && kjson_is(p, "name", name) && (!workload || !strcmp(of, workload)))
			kgain_add(&sums, kgain_weight(kgain_row(timing, of)), r);
	}
	return kgain_sum(&sums);
}

struct kgain_ratio
kgain_mean(const json_t *rows, const json_t *timing)
{
	struct kgain_sums sums = { 0 };

	kjson_foreach(row, rows) {
		const json_t *of = kgain_row(timing, kjson_str(row, "workload"));
		struct kgain_ratio r = kgain_speedup_of(row);

		if (r.n && (of || !timing))
			kgain_add(&sums, kgain_weight(of), r);
	}
	return kgain_sum(&sums);
}

struct kgain_ratio
kgain_read(const json_t *object, const char *mean, const char *low, const char *high)
{
	double v = kjson_num(object, mean), open = json_object_get(object, low) ? INFINITY : v;

	if (!(v > 0))
		return (struct kgain_ratio){ 0 };
	return (struct kgain_ratio){ v, kjson_num_or(object, low, v),
		kjson_num_or(object, high, open), 1 };
}

struct kgain_ratio
kgain_speedup_of(const json_t *object)
{
	return kgain_read(object, "speedup", "speedup_low", "speedup_high");
}

void
kgain_put_speedup(json_t *object, const struct kgain_ratio *r)
{
	kjson_extend(object, "{s:o*,s:o*,s:o*}", "speedup", json_real(r->mean), "speedup_low",
	    json_real(r->low), "speedup_high", json_real(r->high));
}

struct kgain_ratio
kgain_product(const struct kgain_ratio *a, const struct kgain_ratio *b)
{
	double mean = a->mean * b->mean;

	if (!a->n || !b->n)
		return (struct kgain_ratio){ 0 };
	return (struct kgain_ratio){ mean,
		mean * exp(-hypot(log(a->mean / a->low), log(b->mean / b->low))),
		mean * exp(hypot(log(a->high / a->mean), log(b->high / b->mean))), 1 };
}

struct kgain_ratio
kgain_quotient(const struct kgain_ratio *a, const struct kgain_ratio *b)
{
	struct kgain_ratio inverse = { 1 / b->mean, 1 / b->high, 1 / b->low, b->n };

	return kgain_product(a, &inverse);
}

double
kgain_width(const struct kgain_ratio *r)
{
	return r->n ? fmax(r->mean / r->low, r->high / r->mean) - 1 : 0;
}

bool
kgain_beyond(const struct kgain_ratio *a, const struct kgain_ratio *b)
{
	struct kgain_ratio r = kgain_quotient(a, b);

	return r.n ? r.low > 1 : a->n > b->n;
}

const char *
kgain_verdict(const struct kgain_ratio *r, double min_gain)
{
	if (r->low > 1 + min_gain)
		return "gain";
	if (r->high < 1)
		return "loss";
	if (r->low >= 1 - KGAIN_SAME && r->high <= 1 + fmax(min_gain, KGAIN_SAME))
		return "same";
	return "inconclusive";
}

enum { MOST_SAMPLES = 4096 };

/* The median of a row and its interval, which is unlimited if there are fewer than two samples. */
static bool
interval_of(const json_t *row, struct kstat_interval *m)
{
	size_t n;
	auto_free double *x = kjson_numbers(json_object_get(row, "samples_ns"), &n);

	if (n > MOST_SAMPLES)
		n = MOST_SAMPLES;
	if (n > 1)
		kstat_median(x, n, m);
	else
		*m = (struct kstat_interval){ kgain_time_ns(row), 0, INFINITY };
	return m->median > 0;
}

struct kgain_ratio
kgain_ratio_of_rows(const json_t *other, const json_t *own, const char *workload)
{
	struct kgain_sums sums = { 0 };

	kjson_foreach(row, own) {
		const char *name = kjson_str(row, "workload");
		struct kstat_interval a, b;
		struct kgain_ratio r;

		if ((workload && strcmp(name, workload)) ||
		    !interval_of(kgain_row(other, name), &a) || !interval_of(row, &b))
			continue;
		r = (struct kgain_ratio){ a.median / b.median, fmax(a.low, 0) / b.high,
			a.high / fmax(b.low, 0), 1 };
		kgain_add(&sums, kgain_weight(row), r);
	}
	return kgain_sum(&sums);
}

struct kgain_ratio
kgain_apart(const json_t *other, const json_t *own, double noise)
{
	double mean = kgain_time_ns(other) / kgain_time_ns(own);
	double least = log1p(noise), down, up;
	struct kstat_interval a, b;

	if (!(mean > 0) || !interval_of(other, &a) || !interval_of(own, &b))
		return (struct kgain_ratio){ 0 };
	down = log(a.median / fmax(a.low, 0) * b.high / b.median);
	up = log(a.high / a.median * b.median / fmax(b.low, 0));
	/*
	 * If there are too few samples for one end, it is as far away as the other end, or as the
	 * noise.
	 */
	down = isfinite(down) ? down : up;
	up = isfinite(up) ? up : down;
	return (struct kgain_ratio){ mean, mean * exp(-fmax(isfinite(down) ? down : 0, least)),
		mean * exp(fmax(isfinite(up) ? up : 0, least)), 1 };
}

bool
kgain_all_apart(const json_t *other, const json_t *own, double noise, struct kgain_ratio *ratio)
{
	struct kgain_sums sums = { 0 };

	kjson_foreach(row, own) {
		struct kgain_ratio r =
		    kgain_apart(kgain_row(other, kjson_str(row, "workload")), row, noise);

		if (!r.n)
			return false;
		kgain_add(&sums, kgain_weight(row), r);
	}
	*ratio = kgain_sum(&sums);
	return sums.n > 0;
}

double
kgain_noise(double a, double b)
{
	return sqrt(a * a + b * b);
}
