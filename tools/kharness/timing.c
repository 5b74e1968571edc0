/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: tier T3: how long a call takes. Every sample is taken on inputs drawn for it, from cold caches, and what
 * came out is compared with the oracle's results; subjects take turns in the order A B, B A, so that a drift of the
 * machine falls on all alike.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kharness.h"
#include "klock.h"
#include "kstat.h"

enum {
	CALLS_MAX = 128,		/* calls in one sample at most */
	CHECKED_MIN = 1,		/* of them, where checking all would take too long */
	SLOW_SAMPLES = 3,		/* enough for a subject whose call takes longer than slow_s */
	MORE_CALLS = 2,			/* samples with room for so many times the calls, and need of them, are taken anew */
	/* all samples of a workload, with drawing and checking, in this many times --timing-s */
	WALL_FACTOR = 4
};
static const double slow_s = 2, warm_slow_s = 1;
/*
 * The runner's clock may run behind the judge's by this share and this much before it counts as forged; so often; and
 * only when processor time, too, beyond that of an empty call, says that more was done than the runner admits: on a busy
 * machine a reply can be late in all honesty.
 */
static const double forged_share = 0.8, forged_ns = 50000;
enum {
	FORGED_TIMES = 3,
	FORGED_ATTEMPTS = 3	/* a forger is one in every attempt; an honest subject on an overrun machine is not */
};

struct racer {
	struct subject *s;
	struct runner r;
	bool out;			/* failed: takes no more part */
	size_t enough;			/* samples at least */
	/* Of the workload being timed; by round, NAN where it took no part. */
	double *ns, *cpu;
	size_t count, forged;
	double total_ns;
	struct alone alone;		/* calls by themselves */
};

struct race {
	struct judge *j;
	struct racer *racers;
	size_t count;
	const struct ktask_workload *w;
	size_t calls, rounds;
	size_t most;			/* calls that a sample may hold */
	size_t checked;			/* calls of a sample whose results are compared with the oracle's */
	double fastest_ns;		/* call of the candidate so far, be it timed or not */
	double oracle_s;		/* what the results of one call take to compute */
};

static void
fail(struct racer *x, const char *status, const char *check, const char *detail)
{
	subject_fail(x->s, status, check, detail);
	kbuf_printf(&x->s->log, "%s\n", detail);
	x->out = true;
}

/* What came out of a timed call must be right too. */
static bool
verify(struct race *a, struct racer *x, const struct batch *b)
{
	char where[256], text[512];

	if (!memory_intact(a->j, &x->r.m, b, where, sizeof where)) {
		snprintf(text, sizeof text, "it wrote %s in a timed run (workload %s)", where, b->w->name);
		fail(x, "run_error", "out_of_bounds_write", text);
		return false;
	}
	for (size_t k = 0; a->j->oracle && k < b->count; k++) {
		struct verdict v;

		if (!call_is_checked(a->j, &b->calls[k]))
			continue;

		verdict_begin(&v);
		memory_check(a->j, &x->r.m, b, k, &v);
		verdict_end(a->j, &v);
		if (v.ok)
			continue;
		subject_explain(x->s, b, &v);
		fail(x, "wrong_value", "timed_run", "the result of a timed run was wrong");
		return false;
	}
	return true;
}

/* Nanoseconds of one go as the judge believes them; counts those whose own clock contradicts it. */
static double
believed(const struct race *a, struct racer *x, const struct span *s)
{
	double judge = (double)(s->judge_ns - x->r.handshake_ns), own = (double)s->own_ns;
	/* Waking and stopping the threads of a pool is nobody's forgery either, however many it has. */
	double cpu = ((double)s->cpu_ns - (double)x->r.handshake_cpu_ns * x->r.threads) / a->j->o.threads;

	x->forged += own < forged_share * judge - forged_ns && own < forged_share * cpu - forged_ns;
	return runner_ns(a->j, &x->r, s);
}

/* One go on a batch; the time of one call in ns, or -1 when the racer is out. */
static double
run(struct race *a, struct racer *x, const struct batch *b, bool cold, double *cpu)
{
	struct span s;
	enum outcome e;

	memory_load(a->j, &x->r.m, b);
	if (cold)
		a->j->space->flush();
	e = runner_go(a->j, &x->r, b, &s);
	if (e != OUT_OK) {
		subject_outcome(x->s, e, &x->r, b);
		x->out = true;
		return -1;
	}
	*cpu = (double)s.cpu_ns / (double)b->count;
	return believed(a, x, &s) / (double)b->count;
}

/*
 * Untimed calls, by count and by time; returns the fastest, in ns. They look like timed ones, so that nothing can be
 * told apart; the number of samples does not depend on them.
 */
static double
warm_up(struct race *a, struct racer *x)
{
	const struct options *o = &a->j->o;
	double fastest = INFINITY, cpu;
	int64_t start = know_ns();

	for (int i = 0; i < 1 || i < o->warmup || (double)(know_ns() - start) < o->warmup_s * 1e9; i++) {
		struct batch b;
		double ns;

		batch_draw(a->j, &b, a->w, a->j->task->distributions[0], 1, false);
		ns = run(a, x, &b, false, &cpu);
		batch_free(a->j, &b);
		if (ns < 0)
			break;
		fastest = fmin(fastest, ns);
		if (ns > warm_slow_s * 1e9)
			break;
	}
	/* The first calls may well be slow to start; that is no forgery. */
	x->forged = 0;
	return fastest;
}

static size_t
slots(const struct judge *j, const struct ktask_workload *w)
{
	size_t in, out, n;

	memory_slot(j->task, w, &in, &out);
	n = j->space->arena_bytes / (in + out);
	/* A second slot, when memory allows, gives large tensors new addresses too. */
	return n > CALLS_MAX ? CALLS_MAX : n > 2 ? n : in + out < j->space->arena_bytes * 4 ? 2 : 1;
}

/* What calls of a workload cost the judge, and how many a sample may hold for that. */
static void
measure_oracle(struct race *a)
{
	const struct space *space = a->j->space;
	struct batch b;
	int64_t start = know_ns();

	batch_draw(a->j, &b, a->w, a->j->task->distributions[0], 1, true);
	space->fence();
	a->oracle_s = (double)(know_ns() - start) * 1e-9;
	batch_free(a->j, &b);
	a->most = slots(a->j, a->w);
	if (!space->samples_checks)
		a->most = (size_t)fmin((double)a->most, fmax(1, space->oracle_s / a->oracle_s));
}

/* Calls that take SAMPLE_NS, as far as memory and the oracle's speed allow. The candidate decides for all. */
static double
calls_wanted(const struct race *a)
{
	if (a->j->task->alone)
		return 1;
	return fmin(a->j->space->sample_ns / fmax(a->fastest_ns, 100), (double)a->most);
}

/*
 * A candidate that only warms up slowly gets samples that are short, and what the handshake leaves uncertain is a large part
 * of those: they are taken anew, with more calls. That ends, since a call must have become twice as fast each time.
 */
static bool
too_short(const struct race *a)
{
	return !a->racers[0].out && calls_wanted(a) >= MORE_CALLS * (double)a->calls;
}

/* Whether a racer needs no more samples; WALL: time is up. */
static bool
is_done(const struct race *a, const struct racer *x, bool wall)
{
	const struct options *o = &a->j->o;

	return x->out || x->count >= (size_t)o->max_samples ||
	    (x->count >= x->enough && (wall || x->total_ns >= o->timing_s * 1e9));
}

/* One sample of every racer that needs one. The candidate runs along as long as anybody does, for the pairs. */
static void
round_of(struct race *a, size_t round)
{
	struct batch b;

	batch_draw_checked(a->j, &b, a->w, a->j->task->distributions[0], a->calls, a->checked);
	for (size_t i = 0; i < a->count; i++) {
		size_t which = round % 2 ? a->count - 1 - i : i;
		struct racer *x = &a->racers[which];
		double ns, cpu;

		x->ns[round] = NAN;
		if (x->out || (which > 0 && is_done(a, x, false)))
			continue;
		ns = run(a, x, &b, true, &cpu);
		if (ns < 0 || !verify(a, x, &b))
			continue;
		x->ns[round] = ns;
		x->cpu[x->count++] = cpu;
		x->total_ns += ns * (double)a->calls;
		if (ns > slow_s * 1e9 && x->enough > SLOW_SAMPLES)
			x->enough = SLOW_SAMPLES;
	}
	batch_free(a->j, &b);
}

static bool
all_done(const struct race *a, bool wall)
{
	for (size_t i = 0; i < a->count; i++)
		if (!is_done(a, &a->racers[i], wall))
			return false;
	return true;
}

static void
begin(struct race *a, const struct ktask_workload *w)
{
	const struct options *o = &a->j->o;
	size_t enough = (size_t)o->min_samples;

	a->w = w;
	a->rounds = 0;
	/* A ratio needs so many pairs that their extremes bound its median with confidence. */
	if (a->count > 1 && enough < KSTAT_ENOUGH)
		enough = KSTAT_ENOUGH;
	for (size_t i = 0; i < a->count; i++) {
		struct racer *x = &a->racers[i];
		double ns = INFINITY;

		x->enough = enough < (size_t)o->max_samples ? enough : (size_t)o->max_samples;
		x->count = x->forged = 0;
		x->total_ns = 0;
		x->ns = kcalloc((size_t)o->max_samples + 1, sizeof *x->ns);
		x->cpu = kcalloc((size_t)o->max_samples + 1, sizeof *x->cpu);
		if (!x->out)
			ns = warm_up(a, x);
		if (ns > slow_s * 1e9 && x->enough > SLOW_SAMPLES)
			x->enough = SLOW_SAMPLES;
		if (i == 0)
			a->fastest_ns = fmin(a->fastest_ns, ns);
	}
	measure_oracle(a);
	a->calls = (size_t)fmax(1, ceil(calls_wanted(a)));
	a->checked = (size_t)fmin((double)a->calls, fmax(CHECKED_MIN, a->j->space->oracle_s / a->oracle_s));
}

/* The samples without the rounds it sat out. The caller frees. */
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

/* Add the row of a workload; returns the relative half-width of the median's confidence interval. */
static double
add_row(const struct race *a, struct racer *x)
{
	json_t *row = json_object(), *list = json_array();
	struct kstat_interval m;
	struct kstat st;
	size_t n;
	double *v = samples(a, x, &n), cpu;

	kstat_of(v, n, &st);
	kstat_median(v, n, &m);
	cpu = kstat_quantile(x->cpu, x->count, 0.5);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer((json_int_t)llround(v[i])));
	json_object_set_new(row, "workload", json_string(a->w->name));
	if (a->w->weight != 1)
		json_object_set_new(row, "weight", json_real(a->w->weight));
	json_object_set_new(row, "samples_ns", list);
	json_object_set_new(row, "calls_per_sample", json_integer((json_int_t)a->calls));
	json_object_set_new(row, "checked_per_sample", json_integer((json_int_t)a->checked));
	set_ns(row, "median_ns", st.median);
	set_ns(row, "min_ns", st.min);
	set_ns(row, "mean_ns", st.mean);
	set_ns(row, "sd_ns", st.sd);
	set_ns(row, "iqr_ns", st.iqr);
	set_ns(row, "cpu_ns", cpu);
	set_ns(row, "handshake_ns", (double)x->r.handshake_ns);
	json_object_set_new(row, "threads", json_integer(x->r.threads));
	alone_add(a->j, &x->alone, row);
	if (a->j->device)
		json_object_set_new(row, "device", device_state());
	json_array_append_new(x->s->timing, row);
	free(v);
	return (m.high - m.low) / 2 / m.median;
}

/* Ratio of a subject's time to the candidate's, from the rounds that both took part in. */
static void
add_pair(const struct race *a, const struct racer *x, json_t *pairs)
{
	double *ratios = kcalloc(a->rounds + 1, sizeof *ratios);
	struct kstat_interval m;
	size_t n = 0;

	for (size_t i = 0; i < a->rounds; i++)
		if (!isnan(x->ns[i]) && !isnan(a->racers[0].ns[i]))
			ratios[n++] = x->ns[i] / a->racers[0].ns[i];
	if (n) {
		kstat_median(ratios, n, &m);
		json_array_append_new(pairs, json_pack("{s:s,s:s,s:f,s:f,s:f,s:i}", "name", x->s->name, "workload",
		    a->w->name, "ratio", m.median, "low", fmax(m.low, 0), "high", m.high, "pairs", (int)n));
	}
	free(ratios);
}

static bool
looks_forged(const struct racer *x)
{
	return !x->out && x->forged >= FORGED_TIMES && x->forged > x->count / 2;
}

static void
judge_racer(const struct race *a, struct racer *x)
{
	char text[256];
	size_t n;
	double *v;

	if (x->out)
		return;
	v = samples(a, x, &n);
	if (looks_forged(x)) {
		fail(x, "rejected", "clock_forged",
		    "the clock in its process fell far behind the judge's, or its work went on after it had returned");
	} else if (kstat_quantile(v, n, 0.5) < a->j->task->min_time_ns) {
		snprintf(text, sizeof text, "workload %s took less than min_time_ns of the task", a->w->name);
		fail(x, "quarantined", "too_fast", text);
	}
	free(v);
}

static void
end(struct race *a)
{
	for (size_t i = 0; i < a->count; i++) {
		free(a->racers[i].ns);
		free(a->racers[i].cpu);
	}
}

/* Samples of all subjects, until they are enough, or known to be too short. */
static void
take_samples(struct race *a)
{
	int64_t start = know_ns();

	for (; !a->racers[0].out && !too_short(a) && a->rounds < (size_t)a->j->o.max_samples; a->rounds++) {
		if (all_done(a, (double)(know_ns() - start) > WALL_FACTOR * a->j->o.timing_s * 1e9))
			break;
		round_of(a, a->rounds);
		a->fastest_ns = fmin(a->fastest_ns, a->racers[0].ns[a->rounds]);
	}
}

static bool
anybody_forged(const struct race *a)
{
	bool forged = false;

	for (size_t i = 0; i < a->count; i++)
		forged |= looks_forged(&a->racers[i]);
	return forged;
}

/* Time one workload; the candidate's noise, or NAN when it is out. */
static double
one_workload(struct race *a, const struct ktask_workload *w, json_t *pairs)
{
	double noise = NAN;

	a->fastest_ns = INFINITY;
	begin(a, w);
	take_samples(a);
	for (int forged = 0; too_short(a) || (anybody_forged(a) && ++forged < FORGED_ATTEMPTS);) {
		end(a);
		begin(a, w);
		take_samples(a);
	}
	for (size_t i = 0; i < a->count; i++) {
		struct racer *x = &a->racers[i];

		judge_racer(a, x);
		x->out = x->out || !alone_measure(a->j, &x->r, x->s, w, &x->alone);
		if (!x->out && !a->racers[0].out && x->count) {
			double half = add_row(a, x);

			if (i == 0)
				noise = half;
			else
				add_pair(a, x, pairs);
		}
	}
	end(a);
	return noise;
}

static void
sizes(const struct judge *j, size_t *in, size_t *out)
{
	const struct ktask *t = j->task;

	*in = *out = 0;
	for (size_t i = 0; i < t->workload_count; i++) {
		const struct ktask_workload *w = &t->workloads[i];
		size_t a, b, n = slots(j, w);

		if (!w->timed || !ktask_in_set(w, j->o.set))
			continue;
		memory_slot(t, w, &a, &b);
		*in = n * a > *in ? n * a : *in;
		*out = n * b > *out ? n * b : *out;
	}
}

static void
drop(struct racer *x, enum outcome e)
{
	if (e == OUT_OK)
		return;
	subject_outcome(x->s, e, &x->r, NULL);
	x->out = true;
}

/* All runners are started, and stopped again, before the first is timed. */
static void
start_all(struct race *a, struct subject *subjects)
{
	size_t in, out;

	sizes(a->j, &in, &out);
	for (size_t i = 0; i < a->count; i++) {
		struct racer *x = &a->racers[i];

		x->s = &subjects[i];
		drop(x, runner_start(a->j, &x->r, x->s->file, in, out, CALLS_MAX));
	}
}

static void
load_all(struct race *a)
{
	for (size_t i = 0; i < a->count; i++)
		if (!a->racers[i].out)
			drop(&a->racers[i], runner_load(a->j, &a->racers[i].r, true));
}

/* A subject that failed has no times. */
static void
end_all(struct race *a)
{
	for (size_t i = 0; i < a->count; i++) {
		struct racer *x = &a->racers[i];

		if (x->out)
			json_array_clear(x->s->timing);
		else
			x->s->tier = 3;
		if (!x->out && !x->s->status)
			x->s->status = "correct";
		runner_close(a->j, &x->r);
	}
	free(a->racers);
}

double
judge_timing(struct judge *j, struct subject *subjects, size_t count, json_t *pairs, int shared)
{
	struct race a = { .j = j, .racers = kcalloc(count, sizeof *a.racers), .count = count };
	double squares = 0;
	size_t timed = 0;
	int64_t start = know_ns() - j->spent_ns.waiting;
	int lock;

	/* Starting takes longer than many a measurement: several may do that at once, as long as nobody measures. */
	start_all(&a, subjects);
	close(shared);
	lock = judge_lock(j, true);
	j->alone = true;
	load_all(&a);
	for (size_t i = 0; i < j->task->workload_count && !a.racers[0].out; i++) {
		const struct ktask_workload *w = &j->task->workloads[i];
		double noise;

		if (!w->timed || !ktask_in_set(w, j->o.set))
			continue;
		noise = one_workload(&a, w, pairs);
		squares += isnan(noise) ? 0 : noise * noise;
		timed++;
	}
	if (a.racers[0].out)
		json_array_clear(pairs);
	end_all(&a);
	j->alone = false;
	close(lock);
	j->spent_ns.timing = know_ns() - j->spent_ns.waiting - start;
	/* Of the geometric mean over the workloads, whose errors are independent. */
	return timed ? sqrt(squares) / (double)timed : 0;
}
