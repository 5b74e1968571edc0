/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of a plate in the output: sums and a grid of probes. */
#include <stddef.h>

#include "heat.h"

enum { PROBES = 16 };

void
heat_write(FILE *f, const struct heat_plate *p)
{
	double energy = 0, peak = 0;

	for (int i = 0; i < p->rows * p->cols; i++) {
		energy += p->field[i];
		peak = p->field[i] > peak ? p->field[i] : peak;
	}
	fprintf(f, "plate %s %d %d\nenergy %.6e\npeak %.4f\n", p->name, p->rows, p->cols, energy, peak);
	for (int i = 0; i < PROBES; i++)
		for (int j = 0; j < PROBES; j++) {
			int row = (2 * i + 1) * p->rows / (2 * PROBES), col = (2 * j + 1) * p->cols / (2 * PROBES);

			fprintf(f, "%.4f%c", p->field[(size_t)row * p->cols + col], j + 1 < PROBES ? ' ' : '\n');
		}
}
