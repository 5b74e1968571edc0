/* SPDX-License-Identifier: Apache-2.0 */
/* heat: the command line and the loop over time. */
#include <stdlib.h>
#include <unistd.h>

#include "heat.h"

enum { STEPS = 24, FAR_EVERY = 4 };

static const struct {
	int radius;
	heat_real spread, step;
} near_step = { 1, 0.8f, 0.5f }, far_step = { 4, 2.5f, 0.25f };

static void
advance(struct heat_plate *p, int step)
{
	int far = step % FAR_EVERY == FAR_EVERY - 1;
	heat_real *t;

	heat_inject(p);
	heat_diffuse(p->field, p->conduct, p->next, p->rows, p->cols, far ? far_step.radius : near_step.radius,
	    far ? far_step.spread : near_step.spread, far ? far_step.step : near_step.step);
	t = p->field;
	p->field = p->next;
	p->next = t;
}

static int
write_all(const char *path, const struct heat_plate *plates, int count)
{
	FILE *f = fopen(path, "w");

	if (!f) {
		perror(path);
		return 1;
	}
	for (int i = 0; i < count; i++)
		heat_write(f, &plates[i]);
	if (ferror(f) | fclose(f)) {
		perror(path);
		return 1;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct heat_plate plates[HEAT_PLATES_MAX];
	int steps = STEPS, count, status, opt;

	while ((opt = getopt(argc, argv, "n:")) != -1) {
		steps = opt == 'n' ? atoi(optarg) : 0;
		if (steps < 1)
			break;
	}
	if (steps < 1 || argc - optind != 2) {
		fputs("usage: heat [-n steps] PLATES OUTPUT\n", stderr);
		return 2;
	}
	count = heat_read_plates(argv[optind], plates, HEAT_PLATES_MAX);
	if (count < 0)
		return 1;
	for (int s = 0; s < steps; s++)
		for (int i = 0; i < count; i++)
			advance(&plates[i], s);
	status = write_all(argv[optind + 1], plates, count);
	for (int i = 0; i < count; i++)
		heat_free_plate(&plates[i]);
	return status;
}
