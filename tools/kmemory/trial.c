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

static bool
is_complete(long trial)
{
	char *archive = kasprintf("trials/%03ld/archive.ndjson", trial), *score = kasprintf("trials/%03ld/score.ndjson",
	    trial);
	bool yes = access(archive, F_OK) == 0 && access(score, F_OK) == 0;

	free(archive);
	free(score);
	return yes;
}

long
trial_last(void)
{
	long trial = -1;

	while (is_complete(trial + 1))
		trial++;
	return trial;
}

json_t *
trial_records(long trial)
{
	char *path;
	json_t *records;

	if (!is_complete(trial))
		return NULL;
	path = kasprintf("trials/%03ld/score.ndjson", trial);
	records = kin_all(path);
	if (!records)
		kdie(K_USAGE, "%s: is empty", path);
	free(path);
	return records;
}

bool
record_wins(const struct memory *m, const json_t *record)
{
	const char *verdict = kjson_str_or(record, "score.decision.verdict", NULL);

	if (kjson_int_or(record, "trial", 0) == 0)
		return false;
	return verdict || m->linear ? verdict && !strcmp(verdict, "accepted") : kjson_bool_or(record, "score.gain",
	    false);
}

/* Rank for trial_record: a gain before a correct one before any other. */
static int
rank(const struct memory *m, const json_t *record)
{
	return 2 * record_wins(m, record) + kjson_bool_or(record, "score.correct", false);
}

const json_t *
trial_record(const struct memory *m, const json_t *records)
{
	const json_t *best = NULL, *r;
	size_t i;

	json_array_foreach((json_t *)records, i, r)
		if (!best || rank(m, r) > rank(m, best) || (rank(m, r) == rank(m, best) &&
		    kjson_num_or(r, "score.combined", 0) > kjson_num_or(best, "score.combined", 0)))
			best = r;
	return best;
}

const char *
record_time(const json_t *record)
{
	return kjson_str_or(record, "eval.time", kjson_str_or(record, "reply.time", ""));
}

bool
record_timed_out(const json_t *record)
{
	const json_t *reasons = kjson_path(record, "eval.reasons"), *r;
	size_t i;

	json_array_foreach((json_t *)reasons, i, r)
		if (!strcmp(kjson_str_or(r, "check", ""), "timeout"))
			return true;
	return false;
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
	bool flops, bytes;	/* known of every workload so far */
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

	json_array_foreach((json_t *)rows, i, row)
		sum += log(kjson_num_or(row, key, NAN));
	return json_array_size(rows) ? exp(sum / (double)json_array_size(rows)) : NAN;
}

/* The rows that kscore made with sourced peaks; they come before our own arithmetic. */
static void
set_utilization(json_t *o, const json_t *rows)
{
	static const struct {
		const char *row, *field;
	} members[] = {
		{ "tflops", "tflops" }, { "gbps", "bandwidth_gbps" }, { "compute_pct", "tflops_peak_utilization_pct" },
		{ "memory_pct", "bandwidth_peak_utilization_pct" },
	};

	for (size_t i = 0; i < LEN(members); i++)
		set_number(o, members[i].field, geomean(rows, members[i].row));
}

json_t *
record_performance(const struct memory *m, const json_t *record)
{
	const json_t *timing = kjson_path(record, "eval.timing"), *row;
	struct means sum = { .flops = true, .bytes = true };
	json_t *o = json_object(), *by_shape;
	size_t i;

	if (!json_array_size(timing) || status_at(record, "eval.status") != STATUS_CORRECT)
		return o;
	by_shape = json_object();
	json_array_foreach((json_t *)timing, i, row)
		add_row(m, &sum, row, by_shape);
	set_number(o, "latency_us", exp(sum.us / (double)sum.n));
	json_object_set_new(o, "latency_us_by_shape", by_shape);
	if (sum.flops)
		set_number(o, "tflops", exp(sum.tflops / (double)sum.n));
	if (sum.bytes)
		set_number(o, "bandwidth_gbps", exp(sum.gbps / (double)sum.n));
	set_number(o, "speedup", kjson_num_or(record, "score.speedup", NAN));
	set_utilization(o, kjson_path(record, "score.utilization"));
	return o;
}

/* "raise compute, lower memory": the step on the grid, for a candidate that stated no plan. */
static char *
step_text(const json_t *from, const json_t *to)
{
	struct kbuf b = { 0 };

	for (int d = 0; d < KARCH_DIMS; d++) {
		json_int_t step = json_integer_value(json_array_get(to, (size_t)d)) -
		    json_integer_value(json_array_get(from, (size_t)d));

		if (step)
			kbuf_printf(&b, "%s%s %s", b.len ? ", " : "", step > 0 ? "raise" : "lower", karch_dims[d]);
	}
	if (!b.len)
		kbuf_puts(&b, "same techniques");
	return b.data;
}

char *
record_category(const json_t *record)
{
	const char *planned = kjson_str_or(record, "eval.plan.category", "");
	const json_t *from = kjson_path(record, "sample.parent.coords"), *to = json_object_get(record, "coords");

	if (!kjson_int_or(record, "trial", 0))
		return kstrdup("baseline");
	if (*planned)
		return kfence_line(planned, 60);
	if (json_is_object(to))
		to = json_object_get(to, "coords");
	if (karch_cell_json(to) >= 0)
		return step_text(from, to);
	return kfence_line(kjson_str_or(record, "sample.strategy", "none"), 60);
}

double
record_gain_pct(const json_t *record)
{
	double ratio = kjson_num_or(record, "score.gain_ratio", NAN);

	return kjson_num_or(record, "score.decision.improvement_pct", 100 * (ratio - 1));
}
