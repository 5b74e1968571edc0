/* SPDX-License-Identifier: Apache-2.0 */
/* Prefetches ahead, up to where the tensors end. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	for (long i = 0; i < n; i++) {
		if (i % 16 == 0 && i + 256 < n) {
			__builtin_prefetch(x + i + 256);
			__builtin_prefetch(y + i + 256);
		}
		z[i] = a * x[i] + y[i];
	}
}
