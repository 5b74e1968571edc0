/* SPDX-License-Identifier: Apache-2.0 */
/* kchain: see kchain.h. */
#include "kchain.h"

#include "ktrials.h"

/* Files of a trial with the best against the reference: after it, and before it. */
static const char *const races[] = { "verify.ndjson", "anchor.ndjson" };

/* The results of a race against the reference, one row per workload. */
static json_t *
rows_of_race(const json_t *pairs)
{
	json_t *rows = json_array();

	kjson_foreach(p, pairs) {
		const char *workload = kjson_str(p, "workload");
		struct kgain_ratio r = kgain_pair(pairs, "reference", workload);
		json_t *row;

		if (!kjson_is(p, "name", "reference") || !r.n)
			continue;
		row = json_pack("{s:s}", "workload", workload);
		kgain_put_speedup(row, &r);
		json_array_append_new(rows, row);
	}
	return rows;
}

/*
 * The scored record of candidate ID; NULL when there is none. A score depends on it, so damage ends
 * the program.
 */
static json_t *
scored(const char *id)
{
	char *fault;
	json_t *record = ktrials_record(id, KJOIN_FIGURES, &fault);

	if (fault)
		kdie_usage("%s", fault);
	return record;
}

/*
 * A race: where its members are depends on the record. The mean is over the workloads by which
 * RECORD is scored, even if the race has more.
 */
static bool
take_race(const json_t *race, const json_t *record, const char *from, struct kchain *c)
{
	const json_t *timing = kjson_path(record, "eval.timing");

	c->rows = rows_of_race(json_object_get(race, "pairs"));
	c->speedup = kgain_mean(c->rows, timing ?: json_object_get(race, "timing"));
	c->provisional = kjson_bool(race, "machine.busy");
	if (c->speedup.n) {
		c->from = kstrdup(from);
		return true;
	}
	kchain_free(c);
	return false;
}

/* If the program failed in a verification, that says nothing about its speed. */
static const json_t *
race_in(const json_t *fact, const char *id)
{
	const json_t *race = json_object_get(fact, "eval") ? json_object_get(fact, "eval") : fact;

	if (!kjson_is(fact, "id", id) ||
	    status_or(race, "status", STATUS_CORRECT) != STATUS_CORRECT)
		return NULL;
	return race;
}

static bool
find_race(const char *id, long trial, const char *name, struct kchain *c)
{
	json_auto_t *fact = kin_first(kplace_trial(trial, name));
	const json_t *race = race_in(fact, id);
	json_auto_t *record = race ? scored(id) : NULL;

	return race && take_race(race, record, kplace_trial(trial, name), c);
}

bool
kchain_raced(const char *id, long trial, bool closed, struct kchain *c)
{
	long first, branch;

	*c = (struct kchain){ 0 };
	if (!karch_id(id, &first, &branch))
		return false;
	for (long t = trial; t >= first; t--)
		if (((t < trial || closed) && find_race(id, t, races[0], c)) ||
		    find_race(id, t, races[1], c))
			return true;
	return false;
}

json_t *
kchain_races(void)
{
	json_t *ids = json_object();

	for (long t = 0; t <= ktrials.last; t++)
		kforeach(race, races) {
			json_auto_t *fact = kin_first(kplace_trial(t, *race));

			kjson_enter(ids, kjson_str(fact, "id"));
		}
	return ids;
}

/* The program's own score. Scores from before there were intervals have none. */
static bool
take_score(const json_t *record, struct kchain *c)
{
	const json_t *score = json_object_get(record, "score");
	json_t *rows = json_object_get(score, "per_workload");

	c->speedup = kgain_speedup_of(score);
	c->rows = rows ? json_incref(rows) : json_array();
	c->provisional = kjson_bool(score, "provisional") || !json_object_get(score, "speedup_low");
	return c->speedup.n;
}

bool
kchain_known(const char *id, long trial, bool closed, struct kchain *c)
{
	json_auto_t *record = NULL;

	if (!strcmp(id, KARCH_REFERENCE)) {
		*c = (struct kchain){ .speedup = { 1, 1, 1, 1 } };
		return true;
	}
	if (kchain_raced(id, trial, closed, c))
		return true;
	record = scored(id);
	return take_score(record, c);
}

void
kchain_of_record(const json_t *record, long trial, struct kchain *c)
{
	const char *id = kjson_str(record, "id");

	*c = (struct kchain){ 0 };
	if (!strcmp(id, KARCH_REFERENCE) || !kchain_raced(id, trial, true, c))
		take_score(record, c);
}

bool
kchain_baseline(const json_t *reference, const char *name, struct kchain *c)
{
	const json_t *b = kjson_find(kjson_path(reference, "eval.baselines"), "name", name);

	*c = (struct kchain){ 0 };
	return b && take_race(b, NULL, NULL, c);
}

struct kgain_ratio
kchain_link(const struct kchain *c, const char *workload)
{
	if (!c->rows && c->speedup.n)
		return (struct kgain_ratio){ 1, 1, 1, 1 };
	return kgain_speedup_of(kgain_row(c->rows, workload));
}

void
kchain_free(struct kchain *c)
{
	json_decref(c->rows);
	free(c->from);
	*c = (struct kchain){ 0 };
}

/*
 * Number of decimals of a speed-up: three significant digits, and none beyond the point for large
 * values.
 */
static int
decimals(double v)
{
	return v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
}

const char *
kchain_text(const struct kgain_ratio *r, bool provisional)
{
	int n = decimals(r->mean);
	const char *mark = provisional ? ", provisional" : "";
	const char *end = "too few samples for an interval";

	if (r->low >= r->high)
		return kshown("%.*fx%s", n, r->mean, provisional ? " (provisional)" : "");
	if (isfinite(r->high))
		end = r->low > 0
		    ? kshown("%.*f to %.*f", n, r->low, n, r->high)
		    : kshown("at most %.*f; too few samples for a lower end", n, r->high);
	return kshown("%.*fx (%s%s)", n, r->mean, end, mark);
}
