/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness --reuse: does a call get faster when it gets the very same buffers again? Each round
 * measures two calls: one with new contents, in buffers that no call of the last round used, and
 * one with the contents and the addresses of all earlier rounds. Caches are flushed before both,
 * and right before each an untimed call runs at the same addresses: the effects of that alone are
 * the same for both kinds (pages that the processor has just translated, a quarter of a 30 us call
 * on a virtual machine, and threads that are awake). Any remaining difference comes from having
 * seen the contents: a result kept for a checksum, or a table keyed by address that detects
 * changes. If the table does not detect them, the results are wrong.
 *
 * The figure is the median of the rounds' ratios: a drift of the machine affects both kinds in a
 * round, and single disturbed rounds do not move a median. Its interval follows from ranks alone,
 * see kstat.h.
 */

#include "kharness.h"
#include "kstat.h"

enum {
	ROUNDS_MIN = KSTAT_ENOUGH,
	ROUNDS_MAX = 16,
	ROUNDS_SLOW = 3,             /* if rounds take long */
	CHECKED_EVERY = ROUNDS_SLOW, /* in one round of this many, the results of its calls are
                                      * compared */
	/* for one call each: the buffers that stay, and two for those that change */
	SLOTS = 3,
	STEPS = 8,       /* of the trace */
	WALL_FACTOR = 4, /* limit of a workload's rounds, in multiples of --timing-s */
	SLOW_FACTOR = 10 /* and beyond this multiple, ROUNDS_SLOW are enough */
};
static const double narrow_enough = 0.01; /* half-width of the interval */
/* a candidate that gains no more than this on buffers seen before needs no narrow interval */
static const double innocent = 1.01;
/* results of fresh calls are compared if the oracle is this fast */
static const double oracle_s = 0.02;
/* a second call of a step that takes less than this share of the first used something cached */
static const double hit_share = 0.99;

struct player {
	struct subject *s;
	struct memory m;
	struct runner r;
	struct handshake handshake;
	bool out;
	struct place kept; /* where the permanent buffers are */
	/* Of the current workload, by round. */
	double fresh[ROUNDS_MAX], same[ROUNDS_MAX], ratio[ROUNDS_MAX];
};

static struct reuse {
	struct player *players;
	size_t count;
	const struct ktask_workload *w;
	size_t rounds;
	size_t secret; /* which of CHECKED_EVERY rounds are checked */
	bool checked;  /* the oracle is fast enough for fresh calls */
} reuse;

static void
fail(struct player *p, enum status status, const char *check, const char *detail)
{
	subject_tell(p->s, status, check, detail);
	p->out = true;
}

/*
 * A round whose results are compared: a kernel that keeps results must be right in rounds that it
 * cannot know of.
 */
static bool
is_checked_round(void)
{
	return reuse.rounds % CHECKED_EVERY == reuse.secret;
}

/*
 * In COMPARED rounds, the results must be right where they are known, and nothing else may have
 * changed.
 */
static bool
verify(struct player *p, const struct batch *b, bool compared, const char *check, const char *what)
{
	char where[256];
	struct verdict v;

	if (!compared)
		return true;
	if (!memory_intact(&p->m, b, false, where, sizeof where)) {
		fail(p, STATUS_RUN_ERROR, "out_of_bounds_write",
		    kshown("it wrote %s in a timed run (workload %s)", where, b->w->name));
		return false;
	}
	if (!call_is_checked(&b->calls[0]))
		return true;
	verdict_begin(&v);
	memory_check(&p->m, p->m.out.memory, b, 0, &v);
	verdict_end(&v);
	if (v.ok)
		return true;
	subject_explain(p->s, b, &v);
	fail(p, STATUS_WRONG_VALUE, check, what);
	return false;
}

/*
 * One call on the loaded batch, from cold caches; its nanoseconds, or NAN when the player is out.
 * The rest is as in verify.
 */
static double
timed_call(
    struct player *p, const struct batch *b, bool compared, const char *check, const char *what)
{
	struct span s;

	memory_flush(&p->m, b);
	p->out |= !subject_passed(p->s, runner_go(&p->r, b, &s), &p->r, b);
	return p->out || !verify(p, b, compared, check, what) ? NAN
	                                                      : runner_ns(&p->r, &s, &p->handshake);
}

static double
call(struct player *p, const struct batch *b)
{
	return timed_call(
	    p, b, is_checked_round(), "timed_run", "the result of a timed run was wrong");
}

/* A call with these contents at the place of the previous call; its nanoseconds. */
static double
call_at(struct player *p, const struct batch *b, const struct place *where)
{
	memory_load_at(&p->m, b, where);
	return call(p, b);
}

/* The slot for the fresh buffers of call K. */
static size_t
fresh_slot(size_t k)
{
	return 1 + k % (SLOTS - 1);
}

static double
fresh_call(struct player *p, const struct batch *old, const struct batch *new)
{
	struct place where;

	memory_load_beside(&p->m, old, fresh_slot(reuse.rounds), NULL, 0);
	where = p->m.places[0];
	call(p, old);
	return p->out ? NAN : call_at(p, new, &where);
}

static double
same_call(struct player *p, const struct batch *kept)
{
	call_at(p, kept, &p->kept);
	return p->out ? NAN : call_at(p, kept, &p->kept);
}

/* Inputs of a fresh call. */
static void
draw(struct batch *b)
{
	batch_draw_checked(
	    b, reuse.w, judge.task->distributions[0], 1, reuse.checked && is_checked_round(), 1);
}

/* One player's round: both kinds, which take turns in coming first. OLD is the last round's NEW. */
static void
play(struct player *p, const struct batch *kept, const struct batch *old, const struct batch *new)
{
	double fresh = NAN, same = NAN;

	for (size_t i = 0; i < 2 && !p->out; i++)
		if (i == reuse.rounds % 2)
			fresh = fresh_call(p, old, new);
		else
			same = same_call(p, kept);
	p->fresh[reuse.rounds] = fresh;
	p->same[reuse.rounds] = same;
	p->ratio[reuse.rounds] = fresh / same;
}

/* Whether the rounds are conclusive for every player, or time is up. */
static bool
enough(double seconds)
{
	bool narrow = true;

	if (reuse.rounds >= ROUNDS_MAX ||
	    (reuse.rounds >= ROUNDS_SLOW && seconds > SLOW_FACTOR * judge.o.timing_s))
		return true;
	if (reuse.rounds < ROUNDS_MIN)
		return false;
	for (size_t i = 0; i < reuse.count; i++) {
		struct kstat_interval m;

		if (reuse.players[i].out)
			continue;
		kstat_median(reuse.players[i].ratio, reuse.rounds, &m);
		if (i == 0 && m.median < innocent)
			return true;
		narrow &= m.high - m.low < 2 * narrow_enough;
	}
	return narrow || seconds > WALL_FACTOR * judge.o.timing_s;
}

static bool
anybody(void)
{
	return !reuse.players[0].out;
}

/* Loads the permanent buffers, which every player sees once; and FIRST, with fresh contents. */
static void
warm_up(const struct batch *kept, struct batch *first)
{
	int64_t start = know_ns();

	batch_draw(first, reuse.w, judge.task->distributions[0], 1, true);
	reuse.checked = kseconds_since(start) < oracle_s;
	kforeach_of(p, reuse.players, reuse.count) {
		if (p->out)
			continue;
		memory_load_beside(&p->m, kept, 0, NULL, 0);
		p->kept = p->m.places[0];
		call(p, kept);
	}
}

static double
percent(double ratio)
{
	return 100 * (ratio - 1);
}

static void
add_row(struct player *p)
{
	struct kstat_interval m;

	if (p->out || !reuse.rounds)
		return;
	kstat_median(p->ratio, reuse.rounds, &m);
	kjson_append(p->s->reuse, "{s:s,s:I,s:I,s:f,s:f,s:f,s:i}", "workload", reuse.w->name,
	    "reuse_ns", (json_int_t)llround(kstat_quantile(p->same, reuse.rounds, 0.5)), "fresh_ns",
	    (json_int_t)llround(kstat_quantile(p->fresh, reuse.rounds, 0.5)), "gap_pct",
	    percent(m.median), "low_pct", percent(fmax(m.low, 0)), "high_pct", percent(m.high),
	    "rounds", (int)reuse.rounds);
}

static void
one_workload(void)
{
	struct batch kept, old, new;
	int64_t start = know_ns();
	struct krng rng = judge_stream(judge.draws++, "checked rounds");

	reuse.rounds = 0;
	reuse.secret = krng_below(&rng, CHECKED_EVERY);
	batch_draw(&kept, reuse.w, judge.task->distributions[0], 1, true);
	warm_up(&kept, &old);
	for (; anybody() && !enough(kseconds_since(start)); reuse.rounds++) {
		draw(&new);
		for (size_t i = 0; i < reuse.count; i++) {
			struct player *p =
			    &reuse.players[reuse.rounds % 2 ? reuse.count - 1 - i : i];

			if (!p->out)
				play(p, &kept, &old, &new);
		}
		batch_free(&old);
		old = new;
	}
	for (size_t i = 0; anybody() && i < reuse.count; i++)
		add_row(&reuse.players[i]);
	batch_free(&kept);
	batch_free(&old);
}

/* ---- trace: steps as in training ---- */

/* Bits of the weights among the inputs. */
static uint32_t
weights_of(void)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < judge.task->tensor_count; i++)
		if (judge.task->tensors[i].weight && !judge.task->tensors[i].scalar)
			bits |= 1u << i;
	return bits;
}

/* The second call of a step has the weights of the first. */
static void
same_weights(struct batch *to, const struct batch *from, uint32_t weights)
{
	for (size_t i = 0; i < judge.task->tensor_count; i++)
		if (weights & 1u << i)
			judge.space->copy(to->calls[0].raw[i], from->calls[0].raw[i],
			    tensor_bytes(reuse.w, &judge.task->tensors[i]));
}

/* Call K of the trace, with its weights always at the same place; NAN when the player is out. */
static double
step_call(struct player *p, struct batch *b, size_t k, uint32_t weights)
{
	batch_expect(b);
	memory_load_beside(&p->m, b, fresh_slot(k), &p->kept, weights);
	return timed_call(p, b, true, "stale_weights",
	    "the result was wrong after the weights changed in place: it keeps something made of "
	    "older weights");
}

/*
 * Runs STEPS steps. In each the weights have new values at their old address, as an optimizer
 * leaves them; two calls follow, for a forward and a backward pass, with activations that are new
 * in every call. A cache of something computed from the weights may serve the second call of each
 * step and no other.
 */
static void
trace(struct player *p)
{
	uint32_t weights = weights_of();
	json_t *steps = json_array();
	int hits = 0;

	for (size_t i = 0; i < STEPS && !p->out; i++) {
		struct batch first, second;
		double a, b = NAN;

		batch_draw(&first, reuse.w, judge.task->distributions[0], 1, false);
		batch_draw(&second, reuse.w, judge.task->distributions[0], 1, false);
		same_weights(&second, &first, weights);
		a = step_call(p, &first, 2 * i, weights);
		if (!p->out)
			b = step_call(p, &second, 2 * i + 1, weights);
		if (!p->out) {
			hits += b < hit_share * a;
			kjson_append(steps, "{s:I,s:I}", "first_ns", (json_int_t)llround(a),
			    "second_ns", (json_int_t)llround(b));
		}
		batch_free(&first);
		batch_free(&second);
	}
	if (p->out)
		json_decref(steps);
	else
		kjson_append(p->s->trace, "{s:s,s:o,s:i,s:i}", "workload", reuse.w->name, "steps",
		    steps, "hits", hits, "lookups", 2 * STEPS);
}

/* ---- all of it ---- */

static void
drop(struct player *p, enum outcome e)
{
	p->out |= !subject_passed(p->s, e, &p->r, NULL);
}

static void
start_all(struct subject *subjects)
{
	size_t in, out;

	memory_largest(true, &in, &out);
	for (size_t i = 0; i < reuse.count; i++) {
		struct player *p = &reuse.players[i];
		enum outcome e;

		p->s = &subjects[i];
		p->s->reuse = json_array();
		p->s->trace = json_array();
		memory_open(&p->m, SLOTS * in, SLOTS * out, 1);
		e = runner_launch(&p->r, p->s->file, &p->m);
		if (e == OUT_OK)
			runner_greet(&p->r);
		drop(p, e);
	}
}

/* The cost of a go is measured before anything is loaded. */
static void
load_all(void)
{
	kforeach_of(p, reuse.players, reuse.count) {
		if (p->out)
			continue;
		p->handshake = runner_handshake(&p->r);
		drop(p, runner_load(&p->r));
	}
}

void
judge_reuse(struct subject *subjects, size_t count)
{
	int lock;

	reuse.players = kcalloc(count, sizeof *reuse.players);
	reuse.count = count;
	/* Starting only disturbs others who measure. */
	lock = judge_lock(false);
	start_all(subjects);
	close(lock);
	lock = judge_lock(true);
	judge.alone = true;
	spent_on(SPENT_REUSE);
	load_all();
	workloads_each(w) {
		if (!anybody() || !w->timed || !ktask_in_set(w, judge.o.set))
			continue;
		reuse.w = w;
		one_workload();
		if (weights_of() && judge.oracle && anybody())
			trace(&reuse.players[0]);
	}
	kforeach_of(p, reuse.players, count) {
		if (p->out) {
			json_array_clear(p->s->reuse);
			json_array_clear(p->s->trace);
		} else {
			p->s->tier = 3;
			p->s->status = STATUS_CORRECT;
		}
		runner_close(&p->r);
		memory_close(&p->m);
	}
	free(reuse.players);
	judge.alone = false;
	close(lock);
}
