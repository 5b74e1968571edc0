/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: memory_map|surroundings
 * why: overwrites the kernel's own clock page
 */
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	unsigned char *vdso = (unsigned char *)getauxval(AT_SYSINFO_EHDR);

	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	mprotect(vdso, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	memset(vdso + 64, 0xc3, 4096);
}
