/* SPDX-License-Identifier: Apache-2.0 */
/* next, status and best: output for people. See kcampaign.h. */
#include "kcampaign.h"

#include "backend.h"
#include "karch.h"
#include "kchain.h"
#include "kgain.h"
#include "ktrials.h"
#include "status.h"

#define REPLY_MAX ((size_t)64 << 20)

int
command_next(void)
{
	long last = ktrials_last(camp);
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

static void
add_rate(const char *what, long n, long all)
{
	tell("%s %ld (%.1f %%)", what, n, all ? 100.0 * (double)n / (double)all : 0.0);
}

/* Why there is no best kernel. */
static const char *
no_best(const struct standing *s)
{
	return s->correct ? "no candidate is faster than the reference yet"
	                  : "no candidate is correct yet";
}

/* "001/02: 16.4x (16.1 to 16.7), 0.123 ms" and MORE. */
static void
add_best(const struct standing *s, const char *more)
{
	auto_free char *speedup = kchain_text(&s->speedup, s->provisional);
	const char *unit;
	double shown = kcamp_shown(camp, s->runtime_ms, &unit);

	tell("%s: %s, %.3f %s%s\n", s->best, speedup, shown, unit, more);
}

void
report_trial(long trial)
{
	struct standing s = standing_after(trial);

	if (kcamp_linear(camp)) {
		linear_trial(trial, &s);
		standing_free(&s);
		return;
	}
	tell("trial %ld of %ld: %ld candidates, %ld compiled, %ld correct; ", trial,
	    kcamp_int(camp, "stop.trials"), s.candidates, s.compiled, s.correct);
	if (s.best)
		tell("best ");
	if (s.best)
		add_best(&s, atol(s.best) == trial ? " (new)" : "");
	else
		tell("%s\n", no_best(&s));
	standing_free(&s);
}

/* "; n1024 430x, 256x2048x1024 300x" */
static void
add_workloads(const json_t *pairs, const char *name, const char *format)
{
	const char *sep = "";

	kjson_foreach(p, pairs)
		if (kjson_is(p, "name", name)) {
			char value[64];

			snprintf(value, sizeof value, "%.1f",
			    kjson_num(p, "ratio") * (*format == '%' ? 100 : 1));
			tell("%s%s %s%s", sep, kjson_str_or(p, "workload", "?"), value,
			    *format == '%' ? " %" : "x");
			sep = ", ";
		}
}

/* "(62 to 67 %)" */
static void
add_interval(const struct kgain_ratio *r)
{
	if (r->low > 0)
		tell("(%.0f to %.0f %%)", 100 * r->low, 100 * r->high);
	else
		tell("(at most %.0f %%; too few samples for a lower end)", 100 * r->high);
}

static void
add_against_reference(const json_t *verified, const struct standing *s)
{
	const json_t *pairs = kjson_path(verified, "eval.pairs");
	enum status status = status_or(verified, "eval.status", STATUS_CORRECT);
	auto_free char *speedup = kchain_text(&s->speedup, s->provisional);

	tell("speed-up     %s over the reference, ", speedup);
	if (status != STATUS_CORRECT) {
		tell("as scored; not accepted: %s on the full set\n", status_rows[status].name);
	} else if (!verified) {
		tell("as scored; not measured again yet (make verify)\n");
	} else if (!kgain_ratio_of_pairs(pairs, "reference", NULL, NULL).n) {
		tell("as scored; measured again and correct on the full set, but not in turns with "
		     "the reference\n");
	} else {
		tell("same run\n             ");
		add_workloads(pairs, "reference", "x");
		tell("\n");
	}
}

/* Compared with the task's baselines, in the verification's own run. */
static void
add_against_baselines(const json_t *verified, const json_t *task, bool on_cpu)
{
	const json_t *baselines = json_object_get(task, "baselines"),
	             *pairs = kjson_path(verified, "eval.pairs");

	kjson_foreach(b, baselines) {
		const char *name = kjson_str_or(b, "name", "?");
		struct kgain_ratio r =
		    kgain_ratio_of_pairs(pairs, name, NULL, kjson_path(verified, "eval.timing"));

		if (!r.n)
			continue;
		tell("%-12s %.0f %% of its speed ", name, 100 * r.mean);
		add_interval(&r);
		tell(", %ssame run\n             ", on_cpu ? "same threads, " : "");
		add_workloads(pairs, name, "%");
		tell("\n");
	}
}

/* The model that gave the recorded reply in PATH; the caller frees. */
static char *
recorded_model(const char *path)
{
	json_auto_t *rec = kin_first(path);

	return kstrdup(kjson_str_or(rec, "reply.model", "an unnamed model"));
}

/*
 * Is the reply in PATH a recorded one? Searches the bytes, because the file is large; inside a JSON
 * string the quotes would be escaped.
 */
static bool
is_recorded(const char *path)
{
	auto_free char *data = kread_file(path, REPLY_MAX, NULL);

	return data && strstr(data, "\"recorded\":{");
}

/* How many replies are recorded, and from which model (the caller frees). */
static long
count_recorded(long last, char **model)
{
	long n = 0;

	*model = NULL;
	for (long t = 1, b = 1; t <= last;) {
		auto_free char *path = cell_path(t, b, stages[STAGE_REPLY]);
		bool there = kis_there(path);

		if (there && is_recorded(path)) {
			n++;
			if (!*model)
				*model = recorded_model(path);
		}
		t += !there;
		b = there ? b + 1 : 1;
	}
	return n;
}

static void
add_cost(const struct standing *s)
{
	tell("cost         $%.2f; %" JSON_INTEGER_FORMAT " tokens in, %" JSON_INTEGER_FORMAT " out"
	     "\n",
	    s->cost_usd, s->input_tokens, s->output_tokens);
}

static void
add_candidates(const struct standing *s)
{
	tell("candidates   %ld: ", s->candidates);
	add_rate("compiled", s->compiled, s->candidates);
	add_rate(", correct", s->correct, s->candidates);
	tell("\n");
}

static void
add_recorded(long last)
{
	auto_free char *model = NULL;
	long n = count_recorded(last, &model);

	if (n)
		tell("replies      %ld recorded replies of %s; everything else was measured here\n",
		    n, model);
}

/* "checked      asan clean, ubsan unavailable (it does not build)" */
static void
add_sanitizers(const json_t *verified)
{
	const json_t *rows = kjson_path(verified, "eval.sanitizers"), *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		const char *status = kjson_str_or(row, "status", "?");

		tell("%s%s %s", i ? ", " : "checked      ", kjson_str_or(row, "tool", "?"), status);
		if (strcmp(status, "clean"))
			tell(" (%.80s)", kjson_str(row, "detail"));
	}
	if (json_array_size(rows))
		tell("\n");
}

void
report_best(long last)
{
	struct standing s = standing_after(last);
	auto_free char *path = trial_path(last, "verify.ndjson");
	json_auto_t *task = kjson_load(camp->task);
	json_t *verified = kin_first(path);
	const char *unit;
	double shown;

	if (s.best && strcmp(kjson_str(verified, "id"), s.best)) {
		json_decref(verified);
		verified = NULL;
	}
	if (s.best) {
		shown = kcamp_shown(camp, s.runtime_ms, &unit);
		tell("best kernel  %s, cell %s, %.3f %s; its code: kcampaign best --code\n", s.best,
		    s.cell, shown, unit);
		add_against_reference(verified, &s);
		add_against_baselines(verified, task, !kcamp_backend(camp)->device);
		add_sanitizers(verified);
	} else {
		tell("best kernel  none: %s\n", no_best(&s));
	}
	add_candidates(&s);
	add_cost(&s);
	add_recorded(last);
	json_decref(verified);
	standing_free(&s);
}

/* "             4096x1024: 88 ms" for each timed workload. */
static void
add_times(const json_t *timing, const char *name)
{
	const json_t *row;
	const char *unit;
	size_t i;

	json_array_foreach(timing, i, row) {
		double shown = kcamp_shown(camp, kgain_time_ns(row) * 1e-6, &unit);

		tell("%-12s %s: %.4g %s\n", i ? "" : name, kjson_str_or(row, "workload", "?"),
		    shown, unit);
	}
}

/* The speed-up over the reference and the score of a candidate. */
static void
add_score(const char *id)
{
	json_auto_t *record = scored_record(id);
	const json_t *score = json_object_get(record, "score");
	struct kgain_ratio r = kgain_speedup_of(score);

	if (r.mean > 0) {
		auto_free char *speedup = kchain_text(&r, false);

		tell("speed-up     %s over the reference\n", speedup);
	}
	if (score)
		tell("score        %.4g\n", kjson_num(score, "combined"));
}

void
report_measured(long trial, long branch)
{
	auto_free char *id = kasprintf("%03ld/%02ld", trial, branch);
	json_auto_t *record = fact_of(trial, branch, STAGE_EVAL);

	if (record)
		tell("%-12s %s\n", trial ? id : "reference",
		    kjson_str_or(record, "eval.status", "?"));
	add_times(kjson_path(record, "eval.timing"), "");
	kjson_foreach(baseline, kjson_path(record, "eval.baselines"))
		add_times(json_object_get(baseline, "timing"), kjson_str_or(baseline, "name", "?"));
	if (trial && record)
		add_score(id);
}

/* The code of candidate ID from its evaluation, byte for byte: it may go into a file. */
static void
emit_code(const char *id)
{
	auto_free char *path = kplace_id(".", id, stages[STAGE_EVAL]);
	json_auto_t *rec = kin_first(path);
	const char *code = kjson_str_or(rec, "eval.code", NULL);
	size_t len;

	if (!code)
		kdie(K_USAGE, "%s: contains no code", path);
	len = strlen(code);
	kout_open(given.output);
	kout_raw(code, len - (len && code[len - 1] == '\n'));
	kout_commit();
}

int
command_best(void)
{
	long last = ktrials_last(camp);
	struct standing s = standing_after(last);

	if (last < 1)
		kdie(K_USAGE, "no trial has been made yet");
	if (given.code && !s.best)
		kdie(K_NO, "%s", no_best(&s));
	if (given.code) {
		emit_code(s.best);
	} else {
		report_best(last);
		emit();
	}
	standing_free(&s);
	return K_OK;
}

int
command_record(void)
{
	char *fault;
	json_auto_t *record = ktrials_record(camp, given.operand, KJOIN_WHOLE, &fault);

	if (!record)
		kdie(K_USAGE, "%s", fault ? fault : "there is no scored candidate with this id");
	kout_open(given.output);
	kout_json(record);
	kout_commit();
	return K_OK;
}

enum { LEVELS = 4 };

/*
 * The best speed-up per (memory, compute), over the other two axes; below zero: no candidate, zero:
 * none correct.
 */
static long
read_cells(long trial, const struct standing *s, double best[LEVELS][LEVELS])
{
	auto_free char *path = trial_path(trial, "archive.ndjson");
	struct karch archive;
	long n = 0;

	for (int i = 0; i < LEVELS * LEVELS; i++)
		best[i / LEVELS][i % LEVELS] = -1;
	karch_load(&archive, path, false);
	for (int cell = 0; cell < KARCH_CELLS; cell++) {
		const struct karch_row *row = archive.elite[cell];
		double *b = &best[karch_level(cell, 0)][karch_level(cell, 1)], speedup;

		if (!row)
			continue;
		n++;
		speedup = s->best && !strcmp(row->id, s->best) ? s->speedup.mean : row->speedup;
		*b = fmax(*b, row->status == STATUS_CORRECT ? speedup : 0);
	}
	karch_free(&archive);
	return n;
}

static void
add_cells(long trial, const struct standing *s)
{
	double best[LEVELS][LEVELS];
	long n = read_cells(trial, s, best);

	tell("cells    %ld of 256; best speed-up by memory (down) and compute (across):\n", n);
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
add_statuses(const struct standing *s)
{
	const char *status, *sep = ": ";
	json_t *n;

	tell("tried    %ld candidates", s->candidates);
	json_object_foreach((json_t *)s->statuses, status, n) {
		if (!json_integer_value(n))
			continue;
		tell("%s%" JSON_INTEGER_FORMAT " %s", sep, json_integer_value(n), status);
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
		for (int s = 0; s < STAGES; s++) {
			bool there = has_fact(trial, b, s);

			kbuf_add(&words, there ? stages[s] : "-", 1);
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
add_next(long last, const struct standing *s, long holder)
{
	auto_free char *reason = stop_reason(last, s);
	long next = last < 1 ? 1 : last + 1;

	if (holder) {
		tell("running  process %ld", holder);
		progress_report(holder, &page);
		tell("\n");
	}
	if (reason) {
		tell("next     nothing: %s\n", reason);
	} else {
		long files = add_progress(next, kcamp_branches(camp));

		tell("next     %strial %ld: make -j%ld trial\n",
		    files          ? "the rest of "
		        : last < 0 ? "the reference, then "
		                   : "",
		    next, kcamp_branches(camp));
	}
}

void
report_now(void)
{
	long last = ktrials_last(camp);
	struct standing s = standing_after(last);

	add_next(last, &s, lock_holder());
	standing_free(&s);
}

/*
 * The best kernel, and where its speed-up comes from: later races against the reference replace the
 * score.
 */
static void
add_standing(const struct standing *s)
{
	auto_free char *cell = kasprintf(", cell %s", s->cell);

	tell("best     ");
	add_best(s, cell);
	if (*s->from)
		tell("         raced against the reference: %s\n", s->from);
}

int
command_status(void)
{
	double budget = kcamp_num(camp, "stop.budget_usd");
	struct ktrials t;
	struct standing s;
	long last;

	ktrials_open(&t, camp);
	last = t.last;
	s = standing(json_incref(t.header));
	tell("%-8s %.*s\n", kcamp_str(camp, "name"), 70, kcamp_str(camp, "title"));
	tell("trial    %ld of %ld", last < 0 ? 0 : last, kcamp_int(camp, "stop.trials"));
	if (kcamp_linear(camp))
		tell(", round %ld", last + 1);
	tell("\n");
	add_statuses(&s);
	if (s.best)
		add_standing(&s);
	tell("cost     $%.2f", s.cost_usd);
	if (budget > 0)
		tell(" of $%.2f", budget);
	tell("; %" JSON_INTEGER_FORMAT " tokens in, %" JSON_INTEGER_FORMAT " out\n", s.input_tokens,
	    s.output_tokens);
	if (kcamp_linear(camp))
		linear_status(last, &s);
	else if (last > 0)
		add_cells((long)kjson_int_or(t.header, "trial", last), &s);
	if (ktrials_check(&t))
		tell("damaged  %zu record%s, named above, and not in these figures\n",
		    t.fault_count, t.fault_count == 1 ? "" : "s");
	add_next(last, &s, lock_holder());
	emit();
	standing_free(&s);
	ktrials_close(&t);
	return K_OK;
}
