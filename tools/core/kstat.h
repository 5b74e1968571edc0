/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kstat: statistics of timing samples. Intervals are distribution-free: they are order statistics,
 * whose coverage follows from the binomial distribution alone (W. J. Conover, Practical
 * Nonparametric Statistics, section 3.2), because timings are never normal.
 */
#ifndef KSTAT_H
#define KSTAT_H

#include "kutil.h"

struct kstat {
	double median, min, max, mean;
	double sd;  /* sample standard deviation (n - 1); 0 for one sample */
	double iqr; /* upper quartile less lower quartile */
};

/* From the smallest to the largest, in place. */
void kstat_sort(double *x, size_t n);
/* All of it, of N >= 1 values. */
void kstat_of(const double *x, size_t n, struct kstat *s);

/*
 * Quantile Q in [0, 1] with linear interpolation between order statistics (Hyndman and Fan's type
 * 7); N >= 1.
 */
double kstat_quantile(const double *x, size_t n, double q);

struct kstat_interval {
	double median, low, high;
};

/* Error probability of the intervals below, both sides together. */
#define KSTAT_ALPHA 0.005
/*
 * From this number of values on, the interval of the median covers with 1 - KSTAT_ALPHA: 2 * 2^-9 <
 * 0.005.
 */
enum { KSTAT_ENOUGH = 9 };

/*
 * Median of N >= 1 values and its confidence interval: the K-th smallest and K-th largest, K as
 * large as KSTAT_ALPHA allows. With fewer than KSTAT_ENOUGH values even the extremes cover less
 * than that; the interval is then the range, widened on both sides by its own length times
 * (KSTAT_ENOUGH - N) / 2 (a convention, not a theorem; for one value there is no length, so it is
 * that value -+ all of it).
 */
void kstat_median(const double *x, size_t n, struct kstat_interval *m);

/*
 * Error probability of the intervals of pairs, both sides together, and the number of values that
 * it takes at least.
 */
#define KSTAT_PAIRS_ALPHA 0.0005
enum { KSTAT_PAIRS = 12 };
/*
 * Centre of N >= 1 differences of pairs, which are symmetric about it when both sides were measured
 * in turns: the median of all averages of two (Hodges and Lehmann), with the interval that
 * Wilcoxon's signed-rank test does not reject (M. Hollander and D. A. Wolfe, Nonparametric
 * Statistical Methods, sections 3.2 and 3.3). It needs fewer values than the median's interval.
 * Fewer than KSTAT_PAIRS values (of slow kernels) get mean and interval by Student's t, with error
 * probability KSTAT_ALPHA: that assumes more about them, and is wide. One value says nothing: its
 * interval is it -+ all of it.
 */
void kstat_pairs(const double *x, size_t n, struct kstat_interval *m);

/*
 * What the interval of the logarithm of a ratio of times says: somebody is faster or slower, both
 * are the same, or the noise leaves it open. A difference of less than KSTAT_LEAST is none: two
 * processes of one program differ by that much, for each has its own pages. Both are the same when
 * the whole interval lies within KSTAT_SAME.
 */
#define KSTAT_LEAST 0.01
#define KSTAT_SAME 0.02
enum kstat_verdict { KSTAT_FASTER, KSTAT_SLOWER, KSTAT_ALIKE, KSTAT_INCONCLUSIVE };
enum kstat_verdict kstat_verdict(const struct kstat_interval *log_ratio);
/*
 * How many pairs it would take, judged by the N there are, until the interval is as narrow as the
 * median (or KSTAT_SAME) is far from 0. Intervals narrow with the root of the number; where some of
 * the pairs were disturbed, those of few pairs are wide and then narrow faster, so the distance of
 * the quartiles counts where it promises less.
 */
double kstat_pairs_needed(const double *x, size_t n);
extern const char *const kstat_verdicts[]; /* as words */

#endif
