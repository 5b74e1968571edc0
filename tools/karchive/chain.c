/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karchive: checks the chain of a linear search against the scored records: every round that was
 * kept is a link, each link was compared with the one before it, and none is slower than that by
 * more than the allowance for noise.
 */

#include "karchive.h"
#include "klinear.h"
#include "ktrials.h"
#include "kverdict.h"

/* How much slower than its predecessor a link may be, in percent. */
static const double dip = 1;

struct chain {
	const json_t *list;            /* ids of the header */
	size_t next;                   /* the next link */
	const struct kcandidate *last; /* the last link; NULL: none, or damaged */
	struct klinear_run run;
	bool good;
	json_t *failures; /* in the application, see kverdict.h */
};

static void __attribute__((format(printf, 3, 4)))
blame(struct chain *c, long round, const char *format, ...)
{
	va_list args;
	auto_free char *text = NULL;

	va_start(args, format);
	text = kvasprintf(format, args);
	va_end(args);
	kwarn("round %ld: %s", round, text);
	c->good = false;
}

static double
runtime_of(const json_t *record, const char *workload)
{
	return kjson_num_or(
	    kgain_row(kjson_path(record, "score.per_workload"), workload), "runtime_ms", 0);
}

/*
 * How much faster RECORD is than the link before it, in percent: from the race between the two if
 * there was one, else from the recorded times of the workloads that both have; 0 if there are none.
 */
static double
step_percent(const struct kcandidate *before, const struct kcandidate *c)
{
	const json_t *rows = kjson_path(c->json, "score.per_workload"), *row;
	double logs = 0;
	size_t n = 0, i;

	if (kjson_path(c->json, "eval.pairs"))
		return kjson_num_or(c->json, "score.decision.improvement_pct", 0);
	json_array_foreach(rows, i, row) {
		double was = runtime_of(before->json, kjson_str_or(row, "workload", "")),
		       now = kjson_num_or(row, "runtime_ms", 0);

		if (was > 0 && now > 0) {
			logs += log(was / now);
			n++;
		}
	}
	return n ? 100 * (exp(logs / (double)n) - 1) : 0;
}

/* Did all links after INCUMBENT, up to the last one, fail in the application? */
static bool
is_stepped_over(const struct chain *c, const char *incumbent)
{
	for (size_t i = c->next; i-- > 0;) {
		const char *id = json_string_value(json_array_get(c->list, i));

		if (!id || !strcmp(id, incumbent))
			return id && i + 1 < c->next;
		if (!kverdict_failed(c->failures, id))
			return false;
	}
	return false;
}

/* The reference was not compared with anything. */
static void
check_step(struct chain *c, long round, const struct kcandidate *now)
{
	double step;

	if (!c->last)
		return;
	if (strcmp(now->incumbent, c->last->id) && !is_stepped_over(c, now->incumbent))
		blame(c, round, "it was compared with %s, but the last accepted round is %s",
		    now->incumbent, c->last->id);
	step = step_percent(c->last, now);
	if (step < -dip)
		blame(c, round,
		    "%s is %.1f %% slower than the link before it, %s; the limit is %.0f %%",
		    now->id, -step, c->last->id, dip);
}

static void
check_link(struct chain *c, long round, const struct kcandidate *now)
{
	const char *listed = json_string_value(json_array_get(c->list, c->next));

	if (!listed || strcmp(listed, now->id))
		blame(c, round, "%s was kept, but link %zu of the chain is %s", now->id, c->next,
		    listed ? listed : "missing");
	check_step(c, round, now);
	c->next++;
	klinear_next(&c->run, true, STATUS_CORRECT);
	c->last = now;
}

/* If a round cannot be read, only the header says whether it was kept. */
static void
skip_round(struct chain *c, long trial)
{
	const char *listed = json_string_value(json_array_get(c->list, c->next));

	c->good = false;
	if (listed && atol(listed) == trial) {
		c->next++;
		klinear_next(&c->run, true, STATUS_CORRECT);
		c->last = NULL;
	} else {
		klinear_next(&c->run, false, STATUS_NONE);
	}
}

static void
check_round(struct chain *c, const struct ktrial *trial)
{
	if (!trial->whole)
		skip_round(c, trial->number);
	else if (trial->kept)
		check_link(c, trial->number + 1, trial->kept);
	else if (trial->number && !strcmp(trial->list[0].verdict, "rolled_back"))
		klinear_next(&c->run, false, trial->list[0].status);
	else
		blame(c, trial->number + 1, "its verdict is '%s'", trial->list[0].verdict);
}

static void
check_header(struct chain *c, const struct karch *a)
{
	const json_t *linear = json_object_get(a->header, "linear");
	const char *accepted = kjson_str_or(linear, "accepted", ""),
	           *best = kjson_str_or(a->header, "best.id", "");

	if (c->next != json_array_size(c->list))
		blame(c, a->trial + 1, "the chain has %zu links, but %zu rounds were kept",
		    json_array_size(c->list), c->next);
	if (c->last && (strcmp(accepted, c->last->id) || strcmp(best, accepted)))
		blame(c, a->trial + 1,
		    "last accepted is %s and best is %s, but the last link is %s", accepted, best,
		    c->last->id);
	if (kjson_int_or(linear, "streak", -1) != c->run.streak)
		blame(c, a->trial + 1, "the streak of rollbacks is %ld, not %lld", c->run.streak,
		    (long long)kjson_int_or(linear, "streak", -1));
}

int
check_chain(const struct karch *a, const struct view_options *o)
{
	const json_t *linear = json_object_get(a->header, "linear");
	struct chain c = { .list = json_object_get(linear, "chain"),
		.good = true,
		.failures = kverdict_failures(o->dir) };
	struct kcamp *camp;
	struct ktrials t;

	if (!linear)
		kdie(K_USAGE, "%s: not the archive of a linear search", o->archive);
	camp = kcamp_load(o->dir);
	ktrials_open(&t, camp);
	for (long n = 0; n <= a->trial && n <= t.last; n++)
		check_round(&c, ktrials_get(&t, n));
	check_header(&c, a);
	ktrials_close(&t);
	kcamp_free(camp);
	json_decref(c.failures);
	return c.good ? K_OK : K_NO;
}
