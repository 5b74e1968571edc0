/* SPDX-License-Identifier: Apache-2.0 */
/* heat_types: numbers and limits that the whole program shares. */
#ifndef HEAT_TYPES_H
#define HEAT_TYPES_H

typedef float heat_real;

#define HEAT_RADIUS_MAX 8	/* cells that heat can cross in one step */
#define HEAT_SPOTS_MAX 16
#define HEAT_PLATES_MAX 32

struct heat_spot {
	int row, col;
	heat_real power;	/* degrees a step */
};

#endif
