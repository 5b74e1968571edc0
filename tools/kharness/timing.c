/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: tier T3: how long a call takes, and who is faster. Subjects take turns in the order A
 * B, B A on the same inputs at the same addresses, drawn for the round and flushed from the caches;
 * a drift of the machine affects all of them equally. Ratios are computed per round. Sampling ends
 * when the ratios clearly show who is faster, or that nobody is.
 *
 * A runner that has loaded nothing measures the cost of a go in every round; it is the same for
 * all. Time in which other programs had the processor does not count; if that time is unknown,
 * because several threads work together, a disturbed round is void, and the judge waits for the
 * machine.
 *
 * A go is one run of a subject's process: it is woken, makes the calls of a sample, and is stopped.
 */

#include "kharness.h"
#include "klock.h"
#include "kstat.h"
#include "status.h"

enum {
	WARM_CALLS = 2, /* minimum number of untimed calls */
	/*
	 * maximum number of calls in one sample, whose rows fit into a pipe; on a GPU more, because
	 * a go takes as long as a hundred short kernels, and its cost differs from process to
	 * process
	 */
	CALLS_MAX = 128,
	CALLS_MAX_DEVICE = 512,
	PIPE_BYTES = 65536,
	CHECKED_MIN = 1, /* checked calls, if checking all would take too long */
	/* enough for a subject whose call takes longer than slow_s */
	SLOW_SAMPLES = 7,
	/*
	 * before and after each round with a slow subject, the quick ones make this many goes, and
	 * more while they take less than 1 / QUICK_SHARE of slow_s: there are few rounds, and only
	 * medians of many goes are as stable as the slow subject
	 */
	QUICK_GOES = 3,
	QUICK_GOES_MOST = 12,
	QUICK_SHARE = 4,
	/* samples that have room for this many times the calls, and need them, are taken again */
	MORE_CALLS = 2,
	/*
	 * limit of all samples of a workload, with drawing and checking, in multiples of --timing-s
	 */
	WALL_FACTOR = 4,
	HANDSHAKE_SHARE = 10, /* a sample is at least this many times as long as the handshake */
	/* checked rounds up to the first look, if checking every one would take too long */
	CHECKED_ROUNDS = 4,
	/*
	 * After it, one round in this many is checked: to move the ratio of twelve honest rounds,
	 * more than twelve others must be wrong.
	 */
	CHECKED_LATER = 4,
	/*
	 * One go in this many gets rare inputs, and so does one for each kind of them after the
	 * last round. Half of the former are checked, and all of the latter; none counts as a
	 * round.
	 */
	RARE_EVERY = 16,
	RARE_MAX = 3, /* kinds of them */
	/*
	 * Goes in which a process is stopped once and inspected, which takes longer on a device.
	 * Some come between the rounds before the first look at the ratios, then after one round in
	 * LOOKS_LATER: a candidate that counts its calls does not know when they are over.
	 */
	LOOKS = 8,
	DEVICE_LOOKS = 4,
	EARLY_LOOKS = 4,
	LOOKS_LATER = 16,
	LAST_TRIES = 9,
	/*
	 * Goes in which a call can touch only its own tensors, and only while it lasts, do not
	 * count either: one before the first look, one in this many after it, and those at the end.
	 * They crash a candidate that looks for the inputs of later calls, or writes after it has
	 * returned.
	 */
	HIDDEN_LATER = 4,
	/* hopeless if, judging by the first rounds, this many times the maximum are needed */
	HOPELESS = 2,
	HOPELESS_MIN = 24,
	/* everything is checked, however much it is, once in this many rounds */
	THOROUGH_EVERY = 8,
	/* each subject makes a single call once in this many rounds */
	LONE_EVERY = 2,
	LONE_EVERY_DEVICE = 6, /* on a GPU, where nobody is judged by single calls */
	LONE_MIN = 6           /* number of single calls that are enough for a judgement */
};
static const double slow_s = 1, warm_slow_s = 1;
/* what could be done after the return of a call this long is negligible */
static const double long_ns = 20e6;
/*
 * The ratios are looked at after these numbers of rounds. Each look may err with KSTAT_PAIRS_ALPHA,
 * and there are few of them.
 */
static const size_t looks[] = { KSTAT_PAIRS, 17, 24, 34, 48, 68, 96, 136, 192 };
/*
 * A median alone is precise enough when its interval is this narrow on both sides. For a ratio that
 * is clearly not 1, less is enough: the interval is 3.5 standard errors wide on each side, and a
 * score has two such links, each a mean over the workloads.
 */
static const double precise = 0.02, precise_ratio = 0.08;
/*
 * Two processes of one program differ, because each has its own pages, and on a GPU its own
 * context. A difference smaller than this (of the logarithms) is believed only if new processes of
 * all subjects confirm it. On a busy machine calls of 5 us differ by up to 10 %.
 */
static const double doubtful = 0.05, doubtful_busy = 0.15;
/*
 * The runner's clock may be behind the judge's by this share and this much before it counts as
 * forged. That must happen this often, and only counts if processor time, beyond that of an empty
 * call, also shows more work than the runner admits: on a busy machine an honest reply can be late.
 */
static const double forged_share = 0.8, forged_ns = 50000;
enum {
	FORGED_TIMES = 3,
	/* a cheat shows in every attempt; what others do to an honest subject does not */
	CHEAT_ATTEMPTS = 3
};
/*
 * A call in a row of calls takes less time than a single call, which finds less of its code in the
 * caches. LONE_NS plus what the other subjects gain is allowed; a call that takes less than
 * LONE_SHARE of what is then left was computed together with others in advance.
 */
static const double lone_ns = 15000, lone_share = 0.6;
/* Most of the single calls are above this quantile. */
static const double lone_most = 0.2;
/* The threads of a pool have to wake up first, on a busy machine one after the other. */
static const double wake_ns = 1e6;
/*
 * Several threads count as disturbed when they waited for processors longer than this share of the
 * time, and this long.
 */
static const double delay_share = 0.02, delay_ns = 30000;
/* A go of a racer that is slower than the candidate has as many calls as take this long, or one. */
static const double go_most_ns = 50e6;
/* Beyond this share the machine is called busy. */
static const double busy_share = 0.1;
static const int64_t nap_min_us = 2000, nap_max_us = 500000;

struct racer {
	struct subject *s;
	struct runner r;
	enum outcome start; /* how it started */
	bool greeted, loaded;
	bool out;     /* failed: no longer takes part */
	bool slow;    /* a call takes longer than slow_s */
	size_t calls; /* of a sample: the first ones of the race's */
	/* For the workload being timed, by round; NAN if it took no part. */
	double *ns, *cpu;
	double *lone, *host; /* of single calls */
	/* of the last go: the host's time until the entry returned */
	double host_ns;
	size_t count, lones, forged;
	double total_ns;
};

/* The cost of a go itself, with as many calls as the current goes have. */
struct pacing {
	struct handshake h, recent[HANDSHAKES];
	size_t count;
};

struct race {
	struct judge *j;
	struct racer *racers;
	size_t count;
	struct memory m;     /* of all racers, which use it in turns */
	struct witness seen; /* outputs of the FIRST racer of the go */
	struct racer *first;
	struct runner pacer; /* has loaded nothing */
	bool paced;
	struct pacing p, lone; /* LONE: for goes of one call */
	const struct ktask_workload *w;
	size_t calls, rounds;
	size_t enough; /* rounds at least */
	size_t most;   /* calls that a sample may hold */
	/* calls of a sample whose results are compared with the oracle's */
	size_t checked;
	/* rounds still to be checked before the first look */
	size_t to_check;
	size_t acquitted;  /* goes in which a racer differed from the witness, and was right */
	bool with_witness; /* whether the racers of this go are compared with each other */
	/* whether tensors are still to be hidden once before the first look */
	bool to_hide;
	size_t to_look; /* early looks still to come */
	/*
	 * fastest call so far, timed or not, of the racers that decide how many calls a sample has
	 */
	double fastest_ns;
	/* for each pair of racers, the result of the previous processes; median NAN: none */
	struct kstat_interval earlier[RACERS_MAX][RACERS_MAX];
	double oracle_s;         /* time to compute the results of one call */
	double run_ns, delay_ns; /* of all samples, and how long the racers waited during them */
	int64_t waited_ns;       /* in void rounds */
	int64_t nap_us;
	bool busy; /* waited too long: no times */
};

static void
fail(struct racer *x, enum status status, const char *check, const char *detail)
{
	subject_fail(x->s, status, check, detail);
	kbuf_printf(&x->s->log, "%s\n", detail);
	x->out = true;
}

/* How many racers are candidates: the first, or all. */
static size_t
firsts(const struct race *a)
{
	return a->j->o.all_pairs ? a->count : 1;
}

/* Are a racer's results compared? An anchor's are not: they were when it was a candidate. */
static bool
is_judged(const struct race *a, const struct racer *x)
{
	return a->j->oracle && (a->j->o.all_pairs || x == a->racers);
}

/* A call whose result the oracle knows; a racer's OUTPUTS may no longer be in memory. */
static void
judge_call(
    const struct race *a, struct racer *x, const char *outputs, const struct batch *b, size_t call)
{
	struct verdict v;

	if (!is_judged(a, x) || x->out)
		return;
	verdict_begin(&v);
	memory_check(a->j, &a->m, outputs, b, call, &v);
	verdict_end(a->j, &v);
	if (v.ok)
		return;
	subject_explain(x->s, b, &v);
	fail(x, STATUS_WRONG_VALUE, "timed_run", "the result of a timed run was wrong");
}

/*
 * Whether the racers of a go are compared: less often after the first look, and where they differ
 * but are right, as in another precision.
 */
static bool
draw_witness(struct race *a)
{
	struct krng rng;

	krng_init(&rng, a->j->o.seed, (long)a->j->draws++, 0, "witness");
	return (a->acquitted < CHECKED_ROUNDS && a->rounds < a->enough) ||
	    krng_below(&rng, CHECKED_LATER) == 0;
}

/* The calls that are not checked: the first racer of a go is the witness for the others. */
static void
judge_others(struct race *a, struct racer *x, const struct batch *b)
{
	size_t call;

	if (!a->with_witness)
		return;
	if (!a->seen.outputs) {
		witness_take(a->j, &a->seen, &a->m, b);
		a->first = x;
		return;
	}
	if (!is_judged(a, x) && !is_judged(a, a->first))
		return;
	call = witness_differs(a->j, &a->seen, &a->m, b);
	if (call == b->count)
		return;
	batch_expect_call(a->j, b, call);
	judge_call(a, x, a->m.out.memory, b, call);
	judge_call(a, a->first, a->seen.outputs, b, call);
	a->acquitted += !x->out && !a->first->out;
}

/* The results of a timed call must be right too. */
static bool
verify(struct race *a, struct racer *x, const struct batch *b)
{
	enum spent before = spent_on(a->j, SPENT_CHECKING);
	char where[256], text[512];
	/* A change that is found later may be blamed on another racer. */
	bool all = a->rounds % THOROUGH_EVERY == 0;

	if (!memory_intact(a->j, &a->m, b, all, where, sizeof where)) {
		snprintf(text, sizeof text, "it wrote %s in a timed run (workload %s)", where,
		    b->w->name);
		fail(x, STATUS_RUN_ERROR, "out_of_bounds_write", text);
	}
	for (size_t k = 0; k < b->count; k++)
		if (call_is_checked(a->j, &b->calls[k]))
			judge_call(a, x, a->m.out.memory, b, k);
	if (!x->out)
		judge_others(a, x, b);
	spent_on(a->j, before);
	return !x->out;
}

/* Counts goes whose own clock contradicts the judge's. */
static void
suspect(const struct race *a, struct racer *x, const struct span *s)
{
	double judge = runner_undelayed_ns(a->j, &x->r, s) - a->p.h.ns,
	       own = (double)s->own_ns - a->p.h.own_ns;
	/* Waking the threads of a pool, however many, is not forgery. */
	double cpu = ((double)s->done_cpu_ns - a->p.h.cpu_ns * x->r.threads) / a->j->o.threads;

	x->forged += own < forged_share * judge - forged_ns && own < forged_share * cpu - forged_ns;
}

/* Does every racer have as many threads as the first? */
static bool
are_alike(const struct race *a)
{
	for (size_t i = 1; i < a->count; i++)
		if (!a->racers[i].out && a->racers[i].r.threads != a->racers[0].r.threads)
			return false;
	return true;
}

/*
 * Matters only while nobody else measures, because only then do times count. Where there are more
 * threads than processors they wait for each other, and a driver's threads wait for their device:
 * that means nothing. The waiting time of a single thread is known, and subtracted; but if another
 * racer has more threads, which lose an unknown amount, timing a busy moment would be unfair.
 */
static bool
is_disturbed(const struct race *a, const struct racer *x, const struct span *s)
{
	if (!a->j->alone)
		return false;
	/* The host's delays do not stop a device's work, and so cannot be separated from it. */
	if (a->j->device)
		return (double)(s->delay_ns + s->judge_delay_ns) >
		    busy_share * (double)s->judge_ns + delay_ns;
	if (a->j->opencl || x->r.threads > a->j->o.threads || (x->r.threads == 1 && are_alike(a)))
		return false;
	return (double)s->delay_ns >
	    (x->r.threads > 1 ? delay_share : busy_share) * (double)s->judge_ns + delay_ns;
}

/*
 * One go on the batch in memory; returns the time of one call in ns, -1 when the racer is out, NAN
 * when others had the processors.
 */
static double
run(struct race *a, struct racer *x, const struct batch *b, double *cpu)
{
	struct span s;
	enum outcome e = runner_go(a->j, &x->r, b, &s);

	if (e != OUT_OK) {
		subject_outcome(x->s, e, &x->r, b);
		x->out = true;
		return -1;
	}
	a->run_ns += (double)s.judge_ns;
	/* Threads on all processors delay the judge, so its delays do not count then. */
	a->delay_ns +=
	    (double)(s.delay_ns + (x->r.threads > 1 && !a->j->device ? 0 : s.judge_delay_ns));
	*cpu = (double)s.cpu_ns / (double)b->count;
	/* As the runner reports it, but no more than the judge has seen. */
	x->host_ns = fmin((double)s.host_ns, (double)s.judge_ns);
	suspect(a, x, &s);
	return is_disturbed(a, x, &s) ? NAN
	                              : runner_ns(a->j, &x->r, &s, &a->p.h) / (double)b->count;
}

/* ---- what a go costs ---- */

static void
take_handshake(struct race *a, const struct span *s)
{
	struct pacing *p = &a->p;

	p->recent[p->count++ % HANDSHAKES] = runner_handshake_from(a->j, &a->pacer, s);
	p->h = runner_handshake_of(p->recent, p->count < HANDSHAKES ? p->count : HANDSHAKES);
}

/* The pacer reads the rows of the batch in memory, and makes no call. */
static void
pace(struct race *a, const struct batch *b)
{
	enum spent before;
	struct span s;

	if (!a->paced)
		return;
	before = spent_on(a->j, SPENT_PACING);
	if (runner_go(a->j, &a->pacer, b, &s) != OUT_OK)
		kdie(K_MISSING, "the runner: %s", a->pacer.why);
	take_handshake(a, &s);
	spent_on(a->j, before);
}

/* ---- a workload's beginning ---- */

/* What was loaded for the first racer of a round also serves the others, except for the outputs. */
static void
set_out(struct race *a, const struct batch *b, bool first)
{
	enum spent before = spent_on(a->j, SPENT_LOADING);

	if (first)
		memory_load(a->j, &a->m, b);
	else
		memory_reload(a->j, &a->m, b);
	spent_on(a->j, SPENT_FLUSHING);
	memory_flush(a->j, &a->m, b);
	spent_on(a->j, before);
}

/*
 * Untimed calls on a batch of one call, limited by count and time; returns the fastest, in ns. They
 * look like timed calls, so that a candidate cannot tell them apart; the number of samples does not
 * depend on them.
 */
static double
warm_up(struct race *a, struct racer *x, const struct batch *b)
{
	const struct options *o = &a->j->o;
	double fastest = INFINITY, cpu;
	int64_t start = know_ns();

	for (int i = 0; i < WARM_CALLS || kseconds_since(start) < o->warmup_s; i++) {
		double ns;

		set_out(a, b, true);
		pace(a, b);
		ns = run(a, x, b, &cpu);
		if (ns < 0)
			break;
		fastest = fmin(fastest, ns);
		if (ns > warm_slow_s * 1e9)
			break;
	}
	/* The first calls may well start slowly; that is not forgery. */
	x->forged = 0;
	return fastest;
}

static size_t
most_calls(const struct judge *j)
{
	size_t most = j->device ? CALLS_MAX_DEVICE : CALLS_MAX;
	size_t fit = PIPE_BYTES / (sizeof(uint64_t) * row_words(j->task));

	return most < fit ? most : fit;
}

static size_t
slots(const struct judge *j, const struct ktask_workload *w)
{
	size_t in, out, n, most = most_calls(j);

	memory_slot(j->task, w, &in, &out);
	n = j->space->arena_bytes / (in + out);
	/* A second slot, if memory allows, gives large tensors new addresses too. */
	return n > most ? most : n > 2 ? n : in + out < j->space->arena_bytes * 4 ? 2 : 1;
}

/*
 * Draws inputs for the warm-up, and measures how long the judge needs for them and their results,
 * which limits the calls of a sample.
 */
static void
draw_first(struct race *a, struct batch *b)
{
	const struct space *space = a->j->space;
	int64_t start = know_ns();

	batch_draw(a->j, b, a->w, a->j->task->distributions[0], 1, true);
	space->fence();
	a->oracle_s = kseconds_since(start);
	a->most = slots(a->j, a->w);
}

/*
 * The candidate determines for all how many calls a sample has; if all have as many threads, the
 * fastest does.
 */
static void
note_speed(struct race *a, size_t racer, double ns)
{
	if (racer == 0 || a->j->o.all_pairs)
		a->fastest_ns = fmin(a->fastest_ns, ns);
}

/* Number of calls that take SAMPLE_NS, within the limits of memory and the oracle's speed. */
static double
calls_wanted(const struct race *a)
{
	double sample_ns = fmax(a->j->space->sample_ns, HANDSHAKE_SHARE * a->lone.h.ns);

	return a->j->task->alone ? 1 : fmin(sample_ns / fmax(a->fastest_ns, 100), (double)a->most);
}

/* Whether no racer is left whose times are needed. */
static bool
is_over(const struct race *a)
{
	size_t left = 0;

	for (size_t i = 0; i < a->count; i++)
		left += !a->racers[i].out;
	return a->j->o.all_pairs ? !left : a->racers[0].out;
}

/*
 * A candidate that is slow only while it warms up gets short samples, and the handshake's
 * uncertainty is a large part of those: they are taken again, with more calls. This terminates,
 * because a call must have become twice as fast each time.
 */
static bool
too_short(const struct race *a)
{
	return !is_over(a) && calls_wanted(a) >= MORE_CALLS * (double)a->calls;
}

/* Whether the runner can hide tensors. */
static bool
hides(const struct race *a)
{
	return !a->j->device && !a->j->opencl;
}

static void
begin(struct race *a, const struct ktask_workload *w)
{
	const struct options *o = &a->j->o;
	struct batch b;
	double warm_ns[RACERS_MAX];
	bool slow = false;

	a->w = w;
	a->rounds = a->p.count = 0;
	a->to_check = CHECKED_ROUNDS;
	a->acquitted = 0;
	draw_first(a, &b);
	for (size_t i = 0; i < a->count; i++) {
		struct racer *x = &a->racers[i];
		double ns = INFINITY;

		x->count = x->lones = x->forged = 0;
		x->total_ns = 0;
		x->ns = kcalloc((size_t)o->max_samples + 1, sizeof *x->ns);
		x->cpu = kcalloc((size_t)o->max_samples + 1, sizeof *x->cpu);
		x->lone = kcalloc((size_t)o->max_samples + 1, sizeof *x->lone);
		x->host = kcalloc((size_t)o->max_samples + 1, sizeof *x->host);
		if (!x->out)
			ns = warm_up(a, x, &b);
		x->slow = ns > slow_s * 1e9 && isfinite(ns);
		slow |= x->slow;
		note_speed(a, i, ns);
		warm_ns[i] = ns;
	}
	batch_free(a->j, &b);
	/* A sample's goes now have more rows. */
	a->lone = a->p;
	a->p.count = 0;
	a->enough = slow ? SLOW_SAMPLES : a->count > 1 ? KSTAT_PAIRS : (size_t)o->min_samples;
	a->enough = (size_t)fmin((double)a->enough, (double)o->max_samples);
	a->calls = (size_t)fmax(1, rint(calls_wanted(a)));
	a->to_hide = hides(a);
	a->to_look = hides(a) ? EARLY_LOOKS : 0;
	a->checked =
	    (size_t)fmin((double)a->calls, fmax(CHECKED_MIN, a->j->space->oracle_s / a->oracle_s));
	for (size_t i = 0; i < a->count; i++)
		a->racers[i].calls =
		    (size_t)fmin((double)a->calls, fmax(1, go_most_ns / fmax(warm_ns[i], 1)));
}

/* ---- who is faster ---- */

/* Logarithms of the ratios OTHER to X for the rounds in which both took part; returns how many. */
static size_t
log_ratios(const struct race *a, const struct racer *x, const struct racer *other, double *logs)
{
	size_t n = 0;

	for (size_t i = 0; i < a->rounds; i++)
		if (!isnan(x->ns[i]) && !isnan(other->ns[i]))
			logs[n++] = log(other->ns[i] / x->ns[i]);
	return n;
}

/* The logarithm of the ratio OTHER to X with its interval; returns the number of pairs, 0: none. */
static size_t
compare_racers(const struct race *a, const struct racer *x, const struct racer *other,
    struct kstat_interval *m)
{
	auto_free double *logs = kcalloc(a->rounds + 1, sizeof *logs);
	size_t n = log_ratios(a, x, other, logs);

	if (n)
		kstat_pairs(logs, n, m);
	return n;
}

static bool
is_clear(const struct race *a, const struct racer *x, const struct racer *other)
{
	struct kstat_interval m;

	if (x->out || other->out)
		return true;
	return compare_racers(a, x, other, &m) && kstat_verdict(&m) != KSTAT_INCONCLUSIVE &&
	    (m.high - m.low) / 2 < precise_ratio;
}

/* Whether a verdict would need more rounds than allowed. */
static bool
is_hopeless(const struct race *a, const struct racer *x, const struct racer *other)
{
	auto_free double *logs = kcalloc(a->rounds + 1, sizeof *logs);
	size_t n = log_ratios(a, x, other, logs);

	return n && a->rounds >= HOPELESS_MIN && !x->out && !other->out &&
	    kstat_pairs_needed(logs, n) > HOPELESS * a->j->o.max_samples;
}

/* Whether the median of a racer that is compared with nobody is known precisely. */
static bool
is_precise(const struct race *a, const struct racer *x)
{
	auto_free double *logs = kcalloc(a->rounds + 1, sizeof *logs);
	struct kstat_interval m;
	size_t n = 0;

	for (size_t i = 0; i < a->rounds; i++)
		if (!isnan(x->ns[i]))
			logs[n++] = log(x->ns[i]);
	if (n)
		kstat_pairs(logs, n, &m);
	return n && (m.high - m.low) / 2 < precise;
}

/* The pairs that matter: the candidate with every other racer, or every racer with every other. */
static bool
all_clear(const struct race *a)
{
	for (size_t i = 0; i < firsts(a); i++)
		for (size_t k = i + 1; k < a->count; k++)
			if (!is_clear(a, &a->racers[i], &a->racers[k]) &&
			    !is_hopeless(a, &a->racers[i], &a->racers[k]))
				return false;
	return a->count > 1 || is_precise(a, &a->racers[0]);
}

static bool
is_look(const struct race *a)
{
	for (size_t i = 0; i < LEN(looks); i++)
		if (a->rounds == looks[i])
			return true;
	return a->rounds == a->enough;
}

/* ---- rounds ---- */

/*
 * The inputs of some goes that do not count: a kernel may be slower with them, or wrong if it was
 * careful only while it was checked. Returns how many kinds the task has.
 */
static size_t
rare_kinds(const struct race *a, enum kdist kinds[RARE_MAX])
{
	const struct ktask *t = a->j->task;
	size_t n = 0;

	if (batch_may_mix(t))
		kinds[n++] = KDIST_MIXED;
	if (compare_is_sharp(t, a->w))
		kinds[n++] = KDIST_SPARSE;
	for (size_t d = 1; d < t->distribution_count; d++)
		if (t->distributions[d] == KDIST_SPECIAL)
			kinds[n++] = KDIST_SPECIAL;
	return n;
}

/* The distribution of a round's inputs: the task's first, and rarely, in secret, another. */
static enum kdist
inputs_of_round(const struct race *a)
{
	enum kdist kinds[RARE_MAX];
	size_t count = rare_kinds(a, kinds);
	struct krng rng;

	krng_init(&rng, a->j->o.seed, (long)a->j->draws, 0, "rare inputs");
	return count && krng_below(&rng, RARE_EVERY) == 0 ? kinds[krng_below(&rng, count)]
	                                                  : a->j->task->distributions[0];
}

/*
 * Whether the results of this round are compared with the oracle's: all, if that is quick;
 * otherwise a secret choice of the rounds before the first look (selection sampling, as in
 * batch.c), one in CHECKED_LATER after it, and every second one with rare inputs.
 */
static bool
is_checked_round(struct race *a, enum kdist inputs)
{
	size_t left = a->rounds < a->enough ? a->enough - a->rounds : 0;
	struct krng rng;
	bool yes;

	if (a->oracle_s <= a->j->space->oracle_s || a->enough <= CHECKED_ROUNDS)
		return true;
	krng_init(&rng, a->j->o.seed, (long)a->j->draws, 0, "checked rounds");
	if (inputs != a->j->task->distributions[0] && krng_below(&rng, 2))
		return true;
	yes = left ? krng_below(&rng, left) < a->to_check : krng_below(&rng, CHECKED_LATER) == 0;
	a->to_check -= yes && left;
	return yes;
}

/*
 * If all have one thread, they begin a round on the same processor, and every second round on the
 * next: no two processors are alike, and the scheduler leaves a process where it was. -1: anywhere.
 * It is never the judge's processor, which a racer would have to wait for.
 */
static int
processor_of_round(const struct race *a)
{
	cpu_set_t set = a->j->cpus;
	size_t at;

	if (a->j->device || a->j->opencl)
		return -1;
	for (size_t i = 0; i < a->count; i++)
		if (!a->racers[i].out && a->racers[i].r.threads > 1)
			return -1;
	CPU_CLR(sched_getcpu(), &set);
	if (!CPU_COUNT(&set))
		return -1;
	at = a->rounds / 2 % (size_t)CPU_COUNT(&set);
	for (int i = 0;; i++)
		if (CPU_ISSET(i, &set) && !at--)
			return i;
}

/*
 * One go of each racer, or of those that are not slow, in the order of the round. False when others
 * had the processors: the round is void.
 */
static bool
one_go_each(struct race *a, const struct batch *b, bool slow, double *ns, double *cpu)
{
	bool first = true, void_go = false;

	a->j->begin_on = processor_of_round(a);
	a->with_witness = draw_witness(a);
	for (size_t i = 0; i < a->count && !void_go; i++) {
		size_t which = a->rounds % 2 ? a->count - 1 - i : i;
		struct racer *x = &a->racers[which];
		struct batch own = *b;

		own.count = x->calls < b->count ? x->calls : b->count;
		ns[which] = cpu[which] = -1;
		if (x->out || (x->slow && !slow))
			continue;
		set_out(a, b, first);
		/* A go with hidden inputs has a different cost. */
		if (first && !b->hidden)
			pace(a, b);
		first = false;
		ns[which] = run(a, x, &own, &cpu[which]);
		void_go = isnan(ns[which]);
		if (!(ns[which] < 0) && !verify(a, x, &own))
			ns[which] = -1;
	}
	witness_drop(a->j, &a->seen);
	return !void_go;
}

static void
note_lone(struct racer *x, double ns)
{
	x->host[x->lones] = x->host_ns;
	x->lone[x->lones++] = ns;
}

/* A single call of each racer; void if it was disturbed. */
static void
lone_calls(struct race *a)
{
	double ns[RACERS_MAX], cpu[RACERS_MAX];
	struct pacing batch = a->p;
	enum kdist inputs = inputs_of_round(a);
	struct batch b;

	a->p = a->lone;
	/* These times count, so only those rare inputs are used that hardly change the speed. */
	inputs = inputs == KDIST_MIXED ? inputs : a->j->task->distributions[0];
	batch_draw(a->j, &b, a->w, inputs, 1, a->oracle_s <= a->j->space->oracle_s);
	if (one_go_each(a, &b, true, ns, cpu))
		for (size_t i = 0; i < a->count; i++)
			if (ns[i] >= 0)
				note_lone(&a->racers[i], ns[i]);
	batch_free(a->j, &b);
	a->lone = a->p;
	a->p = batch;
}

/* Whether calls can touch only their own tensors in this round; it is secret. */
static bool
is_hidden_round(const struct race *a)
{
	struct krng rng;

	krng_init(&rng, a->j->o.seed, (long)a->j->draws, 0, "hidden rounds");
	/* A call that is slow while it warms up may be quick afterwards. */
	if (a->rounds < a->enough)
		return a->to_hide && a->fastest_ns < long_ns &&
		    krng_below(&rng, a->enough - a->rounds) == 0;
	return hides(a) && a->calls > 1 && krng_below(&rng, HIDDEN_LATER) == 0;
}

/* How many of the calls the slowest racer makes, among those whose results count. */
static size_t
least_calls(const struct race *a)
{
	size_t least = a->calls;

	for (size_t i = 0; i < a->count; i++)
		if (is_judged(a, &a->racers[i]) && !a->racers[i].out && a->racers[i].calls < least)
			least = a->racers[i].calls;
	return least;
}

static bool
has_slow(const struct race *a)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->racers[i].slow && !a->racers[i].out)
			return true;
	return false;
}

/* Goes of racers that are quick compared with a slow one: many per round. */
struct goes {
	double ns[RACERS_MAX][2 * QUICK_GOES_MOST + 1];
	size_t count;
};

static void
note_goes(const struct race *a, struct goes *g, const double *ns)
{
	for (size_t i = 0; i < a->count; i++)
		g->ns[i][g->count] = ns[i];
	g->count++;
}

/* Every go has its own inputs. */
static void
more_goes(struct race *a, enum kdist inputs, struct goes *g)
{
	double ns[RACERS_MAX], cpu[RACERS_MAX];
	int64_t start = know_ns();

	for (int i = 0; i < QUICK_GOES_MOST && has_slow(a); i++) {
		struct krng rng;
		struct batch b;

		if (i >= QUICK_GOES && kseconds_since(start) > slow_s / QUICK_SHARE)
			break;
		krng_init(&rng, a->j->o.seed, (long)a->j->draws, 0, "checked goes");
		batch_draw_checked(a->j, &b, a->w, inputs, a->calls,
		    krng_below(&rng, CHECKED_LATER) ? 0 : a->checked, least_calls(a));
		if (one_go_each(a, &b, false, ns, cpu))
			note_goes(a, g, ns);
		batch_free(a->j, &b);
	}
}

static bool
round_of(struct race *a)
{
	double ns[RACERS_MAX], cpu[RACERS_MAX];
	bool done, hidden = is_hidden_round(a), counts;
	enum kdist inputs = inputs_of_round(a);
	struct goes goes = { .count = 0 };
	struct batch b;

	more_goes(a, inputs, &goes);
	batch_draw_checked(a->j, &b, a->w, inputs, a->calls,
	    is_checked_round(a, inputs) ? a->checked : 0, least_calls(a));
	b.hidden = hidden;
	counts = b.dist == a->j->task->distributions[0] && !hidden;
	done = one_go_each(a, &b, true, ns, cpu);
	batch_free(a->j, &b);
	a->to_hide &= !done || !hidden;
	if (!done || !counts)
		return done;
	note_goes(a, &goes, ns);
	more_goes(a, inputs, &goes);
	for (size_t i = 0; i < a->count; i++) {
		struct racer *x = &a->racers[i];

		if (x->out)
			ns[i] = -1;
		else if (!x->slow)
			ns[i] = kstat_quantile(goes.ns[i], goes.count, 0.5);
		if (ns[i] >= 0)
			ns[i] = fmax(ns[i], runner_least_ns(a->j, &a->p.h) / (double)x->calls);
		x->ns[a->rounds] = ns[i] < 0 ? NAN : ns[i];
		if (ns[i] < 0)
			continue;
		note_speed(a, i, ns[i]);
		x->cpu[x->count++] = cpu[i];
		if (a->calls == 1)
			note_lone(x, ns[i]);
		x->total_ns += ns[i] * (double)x->calls;
	}
	if (a->calls > 1 && a->rounds % (a->j->device ? LONE_EVERY_DEVICE : LONE_EVERY) == 0)
		lone_calls(a);
	a->rounds++;
	return true;
}

/* Others had the processors. Wait a little longer each time; false when that has taken too long. */
static bool
wait_for_machine(struct race *a, int64_t since)
{
	enum spent before = spent_on(a->j, SPENT_BUSY);

	a->nap_us =
	    a->nap_us ? a->nap_us * 2 < nap_max_us ? a->nap_us * 2 : nap_max_us : nap_min_us;
	usleep((useconds_t)a->nap_us);
	spent_on(a->j, before);
	a->waited_ns += know_ns() - since;
	a->busy = (double)a->waited_ns > a->j->o.busy_s * 1e9;
	return !a->busy;
}

/* How long a go of a racer takes. */
static double
go_ns(const struct racer *x)
{
	return x->count ? x->total_ns / (double)x->count : 0;
}

/*
 * A go in which a racer is inspected in between. Only that racer makes it, because the inputs
 * change during it.
 */
static void
look_at(struct race *a, struct racer *x)
{
	struct krng rng;
	struct batch b;
	double cpu;

	krng_init(&rng, a->j->o.seed, (long)a->j->draws, 0, "looks");
	batch_draw_checked(
	    a->j, &b, a->w, a->j->task->distributions[0], x->calls, a->checked, x->calls);
	b.look_ns = krng_double(&rng) * go_ns(x);
	/* On a device calls return before they are done, so a time would tell nothing. */
	if (x->calls > 1 && (a->j->device || krng_below(&rng, 2)))
		b.look_row = 1 + krng_below(&rng, x->calls - 1);
	a->with_witness = false;
	set_out(a, &b, true);
	if (!(run(a, x, &b, &cpu) < 0))
		verify(a, x, &b);
	batch_free(a->j, &b);
}

/* Looks between the rounds, at secret times. */
static void
look_between_rounds(struct race *a)
{
	size_t left = a->rounds < a->enough ? a->enough - a->rounds : 0;
	struct krng rng;

	krng_init(&rng, a->j->o.seed, (long)a->j->draws++, 0, "early looks");
	if (!hides(a) ||
	    (left ? krng_below(&rng, left) >= a->to_look : krng_below(&rng, LOOKS_LATER)))
		return;
	a->to_look -= left > 0;
	for (size_t i = 0; i < firsts(a); i++)
		if (a->racers[i].calls > 1 && a->racers[i].count && !a->racers[i].out)
			look_at(a, &a->racers[i]);
}

/*
 * Goes that do not count, with tensors hidden and inputs of each rare kind: they catch a candidate
 * that was careful only in its first calls. Then some in which it is inspected in between.
 */
static void
last_goes(struct race *a)
{
	double ns[RACERS_MAX], cpu[RACERS_MAX];
	enum kdist kinds[RARE_MAX];
	size_t rare = rare_kinds(a, kinds);
	int most_looks = a->j->device ? DEVICE_LOOKS : LOOKS;
	bool done;

	for (size_t i = 0, tries = 0; i < rare && tries < LAST_TRIES && !is_over(a); tries++) {
		struct batch b;

		batch_draw_checked(a->j, &b, a->w, kinds[i], a->calls, a->checked, least_calls(a));
		b.hidden = hides(a);
		done = one_go_each(a, &b, true, ns, cpu);
		batch_free(a->j, &b);
		i += done;
	}
	for (size_t i = 0; i < firsts(a) && !a->j->opencl; i++)
		for (int n = 0; n < most_looks && a->racers[i].calls > 1 && !a->racers[i].out; n++)
			look_at(a, &a->racers[i]);
}

/* Samples of all subjects, until there are enough, or they are known to be too short. */
static void
take_samples(struct race *a)
{
	const struct options *o = &a->j->o;
	int64_t start = know_ns(), waited = a->waited_ns;

	while (!is_over(a) && !too_short(a) && a->rounds < (size_t)o->max_samples) {
		int64_t now = know_ns();
		bool late = (double)(now - start - (a->waited_ns - waited)) >
		    WALL_FACTOR * o->timing_s * 1e9;

		if (a->rounds >= a->enough && (late || (is_look(a) && all_clear(a))))
			break;
		if (round_of(a)) {
			a->nap_us = 0;
			look_between_rounds(a);
		} else if (!is_over(a) && !wait_for_machine(a, now))
			return;
	}
}

/* ---- a workload's end ---- */

/* The samples, without the rounds in which it took no part. The caller frees. */
static double *
samples(const struct race *a, const struct racer *x, size_t *n)
{
	double *v = kcalloc(a->rounds + 1, sizeof *v);

	*n = 0;
	for (size_t i = 0; i < a->rounds; i++)
		if (!isnan(x->ns[i]))
			v[(*n)++] = x->ns[i];
	return v;
}

static void
set_ns(json_t *row, const char *key, double ns)
{
	json_object_set_new(row, key, json_integer((json_int_t)llround(ns)));
}

/* The cost of a call that starts on a device, or with caches, that others have used. */
static void
add_lone(const struct race *a, const struct racer *x, json_t *row)
{
	if (!x->lones)
		return;
	set_ns(row, "alone_ns", kstat_quantile(x->lone, x->lones, 0.5));
	json_object_set_new(row, "alone_samples", json_integer((json_int_t)x->lones));
	if (a->j->device)
		set_ns(row, "host_ns", kstat_quantile(x->host, x->lones, 0.5));
}

/*
 * Add the row of a workload; returns the relative half-width of the median's confidence interval.
 */
static double
add_row(const struct race *a, struct racer *x)
{
	json_t *row = json_object(), *list = json_array();
	struct kstat_interval m;
	struct kstat st;
	size_t n;
	auto_free double *v = samples(a, x, &n);

	kstat_of(v, n, &st);
	kstat_median(v, n, &m);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer((json_int_t)llround(v[i])));
	json_object_set_new(row, "workload", json_string(a->w->name));
	if (a->w->weight != 1)
		json_object_set_new(row, "weight", json_real(a->w->weight));
	json_object_set_new(row, "samples_ns", list);
	json_object_set_new(row, "calls_per_sample", json_integer((json_int_t)x->calls));
	json_object_set_new(row, "checked_per_sample",
	    json_integer((json_int_t)(a->checked < x->calls ? a->checked : x->calls)));
	set_ns(row, "median_ns", st.median);
	set_ns(row, "min_ns", st.min);
	set_ns(row, "mean_ns", st.mean);
	set_ns(row, "sd_ns", st.sd);
	set_ns(row, "iqr_ns", st.iqr);
	set_ns(row, "cpu_ns", kstat_quantile(x->cpu, x->count, 0.5));
	set_ns(row, "handshake_ns", a->p.h.ns);
	json_object_set_new(row, "threads", json_integer(x->r.threads));
	add_lone(a, x, row);
	json_array_append_new(x->s->timing, row);
	return (m.high - m.low) / 2 / m.median;
}

/* Ratio of a subject's time to that of X, from the rounds that both took part in. */
static void
add_pair(const struct race *a, size_t i, size_t k, json_t *pairs)
{
	const struct racer *x = &a->racers[i], *other = &a->racers[k];
	const struct kstat_interval *e = &a->earlier[i][k];
	struct kstat_interval m;
	size_t n = compare_racers(a, x, other, &m);

	if (!n)
		return;
	if (!isnan(e->median))
		m = (struct kstat_interval){ (m.median + e->median) / 2, fmin(m.low, e->low),
			fmax(m.high, e->high) };
	json_array_append_new(pairs,
	    json_pack("{s:s,s:s,s:s,s:f,s:f,s:f,s:i,s:s}", "name", other->s->name, "of", x->s->name,
	        "workload", a->w->name, "ratio", exp(m.median), "low", exp(m.low), "high",
	        fmin(exp(m.high), 1e9), "pairs", (int)n, "verdict",
	        kstat_verdicts[kstat_verdict(&m)]));
}

static bool
looks_forged(const struct racer *x)
{
	return !x->out && x->forged >= FORGED_TIMES && x->forged > x->count / 2;
}

/*
 * How much longer a racer's single call takes than a call in a row, at the quantile Q of its single
 * calls; NAN when there were too few.
 */
static double
excess_ns(const struct race *a, const struct racer *x, double q)
{
	double *v, ns = NAN;
	size_t n;

	if (x->out || x->lones < LONE_MIN)
		return NAN;
	v = samples(a, x, &n);
	if (n)
		ns = kstat_quantile(x->lone, x->lones, q) - kstat_quantile(v, n, 0.5);
	free(v);
	return ns;
}

/* The time in which others kept the processors from the racers, relative to the racers' time. */
static double
delayed_share(const struct race *a)
{
	return a->run_ns > 0 ? a->delay_ns / a->run_ns : 0;
}

/*
 * Is the time of a call in a row of calls far below that of a single call? On a busy machine,
 * replies can be hundreds of microseconds late. Half of a few single calls may then look long, but
 * not most of them; and calls of a few microseconds show nothing at all.
 */
static bool
solves_together(const struct race *a, const struct racer *x)
{
	double excess = excess_ns(a, x, lone_most), usual = 0, lone;

	/* A driver's work for one call overlaps with the calls before it. */
	if (isnan(excess) || a->calls == 1 || a->j->device || a->j->opencl)
		return false;
	/* If there is only one candidate, it may not excuse others. fmax leaves out what is NAN. */
	for (size_t i = a->j->o.all_pairs ? 0 : 1; i < a->count; i++)
		if (x != &a->racers[i])
			usual = fmax(usual, excess_ns(a, &a->racers[i], 0.5));
	usual += x->r.threads > 1 || delayed_share(a) > busy_share ? wake_ns : lone_ns;
	lone = kstat_quantile(x->lone, x->lones, lone_most);
	return lone - excess < lone_share * (lone - usual);
}

static void
judge_racer(const struct race *a, struct racer *x)
{
	char text[256];
	size_t n;
	double *v;

	if (x->out || !x->count)
		return;
	v = samples(a, x, &n);
	if (looks_forged(x)) {
		fail(x, STATUS_REJECTED, "clock_forged",
		    "the clock in its process was much slower than the judge's, or it went on "
		    "working after it returned");
	} else if (solves_together(a, x)) {
		snprintf(text, sizeof text,
		    "a single call of workload %s takes %.1f us, but %.1f us in a row of %zu "
		    "calls, so calls were computed together in advance",
		    a->w->name, 1e-3 * kstat_quantile(x->lone, x->lones, lone_most),
		    1e-3 * kstat_quantile(v, n, 0.5), a->calls);
		fail(x, STATUS_REJECTED, "solved_together", text);
	} else if (kstat_quantile(v, n, 0.5) < a->j->task->min_time_ns) {
		snprintf(text, sizeof text, "workload %s took less than min_time_ns of the task",
		    a->w->name);
		fail(x, STATUS_QUARANTINED, "too_fast", text);
	}
	free(v);
}

static void
end(struct race *a)
{
	for (size_t i = 0; i < a->count; i++) {
		free(a->racers[i].ns);
		free(a->racers[i].cpu);
		free(a->racers[i].lone);
		free(a->racers[i].host);
	}
}

static bool
anybody_cheats(const struct race *a)
{
	return kany(kforeach_of(x, a->racers, a->count), looks_forged(x) || solves_together(a, x));
}

static void
drop(struct racer *x, enum outcome e)
{
	if (e == OUT_OK)
		return;
	subject_outcome(x->s, e, &x->r, NULL);
	x->out = true;
}

static void
add_pairs(const struct race *a, json_t *pairs)
{
	for (size_t i = 0; i < firsts(a); i++)
		for (size_t k = i + 1; k < a->count; k++)
			if (!a->racers[i].out && !a->racers[k].out)
				add_pair(a, i, k, pairs);
}

/* Keep the results of the pairs; returns whether there is a small difference among them. */
static bool
note_pairs(struct race *a)
{
	double least = delayed_share(a) > busy_share ? doubtful_busy : doubtful;
	bool doubt = false;

	for (size_t i = 0; i < firsts(a); i++)
		for (size_t k = i + 1; k < a->count; k++) {
			struct kstat_interval *m = &a->earlier[i][k];
			enum kstat_verdict v;

			m->median = NAN;
			if (a->racers[i].out || a->racers[k].out ||
			    !compare_racers(a, &a->racers[i], &a->racers[k], m))
				continue;
			v = kstat_verdict(m);
			doubt |=
			    (v == KSTAT_FASTER || v == KSTAT_SLOWER) && fabs(m->median) < least;
		}
	return doubt;
}

static void
forget_pairs(struct race *a)
{
	for (size_t i = 0; i < RACERS_MAX; i++)
		for (size_t k = 0; k < RACERS_MAX; k++)
			a->earlier[i][k].median = NAN;
}

/* It is ready, and stopped. */
static void
greet(struct race *a, struct racer *x)
{
	if (x->start == OUT_OK && !x->greeted)
		runner_greet(a->j, &x->r);
	x->greeted = true;
}

/*
 * Without a pacer, the cost of a go is measured before anything is loaded, and the fastest counts
 * for all.
 */
static void
load_all(struct race *a)
{
	enum spent before = spent_on(a->j, SPENT_STARTING);
	int64_t fence = 0;

	for (size_t i = 0; i < a->count && !a->paced; i++)
		if (!a->racers[i].out && !a->racers[i].loaded) {
			struct handshake h = runner_handshake(a->j, &a->racers[i].r);

			if (a->p.h.ns <= 0 || h.ns < a->p.h.ns)
				a->p.h = h;
			fence = a->racers[i].r.fence_ns;
		}
	for (size_t i = 0; i < a->count; i++) {
		struct racer *x = &a->racers[i];

		if (x->loaded)
			x->r.fence_ns = fence;
		else if (!x->out)
			drop(x, runner_load(a->j, &x->r));
	}
	spent_on(a->j, before);
}

/* New processes for all that are still in the race. */
static void
start_again(struct race *a)
{
	enum spent before = spent_on(a->j, SPENT_STARTING);

	for (size_t i = 0; i < a->count; i++) {
		struct racer *x = &a->racers[i];

		if (x->out)
			continue;
		runner_close(&x->r);
		x->start = runner_launch(a->j, &x->r, x->s->file, &a->m);
		x->greeted = x->loaded = false;
	}
	for (size_t i = 0; i < a->count; i++)
		if (!a->racers[i].out) {
			greet(a, &a->racers[i]);
			drop(&a->racers[i], a->racers[i].start);
		}
	load_all(a);
	spent_on(a->j, before);
}

/*
 * Samples of all subjects on one workload; taken again if they turn out to be too short, or if
 * somebody seems to cheat.
 */
static void
sample(struct race *a, const struct ktask_workload *w)
{
	a->fastest_ns = INFINITY;
	begin(a, w);
	take_samples(a);
	for (int cheats = 0;
	     !a->busy && (too_short(a) || (anybody_cheats(a) && ++cheats < CHEAT_ATTEMPTS));) {
		end(a);
		begin(a, w);
		take_samples(a);
	}
}

/* Time one workload; returns the candidate's noise, or NAN when it is out. */
static double
one_workload(struct race *a, const struct ktask_workload *w, json_t *pairs)
{
	double noise = NAN;

	sample(a, w);
	if (!note_pairs(a) || a->j->opencl || a->busy || a->enough < KSTAT_PAIRS) {
		forget_pairs(a);
	} else {
		/* These processes end here, and what they did counts. */
		last_goes(a);
		end(a);
		start_again(a);
		sample(a, w);
	}
	for (size_t i = 0; i < a->count && !a->busy; i++) {
		struct racer *x = &a->racers[i];

		judge_racer(a, x);
		if (!x->out && x->count && (a->j->o.all_pairs || !a->racers[0].out)) {
			double half = add_row(a, x);

			noise = i == 0 ? half : noise;
		}
	}
	if (!a->busy)
		add_pairs(a, pairs);
	end(a);
	return noise;
}

/* ---- all of it ---- */

static void
open_memory(struct race *a)
{
	const struct ktask *t = a->j->task;
	size_t in = 0, out = 0;

	for (size_t i = 0; i < t->workload_count; i++) {
		const struct ktask_workload *w = &t->workloads[i];
		size_t x, y, n = w->timed ? slots(a->j, w) : 1;

		/* A GPU's memory is also that of tier T2. */
		if ((!w->timed && !a->j->device) || !ktask_in_set(w, a->j->o.set))
			continue;
		memory_slot(t, w, &x, &y);
		in = n * x > in ? n * x : in;
		out = n * y > out ? n * y : out;
	}
	memory_open(a->j, &a->m, in, out, most_calls(a->j));
}

struct race *
race_spawn(struct judge *j, struct subject *subjects, size_t count)
{
	enum spent before = spent_on(j, SPENT_STARTING);
	struct race *a = kcalloc(1, sizeof *a);

	a->j = j;
	a->count = count;
	a->racers = kcalloc(count, sizeof *a->racers);
	/* Others limit their runners' memory by the size of the arenas. */
	if (!j->device)
		open_memory(a);
	/* A GPU's runner starts slowly, and waits in no run queue: it has no pacer. */
	a->paced = !j->device && !j->opencl;
	if (a->paced && runner_launch(j, &a->pacer, subjects[0].file, &a->m) != OUT_OK)
		kdie(K_MISSING, "the runner: %s", a->pacer.why);
	for (size_t i = 0; i < count; i++) {
		struct racer *x = &a->racers[i];

		x->s = &subjects[i];
		x->start = runner_spawn(j, &x->r, subjects[i].file, &a->m);
	}
	spent_on(j, before);
	return a;
}

void
race_open(struct race *a)
{
	enum spent before = spent_on(a->j, SPENT_STARTING);

	if (a->j->device)
		open_memory(a);
	for (size_t i = 0; i < a->count; i++)
		if (a->racers[i].start == OUT_OK)
			runner_set_up(a->j, &a->racers[i].r, &a->m);
	spent_on(a->j, before);
}

void
race_close(struct race *a)
{
	/* All at once: those of a GPU take long to end. */
	for (size_t i = 0; i < a->count; i++)
		if (a->racers[i].r.outer > 0)
			kill(a->racers[i].r.outer, SIGKILL);
	for (size_t i = 0; i < a->count; i++)
		runner_close(&a->racers[i].r);
	if (a->paced)
		runner_close(&a->pacer);
	memory_close(a->j, &a->m);
	free(a->racers);
	free(a);
}

void
race_greet(struct race *a)
{
	enum spent before = spent_on(a->j, SPENT_STARTING);

	if (a->paced)
		runner_greet(a->j, &a->pacer);
	for (size_t i = 0; i < a->count; i++)
		greet(a, &a->racers[i]);
	spent_on(a->j, before);
}

void
race_check(struct race *a)
{
	enum spent before = spent_on(a->j, SPENT_STARTING);
	struct racer *x = a->racers;

	if (x->start == OUT_OK) {
		greet(a, x);
		x->start = runner_load(a->j, &x->r);
		x->loaded = true;
	}
	x->s->tier = 2;
	if (x->start == OUT_OK)
		judge_correctness(a->j, x->s, &a->m, &x->r);
	else
		subject_outcome(x->s, x->start, &x->r, NULL);
	spent_on(a->j, before);
}

/* A subject that failed, or could not be timed on a busy machine, has no times. */
static void
end_all(struct race *a)
{
	for (size_t i = 0; i < a->count; i++) {
		struct racer *x = &a->racers[i];

		if (x->out || a->busy)
			json_array_clear(x->s->timing);
		if (!x->out)
			x->s->tier = 3;
		if (!x->out && !x->s->status)
			x->s->status = STATUS_CORRECT;
		if (!x->out && a->busy)
			kbuf_printf(&x->s->log,
			    "not timed: other programs kept the processors busy for %.0f s\n",
			    (double)a->waited_ns * 1e-9);
	}
	race_close(a);
}

/* How busy the machine was during the timing. */
static json_t *
machine_json(const struct race *a)
{
	double share = delayed_share(a);
	bool busy = a->busy || share > busy_share;

	if (a->busy)
		kwarn("the machine is busy: "
		      "other programs used the processors for %.0f s; not timed",
		    (double)a->waited_ns * 1e-9);
	else if (busy)
		kwarn("the machine is busy: "
		      "%.0f %% of the time went to other programs and is not counted",
		    100 * share);
	return json_pack("{s:b,s:f,s:f}", "busy", (int)busy, "delay_pct", 100 * share, "waited_s",
	    (double)a->waited_ns * 1e-9);
}

static bool
is_in(const struct race *a, const char *name)
{
	for (size_t i = 0; i < a->count; i++)
		if (!strcmp(a->racers[i].s->name, name))
			return !a->racers[i].out;
	return false;
}

/* A racer that failed later has not won earlier workloads either. */
static void
drop_pairs(const struct race *a, json_t *pairs)
{
	bool none = is_over(a) || a->busy;

	for (size_t i = json_array_size(pairs); i-- > 0;) {
		const json_t *p = json_array_get(pairs, i);

		if (none || !is_in(a, kjson_str(p, "of")) || !is_in(a, kjson_str(p, "name")))
			json_array_remove(pairs, i);
	}
}

/*
 * Move the judge to the only processor that candidates use, or back to BEFORE. A processor that
 * sleeps while the judge works on another one runs the next call at a different speed: for seconds
 * at a time, and for one program more often than for another.
 */
static void
stay_beside(struct judge *j, cpu_set_t *before, bool beside)
{
	if (j->device || j->opencl || j->o.threads != 1)
		return;
	if (beside)
		sched_getaffinity(0, sizeof *before, before);
	j->beside = sched_setaffinity(0, sizeof j->cpus, beside ? &j->cpus : before) == 0 && beside;
}

/* Adds what the device is doing; asking takes a while. */
static void
add_state(const struct race *a)
{
	json_auto_t *state = device_state();

	kjson_foreach(row, a->racers[0].s->timing)
		json_object_set(row, "device", state);
}

/*
 * Time all workloads; returns the noise floor. The last goes of a workload come right after its
 * rounds, before the next one: a candidate that sees a size again knows that its times are taken.
 * Those of the last workload are still to come.
 */
static double
time_all(struct race *a, json_t *pairs)
{
	struct judge *j = a->j;
	double squares = 0;
	size_t timed = 0;

	for (size_t i = 0; i < j->task->workload_count && !is_over(a) && !a->busy; i++) {
		const struct ktask_workload *w = &j->task->workloads[i];
		double noise;

		if (!w->timed || !ktask_in_set(w, j->o.set))
			continue;
		if (timed++)
			last_goes(a);
		if (is_over(a))
			break;
		noise = one_workload(a, w, pairs);
		squares += isnan(noise) ? 0 : noise * noise;
	}
	/* For the geometric mean over the workloads, whose errors are independent. */
	return timed ? sqrt(squares) / (double)timed : 0;
}

double
race_run(struct race *a, json_t *pairs, int shared)
{
	struct judge *j = a->j;
	cpu_set_t before;
	double noise;
	int lock;

	/*
	 * Starting takes longer than many a measurement: several judges may do that at once, as
	 * long as nobody measures.
	 */
	race_greet(a);
	for (size_t i = 0; i < a->count; i++)
		drop(&a->racers[i], a->racers[i].start);
	close(shared);
	lock = judge_lock(j, true);
	j->alone = true;
	spent_on(j, SPENT_TIMING);
	load_all(a);
	stay_beside(j, &before, true);
	noise = time_all(a, pairs);
	j->machine = machine_json(a);
	/* What follows needs no quiet machine, and must not disturb others who measure. */
	j->alone = false;
	spent_on(j, SPENT_WAITING);
	klock_share(lock);
	spent_on(j, SPENT_TIMING);
	if (j->device)
		add_state(a);
	if (a->w && !a->busy)
		last_goes(a);
	stay_beside(j, &before, false);
	drop_pairs(a, pairs);
	if (is_over(a))
		noise = 0;
	/* A process that ends disturbs its device. */
	end_all(a);
	close(lock);
	return noise;
}
