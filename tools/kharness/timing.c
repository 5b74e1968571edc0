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
static const double precise = 0.02, precise_ratio = 0.1;
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
	bool greeted;
	bool out;     /* failed: no longer takes part */
	bool slow;    /* a call takes longer than slow_s */
	size_t calls; /* of a sample: the first ones of the race's */
	/*
	 * For the workload being timed, by round; NAN if it took no part. All are in one block,
	 * which begins at NS.
	 */
	double *ns, *cpu;
	double *lone, *host; /* of single calls */
	/* of the last go: the host's time until the entry returned */
	double host_ns;
	size_t count, lones;
	size_t goes, forged; /* undisturbed, and how many of them contradict the judge's clock */
	double total_ns;
};

/* The cost of a go itself, with as many calls as the current goes have. */
struct pacing {
	struct handshake h, recent[HANDSHAKES];
	size_t count;
};

static struct race {
	struct racer *racers;
	size_t count;
	/*
	 * With one that does not race: on a device it makes the candidate's checks. A candidate
	 * that is timed in the same process would know by them that it is not an anchor.
	 */
	size_t spawned;
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
} race;

/* Does what follows with each racer X, which it declares. */
#define racers_each(x) kforeach_of(x, race.racers, race.count)
#define spawned_each(x) kforeach_of(x, race.racers, race.spawned)

static void
fail(struct racer *x, enum status status, const char *check, const char *detail)
{
	subject_tell(x->s, status, check, detail);
	x->out = true;
}

/* How many racers are candidates: the first, or all. */
static size_t
firsts(void)
{
	return judge.o.all_pairs ? race.count : 1;
}

/* Are a racer's results compared? An anchor's are not: they were when it was a candidate. */
static bool
is_judged(const struct racer *x)
{
	return judge.oracle && (judge.o.all_pairs || x == race.racers);
}

/* A call whose result the oracle knows; a racer's OUTPUTS may no longer be in memory. */
static void
judge_call(struct racer *x, const char *outputs, const struct batch *b, size_t call)
{
	struct verdict v;

	if (!is_judged(x) || x->out)
		return;
	verdict_begin(&v);
	memory_check(&race.m, outputs, b, call, &v);
	verdict_end(&v);
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
draw_witness(void)
{
	struct krng rng = judge_stream(judge.draws++, "witness");

	return (race.acquitted < CHECKED_ROUNDS && race.rounds < race.enough) ||
	    krng_below(&rng, CHECKED_LATER) == 0;
}

/* The calls that are not checked: the first racer of a go is the witness for the others. */
static void
judge_others(struct racer *x, const struct batch *b)
{
	size_t call;

	if (!race.with_witness)
		return;
	if (!race.seen.outputs) {
		witness_take(&race.seen, &race.m, b);
		race.first = x;
		return;
	}
	if (!is_judged(x) && !is_judged(race.first))
		return;
	call = witness_differs(&race.seen, &race.m, b);
	if (call == b->count)
		return;
	batch_expect_call(b, call);
	judge_call(x, race.m.out.memory, b, call);
	judge_call(race.first, race.seen.outputs, b, call);
	race.acquitted += !x->out && !race.first->out;
}

/* The results of a timed call must be right too. */
static bool
verify(struct racer *x, const struct batch *b)
{
	char where[256];
	/* A change that is found later may be blamed on another racer. */
	bool all = race.rounds % THOROUGH_EVERY == 0;
	auto_spent(SPENT_CHECKING);

	if (!memory_intact(&race.m, b, all, where, sizeof where))
		fail(x, STATUS_RUN_ERROR, "out_of_bounds_write",
		    kshown("it wrote %s in a timed run (workload %s)", where, b->w->name));
	for (size_t k = 0; k < b->count; k++)
		if (call_is_checked(&b->calls[k]))
			judge_call(x, race.m.out.memory, b, k);
	if (!x->out)
		judge_others(x, b);
	return !x->out;
}

/* In a void go the judge itself may have been late, which is not the racer's doing. */
static void
suspect(struct racer *x, const struct span *s)
{
	double seen = runner_undelayed_ns(&x->r, s) - race.p.h.ns,
	       own = (double)s->own_ns - race.p.h.own_ns;
	/* Waking the threads of a pool, however many, is not forgery. */
	double cpu = ((double)s->done_cpu_ns - race.p.h.cpu_ns * x->r.threads) / judge.o.threads;

	x->goes++;
	x->forged += own < forged_share * seen - forged_ns && own < forged_share * cpu - forged_ns;
}

/* Does every racer have as many threads as the first? */
static bool
are_alike(void)
{
	return !kany(racers_each(x), !x->out && x->r.threads != race.racers->r.threads);
}

/*
 * Matters only while nobody else measures, because only then do times count. Where there are more
 * threads than processors they wait for each other, and a driver's threads wait for their device:
 * that means nothing. The waiting time of a single thread is known, and subtracted; but if another
 * racer has more threads, which lose an unknown amount, timing a busy moment would be unfair.
 */
static bool
is_disturbed(const struct racer *x, const struct span *s)
{
	if (!judge.alone)
		return false;
	/* The host's delays do not stop a device's work, and so cannot be separated from it. */
	if (judge.device)
		return (double)(s->delay_ns + s->judge_delay_ns) >
		    busy_share * (double)s->judge_ns + delay_ns;
	if (judge.opencl || x->r.threads > judge.o.threads || (x->r.threads == 1 && are_alike()))
		return false;
	return (double)s->delay_ns >
	    (x->r.threads > 1 ? delay_share : busy_share) * (double)s->judge_ns + delay_ns;
}

/*
 * One go on the batch in memory; returns the time of one call in ns, -1 when the racer is out, NAN
 * when others had the processors.
 */
static double
run(struct racer *x, const struct batch *b, double *cpu)
{
	struct span s;

	if (!subject_passed(x->s, runner_go(&x->r, b, &s), &x->r, b)) {
		x->out = true;
		return -1;
	}
	race.run_ns += (double)s.judge_ns;
	/* Threads on all processors delay the judge, so its delays do not count then. */
	race.delay_ns +=
	    (double)(s.delay_ns + (x->r.threads > 1 && !judge.device ? 0 : s.judge_delay_ns));
	*cpu = (double)s.cpu_ns / (double)b->count;
	/* As the runner reports it, but no more than the judge has seen. */
	x->host_ns = fmin((double)s.host_ns, (double)s.judge_ns);
	if (is_disturbed(x, &s))
		return NAN;
	suspect(x, &s);
	return runner_ns(&x->r, &s, &race.p.h) / (double)b->count;
}

/* ---- what a go costs ---- */

static void
take_handshake(const struct span *s)
{
	struct pacing *p = &race.p;

	p->recent[p->count++ % HANDSHAKES] = runner_handshake_from(&race.pacer, s);
	p->h = runner_handshake_of(p->recent, p->count < HANDSHAKES ? p->count : HANDSHAKES);
}

/* The pacer reads the rows of the batch in memory, and makes no call. */
static void
pace(const struct batch *b)
{
	if (race.paced) {
		struct span s;
		auto_spent(SPENT_PACING);

		if (runner_go(&race.pacer, b, &s) != OUT_OK)
			kdie(K_MISSING, "the runner: %s", race.pacer.why);
		take_handshake(&s);
	}
}

/* ---- a workload's beginning ---- */

/* What was loaded for the first racer of a round also serves the others, except for the outputs. */
static void
set_out(const struct batch *b, bool first)
{
	auto_spent(SPENT_LOADING);

	if (first)
		memory_load(&race.m, b);
	else
		memory_reload(&race.m, b);
	spent_on(SPENT_FLUSHING);
	memory_flush(&race.m, b);
}

/*
 * Untimed calls on batches of one call, limited by count and time; returns the fastest, in ns. They
 * look like timed calls, so that a candidate cannot tell them apart; the number of samples does not
 * depend on them. Each has inputs of its own: a candidate that keeps results would seem quick, and
 * its samples would get too many calls.
 */
static double
warm_up(struct racer *x)
{
	const struct options *o = &judge.o;
	double fastest = INFINITY, cpu;
	int64_t start = know_ns();

	for (int i = 0; i < WARM_CALLS || kseconds_since(start) < o->warmup_s; i++) {
		struct batch b;
		double ns;

		batch_draw(&b, race.w, judge.task->distributions[0], 1, false);
		set_out(&b, true);
		pace(&b);
		ns = run(x, &b, &cpu);
		batch_free(&b);
		if (ns < 0)
			break;
		fastest = fmin(fastest, ns);
		if (ns > warm_slow_s * 1e9)
			break;
	}
	/* The first calls may well start slowly; that is not forgery. */
	x->goes = x->forged = 0;
	return fastest;
}

static size_t
most_calls(void)
{
	size_t most = judge.device ? CALLS_MAX_DEVICE : CALLS_MAX;
	size_t fit = PIPE_BYTES / (sizeof(uint64_t) * row_words());

	return most < fit ? most : fit;
}

static size_t
slots(const struct ktask_workload *w)
{
	size_t in, out, n, most = most_calls();

	memory_slot(w, &in, &out);
	n = judge.space->arena_bytes / (in + out);
	/* A second slot, if memory allows, gives large tensors new addresses too. */
	return n > most ? most : n > 2 ? n : in + out < judge.space->arena_bytes * 4 ? 2 : 1;
}

/*
 * Measures how long the judge needs for the inputs of a call and their results, which limits the
 * calls of a sample.
 */
static void
time_oracle(void)
{
	struct batch b;
	int64_t start = know_ns();

	batch_draw(&b, race.w, judge.task->distributions[0], 1, true);
	judge.space->fence();
	race.oracle_s = kseconds_since(start);
	batch_free(&b);
}

/*
 * The candidate determines for all how many calls a sample has; if all have as many threads, the
 * fastest does.
 */
static void
note_speed(size_t racer, double ns)
{
	if (racer == 0 || judge.o.all_pairs)
		race.fastest_ns = fmin(race.fastest_ns, ns);
}

/* Number of calls that take SAMPLE_NS, within the limits of memory and the oracle's speed. */
static double
calls_wanted(void)
{
	double sample_ns = fmax(judge.space->sample_ns, HANDSHAKE_SHARE * race.lone.h.ns);

	return judge.task->alone ? 1
	                         : fmin(sample_ns / fmax(race.fastest_ns, 100), (double)race.most);
}

/* Whether no racer is left whose times are needed. */
static bool
is_over(void)
{
	return !kany(kforeach_of(x, race.racers, firsts()), !x->out);
}

/*
 * A candidate that is slow only while it warms up gets short samples, and the handshake's
 * uncertainty is a large part of those: they are taken again, with more calls. This terminates,
 * because a call must have become twice as fast each time.
 */
static bool
too_short(void)
{
	return !is_over() && calls_wanted() >= MORE_CALLS * (double)race.calls;
}

/* Whether the runner can hide tensors. */
static bool
hides(void)
{
	return !judge.device && !judge.opencl;
}

static void
begin(const struct ktask_workload *w)
{
	const struct options *o = &judge.o;
	double warm_ns[RACERS_MAX];
	size_t room = (size_t)o->max_samples + 1;
	bool slow = false;

	race.w = w;
	race.rounds = race.p.count = 0;
	race.to_check = CHECKED_ROUNDS;
	race.acquitted = 0;
	race.most = slots(w);
	time_oracle();
	for (size_t i = 0; i < race.count; i++) {
		struct racer *x = &race.racers[i];
		double ns = INFINITY;

		x->count = x->lones = x->goes = x->forged = 0;
		x->total_ns = 0;
		x->ns = kcalloc(4 * room, sizeof *x->ns);
		x->cpu = x->ns + room;
		x->lone = x->cpu + room;
		x->host = x->lone + room;
		if (!x->out)
			ns = warm_up(x);
		x->slow = ns > slow_s * 1e9 && isfinite(ns);
		slow |= x->slow;
		note_speed(i, ns);
		warm_ns[i] = ns;
	}
	/* A sample's goes now have more rows. */
	race.lone = race.p;
	race.p.count = 0;
	race.enough = slow ? SLOW_SAMPLES : race.count > 1 ? KSTAT_PAIRS : (size_t)o->min_samples;
	race.enough = (size_t)fmin((double)race.enough, (double)o->max_samples);
	race.calls = (size_t)fmax(1, rint(calls_wanted()));
	race.to_hide = hides();
	race.to_look = hides() ? EARLY_LOOKS : 0;
	race.checked = (size_t)fmin(
	    (double)race.calls, fmax(CHECKED_MIN, judge.space->oracle_s / race.oracle_s));
	for (size_t i = 0; i < race.count; i++)
		race.racers[i].calls =
		    (size_t)fmin((double)race.calls, fmax(1, go_most_ns / fmax(warm_ns[i], 1)));
}

/* ---- who is faster ---- */

/* Logarithms of the ratios OTHER to X for the rounds in which both took part; returns how many. */
static size_t
log_ratios(const struct racer *x, const struct racer *other, double *logs)
{
	size_t n = 0;

	for (size_t i = 0; i < race.rounds; i++)
		if (!isnan(x->ns[i]) && !isnan(other->ns[i]))
			logs[n++] = log(other->ns[i] / x->ns[i]);
	return n;
}

/* The logarithm of the ratio OTHER to X with its interval; returns the number of pairs, 0: none. */
static size_t
compare_racers(const struct racer *x, const struct racer *other, struct kstat_interval *m)
{
	auto_free double *logs = kcalloc(race.rounds + 1, sizeof *logs);
	size_t n = log_ratios(x, other, logs);

	if (n)
		kstat_pairs(logs, n, m);
	return n;
}

static bool
is_clear(const struct racer *x, const struct racer *other)
{
	struct kstat_interval m;

	if (x->out || other->out)
		return true;
	return compare_racers(x, other, &m) && kstat_verdict(&m) != KSTAT_INCONCLUSIVE &&
	    (m.high - m.low) / 2 < precise_ratio;
}

/* Whether a verdict would need more rounds than allowed. */
static bool
is_hopeless(const struct racer *x, const struct racer *other)
{
	auto_free double *logs = kcalloc(race.rounds + 1, sizeof *logs);
	size_t n = log_ratios(x, other, logs);

	return n && race.rounds >= HOPELESS_MIN && !x->out && !other->out &&
	    kstat_pairs_needed(logs, n) > HOPELESS * judge.o.max_samples;
}

/* Whether the median of a racer that is compared with nobody is known precisely. */
static bool
is_precise(const struct racer *x)
{
	auto_free double *logs = kcalloc(race.rounds + 1, sizeof *logs);
	struct kstat_interval m;
	size_t n = 0;

	kforeach_of(ns, x->ns, race.rounds)
		if (!isnan(*ns))
			logs[n++] = log(*ns);
	if (n)
		kstat_pairs(logs, n, &m);
	return n && (m.high - m.low) / 2 < precise;
}

/* The pairs that matter: the candidate with every other racer, or every racer with every other. */
static bool
all_clear(void)
{
	for (size_t i = 0; i < firsts(); i++)
		for (size_t k = i + 1; k < race.count; k++)
			if (!is_clear(&race.racers[i], &race.racers[k]) &&
			    !is_hopeless(&race.racers[i], &race.racers[k]))
				return false;
	return race.count > 1 || is_precise(&race.racers[0]);
}

static bool
is_look(void)
{
	return race.rounds == race.enough || kany(kforeach(look, looks), race.rounds == *look);
}

/* ---- rounds ---- */

/*
 * The inputs of some goes that do not count: a kernel may be slower with them, or wrong if it was
 * careful only while it was checked. Returns how many kinds the task has.
 */
static size_t
rare_kinds(enum kdist kinds[RARE_MAX])
{
	size_t n = 0;

	if (batch_may_mix())
		kinds[n++] = KDIST_MIXED;
	if (compare_is_sharp(race.w))
		kinds[n++] = KDIST_SPARSE;
	for (size_t d = 1; d < judge.task->distribution_count; d++)
		if (judge.task->distributions[d] == KDIST_SPECIAL)
			kinds[n++] = KDIST_SPECIAL;
	return n;
}

/* The distribution of a round's inputs: the task's first, and rarely, in secret, another. */
static enum kdist
inputs_of_round(void)
{
	enum kdist kinds[RARE_MAX];
	size_t count = rare_kinds(kinds);
	struct krng rng = judge_stream(judge.draws, "rare inputs");

	return count && krng_below(&rng, RARE_EVERY) == 0 ? kinds[krng_below(&rng, count)]
	                                                  : judge.task->distributions[0];
}

/*
 * Whether the results of this round are compared with the oracle's: all, if that is quick;
 * otherwise a secret choice of the rounds before the first look (selection sampling, as in
 * batch.c), one in CHECKED_LATER after it, and every second one with rare inputs.
 */
static bool
is_checked_round(enum kdist inputs)
{
	size_t left = race.rounds < race.enough ? race.enough - race.rounds : 0;
	struct krng rng = judge_stream(judge.draws, "checked rounds");
	bool yes;

	if (race.oracle_s <= judge.space->oracle_s || race.enough <= CHECKED_ROUNDS)
		return true;
	if (inputs != judge.task->distributions[0] && krng_below(&rng, 2))
		return true;
	yes = left ? krng_below(&rng, left) < race.to_check : krng_below(&rng, CHECKED_LATER) == 0;
	race.to_check -= yes && left;
	return yes;
}

/*
 * If all have one thread, they begin a round on the same processor, and every second round on the
 * next: no two processors are alike, and the scheduler leaves a process where it was. -1: anywhere.
 * It is never the judge's processor, which a racer would have to wait for.
 */
static int
processor_of_round(void)
{
	cpu_set_t set = judge.cpus;
	size_t at;

	if (judge.device || judge.opencl)
		return -1;
	if (kany(racers_each(x), !x->out && x->r.threads > 1))
		return -1;
	CPU_CLR(sched_getcpu(), &set);
	if (!CPU_COUNT(&set))
		return -1;
	at = race.rounds / 2 % (size_t)CPU_COUNT(&set);
	for (int i = 0;; i++)
		if (CPU_ISSET(i, &set) && !at--)
			return i;
}

/*
 * One go of each racer, or of those that are not slow, in the order of the round. False when others
 * had the processors: the round is void.
 */
static bool
one_go_each(const struct batch *b, bool slow, double *ns, double *cpu)
{
	bool first = true, void_go = false;

	judge.begin_on = processor_of_round();
	race.with_witness = draw_witness();
	for (size_t i = 0; i < race.count && !void_go; i++) {
		size_t which = race.rounds % 2 ? race.count - 1 - i : i;
		struct racer *x = &race.racers[which];
		struct batch own = *b;

		own.count = x->calls < b->count ? x->calls : b->count;
		ns[which] = cpu[which] = -1;
		if (x->out || (x->slow && !slow))
			continue;
		set_out(b, first);
		/* A go with hidden inputs has a different cost. */
		if (first && !b->hidden)
			pace(b);
		first = false;
		ns[which] = run(x, &own, &cpu[which]);
		void_go = isnan(ns[which]);
		if (!(ns[which] < 0) && !verify(x, &own))
			ns[which] = -1;
	}
	witness_drop(&race.seen);
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
lone_calls(void)
{
	double ns[RACERS_MAX], cpu[RACERS_MAX];
	struct pacing batch = race.p;
	enum kdist inputs = inputs_of_round();
	struct batch b;

	race.p = race.lone;
	/* These times count, so only those rare inputs are used that hardly change the speed. */
	inputs = inputs == KDIST_MIXED ? inputs : judge.task->distributions[0];
	batch_draw(&b, race.w, inputs, 1, race.oracle_s <= judge.space->oracle_s);
	if (one_go_each(&b, true, ns, cpu))
		for (size_t i = 0; i < race.count; i++)
			if (ns[i] >= 0)
				note_lone(&race.racers[i], ns[i]);
	batch_free(&b);
	race.lone = race.p;
	race.p = batch;
}

/* Whether calls can touch only their own tensors in this round; it is secret. */
static bool
is_hidden_round(void)
{
	struct krng rng = judge_stream(judge.draws, "hidden rounds");

	/* A call that is slow while it warms up may be quick afterwards. */
	if (race.rounds < race.enough)
		return race.to_hide && race.fastest_ns < long_ns &&
		    krng_below(&rng, race.enough - race.rounds) == 0;
	return hides() && race.calls > 1 && krng_below(&rng, HIDDEN_LATER) == 0;
}

/* How many of the calls the slowest racer makes, among those whose results count. */
static size_t
least_calls(void)
{
	size_t least = race.calls;

	racers_each(x)
		if (is_judged(x) && !x->out && x->calls < least)
			least = x->calls;
	return least;
}

static bool
has_slow(void)
{
	return kany(racers_each(x), x->slow && !x->out);
}

/* Goes of racers that are quick compared with a slow one: many per round. */
struct goes {
	double ns[RACERS_MAX][2 * QUICK_GOES_MOST + 1];
	size_t count;
};

static void
note_goes(struct goes *g, const double *ns)
{
	for (size_t i = 0; i < race.count; i++)
		g->ns[i][g->count] = ns[i];
	g->count++;
}

/* Every go has its own inputs. */
static void
more_goes(enum kdist inputs, struct goes *g)
{
	double ns[RACERS_MAX], cpu[RACERS_MAX];
	int64_t start = know_ns();

	for (int i = 0; i < QUICK_GOES_MOST && has_slow(); i++) {
		struct krng rng = judge_stream(judge.draws, "checked goes");
		struct batch b;

		if (i >= QUICK_GOES && kseconds_since(start) > slow_s / QUICK_SHARE)
			break;
		batch_draw_checked(&b, race.w, inputs, race.calls,
		    krng_below(&rng, CHECKED_LATER) ? 0 : race.checked, least_calls());
		if (one_go_each(&b, false, ns, cpu))
			note_goes(g, ns);
		batch_free(&b);
	}
}

static bool
round_of(void)
{
	double ns[RACERS_MAX], cpu[RACERS_MAX];
	bool done, hidden = is_hidden_round(), counts;
	enum kdist inputs = inputs_of_round();
	struct goes goes = { .count = 0 };
	struct batch b;

	more_goes(inputs, &goes);
	batch_draw_checked(&b, race.w, inputs, race.calls,
	    is_checked_round(inputs) ? race.checked : 0, least_calls());
	b.hidden = hidden;
	counts = b.dist == judge.task->distributions[0] && !hidden;
	done = one_go_each(&b, true, ns, cpu);
	batch_free(&b);
	race.to_hide &= !done || !hidden;
	if (!done || !counts)
		return done;
	note_goes(&goes, ns);
	more_goes(inputs, &goes);
	for (size_t i = 0; i < race.count; i++) {
		struct racer *x = &race.racers[i];

		if (x->out)
			ns[i] = -1;
		else if (!x->slow)
			ns[i] = kstat_quantile(goes.ns[i], goes.count, 0.5);
		if (ns[i] >= 0)
			ns[i] = fmax(ns[i], runner_least_ns(&race.p.h) / (double)x->calls);
		x->ns[race.rounds] = ns[i] < 0 ? NAN : ns[i];
		if (ns[i] < 0)
			continue;
		note_speed(i, ns[i]);
		x->cpu[x->count++] = cpu[i];
		if (race.calls == 1)
			note_lone(x, ns[i]);
		x->total_ns += ns[i] * (double)x->calls;
	}
	if (race.calls > 1 && race.rounds % (judge.device ? LONE_EVERY_DEVICE : LONE_EVERY) == 0)
		lone_calls();
	race.rounds++;
	return true;
}

/* Others had the processors. Wait a little longer each time; false when that has taken too long. */
static bool
wait_for_machine(int64_t since)
{
	auto_spent(SPENT_BUSY);

	race.nap_us =
	    race.nap_us ? race.nap_us * 2 < nap_max_us ? race.nap_us * 2 : nap_max_us : nap_min_us;
	usleep((useconds_t)race.nap_us);
	race.waited_ns += know_ns() - since;
	race.busy = (double)race.waited_ns > judge.o.busy_s * 1e9;
	return !race.busy;
}

/* How long a go of a racer takes. */
static double
go_ns(const struct racer *x)
{
	return x->count ? x->total_ns / (double)x->count : 0;
}

/*
 * A go in which a racer is inspected in between. Only that racer makes it, because the inputs
 * change during it. Scalars have other values than in the rounds. All racers are inspected: one
 * that was not would know that it is an anchor, and could slow down in favour of what comes after
 * it.
 */
static void
look_at(struct racer *x)
{
	struct ktask_workload w;
	struct krng rng = judge_stream(judge.draws, "looks");
	struct batch b;
	double cpu;

	vary_scalars(race.w, &w);
	batch_draw_checked(&b, &w, judge.task->distributions[0], x->calls, race.checked, x->calls);
	b.look_ns = krng_double(&rng) * go_ns(x);
	/* On a device calls return before they are done, so a time would tell nothing. */
	if (x->calls > 1 && (judge.device || krng_below(&rng, 2)))
		b.look_row = 1 + krng_below(&rng, x->calls - 1);
	race.with_witness = false;
	set_out(&b, true);
	if (!(run(x, &b, &cpu) < 0))
		verify(x, &b);
	batch_free(&b);
	vary_free(&w);
}

/* Looks between the rounds, at secret times. */
static void
look_between_rounds(void)
{
	size_t left = race.rounds < race.enough ? race.enough - race.rounds : 0;
	struct krng rng = judge_stream(judge.draws++, "early looks");

	if (!hides() ||
	    (left ? krng_below(&rng, left) >= race.to_look : krng_below(&rng, LOOKS_LATER)))
		return;
	race.to_look -= left > 0;
	racers_each(x)
		if (x->calls > 1 && x->count && !x->out)
			look_at(x);
}

/*
 * Goes that do not count, with tensors hidden and inputs of each rare kind: they catch a candidate
 * that was careful only in its first calls. Then some in which it is inspected in between.
 */
static void
last_goes(void)
{
	double ns[RACERS_MAX], cpu[RACERS_MAX];
	enum kdist kinds[RARE_MAX];
	size_t rare = rare_kinds(kinds);
	int most_looks = judge.device ? DEVICE_LOOKS : LOOKS;
	bool done;

	/* For other scalars, and hidden tensors. */
	if (!rare)
		kinds[rare++] = judge.task->distributions[0];
	for (size_t i = 0, tries = 0; i < rare && tries < LAST_TRIES && !is_over(); tries++) {
		struct ktask_workload w;
		struct batch b;

		vary_scalars(race.w, &w);
		batch_draw_checked(&b, &w, kinds[i], race.calls, race.checked, least_calls());
		b.hidden = hides();
		done = one_go_each(&b, true, ns, cpu);
		batch_free(&b);
		vary_free(&w);
		i += done;
	}
	if (judge.opencl)
		return;
	racers_each(x)
		for (int n = 0; n < most_looks && x->calls > 1 && !x->out; n++)
			look_at(x);
}

/* Samples of all subjects, until there are enough, or they are known to be too short. */
static void
take_samples(void)
{
	const struct options *o = &judge.o;
	int64_t start = know_ns(), waited = race.waited_ns;

	while (!is_over() && !too_short() && race.rounds < (size_t)o->max_samples) {
		int64_t now = know_ns();
		bool late = (double)(now - start - (race.waited_ns - waited)) >
		    WALL_FACTOR * o->timing_s * 1e9;

		if (race.rounds >= race.enough && (late || (is_look() && all_clear())))
			break;
		if (round_of()) {
			race.nap_us = 0;
			look_between_rounds();
		} else if (!is_over() && !wait_for_machine(now))
			return;
	}
}

/* ---- a workload's end ---- */

/* The samples, without the rounds in which it took no part. The caller frees. */
static double *
samples(const struct racer *x, size_t *n)
{
	double *v = kcalloc(race.rounds + 1, sizeof *v);

	*n = 0;
	kforeach_of(ns, x->ns, race.rounds)
		if (!isnan(*ns))
			v[(*n)++] = *ns;
	return v;
}

static void
set_ns(json_t *row, const char *key, double ns)
{
	kjson_put(row, key, llround(ns));
}

/* The cost of a call that starts on a device, or with caches, that others have used. */
static void
add_lone(const struct racer *x, json_t *row)
{
	if (!x->lones)
		return;
	set_ns(row, "alone_ns", kstat_quantile(x->lone, x->lones, 0.5));
	kjson_put(row, "alone_samples", x->lones);
	if (judge.device)
		set_ns(row, "host_ns", kstat_quantile(x->host, x->lones, 0.5));
}

/*
 * Add the row of a workload; returns the relative half-width of the median's confidence interval.
 */
static double
add_row(struct racer *x)
{
	size_t n, checked = race.checked < x->calls ? race.checked : x->calls;
	auto_free double *v = samples(x, &n);
	json_t *list = json_array(),
	       *row = json_pack("{s:s,s:o*,s:o,s:I,s:I,s:i}", "workload", race.w->name, "weight",
	           race.w->weight != 1 ? json_real(race.w->weight) : NULL, "samples_ns", list,
	           "calls_per_sample", (json_int_t)x->calls, "checked_per_sample",
	           (json_int_t)checked, "threads", x->r.threads);
	struct kstat_interval m;
	struct kstat st;

	kstat_of(v, n, &st);
	kstat_median(v, n, &m);
	kforeach_of(one, v, n)
		json_array_append_new(list, json_integer(llround(*one)));
	set_ns(row, "median_ns", st.median);
	set_ns(row, "min_ns", st.min);
	set_ns(row, "mean_ns", st.mean);
	set_ns(row, "sd_ns", st.sd);
	set_ns(row, "iqr_ns", st.iqr);
	set_ns(row, "cpu_ns", kstat_quantile(x->cpu, x->count, 0.5));
	set_ns(row, "handshake_ns", race.p.h.ns);
	add_lone(x, row);
	json_array_append_new(x->s->timing, row);
	return (m.high - m.low) / 2 / m.median;
}

/* Ratio of a subject's time to that of X, from the rounds that both took part in. */
static void
add_pair(size_t i, size_t k, json_t *pairs)
{
	const struct racer *x = &race.racers[i], *other = &race.racers[k];
	const struct kstat_interval *e = &race.earlier[i][k];
	struct kstat_interval m;
	size_t n = compare_racers(x, other, &m);

	if (!n)
		return;
	if (!isnan(e->median))
		m = (struct kstat_interval){ (m.median + e->median) / 2, fmin(m.low, e->low),
			fmax(m.high, e->high) };
	kjson_append(pairs, "{s:s,s:s,s:s,s:f,s:f,s:f,s:i,s:s}", "name", other->s->name, "of",
	    x->s->name, "workload", race.w->name, "ratio", exp(m.median), "low", exp(m.low), "high",
	    fmin(exp(m.high), 1e9), "pairs", (int)n, "verdict", kstat_verdicts[kstat_verdict(&m)]);
}

static bool
looks_forged(const struct racer *x)
{
	return !x->out && x->forged >= FORGED_TIMES && x->forged > x->goes / 2;
}

/*
 * How much longer a racer's single call takes than a call in a row, at the quantile Q of its single
 * calls; NAN when there were too few.
 */
static double
excess_ns(const struct racer *x, double q)
{
	size_t n;
	auto_free double *v = samples(x, &n);

	return x->out || x->lones < LONE_MIN || !n
	    ? NAN
	    : kstat_quantile(x->lone, x->lones, q) - kstat_quantile(v, n, 0.5);
}

/* The time in which others kept the processors from the racers, relative to the racers' time. */
static double
delayed_share(void)
{
	return race.run_ns > 0 ? race.delay_ns / race.run_ns : 0;
}

/*
 * Is the time of a call in a row of calls far below that of a single call? On a busy machine,
 * replies can be hundreds of microseconds late. Half of a few single calls may then look long, but
 * not most of them; and calls of a few microseconds show nothing at all.
 */
static bool
solves_together(const struct racer *x)
{
	double excess = excess_ns(x, lone_most), usual = 0, lone;

	/* A driver's work for one call overlaps with the calls before it. */
	if (isnan(excess) || race.calls == 1 || judge.device || judge.opencl)
		return false;
	/* If there is only one candidate, it may not excuse others. fmax leaves out what is NAN. */
	for (size_t i = judge.o.all_pairs ? 0 : 1; i < race.count; i++)
		if (x != &race.racers[i])
			usual = fmax(usual, excess_ns(&race.racers[i], 0.5));
	usual += x->r.threads > 1 || delayed_share() > busy_share ? wake_ns : lone_ns;
	lone = kstat_quantile(x->lone, x->lones, lone_most);
	return lone - excess < lone_share * (lone - usual);
}

static void
judge_racer(struct racer *x)
{
	size_t n;
	auto_free double *v = samples(x, &n);

	if (x->out || !x->count)
		return;
	if (looks_forged(x))
		fail(x, STATUS_REJECTED, "clock_forged",
		    "the clock in its process was much slower than the judge's, or it went on "
		    "working after it returned");
	else if (solves_together(x))
		fail(x, STATUS_REJECTED, "solved_together",
		    kshown("a single call of workload %s takes %.1f us, but %.1f us in a row of "
		           "%zu calls, so calls were computed together in advance",
		        race.w->name, 1e-3 * kstat_quantile(x->lone, x->lones, lone_most),
		        1e-3 * kstat_quantile(v, n, 0.5), race.calls));
	else if (kstat_quantile(v, n, 0.5) < judge.task->min_time_ns)
		fail(x, STATUS_QUARANTINED, "too_fast",
		    kshown("workload %s took less than min_time_ns of the task", race.w->name));
}

static void
end(void)
{
	racers_each(x)
		free(x->ns);
}

static bool
anybody_cheats(void)
{
	return kany(racers_each(x), looks_forged(x) || solves_together(x));
}

static void
drop(struct racer *x, enum outcome e)
{
	x->out |= !subject_passed(x->s, e, &x->r, NULL);
}

static void
add_pairs(json_t *pairs)
{
	for (size_t i = 0; i < firsts(); i++)
		for (size_t k = i + 1; k < race.count; k++)
			if (!race.racers[i].out && !race.racers[k].out)
				add_pair(i, k, pairs);
}

/* Keep the results of the pairs; returns whether there is a small difference among them. */
static bool
note_pairs(void)
{
	double least = delayed_share() > busy_share ? doubtful_busy : doubtful;
	bool doubt = false;

	for (size_t i = 0; i < firsts(); i++)
		for (size_t k = i + 1; k < race.count; k++) {
			struct kstat_interval *m = &race.earlier[i][k];
			enum kstat_verdict v;

			m->median = NAN;
			if (race.racers[i].out || race.racers[k].out ||
			    !compare_racers(&race.racers[i], &race.racers[k], m))
				continue;
			v = kstat_verdict(m);
			doubt |=
			    (v == KSTAT_FASTER || v == KSTAT_SLOWER) && fabs(m->median) < least;
		}
	return doubt;
}

static void
forget_pairs(void)
{
	for (size_t i = 0; i < RACERS_MAX; i++)
		for (size_t k = 0; k < RACERS_MAX; k++)
			race.earlier[i][k].median = NAN;
}

/* It is ready, and stopped. */
static void
greet(struct racer *x)
{
	if (x->start == OUT_OK && !x->greeted)
		runner_greet(&x->r);
	x->greeted = true;
}

/*
 * Without a pacer, the cost of a go is measured before anything is loaded, and the fastest counts
 * for all.
 */
static void
load_all(void)
{
	auto_spent(SPENT_STARTING);

	kforeach_of(x, race.racers, race.paced ? 0 : race.count)
		if (!x->out) {
			struct handshake h = runner_handshake(&x->r);

			if (race.p.h.ns <= 0 || h.ns < race.p.h.ns)
				race.p.h = h;
		}
	racers_each(each)
		if (!each->out)
			drop(each, runner_load(&each->r));
}

/* New processes for all that are still in the race. */
static void
start_again(void)
{
	auto_spent(SPENT_STARTING);

	racers_each(x) {
		if (x->out)
			continue;
		runner_close(&x->r);
		x->start = runner_launch(&x->r, x->s->file, &race.m);
		x->greeted = false;
	}
	racers_each(each)
		if (!each->out) {
			greet(each);
			drop(each, each->start);
		}
	load_all();
}

/*
 * Samples of all subjects on one workload; taken again if they turn out to be too short, or if
 * somebody seems to cheat.
 */
static void
sample(const struct ktask_workload *w)
{
	race.fastest_ns = INFINITY;
	begin(w);
	take_samples();
	for (int cheats = 0;
	     !race.busy && (too_short() || (anybody_cheats() && ++cheats < CHEAT_ATTEMPTS));) {
		end();
		begin(w);
		take_samples();
	}
}

/* Time one workload; returns the candidate's noise, or NAN when it is out. */
static double
one_workload(const struct ktask_workload *w, json_t *pairs)
{
	double noise = NAN;

	sample(w);
	if (!note_pairs() || judge.opencl || race.busy || race.enough < KSTAT_PAIRS) {
		forget_pairs();
	} else {
		/* These processes end here, and what they did counts. */
		last_goes();
		end();
		start_again();
		sample(w);
	}
	kforeach_of(x, race.racers, race.busy ? 0 : race.count) {
		judge_racer(x);
		if (!x->out && x->count && (judge.o.all_pairs || !race.racers->out)) {
			double half = add_row(x);

			noise = x == race.racers ? half : noise;
		}
	}
	if (!race.busy)
		add_pairs(pairs);
	end();
	return noise;
}

/* ---- all of it ---- */

static void
open_memory(void)
{
	size_t in = 0, out = 0;

	workloads_each(w) {
		size_t x, y, n = w->timed ? slots(w) : 1;

		/* A GPU's memory is also that of tier T2. */
		if ((!w->timed && !judge.device) || !ktask_in_set(w, judge.o.set))
			continue;
		memory_slot(w, &x, &y);
		in = n * x > in ? n * x : in;
		out = n * y > out ? n * y : out;
	}
	memory_open(&race.m, in, out, most_calls());
}

void
race_spawn(struct subject *subjects, size_t count)
{
	auto_spent(SPENT_STARTING);

	race.count = count;
	race.spawned = count + (judge.device && judge.o.correctness);
	race.racers = kcalloc(race.spawned, sizeof *race.racers);
	/* Others limit their runners' memory by the size of the arenas. */
	if (!judge.device)
		open_memory();
	/* A GPU's runner starts slowly, and waits in no run queue: it has no pacer. */
	race.paced = !judge.device && !judge.opencl;
	if (race.paced && runner_launch(&race.pacer, subjects[0].file, &race.m) != OUT_OK)
		kdie(K_MISSING, "the runner: %s", race.pacer.why);
	for (size_t i = 0; i < race.spawned; i++) {
		struct racer *x = &race.racers[i];

		x->s = &subjects[i % count];
		x->start = runner_spawn(&x->r, x->s->file, &race.m);
	}
}

void
race_open(void)
{
	auto_spent(SPENT_STARTING);

	if (judge.device)
		open_memory();
	spawned_each(x)
		if (x->start == OUT_OK)
			runner_set_up(&x->r, &race.m);
}

void
race_close(void)
{
	/* All at once: those of a GPU take long to end. */
	spawned_each(x)
		if (x->r.outer > 0)
			kill(x->r.outer, SIGKILL);
	spawned_each(each)
		runner_close(&each->r);
	if (race.paced)
		runner_close(&race.pacer);
	memory_close(&race.m);
	free(race.racers);
}

void
race_greet(void)
{
	auto_spent(SPENT_STARTING);

	if (race.paced)
		runner_greet(&race.pacer);
	spawned_each(x)
		greet(x);
}

void
race_check(void)
{
	struct racer *x = &race.racers[race.count];
	auto_spent(SPENT_STARTING);

	if (x->start == OUT_OK) {
		greet(x);
		x->start = runner_load(&x->r);
	}
	x->s->tier = 2;
	if (subject_passed(x->s, x->start, &x->r, NULL))
		judge_correctness(x->s, &race.m, &x->r);
}

/* A subject that failed, or could not be timed on a busy machine, has no times. */
static void
end_all(void)
{
	racers_each(x) {
		if (x->out || race.busy)
			json_array_clear(x->s->timing);
		if (!x->out)
			x->s->tier = 3;
		if (!x->out && !x->s->status)
			x->s->status = STATUS_CORRECT;
		if (!x->out && race.busy)
			kbuf_printf(&x->s->log,
			    "not timed: other programs kept the processors busy for %.0f s\n",
			    (double)race.waited_ns * 1e-9);
	}
	race_close();
}

/* How busy the machine was during the timing. */
static json_t *
machine_json(void)
{
	double share = delayed_share();
	bool busy = race.busy || share > busy_share;

	if (race.busy)
		kwarn("the machine is busy: "
		      "other programs used the processors for %.0f s; not timed",
		    (double)race.waited_ns * 1e-9);
	else if (busy)
		kwarn("the machine is busy: "
		      "%.0f %% of the time went to other programs and is not counted",
		    100 * share);
	return json_pack("{s:b,s:f,s:f}", "busy", (int)busy, "delay_pct", 100 * share, "waited_s",
	    (double)race.waited_ns * 1e-9);
}

static bool
is_in(const char *name)
{
	const struct racer *x = krow_with(race.racers, race.count, s->name, name);

	return x && !x->out;
}

/* A racer that failed later has not won earlier workloads either. */
static void
drop_pairs(json_t *pairs)
{
	bool none = is_over() || race.busy;

	for (size_t i = json_array_size(pairs); i-- > 0;) {
		const json_t *p = json_array_get(pairs, i);

		if (none || !is_in(kjson_str(p, "of")) || !is_in(kjson_str(p, "name")))
			json_array_remove(pairs, i);
	}
}

/*
 * Move the judge to the only processor that candidates use, or back to BEFORE. A processor that
 * sleeps while the judge works on another one runs the next call at a different speed: for seconds
 * at a time, and for one program more often than for another.
 */
static void
stay_beside(cpu_set_t *before, bool beside)
{
	if (judge.device || judge.opencl || judge.o.threads != 1)
		return;
	if (beside)
		sched_getaffinity(0, sizeof *before, before);
	judge.beside =
	    sched_setaffinity(0, sizeof judge.cpus, beside ? &judge.cpus : before) == 0 && beside;
}

/* Adds what the device is doing; asking takes a while. */
static void
add_state(void)
{
	json_auto_t *state = device_state();

	kjson_foreach(row, race.racers[0].s->timing)
		json_object_set(row, "device", state);
}

/*
 * Time all workloads; returns the noise floor. The last goes of a workload come right after its
 * rounds, before the next one: a candidate that sees a size again knows that its times are taken.
 * Those of the last workload are still to come.
 */
static double
time_all(json_t *pairs)
{
	double squares = 0;
	size_t timed = 0;

	workloads_each(w) {
		double noise;

		if (is_over() || race.busy || !w->timed || !ktask_in_set(w, judge.o.set))
			continue;
		if (timed++)
			last_goes();
		if (is_over())
			break;
		noise = one_workload(w, pairs);
		squares += isnan(noise) ? 0 : noise * noise;
	}
	/* For the geometric mean over the workloads, whose errors are independent. */
	return timed ? sqrt(squares) / (double)timed : 0;
}

double
race_run(json_t *pairs, int shared)
{
	cpu_set_t before;
	double noise;
	int lock;

	/*
	 * Starting takes longer than many a measurement: several judges may do that at once, as
	 * long as nobody measures.
	 */
	race_greet();
	racers_each(x)
		drop(x, x->start);
	close(shared);
	lock = judge_lock(true);
	judge.alone = true;
	spent_on(SPENT_TIMING);
	load_all();
	stay_beside(&before, true);
	noise = time_all(pairs);
	judge.machine = machine_json();
	/* What follows needs no quiet machine, and must not disturb others who measure. */
	judge.alone = false;
	spent_on(SPENT_WAITING);
	klock_share(lock);
	spent_on(SPENT_TIMING);
	if (judge.device)
		add_state();
	if (race.w && !race.busy)
		last_goes();
	stay_beside(&before, false);
	drop_pairs(pairs);
	if (is_over())
		noise = 0;
	/* A process that ends disturbs its device. */
	end_all();
	close(lock);
	return noise;
}
