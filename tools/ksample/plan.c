/* SPDX-License-Identifier: Apache-2.0 */
/* ksample: parents and repairs of a trial. See ksample.h. */

#include "ksample.h"

struct planner planner;

/* A plan that two repairs did not fix is discarded. */
enum { REPAIR_TRIES = 2 };

/* Parents to choose from, best first. */
struct pool {
	const struct karch_row *row[KARCH_CELLS + KARCH_CONTENDERS];
	size_t n;
};

/*
 * Programs that measured faster than the best, but within the noise: many small gains are real, and
 * two of them combined become visible.
 */
static void
add_contenders(struct pool *pool, uint64_t islands)
{
	struct karch_row best;

	if (!karch_best(&best))
		return;
	for (size_t i = 0; i < karch.programs && i < KARCH_CONTENDERS; i++)
		if (karch.program[i]->status == STATUS_CORRECT &&
		    karch.program[i]->islands & islands && karch.program[i]->speedup > best.speedup)
			pool->row[pool->n++] = karch.program[i];
}

static void
fill_pool(struct pool *pool, bool correct, uint64_t islands)
{
	const struct karch_row *list[KARCH_CELLS];
	size_t n = karch_ranked(list);

	pool->n = 0;
	kforeach_of(row, list, n)
		if ((!correct || (*row)->status == STATUS_CORRECT) && (*row)->islands & islands)
			pool->row[pool->n++] = *row;
	if (correct)
		add_contenders(pool, islands);
}

/*
 * The island's correct elites; else everyone's; else, when nothing is correct, all. Broken ones are
 * for repairs.
 */
static void
island_pool(struct pool *pool, int island)
{
	fill_pool(pool, true, UINT64_C(1) << island);
	if (!pool->n)
		fill_pool(pool, true, UINT64_MAX);
	if (!pool->n)
		fill_pool(pool, false, UINT64_MAX);
}

double
speed_of(const struct karch_row *row)
{
	return log(fmax(row->speedup > 0 ? row->speedup : row->score, 1e-9));
}

static double
top_speed(const struct pool *pool)
{
	double top = -INFINITY;

	kforeach_of(one, pool->row, pool->n)
		top = fmax(top, speed_of(*one));
	return top;
}

/*
 * Softmax over logarithms of speed, so that a temperature of 0.02 means 2 %. A cell from which
 * nothing gets faster supplies fewer parents, however fast its elite is.
 */
static const struct karch_row *
exploit(const struct pool *pool)
{
	double w[KARCH_CELLS + KARCH_CONTENDERS], top = top_speed(pool),
	                                          temperature = kcamp_num("search.temperature");

	for (size_t i = 0; i < pool->n; i++)
		w[i] = search.paid[pool->row[i]->cell] *
		    exp((speed_of(pool->row[i]) - top) / temperature);
	return pool->row[krng_weighted(&planner.rng, w, pool->n)];
}

/* The pool is sorted by score, so the first of the nearest is the best of them. */
static const struct karch_row *
nearest(const struct pool *pool, int cell)
{
	const struct karch_row *near = pool->row[0];

	for (size_t i = 1; i < pool->n; i++)
		if (karch_distance(pool->row[i]->cell, cell) < karch_distance(near->cell, cell))
			near = pool->row[i];
	return near;
}

static void
plan_parent(struct plan *plan)
{
	double exploits = kcamp_num("search.exploit"),
	       random = fmax(0, 1 - exploits - kcamp_num("search.explore"));
	struct pool pool;

	island_pool(&pool, plan->island);
	plan->pick =
	    krng_double(&planner.rng) * (exploits + random) < random ? "random" : "exploit";
	plan->parent =
	    *plan->pick == 'e' ? exploit(&pool) : pool.row[krng_below(&planner.rng, pool.n)];
	if (plan->parent->status != STATUS_CORRECT) {
		plan->strategy = "repair";
		return;
	}
	choose_target(plan, top_speed(&pool) - speed_of(plan->parent));
	if (plan->target >= 0)
		return;
	plan->target = draw_frontier();
	if (!strcmp(plan->pick, "explore"))
		plan->parent = nearest(&pool, plan->target);
}

/*
 * The reference's row, if it still holds its cell; it may have lost it, or the archive may be
 * empty.
 */
static const struct karch_row *
reference_row(void)
{
	kforeach_of(one, karch.elite, KARCH_CELLS)
		if (*one && !strcmp((*one)->id, KARCH_REFERENCE))
			return *one;
	return NULL;
}

static bool
is_fresh(void)
{
	bool empty = true;

	kforeach_of(one, karch.elite, KARCH_CELLS) {
		empty &= !*one;
		if (*one && (*one)->status == STATUS_CORRECT && strcmp((*one)->id, KARCH_REFERENCE))
			return false;
	}
	return empty || reference_row();
}

/*
 * Which branches do repairs: each broken candidate of the last trial with probability
 * search.repair, unless its plan has used up its attempts; those nearest to correct first, and for
 * at most half of the branches (or one, if there is only one).
 */
static void
assign_repairs(void)
{
	const json_t *broken = kjson_path(karch.header, "broken");
	size_t n = 0, most = (size_t)search.branches / 2;
	double share = kcamp_num("search.repair");

	if (!most)
		most = 1;
	krng_init(&planner.rng, search.seed, search.trial, 0, "repair");
	kjson_foreach(one, broken) {
		double score = kjson_num(one, "score");
		size_t at = n;

		if (krng_double(&planner.rng) >= share || kjson_int(one, "tries") >= REPAIR_TRIES)
			continue;
		for (; at && score > kjson_num(planner.repairs[at], "score"); at--)
			if (at < MAX_BRANCHES)
				planner.repairs[at + 1] = planner.repairs[at];
		if (at < MAX_BRANCHES)
			planner.repairs[at + 1] = one;
		n += n < MAX_BRANCHES;
	}
	for (size_t b = most + 1; b <= MAX_BRANCHES; b++)
		planner.repairs[b] = NULL;
}

static void
mark_tabu(void)
{
	kjson_foreach_member(cell, last, karch.header, "tabu") {
		int c = karch_cell(cell);

		if (c >= 0 && search.trial - json_integer_value(last) <= KARCH_TABU_TRIALS)
			planner.tabu[c] = true;
	}
}

static struct plan
plan_one(int branch, int island)
{
	struct plan plan = {
		.island = island, .target = -1, .pick = "initial", .strategy = "initial"
	};

	krng_init(&planner.rng, search.seed, search.trial, branch, "sample");
	if (planner.repairs[branch]) {
		plan.pick = plan.strategy = "repair";
		plan.broken = planner.repairs[branch];
	} else if (planner.fresh) {
		plan.parent = reference_row();
		plan.target = draw_initial();
	} else {
		plan_parent(&plan);
	}
	if (plan.target >= 0)
		planner.taken[plan.target] = true;
	return plan;
}

void
plan_branches(struct plan *plans, int last)
{
	int islands = (int)kcamp_int("search.islands");
	int island = (int)kjson_int(karch.header, "island.current") % islands;
	long filled = kjson_int(karch.header, "island.filled");

	planner = (struct planner){ .median = karch_median(), .fresh = is_fresh() };
	assign_repairs();
	mark_tabu();
	for (int b = 1; b <= last; b++) {
		plans[b] = plan_one(b, island);
		karch_step(islands, &island, &filled);
	}
}
