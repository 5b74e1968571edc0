/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: tier T2: every workload of the set, on freshly drawn inputs of several distributions
 * and seeds; each case is one call.
 */

#include "kharness.h"

enum {
	LOG_CASES = 6,    /* wrong cases explained to the model */
	SURELY_WRONG = 3, /* after this many wrong cases, nothing is excused any more */
	TOTAL_LIMIT = 10, /* all calls together may take this many times the limit of one */
	DRAWN_SMALL = 4,  /* cases with other sizes, for a small workload */
	/* cases in which one size alone is varied, for each size; a slow kernel gets one */
	DRAWN_ALONE = 2
};
/*
 * slower workloads get only two distributions, unless the oracle, including the drawing, takes less
 * than slow_oracle_ns: then the kernel is slow, not the workload large
 */
static const int64_t slow_ns = 1000000000, slow_oracle_ns = 20000000;
/* sizes are also varied one by one if the oracle takes less than this */
static const int64_t quick_ns = 100000000;

static struct run {
	struct subject *s;
	struct memory *m;
	struct runner *r;
	size_t in_bytes, out_bytes;              /* sizes of arenas that hold any workload */
	int64_t total_ns, last_ns;               /* of its calls */
	int64_t last_oracle_ns, least_oracle_ns; /* LEAST: for a case of the workload */
	size_t explained, unwritten;
	/* check the whole output arena after the next call, not a part */
	bool thorough;
	bool broken; /* no more cases: it crashed, hung or cheated */
} run;

static void
add_case(const struct batch *b, const struct verdict *v, bool compared)
{
	json_t *c = json_pack("{s:s,s:s,s:o,s:b,s:s*}", "workload", b->w->name, "distribution",
	    kdist_name(b->dist), "seed", json_sprintf("%llu", (unsigned long long)b->seed), "ok",
	    (int)v->ok, "drawn", *b->w->drawn ? b->w->drawn : NULL);

	/* JSON has no NaN and no infinity: such an error is left out. */
	if (compared)
		kjson_extend(c, "{s:I,s:I,s:o*,s:o*}", "elements", (json_int_t)v->elements,
		    "mismatches", (json_int_t)v->mismatches, "max_abs_err", json_real(v->max_abs),
		    "max_err_share", json_real(v->max_share));
	if (v->mismatches)
		kjson_extend(c, "{s:o*,s:s*,s:I}", "tolerance", json_real(v->tolerance),
		    "first_tensor", v->tensor, "worst_index", (json_int_t)v->worst_at);
	json_array_append_new(run.s->cases, c);
	run.s->total++;
	run.s->passed += v->ok;
}

/* Whether it wrote only to its outputs. */
static bool
kept_to_outputs(const struct batch *b)
{
	char where[256];
	bool kept = memory_intact(run.m, b, run.thorough, where, sizeof where);

	run.thorough = false;
	if (kept)
		return true;
	subject_tell(run.s, STATUS_RUN_ERROR, "out_of_bounds_write",
	    kshown("it wrote %s (workload %s)", where, subject_workload(b->w)));
	return false;
}

/* Call once on a batch; false when further calls would show nothing new. */
static bool
call(const struct batch *b)
{
	struct span s;

	memory_load(run.m, b);
	if (!subject_passed(run.s, runner_go(run.r, b, &s), run.r, b))
		return false;
	run.last_ns = s.judge_ns;
	run.total_ns += s.judge_ns;
	if (!kept_to_outputs(b))
		return false;
	if ((double)run.total_ns > TOTAL_LIMIT * judge.o.run_timeout_s * 1e9) {
		subject_tell(run.s, STATUS_RUN_ERROR, "timeout",
		    kshown("all calls together took more than %g s",
		        TOTAL_LIMIT * judge.o.run_timeout_s));
		return false;
	}
	return true;
}

/* The same inputs again, with other bytes in the outputs: the results must be the same bits. */
static bool
repeat(const struct batch *b, struct verdict *v)
{
	const struct ktask *t = judge.task;
	void *first[KTASK_TENSORS] = { 0 };
	bool ran;

	for (size_t i = 0; i < t->tensor_count; i++)
		if (t->tensors[i].output) {
			size_t bytes = tensor_bytes(b->w, &t->tensors[i]);

			first[i] = judge.space->alloc(bytes);
			judge.space->copy(
			    first[i], run.m->out.memory + run.m->places[0].tensor[i], bytes);
		}
	ran = call(b);
	for (size_t i = 0; i < t->tensor_count; i++) {
		if (ran && first[i] &&
		    judge.space->differs(
		        &(struct pair){ first[i], run.m->out.memory + run.m->places[0].tensor[i],
		            tensor_bytes(b->w, &t->tensors[i]) },
		        1)) {
			v->ok = false;
			kbuf_printf(&run.s->log,
			    "workload %s: two calls with the same "
			    "inputs gave different bits in %s\n",
			    subject_workload(b->w), t->tensors[i].name);
		}
		judge.space->release(first[i]);
	}
	return ran;
}

static void
one_case(const struct ktask_workload *w, enum kdist dist, bool twice)
{
	struct batch b;
	struct verdict v;
	int64_t start = know_ns();

	batch_draw(&b, w, dist, 1, true);
	run.last_oracle_ns = know_ns() - start;
	if (run.last_oracle_ns < run.least_oracle_ns)
		run.least_oracle_ns = run.last_oracle_ns;
	verdict_begin(&v);
	v.excuses = run.explained < SURELY_WRONG;
	run.broken = !call(&b);
	if (!run.broken) {
		if (judge.oracle)
			memory_check(run.m, run.m->out.memory, &b, 0, &v);
		verdict_end(&v);
		run.unwritten += v.unwritten;
		if (!v.ok && run.explained++ < LOG_CASES)
			subject_explain(run.s, &b, &v);
		if (twice && v.ok)
			run.broken = !repeat(&b, &v);
	} else {
		v.ok = false;
	}
	add_case(&b, &v, !run.broken);
	batch_free(&b);
}

/* Whether cases are left out to save time. If only the kernel is slow, it gets them all. */
static bool
is_slow(void)
{
	return run.last_ns >= slow_ns && run.last_oracle_ns >= slow_oracle_ns;
}

/* One of the distributions from number FIRST on, chosen unpredictably. */
static enum kdist
any_distribution(size_t first)
{
	struct krng rng = judge_stream(judge.draws, "distribution");

	return judge.task
	    ->distributions[first + krng_below(&rng, judge.task->distribution_count - first)];
}

/*
 * Scalars that vary have other values for all distributions but the first, which timed calls have,
 * and zeros and ones, whose results are exact with the listed values. With all sizes drawn, too, a
 * kernel would be right that takes the listed value for every listed size.
 */
static void
case_of(const struct ktask_workload *w, size_t d, bool twice)
{
	enum kdist dist = judge.task->distributions[d];
	struct ktask_workload drawn;

	if (!d || dist == KDIST_ZERO_ONE) {
		one_case(w, dist, twice);
		return;
	}
	vary_scalars(w, &drawn);
	one_case(&drawn, dist, twice);
	vary_free(&drawn);
}

/* The cases of the workload with its sizes. */
static void
listed_cases(const struct ktask_workload *w, int seeds)
{
	const struct ktask *t = judge.task;

	if (recorded_any(w))
		one_case(w, KDIST_RECORDED, t->deterministic);
	for (int s = 0; s < seeds && !run.broken; s++)
		for (size_t d = 0; d < t->distribution_count && !run.broken; d++) {
			case_of(w, d, t->deterministic && s == 0 && d == 0);
			/* Twice: it varies most, and vectors have two forms. */
			if (t->distributions[d] == KDIST_SPECIAL && !run.broken)
				one_case(w, KDIST_SPECIAL, false);
			if (d > 0 || s > 0 || !is_slow() || t->distribution_count < 3)
				continue;
			/* Too slow for all distributions. */
			if (!run.broken)
				one_case(w, any_distribution(1), false);
			return;
		}
}

/*
 * Numbers that are all negative, and large if the task has large ones. Kernels go wrong there that
 * begin a maximum with zero, or compare the bits of numbers as if one were positive. Returns false
 * if the task has no such numbers.
 */
static bool
case_below(const struct ktask_workload *w)
{
	struct ktask_workload below = *w; /* with the values of W */
	size_t said = strlen(w->drawn);
	enum kdist d;

	if (!batch_may_be_below(&d))
		return false;
	below.below = true;
	snprintf(
	    below.drawn + said, sizeof below.drawn - said, "%sinputs below zero", said ? ", " : "");
	one_case(&below, d, false);
	return true;
}

/*
 * A case with sizes and scalars that the task does not list, or with only one such size: see
 * vary_draw. If all sizes were drawn together, a kernel that infers one listed size from another
 * would hardly ever be found. BELOW: with numbers below zero. Returns false if there is no such
 * case.
 */
static bool
drawn_case(const struct ktask_workload *w, size_t only, bool odd, bool below)
{
	struct ktask_workload drawn;
	struct krng rng = judge_stream(judge.draws, "sizes");

	if (!vary_draw(w, only, odd, &rng, run.in_bytes, run.out_bytes, &drawn))
		return false;
	if (!below || !case_below(&drawn))
		one_case(&drawn, any_distribution(0), false);
	vary_free(&drawn);
	return true;
}

/*
 * How many cases vary one size alone. They are limited by the oracle's time, not the kernel's:
 * otherwise a slow kernel would be checked less.
 */
static int
cases_alone(const struct ktask_workload *w)
{
	if (!w->timed || run.least_oracle_ns >= quick_ns)
		return 0;
	return run.last_ns < quick_ns ? DRAWN_ALONE : 1;
}

/*
 * The first of the cases that vary one size alone makes it odd, which tests the remainders of
 * loops. To save time, the first of a large workload also has numbers below zero.
 */
static void
drawn_cases(const struct ktask_workload *w, bool small, long seeds)
{
	size_t axes = judge.task->axis_count;

	for (long s = 0; s < seeds && !run.broken; s++)
		if (!drawn_case(w, axes, false, !small && s == 0) && !small)
			case_below(w);
	for (size_t i = 0; i < axes; i++)
		for (int n = 0; n < cases_alone(w) && !run.broken; n++)
			drawn_case(w, i, n == 0, false);
}

static void
one_workload(const struct ktask_workload *w)
{
	bool small = workload_is_small(w);
	long seeds = small ? judge.o.seeds : 1;

	run.thorough = true;
	run.least_oracle_ns = INT64_MAX;
	listed_cases(w, seeds);
	if (!run.broken && !is_slow() && compare_is_sharp(w))
		one_case(w, KDIST_SPARSE, false);
	if (!run.broken && !is_slow() && batch_may_mix())
		one_case(w, KDIST_MIXED, false);
	if (!run.broken && small)
		case_below(w);
	drawn_cases(w, small, small && seeds < DRAWN_SMALL && !is_slow() ? DRAWN_SMALL : seeds);
}

/* Checks what no earlier check has covered and no call has used since. */
static void
last_look(const struct ktask_workload *w)
{
	struct batch none = { .w = w };

	run.thorough = true;
	run.m->count = 0;
	if (!run.broken)
		run.broken = !kept_to_outputs(&none);
}

static void
decide(void)
{
	struct subject *s = run.s;

	if (s->status)
		return;
	if (s->passed == s->total)
		s->status = STATUS_CORRECT;
	else
		subject_fail(s, s->passed ? STATUS_PARTIAL : STATUS_WRONG_VALUE,
		    run.unwritten ? "not_fully_written" : "wrong_result",
		    kshown("wrong in %zu of %zu cases%s", s->total - s->passed, s->total,
		        run.unwritten ? "; outputs were not fully written" : ""));
}

void
judge_correctness(struct subject *s, struct memory *m, struct runner *r)
{
	const struct ktask_workload *last = NULL;
	auto_spent(SPENT_CORRECTNESS);

	run = (struct run){ .s = s, .m = m, .r = r };
	memory_largest(false, &run.in_bytes, &run.out_bytes);
	workloads_each(w)
		if (!run.broken && ktask_in_set(w, judge.o.set))
			one_workload(last = w);
	if (last)
		last_look(last);
	decide();
	if (run.explained > LOG_CASES)
		kbuf_printf(&s->log, "(and %zu more wrong cases)\n", run.explained - LOG_CASES);
	if (s->total)
		kbuf_printf(&s->log, "%zu of %zu correctness cases passed\n", s->passed, s->total);
}

void
judge_correctness_alone(struct subject *s)
{
	struct memory m;
	struct runner r;
	size_t in, out;
	auto_spent(SPENT_CORRECTNESS);

	memory_largest(false, &in, &out);
	memory_open(&m, in, out, 1);
	s->tier = 2;
	if (subject_passed(s, runner_open(&r, s->file, &m), &r, NULL))
		judge_correctness(s, &m, &r);
	runner_close(&r);
	memory_close(&m);
}
