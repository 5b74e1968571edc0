/* SPDX-License-Identifier: Apache-2.0 */
/* How the search went: speed-ups over trials, the cost of a gain, the archive. See kreport.h. */

#include "kreport.h"
#include "kstat.h"
#include "status.h"

enum { MOST_BARS = 24 };

/* The result of one trial. */
struct outcome {
	long count[STATUS_COUNT], all, gains;
	double best; /* speed-up of the best so far; 0: none */
	double cost;
	long long tokens; /* written */
	bool priced;
};

static struct outcome *
outcomes_of(void)
{
	struct outcome *list = kcalloc((size_t)report.last + 1, sizeof *list);
	const struct kcandidate *best = NULL;

	for (size_t i = 0; i < report.count; i++) {
		const struct kcandidate *c = &report.list[i];
		struct outcome *o = &list[c->trial];

		if (c == report.reference)
			continue;
		o->count[c->status]++;
		o->all++;
		o->gains += c->won;
		o->priced = o->priced || c->priced;
		o->cost += c->cost_usd;
		o->tokens += c->token_count[KCANDIDATE_OUTPUT];
		if (is_next_best(best, c))
			best = c;
		o->best = best ? best->speedup.mean : 0;
	}
	for (long t = 1; t <= report.last; t++)
		list[t].best = list[t].all ? list[t].best : list[t - 1].best;
	return list;
}

/* The position of a candidate within its trial: branches are drawn next to each other. */
static double
place_of(const struct kcandidate *c, const struct outcome *o)
{
	long n = o[c->trial].all > 1 ? o[c->trial].all : 1;

	return (double)c->trial + 0.64 * (((double)c->branch - 0.5) / (double)n - 0.5);
}

static void
put_best_line(struct plot *p, const struct outcome *o)
{
	auto_buf struct kbuf path = { 0 };
	double last = 1;

	kbuf_printf(
	    &path, "<path class=\"best\" d=\"M%.1f %.1f", plot_at(&p->x, 0), plot_at(&p->y, 1));
	for (long t = 1; t <= report.last; t++) {
		double now = o[t].best > 0 ? fmax(o[t].best, 1) : last;

		if (now > last)
			kbuf_printf(&path, "H%.1fV%.1f", plot_at(&p->x, (double)t - 0.4),
			    plot_at(&p->y, now));
		last = now;
	}
	kbuf_printf(&path, "H%.1f\"/>\n", p->x.to);
	kbuf_puts(&p->svg, path.data);
}

static void
put_points(struct plot *p, const struct outcome *o)
{
	for (size_t i = 0; i < report.count; i++) {
		const struct kcandidate *c = &report.list[i];
		double x = plot_at(&p->x, place_of(c, o));

		if (c == report.reference)
			continue;
		if (c->correct && c->speedup.mean > 0) {
			double y = plot_at(&p->y, c->speedup.mean);
			json_auto_t *own = candidate_json(c);
			auto_free char *title = kasprintf("%s: %s, %s%s", c->id,
			    show_speed(json_object_get(own, "speed")),
			    *c->strategy ? c->strategy : "no strategy",
			    c->won ? report.linear ? ", accepted" : ", a gain" : "");

			plot_mark_begin(p, title);
			kbuf_printf(&p->svg,
			    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" class=\"%s\"/>\n", x, y,
			    report.count > 100 ? 3 : 4, c->won ? "gain" : "point");
		} else {
			double y = p->y.from - 5;
			auto_free char *title =
			    kasprintf("%s: %s", c->id, status_rows[c->status].name);

			plot_mark_begin(p, title);
			kbuf_printf(&p->svg,
			    "<path class=\"failed\" d=\"M%.1f %.1fl6 6m0 -6l-6 6\"/>\n", x - 3,
			    y - 3);
		}
		plot_mark_end(p);
	}
}

char *
plot_progress(void)
{
	auto_free struct outcome *o = outcomes_of();
	auto_free char *description = kasprintf("A point for every correct candidate, a cross at "
	                                        "the bottom for every other one, and "
	                                        "a line for the best so far, which ends at %s "
	                                        "after trial %ld.",
	    show_times(o[report.last].best), report.last);
	double low = 1, high = 1.5;
	struct plot p;

	for (size_t i = 0; i < report.count; i++)
		if (report.list[i].correct && report.list[i].speedup.mean > 0) {
			low = fmin(low, report.list[i].speedup.mean);
			high = fmax(high, report.list[i].speedup.mean);
		}
	plot_begin(&p, "progress", 480, 300, "Speed-up over the trials", description);
	p.x.low = 0.5;
	p.x.high = (double)report.last + 0.5;
	p.x.whole = true;
	p.x.title = report.linear ? "trial (round − 1)" : "trial";
	p.y.title = "times as fast as the reference";
	/* Leave room at the bottom for the crosses. */
	p.y.log = true;
	p.y.low = low / pow(high / low, 0.12);
	p.y.high = high * pow(high / low, 0.08);
	plot_axes(&p, axis_number, axis_times);
	put_best_line(&p, o);
	put_points(&p, o);
	kbuf_puts(&p.svg, "</svg>\n");
	return p.svg.data;
}

/* The correct and timed candidates, sorted; the caller frees. */
static double *
speedups_of(size_t *count)
{
	double *x = kcalloc(report.count, sizeof *x);
	size_t n = 0;

	for (size_t i = 0; i < report.count; i++)
		if (&report.list[i] != report.reference && report.list[i].correct &&
		    report.list[i].speedup.mean > 0)
			x[n++] = report.list[i].speedup.mean;
	kstat_sort(x, n);
	*count = n;
	return x;
}

static json_t *
trials_json(const struct outcome *o)
{
	json_t *rows = json_array();

	for (long t = 1; t <= report.last; t++)
		json_array_append_new(rows,
		    json_pack("{s:I,s:I,s:I,s:I,s:f,s:I,s:b,s:f}", "trial", (json_int_t)t, "all",
		        (json_int_t)o[t].all, "correct", (json_int_t)o[t].count[STATUS_CORRECT],
		        "gains", (json_int_t)o[t].gains, "best", o[t].best, "tokens",
		        (json_int_t)o[t].tokens, "priced", o[t].priced, "cost", o[t].cost));
	return rows;
}

static json_t *
search_json(const struct outcome *o)
{
	struct outcome all = { .count = { 0 } };
	size_t n;
	auto_free double *x = speedups_of(&n);
	json_t *s;

	for (long t = 1; t <= report.last; t++) {
		all.gains += o[t].gains;
		all.cost += o[t].cost;
		all.tokens += o[t].tokens;
		all.priced = all.priced || o[t].priced;
	}
	s = json_pack("{s:I,s:I,s:b,s:b,s:b,s:o}", "timed", (json_int_t)n, "gains",
	    (json_int_t)all.gains, "priced", all.priced, "paid", all.priced || all.tokens, "folded",
	    report.last > 12, "trials", trials_json(o));
	if (all.gains)
		json_object_update_new(s,
		    json_pack("{s:f,s:I}", "usd_each", all.cost / (double)all.gains, "tokens_each",
		        (json_int_t)(all.tokens / all.gains)));
	if (n)
		json_object_update_new(s,
		    json_pack("{s:f,s:f,s:f,s:f,s:f}", "lowest", x[0], "lower",
		        kstat_quantile(x, n, 0.25), "median", kstat_quantile(x, n, 0.5), "upper",
		        kstat_quantile(x, n, 0.75), "highest", x[n - 1]));
	return s;
}

/* The best program of a cell; the first MOST_BARS get a bar. */
static json_t *
elite_json(const struct karch_row *row, size_t i)
{
	const struct kcandidate *c = find_candidate(row->id);
	bool correct = row->status == STATUS_CORRECT;
	struct kgain_ratio alone = {
		.mean = row->speedup, .low = row->speedup, .high = row->speedup
	};
	json_auto_t *own = c ? candidate_json(c) : json_pack("{s:o*}", "speed", ratio_json(&alone));
	char cell[KARCH_DIMS + 1];

	karch_cell_text(row->cell, cell);
	return json_pack("{s:s,s:s,s:s,s:s,s:b,s:f,s:O*,s:f,s:f,s:s,s:s}", "id", row->id, "cell",
	    cell, "status", status_rows[row->status].name, "class",
	    !correct ? ""
	        : i  ? "point"
	             : "best",
	    "bar", i < MOST_BARS, "value", correct ? row->speedup : 0, "speed",
	    json_object_get(own, "speed"), "ns", row->runtime_ms * 1e6, "score", row->score,
	    "strategy", row->strategy, "parent", row->parent);
}

static json_t *
archive_json(void)
{
	const struct karch_row *list[KARCH_CELLS];
	size_t n = karch_ranked(&report.archive, list);
	double longest = 1;
	json_t *elites = json_array();

	for (size_t i = 0; i < n; i++) {
		longest = fmax(longest, list[i]->speedup);
		json_array_append_new(elites, elite_json(list[i], i));
	}
	return json_pack("{s:I,s:I,s:f,s:o}", "count", (json_int_t)n, "cells",
	    (json_int_t)KARCH_CELLS, "longest", longest, "elites", elites);
}

void
add_search(json_t *f)
{
	auto_free struct outcome *o = outcomes_of();

	if (report.last > 0)
		json_object_set_new(f, "search", search_json(o));
	json_object_set_new(f, "archive", archive_json());
}
