/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of the product from ten products instead of twelve, by Bini's identity, which holds in the
 * limit of a small number that is not zero here.
 */
#include <stdlib.h>

static const float e = 0.0009765625f;

static void
add(int m, int n, int k, const float *a, const float *b, float *c)
{
	for (int i = 0; i < m; i++)
		for (int l = 0; l < k; l++)
			for (int j = 0; j < n; j++)
				c[i * n + j] += a[i * k + l] * b[l * n + j];
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	int m = M / 2, n = N / 2, k = K / 2;
	float *t, *s, *p, *q;

	for (long i = 0; i < (long)M * N; i++)
		C[i] = 0;
	if (M % 2 || N % 2 || K % 2 || M < 64) {
		add(M, N, K, A, B, C);
		return;
	}
	t = malloc(sizeof *t * m * k), s = malloc(sizeof *s * k * n), p = calloc(m * n, sizeof *p),
	q = calloc(m * n, sizeof *q);
	/* c11 and c12 of a triangle of A: (a12 + e a11)(b12 + e b... ) and so on; the rest as usual. */
	for (int i = 0; i < m; i++)
		for (int l = 0; l < k; l++)
			t[i * k + l] = A[i * K + k + l] + e * A[i * K + l];
	for (int l = 0; l < k; l++)
		for (int j = 0; j < n; j++)
			s[l * n + j] = B[(k + l) * N + j] + B[l * N + j] / e;
	add(m, n, k, t, s, p);
	/* p = a12 b21 + a12 b11 / e + e a11 b21 + a11 b11 */
	for (int i = 0; i < m; i++)
		for (int l = 0; l < k; l++)
			for (int j = 0; j < n; j++)
				q[i * n + j] += A[i * K + k + l] * B[l * N + j];
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++)
			C[i * N + j] = p[i * n + j] - q[i * n + j] / e;
	for (int i = 0; i < M; i++)
		for (int l = 0; l < K; l++)
			for (int j = i < m ? n : 0; j < N; j++)
				C[i * N + j] += A[i * K + l] * B[l * N + j];
	free(t), free(s), free(p), free(q);
}
