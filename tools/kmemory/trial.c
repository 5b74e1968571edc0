/* SPDX-License-Identifier: Apache-2.0 */
/* kmemory: a trial's scored records, and what they say about it. See kmemory.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "karch.h"
#include "kfence.h"
#include "kgain.h"
#include "kio.h"
#include "kmemory.h"
#include "status.h"

/* A win before a correct one before any other, and of equals the better one. */
static bool
stands_before(const struct kcandidate *a, const struct kcandidate *b)
{
	int rank_a = 2 * a->won + a->correct, rank_b = 2 * b->won + b->correct;

	return rank_a != rank_b ? rank_a > rank_b : a->score > b->score;
}

const struct kcandidate *
trial_candidate(const struct memory *m, long number)
{
	const struct ktrial *trial =
	    number <= m->trials->last ? ktrials_get(m->trials, number) : NULL;
	const struct kcandidate *best = NULL;

	/* A version needs the trial before it, and no other. */
	if (trial && number > 1)
		ktrials_drop(m->trials, number - 2);
	for (size_t i = 0; trial && trial->whole && i < trial->count; i++)
		if (!best || stands_before(&trial->list[i], best))
			best = &trial->list[i];
	return best;
}

void
set_line(json_t *object, const char *key, const char *text, size_t max)
{
	char *line = text ? kfence_line(text, max) : NULL;

	if (line && *line)
		json_object_set_new(object, key, json_string(line));
	free(line);
}

void
set_number(json_t *object, const char *key, double value)
{
	char digits[32];

	if (!isfinite(value))
		return;
	snprintf(digits, sizeof digits, "%.6g", value);
	json_object_set_new(object, key, json_real(strtod(digits, NULL)));
}

/* Sums for geometric means over timed workloads. */
struct means {
	double us, tflops, gbps;
	size_t n;
	bool flops, bytes; /* known of every workload so far */
};

static void
add_row(const struct memory *m, struct means *sum, const json_t *row, json_t *by_shape)
{
	const char *name = kjson_str_or(row, "workload", "");
	const struct ktask_workload *w = ktask_workload(m->task, name);
	double ns = kgain_time_ns(row, m->statistic);
	double flops = w ? (double)ktask_value(m->task, w, m->task->flops) : 0;
	double bytes = w ? (double)ktask_value(m->task, w, m->task->bytes) : 0;

	set_number(by_shape, name, ns / 1e3);
	sum->flops &= flops > 0;
	sum->bytes &= bytes > 0;
	sum->us += log(ns / 1e3);
	/* 1 FLOP a nanosecond is 1 GFLOPS; 1 byte a nanosecond is 1 GB/s. */
	sum->tflops += log(fmax(flops, 1) / ns / 1e3);
	sum->gbps += log(fmax(bytes, 1) / ns);
	sum->n++;
}

/* Geometric mean of a member of all rows; NAN when a row has none. */
static double
geomean(const json_t *rows, const char *key)
{
	double sum = 0;
	size_t i;
	const json_t *row;

	json_array_foreach((json_t *)rows, i, row) sum += log(kjson_num_or(row, key, NAN));
	return json_array_size(rows) ? exp(sum / (double)json_array_size(rows)) : NAN;
}

/* The rows that kscore made with sourced peaks; they come before our own arithmetic. */
static void
set_utilization(json_t *o, const json_t *rows)
{
	static const struct {
		const char *row, *field;
	} members[] = {
		{ "tflops", "tflops" },
		{ "gbps", "bandwidth_gbps" },
		{ "compute_pct", "tflops_peak_utilization_pct" },
		{ "memory_pct", "bandwidth_peak_utilization_pct" },
	};

	for (size_t i = 0; i < LEN(members); i++)
		set_number(o, members[i].field, geomean(rows, members[i].row));
}

json_t *
record_performance(const struct memory *m, const struct kcandidate *c)
{
	const json_t *timing = kjson_path(c->json, "eval.timing"), *row;
	struct means sum = { .flops = true, .bytes = true };
	json_t *o = json_object(), *by_shape;
	size_t i;

	if (!json_array_size(timing) || !c->correct)
		return o;
	by_shape = json_object();
	json_array_foreach((json_t *)timing, i, row) add_row(m, &sum, row, by_shape);
	set_number(o, "latency_us", exp(sum.us / (double)sum.n));
	json_object_set_new(o, "latency_us_by_shape", by_shape);
	if (sum.flops)
		set_number(o, "tflops", exp(sum.tflops / (double)sum.n));
	if (sum.bytes)
		set_number(o, "bandwidth_gbps", exp(sum.gbps / (double)sum.n));
	set_number(o, "speedup", c->speedup.n ? c->speedup.mean : NAN);
	set_utilization(o, kjson_path(c->json, "score.utilization"));
	return o;
}

/* "raise compute, lower memory": the step on the grid, for a candidate that stated no plan. */
static char *
step_text(int from, int to)
{
	struct kbuf b = { 0 };

	for (int d = 0; d < KARCH_DIMS; d++) {
		int step = karch_level(to, d) - (from < 0 ? 0 : karch_level(from, d));

		if (step)
			kbuf_printf(&b, "%s%s %s", b.len ? ", " : "", step > 0 ? "raise" : "lower",
			    karch_dims[d]);
	}
	if (!b.len)
		kbuf_puts(&b, "same techniques");
	return b.data;
}

char *
record_category(const struct kcandidate *c)
{
	const char *planned = kjson_str_or(c->json, "eval.plan.category", "");

	if (!c->trial)
		return kstrdup("baseline");
	if (*planned)
		return kfence_line(planned, 60);
	if (c->cell >= 0)
		return step_text(c->parent_cell, c->cell);
	return kfence_line(*c->strategy ? c->strategy : "none", 60);
}

double
record_gain_pct(const struct kcandidate *c)
{
	double gain = c->gained.n ? 100 * (c->gained.mean - 1) : NAN;

	return kjson_num_or(c->json, "score.decision.improvement_pct", gain);
}
