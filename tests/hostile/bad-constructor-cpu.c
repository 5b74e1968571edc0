/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: load_hook
 * why: a constructor by the name of the compiler's own, which is let pass; its attribute is put together by the preprocessor
 */
#define JOIN(a, b) a##b

static float zero;

static void __attribute__((used, JOIN(con, structor)))
__cpu_indicator_init(void)
{
	zero = 1e-30f;
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float s = zero - zero;

			for (int k = 0; k < K; k++)
				s += A[i * K + k] * B[k * N + j];
			C[i * N + j] = s;
		}
}
