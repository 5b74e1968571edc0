/* SPDX-License-Identifier: Apache-2.0 */
/* Each timed workload: the speed of each program, as bars and as figures. See kreport.h. */

#include "kgain.h"
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
baselines_of(const struct report *r)
{
	return r->verify ? kjson_path(r->verify, "baselines") : of(r->reference, "eval.baselines");
}

static const json_t *
timing_of_reference(const struct report *r)
{
	if (!r->verify)
		return of(r->reference, "eval.timing");
	return kjson_path(kjson_find(baselines_of(r), "name", "reference"), "timing");
}

static const json_t *
timing_of_best(const struct report *r)
{
	return r->verify ? kjson_path(r->verify, "timing") : of(r->best, "eval.timing");
}

/*
 * From the race that both took part in; over the reference from the score; else from separate
 * times.
 */
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

	p.ns = row ? kgain_time_ns(row) : 0;
	if (w->count > BEST)
		p.behind = lead_over(r, &p, w->name);
	w->list[w->count++] = p;
}

/* The speed of each program, relative to the reference. */
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
		    kjson_path(kjson_find(baselines_of(r), "name", baseline), "timing"));
	}
	compare(r, &w);
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
program_json(const struct report *r, const struct workload *w, const struct program *p)
{
	const struct ktask_workload *task = ktask_workload(r->task, w->name);
	const json_t *row = kgain_row(p->timing, w->name);
	bool timed = task && !own_metric(r->camp);
	int64_t flops = timed ? ktask_value(r->task, task, r->task->flops) : 0;
	int64_t bytes = timed ? ktask_value(r->task, task, r->task->bytes) : 0;
	double rate = p->ns > 0 ? 1e9 / p->ns : 0;

	return json_pack("{s:s,s:s,s:s,s:b,s:b,s:f,s:f,s:f,s:f,s:I,s:f,s:f,s:o*,s:o*}", "workload",
	    w->name, "name", p->name, "class", p->class, "is_best", p == &w->list[BEST], "timed",
	    p->ns > 0, "ns", p->ns, "iqr_ns", kjson_num_or(row, "iqr_ns", 0), "alone_ns",
	    kjson_num_or(row, "alone_ns", 0), "host_ns", kjson_num_or(row, "host_ns", 0), "samples",
	    (json_int_t)json_array_size(json_object_get(row, "samples_ns")), "flops",
	    (double)(flops > 0 ? flops : 0) * rate, "bytes", (double)(bytes > 0 ? bytes : 0) * rate,
	    "speed", p->speed.n ? ratio_json(&p->speed) : NULL, "behind",
	    p->behind.n ? ratio_json(&p->behind) : NULL);
}

static json_t *
workload_json(const struct report *r, const char *name)
{
	struct workload w = workload_of(r, name);
	double roof = roof_of(&w), longest = roof;
	json_t *programs = json_array(), *o;

	for (size_t i = 0; i < w.count; i++) {
		longest = fmax(longest, w.list[i].speed.mean);
		json_array_append_new(programs, program_json(r, &w, &w.list[i]));
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
has_alone(const struct report *r)
{
	const json_t *row;
	size_t i;

	json_array_foreach(r->best ? timing_of_best(r) : NULL, i, row) {
		if (json_object_get(row, "host_ns"))
			return true;
	}
	return false;
}

void
add_workloads(json_t *f, const struct report *r)
{
	json_t *workloads = json_array(), *missing = json_array(), *b;
	const json_t *timed = r->best ? timing_of_best(r) : timing_of_reference(r), *row;
	size_t i;

	json_array_foreach(timed, i, row)
		json_array_append_new(
		    workloads, workload_json(r, kjson_str_or(row, "workload", "?")));
	json_array_foreach(baselines_of(r), i, b)
		if (json_object_get(b, "missing"))
			json_array_append(missing, b);
	json_object_update_new(f,
	    json_pack("{s:o,s:o,s:b,s:b,s:b}", "workloads", workloads, "missing_baselines", missing,
	        "no_baseline", !r->task->baseline_count, "alone", has_alone(r), "counts_alone",
	        r->task->alone));
}
