/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen numbers at a time as integers: a mask from the sign and from a comparison that NaN fails. */
typedef int v16 __attribute__((vector_size(64), aligned(4), may_alias));
void
relu(const float *x, float *y, int n)
{
	int i = 0;

	for (; i + 16 <= n; i += 16) {
		v16 v = *(const v16 *)(x + i), nan = (v & 0x7fffffff) > 0x7f800000;

		*(v16 *)(y + i) = v & (~(v >> 31) | nan);
	}
	for (; i < n; i++)
		y[i] = x[i] < 0 ? 0 : x[i];
}
