/* SPDX-License-Identifier: Apache-2.0 */
/* An unrolled loop that is entered in its middle. */
static float
dot(const float *a, const float *b, long stride, long n)
{
	float sum = 0;
	long rounds = (n + 3) / 4;

	switch (n % 4) {
	case 0: do { sum += *a++ * *b; b += stride; /* fall through */
	case 3: sum += *a++ * *b; b += stride; /* fall through */
	case 2: sum += *a++ * *b; b += stride; /* fall through */
	case 1: sum += *a++ * *b; b += stride;
		} while (--rounds > 0);
	}
	return sum;
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < M; i++)
		for (long j = 0; j < N; j++)
			C[i * N + j] = dot(A + i * K, B + j, N, K);
}
