/* SPDX-License-Identifier: Apache-2.0 */
/* redo and verify: one candidate is made, or measured, again. See kcampaign.h. */
#include "kcampaign.h"

static void
parse_cell(const char *text, long *trial, long *branch)
{
	if (!text || !karch_id(text, trial, branch))
		kdie_usage("'%s' is not the id of a candidate; write TRIAL/BRANCH, such as 007/02",
		    text ?: "");
}

/*
 * The result of measuring the best kernel ID on the full set. K_NO: it fails there; with REPLACED
 * that is its evaluation from now on.
 */
static int
accept_best(const char *path, const char *id, bool replaced)
{
	json_auto_t *record = id ? kin_first(path) : NULL;
	enum status status = status_or(record, "eval.status", STATUS_CORRECT);
	int code = status == STATUS_CORRECT ? K_OK : K_NO;

	if (code)
		kwarn("%s is not accepted%s: measured again on the full set, it is %s: %.300s", id,
		    replaced ? ", and this evaluation replaces the old one" : "",
		    status_rows[status].name, kjson_str(record, "eval.log"));
	return code;
}

/* Evaluations from trial FROM on that were copied from ID are copied again, with their views. */
static void
forget_copies(const char *id, long from)
{
	for (long t = from; t <= last_made; t++)
		for (long b = 1; b <= kcamp_branches(); b++) {
			const char *path = fact_path(t, b, KFACT_EVAL);
			json_auto_t *record = kin_first(path);

			if (kjson_is(record, "eval.duplicate_of", id))
				remove_file(path);
		}
}

/*
 * The evaluation of ID is replaced by the one on the full set in REPORT; the one that scored it is
 * kept under another name. As with redo there is no position until the views are complete again, so
 * an interruption is repaired by the next run.
 */
static int
demote(const char *id, const char *report)
{
	long trial, branch;
	const char *path, *kept;
	json_auto_t *record = NULL, *verified = kin_first(report);

	parse_cell(id, &trial, &branch);
	clear_position();
	forget_copies(id, trial);
	path = fact_path(trial, branch, KFACT_EVAL);
	kept = kshown("%s.scored", path);
	record = kin_first(path);
	json_object_set(record, "eval", json_object_get(verified, "eval"));
	remove_file(kept);
	if (link(path, kept) < 0)
		kdie_io("%s", kept);
	kout_only(path, record);
	return bring_views(trial, ASK_NOBODY);
}

/*
 * Measures the best kernel BEST (NULL: none) on the full set, into the file REPORT, unless that was
 * done.
 */
static int
measure_best(const char *best, const char *report)
{
	struct graph g = { .first = last_made, .last = last_made, .best = best };
	const char *const goals[] = { report, NULL };
	json_auto_t *record = kin_first(report);

	if (!best || kjson_is(record, "id", best))
		return K_OK;
	remove_file(report);
	return make_graph(&g, goals);
}

int
verify_best(void)
{
	bool chain = kcamp_linear(), again = true;
	auto_free char *report = kstrdup(kplace_trial(last_made, "verify.ndjson"));
	char *refused = NULL;
	int code = K_OK;

	while (again) {
		auto_free char *best = NULL;

		look_after(last_made);
		best = kstrdup(standing.best);
		code = measure_best(best, report);
		if (!code)
			code = accept_best(report, best, !chain);
		if (refused && !best)
			code = K_NO;
		/* If the views still keep a best kernel that failed, it is rejected once. */
		again = code == K_NO && best && !chain && !plans_only() &&
		    (!refused || strcmp(refused, best));
		if (again) {
			free(refused);
			refused = kstrdup(best);
			again = (code = demote(refused, report)) == K_OK;
		}
	}
	free(refused);
	return code;
}

int
command_verify(void)
{
	int code = catch_up(ASK_NOBODY);

	if (last_made < 1)
		kdie_usage("no trial has been made yet");
	if (!code)
		code = verify_best();
	if (!code)
		report_best(NULL);
	return code;
}

static int
stage_number(const char *name)
{
	size_t stage = kindex_of(name, kfact_names, KFACTS);

	if (stage == KFACTS)
		kdie_usage("--from %s: must be sample, prompt, reply or eval", name);
	return (int)stage;
}

/* Makes the facts of one cell, and nothing else. */
static int
make_cell(long trial, long branch)
{
	struct graph g = { .first = trial, .last = trial, .ask = ASK_BOTH };
	bool told = trial && *kcamp_str("feedback.provider");
	const char *digest = told ? kplace_cell(trial, branch, "digest") : NULL;
	const char *const goals[] = { fact_path(trial, branch, KFACT_EVAL), digest, NULL };

	return make_graph(&g, goals);
}

static int
redo(long trial, long branch, int stage)
{
	int code;

	if (trial <= last_made) {
		/*
		 * From here until the views are complete again there is no position: any run
		 * finishes an interrupted redo.
		 */
		clear_position();
		remove_file(kplace_trial(last_made, "verify.ndjson"));
	}
	remove_stages(trial, branch, stage);
	code = make_cell(trial, branch);
	if (!code && trial <= last_made)
		code = bring_views(trial ?: 1, ASK_NOBODY);
	return code;
}

int
command_redo(void)
{
	long trial, branch;
	int stage = stage_number(given.from), code = K_OK;
	const char *folder;

	parse_cell(given.operand, &trial, &branch);
	folder = kplace_folder(trial, branch);
	if (!kis_there(folder))
		kdie_usage("%s: no such candidate", folder);
	if (trial == 0 && stage != KFACT_EVAL)
		kdie_usage("the reference has no %s; use --from eval", kfact_names[stage]);
	if (!plans_only())
		code = redo(trial, branch, stage);
	if (!code && !plans_only())
		report_measured(trial, branch);
	return code;
}
