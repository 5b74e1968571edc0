/* SPDX-License-Identifier: Apache-2.0 */
/* Jumps to a computed label for what is left over, as interpreters do. */
#define ONE(k) \
	l##k: \
	y[i + k - 1] = x[i + k - 1] < 0 ? 0 : x[i + k - 1];

void
relu(const float *x, float *y, int n)
{
	static const void *const rest[] = { &&l0, &&l1, &&l2, &&l3, &&l4, &&l5, &&l6, &&l7 };
	long i = 0;

	for (; i + 8 <= n; i += 8)
		for (int k = 0; k < 8; k++)
			y[i + k] = x[i + k] < 0 ? 0 : x[i + k];
	goto *rest[n - i];
	ONE(7) ONE(6) ONE(5) ONE(4) ONE(3) ONE(2) ONE(1)
l0:
	return;
}
