/* SPDX-License-Identifier: Apache-2.0 */
/* Where a campaign stands: last trial, archive header, stop conditions. See kcampaign.h. */
#include "kcampaign.h"

struct standing standing;

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

/*
 * Are all branches that the trial began with evaluated and, if the campaign wants that, their logs
 * summarised? The summaries are for the next trial; once that has begun, they are not needed.
 */
static bool
has_facts(long trial)
{
	bool told =
	    trial && *kcamp_str("feedback.provider") && !kis_there(kplace_trial(trial + 1, ""));
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

/*
 * The best kernel's speed-up: from its newest race against the reference, including verifications,
 * or else from the archive.
 */
static void
set_figure(const json_t *header)
{
	struct kchain c;

	standing.speedup = kgain_speedup_of(json_object_get(header, "best"));
	standing.provisional = kjson_bool(header, "best.provisional");
	if (kchain_raced(standing.best, kjson_int(header, "trial"), true, &c)) {
		standing.speedup = c.speedup;
		standing.provisional = c.provisional;
		snprintf(standing.from, sizeof standing.from, "%s", c.from);
	}
	kchain_free(&c);
}

void
look_at(json_t *header)
{
	const json_t *statuses = json_object_get(header, "statuses");
	const char *best;

	json_decref(standing.header);
	standing = (struct standing){ .header = header };
	if (!header)
		return;
	standing.linear = json_object_get(header, "linear");
	standing.candidates = kjson_int(header, "candidates");
	standing.compiled = standing.candidates;
	for (int i = STATUS_NONE + 1; i < STATUS_COUNT; i++) {
		long n = kjson_int(statuses, status_rows[i].name);

		standing.correct += i == STATUS_CORRECT ? n : 0;
		standing.compiled -= status_rows[i].built ? 0 : n;
	}
	standing.stale = kjson_int(header, "stale");
	standing.longest_wait = kjson_int(header, "longest_wait");
	standing.failures = kjson_int(header, "failures");
	standing.cost_usd = kjson_num(header, "cost_usd");
	best = kjson_maybe(header, "best.id");
	/* It becomes part of a path and a word in a recipe. */
	if (best && !karch_is_id(best))
		kdie_usage("archive.ndjson: best.id: '%s' is not the id of a candidate "
		           "(TRIAL/BRANCH, "
		           "such as 007/02); run make views to make the archive again",
		    best);
	if (best && strcmp(best, KARCH_REFERENCE)) {
		standing.best = best;
		set_figure(header);
		standing.runtime_ms = kjson_num(header, "best.runtime_ms");
	}
}

void
look_after(long last)
{
	look_at(archive_header(last));
}

json_t *
scored_record(const char *id)
{
	auto_free char *fault = NULL;

	return ktrials_record(id, KJOIN_FIGURES, &fault);
}
