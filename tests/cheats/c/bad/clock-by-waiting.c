/* SPDX-License-Identifier: Apache-2.0 */
/* Waits until a time that the processor compares with its clock. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	if (n < 0)
		__asm__ volatile("tpause %%ecx" ::"c"(0), "a"(1), "d"(0));
	for (long i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}
