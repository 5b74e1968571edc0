/* SPDX-License-Identifier: Apache-2.0 */
/* A mask by comparisons, one of which a pragma removes: by that there is no NaN. */
#pragma GCC optimize("Ofast")
#include <string.h>

void
relu(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++) {
		unsigned bits, keep = x[i] > 0 || x[i] != x[i] ? ~0u : 0;

		memcpy(&bits, &x[i], sizeof bits);
		bits &= keep;
		memcpy(&y[i], &bits, sizeof bits);
	}
}
