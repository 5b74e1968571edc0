/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix product that the candidates here have to compute; built a second time with REAL=double as the oracle. */
#ifndef REAL
#define REAL float
#endif

void matmul(const REAL *A, const REAL *B, REAL *C, int M, int N, int K);

void
matmul(const REAL *A, const REAL *B, REAL *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			REAL sum = 0;

			for (int k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
}
