/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a table of powers of two in its first call, and keeps it: it depends on no input. */
#include <math.h>

enum { STEPS = 1024 };

static float table[STEPS];

/* e to the x, for x that is not positive. */
static float
power(float x)
{
	float t = x * 1.44269504f, whole = floorf(t), part = (t - whole) * STEPS;
	int i = (int)part;
	float rest = (part - (float)i) * (0.693147181f / STEPS);

	return whole < -140 ? 0 : ldexpf(table[i < STEPS ? i : STEPS - 1] * (1 + rest * (1 + rest / 2)), (int)whole);
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (int i = 0; !table[STEPS - 1] && i < STEPS; i++)
		table[i] = (float)exp2((double)i / STEPS);
	for (int r = 0; r < rows; r++) {
		const float *from = x + (long)r * cols;
		float *to = y + (long)r * cols, most = from[0];
		double sum = 0;

		for (int i = 1; i < cols; i++)
			most = from[i] > most ? from[i] : most;
		for (int i = 0; i < cols; i++)
			sum += to[i] = power(from[i] - most);
		for (int i = 0; i < cols; i++)
			to[i] = (float)(to[i] / sum);
	}
}
