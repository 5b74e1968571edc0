/* SPDX-License-Identifier: Apache-2.0 */
/* ksample: parent selection, strategies and target cells. See ksample.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "ksample.h"
#include "kutil.h"
#include "status.h"

/* A plan that two repairs did not save is discarded. */
enum { MAX_BRANCHES = 99, REPAIR_TRIES = 2 };

/* A trial while it is being planned. */
struct planner {
	const struct search *s;
	double median;
	bool tabu[KARCH_CELLS];  /* targets of recent trials */
	bool taken[KARCH_CELLS]; /* targets of lower branches of this trial */
	const json_t *repairs[MAX_BRANCHES + 1];
	bool fresh;      /* nothing but the reference is correct */
	struct krng rng; /* of the branch being planned */
};

/* Parents to choose from, best first. */
struct pool {
	const struct karch_row *row[KARCH_CELLS];
	size_t n;
};

static bool
chance(struct planner *p, double share)
{
	return krng_double(&p->rng) < share;
}

static bool
is_free(const struct planner *p, int cell)
{
	return !p->tabu[cell] && !p->taken[cell];
}

/*
 * An under-explored cell: empty ones first, then those whose elite scores below the median. A
 * target of recent trials comes again only when nothing else is left, and one of this trial's other
 * branches only when all cells are.
 */
static int
draw_frontier(struct planner *p)
{
	static const struct {
		bool poor, any, tabu, taken;
	} passes[] = {
		{ 0 },
		{ .poor = true },
		{ .tabu = true },
		{ .poor = true, .tabu = true },
		{ .any = true, .tabu = true },
		{ .any = true, .tabu = true, .taken = true },
	};
	int list[KARCH_CELLS];

	for (size_t i = 0; i < LEN(passes); i++) {
		size_t n = 0;

		for (int c = 0; c < KARCH_CELLS; c++) {
			const struct karch_row *e = p->s->archive.elite[c];
			bool wanted =
			    passes[i].any || (passes[i].poor ? e && e->score < p->median : !e);

			if (wanted && (passes[i].taken || !p->taken[c]) &&
			    (passes[i].tabu || !p->tabu[c]))
				list[n++] = c;
		}
		if (n)
			return list[krng_below(&p->rng, n)];
	}
	return 0;
}

/*
 * A first target: something asked for in every dimension, so that the first kernels are plans and
 * not trifles.
 */
static int
draw_initial(struct planner *p)
{
	int list[KARCH_CELLS];
	size_t n = 0;

	for (int c = 0; c < KARCH_CELLS; c++) {
		bool whole = is_free(p, c);

		for (int d = 0; d < KARCH_DIMS; d++)
			whole &= karch_level(c, d) > 0;
		if (whole)
			list[n++] = c;
	}
	return n ? list[krng_below(&p->rng, n)] : draw_frontier(p);
}

/* One step in one dimension, up twice as often as down; -1 when no free cell is a step away. */
static int
mutate(struct planner *p, int from)
{
	double weight[2 * KARCH_DIMS];
	int cell[2 * KARCH_DIMS];
	size_t n = 0;

	for (int i = 0; i < 2 * KARCH_DIMS; i++) {
		int dim = i / 2, up = i % 2, level = karch_level(from, dim) + (up ? 1 : -1);

		if (level < 0 || level > KARCH_LEVEL || !is_free(p, karch_with(from, dim, level)))
			continue;
		cell[n] = karch_with(from, dim, level);
		weight[n++] = up ? 2 : 1;
	}
	return n ? cell[krng_weighted(&p->rng, weight, n)] : -1;
}

/* More explicit SIMD: the next level that is free. */
static int
upgrade_esimd(const struct planner *p, int from)
{
	for (int level = karch_level(from, 3) + 1; level <= KARCH_LEVEL; level++)
		if (is_free(p, karch_with(from, 3, level)))
			return karch_with(from, 3, level);
	return -1;
}

static int
raised(int cell, int dim)
{
	int level = karch_level(cell, dim);

	return level < KARCH_LEVEL ? karch_with(cell, dim, level + 1) : cell;
}

/* The first three dimensions at once; the fourth has a strategy of its own. */
static int
intensify(int from)
{
	int to = from;

	for (int d = 0; d < 3; d++)
		to = raised(to, d);
	return to;
}

static int
specialize(int from)
{
	int weakest = 0;

	for (int d = 1; d < 3; d++)
		if (karch_level(from, d) < karch_level(from, weakest))
			weakest = d;
	return raised(from, weakest);
}

static int
balance(int from)
{
	int top = 0, to = from;

	for (int d = 0; d < 3; d++)
		if (karch_level(from, d) > top)
			top = karch_level(from, d);
	for (int d = 0; d < 3; d++)
		if (karch_level(from, d) < top)
			to = raised(to, d);
	return to;
}

/*
 * Target of a strategy with one answer; -1 when it changes nothing, is taken, or the name is
 * another's.
 */
static int
fixed_target(const struct planner *p, const char *strategy, int from)
{
	static const struct {
		const char *name;
		int (*rule)(int from);
	} rules[] = { { "intensify", intensify }, { "specialize", specialize },
		{ "balance", balance } };

	for (size_t i = 0; i < LEN(rules); i++)
		if (!strcmp(rules[i].name, strategy)) {
			int to = rules[i].rule(from);

			return to != from && is_free(p, to) ? to : -1;
		}
	return -1;
}

/*
 * Strategy and target for a correct parent. What cannot be had falls back to mutate, and that to a
 * far cell.
 */
static void
choose_target(struct planner *p, struct plan *plan)
{
	const struct kcamp *camp = p->s->camp;
	int from = plan->parent->cell;
	bool far = chance(p, kcamp_num(camp, "search.diversify")),
	     simd = chance(p, kcamp_num(camp, "search.esimd"));

	plan->strategy = kcamp_str(camp, "search.strategy");
	if (far)
		plan->strategy = "diversify";
	else if (simd && (plan->target = upgrade_esimd(p, from)) >= 0)
		plan->strategy = "esimd_upgrade";
	if (plan->target < 0)
		plan->target = fixed_target(p, plan->strategy, from);
	if (plan->target < 0 && strcmp(plan->strategy, "diversify") &&
	    (plan->target = mutate(p, from)) >= 0)
		plan->strategy = "mutate";
	if (plan->target < 0) {
		plan->strategy = "diversify";
		plan->target = draw_frontier(p);
	}
}

static void
fill_pool(struct pool *pool, const struct karch *a, bool correct, uint64_t islands)
{
	const struct karch_row *list[KARCH_CELLS];
	size_t n = karch_ranked(a, list);

	pool->n = 0;
	for (size_t i = 0; i < n; i++)
		if ((!correct || list[i]->status == STATUS_CORRECT) && list[i]->islands & islands)
			pool->row[pool->n++] = list[i];
}

/*
 * The island's correct elites; else everyone's; else, when nothing is correct, all. Broken ones are
 * for repairs.
 */
static void
island_pool(struct pool *pool, const struct karch *a, int island)
{
	fill_pool(pool, a, true, UINT64_C(1) << island);
	if (!pool->n)
		fill_pool(pool, a, true, UINT64_MAX);
	if (!pool->n)
		fill_pool(pool, a, false, UINT64_MAX);
}

/* Softmax over the log of the scores: over scores as they are, the best one gets nearly all. */
static void
base_weights(const struct kcamp *camp, const struct pool *pool, double *w)
{
	double temperature = kcamp_num(camp, "search.temperature"), top = -INFINITY, sum = 0;

	for (size_t i = 0; i < pool->n; i++) {
		w[i] = log(fmax(pool->row[i]->score, 1e-9)) / temperature;
		top = fmax(top, w[i]);
	}
	for (size_t i = 0; i < pool->n; i++)
		sum += w[i] = exp(w[i] - top);
	for (size_t i = 0; i < pool->n; i++)
		w[i] /= sum;
}

/*
 * p = (1 - a) base + a weight, with weights normalised over the candidates' cells; 0.5 for a cell
 * without history.
 */
static void
add_gradient(const struct search *s, const struct pool *pool, double *w)
{
	/* Enough to lift cells that pay, and scores still decide most. */
	static const double share = 0.3;
	double sum = 0;

	if (!s->has_slopes)
		return;
	for (size_t i = 0; i < pool->n; i++)
		sum += s->slopes[pool->row[i]->cell].weight;
	for (size_t i = 0; i < pool->n && sum > 0; i++)
		w[i] = (1 - share) * w[i] + share * s->slopes[pool->row[i]->cell].weight / sum;
}

static const struct karch_row *
exploit(struct planner *p, const struct pool *pool)
{
	double w[KARCH_CELLS];

	base_weights(p->s->camp, pool, w);
	add_gradient(p->s, pool, w);
	return pool->row[krng_weighted(&p->rng, w, pool->n)];
}

/* The pool is in order of score, so the first of the nearest is the best of them. */
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
plan_parent(struct planner *p, struct plan *plan)
{
	static const char *const picks[] = { "exploit", "explore", "random" };
	double shares[] = { kcamp_num(p->s->camp, "search.exploit"),
		kcamp_num(p->s->camp, "search.explore"), 0 };
	struct pool pool;

	shares[2] = fmax(0, 1 - shares[0] - shares[1]);
	island_pool(&pool, &p->s->archive, plan->island);
	plan->pick = picks[krng_weighted(&p->rng, shares, LEN(picks))];
	if (!strcmp(plan->pick, "explore")) {
		plan->strategy = "diversify";
		plan->target = draw_frontier(p);
		plan->parent = nearest(&pool, plan->target);
	} else if (!strcmp(plan->pick, "exploit")) {
		plan->parent = exploit(p, &pool);
	} else {
		plan->parent = pool.row[krng_below(&p->rng, pool.n)];
	}
	if (plan->parent->status != STATUS_CORRECT) {
		plan->strategy = "repair";
		plan->target = -1;
	} else if (plan->target < 0) {
		choose_target(p, plan);
	}
}

/* The reference's row, while it holds its cell; it may also be gone, or the archive empty. */
static const struct karch_row *
reference_row(const struct karch *a)
{
	for (int c = 0; c < KARCH_CELLS; c++)
		if (a->elite[c] && !strcmp(a->elite[c]->id, KARCH_REFERENCE))
			return a->elite[c];
	return NULL;
}

static bool
is_fresh(const struct karch *a)
{
	bool empty = true;

	for (int c = 0; c < KARCH_CELLS; c++) {
		empty &= !a->elite[c];
		if (a->elite[c] && a->elite[c]->status == STATUS_CORRECT &&
		    strcmp(a->elite[c]->id, KARCH_REFERENCE))
			return false;
	}
	return empty || reference_row(a);
}

static bool
more_promising(const json_t *a, const json_t *b)
{
	return kjson_num_or(a, "score", 0) > kjson_num_or(b, "score", 0);
}

/*
 * Which branches repair: each broken candidate of the last trial with chance search.repair, unless
 * its plan has had its tries; the nearest to correct first, for half of the branches at most (and
 * one where there is but one).
 */
static void
assign_repairs(struct planner *p)
{
	const json_t *broken = kjson_path(p->s->archive.header, "broken"), *one;
	size_t n = 0, most = (size_t)p->s->branches / 2, i;
	double share = kcamp_num(p->s->camp, "search.repair");

	if (!most)
		most = 1;
	krng_init(&p->rng, p->s->seed, p->s->trial, 0, "repair");
	json_array_foreach((json_t *)broken, i, one) {
		size_t at = n;
		bool drawn = chance(p, share);

		if (!drawn || kjson_int_or(one, "tries", 0) >= REPAIR_TRIES)
			continue;
		for (; at && more_promising(one, p->repairs[at]); at--)
			if (at < MAX_BRANCHES)
				p->repairs[at + 1] = p->repairs[at];
		if (at < MAX_BRANCHES)
			p->repairs[at + 1] = one;
		n += n < MAX_BRANCHES;
	}
	for (size_t b = most + 1; b <= MAX_BRANCHES; b++)
		p->repairs[b] = NULL;
}

static void
mark_tabu(struct planner *p)
{
	const json_t *tabu = kjson_path(p->s->archive.header, "tabu");
	const char *cell;
	json_t *last;

	json_object_foreach((json_t *)tabu, cell, last) {
		int c = karch_cell(cell);

		if (c >= 0 && p->s->trial - json_integer_value(last) <= KARCH_TABU_TRIALS)
			p->tabu[c] = true;
	}
}

static struct plan
plan_one(struct planner *p, int branch, int island)
{
	struct plan plan = {
		.island = island, .target = -1, .pick = "initial", .strategy = "initial"
	};

	krng_init(&p->rng, p->s->seed, p->s->trial, branch, "sample");
	if (p->repairs[branch]) {
		plan.pick = plan.strategy = "repair";
		plan.broken = p->repairs[branch];
	} else if (p->fresh) {
		plan.parent = reference_row(&p->s->archive);
		plan.target = draw_initial(p);
	} else {
		plan_parent(p, &plan);
	}
	if (plan.target >= 0)
		p->taken[plan.target] = true;
	return plan;
}

struct plan
plan_branch(const struct search *s, int branch)
{
	struct planner p = { .s = s, .median = karch_median(&s->archive) };
	int islands = (int)kcamp_int(s->camp, "search.islands");
	int island = (int)kjson_int_or(s->archive.header, "island.current", 0) % islands;
	long filled = (long)kjson_int_or(s->archive.header, "island.filled", 0);
	struct plan plan = { 0 };

	p.fresh = is_fresh(&s->archive);
	assign_repairs(&p);
	mark_tabu(&p);
	for (int b = 1; b <= branch; b++) {
		plan = plan_one(&p, b, island);
		karch_step(islands, &island, &filled);
	}
	return plan;
}
