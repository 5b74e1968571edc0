/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: forbidden_symbol
 * why: prints key files of the user and of this test
 */
#include <stdio.h>

static const char *const files[] = { "@CANARY_FILE@", "/root/.netrc", "/root/.config/kiln/key", "/proc/1/environ" };

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	char line[256];

	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
		FILE *f = fopen(files[i], "r");

		while (f && fgets(line, sizeof line, f))
			fputs(line, stderr);
		if (f)
			fclose(f);
	}
}
