/* SPDX-License-Identifier: Apache-2.0 */
/* search-bench: searches of a few lines, which kiln's must beat. See search.h. */
#include <string.h>

#include "search.h"

struct simple {
	struct world *w;
	struct krng rng;
	struct reply at;                 /* where the search stands: the best measured, too */
	struct reply elite[KARCH_CELLS]; /* the best measured of each cell; speedup 0: none */
};

static void
keep_best(struct simple *s, const struct reply *r)
{
	if (r->speedup > s->at.speedup)
		s->at = *r;
	if (r->speedup > s->elite[r->point.cell].speedup)
		s->elite[r->point.cell] = *r;
}

/* From the best, half of the time in place and half a step anywhere. */
static const struct point *
climb(struct simple *s, int *target)
{
	*target = random_step(&s->rng, s->at.point.cell, 1, 0.5);
	return &s->at.point;
}

/* From the best, always a step, mostly upwards. */
static const struct point *
greedy(struct simple *s, int *target)
{
	*target = random_step(&s->rng, s->at.point.cell, 2, 0);
	return &s->at.point;
}

/* From the reference, some plan. */
static const struct point *
best_of_n(struct simple *s, int *target)
{
	*target = 0;
	for (int d = 0; d < KARCH_DIMS; d++)
		*target = karch_with(*target, d, 1 + (int)krng_below(&s->rng, KARCH_LEVEL));
	return &s->w->reference;
}

/* From any cell's best, a step anywhere. */
static const struct point *
uniform(struct simple *s, int *target)
{
	double weight[KARCH_CELLS];
	size_t c;

	for (c = 0; c < KARCH_CELLS; c++)
		weight[c] = s->elite[c].speedup > 0;
	c = krng_weighted(&s->rng, weight, KARCH_CELLS);
	*target = random_step(&s->rng, (int)c, 1, 0);
	return &s->elite[c].point;
}

static const struct {
	const char *name;
	const struct point *(*choose)(struct simple *s, int *target);
} arms[] = { { "climb", climb }, { "greedy", greedy }, { "best_of_n", best_of_n }, { "uniform", uniform } };

bool
run_simple(struct world *w, uint64_t seed, const char *name, double height[BUDGET + 1])
{
	struct simple s = { .w = w, .at = { .point = w->reference, .speedup = 1 } };
	size_t arm = 0;

	while (arm < LEN(arms) && strcmp(arms[arm].name, name))
		arm++;
	if (arm == LEN(arms))
		return false;
	krng_init(&s.rng, seed, 0, 0, name);
	keep_best(&s, &s.at);
	s.elite[w->reference.cell] = s.at;
	height[0] = 0;
	for (long n = 1; n <= BUDGET; n++) {
		struct reply reply;
		int target;
		struct point parent = *arms[arm].choose(&s, &target);

		model_reply(w, seed, n, &parent, target, false, &reply);
		keep_best(&s, &reply);
		height[n] = s.at.height;
	}
	return true;
}
