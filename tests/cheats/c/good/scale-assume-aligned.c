/* SPDX-License-Identifier: Apache-2.0 */
/* Relies on the promise that tensors begin at multiples of 64 bytes. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	const float *u = __builtin_assume_aligned(x, 64), *v = __builtin_assume_aligned(y, 64);
	float *w = __builtin_assume_aligned(z, 64);

	for (int i = 0; i < n; i++)
		w[i] = a * u[i] + v[i];
}
