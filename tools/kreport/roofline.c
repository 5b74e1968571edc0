/* SPDX-License-Identifier: Apache-2.0 */
/* Where the kernels stand under the roofline of their device. See kreport.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kgain.h"
#include "kio.h"
#include "kreport.h"

/*
 * Of a figure {"value", "unit"}: the plain number; TFLOPS, GB/s and TB/s are the units of
 * roofline.json.
 */
static double
plain(const json_t *figure)
{
	static const struct {
		const char *unit;
		double scale;
	} units[] = { { "TFLOPS", 1e12 }, { "GFLOPS", 1e9 }, { "TB/s", 1e12 }, { "GB/s", 1e9 } };
	const char *unit = kjson_str_or(figure, "unit", "");

	for (size_t i = 0; i < LEN(units); i++)
		if (!strcmp(units[i].unit, unit))
			return units[i].scale * kjson_num_or(figure, "value", 0);
	return 0;
}

/* The times of a candidate that the report goes by: of the best those of its verification. */
static const json_t *
timing_of(const struct report *r, const struct kcandidate *c)
{
	return c == r->best && r->verify ? kjson_path(r->verify, "timing") : of(c, "eval.timing");
}

/* Operations a second of a candidate on a workload of the roofline; 0: not timed. */
static double
rate_of(
    const struct report *r, const struct kcandidate *c, const json_t *workload, const char *work)
{
	const json_t *row = kgain_row(timing_of(r, c), kjson_str_or(workload, "workload", ""));
	double ns = row ? kgain_time_ns(row, "median") : 0;

	return ns > 0 ? kjson_num_or(workload, work, 0) / ns * 1e9 : 0;
}

struct span {
	double x_low, x_high, y_low, y_high;
};

static void
widen(struct span *s, double x, double y)
{
	if (!(x > 0) || !(y > 0))
		return;
	s->x_low = fmin(s->x_low, x);
	s->x_high = fmax(s->x_high, x);
	s->y_low = fmin(s->y_low, y);
	s->y_high = fmax(s->y_high, y);
}

/* The roof by peak and bandwidth, in the frame of the plot. */
static void
put_roof(struct plot *p, const char *class, double peak, double bandwidth)
{
	double ridge = peak / bandwidth, left = p->x.low, right = p->x.high;

	if (!(peak > 0) || !(bandwidth > 0))
		return;
	plot_svg(p, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"/>", class,
	    plot_at(&p->x, fmax(left, p->y.low / bandwidth)),
	    plot_at(&p->y, fmax(left * bandwidth, p->y.low)), plot_at(&p->x, fmin(ridge, right)),
	    plot_at(&p->y, fmin(peak, right * bandwidth)), plot_at(&p->x, right));
}

static void
put_point(struct plot *p, const struct report *r, const struct kcandidate *c,
    const json_t *workload, const char *class)
{
	double x = kjson_num_or(workload, "intensity", 0), y = rate_of(r, c, workload, "flops");

	if (!(x > 0) || !(y > 0))
		return;
	plot_mark_begin(p, "%s on %s: %s at %.4g FLOP/B", c->id,
	    kjson_str_or(workload, "workload", "?"), show_rate(y, "FLOP/s"), x);
	plot_svg(p, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" class=\"%s\"/>", plot_at(&p->x, x),
	    plot_at(&p->y, y), class);
	plot_mark_end(p);
}

/* The measured ceilings where there are any, else 0. */
static double
measured(const json_t *rows, const char *name)
{
	double best = 0;
	size_t i;
	json_t *w;

	json_array_foreach(rows, i, w)
	{
		const json_t *figure = json_object_get(w, name);

		if (strstr(kjson_str_or(figure, "by", ""), "measured"))
			best = fmax(best, plain(figure));
	}
	return best;
}

static void
put_plot(struct doc *d, const struct report *r, const json_t *rows, double peak, double bandwidth)
{
	struct span s = { peak / bandwidth, peak / bandwidth, peak, peak };
	size_t i;
	json_t *w;
	struct plot p;

	json_array_foreach(rows, i, w)
	{
		double x = kjson_num_or(w, "intensity", 0);

		widen(&s, x, fmin(peak, x * bandwidth));
		widen(&s, x, rate_of(r, r->reference, w, "flops"));
		widen(&s, x, r->best ? rate_of(r, r->best, w, "flops") : 0);
	}
	plot_begin(&p, "roof", 480, 330, "Roofline",
	    "Rates over arithmetic intensity under the roof of %s and %s; the ridge is at %.4g "
	    "FLOP/B.",
	    show_rate(peak, "FLOP/s"), show_rate(bandwidth, "B/s"), peak / bandwidth);
	plot_area(&p);
	p.x = (struct axis){ .low = s.x_low / 2.5,
		.high = s.x_high * 2.5,
		.log = true,
		.from = p.x.from,
		.to = p.x.to,
		.title = "arithmetic intensity, FLOP/B" };
	p.y = (struct axis){ .low = s.y_low / 1.8,
		.high = s.y_high * 1.8,
		.log = true,
		.from = p.y.from,
		.to = p.y.to,
		.title = "FLOP/s" };
	plot_y_axis(&p, axis_rate);
	plot_x_axis(&p, axis_number);
	put_roof(&p, "roof", peak, bandwidth);
	put_roof(&p, "measured",
	    measured(rows, "compute_ceiling") > 0 ? measured(rows, "compute_ceiling") : peak,
	    measured(rows, "memory_ceiling"));
	json_array_foreach(rows, i, w)
	{
		double x = kjson_num_or(w, "intensity", 0);

		if (x > 0)
			plot_svg(&p, "<path class=\"drop\" d=\"M%.1f %.1fV%.1f\"/>",
			    plot_at(&p.x, x), p.y.from, plot_at(&p.y, fmin(peak, x * bandwidth)));
		put_point(&p, r, r->reference, w, "before");
		if (r->best)
			put_point(&p, r, r->best, w, "gain");
	}
	doc_figure(d, plot_end(&p),
	    "The device's roofline, with every timed workload at its intensity: a hollow point is "
	    "the reference, a filled one the best%s.",
	    measured(rows, "memory_ceiling") > 0 ? "; the broken line is what was measured on it"
	                                         : "");
}

/* "64.6 %" of a ceiling {"value","unit"}. */
static void
put_share(struct doc *d, double rate, const json_t *ceiling)
{
	double top = plain(ceiling);

	if (rate > 0 && top > 0)
		doc_cells(
		    d, "%s\nof %s", show_percent(rate / top), kjson_str_or(ceiling, "by", "?"));
	else
		doc_cells(d, "–");
}

static void
put_table(struct doc *d, const struct report *r, const json_t *rows)
{
	const struct kcandidate *c = r->best ? r->best : r->reference;
	bool below = false;
	size_t i;
	json_t *w;

	doc_table(d,
	    r->best ? "How close the best comes to the ceilings"
	            : "How close the reference comes to the ceilings",
	    "Workload|Bound by|>Time|>Least time|~Target|>Rate|^Of the compute ceiling|>Bytes per "
	    "second|^Of the memory ceiling|>Intensity");
	json_array_foreach(rows, i, w)
	{
		const json_t *row = kgain_row(timing_of(r, c), kjson_str_or(w, "workload", ""));
		double flops = rate_of(r, c, w, "flops"), bytes = rate_of(r, c, w, "bytes"),
		       floor = kjson_num_or(w, "floor_ns", 0),
		       ns = row ? kgain_time_ns(row, "median") : 0;

		doc_cells(d, "%s|%s|%s|%s|%s|%s", kjson_str_or(w, "workload", "?"),
		    kjson_str_or(w, "bound", "unknown"), ns > 0 ? show_time(ns) : "–",
		    show_time(floor), kjson_str_or(w, "target.text", "–"),
		    flops > 0 ? show_rate(flops, "FLOP/s") : "–");
		put_share(d, flops, json_object_get(w, "compute_ceiling"));
		doc_cells(d, "%s", bytes > 0 ? show_rate(bytes, "B/s") : "–");
		put_share(d, bytes, json_object_get(w, "memory_ceiling"));
		doc_cells(d, "%.4g FLOP/B", kjson_num_or(w, "intensity", 0));
		below |= ns > 0 && ns < floor;
	}
	doc_table_end(d);
	if (below)
		doc_text(d,
		    "A time below the least time is not always an error: caches may hold the data "
		    "that the formula counts, other units of the device may do the arithmetic, and "
		    "a measured peak is not an upper bound.");
}

static void
put_peak(struct doc *d, const json_t *roofline, const char *path, const char *what)
{
	const json_t *figure = kjson_path(roofline, path);

	if (figure)
		doc_item(d, "%s: %.6g %s (%s, \1%s\1)", what, kjson_num_or(figure, "value", 0),
		    kjson_str_or(figure, "unit", ""), kjson_str_or(figure, "by", "?"),
		    kjson_str_or(figure, "from", "?"));
}

static void
put_gaps(struct doc *d, const json_t *roofline)
{
	static const char *const lists[][2] = {
		{ "unknown", "Unknown \1{{metric}}\1: {{why}}" },
		{ "mismatches",
		    "Device and documents disagree on \1{{metric}}\1: {{documented}} ({{where}}), "
		    "but the device reports {{running}}" },
		{ "placeholders",
		    "Placeholder, not a fact: \1{{metric}}\1: {{value}} {{unit}} "
		    "(\1{{from}}\1)" },
		{ "implausible", "Not plausible: \1{{what}}\1, {{value}} {{unit}}: {{why}}" },
	};

	for (size_t i = 0; i < LEN(lists); i++)
		doc_items(d, json_object_get(roofline, lists[i][0]), lists[i][1]);
}

void
put_roofline(struct doc *d, const struct report *r)
{
	const json_t *rows = json_object_get(r->roofline, "workloads");
	double peak = plain(kjson_path(r->roofline, "peaks.compute")),
	       bandwidth = plain(kjson_path(r->roofline, "peaks.memory"));

	doc_section(d, "roofline", "Roofline");
	if (!r->roofline) {
		doc_text(d,
		    "There is no roofline, because \1trials/000/roofline.json\1 does not exist.");
		return;
	}
	doc_text(d, "Device \1%s\1. %s.",
	    kjson_str_or(
	        r->roofline, "device.name", kjson_str_or(r->roofline, "device.asked", "not known")),
	    !strcmp(kjson_str_or(r->roofline, "label", ""), "placeholder")
	        ? "Some of its figures are placeholders that a person agreed to"
	        : peak > 0 && bandwidth > 0 ? "Every figure used has a source"
	                                    : "Too little is known to draw its roofline");
	put_peak(d, r->roofline, "peaks.compute", "Compute peak");
	put_peak(d, r->roofline, "peaks.memory", "Memory bandwidth");
	put_gaps(d, r->roofline);
	if (peak > 0 && bandwidth > 0)
		put_plot(d, r, rows, peak, bandwidth);
	if (json_array_size(rows))
		put_table(d, r, rows);
	if (kjson_str_or(r->roofline, "convention", NULL))
		doc_text(d, "Convention: %s.", kjson_str_or(r->roofline, "convention", ""));
}
