/* SPDX-License-Identifier: Apache-2.0 */
/* Figures: times, ratios, rates as people write them, and ratios with their intervals. See kreport.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kgain.h"
#include "kio.h"
#include "kreport.h"
#include "kstat.h"

static const char *show(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static const char *
show(const char *fmt, ...)
{
	static char pool[64][96];
	static size_t turn;
	char *text = pool[turn++ % LEN(pool)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof pool[0], fmt, args);
	va_end(args);
	return text;
}

/* Four digits and never an exponent. */
static const char *
four(double v)
{
	double a = fabs(v);

	return show("%.*f", a >= 1000 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 : 3, v);
}

const char *
show_time(double ns)
{
	if (!(ns > 0))
		return "–";
	if (ns < 1e3)
		return show("%.0f ns", ns);
	if (ns < 1e6)
		return show("%s µs", four(ns / 1e3));
	return ns < 1e9 ? show("%s ms", four(ns / 1e6)) : show("%s s", four(ns / 1e9));
}

const char *
show_times(double ratio)
{
	return ratio > 0 ? show("%.*f×", ratio >= 100 ? 0 : ratio >= 10 ? 1 : ratio >= 2 ? 2 : 3, ratio) : "–";
}

const char *
show_percent(double ratio)
{
	return show("%.*f %%", ratio >= 0.9995 && ratio < 10 ? 1 : ratio < 1 ? 1 : 0, 100 * ratio);
}

const char *
show_change(double percent)
{
	return show("%+.2f %%", percent);
}

const char *
show_rate(double per_second, const char *unit)
{
	static const char *const prefix[] = { "", "k", "M", "G", "T", "P" };
	size_t i = 0;

	for (; per_second >= 1000 && i < LEN(prefix) - 1; i++)
		per_second /= 1000;
	return show("%s %s%s", four(per_second), prefix[i], unit);
}

const char *
show_bytes(double bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	for (; bytes >= 1024 && i < LEN(unit) - 1; i++)
		bytes /= 1024;
	return show("%.*f %s", bytes < 10 && i ? 1 : 0, bytes, unit[i]);
}

const char *
show_count(long long n)
{
	char digits[32];
	int len = snprintf(digits, sizeof digits, "%lld", n), out = 0;
	char text[48];

	for (int i = 0; i < len; i++) {
		text[out++] = digits[i];
		if ((len - i) % 3 == 1 && i < len - 1 && digits[i] != '-')
			text[out++] = ',';
	}
	text[out] = '\0';
	return show("%s", text);
}

const char *
show_usd(double usd)
{
	return show(usd > 0 && usd < 0.1 ? "$%.4f" : "$%.2f", usd);
}

const char *
plural(long long n, const char *one, const char *many)
{
	return show("%s %s", show_count(n), n == 1 ? one : many);
}

/* Sums logarithms, then is turned into means. */
static void
add_ratio(struct ratio *r, double mean, double low, double high)
{
	r->mean += log(mean);
	r->low += log(low);
	r->high += log(high);
	r->n++;
}

static struct ratio
mean_of(struct ratio r)
{
	if (!r.n)
		return r;
	return (struct ratio){ exp(r.mean / (double)r.n), exp(r.low / (double)r.n), exp(r.high / (double)r.n), r.n };
}

struct ratio
ratio_of_pairs(const json_t *pairs, const char *name, const char *workload)
{
	struct ratio r = { 0 };
	size_t i;
	json_t *p;

	json_array_foreach(pairs, i, p) {
		double v = kjson_num_or(p, "ratio", 0), low = kjson_num_or(p, "low", v), high = kjson_num_or(p, "high", v);

		if (!strcmp(kjson_str_or(p, "name", ""), name) && v > 0 && low >= 0 && high > 0 &&
		    (!workload || !strcmp(kjson_str_or(p, "workload", ""), workload)))
			add_ratio(&r, v, low, high);
	}
	return mean_of(r);
}

enum { MOST_SAMPLES = 4096 };

/* The median of a row and its interval, which is everything when there are no two samples to make one of. */
static bool
interval_of(const json_t *row, struct kstat_interval *m)
{
	static double x[MOST_SAMPLES];
	const json_t *samples = json_object_get(row, "samples_ns");
	size_t n = json_array_size(samples);

	n = n < MOST_SAMPLES ? n : MOST_SAMPLES;
	for (size_t i = 0; i < n; i++)
		x[i] = json_number_value(json_array_get(samples, i));
	if (n > 1)
		kstat_median(x, n, m);
	else
		*m = (struct kstat_interval){ kgain_time_ns(row, "median"), 0, INFINITY };
	return m->median > 0;
}

struct ratio
ratio_of_rows(const json_t *other, const json_t *own, const char *workload)
{
	struct ratio r = { 0 };
	size_t i;
	json_t *row;

	json_array_foreach(own, i, row) {
		const char *name = kjson_str_or(row, "workload", "");
		struct kstat_interval a, b;

		if ((workload && strcmp(name, workload)) || !interval_of(kgain_row(other, name), &a) || !interval_of(row, &b))
			continue;
		add_ratio(&r, a.median / b.median, fmax(a.low, 0) / b.high, a.high / fmax(b.low, 0));
	}
	return mean_of(r);
}

const char *
show_interval(const struct ratio *r, const char *(*as)(double))
{
	if (isinf(r->high))
		return "too few samples for an interval";
	if (!(r->low > 0))
		return show("at most %s; too few samples for a lower end", as(r->high));
	return show("%s to %s", as(r->low), as(r->high));
}

struct ratio
best_ratio(const struct report *r, bool *paired)
{
	struct ratio ratio = ratio_of_pairs(r->verify ? kjson_path(r->verify, "pairs") : NULL, "reference", NULL);

	*paired = ratio.n > 0;
	if (!*paired)
		ratio = ratio_of_rows(of(r->reference, "eval.timing"), of(r->best, "eval.timing"), NULL);
	return ratio;
}
