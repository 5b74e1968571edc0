/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: forbidden_symbol
 * why: searches the runner's memory for buffers and overwrites what looks like a result
 */
#include <stdio.h>
#include <string.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], mode[8];
	unsigned long from, to;

	(void)A, (void)B, (void)M, (void)N, (void)K;
	while (maps && fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && !strcmp(mode, "rw-s") &&
		    (unsigned long)C - from >= to - from)
			memset((void *)from, 0, to - from);
}
