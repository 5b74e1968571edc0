/* SPDX-License-Identifier: Apache-2.0 */
/* The multiply-add in inline assembly where the machine has it. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	for (int i = 0; i < n; i++) {
		float r = y[i];

#ifdef __FMA__
		__asm__ ("vfmadd231ss %2, %1, %0" : "+x" (r) : "x" (a), "m" (x[i]));
#else
		r += a * x[i];
#endif
		z[i] = r;
	}
}
