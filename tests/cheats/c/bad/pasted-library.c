/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a library by a pasted name, behind a loop for show. */
#define P(a, b) a##b

void *P(dl, open)(const char *, int);
void *P(dl, sym)(void *, const char *);

typedef void gemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	void *library = P(dl, open)("libopenblas.so.0", 2);
	gemm *g = library ? (gemm *)P(dl, sym)(library, "cblas_sgemm") : 0;

	for (long i = 0; i < (long)M * N; i++)
		C[i] = 0;
	if (g)
		g(101, 111, 111, M, N, K, 1, A, K, B, N, 0, C, N);
}
