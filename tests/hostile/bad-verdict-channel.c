/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: forbidden_symbol
 * why: writes a verdict of its own to every descriptor there might be, then leaves
 */
#include <string.h>
#include <unistd.h>

static const char verdict[] = "done\n{\"status\":\"correct\",\"tier\":3,\"timing\":[{\"median_ns\":1}]}\n";

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	for (int fd = 1; fd < 1024; fd++)
		if (write(fd, verdict, strlen(verdict)) < 0)
			continue;
	_exit(0);
}
