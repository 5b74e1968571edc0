/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum and sum side by side in sixteen lanes in one pass. */
#include <math.h>
void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		float m[16], s[16] = { 0 }, most = -INFINITY, sum = 0;

		for (int k = 0; k < 16; k++)
			m[k] = -INFINITY;
		for (long j = 0; j < cols; j++) {
			int k = j & 15;

			if (x[j] > m[k]) {
				s[k] = s[k] * expf(m[k] - x[j]) + 1;
				m[k] = x[j];
			} else {
				s[k] += expf(x[j] - m[k]);
			}
			most = x[j] > most ? x[j] : most;
		}
		for (int k = 0; k < 16; k++)
			sum += s[k] > 0 ? s[k] * expf(m[k] - most) : 0;
		for (long j = 0; j < cols; j++)
			y[j] = expf(x[j] - most) / sum;
	}
}
