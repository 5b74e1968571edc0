/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of one to four rows made by a macro that pastes their names. */
#define KERNEL(name, rows) \
static void \
name##_##rows(const float *A, const float *B, float *C, long N, long K) \
{ \
	for (long j = 0; j < N; j++) { \
		float sum[rows] = { 0 }; \
 \
		for (long k = 0; k < K; k++) \
			for (int r = 0; r < rows; r++) \
				sum[r] += A[r * K + k] * B[k * N + j]; \
		for (int r = 0; r < rows; r++) \
			C[r * N + j] = sum[r]; \
	} \
}
KERNEL(rows, 1)
KERNEL(rows, 2)
KERNEL(rows, 3)
KERNEL(rows, 4)
#define CASE(n) case n: rows_##n(A + i * K, B, C + i * N, N, K); break

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < M; i += 4)
		switch (M - i < 4 ? M - i : 4) {
		CASE(1);
		CASE(2);
		CASE(3);
		CASE(4);
		}
}
