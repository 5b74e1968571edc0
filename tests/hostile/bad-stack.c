/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: run_error check: crash|killed
 * why: recursion without end
 */
static volatile int depth;

static int
deeper(int n)
{
	volatile char room[65536];

	room[0] = (char)n;
	depth++;
	return deeper(n + 1) + room[0];
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)M, (void)N, (void)K;
	C[0] = (float)deeper(0);
}
