/* SPDX-License-Identifier: Apache-2.0 */
/* Each timed workload: the speed of each program, as bars and as figures. See kreport.h. */

#include "kchain.h"
#include "kreport.h"

enum { BEST, REFERENCE, BASELINES };

/* A program that was timed on a workload; the best is the first, the reference the second. */
struct program {
	const char *name, *class;
	const json_t *timing;
	double ns;                 /* median on this workload */
	struct kgain_ratio behind; /* speed-up of the best over it; n 0: unknown */
	struct kgain_ratio speed;  /* its own over the reference */
};

struct workload {
	const char *name;
	struct program *list; /* owned by the caller of workload_of */
	size_t count;
	double least_ns; /* from the roofline; 0: unknown */
};

static const json_t *
baselines_of(void)
{
	return report.verify ? kjson_path(report.verify, "baselines")
	                     : of(report.reference, "eval.baselines");
}

static const json_t *
timing_of_reference(void)
{
	if (!report.verify)
		return of(report.reference, "eval.timing");
	return kjson_path(kjson_find(baselines_of(), "name", "reference"), "timing");
}

static const json_t *
timing_of_best(void)
{
	return report.verify ? kjson_path(report.verify, "timing") : of(report.best, "eval.timing");
}

/* The best kernel over the reference: from the newest race between the two, or its score. */
static struct kgain_ratio
lead_over_reference(const char *workload)
{
	struct kgain_ratio ratio;
	struct kchain chain;

	kchain_of_record(report.camp, report.best->json, report.last, &chain);
	ratio = kchain_link(&chain, workload);
	kchain_free(&chain);
	return ratio;
}

/* From the race that both took part in, or, without one, from separate times. */
static struct kgain_ratio
lead_over(const struct program *p, const char *workload)
{
	struct kgain_ratio ratio = { 0 };

	if (!report.best)
		return ratio;
	if (report.verify)
		ratio = kgain_ratio_of_pairs(
		    kjson_path(report.verify, "pairs"), p->name, workload, NULL);
	if (!ratio.n && !strcmp(p->name, "reference"))
		ratio = lead_over_reference(workload);
	return ratio.n ? ratio : kgain_ratio_of_rows(p->timing, timing_of_best(), workload);
}

static void
add_program(struct workload *w, const char *name, const char *class, const json_t *timing)
{
	const json_t *row = kgain_row(timing, w->name);
	struct program p = { .name = name, .class = class, .timing = timing };

	p.ns = row ? kgain_time_ns(row) : 0;
	if (w->count > BEST)
		p.behind = lead_over(&p, w->name);
	w->list[w->count++] = p;
}

/* The speed of each program, relative to the reference. */
static void
compare(struct workload *w)
{
	struct program *best = &w->list[BEST], *reference = &w->list[REFERENCE];

	best->speed = reference->behind;
	reference->speed = (struct kgain_ratio){ 1, 1, 1, 1 };
	for (size_t i = BASELINES; i < w->count; i++) {
		struct program *p = &w->list[i];

		if (best->speed.n && p->behind.n)
			p->speed = kgain_quotient(&best->speed, &p->behind);
		else if (!report.best)
			p->speed = kgain_ratio_of_rows(reference->timing, p->timing, w->name);
	}
}

static struct workload
workload_of(const char *name)
{
	const json_t *roof = kgain_row(kjson_path(report.roofline, "workloads"), name);
	struct workload w = { .name = name, .least_ns = kjson_num(roof, "floor_ns") };

	w.list = kcalloc(BASELINES + report.task->baseline_count, sizeof *w.list);
	add_program(&w, report.best ? report.best->id : "best", "best", timing_of_best());
	add_program(&w, "reference", "reference", timing_of_reference());
	for (size_t i = 0; i < report.task->baseline_count; i++) {
		const char *baseline = report.task->baselines[i].name;

		add_program(&w, baseline, "baseline",
		    kjson_path(kjson_find(baselines_of(), "name", baseline), "timing"));
	}
	compare(&w);
	return w;
}

/* The roof relative to the reference's time, from the program that it bounds. */
static double
roof_of(const struct workload *w)
{
	const struct program *p = &w->list[w->list[BEST].speed.n ? BEST : REFERENCE];

	return w->least_ns > 0 && p->ns > 0 ? p->speed.mean * p->ns / w->least_ns : 0;
}

static json_t *
program_json(const struct workload *w, const struct program *p)
{
	const struct ktask_workload *task = ktask_workload(report.task, w->name);
	const json_t *row = kgain_row(p->timing, w->name);
	bool timed = task && !own_metric(report.camp);
	int64_t flops = timed ? ktask_value(report.task, task, report.task->flops) : 0;
	int64_t bytes = timed ? ktask_value(report.task, task, report.task->bytes) : 0;
	double rate = p->ns > 0 ? 1e9 / p->ns : 0;

	return json_pack("{s:s,s:s,s:s,s:b,s:b,s:f,s:f,s:f,s:f,s:I,s:f,s:f,s:o*,s:o*}", "workload",
	    w->name, "name", p->name, "class", p->class, "is_best", p == &w->list[BEST], "timed",
	    p->ns > 0, "ns", p->ns, "iqr_ns", kjson_num(row, "iqr_ns"), "alone_ns",
	    kjson_num(row, "alone_ns"), "host_ns", kjson_num(row, "host_ns"), "samples",
	    (json_int_t)json_array_size(json_object_get(row, "samples_ns")), "flops",
	    (double)(flops > 0 ? flops : 0) * rate, "bytes", (double)(bytes > 0 ? bytes : 0) * rate,
	    "speed", p->speed.n ? ratio_json(&p->speed) : NULL, "behind",
	    p->behind.n ? ratio_json(&p->behind) : NULL);
}

static json_t *
workload_json(const char *name)
{
	struct workload w = workload_of(name);
	double roof = roof_of(&w), longest = roof;
	json_t *programs = json_array(), *o;

	for (size_t i = 0; i < w.count; i++) {
		longest = fmax(longest, w.list[i].speed.mean);
		json_array_append_new(programs, program_json(&w, &w.list[i]));
	}
	o = json_pack(
	    "{s:s,s:f,s:o}", "name", name, "longest", 1.04 * longest, "programs", programs);
	if (roof > 0)
		json_object_set_new(
		    o, "roof", json_pack("{s:f,s:f}", "times", roof, "ns", w.least_ns));
	free(w.list);
	return o;
}

/* Are there times of single calls? On a GPU these show what a batch hides. */
static bool
has_alone(void)
{
	kjson_foreach(row, report.best ? timing_of_best() : NULL) {
		if (json_object_get(row, "host_ns"))
			return true;
	}
	return false;
}

void
add_workloads(json_t *f)
{
	json_t *workloads = json_array(), *missing = json_array(), *b;
	const json_t *timed = report.best ? timing_of_best() : timing_of_reference();
	size_t i;

	kjson_foreach(row, timed)
		json_array_append_new(workloads, workload_json(kjson_str_or(row, "workload", "?")));
	json_array_foreach(baselines_of(), i, b)
		if (json_object_get(b, "missing"))
			json_array_append(missing, b);
	json_object_update_new(f,
	    json_pack("{s:o,s:o,s:b,s:b,s:b}", "workloads", workloads, "missing_baselines", missing,
	        "no_baseline", !report.task->baseline_count, "alone", has_alone(), "counts_alone",
	        report.task->alone));
}
