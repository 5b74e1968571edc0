/* SPDX-License-Identifier: Apache-2.0 */
/* The running value in a register variable, four steps a turn. */
void
chain(float b, const float *restrict x, float *restrict y, int n)
{
	register float last = 0;
	long i = 0;

	for (; i + 4 <= n; i += 4) {
		y[i] = last = b * last + x[i];
		y[i + 1] = last = b * last + x[i + 1];
		y[i + 2] = last = b * last + x[i + 2];
		y[i + 3] = last = b * last + x[i + 3];
	}
	while (i < n) {
		y[i] = last = b * last + x[i];
		i++;
	}
}
