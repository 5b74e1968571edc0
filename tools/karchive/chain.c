/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karchive: the chain of a linear search, checked against the scored records: every round that was kept is a link, each
 * link was compared with the one before it, and none is slower than that by more than the allowance for noise.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "karchive.h"
#include "kio.h"
#include "kutil.h"

/* How much slower than the one before a link may be: percent. */
static const double dip = 1;

struct chain {
	const char *dir;
	const json_t *list;	/* ids of the header */
	size_t next;		/* link that is to come */
	json_t *last;		/* record of the last link; owned */
	long streak;
	bool good;
};

static void __attribute__((format(printf, 3, 4)))
blame(struct chain *c, long round, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = kvasprintf(format, args);
	va_end(args);
	kwarn("round %ld: %s", round, text);
	c->good = false;
	free(text);
}

static json_t *
load_round(const struct chain *c, long trial)
{
	char *path = kasprintf("%s/trials/%03ld/score.ndjson", c->dir, trial);
	json_t *record = kin_first(path);

	if (!record)
		kdie(K_USAGE, "%s: no record", path);
	free(path);
	return record;
}

static double
runtime_of(const json_t *record, const char *workload)
{
	const json_t *rows = kjson_path(record, "score.per_workload");

	for (size_t i = 0; i < json_array_size(rows); i++)
		if (!strcmp(kjson_str_or(json_array_get(rows, i), "workload", ""), workload))
			return kjson_num_or(json_array_get(rows, i), "runtime_ms", 0);
	return 0;
}

/*
 * How much faster RECORD is than the link before it, in percent: by the race between the two where there was one, else
 * by the recorded times of the workloads that both have; 0 without any.
 */
static double
step_percent(const json_t *before, const json_t *record)
{
	const json_t *rows = kjson_path(record, "score.per_workload");
	double logs = 0;
	size_t n = 0;

	if (kjson_path(record, "eval.pairs"))
		return kjson_num_or(record, "score.decision.improvement_pct", 0);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		double was = runtime_of(before, kjson_str_or(row, "workload", "")),
		    now = kjson_num_or(row, "runtime_ms", 0);

		if (was > 0 && now > 0) {
			logs += log(was / now);
			n++;
		}
	}
	return n ? 100 * (exp(logs / (double)n) - 1) : 0;
}

static void
check_link(struct chain *c, long round, json_t *record)
{
	const char *id = kjson_str_or(record, "id", ""), *listed = json_string_value(json_array_get(c->list, c->next));
	const char *against = kjson_str_or(record, "sample.incumbent", ""), *before = kjson_str_or(c->last, "id", "");
	double step;

	if (!listed || strcmp(listed, id))
		blame(c, round, "%s was kept, and link %zu of the chain is %s", id, c->next,
		    listed ? listed : "missing");
	c->next++;
	c->streak = 0;
	if (c->last && strcmp(against, before))
		blame(c, round, "it was compared with %s, and the last accepted round is %s",
		    *against ? against : "nothing", before);
	step = c->last ? step_percent(c->last, record) : 0;
	if (step < -dip)
		blame(c, round, "%s is %.1f %% slower than %s before it, and a link may lose %.0f %% at most", id,
		    -step, before, dip);
	json_decref(c->last);
	c->last = json_incref(record);
}

static void
check_round(struct chain *c, long trial)
{
	json_t *record = load_round(c, trial);
	const char *verdict = kjson_str_or(record, "score.decision.verdict", "");

	if (!strcmp(verdict, trial ? "accepted" : "baseline"))
		check_link(c, trial + 1, record);
	else if (trial && !strcmp(verdict, "rolled_back"))
		c->streak++;
	else
		blame(c, trial + 1, "its verdict is '%s'", verdict);
	json_decref(record);
}

int
check_chain(const struct karch *a, const struct view_options *o)
{
	const json_t *linear = json_object_get(a->header, "linear");
	const char *accepted = kjson_str_or(linear, "accepted", ""), *best = kjson_str_or(a->header, "best.id", "");
	struct chain c = { .dir = o->dir, .list = json_object_get(linear, "chain"), .good = true };

	if (!linear)
		kdie(K_USAGE, "%s: not the archive of a linear search", o->archive);
	for (long trial = 0; trial <= a->trial; trial++)
		check_round(&c, trial);
	if (c.next != json_array_size(c.list))
		blame(&c, a->trial + 1, "the chain has %zu links, and %zu rounds were kept", json_array_size(c.list),
		    c.next);
	if (strcmp(accepted, kjson_str_or(c.last, "id", "")) || strcmp(best, accepted))
		blame(&c, a->trial + 1, "last accepted is %s, best is %s, and the last link is %s", accepted, best,
		    kjson_str_or(c.last, "id", "missing"));
	if (kjson_int_or(linear, "streak", -1) != c.streak)
		blame(&c, a->trial + 1, "the streak of rollbacks is %ld, not %lld", c.streak,
		    (long long)kjson_int_or(linear, "streak", -1));
	json_decref(c.last);
	return c.good ? K_OK : K_NO;
}
