/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of results that forgets everything before it could be asked. */
static const float *kept;

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	kept = 0;
	if (kept == x)
		return;
	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
	kept = x;
}
