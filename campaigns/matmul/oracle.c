/* SPDX-License-Identifier: Apache-2.0 */
/* What is right: the matrix product in double precision. Four rows at a time over column blocks that stay in the L1 cache. */
#include <stddef.h>

enum { ROWS = 4, COLUMNS = 256 };

static void
block(const double *A, const double *B, double *C, int rows, int columns, int N, int K)
{
	double sum[ROWS][COLUMNS] = { 0 };

	for (int k = 0; k < K; k++)
		for (int r = 0; r < rows; r++) {
			double a = A[(size_t)r * K + k];

			for (int j = 0; j < columns; j++)
				sum[r][j] += a * B[(size_t)k * N + j];
		}
	for (int r = 0; r < rows; r++)
		for (int j = 0; j < columns; j++)
			C[(size_t)r * N + j] = sum[r][j];
}

void
matmul(const double *A, const double *B, double *C, int M, int N, int K)
{
#pragma omp parallel for collapse(2) schedule(static)
	for (int j = 0; j < N; j += COLUMNS)
		for (int i = 0; i < M; i += ROWS) {
			int rows = M - i < ROWS ? M - i : ROWS, columns = N - j < COLUMNS ? N - j : COLUMNS;

			if (rows == ROWS && columns == COLUMNS)	/* constant bounds let the compiler unroll */
				block(A + (size_t)i * K, B + j, C + (size_t)i * N + j, ROWS, COLUMNS, N, K);
			else
				block(A + (size_t)i * K, B + j, C + (size_t)i * N + j, rows, columns, N, K);
		}
}
