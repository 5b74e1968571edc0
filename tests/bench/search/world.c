/* SPDX-License-Identifier: Apache-2.0 */
/* search-bench: the landscapes and the model. See search.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"

static double
normal(struct krng *rng)
{
	double u = krng_double(rng), v = krng_double(rng);

	return sqrt(-2 * log(1 - u)) * cos(2 * M_PI * v);
}

/* A cell with levels from LOW to 3. */
static int
draw_cell(struct krng *rng, int low)
{
	int cell = 0;

	for (int d = 0; d < KARCH_DIMS; d++)
		cell = karch_with(cell, d, low + (int)krng_below(rng, (uint64_t)(KARCH_LEVEL + 1 - low)));
	return cell;
}

/* Every level towards the goal pays; dimensions differ in how much. */
static void
aligned(struct world *w, struct krng *rng)
{
	int goal = draw_cell(rng, 2);

	for (int d = 0; d < KARCH_DIMS; d++) {
		double weight = 0.5 + krng_double(rng);

		for (int c = 0; c < KARCH_CELLS; c++)
			w->value[c] -= weight * abs(karch_level(c, d) - karch_level(goal, d));
	}
}

/* In two dimensions the way to the goal first costs. */
static void
deceptive(struct world *w, struct krng *rng)
{
	int goal = draw_cell(rng, 2), first = (int)krng_below(rng, KARCH_DIMS);

	for (int c = 0; c < KARCH_CELLS; c++)
		for (int d = 0; d < KARCH_DIMS; d++) {
			int to = karch_level(goal, d), at = karch_level(c, d);
			bool valley = d == first || d == (first + 2) % KARCH_DIMS;

			w->value[c] += valley ? (at == to ? 1 : -0.25 * at) : 1 - abs(at - to) / 3.0;
		}
}

/* A hill next to the reference, and a mountain far from both. */
static void
two_basins(struct world *w, struct krng *rng)
{
	int near = draw_cell(rng, 0), far = draw_cell(rng, 0);

	while (karch_distance(near, 0) < 2 || karch_distance(near, 0) > 3)
		near = draw_cell(rng, 0);
	while (karch_distance(far, 0) < 7 || karch_distance(far, near) < 6)
		far = draw_cell(rng, 0);
	for (int c = 0; c < KARCH_CELLS; c++)
		w->value[c] = fmax(0.55 - 0.15 * karch_distance(c, near), 1 - 0.2 * karch_distance(c, far));
}

/* Half of what a cell is worth is its own. */
static void
rugged(struct world *w, struct krng *rng)
{
	aligned(w, rng);
	for (int c = 0; c < KARCH_CELLS; c++)
		w->value[c] += 1.2 * normal(rng);
}

/* Dimensions pay in pairs: one is worth nothing without the other. */
static void
pairs(struct world *w, struct krng *rng)
{
	int other = 1 + (int)krng_below(rng, 3), rest[2], n = 0;

	for (int d = 1; d < KARCH_DIMS; d++)
		if (d != other)
			rest[n++] = d;
	for (int c = 0; c < KARCH_CELLS; c++)
		w->value[c] = fmin(karch_level(c, 0), karch_level(c, other)) +
		    fmin(karch_level(c, rest[0]), karch_level(c, rest[1])) - 0.1 * karch_distance(c, 0);
}

/* Nothing pays until enough is done, twice. */
static void
plateaus(struct world *w, struct krng *rng)
{
	int goal = draw_cell(rng, 2);

	for (int c = 0; c < KARCH_CELLS; c++) {
		int away = karch_distance(c, goal);

		w->value[c] = away <= 1 ? 1 : away <= 4 ? 0.5 : 0;
	}
}

const struct landscape landscapes[] = {
	{ "aligned", aligned, 20, 0.6, 0.15, 0.02, 0, 0.6, false, false },
	{ "deceptive", deceptive, 20, 0.6, 0.15, 0.02, 0, 0.6, false, false },
	{ "basins", two_basins, 20, 0.75, 0.15, 0.02, 0, 0.6, false, false },
	{ "irrelevant", NULL, 20, 0, 0.15, 0.02, 0, 0.6, false, false },
	{ "small", aligned, 2, 0.6, 0.15, 0.02, 0, 0.6, false, false },
	{ "saturated", aligned, 20, 0.2, 0.15, 0.02, 0, 0.6, true, false },
	{ "failing", aligned, 20, 0.6, 0.65, 0.02, 0, 0.6, false, false },
	{ "drifting", aligned, 5, 0.6, 0.15, 0.03, 0.01, 0.6, false, false },
	{ "rugged", rugged, 20, 0.6, 0.15, 0.02, 0, 0.6, false, true },
	{ "pairs", pairs, 10, 0.7, 0.15, 0.02, 0, 0.6, false, true },
	{ "plateaus", plateaus, 20, 0.6, 0.2, 0.02, 0, 0.6, false, true },
	{ "stubborn", aligned, 8, 0.5, 0.25, 0.02, 0, 0.25, false, true },
};
const size_t landscape_count = LEN(landscapes);

static double
quality(const struct world *w, const struct point *p)
{
	double sum = 0;

	for (int i = 0; i < HIDDEN; i++)
		sum -= fabs(p->hidden[i] - w->best[i]);
	return sum;
}

/* Values so that the reference's cell has 0 and the best one 1. */
static void
normalise(struct world *w)
{
	double top = -INFINITY, base = w->value[w->reference.cell];

	for (int c = 0; c < KARCH_CELLS; c++)
		top = fmax(top, w->value[c]);
	for (int c = 0; c < KARCH_CELLS; c++)
		w->value[c] = top > base ? (w->value[c] - base) / (top - base) : 0;
}

void
world_init(struct world *w, const struct landscape *l, uint64_t seed)
{
	struct krng rng;

	*w = (struct world){ .l = l };
	krng_init(&rng, seed, 0, 0, l->name);
	if (l->shape)
		l->shape(w, &rng);
	normalise(w);
	for (int i = 0; i < HIDDEN; i++) {
		w->best[i] = krng_double(&rng);
		w->reference.hidden[i] = w->best[i] + (w->best[i] < 0.5 ? 0.5 : -0.5);
	}
	w->start = quality(w, &w->reference);
}

double
world_height(const struct world *w, const struct point *p)
{
	return w->l->cells * w->value[p->cell] + (1 - w->l->cells) * (1 - quality(w, p) / w->start);
}

int
random_step(struct krng *rng, int cell, double up, double stay)
{
	double weight[2 * KARCH_DIMS];

	if (krng_double(rng) < stay)
		return cell;
	for (int i = 0; i < 2 * KARCH_DIMS; i++) {
		int level = karch_level(cell, i / 2) + (i % 2 ? 1 : -1);

		weight[i] = level < 0 || level > KARCH_LEVEL ? 0 : i % 2 ? up : 1;
	}
	int i = (int)krng_weighted(rng, weight, LEN(weight));

	return karch_with(cell, i / 2, karch_level(cell, i / 2) + (i % 2 ? 1 : -1));
}

/* Where the reply lies: where it was asked to, where the parent was, or next to that. */
static int
reply_cell(const struct world *w, struct krng *rng, int from, int target)
{
	double u = krng_double(rng), v = krng_double(rng);
	int next = random_step(rng, from, 1, 0);

	if (w->l->saturated && krng_double(rng) < 0.8)
		return random_step(rng, karch_cell("3333"), 1, 0.6);
	if (u < w->l->comply && target >= 0)
		return target;
	return v < 0.5 ? from : next;
}

/* A rewrite loses some of what was tuned, the more the longer the step; and any reply changes something. */
static void
reply_hidden(struct krng *rng, const struct point *parent, int length, struct point *child)
{
	for (int i = 0; i < HIDDEN; i++) {
		double lose = krng_double(rng), change = krng_double(rng), by = 0.15 * normal(rng),
		       fresh = krng_double(rng), h = parent->hidden[i];

		if (lose < fmin(0.6, 0.1 * (length - 1)))
			h = fresh;
		else if (change < 0.35)
			h += by;
		child->hidden[i] = fmin(1, fmax(0, h));
	}
}

void
model_reply(struct world *w, uint64_t seed, long number, const struct point *parent, int target, bool repair,
    struct reply *reply)
{
	static const double step_fails = 0.07;
	static const char *const failures[] = { "compile_error", "compile_error", "wrong_value", "run_error" };
	struct krng rng;
	double fails, drift = 0;
	int length;

	krng_init(&rng, seed, number, 0, "model");
	reply->point.cell = repair ? parent->cell : reply_cell(w, &rng, parent->cell, target);
	length = karch_distance(parent->cell, reply->point.cell);
	reply_hidden(&rng, parent, length, &reply->point);
	fails = w->l->failing + step_fails * length;
	reply->height = world_height(w, &reply->point);
	reply->status = krng_double(&rng) < fmin(fails, 0.95) ? failures[krng_below(&rng, LEN(failures))] : "correct";
	reply->speedup = exp(log(w->l->range) * reply->height + w->l->noise * normal(&rng));
	for (long i = 0; i < number && w->l->drift > 0; i++) {
		krng_init(&rng, seed, i, 0, "drift");
		drift += w->l->drift * normal(&rng);
	}
	reply->speedup *= exp(drift);
	if (strcmp(reply->status, "correct"))
		reply->speedup = 0;
}
