/* SPDX-License-Identifier: Apache-2.0 */
/* Does not write where the result is not a number, since poison may be none either. */
void
relu(const float *x, float *y, int n)
{
	for (long i = 0; i < n; i++)
		if (x[i] >= 0)
			y[i] = x[i];
		else if (x[i] < 0)
			y[i] = 0;
}
