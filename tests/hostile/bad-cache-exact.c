/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: correct|rejected|wrong_value check: none|wrong_result|not_fully_written|timed_run
 * why: keeps its last answer for an identical call; inputs change from call to call, so it must gain nothing by it
 */
#include <string.h>

enum { ROOM = 1 << 16 };

static float answer[ROOM], a[ROOM], b[ROOM];
static int m, n, k;

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	if (m == M && n == N && k == K && !memcmp(a, A, sizeof *A * (size_t)(M * K)) &&
	    !memcmp(b, B, sizeof *B * (size_t)(K * N))) {
		memcpy(C, answer, sizeof *C * (size_t)(M * N));
		return;
	}
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int l = 0; l < K; l++)
				sum += A[i * K + l] * B[l * N + j];
			C[i * N + j] = sum;
		}
	if (M * N > ROOM || M * K > ROOM || K * N > ROOM)
		return;
	m = M;
	n = N;
	k = K;
	memcpy(a, A, sizeof *A * (size_t)(M * K));
	memcpy(b, B, sizeof *B * (size_t)(K * N));
	memcpy(answer, C, sizeof *C * (size_t)(M * N));
}
