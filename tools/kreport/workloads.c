/* SPDX-License-Identifier: Apache-2.0 */
/* Each timed workload: the speed of each program, as bars and as figures. See kreport.h. */

#include "kreport.h"

/* A program that was timed on a workload. */
struct program {
	const char *name, *class;
	const json_t *timing;
	struct kgain_ratio behind; /* speed-up of the best over it; n 0: unknown */
	struct kgain_ratio speed;  /* its own over the reference */
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

	kchain_of_record(report.best->json, ktrials.last, &chain);
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

static json_t *
program_json(const struct program *p, const char *workload)
{
	const json_t *row = kgain_row(p->timing, workload);

	return json_pack("{s:s,s:s,s:s,s:b,s:f,s:f,s:f,s:f,s:I,s:o*,s:o*}", "workload", workload,
	    "name", p->name, "class", p->class, "is_best", !strcmp(p->class, "best"), "ns",
	    fmax(kgain_time_ns(row), 0), "iqr_ns", kjson_num(row, "iqr_ns"), "alone_ns",
	    kjson_num(row, "alone_ns"), "host_ns", kjson_num(row, "host_ns"), "samples",
	    (json_int_t)json_array_size(json_object_get(row, "samples_ns")), "speed",
	    p->speed.n ? ratio_json(&p->speed) : NULL, "behind",
	    p->behind.n ? ratio_json(&p->behind) : NULL);
}

/* The best, the reference, and the baselines. */
static json_t *
programs_json(const char *workload)
{
	struct program best = { .name = report.best ? report.best->id : "best",
		.class = "best",
		.timing = timing_of_best() },
	               reference = { .name = "reference",
		               .class = "reference",
		               .timing = timing_of_reference() };
	json_t *list = json_array();

	reference.behind = best.speed = lead_over(&reference, workload);
	reference.speed = (struct kgain_ratio){ 1, 1, 1, 1 };
	json_array_append_new(list, program_json(&best, workload));
	json_array_append_new(list, program_json(&reference, workload));
	kforeach_of(baseline, report.task->baselines, report.task->baseline_count) {
		const char *name = baseline->name;
		struct program p = { .name = name,
			.class = "baseline",
			.timing = kjson_path(kjson_find(baselines_of(), "name", name), "timing") };

		p.behind = lead_over(&p, workload);
		if (best.speed.n && p.behind.n)
			p.speed = kgain_quotient(&best.speed, &p.behind);
		else if (!report.best)
			p.speed = kgain_ratio_of_rows(reference.timing, p.timing, workload);
		json_array_append_new(list, program_json(&p, workload));
	}
	return list;
}

json_t *
workloads_json(void)
{
	json_t *workloads = json_array();

	kjson_foreach(row, report.best ? timing_of_best() : timing_of_reference()) {
		const char *name = kjson_str_or(row, "workload", "?");

		kjson_append(workloads, "{s:s,s:o}", "name", name, "programs", programs_json(name));
	}
	return workloads;
}
