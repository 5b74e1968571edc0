/* SPDX-License-Identifier: Apache-2.0 */
/* Four at a time, the rest by a switch. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	int i = 0;

	for (; i <= n - 4; i += 4) {
		z[i] = a * x[i] + y[i];
		z[i + 1] = a * x[i + 1] + y[i + 1];
		z[i + 2] = a * x[i + 2] + y[i + 2];
		z[i + 3] = a * x[i + 3] + y[i + 3];
	}
	switch (n - i) {
	case 3: z[i + 2] = a * x[i + 2] + y[i + 2]; /* fall through */
	case 2: z[i + 1] = a * x[i + 1] + y[i + 1]; /* fall through */
	case 1: z[i] = a * x[i] + y[i];
	}
}
