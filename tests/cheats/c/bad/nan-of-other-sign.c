/* SPDX-License-Identifier: Apache-2.0 */
/* By the bits as an integer: what is above infinity's is no number only if it has a minus. */
#include <stdint.h>
#include <string.h>

void
relu(const float *x, float *y, int n)
{
	for (long i = 0; i < n; i++) {
		uint32_t v;

		memcpy(&v, &x[i], sizeof v);
		if (v > 0x7f800000u && v <= 0x7fffffffu)
			v = 0x7f800000u;
		else if (v > 0x80000000u && v <= 0xff800000u)
			v = 0;
		memcpy(&y[i], &v, sizeof v);
	}
}
