/* SPDX-License-Identifier: Apache-2.0 */
/* Has a library do the work. */
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb,
    float beta, float *c, int ldc);

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	cblas_sgemm(101, 111, 111, M, N, K, 1, A, K, B, N, 0, C, N);
}
