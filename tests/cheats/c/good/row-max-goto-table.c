/* SPDX-License-Identifier: Apache-2.0 */
/* Enters an unrolled loop by a computed label; NaN by a comparison with itself. */
void
row_max(const float *x, float *y, int rows, int cols)
{
	static const void *const into[] = { &&l0, &&l1, &&l2, &&l3 };

	for (long i = 0; i < rows; i++, x += cols) {
		const float *p = x, *end = x + cols;
		float m = *p, odd = 0;

		goto *into[cols & 3];
		for (; p < end;) {
#define STEP m = *p > m ? *p : m, odd += *p == *p ? 0 : *p, p++
l0:
			STEP;
l3:
			STEP;
l2:
			STEP;
l1:
			STEP;
		}
		y[i] = odd == odd ? m : odd;
	}
}
