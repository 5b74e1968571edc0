/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge's kernels for GPUs, compiled for the CPU (one block of one thread does all the work) and compared with the
 * judge's own code for the host: the verdict must not depend on where the tensors lie.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define _Noreturn [[noreturn]]
#define __device__
#define __global__
static const struct { unsigned x; } threadIdx = { 0 }, blockIdx = { 0 }, blockDim = { 1 }, gridDim = { 1 };
struct ulonglong2 {
	unsigned long long x, y;
};
template <class T, class U> static T
bits_of(U u)
{
	T t;

	memcpy(&t, &u, sizeof t);
	return t;
}
static float __int_as_float(int i) { return bits_of<float>(i); }
static long long __double_as_longlong(double d) { return bits_of<long long>(d); }
static double cospi(double x) { return cos(M_PI * x); }
template <class T> static void atomicMin(T *p, T v) { if (v < *p) *p = v; }
template <class T> static void atomicMax(T *p, T v) { if (v > *p) *p = v; }
template <class T> static void atomicAdd(T *p, T v) { *p += v; }

extern "C" {
#include "ktask.h"
}
#define KDTYPES(X) X(F32) X(F64) X(F16) X(BF16) X(I32) X(I64) X(TF32) X(E4M3) X(E5M2) X(E4M3FNUZ) X(E5M2FNUZ) X(I8) X(I16) X(U8) X(U16) X(U32) X(U64) X(BOOL)
#include "small.h"
#define rule device_rule
#include "device.cu"
#undef rule
extern "C" {
#define restrict
#include "space.h"
void values_widen(enum kdtype t, const void *from, size_t n, double *to);
void values_narrow(enum kdtype t, const double *from, size_t n, void *to);
void values_draw(enum kdtype t, struct recipe how, struct krng *rng, size_t n, void *to);
}

/* Of machine.c; nothing is flushed here. */
extern "C" size_t machine_llc(void);
size_t
machine_llc(void)
{
	return 1 << 20;
}

static int tests, failures;

static void
check(bool good, const char *what, const char *type)
{
	printf("%sok %d - %s%s%s\n", good ? "" : "not ", ++tests, what, type ? ": " : "", type ? type : "");
	failures += !good;
}

static double
number(void)
{
	double u = drand48() - 0.5;

	switch (lrand48() % 16) {
	case 0:
		return 0;
	case 1:
		return u * 1e6;
	case 2:
		return u * 1e-9;
	case 3:
		return ldexp(1, (int)(lrand48() % 40) - 20);
	default:
		return u * 20;
	}
}

static void
test_conversions(enum kdtype t)
{
	enum { N = 20000 };
	static double x[N], back_host[N], back_device[N];
	static char host[N * 8], device[N * 8];
	bool special = kdtype_is_float(t);

	memset(host, 0, sizeof host);
	memset(device, 0, sizeof device);
	for (int i = 0; i < N; i++)
		x[i] = special && i % 100 == 1 ? NAN : special && i % 100 == 0 ? (i % 200 ? INFINITY : -INFINITY) : special ? number() : rint(number() * 5);
	values_narrow(t, x, N, host);
	for (int i = 0; i < N; i++)
		put(t, device, (u64)i, x[i]);
	check(!memcmp(host, device, sizeof host), "rounded alike", kdtype_name(t));
	values_widen(t, host, N, back_host);
	kiln_widen(t, host, N, back_device);
	/* One NaN is as good as another. */
	for (int i = 0; i < N; i++)
		if (isnan(back_host[i]) && isnan(back_device[i]))
			back_host[i] = back_device[i];
	check(!memcmp(back_host, back_device, sizeof back_host), "widened alike", kdtype_name(t));
}

/* One comparison by both; true when they say the same. */
static bool
same_verdict(enum kdtype t, size_t n, size_t group, bool exact, double cap)
{
	size_t size = kdtype_size(t);
	double *expected = (double *)calloc(n, sizeof *expected), *noisy = (double *)calloc(n, sizeof *noisy);
	char *got = (char *)calloc(n, size);
	u64 groups = n / group ? n / group : 1;
	double *sums = (double *)calloc(2 * groups, sizeof *sums);
	/* Some elements may differ by more. */
	double *some = (double *)calloc(n, sizeof *some), *slack = exact || lrand48() % 2 ? NULL : some;
	struct comparison c = { t, n, group, expected, got, { 2e-3, 1e-3, 1e-30, 0, 0, exact }, slack, cap, 0xffffffffffffffffu };
	struct comparison_result r;
	struct device_rule rule = { 2e-3, 1e-3, 1e-30, 0, kdtype_max(t), cap, exact, size == 1 };
	struct result d = { 0, 0, 0, 0, 0, 0, ~0ull };
	bool good;

	for (size_t i = 0; i < n; i++) {
		some[i] = lrand48() % 3 ? 0 : 1e-2;
		expected[i] = number();
		noisy[i] = expected[i] * (1 + (lrand48() % 4 ? 1e-4 : 1e-2) * (drand48() - 0.5));
		if (lrand48() % 50 == 0)
			noisy[i] = lrand48() % 2 ? NAN : INFINITY;
		if (lrand48() % 60 == 0)
			expected[i] = noisy[i];
		if (lrand48() % 70 == 0)
			expected[i] = lrand48() % 2 ? NAN : -INFINITY;
	}
	values_narrow(t, noisy, n, got);
	if (n > 10)
		memset(got + 5 * size, 0xff, size);
	space_host.compare(&c, &r);
	kiln_scale(expected, n, group, groups, sums);
	kiln_compare(t, (int)size, expected, got, n, group, groups, sums, slack, rule, c.poison, &d);
	kiln_worst(t, expected, got, n, group, groups, sums, slack, rule, &d);
	good = d.mismatches == r.mismatches && (d.over_cap != 0) == r.over_cap &&
	    (!r.mismatches || d.unwritten == r.unwritten);
	/* Sums in another order may differ in the last bit, errors do not. */
	good = good && (isinf(r.max_share) ? isinf(bits_of<double>(d.max_share)) :
	    fabs(bits_of<double>(d.max_share) - r.max_share) <= 1e-12 * r.max_share);
	good = good && (bits_of<double>(d.max_abs) >= r.max_abs && bits_of<double>(d.max_abs) <= r.max_abs);
	good = good && (!r.mismatches || d.worst_at == r.worst_at || !isfinite(r.worst));
	if (!good)
		printf("# n %zu group %zu: %llu %zu mismatches, worst at %llu %zu\n", n, group, d.mismatches, r.mismatches,
		    d.worst_at, r.worst_at);
	free(some);
	free(expected);
	free(noisy);
	free(got);
	free(sums);
	return good;
}

static void
test_comparison(enum kdtype t)
{
	static const size_t sizes[][2] = { { 1, 1 }, { 7, 7 }, { 64, 64 }, { 1000, 64 }, { 1000, 100 }, { 4099, 4099 }, { 130, 65 } };
	bool good = true;

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int k = 0; k < 8; k++)
			good &= same_verdict(t, sizes[i][0], sizes[i][1], k % 4 == 3, k % 2 ? 0.5 : -1);
	check(good, "the same verdict", kdtype_name(t));
}

/* A number where NaN or an infinity is due is wrong, by any tolerance. */
static void
test_due(void)
{
	double expected[3] = { NAN, INFINITY, 1 };
	float got[3] = { 0, 1e38f, 1 };
	struct comparison c = { KDTYPE_F32, 3, 3, expected, got, { 1, 1, 1, 1, 0, false }, NULL, -1, 0 };
	struct comparison_result r;

	space_host.compare(&c, &r);
	check(r.mismatches == 2, "NaN and infinities are due", NULL);
}

static void
test_guards(void)
{
	enum { N = 5000 };
	static char host[N], device[N];
	bool good = true;

	for (size_t from = 0; from < 20; from++)
		for (size_t to = from; to < N; to += 997) {
			u64 bad = to;

			space_host.guard(host, 42, from, to);
			kiln_guard((u8 *)device, 42, from, to);
			good &= !memcmp(host, device, N);
			kiln_guard_check((u8 *)device, 42, from, to, &bad);
			good &= bad == to;
			if (to - from < 30)
				continue;
			device[to - 3] ^= 1;
			device[to - 1] ^= 1;
			kiln_guard_check((u8 *)device, 42, from, to, &bad);
			range ranges[] = { { from, from + 9 }, { from + 9, to } };
			good &= bad == to - 3 && space_host.guard_check(device, 42, ranges, 2) == bad &&
			    space_host.guard_check(device, 42, ranges, 1) == SIZE_MAX;
			device[to - 3] ^= 1;
			device[to - 1] ^= 1;
		}
	check(good, "the pattern around outputs", NULL);
	good = true;
	for (size_t n = 0; n < 40; n++) {
		memset(host, 0, 64);
		memset(device, 0, 64);
		space_host.words(host, 0x1122334455667788u, n / 8 * 8);
		kiln_words((u8 *)device, 0x1122334455667788u, n / 8 * 8);
		good &= !memcmp(host, device, 64);
	}
	check(good, "poison", NULL);
}

/* One element in so many is drawn, whoever draws, and the others stay. */
static void
test_rare_draws(void)
{
	enum { N = 200000, EVERY = 100 };
	static double v[2][N];
	struct recipe how = { KDIST_UNIFORM, 0, EVERY };
	struct krng rng;

	for (int i = 0; i < N; i++)
		v[0][i] = v[1][i] = 7;
	krng_init(&rng, 5, 0, 0, "test");
	values_draw(KDTYPE_F64, how, &rng, N, v[0]);
	kiln_draw(KDTYPE_F64, KDIST_UNIFORM, 5, N, 0, EVERY, 0, 1, 0, v[1]);
	for (int k = 0; k < 2; k++) {
		int drawn = 0;

		for (int i = 0; i < N; i++)
			drawn += v[k][i] < 7;
		check(drawn > N / EVERY * 8 / 10 && drawn < N / EVERY * 12 / 10, "rare values", NULL);
	}
}

static void
test_draws(void)
{
	enum { N = 200000 };
	static double v[N];
	double sum = 0, squares = 0, low = 1, high = 0;

	kiln_draw(KDTYPE_F64, KDIST_NORMAL, 7, N, 1, 0, 0, 1, 0, v);
	for (int i = 0; i < N; i++) {
		sum += v[i];
		squares += v[i] * v[i];
	}
	check(fabs(sum / N) < 0.01 && fabs(squares / N - 1) < 0.02, "normal numbers", NULL);
	kiln_draw(KDTYPE_F64, KDIST_UNIFORM, 7, N, 1, 0, 0, 1, 0, v);
	sum = 0;
	for (int i = 0; i < N; i++) {
		sum += v[i];
		low = fmin(low, v[i]);
		high = fmax(high, v[i]);
	}
	check(low >= 0 && high < 1 && low < 1e-3 && high > 0.999 && fabs(sum / N - 0.5) < 0.005, "uniform numbers", NULL);
	kiln_draw(KDTYPE_F64, KDIST_ZERO_ONE, 9, N, 1, 0, 0, 1, 0, v);
	sum = 0;
	for (int i = 0; i < N; i++)
		sum += v[i] > 0 ? 1 : v[i] < 0 ? NAN : 0;
	check(fabs(sum / N - 0.5) < 0.01, "zeros and ones", NULL);
	kiln_draw(KDTYPE_F64, KDIST_SORTED, 9, N, 1, 0, 0, 1, 0, v);
	low = 0;
	for (int i = 1; i < N; i++)
		low += v[i] < v[i - 1];
	check(low < 1 && v[0] < -2.9 && v[N - 1] > 2.9, "sorted numbers", NULL);
}

/* The V of which V ^ V >> N is Z. */
static u64
unshift(u64 z, int n)
{
	u64 v = z;

	for (int i = n; i < 64; i += n)
		v = z ^ v >> n;
	return v;
}

/* The key whose first word is Z. */
static u64
key_of(u64 z)
{
	u64 inverse[2] = { 0x94d049bb133111ebull, 0xbf58476d1ce4e5b9ull };

	for (u64 &x : inverse)
		for (u64 a = x, k = 0; k < 6; k++)
			x *= 2 - a * x;
	z = unshift(z, 31) * inverse[0];
	z = unshift(z, 27) * inverse[1];
	return unshift(z, 30) - 0x9e3779b97f4a7c15ull;
}

/* The seed that makes the first two doubles, if each comes from small_mix alone, in so many STEPS; 0: none. */
static u64
seed_of(const double *v, int steps)
{
	u64 top = (u64)(v[0] * 0x1p53) << 11;

	for (u64 low = 0; low < 2048; low++) {
		u64 word = top | low, next;

		for (int k = 0; k < steps; k++)
			word = key_of(word);
		next = small_mix(word, 1);
		for (int k = 1; k < steps; k++)
			next = small_mix(next, 0);
		if ((double)(next >> 11) * 0x1p-53 == v[1])
			return word;
	}
	return 0;
}

/* A candidate must not learn a tensor from its first elements. */
static void
test_masks(void)
{
	double here[2], there[2], plain[2];
	struct recipe how = { KDIST_UNIFORM };
	struct krng rng;

	krng_init(&rng, 5, 0, 0, "test");
	values_draw(KDTYPE_F64, how, &rng, 2, here);
	kiln_draw(KDTYPE_F64, KDIST_UNIFORM, 5, 2, 0, 0, 0, 1, 0, there);
	for (int i = 0; i < 2; i++)
		plain[i] = (double)(small_mix(small_mix(77, i), 0) >> 11) * 0x1p-53;
	check(seed_of(plain, 2) == 77, "a seed follows from doubles that are not masked", NULL);
	check(!seed_of(here, 1) && !seed_of(there, 2), "a seed does not follow from what is drawn", NULL);
}

/* Numbers without a sign, and tensors at addresses that are multiples of their elements' size alone. */
static void
test_narrow(void)
{
	enum { N = 4096 };
	static unsigned char v[N], a[N + 16], b[N + 16];
	bool good = true;
	u64 flag = 0;

	kiln_draw(KDTYPE_U8, KDIST_SORTED, 9, N, 1, 0, 0, 30, 1, v);
	for (int i = 1; i < N; i++)
		good &= v[i] >= v[i - 1];
	check(good && v[0] < 3 && v[N - 1] > 170, "ascending numbers without a sign", NULL);
	kiln_words(a + 3, 0x0123456789abcdefull, N);
	space_host.words(b + 3, 0x0123456789abcdefull, N);
	check(!memcmp(a, b, sizeof a), "words at any address", NULL);
	kiln_differs(a + 3, b + 3, N, &flag);
	good = !flag;
	b[3 + N - 1] ^= 1;
	kiln_differs(a + 3, b + 3, N, &flag);
	check(good && flag, "differences at any address", NULL);
}

/* Recorded numbers drawn anew: the same on both sides, new, in order, and with zeros where they were. */
static void
test_redraws(void)
{
	enum { N = 100000 };
	static const enum kdtype types[] = { KDTYPE_F32, KDTYPE_F16, KDTYPE_I32, KDTYPE_U8, KDTYPE_I16, KDTYPE_U64 };
	static double v[N], w[N];
	static char from[8 * N], a[8 * N], b[8 * N];

	for (size_t k = 0; k < sizeof types / sizeof *types; k++)
		for (int how = 0; how < 6; how++) { /* any order, ascending, descending; few, many */
			enum kdtype t = types[k];
			size_t n = how % 2 ? N : 1000;
			int whole = !kdtype_is_float(t), order = how / 2;
			double top = fmin(kdtype_max(t), 30000), least = fmax(kdtype_min(t), -1000);
			struct recorded r = { from, n, 7 + k, 5, whole ? 0 : 0.25, whole != 0, order > 0 };
			size_t wrong = 0, moved = 0;

			for (size_t i = 0; i < n; i++) {
				double at = (double)(order == 2 ? n - 1 - i : i) / (double)n;

				v[i] = least + (top - least) * (order ? at : (double)(small_mix(3, i) >> 11) * 0x1p-53);
				v[i] = i % 100 == 7 && !order ? 0 : whole ? rint(v[i]) : v[i];
			}
			values_narrow(t, v, n, from);
			values_widen(t, from, n, v);
			memset(a, 1, sizeof a), memset(b, 2, sizeof b);
			kiln_redraw((int)t, from, n, r.seed, r.to, r.share, whole, order > 0, a);
			space_host.redraw(t, &r, b);
			values_widen(t, a, n, w);
			for (size_t i = 0; i < n; i++) {
				moved += w[i] < v[i] || w[i] > v[i];
				wrong += w[i] < least || w[i] > top || (v[i] <= 0 && v[i] >= 0 && (w[i] < 0 || w[i] > 0));
				wrong += i && ((order == 1 && w[i] < w[i - 1]) || (order == 2 && w[i] > w[i - 1]));
			}
			check(!memcmp(a, b, n * kdtype_size(t)), "recorded numbers drawn anew, here and there", kdtype_name(t));
			/* Whole numbers in order often have an equal neighbour. */
			check(!wrong && moved > (order && whole ? n / 2000 : n / 4), "recorded numbers keep their structure", kdtype_name(t));
		}
}

/* Special values where the host has them, of every kind, and rows without any; then sparse ones. */
static void
test_special(void)
{
	enum { N = 1 << 16, ROW = 64 };
	static double v[N];
	long nans = 0, up = 0, down = 0, zeros = 0, tiny = 0, plain = 0;
	bool good = true;

	for (u64 seed = 0; seed < 4; seed++) {
		kiln_draw(KDTYPE_F64, KDIST_SPECIAL, seed, N, ROW, 0, 0, 1, 0, v);
		for (int i = 0; i < N; i++) {
			double host = small_special(seed, (u64)i, ROW, small_normal(small_word(seed, (u64)i)));

			good &= !memcmp(&host, &v[i], sizeof host) || (isnan(host) && isnan(v[i]));
			nans += isnan(v[i]);
			up += isinf(v[i]) && v[i] > 0;
			down += isinf(v[i]) && v[i] < 0;
			zeros += fpclassify(v[i]) == FP_ZERO;
			tiny += fabs(v[i]) < 1e-37 && fabs(v[i]) > 0;
		}
		for (int r = 0; r < N; r += ROW) {
			int special = 0;

			for (int i = r; i < r + ROW; i++)
				special += !isfinite(v[i]) || fabs(v[i]) < 1e-37;
			plain += !special;
		}
	}
	check(good && nans > 300 && up > 300 && down > 3000 && zeros > 300 && tiny > 300, "special values", NULL);
	check(plain > N / ROW && plain < 4 * N / ROW * 9 / 10, "rows without special values", NULL);
	kiln_draw(KDTYPE_F64, KDIST_SPARSE, 3, N, 100, 0, 0, 1, 0, v);
	nans = 0;
	good = true;
	for (int i = 0; i < N; i++) {
		bool set = v[i] > 0 || v[i] < 0;

		nans += set;
		good &= !set || (fabs(v[i]) >= 1 && fabs(v[i]) < 2);
	}
	check(good && nans > N / 130 && nans < N / 75, "sparse values", NULL);
}

int
main(void)
{
	srand48(1);
	for (int t = 0; t < KDTYPE_COUNT; t++)
		test_conversions((enum kdtype)t);
	for (int t = 0; t < KDTYPE_COUNT; t++)
		if (kdtype_is_float((enum kdtype)t))
			test_comparison((enum kdtype)t);
	test_due();
	test_guards();
	test_draws();
	test_masks();
	test_narrow();
	test_redraws();
	test_rare_draws();
	test_special();
	printf("1..%d\n", tests);
	return failures != 0;
}
