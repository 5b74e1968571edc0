/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgain: what timing rows say: times, speed-ups, and whether a difference is more than noise. A row is an element of
 * eval.timing: {"workload", "samples_ns", "median_ns", "min_ns", "mean_ns", ...}.
 */
#ifndef KGAIN_H
#define KGAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Time of a row by STATISTIC ("median", "min" or "mean") in ns: the field of that name, else computed from
 * samples_ns. NAN when there is neither, or when the time is not a finite number above zero.
 */
double kgain_time_ns(const json_t *row, const char *statistic);

/* How much a row counts in a geometric mean: its "weight", from the task; 1 without one. */
double kgain_weight(const json_t *row);

/* The row of a workload, or NULL; borrowed. */
const json_t *kgain_row(const json_t *timing, const char *workload);

/* The rows of PAST for the workloads that TIMING has; new reference. */
json_t *kgain_rows_like(const json_t *past, const json_t *timing);

/* Arithmetic mean of the rows' times, in ms; NAN when there is no row or one has no time. */
double kgain_runtime_ms(const json_t *timing, const char *statistic);

/*
 * Speed-up of CANDIDATE over REFERENCE: geometric mean, weighted, over workloads of reference time / candidate time.
 * Both must time the same workloads, each with a valid time. Returns NULL and fills *SPEEDUP and, unless ROWS is NULL,
 * *ROWS (a new array of {"workload","speedup","runtime_ms"}); or returns the fault as text, which the caller frees.
 */
char *kgain_speedup(const json_t *reference, const json_t *candidate, const char *statistic, double *speedup,
    json_t **rows);

/*
 * Interleaved pairs that bear NAME: geometric means, weighted as the rows of TIMING are, over workloads of the ratios,
 * and of the lower ends of their confidence intervals. True only when there is a valid pair for every row of TIMING.
 */
bool kgain_pairs(const json_t *pairs, const char *name, const json_t *timing, double *ratio, double *low);

/* A ratio of two times over N workloads, a geometric mean, with its interval. N 0: there is none. */
struct kgain_ratio {
	double mean;
	double low, high;	/* LOW 0: too few samples for a lower end; HIGH infinite: for any */
	size_t n;
};
/*
 * From interleaved pairs with the opponent NAME, or from times measured apart, OTHER over OWN, where the interval is by
 * those of the two medians. Of one WORKLOAD, or over all (NULL), weighted as the rows of TIMING (may be NULL) or OWN
 * are.
 */
struct kgain_ratio kgain_ratio_of_pairs(const json_t *pairs, const char *name, const char *workload,
    const json_t *timing);
struct kgain_ratio kgain_ratio_of_rows(const json_t *other, const json_t *own, const char *workload);

/* Noise of a ratio of two times that were measured apart, from the noise floor of each: sqrt(a^2 + b^2). */
double kgain_noise(double a, double b);

#endif
