/* SPDX-License-Identifier: Apache-2.0 */
/* Where a campaign stands: last trial, archive header, stop conditions. See kcampaign.h. */
#include "kcampaign.h"

#define LINK "archive.ndjson"

const char *
fact_path(long trial, long branch, int stage)
{
	return kplace_cell(trial, branch, kfact_names[stage]);
}

bool
has_fact(long trial, long branch, int stage)
{
	return kis_there(fact_path(trial, branch, stage));
}

json_t *
fact_of(long trial, long branch, int stage)
{
	return kin_first(fact_path(trial, branch, stage));
}

static bool
begun(long trial)
{
	return kis_there(kplace_trial(trial, ""));
}

/*
 * Are all branches that the trial began with evaluated and, if the campaign wants that, their logs
 * summarised? The summaries are for the next trial; once that has begun, they are not needed.
 */
static bool
has_facts(long trial)
{
	bool told = trial && *kcamp_str("feedback.provider") && !begun(trial + 1);
	long first = trial ? 1 : 0;

	for (long b = first;; b++) {
		if (!kis_there(kplace_folder(trial, b)))
			return b > first;
		if (!has_fact(trial, b, KFACT_EVAL) ||
		    (told && !kis_there(kplace_cell(trial, b, "digest"))))
			return false;
	}
}

long
last_facts(void)
{
	long last = -1;

	while (has_facts(last + 1))
		last++;
	return last;
}

void
set_position(long trial)
{
	remove_file(LINK ".new");
	if (symlink(kplace_trial(trial, "archive.ndjson"), LINK ".new") < 0 ||
	    rename(LINK ".new", LINK) < 0 || ksync_folder(LINK) < 0)
		kdie_io("%s", LINK);
}

void
clear_position(void)
{
	remove_file(LINK);
}

json_t *
archive_header(long trial)
{
	const char *path = kplace_trial(trial, "archive.ndjson");
	json_t *header = trial >= 0 ? kin_first(path) : NULL;

	if (trial >= 0 && !header && kis_there(path))
		kdie_usage("%s: is empty", path);
	return header;
}

static long
count(const json_t *header, const char *path)
{
	return (long)kjson_int(header, path);
}

/*
 * The best kernel's speed-up: from its newest race against the reference, including verifications,
 * or else from the archive.
 */
static void
set_figure(struct standing *s, const json_t *header)
{
	struct kchain c;

	s->speedup = kgain_speedup_of(json_object_get(header, "best"));
	s->provisional = kjson_bool(header, "best.provisional");
	if (kchain_raced(s->best, (long)kjson_int(header, "trial"), true, &c)) {
		s->speedup = c.speedup;
		s->provisional = c.provisional;
		snprintf(s->from, sizeof s->from, "%s", c.from);
	}
	kchain_free(&c);
}

struct standing
standing(json_t *header)
{
	const json_t *statuses = json_object_get(header, "statuses");
	struct standing s = { .header = header };
	const char *best;

	if (!header)
		return s;
	s.linear = json_object_get(header, "linear");
	s.candidates = count(header, "candidates");
	s.compiled = s.candidates;
	for (int i = STATUS_NONE + 1; i < STATUS_COUNT; i++) {
		long n = count(statuses, status_rows[i].name);

		s.correct += i == STATUS_CORRECT ? n : 0;
		s.compiled -= status_rows[i].built ? 0 : n;
	}
	s.stale = count(header, "stale");
	s.longest_wait = count(header, "longest_wait");
	s.failures = count(header, "failures");
	s.cost_usd = kjson_num(header, "cost_usd");
	best = kjson_maybe(header, "best.id");
	/* It becomes part of a path and a word in a recipe. */
	if (best && !karch_is_id(best))
		kdie_usage("archive.ndjson: best.id: '%s' is not the id of a candidate "
		           "(TRIAL/BRANCH, "
		           "such as 007/02); run make views to make the archive again",
		    best);
	if (best && strcmp(best, KARCH_REFERENCE)) {
		s.best = best;
		set_figure(&s, header);
		s.runtime_ms = kjson_num(header, "best.runtime_ms");
	}
	return s;
}

struct standing
standing_after(long last)
{
	return standing(archive_header(last));
}

void
standing_free(struct standing *s)
{
	json_decref(s->header);
}

json_t *
scored_record(const char *id)
{
	auto_free char *fault = NULL;

	return ktrials_record(id, KJOIN_FIGURES, &fault);
}
