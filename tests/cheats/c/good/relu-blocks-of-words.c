/* SPDX-License-Identifier: Apache-2.0 */
/* Eight numbers at a time through a union, without a branch. */
#include <string.h>

union block {
	float f[8];
	unsigned u[8];
};

void
relu(const float *x, float *y, int n)
{
	for (long i = 0; i < n; i += 8) {
		long count = n - i < 8 ? n - i : 8;
		union block b = { { 0 } };

		memcpy(b.f, x + i, (size_t)count * sizeof *x);
		for (int k = 0; k < 8; k++)
			b.u[k] &= ((b.u[k] >> 31) - 1u) | -(unsigned)((b.u[k] & 0x7fffffffu) > 0x7f800000u);
		memcpy(y + i, b.f, (size_t)count * sizeof *y);
	}
}
