/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures in the form that people write: times, ratios, rates, and ratios with their intervals. See
 * kreport.h.
 */

#include "kreport.h"

#define NONE "–"
enum { CUT = 240 };

/* Four digits and no exponent. */
static const char *
four(double v)
{
	double a = fabs(v);

	return kshown("%.*f", a >= 1000 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 : 3, v);
}

static const char *
show_times(double ratio)
{
	int digits = ratio >= 100 ? 0 : ratio >= 10 ? 1 : ratio >= 2 ? 2 : 3;

	if (ratio >= 1 && ratio <= 1)
		return "1×";
	return ratio > 0 ? kshown("%.*f×", digits, ratio) : NONE;
}

static const char *
show_percent(double ratio)
{
	return kshown("%.*f %%", ratio < 10, 100 * ratio);
}

static const char *
show_count(double n)
{
	auto_free char *digits = kasprintf("%.0f", n),
	               *text = kregex_sub("(?<=\\d)(?=(?:\\d{3})+\\z)", digits, ",");

	return kshown("%s", text);
}

static const char *
show_usd(double usd)
{
	return kshown("$%.*f", usd > 0 && usd < 0.1 ? 4 : 2, usd);
}

const char *
own_metric(void)
{
	return strcmp(kcamp_unit(), "ms") ? kcamp_unit() : NULL;
}

/* How numbers are written: by a function, or in the largest unit, STEP times the one before. */
static const struct way {
	const char *how;
	const char *(*show)(double v);
	double step;
	const char *units[7];
} ways[] = {
	{ "times", .show = show_times },
	{ "percent", .show = show_percent },
	{ "count", .show = show_count },
	{ "usd", .show = show_usd },
	{ "time", .step = 1000, .units = { "ns", "µs", "ms", "s" } },
	{ "bytes", .step = 1024, .units = { "B", "KiB", "MiB", "GiB", "TiB" } },
	{ "bandwidth", .step = 1000, .units = { "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s" } },
	{ "flops", .step = 1000,
	    .units = { "FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s" } },
};

static const char *
in_units(const struct way *way, double v)
{
	const char *const *unit = way->units;
	bool whole;

	for (; v >= way->step && unit[1]; unit++)
		v /= way->step;
	whole = unit == way->units || (way->step > 1000 && v >= 10);
	return !(v > 0) ? NONE : kshown("%s %s", whole ? kshown("%.0f", v) : four(v), *unit);
}

/* A number as HOW says; NULL: it says nothing. */
static const char *
show_number(const char *how, double v)
{
	bool measured = !strcmp(how, "measured");
	const struct way *way = krow_with(ways, LEN(ways), how, measured ? "time" : how);

	/* A time may be the metric of the campaign's own command. */
	if (measured && own_metric())
		return v > 0 ? kshown("%.4g %.60s", kcamp_shown(v / 1e6), own_metric()) : NONE;
	if (way)
		return way->show ? way->show(v) : in_units(way, v);
	return !strcmp(how, "change") ? kshown("%+.2f %%", v)
	    : !strcmp(how, "gain")    ? kshown("%+.3g", v)
	    : !strcmp(how, "two")     ? kshown("%.2f", v)
	    : !strcmp(how, "g4")      ? kshown("%.4g", v)
	    : !strcmp(how, "g")       ? kshown("%.6g", v)
	                              : NULL;
}

static bool
is_point(const json_t *ratio)
{
	return json_object_get(ratio, "high") &&
	    kjson_num(ratio, "low") >= kjson_num(ratio, "high");
}

/* "155× to 161×"; AS formats one end. */
static const char *
show_interval(const json_t *ratio, const char *(*as)(double))
{
	double low = kjson_num(ratio, "low"), high = kjson_num(ratio, "high");

	if (!json_object_get(ratio, "high") || is_point(ratio))
		return "too few samples for an interval";
	if (!(low > 0))
		return kshown("at most %s; too few samples for a lower end", as(high));
	return kshown("%s to %s", as(low), as(high));
}

static const char *
show_speed(const json_t *ratio)
{
	const char *mean = show_times(kjson_num(ratio, "mean"));
	bool provisional = kjson_bool(ratio, "provisional");

	if (!(kjson_num(ratio, "mean") > 0) || is_point(ratio))
		return kshown("%s%s", mean, provisional ? " (provisional)" : "");
	return kshown("%s (%s%s)", mean, show_interval(ratio, show_times),
	    provisional ? ", provisional" : "");
}

static const char *
show_ratio(const char *how, const json_t *r)
{
	return !strcmp(how, "interval") ? show_interval(r, show_times)
	    : !strcmp(how, "share")     ? show_interval(r, show_percent)
	    : !strcmp(how, "speed")     ? show_speed(r)
	    : strcmp(how, "around")     ? NULL
	    : is_point(r)               ? ""
	                                : kshown(" (%s)", show_interval(r, show_times));
}

/* "1 round" */
static const char *
show_plural(const char *words, double n)
{
	const char *slash = strchr(words, '/');

	if (n >= 1 && n <= 1)
		return kshown("1 %.*s", (int)(slash - words), words);
	return kshown("%s %s", show_count(n), slash + 1);
}

/* A text, which HOW may cut, or replace if it is empty. */
static bool
show_text(struct kbuf *out, const char *how, const char *text)
{
	json_auto_t *cut = !strcmp(how, "cut") ? cut_json(text, CUT) : NULL;

	text = cut ? json_string_value(cut) : *text || !*how ? text : NONE;
	kforeach_of(one, text, strlen(text)) {
		char c = page_hide(*one);

		kbuf_add(out, &c, 1);
	}
	return cut || !*how || !strcmp(how, "or");
}

bool
show_value(struct kbuf *out, const char *how, const json_t *value)
{
	double n = json_number_value(value);
	const char *text;

	if (json_is_string(value))
		return show_text(out, how, json_string_value(value));
	if (!*how)
		return false;
	if (!value || json_is_null(value))
		text = !strcmp(how, "g") ? "0" : NONE;
	else if (json_is_object(value))
		text = show_ratio(how, value);
	else
		text = strchr(how, '/') ? show_plural(how, n) : show_number(how, n);
	kbuf_puts(out, text ?: "");
	return text != NULL;
}
