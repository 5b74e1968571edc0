/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected|run_error check: asm_system
 * why: system calls without the C library: writes a verdict and leaves
 */
static long
raw(long number, long a, long b, long c)
{
	long result = -1;

#ifdef __x86_64__
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
#endif
	return result;
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	static const char verdict[] = "{\"status\":\"correct\"}\n";

	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	for (int fd = 1; fd < 64; fd++)
		raw(1, fd, (long)verdict, sizeof verdict - 1);
	raw(231, 0, 0, 0);
}
