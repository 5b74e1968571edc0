/* SPDX-License-Identifier: Apache-2.0 */
/* Each timed workload: who is how fast on it, as bars and as figures. See kreport.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kgain.h"
#include "kio.h"
#include "kreport.h"

enum { BEST, REFERENCE, BASELINES };

/* A program that a workload was timed with; the best is the first, the reference the second. */
struct program {
	const char *name, *class;
	const json_t *timing;
	double ns;                 /* median on this workload */
	struct kgain_ratio behind; /* speed-up of the best over it; n 0: not known */
	struct kgain_ratio speed;  /* its own over the reference */
};

struct workload {
	const char *name;
	struct program *list; /* owned by who asks workload_of */
	size_t count;
	double least_ns; /* by the roofline; 0: not known */
};

static const json_t *
baseline_named(const json_t *baselines, const char *name)
{
	size_t i;
	json_t *b;

	json_array_foreach(
	    baselines, i, b) if (!strcmp(kjson_str_or(b, "name", ""), name)) return b;
	return NULL;
}

static const json_t *
baselines_of(const struct report *r)
{
	return r->verify ? kjson_path(r->verify, "baselines") : of(r->reference, "eval.baselines");
}

static const json_t *
timing_of_reference(const struct report *r)
{
	if (!r->verify)
		return of(r->reference, "eval.timing");
	return kjson_path(baseline_named(baselines_of(r), "reference"), "timing");
}

static const json_t *
timing_of_best(const struct report *r)
{
	return r->verify ? kjson_path(r->verify, "timing") : of(r->best, "eval.timing");
}

/* From the race that both were in; over the reference the score knows; else from times apart. */
static struct kgain_ratio
lead_over(const struct report *r, const struct program *p, const char *workload)
{
	const json_t *rows = of(r->best, "score.per_workload");
	struct kgain_ratio ratio = { 0 };

	if (!r->best)
		return ratio;
	if (r->verify)
		ratio =
		    kgain_ratio_of_pairs(kjson_path(r->verify, "pairs"), p->name, workload, NULL);
	if (!ratio.n && !strcmp(p->name, "reference"))
		ratio = kgain_speedup_of(kgain_row(rows, workload));
	return ratio.n ? ratio : kgain_ratio_of_rows(p->timing, timing_of_best(r), workload);
}

static void
add_program(const struct report *r, struct workload *w, const char *name, const char *class,
    const json_t *timing)
{
	const json_t *row = kgain_row(timing, w->name);
	struct program p = { .name = name, .class = class, .timing = timing };

	p.ns = row ? kgain_time_ns(row, "median") : 0;
	if (w->count > BEST)
		p.behind = lead_over(r, &p, w->name);
	w->list[w->count++] = p;
}

/* How fast each is, the reference being 1. */
static void
compare(const struct report *r, struct workload *w)
{
	struct program *best = &w->list[BEST], *reference = &w->list[REFERENCE];

	best->speed = reference->behind;
	reference->speed = (struct kgain_ratio){ 1, 1, 1, 1 };
	for (size_t i = BASELINES; i < w->count; i++) {
		struct program *p = &w->list[i];

		if (best->speed.n && p->behind.n)
			p->speed = kgain_quotient(&best->speed, &p->behind);
		else if (!r->best)
			p->speed = kgain_ratio_of_rows(reference->timing, p->timing, w->name);
	}
}

static struct workload
workload_of(const struct report *r, const char *name)
{
	const json_t *roof = kgain_row(kjson_path(r->roofline, "workloads"), name);
	struct workload w = { .name = name, .least_ns = kjson_num_or(roof, "floor_ns", 0) };

	w.list = kcalloc(BASELINES + r->task->baseline_count, sizeof *w.list);
	add_program(r, &w, r->best ? r->best->id : "best", "best", timing_of_best(r));
	add_program(r, &w, "reference", "reference", timing_of_reference(r));
	for (size_t i = 0; i < r->task->baseline_count; i++) {
		const char *baseline = r->task->baselines[i].name;

		add_program(r, &w, baseline, "baseline",
		    kjson_path(baseline_named(baselines_of(r), baseline), "timing"));
	}
	compare(r, &w);
	return w;
}

/* The workloads that were timed: the rows of this. */
static const json_t *
timed(const struct report *r)
{
	return r->best ? timing_of_best(r) : timing_of_reference(r);
}

/* The roof in times of the reference, from the program that it is a bound for. */
static double
roof_of(const struct workload *w)
{
	const struct program *p = &w->list[w->list[BEST].speed.n ? BEST : REFERENCE];

	return w->least_ns > 0 && p->ns > 0 ? p->speed.mean * p->ns / w->least_ns : 0;
}

static void
put_bars(struct doc *d, const struct workload *w)
{
	double roof = roof_of(w), longest = roof;

	for (size_t i = 0; i < w->count; i++)
		longest = fmax(longest, w->list[i].speed.mean);
	doc_bars(d, 1.04 * longest, "%s", w->name);
	for (size_t i = 0; i < w->count; i++) {
		const struct program *p = &w->list[i];
		struct doc_bar bar = { p->name, p->class, p->speed.mean, p->speed.low,
			p->speed.high };

		if (!p->speed.n)
			continue;
		if (p->speed.low >= p->speed.high)
			doc_bar(d, &bar, "\2%s\2 %s", show_times(bar.value), show_time(p->ns));
		else
			doc_bar(d, &bar, "\2%s\2 (%s) %s", show_times(bar.value),
			    show_interval(&p->speed, show_times), show_time(p->ns));
	}
	if (roof > 0)
		doc_bar(d, &(struct doc_bar){ "roofline", "roofline", roof, 0, 0 }, "\2%s\2 %s",
		    show_times(roof), show_time(w->least_ns));
}

static void
put_missing_baselines(struct doc *d, const struct report *r)
{
	const json_t *b;
	size_t i;

	json_array_foreach(baselines_of(r), i, b) if (json_object_get(b, "missing"))
	    doc_note(d, "Baseline \1%s\1 was not available: %s", kjson_str_or(b, "name", "?"),
	        kjson_str_or(b, "missing", ""));
	if (!r->task->baseline_count)
		doc_note(d,
		    "The task has no baseline, so kernels are compared only with the naive "
		    "reference.");
}

void
put_workloads(struct doc *d, const struct report *r)
{
	const json_t *row;
	size_t i;

	doc_heading(d, "Speed on each workload, as a multiple of the reference");
	json_array_foreach(timed(r), i, row)
	{
		struct workload w = workload_of(r, kjson_str_or(row, "workload", "?"));

		put_bars(d, &w);
		free(w.list);
	}
	doc_text(d,
	    "Longer is faster. The thin line is the 99.5 %% confidence interval; the time is the "
	    "median of one call.%s",
	    !r->roofline ? "" : " The roofline is the least time that the device's peaks allow.");
	put_missing_baselines(d, r);
}

/* Work per second by the task's formulas, "679.0 TFLOP/s, 928.3 GB/s"; empty without any. */
static void
add_rates(struct kbuf *out, const struct report *r, const char *workload, double ns)
{
	const struct ktask_workload *w = ktask_workload(r->task, workload);
	int64_t flops = w ? ktask_value(r->task, w, r->task->flops) : 0;
	int64_t bytes = w ? ktask_value(r->task, w, r->task->bytes) : 0;

	kbuf_add(out, "", 0);
	if (flops > 0)
		kbuf_puts(out, show_rate((double)flops / ns * 1e9, "FLOP/s"));
	if (bytes > 0)
		kbuf_printf(
		    out, "%s%s", flops > 0 ? ", " : "", show_rate((double)bytes / ns * 1e9, "B/s"));
}

static void
put_program(struct doc *d, const struct report *r, const struct program *p, const char *workload)
{
	const json_t *row = kgain_row(p->timing, workload);
	struct kbuf rates = { 0 };

	if (!(p->ns > 0))
		return;
	add_rates(&rates, r, workload, p->ns);
	doc_cells(d, "%s", workload);
	doc_cells(d, !strcmp(p->class, "best") ? "\2%s\2" : "%s", p->name);
	doc_cells(d, "%s|%s|%zu", show_time(p->ns), show_time(kjson_num_or(row, "iqr_ns", 0)),
	    json_array_size(json_object_get(row, "samples_ns")));
	if (p->behind.n)
		doc_cells(d, "%s (%s)", show_times(p->behind.mean),
		    show_interval(&p->behind, show_times));
	else
		doc_cells(d, "–");
	doc_cells(d, "%s", rates.data);
	kbuf_free(&rates);
}

/* Calls by themselves, where the device is a GPU: what a batch hides. */
static void
put_alone(struct doc *d, const struct report *r)
{
	const json_t *own = timing_of_best(r), *reference = timing_of_reference(r), *row;
	bool any = false;
	size_t i;

	json_array_foreach(own, i, row) any |= json_object_get(row, "host_ns") != NULL;
	if (!any)
		return;
	doc_table(d, "A single call", "Workload|Program|>Counts|>Single call|>Host time");
	json_array_foreach(own, i, row) for (int k = 0; k < 2; k++)
	{
		const char *workload = kjson_str_or(row, "workload", "?");
		const json_t *x = k ? kgain_row(reference, workload) : row;

		if (!x || !json_object_get(x, "host_ns"))
			continue;
		doc_cells(d, "%s", workload);
		doc_cells(d, k ? "%s" : "\2%s\2", k ? "reference" : r->best->id);
		doc_cells(d, "%s|%s|%s", show_time(kgain_time_ns(x, "median")),
		    show_time(kjson_num_or(x, "alone_ns", 0)),
		    show_time(kjson_num_or(x, "host_ns", 0)));
	}
	doc_table_end(d);
	doc_text(d,
	    "%s Single call: one call on an idle device with cold caches. Host time: until such a "
	    "call returned.",
	    r->task->alone ? "A single call counts (\1timing\1 of the task)."
	                   : "Calls back to back count (\1timing\1 of the task).");
}

void
put_times(struct doc *d, const struct report *r)
{
	const json_t *row, *eval = r->verify ? r->verify : of(r->best, "eval");
	size_t i;

	doc_details(d, "Times, spread, samples and rates on every workload");
	doc_table(d, "Every timed workload",
	    "Workload|Program|>Median|>IQR|>Samples|"
	    ">Speed-up of the best over it|>Rate");
	json_array_foreach(timing_of_best(r), i, row)
	{
		struct workload w = workload_of(r, kjson_str_or(row, "workload", "?"));

		for (size_t k = 0; k < w.count; k++)
			put_program(d, r, &w.list[k], w.name);
		free(w.list);
	}
	doc_table_end(d);
	doc_text(d,
	    "Times are medians of one call. Below 1×, the other program is faster. Brackets "
	    "contain a 99.5 %% confidence interval. Differences below %s are noise here.",
	    show_percent(kjson_num_or(eval, "noise.floor", 0)));
	put_alone(d, r);
	doc_details_end(d);
}
