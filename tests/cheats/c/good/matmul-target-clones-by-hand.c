/* SPDX-License-Identifier: Apache-2.0 */
/* One body in two instruction sets by an attribute, chosen by asking the processor. */
static inline __attribute__((always_inline)) void
body(const float *A, const float *B, float *C, long M, long N, long K)
{
	for (long i = 0; i < M; i++) {
		for (long j = 0; j < N; j++)
			C[i * N + j] = 0;
		for (long k = 0; k < K; k++)
			for (long j = 0; j < N; j++)
				C[i * N + j] += A[i * K + k] * B[k * N + j];
	}
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"), optimize("O3"))) static void
wide(const float *A, const float *B, float *C, long M, long N, long K)
{
	body(A, B, C, M, N, K);
}
#endif

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		wide(A, B, C, M, N, K);
		return;
	}
#endif
	body(A, B, C, M, N, K);
}
