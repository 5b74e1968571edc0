/* SPDX-License-Identifier: Apache-2.0 */
/* kgain: see kgain.h. */
#include "kgain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "kstat.h"
#include "kutil.h"

static int
compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
from_samples(const json_t *samples, const char *statistic)
{
	size_t n = json_array_size(samples);
	double *v, sum = 0, result;

	if (!n)
		return NAN;
	v = kcalloc(n, sizeof *v);
	for (size_t i = 0; i < n; i++) {
		const json_t *s = json_array_get(samples, i);

		v[i] = json_is_number(s) && json_number_value(s) > 0 ? json_number_value(s) : NAN;
		sum += v[i];
	}
	if (isnan(sum)) {
		free(v);
		return NAN;
	}
	qsort(v, n, sizeof *v, compare_double);
	if (!strcmp(statistic, "min"))
		result = v[0];
	else if (!strcmp(statistic, "mean"))
		result = sum / (double)n;
	else
		result = (v[(n - 1) / 2] + v[n / 2]) / 2;
	free(v);
	return result;
}

double
kgain_time_ns(const json_t *row, const char *statistic)
{
	char key[32];
	const json_t *v;
	double ns;

	snprintf(key, sizeof key, "%s_ns", statistic);
	v = json_object_get(row, key);
	if (v)
		ns = json_is_number(v) ? json_number_value(v) : NAN;
	else
		ns = from_samples(json_object_get(row, "samples_ns"), statistic);
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
	for (size_t i = 0; i < json_array_size(timing); i++) {
		const json_t *row = json_array_get(timing, i);

		if (!strcmp(kjson_str_or(row, "workload", ""), workload))
			return row;
	}
	return NULL;
}

json_t *
kgain_rows_like(const json_t *past, const json_t *timing)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < json_array_size(timing); i++) {
		const json_t *row = kgain_row(past, kjson_str_or(json_array_get(timing, i), "workload", ""));

		if (row)
			json_array_append(rows, (json_t *)row);
	}
	return rows;
}

double
kgain_runtime_ms(const json_t *timing, const char *statistic)
{
	size_t n = json_array_size(timing);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += kgain_time_ns(json_array_get(timing, i), statistic);
	return n ? sum / (double)n / 1e6 : NAN;
}

/* Names that are in A and not in B, or NULL. */
static char *
names_missing(const json_t *a, const json_t *b)
{
	struct kbuf text = { 0 };

	for (size_t i = 0; i < json_array_size(a); i++) {
		const char *name = kjson_str_or(json_array_get(a, i), "workload", "");

		if (!kgain_row(b, name))
			kbuf_printf(&text, "%s%s", text.len ? ", " : "", *name ? name : "(without a name)");
	}
	return text.data;
}

static char *
workload_fault(const json_t *reference, const json_t *candidate)
{
	char *only_reference = names_missing(reference, candidate);
	char *only_candidate = names_missing(candidate, reference);
	char *text = NULL;

	if (only_reference || only_candidate || json_array_size(reference) != json_array_size(candidate))
		text = kasprintf("timed workloads differ: only the reference has {%s}, only the candidate has {%s}",
		    only_reference ? only_reference : "", only_candidate ? only_candidate : "");
	else if (!json_array_size(candidate))
		text = kstrdup("no workload is timed");
	free(only_reference);
	free(only_candidate);
	return text;
}

char *
kgain_speedup(const json_t *reference, const json_t *candidate, const char *statistic, double *speedup, json_t **rows)
{
	size_t n = json_array_size(candidate);
	char *fault = workload_fault(reference, candidate);
	json_t *array = json_array();
	double logs = 0, weights = 0, ratio = 0;

	for (size_t i = 0; i < n && !fault; i++) {
		const json_t *row = json_array_get(candidate, i);
		const char *name = kjson_str_or(row, "workload", "");
		double own = kgain_time_ns(row, statistic);
		double other = kgain_time_ns(kgain_row(reference, name), statistic);

		if (isnan(own) || isnan(other))
			fault = kasprintf("workload %s: the %s has no valid %s time", name,
			    isnan(own) ? "candidate" : "reference", statistic);
		else
			json_array_append_new(array, json_pack("{s:s,s:f,s:f}", "workload", name,
			    "speedup", other / own, "runtime_ms", own / 1e6));
		ratio = other / own;
		logs += kgain_weight(row) * log(ratio);
		weights += kgain_weight(row);
	}
	if (fault || !rows)
		json_decref(array);
	else
		*rows = array;
	if (!fault)
		*speedup = n == 1 ? ratio : exp(logs / weights);	/* exact where it can be */
	return fault;
}

bool
kgain_pairs(const json_t *pairs, const char *name, const json_t *timing, double *ratio, double *low)
{
	double ratios = 0, lows = 0, weights = 0;
	size_t found = 0;

	for (size_t i = 0; i < json_array_size(pairs); i++) {
		const json_t *pair = json_array_get(pairs, i), *row = kgain_row(timing, kjson_str_or(pair, "workload",
		    ""));
		double r = kjson_num_or(pair, "ratio", 0), l = kjson_num_or(pair, "low", 0);

		if (strcmp(kjson_str_or(pair, "name", ""), name) || !row)
			continue;
		if (!(r > 0) || !(l > 0))
			return false;
		ratios += kgain_weight(row) * log(r);
		lows += kgain_weight(row) * log(l);
		weights += kgain_weight(row);
		found++;
	}
	if (!found || found != json_array_size(timing))
		return false;
	*ratio = exp(ratios / weights);
	*low = exp(lows / weights);
	return true;
}

/* Sums logarithms, with WEIGHT; then they are turned into means. */
static void
add_ratio(struct kgain_ratio *r, double *weights, double weight, double mean, double low, double high)
{
	r->mean += weight * log(mean);
	r->low += weight * log(low);
	r->high += weight * log(high);
	*weights += weight;
	r->n++;
}

static struct kgain_ratio
mean_of(struct kgain_ratio r, double weights)
{
	if (!r.n)
		return r;
	return (struct kgain_ratio){ exp(r.mean / weights), exp(r.low / weights), exp(r.high / weights), r.n };
}

struct kgain_ratio
kgain_ratio_of_pairs(const json_t *pairs, const char *name, const char *workload, const json_t *timing)
{
	struct kgain_ratio r = { 0 };
	double weights = 0;

	for (size_t i = 0; i < json_array_size(pairs); i++) {
		const json_t *p = json_array_get(pairs, i);
		const char *of = kjson_str_or(p, "workload", "");
		double v = kjson_num_or(p, "ratio", 0), low = kjson_num_or(p, "low", v), high = kjson_num_or(p, "high",
		    v);

		if (!strcmp(kjson_str_or(p, "name", ""), name) && v > 0 && low >= 0 && high > 0 &&
		    (!workload || !strcmp(of, workload)))
			add_ratio(&r, &weights, kgain_weight(kgain_row(timing, of)), v, low, high);
	}
	return mean_of(r, weights);
}

enum { MOST_SAMPLES = 4096 };

/* The median of a row and its interval, which is everything when there are no two samples to make one of. */
static bool
interval_of(const json_t *row, struct kstat_interval *m)
{
	const json_t *samples = json_object_get(row, "samples_ns");
	size_t n = json_array_size(samples) < MOST_SAMPLES ? json_array_size(samples) : MOST_SAMPLES;
	double *x = kcalloc(n + 1, sizeof *x);

	for (size_t i = 0; i < n; i++)
		x[i] = json_number_value(json_array_get(samples, i));
	if (n > 1)
		kstat_median(x, n, m);
	else
		*m = (struct kstat_interval){ kgain_time_ns(row, "median"), 0, INFINITY };
	free(x);
	return m->median > 0;
}

struct kgain_ratio
kgain_ratio_of_rows(const json_t *other, const json_t *own, const char *workload)
{
	struct kgain_ratio r = { 0 };
	double weights = 0;

	for (size_t i = 0; i < json_array_size(own); i++) {
		const json_t *row = json_array_get(own, i);
		const char *name = kjson_str_or(row, "workload", "");
		struct kstat_interval a, b;

		if ((workload && strcmp(name, workload)) || !interval_of(kgain_row(other, name), &a) ||
		    !interval_of(row, &b))
			continue;
		add_ratio(&r, &weights, kgain_weight(row), a.median / b.median, fmax(a.low, 0) / b.high,
		    a.high / fmax(b.low, 0));
	}
	return mean_of(r, weights);
}

double
kgain_noise(double a, double b)
{
	return sqrt(a * a + b * b);
}
