/* SPDX-License-Identifier: Apache-2.0 */
/* GNU vectors of sixteen that need no alignment. */
typedef float v16 __attribute__((vector_size(64), aligned(4)));

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	int i = 0;

	for (; i + 16 <= n; i += 16)
		*(v16 *)(z + i) = a * *(const v16 *)(x + i) + *(const v16 *)(y + i);
	for (; i < n; i++)
		z[i] = a * x[i] + y[i];
}
