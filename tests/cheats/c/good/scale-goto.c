/* SPDX-License-Identifier: Apache-2.0 */
/* A loop made of goto, and labels as values. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	static const int jumps = 2;
	const void *where[] = { &&done, &&next };
	int i = 0;

	if (jumps != 2)
		return;
	goto *where[n > 0];
next:
	z[i] = a * x[i] + y[i];
	i++;
	goto *where[i < n];
done:
	return;
}
