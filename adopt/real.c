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
apart(int (*step)(void *arg), void *arg)
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
		exit(step(arg));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

struct build {
	const struct patch *patch;
	bool was;
};

static int
build_step(void *arg)
{
	const struct build *b = arg;

	watch_build_of(b->was);
	if (b->patch->called && !b->was) {
		/* In this process, what is watched is another function. */
		adoption.unit = b->patch->called;
		adoption.kernel = kjson_str(adoption.unit, "function");
		adoption.entry = ""; /* its arguments have their own names */
	}
	patch_write(b->patch, b->was, watch.overlay);
	watch_find();
	watch_prepare();
	return K_OK;
}

bool
real_build(const struct patch *p, bool was)
{
	struct build b = { p, was };

	return apart(build_step, &b);
}

/* ---- runs ---- */

struct run {
	json_t *calls;
	double wall_s, total_ns;
};

static void
run_once(bool was, struct run *r)
{
	json_int_t dropped;
	int64_t begun = know_ns();

	watch_build_of(was);
	r->calls = watch_run(WATCH_TIME, &dropped);
	r->wall_s = kseconds_since(begun);
	r->total_ns = 0;
	kjson_foreach(call, r->calls)
		r->total_ns += kjson_num(call, "ns");
}

static void
add_to(json_t *row, const char *name, double x)
{
	kjson_put(row, name, kjson_num(row, name) + x);
}

/* Times by arguments: one row {"args", "calls", "old_us", "new_us", "ratio", "share"} each. */
static json_t *
rows(struct run *old, struct run *new, size_t pairs)
{
	json_auto_t *index = json_object();
	json_t *list = json_array();
	double all = 0;

	for (size_t p = 0; p < pairs; p++)
		for (size_t i = 0; i < json_array_size(old[p].calls); i++) {
			json_t *args = json_object_get(json_array_get(old[p].calls, i), "args"),
			       *row;
			auto_free char *key = args ? json_dumps(args, KIO_DUMP) : kstrdup("{}");
			double was = kjson_num(json_array_get(old[p].calls, i), "ns"),
			       now = kjson_num(json_array_get(new[p].calls, i), "ns");

			row = json_object_get(index, key);
			if (!row) {
				row = json_pack("{s:O?}", "args", args);
				json_object_set_new(index, key, row);
				json_array_append(list, row);
			}
			add_to(row, "calls", 1);
			add_to(row, "old_us", was / 1e3);
			add_to(row, "new_us", now / 1e3);
			all += was / 1e3;
		}
	kjson_foreach(row, list) {
		double was = kjson_num(row, "old_us"), now = kjson_num(row, "new_us");

		kjson_put(row, "ratio", was > 0 ? now / was : 0);
		kjson_put(row, "share", all > 0 ? was / all : 0);
		kjson_put(row, "calls", (json_int_t)kjson_num(row, "calls") / (json_int_t)pairs);
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
same_order(const struct run *x, const struct run *y)
{
	for (size_t i = 0; i < json_array_size(x->calls); i++)
		if (!same_args(json_object_get(json_array_get(x->calls, i), "args"),
		        json_object_get(json_array_get(y->calls, i), "args")))
			return false;
	return true;
}

/*
 * Threads and processes make their calls in a different order in every run: so sort them by
 * arguments.
 */
static void
sort_calls(struct run *r)
{
	kjson_foreach(call, r->calls) {
		const json_t *args = json_object_get(call, "args");
		auto_free char *key = args ? json_dumps(args, KIO_DUMP) : kstrdup("");

		kjson_put(call, "key", key);
	}
	kjson_sort_by(r->calls, "key");
}

/* Do all runs make the same calls in the same order? */
static bool
all_same(const struct run *old, const struct run *new, size_t pairs)
{
	return !kany(for (size_t p = 0; p < pairs; p++),
	    !same_order(&old[0], &old[p]) || !same_order(&old[0], &new[p]));
}

/* Are the calls of all runs the same, one by one, or after sorting? */
static bool
align_calls(struct run *old, struct run *new, size_t pairs)
{
	if (all_same(old, new, pairs))
		return true;
	for (size_t p = 0; p < pairs; p++) {
		sort_calls(&old[p]);
		sort_calls(&new[p]);
	}
	return all_same(old, new, pairs);
}

/*
 * Every run must make the same calls with the same arguments. Returns why they cannot be compared,
 * or NULL; the caller frees.
 */
static char *
calls_differ(struct run *old, struct run *new, size_t pairs)
{
	size_t n = json_array_size(old[0].calls);

	for (size_t p = 0; p < pairs; p++)
		if (json_array_size(old[p].calls) != n || json_array_size(new[p].calls) != n)
			return kasprintf("the runs make different numbers "
			                 "of calls: %zu, %zu and %zu",
			    n, json_array_size(old[p].calls), json_array_size(new[p].calls));
	return align_calls(old, new, pairs) ? NULL
	                                    : kstrdup("the two programs pass different arguments "
	                                              "to the kernel, in any order");
}

/* The share of the time of all calls that the winner saves in a pair of runs. */
static double
saved(const struct run *old, const struct run *new)
{
	return 1 - new->total_ns / old->total_ns;
}

/* Medians over the pairs, with intervals. */
struct gain {
	struct kstat_interval saved;
	struct kstat_interval
	    whole; /* the time of the whole application, relative to the original's */
};

static struct gain
gain_of(const struct run *old, const struct run *new, size_t pairs)
{
	double calls[PAIRS_MAX], all[PAIRS_MAX];
	struct gain g;

	for (size_t p = 0; p < pairs; p++) {
		calls[p] = saved(&old[p], &new[p]);
		all[p] = new[p].wall_s / old[p].wall_s;
	}
	kstat_median(calls, pairs, &g.saved);
	kstat_median(all, pairs, &g.whole);
	return g;
}

/*
 * The runs so far are consistent both with the required gain and with none; or the application
 * seems to take longer, but perhaps does not: more runs may tell.
 */
static bool
is_unclear(const struct run *old, const struct run *new, size_t pairs, double gate)
{
	struct gain g = gain_of(old, new, pairs);

	return (g.saved.low <= 0 && g.saved.high >= gate) ||
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
decide(json_t *record, const struct run *old, const struct run *new, size_t pairs, double gate)
{
	struct gain g = gain_of(old, new, pairs);
	struct kstat_interval m = g.saved, w = g.whole;
	json_t *list = json_array();
	double worst = INFINITY;

	for (size_t p = 0; p < pairs; p++) {
		double reduction = saved(&old[p], &new[p]);

		worst = fmin(worst, reduction);
		json_array_append_new(list,
		    json_pack("{s:f,s:f,s:f,s:f,s:f}", "old_us", old[p].total_ns / 1e3, "new_us",
		        new[p].total_ns / 1e3, "reduction", reduction, "old_wall_s", old[p].wall_s,
		        "new_wall_s", new[p].wall_s));
	}
	json_object_update_new(record,
	    json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "pairs", list, "reduction", number(m.median),
	        "low", number(m.low), "high", number(m.high), "worst", number(worst), "wall",
	        number(w.median)));
	if (m.low <= 0 && m.high >= gate)
		return kasprintf("inconclusive: after %zu pairs of runs, all calls "
		                 "together may take from %.1f %% more to %.1f %% less time; "
		                 "use --pairs for more pairs",
		    pairs, -100 * m.low, 100 * m.high);
	if (m.median < gate)
		return kasprintf("all calls together take %.1f %% %s in the application, but %.1f "
		                 "%% less is required",
		    100 * fabs(m.median), m.median < 0 ? "more" : "less", 100 * gate);
	if (w.low > 1 && w.median > 1 + wall_slack)
		return kasprintf("the calls are %.1f %% shorter, but the application as a whole "
		                 "takes %.1f %% longer",
		    100 * m.median, 100 * (w.median - 1));
	return NULL;
}

struct comparison {
	const struct patch *patch;
	size_t pairs;
	double gate;
};

/*
 * Arguments that the winner no longer gets (the launch geometry) are ignored when calls are
 * compared.
 */
static void
drop_arguments(const struct patch *p, struct run *r)
{
	const json_t *kept = json_object_get(p->called, "parameters");

	kjson_foreach(x, adoption.unit, "parameters") {
		const char *name = kjson_str(x, "name");

		if (p->called && !kjson_find(kept, "name", name))
			kjson_foreach(call, r->calls)
				json_object_del(json_object_get(call, "args"), name);
	}
}

/* Makes the runs and writes the results to adopt/real/result.json. */
static int
compare_step(void *arg)
{
	const struct comparison *c = arg;
	char *copy = siblings_copy_path(adopt_path("real/%s", names[0]));
	struct run old[PAIRS_MAX], new[PAIRS_MAX], warm;
	json_auto_t *record = json_pack("{s:s,s:o,s:f,s:f,s:f}", "schema", "real/1", "gate",
	    number(c->gate), "reduction", 0.0, "worst", 0.0, "wall", 0.0);
	size_t pairs = 0, most = c->pairs < KSTAT_ENOUGH ? KSTAT_ENOUGH : PAIRS_MAX;
	auto_free char *why = NULL;
	int lock = klock_cpu(true);

	/* The first run of each program pays for cold files. */
	for (int i = 0; i < 2; i++) {
		run_once(!i, &warm);
		json_decref(warm.calls);
	}
	for (; pairs < c->pairs || (pairs < most && is_unclear(old, new, pairs, c->gate));
	     pairs++) {
		size_t p = pairs;

		kprogress("application: pair %zu of %zu", p + 1, p < c->pairs ? c->pairs : most);
		/* A B, B A: a drift of the machine affects both. */
		run_once(p % 2 == 0, p % 2 ? &new[p] : &old[p]);
		run_once(p % 2, p % 2 ? &old[p] : &new[p]);
		drop_arguments(c->patch, &old[p]);
	}
	close(lock);
	why = calls_differ(old, new, pairs);
	if (!why) {
		auto_free char *slow = decide(record, old, new, pairs, c->gate);

		json_object_set_new(record, "configurations", rows(old, new, pairs));
		why = outputs_all_differ(copy) ?: slow ? kstrdup(slow) : NULL;
	}
	json_object_update_new(
	    record, json_pack("{s:b,s:s}", "faster", !why, "why", why ? why : ""));
	write_json(adopt_path("real/result.json"), record);
	for (size_t p = 0; p < pairs; p++) {
		json_decref(old[p].calls);
		json_decref(new[p].calls);
	}
	return K_OK;
}

json_t *
real_compare(const struct patch *p, size_t pairs, double gate)
{
	struct comparison c = { p, pairs < PAIRS_MAX ? pairs : PAIRS_MAX, gate };
	char *path = adopt_path("real/result.json");

	unlink(path);
	return apart(compare_step, &c) ? kjson_if_there(path) : NULL;
}
