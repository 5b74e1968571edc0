/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karchive: checks the chain of a linear search against the scored records: every round that was
 * kept is a link, each link was compared with the one before it, and none is slower than that by
 * more than the allowance for noise.
 */

#include "karchive.h"
#include "kverdict.h"

/* How much slower than its predecessor a link may be, in percent. */
static const double dip = 1;

static struct chain {
	const json_t *list;            /* ids of the header */
	size_t next;                   /* the next link */
	const struct kcandidate *last; /* the last link; NULL: none, or damaged */
	struct klinear_run run;
	bool good;
	json_t *failures; /* in the application, see kverdict.h */
} chain;

#define blame(round, fmt, ...) (chain.good = false, kwarn("round %ld: " fmt, round, ##__VA_ARGS__))

/*
 * How much faster RECORD is than the link before it, in percent: from the race between the two if
 * there was one, else from the recorded times of the workloads that both have; 0 if there are none.
 */
static double
step_percent(const struct kcandidate *before, const struct kcandidate *c)
{
	const json_t *rows = kjson_path(c->json, "score.per_workload");
	double logs = 0;
	size_t n = 0;

	if (kjson_path(c->json, "eval.pairs"))
		return kjson_num(c->json, "score.decision.improvement_pct");
	kjson_foreach(row, rows) {
		const json_t *old = kgain_row(
		    kjson_path(before->json, "score.per_workload"), kjson_str(row, "workload"));
		double was = kjson_num(old, "runtime_ms"), now = kjson_num(row, "runtime_ms");

		if (was > 0 && now > 0) {
			logs += log(was / now);
			n++;
		}
	}
	return n ? 100 * (exp(logs / (double)n) - 1) : 0;
}

/* Did all links after INCUMBENT, up to the last one, fail in the application? */
static bool
is_stepped_over(const char *incumbent)
{
	for (size_t i = chain.next; i-- > 0;) {
		const char *id = kjson_item(chain.list, i);

		if (!id || !strcmp(id, incumbent))
			return id && i + 1 < chain.next;
		if (!kverdict_failed(chain.failures, id))
			return false;
	}
	return false;
}

/* The reference was not compared with anything. */
static void
check_step(long round, const struct kcandidate *now)
{
	double step;

	if (!chain.last)
		return;
	if (strcmp(now->incumbent, chain.last->id) && !is_stepped_over(now->incumbent))
		blame(round, "it was compared with %s, but the last accepted round is %s",
		    now->incumbent, chain.last->id);
	step = step_percent(chain.last, now);
	if (step < -dip)
		blame(round,
		    "%s is %.1f %% slower than the link before it, %s; the limit is %.0f %%",
		    now->id, -step, chain.last->id, dip);
}

static void
check_link(long round, const struct kcandidate *now)
{
	const char *listed = kjson_item(chain.list, chain.next);

	if (!listed || strcmp(listed, now->id))
		blame(round, "%s was kept, but link %zu of the chain is %s", now->id, chain.next,
		    listed ?: "missing");
	check_step(round, now);
	chain.next++;
	klinear_next(&chain.run, true, STATUS_CORRECT);
	chain.last = now;
}

/* If a round cannot be read, only the header says whether it was kept. */
static void
skip_round(long trial)
{
	const char *listed = kjson_item(chain.list, chain.next);

	chain.good = false;
	if (listed && atol(listed) == trial) {
		chain.next++;
		klinear_next(&chain.run, true, STATUS_CORRECT);
		chain.last = NULL;
	} else {
		klinear_next(&chain.run, false, STATUS_NONE);
	}
}

static void
check_round(const struct ktrial *trial)
{
	if (!trial->whole)
		skip_round(trial->number);
	else if (trial->kept)
		check_link(trial->number + 1, trial->kept);
	else if (trial->number && !strcmp(trial->list[0].verdict, "rolled_back"))
		klinear_next(&chain.run, false, trial->list[0].status);
	else
		blame(trial->number + 1, "its verdict is '%s'", trial->list[0].verdict);
}

static void
check_header(void)
{
	const json_t *linear = json_object_get(karch.header, "linear");
	const char *accepted = kjson_str(linear, "accepted"),
	           *best = kjson_str(karch.header, "best.id");

	if (chain.next != json_array_size(chain.list))
		blame(karch.trial + 1, "the chain has %zu links, but %zu rounds were kept",
		    json_array_size(chain.list), chain.next);
	if (chain.last && (strcmp(accepted, chain.last->id) || strcmp(best, accepted)))
		blame(karch.trial + 1,
		    "last accepted is %s and best is %s, but the last link is %s", accepted, best,
		    chain.last->id);
	if (kjson_int_or(linear, "streak", -1) != chain.run.streak)
		blame(karch.trial + 1, "the streak of rollbacks is %ld, not %ld", chain.run.streak,
		    kjson_int_or(linear, "streak", -1));
}

int
check_chain(const char *path)
{
	const json_t *linear = json_object_get(karch.header, "linear");

	if (!linear)
		kdie_usage("%s: not the archive of a linear search", path);
	chain = (struct chain){ .list = json_object_get(linear, "chain"),
		.good = true,
		.failures = kverdict_failures() };
	kcamp_load();
	ktrials_open();
	for (long n = 0; n <= karch.trial && n <= ktrials.last; n++)
		check_round(ktrials_get(n));
	check_header();
	ktrials_close();
	json_decref(chain.failures);
	return chain.good ? K_OK : K_NO;
}
