/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kstat: statistics of timing samples. Intervals are distribution-free: they are order statistics,
 * whose coverage follows from the binomial distribution alone (W. J. Conover, Practical
 * Nonparametric Statistics, section 3.2), because timings are never normal.
 */
#pragma once

#include "kutil.h"

struct kstat {
	double median, min, max, mean;
	double sd;  /* sample standard deviation (n - 1); 0 for one sample */
	double iqr; /* upper quartile minus lower quartile */
};

/* Sorts in ascending order, in place. */
void kstat_sort(double *x, size_t n);
/* Everything in kstat, for N >= 1 values. */
void kstat_of(const double *x, size_t n, struct kstat *s);

/*
 * Quantile Q in [0, 1] with linear interpolation between order statistics (Hyndman and Fan's type
 * 7); N >= 1.
 */
double kstat_quantile(const double *x, size_t n, double q);

struct kstat_interval {
	double median, low, high;
};

/* Two-sided error probability of the intervals below. */
#define KSTAT_ALPHA 0.005
/*
 * With at least this many values, the interval of the median covers with 1 - KSTAT_ALPHA: 2 * 2^-9
 * < 0.005.
 */
enum { KSTAT_ENOUGH = 9 };

/*
 * Median of N >= 1 values and its confidence interval: the K-th smallest and K-th largest, K as
 * large as KSTAT_ALPHA allows. With fewer than KSTAT_ENOUGH values even the extremes cover less
 * than that; the interval is then the range, widened on both sides by its own length times
 * (KSTAT_ENOUGH - N) / 2 (a convention, not a theorem). The range of one value has no length, so
 * its interval is the value plus or minus itself.
 */
void kstat_median(const double *x, size_t n, struct kstat_interval *m);

/*
 * Two-sided error probability of the intervals of pairs, and the smallest number of values that it
 * needs.
 */
#define KSTAT_PAIRS_ALPHA 0.0005
enum { KSTAT_PAIRS = 12 };
/*
 * Centre of N >= 1 differences of pairs, which are symmetric about it when both sides were measured
 * in turns: the median of all averages of two (Hodges and Lehmann), with the interval that
 * Wilcoxon's signed-rank test does not reject (M. Hollander and D. A. Wolfe, Nonparametric
 * Statistical Methods, sections 3.2 and 3.3). It needs fewer values than the median's interval.
 * Fewer than KSTAT_PAIRS values (of slow kernels) get mean and interval by Student's t, with error
 * probability KSTAT_ALPHA: that assumes more about them, and is wide. One value tells nothing: its
 * interval is the value plus or minus itself.
 */
void kstat_pairs(const double *x, size_t n, struct kstat_interval *m);

/*
 * What the interval of the logarithm of a ratio of times says: one side is faster, both are the
 * same, or the noise leaves it open. A difference of less than KSTAT_LEAST does not count: two
 * processes of one program differ by that much, because each has its own pages. Both are the same
 * when the whole interval is within KSTAT_SAME.
 */
#define KSTAT_LEAST 0.01
#define KSTAT_SAME 0.02
enum kstat_verdict { KSTAT_FASTER, KSTAT_SLOWER, KSTAT_ALIKE, KSTAT_INCONCLUSIVE };
enum kstat_verdict kstat_verdict(const struct kstat_interval *log_ratio);
/*
 * Estimates, from the N pairs measured so far, how many pairs are needed until the interval is as
 * narrow as the distance of the median (or KSTAT_SAME) from 0. Intervals narrow with the square
 * root of the number. If some of the pairs were disturbed, the interval of few pairs is wide and
 * then narrows faster, so the interquartile range counts where it promises less.
 */
double kstat_pairs_needed(const double *x, size_t n);
extern const char *const kstat_verdicts[]; /* as words */
