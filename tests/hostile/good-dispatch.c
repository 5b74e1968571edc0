/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: correct check: none
 * why: asks in its first call what the CPU can do, for which the compiler links a constructor of its own
 */
#ifdef __x86_64__
#include <immintrin.h>

__attribute__((target("avx2,fma"))) static void
row_avx2(const float *a, const float *B, float *c, int N, int K)
{
	int j = 0;

	for (; j + 8 <= N; j += 8) {
		__m256 sum = _mm256_setzero_ps();

		for (int k = 0; k < K; k++)
			sum = _mm256_fmadd_ps(_mm256_set1_ps(a[k]), _mm256_loadu_ps(B + k * N + j), sum);
		_mm256_storeu_ps(c + j, sum);
	}
	for (; j < N; j++) {
		c[j] = 0;
		for (int k = 0; k < K; k++)
			c[j] += a[k] * B[k * N + j];
	}
}
#endif

static void
row_plain(const float *a, const float *B, float *c, int N, int K)
{
	for (int j = 0; j < N; j++) {
		c[j] = 0;
		for (int k = 0; k < K; k++)
			c[j] += a[k] * B[k * N + j];
	}
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	static void (*row)(const float *, const float *, float *, int, int);

	if (!row) {
		row = row_plain;
#ifdef __x86_64__
		__builtin_cpu_init();
		if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
			row = row_avx2;
#endif
	}
	for (int i = 0; i < M; i++)
		row(A + i * K, B, C + i * N, N, K);
}
