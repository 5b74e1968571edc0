/* SPDX-License-Identifier: Apache-2.0 */
/* One level of Strassen's algorithm, in double, for even sizes that are worth it. */
#include <stdlib.h>

/* OUT = (a + sa b) (c + sc d), all h x h; b and d may be absent. */
static void
product(const float *a, int sa, const float *b, long la, const float *c, int sc, const float *d,
    long lc, double *out, long h)
{
	for (long i = 0; i < h * h; i++)
		out[i] = 0;
	for (long i = 0; i < h; i++)
		for (long k = 0; k < h; k++) {
			double left = a[i * la + k] + (b ? sa * (double)b[i * la + k] : 0);

			for (long j = 0; j < h; j++)
				out[i * h + j] += left * (c[k * lc + j] + (d ? sc * (double)d[k * lc + j] : 0));
		}
}

static void
strassen(const float *A, const float *B, float *C, long n, double *m)
{
	long h = n / 2, s = h * h;
	const float *a = A, *b = A + h, *c = A + h * n, *d = A + h * n + h;
	const float *e = B, *f = B + h, *g = B + h * n, *i = B + h * n + h;

	product(a, 1, d, n, e, 1, i, n, m, h);
	product(c, 1, d, n, e, 0, NULL, n, m + s, h);
	product(a, 0, NULL, n, f, -1, i, n, m + 2 * s, h);
	product(d, 0, NULL, n, g, -1, e, n, m + 3 * s, h);
	product(a, 1, b, n, i, 0, NULL, n, m + 4 * s, h);
	product(c, -1, a, n, e, 1, f, n, m + 5 * s, h);
	product(b, -1, d, n, g, 1, i, n, m + 6 * s, h);
	for (long r = 0; r < h; r++)
		for (long q = 0; q < h; q++) {
			const double *p = m + r * h + q;

			C[r * n + q] = (float)(p[0] + p[3 * s] - p[4 * s] + p[6 * s]);
			C[r * n + q + h] = (float)(p[2 * s] + p[4 * s]);
			C[(r + h) * n + q] = (float)(p[s] + p[3 * s]);
			C[(r + h) * n + q + h] = (float)(p[0] - p[s] + p[2 * s] + p[5 * s]);
		}
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	double *m = M == N && N == K && M % 2 == 0 && M >= 64 ? malloc(7 * sizeof *m * (size_t)(M / 2) * (size_t)(M / 2)) : NULL;

	if (m)
		strassen(A, B, C, M, m);
	for (long i = 0; i < M && !m; i++)
		for (long j = 0; j < N; j++) {
			double sum = 0;

			for (long k = 0; k < K; k++)
				sum += (double)A[i * K + k] * B[k * N + j];
			C[i * N + j] = (float)sum;
		}
	free(m);
}
