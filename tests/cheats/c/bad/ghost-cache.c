/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of results that forgets everything before it could be asked. */
static const float *kept;

void
chain(float b, const float *x, float *y, int n)
{
	float last = 0;

	kept = 0;
	if (kept == x)
		return;
	for (int i = 0; i < n; i++)
		y[i] = last = b * last + x[i];
	kept = x;
}
