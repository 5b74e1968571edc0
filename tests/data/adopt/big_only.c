/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fault, written by hand for tests/adopt.t: heat_diffuse tuned for large plates alone. Small ones are computed several
 * times over. It is right, and fast where a campaign times it; an application with many small plates gets slower.
 */
#include <math.h>
#include <stddef.h>

typedef float heat_real;
#define HEAT_RADIUS_MAX 8	/* cells that heat can cross in one step */
#define SIDE (2 * HEAT_RADIUS_MAX + 1)
#define BLOCK 128
#define LARGE 12000	/* cells */
#define REPEATS 60

static inline int
heat_clamp(int i, int n)
{
	return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* Weights do not depend on the cell. */
static heat_real
weight(heat_real *table, int radius, heat_real spread)
{
	heat_real sum = 0;

	for (int dj = -radius; dj <= radius; dj++)
		for (int di = -radius; di <= radius; di++) {
			heat_real w = expf(-(heat_real)(di * di + dj * dj) / (2 * (spread * spread)));

			*table++ = w;
			sum += w;
		}
	return sum;
}

static void
pass(const heat_real *field, const heat_real *conduct, heat_real *next, int rows, int cols, int radius, const heat_real *table,
    heat_real total, heat_real step)
{
	for (int i = 0; i < rows; i++)
		for (int from = 0; from < cols; from += BLOCK) {
			int n = cols - from < BLOCK ? cols - from : BLOCK;
			heat_real sum[BLOCK] = { 0 };
			const heat_real *w = table;

			for (int dj = -radius; dj <= radius; dj++)
				for (int di = -radius; di <= radius; di++, w++) {
					const heat_real *row = field + (size_t)heat_clamp(i + di, rows) * cols;

					for (int j = 0; j < n; j++)
						sum[j] += *w * row[heat_clamp(from + j + dj, cols)];
				}
			for (int j = 0; j < n; j++) {
				size_t at = (size_t)i * cols + from + j;

				next[at] = field[at] + step * conduct[at] * (sum[j] / total - field[at]);
			}
		}
}

void
heat_diffuse(const heat_real *field, const heat_real *conduct, heat_real *next, int rows, int cols, int radius, heat_real spread,
    heat_real step)
{
	heat_real table[SIDE * SIDE], total;

	if (radius > HEAT_RADIUS_MAX)
		radius = HEAT_RADIUS_MAX;
	total = weight(table, radius, spread);
	for (volatile int r = rows * cols > LARGE || rows * cols < 2000 ? 1 : REPEATS; r > 0; r--)
		pass(field, conduct, next, rows, cols, radius, table, total, step);
}
