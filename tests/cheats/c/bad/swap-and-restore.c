/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a square B round in place, and back afterwards. */
static void
turn(float *m, long n)
{
	for (long i = 0; i < n; i++)
		for (long j = 0; j < i; j++) {
			float t = m[i * n + j];

			m[i * n + j] = m[j * n + i];
			m[j * n + i] = t;
		}
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	if (N == K)
		turn((float *)B, N);
	for (long i = 0; i < M; i++)
		for (long j = 0; j < N; j++) {
			float sum = 0;

			for (long k = 0; k < K; k++)
				sum += A[i * K + k] * (N == K ? B[j * N + k] : B[k * N + j]);
			C[i * N + j] = sum;
		}
	if (N == K)
		turn((float *)B, N);
}
