/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures: times, ratios, rates as people write them, and ratios with their intervals. See
 * kreport.h.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kio.h"
#include "kreport.h"

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
	int digits = ratio >= 100 ? 0 : ratio >= 10 ? 1 : ratio >= 2 ? 2 : 3;

	if (ratio >= 1 && ratio <= 1)
		return "1×";
	return ratio > 0 ? show("%.*f×", digits, ratio) : "–";
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

/* VALUE in the first of N units in which it is below LIMIT; which one, into *UNIT. */
static double
scaled(double value, double step, double limit, size_t n, size_t *unit)
{
	for (*unit = 0; value >= limit && *unit < n - 1; ++*unit)
		value /= step;
	return value;
}

static const char *const prefixes[] = { "", "k", "M", "G", "T", "P" };

const char *
show_rate(double per_second, const char *unit)
{
	size_t i;
	double v = scaled(per_second, 1000, 1000, LEN(prefixes), &i);

	return show("%s %s%s", four(v), prefixes[i], unit);
}

const char *
show_bytes(double bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i;
	double v = scaled(bytes, 1024, 1024, LEN(unit), &i);

	return show("%.*f %s", v < 10 && i ? 1 : 0, v, unit[i]);
}

const char *
axis_rate(double v)
{
	size_t i;

	v = scaled(v, 1000, 999.5, LEN(prefixes), &i);
	return show("%.3g %s", v, prefixes[i]);
}

const char *
axis_number(double v)
{
	bool power = v >= 1e4 || (v < 1e-3 && v > 0);

	return power ? show("1e%d", (int)floor(log10(v) + 0.5)) : show("%.5g", v);
}

const char *
axis_times(double v)
{
	return show("%.4g×", v);
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

const char *
show_interval(const struct kgain_ratio *r, const char *(*as)(double))
{
	if (isinf(r->high) || r->low >= r->high)
		return "too few samples for an interval";
	if (!(r->low > 0))
		return show("at most %s; too few samples for a lower end", as(r->high));
	return show("%s to %s", as(r->low), as(r->high));
}

const char *
show_speedup(const struct kcandidate *c)
{
	if (!(c->speedup.mean > 0) || c->speedup.low >= c->speedup.high)
		return show(
		    "%s%s", show_times(c->speedup.mean), c->provisional ? " (provisional)" : "");
	return show("%s (%s%s)", show_times(c->speedup.mean),
	    show_interval(&c->speedup, show_times), c->provisional ? ", provisional" : "");
}

void
count_name(json_t *names, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(names, name));

	json_object_set_new(names, name, json_integer(n + 1));
}

char *
names_of(json_t *names)
{
	struct kbuf b = { 0 };
	const char *name;
	json_t *n;

	kbuf_add(&b, "", 0);
	json_object_foreach(names, name, n) kbuf_printf(
	    &b, "%s%s (%s)", b.len ? ", " : "", name, show_count(json_integer_value(n)));
	return b.data;
}

void
put_fact(struct doc *d, const char *name, const char *value)
{
	if (value && *value)
		doc_cells(d, "%s|%s", name, value);
}
