/* SPDX-License-Identifier: Apache-2.0 */
/* Macros with statements in expressions and typeof, which GNU C has. */
#include <math.h>

#define MAX(a, b) ({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define FOLD(first, n, start, step) ({ typeof(start) acc = (start); for (long at = (first); at < (n); at++) acc = (step); acc; })

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		float max = FOLD(1, cols, in[0] + 0, MAX(acc, in[at]));
		double sum = FOLD(0, cols, 0.0, acc + expf(in[at] - max));

		for (long j = 0; j < cols; j++)
			y[i * cols + j] = (float)(expf(in[j] - max) / sum);
	}
}
