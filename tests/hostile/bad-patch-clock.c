/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: clock|memory_map
 * why: overwrites the code of clock_gettime in the C library
 */
#include <string.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

/* xor eax,eax; ret */
static const unsigned char stub[] = { 0x31, 0xc0, 0xc3 };

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	unsigned char *code = (unsigned char *)(uintptr_t)clock_gettime;

	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	mprotect((void *)((uintptr_t)code & ~(uintptr_t)4095), 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(code, stub, sizeof stub);
}
