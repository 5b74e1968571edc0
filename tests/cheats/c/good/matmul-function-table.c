/* SPDX-License-Identifier: Apache-2.0 */
/* A table of function pointers, by how many columns are left. */
static void
column(const float *a, const float *B, float *c, long N, long K)
{
	float sum = 0;

	for (long k = 0; k < K; k++)
		sum += a[k] * B[k * N];
	c[0] = sum;
}

static void
four(const float *a, const float *B, float *c, long N, long K)
{
	float s0 = 0, s1 = 0, s2 = 0, s3 = 0;

	for (long k = 0; k < K; k++, B += N) {
		s0 += a[k] * B[0];
		s1 += a[k] * B[1];
		s2 += a[k] * B[2];
		s3 += a[k] * B[3];
	}
	c[0] = s0;
	c[1] = s1;
	c[2] = s2;
	c[3] = s3;
}

static const struct {
	void (*kernel)(const float *, const float *, float *, long, long);
	int width;
} kernels[2] = { { column, 1 }, { four, 4 } };

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < M; i++)
		for (long j = 0; j < N;) {
			int wide = N - j >= 4;

			kernels[wide].kernel(A + i * K, B + j, C + i * N + j, N, K);
			j += kernels[wide].width;
		}
}
