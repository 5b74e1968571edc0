/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the search went: speed-ups over trials, statuses, their distribution, what a gain cost. See
 * kreport.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "kreport.h"
#include "kstat.h"
#include "status.h"

/* What came of one trial. */
struct outcome {
	long count[STATUS_COUNT], all, gains;
	double best; /* speed-up of the best so far; 0: none */
	double cost;
	long long tokens; /* written */
	bool priced;
};

static struct outcome *
outcomes_of(const struct report *r)
{
	struct outcome *list = kcalloc((size_t)r->last + 1, sizeof *list);
	const struct kcandidate *best = NULL;

	for (size_t i = 0; i < r->count; i++) {
		const struct kcandidate *c = &r->list[i];
		struct outcome *o = &list[c->trial];

		if (c == r->reference)
			continue;
		o->count[c->status]++;
		o->all++;
		o->gains += c->won;
		o->priced = o->priced || c->priced;
		o->cost += c->cost_usd;
		o->tokens += c->token_count[KCANDIDATE_OUTPUT];
		if (is_next_best(r, best, c))
			best = c;
		o->best = best ? best->speedup.mean : 0;
	}
	for (long t = 1; t <= r->last; t++)
		list[t].best = list[t].all ? list[t].best : list[t - 1].best;
	return list;
}

/* Where in its trial a candidate stands: the branches of one side by side. */
static double
place_of(const struct kcandidate *c, const struct outcome *o)
{
	long n = o[c->trial].all > 1 ? o[c->trial].all : 1;

	return (double)c->trial + 0.64 * (((double)c->branch - 0.5) / (double)n - 0.5);
}

static void
put_best_line(struct plot *p, const struct report *r, const struct outcome *o)
{
	struct kbuf path = { 0 };
	double last = 1;

	kbuf_printf(
	    &path, "<path class=\"best\" d=\"M%.1f %.1f", plot_at(&p->x, 0), plot_at(&p->y, 1));
	for (long t = 1; t <= r->last; t++) {
		double now = o[t].best > 0 ? fmax(o[t].best, 1) : last;

		if (now > last)
			kbuf_printf(&path, "H%.1fV%.1f", plot_at(&p->x, (double)t - 0.4),
			    plot_at(&p->y, now));
		last = now;
	}
	kbuf_printf(&path, "H%.1f\"/>\n", p->x.to);
	kbuf_puts(&p->svg, path.data);
	kbuf_free(&path);
}

static void
put_points(struct plot *p, const struct report *r, const struct outcome *o)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct kcandidate *c = &r->list[i];
		double x = plot_at(&p->x, place_of(c, o));

		if (c == r->reference)
			continue;
		if (c->correct && c->speedup.mean > 0) {
			double y = plot_at(&p->y, c->speedup.mean);

			plot_mark_begin(p, "%s: %s, %s%s", c->id, show_speedup(c),
			    *c->strategy ? c->strategy : "no strategy",
			    c->won ? r->linear ? ", accepted" : ", a gain" : "");
			plot_svg(p, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" class=\"%s\"/>", x, y,
			    r->count > 100 ? 3 : 4, c->won ? "gain" : "point");
		} else {
			double y = p->y.from - 5;

			plot_mark_begin(p, "%s: %s", c->id, status_rows[c->status].name);
			plot_svg(p, "<path class=\"failed\" d=\"M%.1f %.1fl6 6m0 -6l-6 6\"/>",
			    x - 3, y - 3);
		}
		plot_mark_end(p);
	}
}

static void
put_progress(struct doc *d, const struct report *r, const struct outcome *o)
{
	double low = 1, high = 1.5;
	struct plot p;

	for (size_t i = 0; i < r->count; i++)
		if (r->list[i].correct && r->list[i].speedup.mean > 0) {
			low = fmin(low, r->list[i].speedup.mean);
			high = fmax(high, r->list[i].speedup.mean);
		}
	plot_begin(&p, "progress", 480, 300, "Speed-up over the trials",
	    "A point for every correct candidate, a cross at the bottom for every other one, and a "
	    "line for the best so far, which ends at %s after trial %ld.",
	    show_times(o[r->last].best), r->last);
	plot_area(&p);
	p.x = (struct axis){ .low = 0.5,
		.high = (double)r->last + 0.5,
		.from = p.x.from,
		.to = p.x.to,
		.whole = true,
		.title = r->linear ? "trial (round − 1)" : "trial" };
	p.y.title = "times as fast as the reference";
	/* Room at the foot for the crosses. */
	p.y.log = true;
	p.y.low = low / pow(high / low, 0.12);
	p.y.high = high * pow(high / low, 0.08);
	plot_y_axis(&p, axis_times);
	plot_x_axis(&p, axis_number);
	put_best_line(&p, r, o);
	put_points(&p, r, o);
	doc_figure(d, plot_end(&p),
	    "Every candidate over the trials: filled if it was %s, a cross if it was not correct. "
	    "The line is the best so far.",
	    r->linear ? "accepted" : "a gain beyond the noise");
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The correct and timed ones, sorted; the caller frees. */
static double *
speedups_of(const struct report *r, size_t *count)
{
	double *x = kcalloc(r->count, sizeof *x);
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		if (&r->list[i] != r->reference && r->list[i].correct &&
		    r->list[i].speedup.mean > 0)
			x[n++] = r->list[i].speedup.mean;
	qsort(x, n, sizeof *x, by_value);
	*count = n;
	return x;
}

static void
put_summary(
    struct doc *d, const struct report *r, const struct outcome *o, const double *x, size_t n)
{
	long gains = 0;
	double cost = 0;
	long long tokens = 0;
	bool priced = false;

	for (long t = 1; t <= r->last; t++) {
		gains += o[t].gains;
		cost += o[t].cost;
		tokens += o[t].tokens;
		priced = priced || o[t].priced;
	}
	if (n)
		doc_text(d,
		    "Of %s %zu %s correct and timed. Their speed-ups: lowest %s, lower quartile "
		    "%s, median %s, upper quartile %s, highest %s.",
		    plural((long long)r->count - 1, "candidate", "candidates"), n,
		    n == 1 ? "is" : "are", show_times(x[0]), show_times(kstat_quantile(x, n, 0.25)),
		    show_times(kstat_quantile(x, n, 0.5)), show_times(kstat_quantile(x, n, 0.75)),
		    show_times(x[n - 1]));
	if (!gains)
		doc_text(
		    d, "There was no %s.", r->linear ? "accepted round" : "gain beyond the noise");
	else if (priced || tokens)
		doc_text(d, "%s in all. Each took %s%s%s written, including failures.",
		    plural(gains, r->linear ? "accepted round" : "gain",
		        r->linear ? "accepted rounds" : "gains"),
		    priced ? show_usd(cost / (double)gains) : "", priced ? " and " : "",
		    plural(tokens / gains, "token", "tokens"));
	else
		doc_text(d, "%s in all; cost and tokens of the replies are unknown.",
		    plural(gains, r->linear ? "accepted round" : "gain",
		        r->linear ? "accepted rounds" : "gains"));
}

static void
put_trials(struct doc *d, const struct report *r, const struct outcome *o)
{
	bool folded = r->last > 12, paid = false;

	if (folded)
		doc_details(d, "All %ld trials", r->last);
	for (long t = 1; t <= r->last; t++)
		paid = paid || o[t].priced || o[t].tokens;
	doc_table(d, "Trials",
	    paid ? ">Trial|>Candidates|>Correct|>Gains|>Best so far|>Tokens written|>Cost"
	         : ">Trial|>Candidates|>Correct|>Gains|>Best so far");
	for (long t = 1; t <= r->last; t++) {
		doc_cells(d, "%ld|%ld|%ld|%ld|%s", t, o[t].all, o[t].count[STATUS_CORRECT],
		    o[t].gains, show_times(o[t].best));
		if (paid)
			doc_cells(d, "%s|%s", o[t].tokens ? show_count(o[t].tokens) : "–",
			    o[t].priced ? show_usd(o[t].cost) : "unknown");
	}
	doc_table_end(d);
	if (folded)
		doc_details_end(d);
}

void
put_search(struct doc *d, const struct report *r)
{
	struct outcome *o = outcomes_of(r);
	size_t n;
	double *x = speedups_of(r, &n);

	doc_section(d, "search", "Search");
	if (r->last < 1) {
		doc_text(d, "No trial has been made yet; only the reference was evaluated.");
	} else {
		put_summary(d, r, o, x, n);
		put_progress(d, r, o);
		put_trials(d, r, o);
	}
	free(x);
	free(o);
}
