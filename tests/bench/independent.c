/* SPDX-License-Identifier: Apache-2.0 */
/*
 * independent: how much faster is one kernel than another? A timing program that shares nothing with kharness, to compare its
 * ratios with: both kernels in this process, called in turns on the same new random inputs, which are not in the caches.
 *
 * It keeps the rule that docs/evaluation.md states of calls that are not short: inputs and outputs leave all caches, line by
 * line, before each call, and nothing else does. It differs in all else: one process, which never sleeps and is never stopped;
 * its own clock alone; the same addresses in all calls; one call for each time; the same number of pairs whatever
 * they show; and the plain median of their ratios. With more than one thread (OMP_NUM_THREADS), set OMP_WAIT_POLICY=passive, as
 * kharness does. It is for x86.
 *
 *   independent softmax|matmul A.so B.so PAIRS SIZE...      prints the median of A's time over B's, and the median
 *                                                           times of A and B in milliseconds
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAIRS_MAX = 1000 };

static float *in[2], *out;
static size_t inputs[2], outputs;
static int64_t size[3];

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
evict(const float *x, size_t n)
{
	for (size_t i = 0; i < n; i += 64 / sizeof *x)
		__builtin_ia32_clflush(x + i);
	__builtin_ia32_clflush(x + n - 1);
}

static double
call(void *entry, int matmul)
{
	double start;

	evict(in[0], inputs[0]);
	evict(in[1], inputs[1]);
	evict(out, outputs);
	__builtin_ia32_mfence();
	start = now();
	if (matmul)
		((void (*)(const float *, const float *, float *, int64_t, int64_t, int64_t))entry)(
		    in[0], in[1], out, size[0], size[1], size[2]);
	else
		((void (*)(const float *, float *, int64_t, int64_t))entry)(
		    in[0], out, size[0], size[1]);
	return now() - start;
}

/* Sums of twelve uniform numbers, which are all but normal. */
static void
draw(float *x, size_t n)
{
	static uint64_t s = 88172645463325252;

	for (size_t i = 0; i < n; i++) {
		x[i] = -6;
		for (int k = 0; k < 12; k++) {
			s ^= s << 13, s ^= s >> 7, s ^= s << 17;
			x[i] += (float)(s >> 40) / (float)(1 << 24);
		}
	}
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Aligned as the contract in the prompt promises; malloc's blocks are not. */
static float *
allocate(size_t n)
{
	enum { LINE = 64 };

	return aligned_alloc(LINE, (n * sizeof(float) + LINE - 1) / LINE * LINE);
}

static double
median(double *x, int n)
{
	qsort(x, (size_t)n, sizeof *x, ascending);
	return x[n / 2];
}

int
main(int argc, char **argv)
{
	int matmul, pairs;
	void *entry[2];
	static double ratio[PAIRS_MAX], ms[2][PAIRS_MAX];

	if (argc < 7 || (pairs = atoi(argv[4])) < 1 || pairs > PAIRS_MAX)
		return fprintf(
		           stderr, "usage: independent softmax|matmul A.so B.so PAIRS SIZE...\n"),
		       2;
	matmul = !strcmp(argv[1], "matmul");
	for (int i = 0; i < argc - 5 && i < 3; i++)
		size[i] = atoll(argv[5 + i]);
	inputs[0] = (size_t)(size[0] * (matmul ? size[2] : size[1]));
	inputs[1] = matmul ? (size_t)(size[2] * size[1]) : 1;
	outputs = (size_t)(size[0] * size[1]);
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(argv[2 + i], RTLD_NOW | RTLD_LOCAL);

		if (!library || !(entry[i] = dlsym(library, argv[1])))
			return fprintf(stderr, "independent: %s\n", dlerror()), 2;
		in[i] = allocate(inputs[i]);
	}
	out = allocate(outputs);
	for (int k = -1; k < pairs; k++) {
		double t[2];

		draw(in[0], inputs[0]);
		draw(in[1], inputs[1]);
		for (int i = 0; i < 2; i++)
			t[(i + k) & 1] = call(entry[(i + k) & 1], matmul);
		if (k < 0)
			continue;
		ratio[k] = t[0] / t[1];
		for (int i = 0; i < 2; i++)
			ms[i][k] = 1e3 * t[i];
	}
	printf(
	    "%.4f %.4f %.4f\n", median(ratio, pairs), median(ms[0], pairs), median(ms[1], pairs));
	return 0;
}
