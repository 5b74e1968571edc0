/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksample: the target of a candidate: stay and refine, take a step, a step to explicit SIMD, or a
 * leap. The knobs say how often; what has paid off shifts that. See ksample.h.
 */

#include "ksample.h"

enum { REFINE, STEP, SIMD, LEAP, MOVES };

/* Number of attempts that the knobs, and the first guesses, are worth. */
static const double knob_tries = 8, guess_tries = 3;
/* The gain of an attempt before anything is known, as a logarithm of speed. */
static const double first_gain = 0.15;
/* A move keeps this part of its knob, even if it has not paid off: that may change. */
static const double floor_share = 0.2;

static bool
is_free(int cell)
{
	return !planner.tabu[cell] && !planner.taken[cell];
}

/*
 * An under-explored cell: empty ones first, then those whose elite scores below the median. Targets
 * of recent trials are repeated only when nothing else is left, and those of this trial's other
 * branches only when all cells are taken.
 */
int
draw_frontier(void)
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

	kforeach(passe, passes) {
		size_t n = 0;

		for (int c = 0; c < KARCH_CELLS; c++) {
			const struct karch_row *e = karch.elite[c];
			bool wanted =
			    passe->any || (passe->poor ? e && e->score < planner.median : !e);

			if (wanted && (passe->taken || !planner.taken[c]) &&
			    (passe->tabu || !planner.tabu[c]))
				list[n++] = c;
		}
		if (n)
			return list[krng_below(&planner.rng, n)];
	}
	return 0;
}

/* A first target: a level above 0 in every dimension, so that the first kernels are ambitious. */
int
draw_initial(void)
{
	int list[KARCH_CELLS];
	size_t n = 0;

	for (int c = 0; c < KARCH_CELLS; c++) {
		bool whole = is_free(c);

		for (int d = 0; d < KARCH_DIMS; d++)
			whole &= karch_level(c, d) > 0;
		if (whole)
			list[n++] = c;
	}
	return n ? list[krng_below(&planner.rng, n)] : draw_frontier();
}

static int
raised(int cell, int dim)
{
	int level = karch_level(cell, dim);

	return level < KARCH_LEVEL ? karch_with(cell, dim, level + 1) : cell;
}

/* The first three dimensions at once; the fourth has its own strategy. */
static int
intensify(int from)
{
	for (int d = 0; d < 3; d++)
		from = raised(from, d);
	return from;
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

/* The target of a strategy that has only one; -1: it has several. */
static int
fixed_target(const char *strategy, int from)
{
	static const struct {
		const char *name;
		int (*rule)(int from);
	} rules[] = { { "intensify", intensify }, { "specialize", specialize },
		{ "balance", balance } };

	kforeach(each, rules)
		if (!strcmp(each->name, strategy))
			return each->rule(from);
	return -1;
}

/*
 * Is TO a target of the move? Explicit SIMD is introduced once, in a kernel that already uses other
 * techniques.
 */
static bool
is_target(int move, const char *strategy, int from, int to)
{
	int distance = karch_distance(from, to), fixed = fixed_target(strategy, from);

	if (move == STEP)
		return fixed < 0 ? distance == 1 : distance && to == fixed;
	if (move == SIMD)
		return distance && from && !karch_level(from, 3) &&
		    to == karch_with(from, 3, karch_level(to, 3));
	return distance > 1;
}

/* The mean gain over normally distributed changes, counting losses as 0. */
static double
expected_gain(double mean, double sd)
{
	double z = mean / sd;

	return mean * 0.5 * erfc(-z / M_SQRT2) + sd * exp(-z * z / 2) / sqrt(2 * M_PI);
}

/*
 * How often steps of this length lead to a correct program; less often if this particular step has
 * failed to build or run.
 */
static double
success_rate(const struct field *f, int from, int to)
{
	int distance = karch_distance(from, to),
	    row = distance < KARCH_LENGTHS ? distance : KARCH_LENGTHS - 1;
	const struct karch_length *l = &f->lengths[row];
	double rate = (l->correct + 2 * (0.85 - 0.1 * row)) / (l->tries + 2),
	       built = f->tried[from][to] - f->failed[from][to];

	return rate * pow(0.9, distance - row) * (built + 2) / (f->tried[from][to] + 2);
}

/* The value of a step: its gain over the best, times the probability of a correct program. */
static double
promise(int from, int to, double behind)
{
	const struct field *f = search.field;
	double mean, sd;

	field_step(f, from, to, &mean, &sd);
	return success_rate(f, from, to) *
	    expected_gain(mean - behind, sqrt(sd * sd + 0.1 * f->noise));
}

struct move {
	const char *strategy;
	double share;
	double worth; /* of its best target; 0: there is none */
	double weight[KARCH_CELLS];
};

/*
 * The weights of all cells as targets of a move: their expected value; if that is unknown, upward
 * steps count twice.
 */
static void
weigh_targets(int which, int from, double behind, struct move *move)
{
	bool known = search.has_field;

	move->worth = 0;
	for (int to = 0; to < KARCH_CELLS; to++) {
		move->weight[to] = !is_target(which, move->strategy, from, to) || !is_free(to) ? 0
		    : known ? promise(from, to, behind)
		            : 1 + (karch_distance(to, 0) > karch_distance(from, 0));
		move->worth = fmax(move->worth, move->weight[to]);
	}
	/* The best of several similar targets gets most of the weight, not all. */
	for (int to = 0; to < KARCH_CELLS && known && move->worth > 0; to++)
		move->weight[to] = pow(move->weight[to] / move->worth, 4);
}

static void
weigh_moves(int from, double behind, struct move *moves)
{
	moves[REFINE] = (struct move){ .strategy = "refine", .worth = 1 };
	moves[STEP].strategy = kcamp_str("search.strategy");
	moves[SIMD].strategy = "esimd_upgrade";
	moves[LEAP].strategy = "diversify";
	for (int i = STEP; i < MOVES; i++)
		weigh_targets(i, from, behind, &moves[i]);
	if (!(moves[STEP].worth > 0)) {
		moves[STEP].strategy = "mutate";
		weigh_targets(STEP, from, behind, &moves[STEP]);
	}
}

/* What moves of this length have gained so far. */
static double
length_gain(const struct field *f, int move)
{
	size_t first = move == REFINE ? 0
	    : move == LEAP            ? 2
	                              : 1,
	       last = move == LEAP ? KARCH_LENGTHS - 1 : first;
	double gain = guess_tries * first_gain, tries = guess_tries;

	for (size_t i = first; i <= last; i++) {
		gain += f->lengths[i].gain;
		tries += f->lengths[i].tries;
	}
	return gain / tries;
}

/*
 * The shares that the knobs give to the moves; a move without a target leaves its share to steps.
 */
static void
share_by_knobs(struct move *moves)
{
	double rest = 1;

	moves[LEAP].share = kcamp_num("search.explore");
	moves[REFINE].share = kcamp_num("search.refine");
	moves[SIMD].share = moves[SIMD].worth > 0 ? kcamp_num("search.esimd") : 0;
	for (int i = 0; i < MOVES; i++)
		rest -= i == STEP ? 0 : moves[i].share;
	moves[STEP].share = fmax(0, rest);
}

/*
 * As attempts are recorded, shares shift from the knobs to the value of each move: the mean of what
 * its best target promises and of what moves of its length have gained.
 */
static void
share_by_worth(const struct field *f, struct move *moves)
{
	double sum = 0, tries = 0, knobs = 0;

	for (int i = 0; i < MOVES; i++) {
		double gained = length_gain(f, i);

		moves[i].worth = !(moves[i].share > 0 && moves[i].worth > 0) ? 0
		    : i == REFINE                                            ? gained
		                  : sqrt(moves[i].worth * gained);
		sum += moves[i].worth;
		knobs += moves[i].share;
	}
	kforeach_of(one, f->lengths, KARCH_LENGTHS)
		tries += one->tries;
	for (int i = 0; i < MOVES && sum > 0; i++) {
		double adapted =
		    floor_share * moves[i].share / knobs + (1 - floor_share) * moves[i].worth / sum;

		moves[i].share =
		    (knob_tries * moves[i].share / knobs + tries * adapted) / (knob_tries + tries);
	}
}

void
choose_target(struct plan *plan, double behind)
{
	static struct move moves[MOVES];
	double share[MOVES];
	int which, from = plan->parent->cell;
	const struct move *move;

	weigh_moves(from, behind, moves);
	share_by_knobs(moves);
	if (search.has_field)
		share_by_worth(search.field, moves);
	for (int i = 0; i < MOVES; i++)
		share[i] = moves[i].share;
	which = (int)krng_weighted(&planner.rng, share, MOVES);
	move = &moves[which];
	plan->strategy = move->strategy;
	if (which == LEAP)
		plan->pick = "explore";
	if (which == REFINE)
		plan->target = from;
	else if (move->worth > 0 &&
	    (strcmp(move->strategy, "diversify") || (which == LEAP && search.has_field)))
		plan->target = (int)krng_weighted(&planner.rng, move->weight, KARCH_CELLS);
	else
		plan->strategy = "diversify";
}
