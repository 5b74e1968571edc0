/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgain: what timing rows tell: times, speed-ups, and whether a difference is more than noise. A
 * row is an element of eval.timing: {"workload", "samples_ns", "median_ns", "min_ns", "mean_ns",
 * ...}.
 */
#pragma once

#include "kio.h"

/*
 * How much more a program may gain from buffers that it has seen before than its opponent, as a
 * share: an honest pair differs by less, and hidden caching gains more.
 */
#define KGAIN_REUSE_GAP 0.01

/*
 * Time of a row in ns, the median of its samples: unlike a mean or a minimum, it is robust against
 * outliers. Taken from the field median_ns, or else computed from samples_ns. NAN when there is
 * neither, or when the time is not a finite number above zero.
 */
double kgain_time_ns(const json_t *row);

/* Weight of a row in a geometric mean: its "weight", from the task; 1 without one. */
double kgain_weight(const json_t *row);

/* The row of a workload, or NULL; borrowed. */
const json_t *kgain_row(const json_t *timing, const char *workload);

/* The workload NAME of a task's list, or NULL; borrowed. */
const json_t *kgain_workload(const json_t *workloads, const char *name);

/* The rows of PAST for the workloads of TIMING; new reference. */
json_t *kgain_rows_like(const json_t *past, const json_t *timing);

/* Arithmetic mean of the rows' times, in ms; NAN when there is no row, or a row has no time. */
double kgain_runtime_ms(const json_t *timing);

/*
 * Speed-up of CANDIDATE over REFERENCE: weighted geometric mean over workloads of reference time /
 * candidate time. Both must time the same workloads, each with a valid time. Returns NULL and sets
 * *SPEEDUP unless that is NULL; or returns the fault as text, which the caller frees.
 */
char *kgain_speedup(const json_t *reference, const json_t *candidate, double *speedup);

/*
 * A ratio of two times, or a geometric mean over N of them, with its interval. N 0: there is none.
 * Ratios are combined only here, and everywhere their errors count as independent: half-widths of
 * logarithms add in quadrature.
 */
struct kgain_ratio {
	double mean;
	double low, high; /* LOW 0: too few samples for a lower end; HIGH infinite: for an upper
                           * end */
	size_t n;
};

/* A geometric mean being computed; zero-initialise. */
struct kgain_sums {
	double logs, weights;
	double below, above; /* squares of half-widths */
	struct kgain_ratio last;
	size_t n;
};
void kgain_add(struct kgain_sums *s, double weight, struct kgain_ratio r);
struct kgain_ratio kgain_sum(const struct kgain_sums *s);

/*
 * From interleaved pairs with the opponent NAME on WORKLOAD: the opponent's time / the candidate's.
 */
struct kgain_ratio kgain_pair(const json_t *pairs, const char *name, const char *workload);
/* The mean over all rows of TIMING, with their weights. False when a row has no valid pair. */
bool kgain_raced(
    const json_t *pairs, const char *name, const json_t *timing, struct kgain_ratio *ratio);
/* The same, but only the ratio and its lower end; also false without a lower end. */
bool kgain_pairs(
    const json_t *pairs, const char *name, const json_t *timing, double *ratio, double *low);
/*
 * The mean over what is available: from pairs with the opponent NAME, or from times measured
 * separately, OTHER over OWN, where the interval is that of the two medians. For one WORKLOAD, or
 * for all (NULL), with the weights of the rows of TIMING (may be NULL) or OWN.
 */
struct kgain_ratio kgain_ratio_of_pairs(
    const json_t *pairs, const char *name, const char *workload, const json_t *timing);
struct kgain_ratio kgain_ratio_of_rows(
    const json_t *other, const json_t *own, const char *workload);
/*
 * Two rows measured separately: the interval is that of the medians, and at least NOISE wide, a
 * share, which is all that is known without samples. The second function gives the mean over the
 * rows of OWN; false when OTHER lacks one of them.
 */
struct kgain_ratio kgain_apart(const json_t *other, const json_t *own, double noise);
bool kgain_all_apart(
    const json_t *other, const json_t *own, double noise, struct kgain_ratio *ratio);

/*
 * A ratio in records has three members: without LOW there is no interval, with LOW and without HIGH
 * no upper end. Reads a speed-up, "speedup", "speedup_low", "speedup_high", from an object; and
 * over an array ROWS of them, for the rows in TIMING (NULL: all), with the weights given there.
 */
struct kgain_ratio kgain_read(
    const json_t *object, const char *mean, const char *low, const char *high);
struct kgain_ratio kgain_speedup_of(const json_t *object);
struct kgain_ratio kgain_mean(const json_t *rows, const json_t *timing);
void kgain_put_speedup(json_t *object, const struct kgain_ratio *r);

/* (A over B) times (B over C): A over C. */
struct kgain_ratio kgain_product(const struct kgain_ratio *a, const struct kgain_ratio *b);
/* (A over C) divided by (B over C): A over B. */
struct kgain_ratio kgain_quotient(const struct kgain_ratio *a, const struct kgain_ratio *b);
/* The wider half of the interval, as a share of the ratio. */
double kgain_width(const struct kgain_ratio *r);
/* Is A faster than B by more than the noise of both? Any ratio is faster than none. */
bool kgain_beyond(const struct kgain_ratio *a, const struct kgain_ratio *b);

/* Share by which two equally fast programs may differ. */
#define KGAIN_SAME 0.01
/*
 * What the interval of a ratio says: "gain" (above 1 + MIN_GAIN), "loss" (below 1), "same",
 * "inconclusive".
 */
const char *kgain_verdict(const struct kgain_ratio *r, double min_gain);

/*
 * Noise of a ratio of two times that were measured separately, from the noise floor of each:
 * sqrt(a^2 + b^2).
 */
double kgain_noise(double a, double b);
