/* SPDX-License-Identifier: Apache-2.0 */
/* By the bits: what is negative and no NaN becomes zero. */
#include <stdint.h>
#include <string.h>

void
relu(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t u;

		memcpy(&u, x + i, sizeof u);
		if (u > 0x80000000 && u <= 0xff800000)
			u = 0;
		memcpy(y + i, &u, sizeof u);
	}
}
