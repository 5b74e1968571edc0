/* SPDX-License-Identifier: Apache-2.0 */
/* Where the kernels are under the roofline of their device. See kreport.h. */

#include "kgain.h"
#include "khw.h"
#include "kreport.h"

/* The plain number of a figure {"value", "unit"}. */
static double
plain(const json_t *figure)
{
	const char *unit = kjson_str(figure, "unit");
	enum khw_dimension dimension = strstr(unit, "/s") ? KHW_BANDWIDTH : KHW_RATE;

	return kjson_num(figure, "value") * fmax(khw_unit(dimension, unit, NULL, 0), 0);
}

/* The times of a candidate that the report uses: for the best those of its verification. */
static const json_t *
timing_of(const struct kcandidate *c)
{
	return c == report.best && report.verify ? kjson_path(report.verify, "timing")
	                                         : of(c, "eval.timing");
}

/* Operations per second of a candidate on a workload of the roofline; 0: not timed. */
static double
rate_of(const struct kcandidate *c, const json_t *workload, const char *work)
{
	const json_t *row = kgain_row(timing_of(c), kjson_str(workload, "workload"));
	double ns = row ? kgain_time_ns(row) : 0;

	return ns > 0 ? kjson_num(workload, work) / ns * 1e9 : 0;
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

/* The roof from peak and bandwidth, within the frame of the plot. */
static void
put_roof(struct plot *p, const char *class, double peak, double bandwidth)
{
	double ridge = peak / bandwidth, left = p->x.low, right = p->x.high;

	if (!(peak > 0) || !(bandwidth > 0))
		return;
	kbuf_printf(&p->svg, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"/>\n", class,
	    plot_at(&p->x, fmax(left, p->y.low / bandwidth)),
	    plot_at(&p->y, fmax(left * bandwidth, p->y.low)), plot_at(&p->x, fmin(ridge, right)),
	    plot_at(&p->y, fmin(peak, right * bandwidth)), plot_at(&p->x, right));
}

static void
put_point(struct plot *p, const struct kcandidate *c, const json_t *workload, const char *class)
{
	double x = kjson_num(workload, "intensity"), y = rate_of(c, workload, "flops");
	auto_free char *title = NULL;

	if (!(x > 0) || !(y > 0))
		return;
	title = kasprintf("%s on %s: %s at %.4g FLOP/B", c->id,
	    kjson_str_or(workload, "workload", "?"), show_rate(y, "FLOP/s"), x);
	plot_mark_begin(p, title);
	kbuf_printf(&p->svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" class=\"%s\"/>\n",
	    plot_at(&p->x, x), plot_at(&p->y, y), class);
	plot_mark_end(p);
}

/* The measured ceiling if there is one, else 0. */
static double
measured(const json_t *rows, const char *name)
{
	double best = 0;

	kjson_foreach(w, rows) {
		const json_t *figure = json_object_get(w, name);

		if (strstr(kjson_str(figure, "by"), "measured"))
			best = fmax(best, plain(figure));
	}
	return best;
}

char *
plot_roof(void)
{
	const json_t *rows = json_object_get(report.roofline, "workloads");
	double peak = plain(kjson_path(report.roofline, "peaks.compute")),
	       bandwidth = plain(kjson_path(report.roofline, "peaks.memory"));
	struct span s = { peak / bandwidth, peak / bandwidth, peak, peak };
	struct plot p;
	auto_free char *description = NULL;

	kjson_foreach(w, rows) {
		double x = kjson_num(w, "intensity");

		widen(&s, x, fmin(peak, x * bandwidth));
		widen(&s, x, rate_of(report.reference, w, "flops"));
		widen(&s, x, report.best ? rate_of(report.best, w, "flops") : 0);
	}
	description = kasprintf("Rates over arithmetic intensity under the roof of %s and %s; the "
	                        "ridge is at %.4g FLOP/B.",
	    show_rate(peak, "FLOP/s"), show_rate(bandwidth, "B/s"), peak / bandwidth);
	plot_begin(&p, "roof", 480, 330, "Roofline", description);
	p.x.low = s.x_low / 2.5;
	p.x.high = s.x_high * 2.5;
	p.y.low = s.y_low / 1.8;
	p.y.high = s.y_high * 1.8;
	p.x.log = p.y.log = true;
	p.x.title = "arithmetic intensity, FLOP/B";
	p.y.title = "FLOP/s";
	plot_axes(&p, axis_number, axis_rate);
	put_roof(&p, "roof", peak, bandwidth);
	put_roof(&p, "measured",
	    measured(rows, "compute_ceiling") > 0 ? measured(rows, "compute_ceiling") : peak,
	    measured(rows, "memory_ceiling"));
	kjson_foreach(w, rows) {
		double x = kjson_num(w, "intensity");

		if (x > 0)
			kbuf_printf(&p.svg, "<path class=\"drop\" d=\"M%.1f %.1fV%.1f\"/>\n",
			    plot_at(&p.x, x), p.y.from, plot_at(&p.y, fmin(peak, x * bandwidth)));
		put_point(&p, report.reference, w, "before");
		if (report.best)
			put_point(&p, report.best, w, "gain");
	}
	kbuf_puts(&p.svg, "</svg>\n");
	return p.svg.data;
}

/* A rate as a share of a ceiling {"value","unit"}, and the source; NULL: unknown. */
static json_t *
share_json(double rate, const json_t *ceiling)
{
	double top = plain(ceiling);

	return rate > 0 && top > 0
	    ? json_pack("{s:f,s:s}", "share", rate / top, "by", kjson_str_or(ceiling, "by", "?"))
	    : NULL;
}

/* How close a program comes to the ceilings on the workload ROOF of the roofline. */
static json_t *
ceiling_json(const struct kcandidate *c, json_t *roof)
{
	const json_t *row = kgain_row(timing_of(c), kjson_str(roof, "workload"));
	double flops = rate_of(c, roof, "flops"), bytes = rate_of(c, roof, "bytes");
	json_t *o = json_copy(roof);

	json_object_update_new(o,
	    json_pack("{s:f,s:f,s:f,s:o*,s:o*}", "ns", row ? kgain_time_ns(row) : 0, "flops_rate",
	        flops, "bytes_rate", bytes, "compute_share",
	        share_json(flops, json_object_get(roof, "compute_ceiling")), "memory_share",
	        share_json(bytes, json_object_get(roof, "memory_ceiling"))));
	return o;
}

void
add_roofline(json_t *f)
{
	const struct kcandidate *c = report.best ? report.best : report.reference;
	const json_t *rows = json_object_get(report.roofline, "workloads");
	/* the campaign's own metric cannot be compared with a least time */
	json_t *o = report.roofline && !own_metric(report.camp) ? json_copy(report.roofline) : NULL,
	       *list = json_array(), *table;
	bool below = false;

	kjson_foreach(w, o ? rows : NULL) {
		json_t *row = ceiling_json(c, w);
		double ns = kjson_num(row, "ns");

		below |= ns > 0 && ns < kjson_num(row, "floor_ns");
		json_array_append_new(list, row);
	}
	table = rows_json(list);
	if (table)
		json_object_set_new(table, "below", json_boolean(below));
	if (o)
		json_object_update_new(o,
		    json_pack("{s:b,s:b,s:b,s:o*}", "placeholder",
		        kjson_is(o, "label", "placeholder"), "drawn",
		        plain(kjson_path(o, "peaks.compute")) > 0 &&
		            plain(kjson_path(o, "peaks.memory")) > 0,
		        "measured", measured(rows, "memory_ceiling") > 0, "ceilings", table));
	if (o)
		json_object_set_new(f, "roofline", o);
}
