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
show_time(double ns)
{
	if (!(ns > 0))
		return NONE;
	if (ns < 1e3)
		return kshown("%.0f ns", ns);
	if (ns < 1e6)
		return kshown("%s µs", four(ns / 1e3));
	return ns < 1e9 ? kshown("%s ms", four(ns / 1e6)) : kshown("%s s", four(ns / 1e9));
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

/* VALUE in the first of N units in which it is below LIMIT; *UNIT is set to the unit. */
static double
scaled(double value, double step, double limit, size_t n, size_t *unit)
{
	for (*unit = 0; value >= limit && *unit < n - 1; ++*unit)
		value /= step;
	return value;
}

static const char *const prefixes[] = { "", "k", "M", "G", "T", "P" };

static const char *
show_rate(double per_second, const char *unit)
{
	size_t i;
	double v = scaled(per_second, 1000, 1000, LEN(prefixes), &i);

	return per_second > 0 ? kshown("%s %s%s", four(v), prefixes[i], unit) : NONE;
}

static const char *
show_flops(double v)
{
	return show_rate(v, "FLOP/s");
}

static const char *
show_bandwidth(double v)
{
	return show_rate(v, "B/s");
}

static const char *
show_bytes(double bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i;
	double v = scaled(bytes, 1024, 1024, LEN(unit), &i);

	return kshown("%.*f %s", v < 10 && i ? 1 : 0, v, unit[i]);
}

static const char *
show_count(double n)
{
	auto_free char *digits = kasprintf("%.0f", n),
	               *text = kregex_sub("(?<=\\d)(?=(?:\\d{3})+\\z)", digits, ",");

	return kshown("%s", text);
}

const char *
own_metric(void)
{
	return strcmp(kcamp_unit(), "ms") ? kcamp_unit() : NULL;
}

/* A time, or the metric of the campaign's own command. */
static const char *
show_measured(double ns)
{
	if (!own_metric())
		return show_time(ns);
	return ns > 0 ? kshown("%.4g %.60s", kcamp_shown(ns / 1e6), own_metric()) : NONE;
}

static const char *
show_usd(double usd)
{
	return kshown(usd > 0 && usd < 0.1 ? "$%.4f" : "$%.2f", usd);
}

/* Numbers in a fixed form, which a printf format may give. */
static const char *
show_number(const char *how, double v)
{
	static const struct {
		const char *how;
		const char *(*show)(double);
	} ways[] = {
		{ "time", show_time },
		{ "measured", show_measured },
		{ "times", show_times },
		{ "percent", show_percent },
		{ "count", show_count },
		{ "usd", show_usd },
		{ "bytes", show_bytes },
		{ "flops", show_flops },
		{ "bandwidth", show_bandwidth },
	};

	kforeach(one, ways)
		if (!strcmp(one->how, how))
			return one->show(v);
	return !strcmp(how, "change") ? kshown("%+.2f %%", v)
	    : !strcmp(how, "gain")    ? kshown("%+.3g", v)
	    : !strcmp(how, "two")     ? kshown("%.2f", v)
	    : !strcmp(how, "g4")      ? kshown("%.4g", v)
	    : !strcmp(how, "g")       ? kshown("%.6g", v)
	                              : NULL;
}

static double
low_of(const json_t *ratio)
{
	return kjson_num(ratio, "low");
}

static bool
is_point(const json_t *ratio)
{
	return json_object_get(ratio, "high") && low_of(ratio) >= kjson_num(ratio, "high");
}

/* "155× to 161×"; AS formats one end. */
static const char *
show_interval(const json_t *ratio, const char *(*as)(double))
{
	double high = kjson_num(ratio, "high");

	if (!json_object_get(ratio, "high") || is_point(ratio))
		return "too few samples for an interval";
	if (!(low_of(ratio) > 0))
		return kshown("at most %s; too few samples for a lower end", as(high));
	return kshown("%s to %s", as(low_of(ratio)), as(high));
}

static const char *
show_speed(const json_t *ratio)
{
	double mean = kjson_num(ratio, "mean");
	bool provisional = kjson_bool(ratio, "provisional");

	if (!(mean > 0) || is_point(ratio))
		return kshown("%s%s", show_times(mean), provisional ? " (provisional)" : "");
	return kshown("%s (%s%s)", show_times(mean), show_interval(ratio, show_times),
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

static void
put_hidden(struct kbuf *out, const char *text, size_t len)
{
	kforeach_of(one, text, len) {
		char c = page_hide(*one);

		kbuf_add(out, &c, 1);
	}
}

bool
show_value(struct kbuf *out, const char *how, const json_t *value)
{
	const char *text = json_string_value(value);
	double n = json_number_value(value);

	if (text) {
		json_auto_t *cut = !strcmp(how, "cut") ? cut_json(text, CUT) : NULL;

		text = cut ? json_string_value(cut) : *text || !*how ? text : NONE;
		put_hidden(out, text, strlen(text));
		return !*how || !strcmp(how, "cut") || !strcmp(how, "or");
	}
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
