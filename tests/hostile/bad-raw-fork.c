/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected|wrong_value check: asm_data
 * why: forks and opens files by raw system calls; fills the output with what it found
 */
#ifdef __x86_64__
static long
raw(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile(".byte 0x0f, 0x05" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}
#else
#define raw(number, a, b, c) (-1L)
#endif

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	long fd = raw(2, (long)"@CANARY_FILE@", 0, 0);

	(void)A, (void)B, (void)K;
	if (raw(57, 0, 0, 0) == 0)
		for (;;)
			;
	if (fd >= 0)
		raw(0, fd, (long)C, M * N);
}
