/* SPDX-License-Identifier: Apache-2.0 */
/* Plates: read their sizes, make up their material and where they are heated. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heat.h"

enum { ALIGNMENT = 64, LINE = 256 };

/* Marsaglia's xorshift64*, so that every machine makes the same plates. */
static double
draw(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)(*state * UINT64_C(0x2545F4914F6CDD1D) >> 11) / 9007199254740992.0;
}

static heat_real *
buffer(const struct heat_plate *p)
{
	size_t bytes = (size_t)p->rows * (size_t)p->cols * sizeof(heat_real);
	void *at = NULL;

	if (posix_memalign(&at, ALIGNMENT, bytes)) {
		fprintf(stderr, "heat: no memory for plate %s\n", p->name);
		exit(1);
	}
	memset(at, 0, bytes);
	return at;
}

static void
make_plate(struct heat_plate *p)
{
	uint64_t state = UINT64_C(88172645463325252) ^ (uint64_t)p->rows << 32 ^ (uint64_t)p->cols;

	p->field = buffer(p);
	p->next = buffer(p);
	p->conduct = buffer(p);
	for (int i = 0; i < p->rows * p->cols; i++) {
		p->field[i] = (heat_real)(20 + draw(&state));
		p->conduct[i] = (heat_real)(0.25 + 0.75 * draw(&state));
	}
	for (int s = 0; s < p->spot_count; s++)
		p->spots[s] = (struct heat_spot){ (int)(draw(&state) * p->rows), (int)(draw(&state) * p->cols),
		    (heat_real)(5 + 20 * draw(&state)) };
}

/* The number of plates, or -1 after a message. */
int
heat_read_plates(const char *path, struct heat_plate *plates, int max)
{
	FILE *f = fopen(path, "r");
	char line[LINE];
	int count = 0;

	if (!f) {
		perror(path);
		return -1;
	}
	for (int number = 1; fgets(line, sizeof line, f); number++) {
		struct heat_plate p = { .rows = 0 };

		if (line[strspn(line, " \t\n")] == '\0' || *line == '#')
			continue;
		if (count == max || sscanf(line, "%31s %d %d %d", p.name, &p.rows, &p.cols, &p.spot_count) != 4 || p.rows < 1 ||
		    p.cols < 1 || p.rows > 8192 || p.cols > 8192 || p.spot_count < 0 || p.spot_count > HEAT_SPOTS_MAX) {
			fprintf(stderr, "%s:%d: not 'name rows cols spots', or too many plates\n", path, number);
			fclose(f);
			return -1;
		}
		make_plate(&p);
		plates[count++] = p;
	}
	fclose(f);
	return count;
}

void
heat_free_plate(struct heat_plate *p)
{
	free(p->field);
	free(p->next);
	free(p->conduct);
}
