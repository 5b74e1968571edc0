/* SPDX-License-Identifier: Apache-2.0 */
/* kstat: see kstat.h. */
#include "kstat.h"

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
kstat_sort(double *x, size_t n)
{
	qsort(x, n, sizeof *x, compare);
}

/* A sorted copy; the caller frees. */
static double *
sorted(const double *x, size_t n)
{
	double *s = kmalloc(n * sizeof *s);

	memcpy(s, x, n * sizeof *s);
	kstat_sort(s, n);
	return s;
}

static double
quantile(const double *s, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? s[i] + (at - (double)i) * (s[i + 1] - s[i]) : s[n - 1];
}

double
kstat_quantile(const double *x, size_t n, double q)
{
	auto_free double *s = sorted(x, n);

	return quantile(s, n, q);
}

void
kstat_of(const double *x, size_t n, struct kstat *st)
{
	auto_free double *s = sorted(x, n);
	double sum = 0, squares = 0;

	kforeach_of(one, s, n)
		sum += *one;
	*st = (struct kstat){ .median = quantile(s, n, 0.5),
		.min = s[0],
		.max = s[n - 1],
		.mean = sum / (double)n,
		.iqr = quantile(s, n, 0.75) - quantile(s, n, 0.25) };
	kforeach_of(each, s, n)
		squares += (*each - st->mean) * (*each - st->mean);
	st->sd = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

/*
 * Largest K for which both tails together, 2 * P(Binomial(n, 1/2) < K), stay within KSTAT_ALPHA; 1
 * if there is none.
 */
static size_t
rank(size_t n)
{
	double term = exp2(-(double)n), tail = term;
	size_t k = 1;

	/* TERM is the probability of exactly K successes. */
	for (size_t i = 1; i < n / 2; i++) {
		term *= (double)(n - i + 1) / (double)i;
		tail += term;
		if (2 * tail > KSTAT_ALPHA)
			break;
		k = i + 1;
	}
	return k;
}

void
kstat_median(const double *x, size_t n, struct kstat_interval *m)
{
	auto_free double *s = sorted(x, n);
	double widen = 0;
	size_t k = rank(n);

	if (n < KSTAT_ENOUGH)
		widen = n > 1 ? (s[n - 1] - s[0]) * (double)(KSTAT_ENOUGH - n) / 2 : fabs(s[0]);
	*m = (struct kstat_interval){ quantile(s, n, 0.5), s[k - 1] - widen, s[n - k] + widen };
}

/*
 * Number of averages outside the interval on each side: the largest K with P(W < K) <= alpha / 2. W
 * is the sum of the ranks of those of N values that have a plus sign; the probability of a sum is
 * 2^-N times the number of sets of ranks with that sum.
 */
static size_t
signed_rank(size_t n)
{
	size_t sums = n * (n + 1) / 2, k = 0;
	auto_free double *chance = kcalloc(sums + 1, sizeof *chance);
	double tail = 0;

	chance[0] = exp2(-(double)n);
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t sum = sums; sum >= rank; sum--)
			chance[sum] += chance[sum - rank];
	while (k < sums && tail + chance[k] <= KSTAT_PAIRS_ALPHA / 2)
		tail += chance[k++];
	return k;
}

/* For few values: two-sided quantiles of Student's t for KSTAT_ALPHA, by degrees of freedom. */
static void
few_pairs(const double *x, size_t n, struct kstat_interval *m)
{
	static const double t[KSTAT_PAIRS] = { 0, 127.3, 14.09, 7.453, 5.598, 4.773, 4.317, 4.029,
		3.833, 3.690, 3.581, 3.497 };
	struct kstat st;
	double half;

	kstat_of(x, n, &st);
	half = n > 1 ? t[n - 1] * st.sd / sqrt((double)n) : fabs(*x);
	*m = (struct kstat_interval){ st.mean, st.mean - half, st.mean + half };
}

void
kstat_pairs(const double *x, size_t n, struct kstat_interval *m)
{
	size_t count = n * (n + 1) / 2, at = 0, k;
	auto_free double *average = NULL;

	if (n < KSTAT_PAIRS) {
		few_pairs(x, n, m);
		return;
	}
	k = signed_rank(n);
	average = kmalloc(count * sizeof *average);
	for (size_t i = 0; i < n; i++)
		for (size_t other = i; other < n; other++)
			average[at++] = (x[i] + x[other]) / 2;
	kstat_sort(average, count);
	*m = (struct kstat_interval){ quantile(average, count, 0.5), average[k - 1],
		average[count - k] };
}

const char *const kstat_verdicts[] = { "faster", "slower", "same", "inconclusive" };

enum kstat_verdict
kstat_verdict(const struct kstat_interval *m)
{
	if (m->low > 0 && m->median > KSTAT_LEAST)
		return KSTAT_FASTER;
	if (m->high < 0 && m->median < -KSTAT_LEAST)
		return KSTAT_SLOWER;
	return m->low > -KSTAT_SAME && m->high < KSTAT_SAME ? KSTAT_ALIKE : KSTAT_INCONCLUSIVE;
}

double
kstat_pairs_needed(const double *x, size_t n)
{
	/*
	 * half the interval in standard errors, and the interquartile range in standard deviations
	 */
	const double half_se = 3.5, iqr_sd = 1.349;
	struct kstat_interval m;
	double half;

	kstat_pairs(x, n, &m);
	half = fmin((m.high - m.low) / 2,
	    half_se * (kstat_quantile(x, n, 0.75) - kstat_quantile(x, n, 0.25)) / iqr_sd /
	        sqrt((double)n));
	return (double)n * pow(half / fmax(KSTAT_SAME, fabs(m.median)), 2);
}
