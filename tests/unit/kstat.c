/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of kstat: known samples, and the coverage of the intervals by simulation. */
#include "kstat.h"

#include <math.h>

#include "kutil.h"
#include "tap.h"

static bool
near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

static void
test_figures(void)
{
	double x[] = { 5, 1, 4, 2, 3 }, one[] = { 7 }, even[] = { 1, 2, 3, 10 };
	struct kstat s;

	kstat_of(x, 5, &s);
	CHECK(near(s.median, 3) && near(s.min, 1) && near(s.max, 5) && near(s.mean, 3));
	CHECK(near(s.sd, sqrt(2.5)) && near(s.iqr, 2));
	CHECK(near(x[0], 5));
	kstat_of(one, 1, &s);
	CHECK(near(s.median, 7) && near(s.mean, 7) && near(s.sd, 0) && near(s.iqr, 0));
	kstat_of(even, 4, &s);
	CHECK(near(s.median, 2.5));
	CHECK(near(kstat_quantile(even, 4, 0), 1) && near(kstat_quantile(even, 4, 1), 10) &&
	    near(kstat_quantile(even, 4, 0.25), 1.75));
}

static void
test_interval(void)
{
	double x[40];
	struct kstat_interval m;

	for (int i = 0; i < 40; i++)
		x[i] = i + 1;
	/*
	 * Ranks from tables of the binomial distribution with p = 1/2: 2 * P(B <= k - 1) <= 0.005.
	 */
	kstat_median(x, 9, &m);
	CHECK(near(m.low, 1) && near(m.high, 9) && near(m.median, 5));
	kstat_median(x, 11, &m);
	CHECK(near(m.low, 1) && near(m.high, 11));
	kstat_median(x, 12, &m);
	CHECK(near(m.low, 1) && near(m.high, 12));
	kstat_median(x, 20, &m);
	CHECK(near(m.low, 4) && near(m.high, 17));
	kstat_median(x, 30, &m);
	CHECK(near(m.low, 7) && near(m.high, 24));
	/* Too few: wider than the range. */
	kstat_median(x, 3, &m);
	CHECK(near(m.low, 1 - 2 * 3) && near(m.high, 3 + 2 * 3) && near(m.median, 2));
	kstat_median(x + 4, 1, &m);
	CHECK(near(m.low, 0) && near(m.high, 10));
}

static void
test_pairs(void)
{
	double x[40];
	struct kstat_interval m;

	for (int i = 0; i < 40; i++)
		x[i] = i + 1;
	/*
	 * From tables of the signed-rank test: with 12 values only the extremes are that rare, 2 *
	 * 2^-12 < 0.0005.
	 */
	kstat_pairs(x, 12, &m);
	CHECK(near(m.low, 1) && near(m.high, 12) && near(m.median, 6.5));
	kstat_pairs(x, 30, &m);
	CHECK(m.low > 7 && m.low < m.median && m.high < 24 && near(m.median, 15.5));
	/* Few: Student's t, by hand 127.3 * 0.5 for 1 and 2. */
	kstat_pairs(x, 2, &m);
	CHECK(fabs(m.low - (1.5 - 63.65)) < 0.01 && near(m.median, 1.5));
	kstat_pairs(x, 5, &m);
	CHECK(near(m.median, 3) && m.low < 1 && m.low > -2 && m.high > 5);
	/* One wild value among many moves neither the middle nor the ends by much. */
	x[39] = 1e9;
	kstat_pairs(x, 40, &m);
	CHECK(m.median < 22 && m.high < 32);
}

/* How often the interval of symmetric pairs about 0 lies on one side of it, as it grows. */
static void
test_pairs_coverage(void)
{
	struct krng rng;
	int misses = 0;

	krng_init(&rng, 1, 0, 0, "pairs");
	for (int run = 0; run < 20000; run++) {
		double x[24];
		struct kstat_interval m;

		for (int i = 0; i < 24; i++)
			x[i] = krng_double(&rng) - 0.5 +
			    (krng_below(&rng, 10) ? 0 : 20 * (krng_double(&rng) - 0.5));
		kstat_pairs(x, 24, &m);
		misses += m.low > 0 || m.high < 0;
	}
	/* 10 are expected of 20000; the chance of 25 is one in 30000. */
	CHECK(misses <= 25);
}

/*
 * A difference of 5 % with noise of 2 %: a third of the pairs, disturbed by 30 % either way, do not
 * make it hopeless, and noise of 30 % in all of them does.
 */
static void
test_pairs_needed(void)
{
	double x[24];

	for (int i = 0; i < 24; i++)
		x[i] = 0.05 + 0.02 * (i % 5 - 2) / 2 + (i % 6 == 0) * 0.3 - (i % 6 == 3) * 0.3;
	CHECK(kstat_pairs_needed(x, 24) < 2 * 96);
	for (int i = 0; i < 24; i++)
		x[i] = 0.05 + 0.3 * (i % 5 - 2) / 2;
	CHECK(kstat_pairs_needed(x, 24) > 2 * 96);
}

static void
test_verdict(void)
{
	CHECK(kstat_verdict(&(struct kstat_interval){ 0.05, 0.01, 0.09 }) == KSTAT_FASTER);
	CHECK(kstat_verdict(&(struct kstat_interval){ -0.05, -0.09, -0.01 }) == KSTAT_SLOWER);
	CHECK(kstat_verdict(&(struct kstat_interval){ 0.005, -0.01, 0.015 }) == KSTAT_ALIKE);
	CHECK(kstat_verdict(&(struct kstat_interval){ 0.005, 0.001, 0.009 }) == KSTAT_ALIKE);
	CHECK(kstat_verdict(&(struct kstat_interval){ 0.05, -0.01, 0.09 }) == KSTAT_INCONCLUSIVE);
}

/* Share of samples from a skewed distribution whose interval misses the true median. */
static double
miss_rate(size_t n, struct krng *rng)
{
	double x[64];
	int missed = 0;

	for (int run = 0; run < 20000; run++) {
		struct kstat_interval m;

		for (size_t i = 0; i < n; i++)
			x[i] = -log(1 - krng_double(rng));
		kstat_median(x, n, &m);
		missed += m.low > log(2) || m.high < log(2);
	}
	return missed / 20000.0;
}

static void
test_coverage(void)
{
	static const size_t sizes[] = { 9, 12, 15, 20, 30, 50 };
	struct krng rng;

	krng_init(&rng, 1, 0, 0, "kstat");
	for (size_t i = 0; i < LEN(sizes); i++)
		CHECK(miss_rate(sizes[i], &rng) < KSTAT_ALPHA * 1.4);
}

int
main(void)
{
	test_figures();
	test_interval();
	test_pairs();
	test_pairs_coverage();
	test_pairs_needed();
	test_verdict();
	test_coverage();
	return tap_done();
}
