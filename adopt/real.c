/* SPDX-License-Identifier: Apache-2.0 */
/* real: see real.h. */
#include "real.h"

#include <sys/prctl.h>

#include "klock.h"
#include "kstat.h"
#include "watch.h"

enum { PAIRS_MAX = 32 };
/* Whole runs vary more than the calls. */
static const double wall_slack = 0.02;
/* Non-integer arguments of the function may differ by this much between the two programs. */
static const double near_args = 0.01;

static const char *const names[] = { "winner", "original" };

static void
watch_build_of(bool was)
{
	watch = (struct watch){ .folder = adopt_path("real/%s", names[was]),
		.overlay = adopt_path("real/%s.files", names[was]),
		.cuda = adoption.device };
}

/*
 * Run STEP in a separate process: observation ends the program when something is missing, and here
 * changes must be undone then. False when it failed; it has reported why on standard error.
 */
static bool
apart(int (*step)(void))
{
	pid_t parent = getpid(), pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		kdie_io("fork");
	if (!pid) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
			_exit(K_IO);
		adoption_unlock();
		exit(step());
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

struct run {
	json_t *calls;
	double wall_s, total_ns;
};

/* The comparison that is being made: one a process. */
static struct {
	const struct patch *patch;
	bool was; /* the original is built */
	size_t least;
	double gate;
	struct pair {
		struct run old, new;
	} list[PAIRS_MAX];
	size_t count;
} pairs;

static int
build_step(void)
{
	const struct patch *p = pairs.patch;

	watch_build_of(pairs.was);
	if (p->called && !pairs.was) {
		/* In this process, what is watched is another function. */
		adoption.unit = p->called;
		adoption.kernel = kjson_str(adoption.unit, "function");
		adoption.entry = ""; /* its arguments have their own names */
	}
	patch_write(p, pairs.was, watch.overlay);
	watch_find();
	watch_prepare();
	return K_OK;
}

bool
real_build(const struct patch *p, bool was)
{
	pairs.patch = p;
	pairs.was = was;
	return apart(build_step);
}

/* ---- runs ---- */

static struct run
run_once(bool was)
{
	int64_t begun = know_ns();
	struct run r = { 0 };

	watch_build_of(was);
	r.calls = watch_run(WATCH_TIME);
	r.wall_s = kseconds_since(begun);
	kjson_foreach(call, r.calls)
		r.total_ns += kjson_num(call, "ns");
	return r;
}

/* The arguments of a call as a text; the caller frees. */
static char *
key_of(const json_t *call)
{
	return json_dumps(json_object_get(call, "args"), KIO_DUMP) ?: kstrdup("");
}

/* Adds the time of a call to a member of ROW. */
static void
add_time(json_t *row, const char *name, const json_t *call)
{
	kjson_put(row, name, kjson_num(row, name) + kjson_num(call, "ns") / 1e3);
}

/* Times by arguments: one row {"args", "calls", "old_us", "new_us", "ratio", "share"} each. */
static json_t *
rows(void)
{
	json_auto_t *index = json_object();
	json_t *list = json_array();
	double all = 0;

	kforeach_list(p, &pairs) {
		all += p->old.total_ns / 1e3;
		kjson_foreach(call, p->old.calls) {
			auto_free char *key = key_of(call);
			json_t *row = kjson_ensure(
			    index, key, json_pack("{s:O?}", "args", json_object_get(call, "args")));

			kjson_count(row, "calls", 1);
			add_time(row, "old_us", call);
			add_time(row, "new_us", json_array_get(p->new.calls, kjson_at(call)));
		}
	}
	kjson_foreach_member(key, row, index) {
		double was = kjson_num(row, "old_us"), now = kjson_num(row, "new_us");

		kjson_put(row, "ratio", was > 0 ? now / was : 0);
		kjson_put(row, "share", all > 0 ? was / all : 0);
		kjson_put(row, "calls", kjson_int(row, "calls") / (json_int_t)pairs.count);
		json_array_append(list, row);
	}
	return list;
}

/* Integers must be equal; other values may come from results, which are rounded differently. */
static bool
same_args(const json_t *x, const json_t *y)
{
	if (json_object_size(x) != json_object_size(y))
		return false;
	kjson_foreach_member(name, v, x) {
		const json_t *w = json_object_get(y, name);
		double a = json_number_value(v), b = json_number_value(w);

		if (!json_equal(v, w) &&
		    !(json_is_real(v) && json_is_real(w) &&
		        fabs(a - b) <= near_args * fmax(fabs(a), fabs(b))))
			return false;
	}
	return true;
}

static bool
same_calls(const json_t *x, const json_t *y)
{
	return !kany(kjson_foreach(call, x),
	    !same_args(json_object_get(call, "args"),
	        json_object_get(json_array_get(y, kjson_at(call)), "args")));
}

/* Threads and processes make their calls in a different order in every run. */
static void
sort_calls(json_t *calls)
{
	kjson_foreach(call, calls) {
		auto_free char *key = key_of(call);

		kjson_put(call, "key", key);
	}
	kjson_sort_by(calls, "key");
}

/*
 * Every run must make the same calls with the same arguments, one by one or when they are sorted by
 * these. Returns why they cannot be compared, or NULL; the caller frees.
 */
static char *
calls_differ(void)
{
	json_t *first = pairs.list[0].old.calls;

	for (int sorted = 0; sorted < 2; sorted++) {
		bool same = true;

		kforeach_list(p, &pairs) {
			size_t n = json_array_size(first), was = json_array_size(p->old.calls),
			       now = json_array_size(p->new.calls);

			if (was != n || now != n)
				return kasprintf("the runs make different numbers of calls: %zu, "
				                 "%zu and %zu",
				    n, was, now);
			same = same && same_calls(first, p->old.calls) &&
			    same_calls(first, p->new.calls);
		}
		if (same)
			return NULL;
		kforeach_list(p, &pairs) {
			sort_calls(p->old.calls);
			sort_calls(p->new.calls);
		}
	}
	return kstrdup("the two programs pass different arguments to the kernel, in any order");
}

/* The share of the time of all calls that the winner saves in a pair of runs. */
static double
saved(const struct pair *p)
{
	return 1 - p->new.total_ns / p->old.total_ns;
}

/* Medians over the pairs, with intervals. */
struct gain {
	struct kstat_interval saved;
	struct kstat_interval
	    whole; /* the time of the whole application, relative to the original's */
};

static struct gain
gain_so_far(void)
{
	double calls[PAIRS_MAX], all[PAIRS_MAX];
	struct gain g;

	for (size_t i = 0; i < pairs.count; i++) {
		const struct pair *p = &pairs.list[i];

		calls[i] = saved(p);
		all[i] = p->new.wall_s / p->old.wall_s;
	}
	kstat_median(calls, pairs.count, &g.saved);
	kstat_median(all, pairs.count, &g.whole);
	return g;
}

/*
 * The runs so far are consistent both with the required gain and with none; or the application
 * seems to take longer, but perhaps does not: more runs may tell.
 */
static bool
is_unclear(void)
{
	struct gain g = gain_so_far();

	return (g.saved.low <= 0 && g.saved.high >= pairs.gate) ||
	    (g.whole.median > 1 + wall_slack && g.whole.low <= 1);
}

static json_t *
number(double x)
{
	return json_real(round(1e6 * x) / 1e6);
}

/*
 * Adds the pairs to RECORD. Returns why the winner is no better, or NULL: the gain does not reach
 * the gate or exceed the noise, or the application as a whole is slower. The caller frees.
 */
static char *
decide(json_t *record)
{
	struct gain g = gain_so_far();
	struct kstat_interval m = g.saved, w = g.whole;
	json_t *list = json_array();
	double worst = INFINITY;

	kforeach_list(p, &pairs) {
		worst = fmin(worst, saved(p));
		kjson_append(list, "{s:f,s:f,s:f,s:f,s:f}", "old_us", p->old.total_ns / 1e3,
		    "new_us", p->new.total_ns / 1e3, "reduction", saved(p), "old_wall_s",
		    p->old.wall_s, "new_wall_s", p->new.wall_s);
	}
	kjson_extend(record, "{s:o,s:o,s:o,s:o,s:o,s:o}", "pairs", list, "reduction",
	    number(m.median), "low", number(m.low), "high", number(m.high), "worst", number(worst),
	    "wall", number(w.median));
	if (m.low <= 0 && m.high >= pairs.gate)
		return kasprintf("inconclusive: after %zu pairs of runs, all calls "
		                 "together may take from %.1f %% more to %.1f %% less time; "
		                 "use --pairs for more pairs",
		    pairs.count, -100 * m.low, 100 * m.high);
	if (m.median < pairs.gate)
		return kasprintf("all calls together take %.1f %% %s in the application, but %.1f "
		                 "%% less is required",
		    100 * fabs(m.median), m.median < 0 ? "more" : "less", 100 * pairs.gate);
	if (w.low > 1 && w.median > 1 + wall_slack)
		return kasprintf("the calls are %.1f %% shorter, but the application as a whole "
		                 "takes %.1f %% longer",
		    100 * m.median, 100 * (w.median - 1));
	return NULL;
}

/*
 * Arguments that the winner no longer gets (the launch geometry) are ignored when calls are
 * compared.
 */
static void
drop_arguments(struct run *r)
{
	const json_t *called = pairs.patch->called, *kept = json_object_get(called, "parameters");

	kjson_foreach(x, called ? adoption.unit : NULL, "parameters") {
		const char *name = kjson_str(x, "name");

		if (!kjson_find(kept, "name", name))
			kjson_foreach(call, r->calls)
				json_object_del(json_object_get(call, "args"), name);
	}
}

/* A B, B A: a drift of the machine affects both. */
static void
run_pair(void)
{
	struct pair *p = &pairs.list[pairs.count];

	for (size_t i = 0; i < 2; i++) {
		bool was = i == pairs.count % 2;

		*(was ? &p->old : &p->new) = run_once(was);
	}
	drop_arguments(&p->old);
	pairs.count++;
}

/* Makes at least so many pairs of runs and writes the results to adopt/real/result.json. */
static int
compare_step(void)
{
	size_t least = pairs.least, most = least < KSTAT_ENOUGH ? KSTAT_ENOUGH : PAIRS_MAX;
	char *copy = siblings_copy_path(adopt_path("real/%s", names[0]));
	json_auto_t *record = json_pack("{s:s,s:o,s:f,s:f,s:f}", "schema", "real/1", "gate",
	    number(pairs.gate), "reduction", 0.0, "worst", 0.0, "wall", 0.0);
	auto_free char *why = NULL;
	int lock = klock_cpu(true);

	/* The first run of each program pays for cold files. */
	for (int i = 0; i < 2; i++)
		json_decref(run_once(!i).calls);
	while (pairs.count < least || (pairs.count < most && is_unclear())) {
		kprogress("application: pair %zu of %zu", pairs.count + 1,
		    pairs.count < least ? least : most);
		run_pair();
	}
	close(lock);
	why = calls_differ();
	if (!why) {
		auto_free char *slow = decide(record);

		json_object_set_new(record, "configurations", rows());
		why = outputs_all_differ(copy) ?: kstrdup(slow);
	}
	kjson_extend(record, "{s:b,s:s}", "faster", !why, "why", why ?: "");
	write_json(adopt_path("real/result.json"), record);
	kforeach_list(p, &pairs) {
		json_decref(p->old.calls);
		json_decref(p->new.calls);
	}
	return K_OK;
}

json_t *
real_compare(const struct patch *p, size_t least, double gate)
{
	char *path = adopt_path("real/result.json");

	pairs.least = least < PAIRS_MAX ? least : PAIRS_MAX;
	pairs.patch = p;
	pairs.gate = gate;
	unlink(path);
	return apart(compare_step) ? kjson_if_there(path) : NULL;
}
