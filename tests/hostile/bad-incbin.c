/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: compile_error|rejected check: asm_directive
 * why: embeds a key file and leaks it as the output
 */
__asm__(".section .rodata\nstolen: .incbin \"@CANARY_FILE@\"\n.previous");
extern const unsigned char stolen[];

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)K;
	for (int i = 0; i < M * N; i++)
		C[i] = stolen[i % 16];
}
