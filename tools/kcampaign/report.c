/* SPDX-License-Identifier: Apache-2.0 */
/* next, status and best: output for people. See kcampaign.h. */
#include "kcampaign.h"

int
command_next(void)
{
	long last = ktrials_last();
	auto_free char *reason = stop_reason_after(last);
	int code = K_OK;

	if (reason) {
		kwarn("%s", reason);
		code = K_NO;
	} else {
		tell("%ld\n", last < 1 ? 1 : last + 1);
		emit();
	}
	return code;
}

/* Why there is no best kernel. */
static const char *
no_best(void)
{
	return standing.correct ? "no candidate is faster than the reference yet"
	                        : "no candidate is correct yet";
}

/* BEFORE "001/02: 16.4x (16.1 to 16.7), 0.123 ms" MORE. */
static void
add_best(const char *before, const char *more)
{
	tell("%s%s: %s, %.3f %s%s\n", before, standing.best,
	    kchain_text(&standing.speedup, standing.provisional), kcamp_shown(standing.runtime_ms),
	    kcamp_unit(), more);
}

/* The page goes to a person at once. */
static void
say(void)
{
	ksay("%s", page.data ?: "");
	kbuf_free(&page);
}

void
report_trial(long trial)
{
	bool linear = kcamp_linear();

	look_after(trial);
	if (linear)
		linear_trial(trial);
	else
		tell("trial %ld of %ld: %ld candidates, %ld compiled, %ld correct; ", trial,
		    kcamp_int("stop.trials"), standing.candidates, standing.compiled,
		    standing.correct);
	if (!linear && standing.best)
		add_best("best ", atol(standing.best) == trial ? " (new)" : "");
	else if (!linear)
		tell("%s\n", no_best());
	say();
}

int
report_best(const char *output)
{
	const char *const argv[] = { "kreport", "--best", "-o", output ?: "-", NULL };
	auto_free char *text = NULL;
	int code = kproc_tool(argv, NULL, &text);

	ksay("%s", text ?: "");
	return code;
}

/* "             4096x1024: 88 ms" for each timed workload. */
static void
add_times(const json_t *timing, const char *name)
{
	kjson_foreach(row, timing)
		tell("%-12s %s: %.4g %s\n", kjson_at(row) ? "" : name,
		    kjson_str_or(row, "workload", "?"), kcamp_shown(kgain_time_ns(row) * 1e-6),
		    kcamp_unit());
}

/* The speed-up over the reference and the score of a candidate. */
static void
add_score(const char *id)
{
	json_auto_t *record = scored_record(id);
	const json_t *score = json_object_get(record, "score");
	struct kgain_ratio r = kgain_speedup_of(score);

	if (r.mean > 0)
		tell("speed-up     %s over the reference\n", kchain_text(&r, false));
	if (score)
		tell("score        %.4g\n", kjson_num(score, "combined"));
}

void
report_measured(long trial, long branch)
{
	auto_free char *id = kasprintf("%03ld/%02ld", trial, branch);
	json_auto_t *record = fact_of(trial, branch, KFACT_EVAL);

	if (record)
		tell("%-12s %s\n", trial ? id : "reference",
		    kjson_str_or(record, "eval.status", "?"));
	add_times(kjson_path(record, "eval.timing"), "");
	kjson_foreach(baseline, record, "eval.baselines")
		add_times(json_object_get(baseline, "timing"), kjson_str_or(baseline, "name", "?"));
	if (trial && record)
		add_score(id);
	say();
}

/* The code of candidate ID from its evaluation, byte for byte: it may go into a file. */
static void
emit_code(void)
{
	const char *path = kplace_id(standing.best, kfact_names[KFACT_EVAL]);
	json_auto_t *rec = kin_first(path);
	const char *code = kjson_maybe(rec, "eval.code");
	size_t len;

	if (!code)
		kdie_usage("%s: contains no code", path);
	len = strlen(code);
	kout_open(given.output);
	kout_raw(code, len - (len && code[len - 1] == '\n'));
	kout_commit();
}

int
command_best(void)
{
	long last = ktrials_last();
	int code = K_OK;

	look_after(last);
	if (last < 1)
		kdie_usage("no trial has been made yet");
	if (given.code && !standing.best)
		kdie(K_NO, "%s", no_best());
	if (given.code)
		emit_code();
	else
		code = report_best(given.output);
	return code;
}

int
command_record(void)
{
	char *fault;
	json_auto_t *record = ktrials_record(given.operand, KJOIN_WHOLE, &fault);

	if (!record)
		kdie_usage("%s", fault ?: "there is no scored candidate with this id");
	kout_only(given.output, record);
	return K_OK;
}

enum { LEVELS = 4 };

/*
 * The best speed-up per (memory, compute), over the other two axes; below zero: no candidate, zero:
 * none correct.
 */
static long
read_cells(long trial, double best[LEVELS][LEVELS])
{
	long n = 0;

	for (int i = 0; i < LEVELS * LEVELS; i++)
		best[i / LEVELS][i % LEVELS] = -1;
	karch_load(kplace_trial(trial, "archive.ndjson"));
	for (int cell = 0; cell < KARCH_CELLS; cell++) {
		const struct karch_row *row = karch.elite[cell];
		double *b = &best[karch_level(cell, 0)][karch_level(cell, 1)], speedup;

		if (!row)
			continue;
		n++;
		speedup = standing.best && !strcmp(row->id, standing.best) ? standing.speedup.mean
		                                                           : row->speedup;
		*b = fmax(*b, row->status == STATUS_CORRECT ? speedup : 0);
	}
	return n;
}

static void
add_cells(long trial)
{
	double best[LEVELS][LEVELS];

	tell("cells    %ld of 256; best speed-up by memory (down) and compute (across):\n",
	    read_cells(trial, best));
	for (int m = LEVELS - 1; m >= 0; m--) {
		tell("         %d ", m);
		for (int k = 0; k < LEVELS; k++)
			if (best[m][k] < 0)
				tell("%9s", ".");
			else if (best[m][k] > 0)
				tell("%8.3gx", best[m][k]);
			else
				tell("%9s", "broken");
		tell("\n");
	}
	tell("           %9d%9d%9d%9d\n", 0, 1, 2, 3);
}

static void
add_statuses(void)
{
	const char *sep = ": ";

	tell("tried    %ld candidates", standing.candidates);
	kjson_foreach_member(status, n, standing.header, "statuses") {
		if (!json_integer_value(n))
			continue;
		tell("%s%lld %s", sep, json_integer_value(n), status);
		sep = ", ";
	}
	tell("\n");
}

/*
 * Which files of the next trial exist: one word per branch, one letter per stage. Returns how many.
 */
static long
add_progress(long trial, long branches)
{
	auto_buf struct kbuf words = { 0 };
	long files = 0;

	for (long b = 1; b <= branches; b++) {
		kbuf_printf(&words, "%s%02ld ",
		    b == 1            ? ""
		        : (b - 1) % 8 ? "  "
		                      : "\n         ",
		    b);
		for (int s = 0; s < KFACTS; s++) {
			bool there = has_fact(trial, b, s);

			kbuf_add(&words, there ? kfact_names[s] : "-", 1);
			files += there;
		}
	}
	if (files)
		tell("begun    trial %ld (sample, prompt, reply, eval of each branch)\n         "
		     "%s\n",
		    trial, words.data);
	return files;
}

static void
add_next(long last)
{
	long holder = lock_holder();
	auto_free char *reason = stop_reason(last);
	long next = last < 1 ? 1 : last + 1;

	if (holder) {
		tell("running  process %ld", holder);
		progress_report(holder);
		tell("\n");
	}
	if (reason) {
		tell("next     nothing: %s\n", reason);
	} else {
		long files = add_progress(next, kcamp_branches());

		tell("next     %strial %ld: make -j%ld trial\n",
		    files          ? "the rest of "
		        : last < 0 ? "the reference, then "
		                   : "",
		    next, kcamp_branches());
	}
}

void
report_now(void)
{
	long last = ktrials_last();

	look_after(last);
	add_next(last);
}

/*
 * The best kernel, and where its speed-up comes from: later races against the reference replace the
 * score.
 */
static void
add_standing(void)
{
	add_best("best     ", kshown(", cell %s", kjson_str(standing.header, "best.cell")));
	if (*standing.from)
		tell("         raced against the reference: %s\n", standing.from);
}

int
command_status(void)
{
	double budget = kcamp_num("stop.budget_usd");
	long last;

	ktrials_open();
	last = ktrials.last;
	look_at(json_incref(ktrials.header));
	tell("%-8s %.*s\n", kcamp_str("name"), 70, kcamp_str("title"));
	tell("trial    %ld of %ld", last < 0 ? 0 : last, kcamp_int("stop.trials"));
	if (kcamp_linear())
		tell(", round %ld", last + 1);
	tell("\n");
	add_statuses();
	if (standing.best)
		add_standing();
	tell("cost     $%.2f", standing.cost_usd);
	if (budget > 0)
		tell(" of $%.2f", budget);
	tell("; %ld tokens in, %ld out\n", kjson_int(standing.header, "tokens.input_tokens"),
	    kjson_int(standing.header, "tokens.output_tokens"));
	if (kcamp_linear())
		linear_status(last);
	else if (last > 0)
		add_cells(kjson_int_or(ktrials.header, "trial", last));
	if (ktrials_check())
		tell("damaged  %zu record%s, named above, and not in these figures\n",
		    ktrials.fault_count, ktrials.fault_count == 1 ? "" : "s");
	add_next(last);
	emit();
	ktrials_close();
	return K_OK;
}
