/* SPDX-License-Identifier: Apache-2.0 */
/* What heats a plate: its spots, three cells wide. */
#include <stddef.h>

#include "heat.h"

void
heat_inject(struct heat_plate *p)
{
	for (int s = 0; s < p->spot_count; s++)
		for (int di = -1; di <= 1; di++)
			for (int dj = -1; dj <= 1; dj++) {
				int row = heat_clamp(p->spots[s].row + di, p->rows), col = heat_clamp(p->spots[s].col + dj, p->cols);

				p->field[(size_t)row * p->cols + col] += p->spots[s].power;
			}
}
