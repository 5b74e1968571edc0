/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: forbidden_symbol
 * why: plants links where the evaluator may write or read later
 */
#include <stdio.h>
#include <unistd.h>

static const char *const files[] = {
	"result.json", "eval.ndjson", "candidate.so", "candidate.c", "out", "log", "/tmp/result",
};

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
		unlink(files[i]);
		if (symlink("@CANARY_FILE@", files[i]))
			perror(files[i]);
	}
}
