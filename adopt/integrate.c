/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt integrate: puts the winner into the application if it is worth it and works there:
 * checked, built, run, compared; otherwise the project stays the same, byte by byte. docs/adopt.md
 * gives the order of the steps.
 */

#include "adopt.h"
#include "journal.h"
#include "kio.h"
#include "klog.h"
#include "koption.h"
#include "real.h"
#include "runs.h"
#include "splice.h"

static const char usage[] = "usage: kadopt integrate [OPTION...]\n";

enum { TRIES = 8, PAIRS = 3, LOG_CHARS = 6000 };

/* A winner on its way into the application. */
struct attempt {
	const struct adoption *a;
	/* options */
	const char *campaign;
	long pairs;
	double gate; /* smallest gain, as a share of the time */
	bool keep_prompts, again;
	/* the winner */
	char *id, *code, hex[65]; /* HEX: the digest of its code */
	double speedup;
	bool sure; /* faster than the reference by more than the noise */

	char *original; /* the application's file before all changes */
	struct patch patch;
	struct run_folder run;
	struct kbuf heard; /* what was wrong, for the next round; see docs/schemas/verdict-1.json */
	char *digits;      /* the --compare that would allow the difference; NULL: none would */
};

static void
parse_options(struct attempt *t, int argc, char **argv)
{
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&t->campaign),
		KOPTION_NUMBER("pairs", &t->pairs, 3, 32, "N\tcompare N pairs of runs"),
		KOPTION_REAL("gate", &t->gate, 0.0001, 0.99,
		    "SHARE\trequire that all calls together take this share less time"),
		KOPTION_FLAG(
		    "again", &t->again, "\ttry a winner again that has failed in the application"),
		KOPTION_FLAG("keep-prompts", &t->keep_prompts, "\tkeep copies of the prompts"),
	};

	koption_all(options, usage, argc, argv);
}

/* ---- messages about the winner ---- */

/*
 * Goes into the report of the run, and to the next round. OWN, which may be NULL, is what the
 * application itself printed: its data belong to the user, and no prompt shows them.
 */
static void __attribute__((format(printf, 3, 4)))
hear(struct attempt *t, const char *own, const char *format, ...)
{
	kformatted(text, format);

	run_note(&t->run, "%s%s%s", text, own ? own : "", own ? "\n" : "");
	kbuf_join(&t->heard, " ", text);
}

static void
judge_winner(const struct attempt *t, enum verdict outcome)
{
	verdicts_add(
	    t->a, t->id, t->hex, outcome, t->heard.len ? t->heard.data : "accepted", t->digits);
}

/* ---- the winner ---- */

/* The best program of the campaign, according to kreport, if one is better than the reference. */
static bool
find_winner(struct attempt *t)
{
	json_auto_t *facts = NULL;
	const json_t *best, *source;

	if (!kis_there(path_of("%s/archive.ndjson", t->a->dir)))
		kdie(K_USAGE, "%s: the campaign has not run yet; run make campaign", t->a->dir);
	facts = command_json(t->a, "kreport", "--json");
	best = json_object_get(facts, "best");
	source = kjson_find(json_object_get(facts, "sources"), "id", kjson_str_or(best, "id", "?"));
	if (!source)
		return false;
	t->id = kstrdup(kjson_str(best, "id"));
	t->code = kstrdup(kjson_str(source, "code"));
	ksha256_text(t->code, t->hex);
	t->speedup = kjson_num_or(best, "speed.mean", 1);
	t->sure = kjson_num(best, "speed.low") > 1;
	return true;
}

/* Arrays that the kernel writes, according to the task. New reference. */
static json_t *
written_arrays(const struct adoption *a)
{
	json_auto_t *task = kjson_load(path_of("%s/task.json", a->dir));
	json_t *list = json_array();

	kjson_foreach_member(name, output, json_object_get(task, "outputs"))
		kjson_add(list, name);
	return list;
}

static bool
scan(struct attempt *t)
{
	json_auto_t *arrays = written_arrays(t->a);
	auto_free char *reference =
	    file_needed(path_of("%s/reference.%s", t->a->dir, t->a->suffix), NULL);
	auto_buf struct kbuf faults = { 0 };

	splice_scan(t->a, reference, t->code, arrays, &faults);
	if (faults.len)
		hear(t, NULL, "Refused; no file was changed:\n\n%s\n", faults.data);
	kpart_foreach(line, faults.data, "\n")
		kwarn("%s", line);
	return !faults.len;
}

/* ---- the new text of the file ---- */

/* What the model must know about a patch that does not work; there may be none. */
static char *
ask_file(const struct attempt *t, const char *log, const char *fault, int n, char **why)
{
	const struct adoption *a = t->a;
	const char *text = t->patch.count ? t->patch.files[0].text : NULL;
	auto_free char *was = ask_fenced(a, t->original), *now = ask_fenced(a, text),
	               *code = ask_fenced(a, t->code), *answer = NULL;
	json_auto_t *facts = ask_facts(a, text ? text : "", log, fault),
	            *own = json_pack("{s:s,s:s,s:s,s:s}", "original", was, "winner", code, "text",
	                now, "called", kjson_str(t->patch.called, "function"));

	if (!own)
		kdie(K_USAGE, "%s is not UTF-8", a->file);
	json_object_update(facts, own);
	answer = ask_model(a, "integrate", n, facts);
	return ask_code(a, answer, t->original, why);
}

/* Is the function NAME in both, with the same parameters? */
static bool
same_function(const char *was, const char *now, const char *name, char **why)
{
	auto_free char *x = kscan_signature_of(was, name), *y = kscan_signature_of(now, name);
	bool same = x && y && !strcmp(x, y);

	if (!same)
		*why = kasprintf("the rest of the project calls another definition of %s", name);
	return same;
}

/*
 * An answer must be the project's file with a different function: the same parameters, and nothing
 * forbidden. If launches call the entry, that must be unchanged.
 */
static bool
is_fit(const struct attempt *t, const char *text, char **why)
{
	const struct patch *p = &t->patch;
	const char *called = kjson_str_or(p->called, "function", NULL);
	auto_scan struct kscan s, o;

	kscan(text, strlen(text), &s);
	kscan(t->original, strlen(t->original), &o);
	if (!same_function(
	        called ? p->files[0].text : t->original, text, called ? called : t->a->kernel, why))
		return false;
	kscan_items(x, &o)
		kforeach_of(name, x->names, x->kind == KSCAN_FUNCTION ? x->name_count : 0)
			if (!kscan_has_word(x, "static") &&
			    !(called && kscan_declares(x, t->a->kernel)) &&
			    !kscan_function(&s, *name)) {
				*why = kasprintf("%s is missing", *name);
				return false;
			}
	return true;
}

static char *
build_log(const struct adoption *a)
{
	size_t len;
	auto_free char *text = file_text(adopt_path(a, "log/watch-build.log"), &len);

	return text ? klog_compiler(text, len, LOG_CHARS, 0) : kstrdup("");
}

/* Asks the model once; the patch stays unchanged, or gets a new text for the kernel's file. */
static void
mend(struct attempt *t, const char *log, char **fault, int n)
{
	struct patch *p = &t->patch;
	char *why = NULL, *next = ask_file(t, log, *fault, n, &why);

	free(*fault);
	*fault = why;
	if (!next || !is_fit(t, next, fault)) {
		free(next);
	} else if (p->count) {
		free(p->files[0].text);
		p->files[0].text = next;
	} else {
		patch_add(p, t->a->file, kstrdup(t->original), next);
	}
}

/* The project's files with the winner in them, which build in a copy; false on failure. */
static bool
new_files(struct attempt *t)
{
	const struct adoption *a = t->a;
	struct patch *p = &t->patch;
	auto_free char *fault = NULL, *log = kstrdup("");
	auto_buf struct kbuf notes = { 0 };

	splice_winner(a, t->code, p, &notes, &fault);
	if (notes.len)
		run_note(&t->run, "%s\n", notes.data);
	for (int n = 1; n <= TRIES + 1; n++) {
		if (p->count) {
			write_text(run_path(&t->run, "integrated"), p->files[0].text);
			if (real_build(a, p, false))
				return true;
			free(log);
			log = build_log(a);
		}
		kwarn("%s", p->count ? "the winner does not build in the project" : fault);
		run_note(&t->run, "Try %d: %s\n\n%s\n", n,
		    p->count ? "it does not build in the project" : fault, log);
		if (n > TRIES || !json_object_get(a->json, "model")) {
			hear(t, NULL, "It does not build in the application's file: %s\n",
			    p->count ? log : fault);
			break;
		}
		mend(t, log, &fault, n);
	}
	return false;
}

/* ---- in the project ---- */

static bool
command_good(struct attempt *t, const char *what, const char *command)
{
	auto_result struct command_result r = { 0 };

	command_run(t->a, t->a->project, command, NULL, what, &r);
	if (r.status) {
		kwarn("%s: %s", what, r.why);
		hear(t, r.said, "In the application: %s\n\n", r.why);
	}
	return !r.status;
}

/* Runs the program, and compares its outputs with the original's. */
static bool
run_good(struct attempt *t)
{
	const struct adoption *a = t->a;
	json_auto_t *before = outputs_stamps(a, a->project);
	bool good = command_good(t, "run", a->run);
	const char *stale = good ? outputs_untouched(a, a->project, before) : NULL;
	auto_free char *why = good && !stale ? outputs_all_differ(a, a->project) : NULL;

	if (stale) {
		kwarn("output %s: the run did not write it", stale);
		hear(t, NULL, "The run of the application did not write %s.\n", stale);
	}
	if (why) {
		kwarn("%s", why);
		hear(t, NULL, "%s\n", why);
		t->digits = outputs_digits(a, a->project);
	}
	return good && !stale && !why;
}

static bool
measured_good(struct attempt *t, json_t **record)
{
	bool built = real_build(t->a, &t->patch, true);
	const char *why;

	*record = built ? real_compare(t->a, &t->patch, (size_t)t->pairs, t->gate) : NULL;
	why = *record ? kjson_str(*record, "why")
	    : built   ? "the programs did not run to the end"
	              : "the original program does not build in a copy";
	if (*record)
		write_json(path_of("%s/timing.json", t->run.path), *record);
	if (*why) {
		kwarn("%s", why);
		hear(t, NULL, "In the application: %s\n", why);
	}
	return !*why;
}

static int
roll_back(struct attempt *t)
{
	const struct adoption *a = t->a;

	journal_restore(a);
	if (!command_good(t, "rebuild", a->build))
		kwarn("%s is restored, but the project's build failed; build it again", a->file);
	run_note(&t->run, "Rolled back: %s is restored byte by byte.\n", a->file);
	ksay("ROLLED BACK: %s/%s is restored\n", a->project, a->file);
	if (!t->digits)
		return K_NO;
	ksay("The outputs differ in digits of floating-point numbers alone. If that is acceptable, "
	     "run: kadopt go -c %s --compare %s\n",
	    a->dir, t->digits);
	return K_DIGITS;
}

/*
 * The project is changed from here on; every exit leaves it with the verified winner, or unchanged.
 */
static int
try_in_project(struct attempt *t)
{
	const struct adoption *a = t->a;
	json_auto_t *record = NULL;
	double reduction, wall;

	kforeach_of(f, t->patch.files, t->patch.count)
		journal_require_writable(a, f->name);
	journal_change(a, &t->patch, t->run.name, t->id);
	if (!command_good(t, "build", a->build) || !run_good(t) || !measured_good(t, &record))
		return roll_back(t);
	reduction = 100 * kjson_num(record, "reduction");
	wall = kjson_num(record, "wall");
	journal_accepted(a);
	run_note(&t->run,
	    "Accepted: %s alone %.2fx; in the application all calls together take %.1f %% less, "
	    "the application %.1f %% %s.\n",
	    t->id, t->speedup, reduction, 100 * fabs(1 - wall), wall < 1 ? "less" : "more");
	ksay("ACCEPTED: %s: %.2fx alone; %.1f %% less time in the calls of the application "
	     "(worst pair %.1f %%), %.1f %% %s in all\n",
	    t->id, t->speedup, reduction, 100 * kjson_num(record, "worst"), 100 * fabs(1 - wall),
	    wall < 1 ? "less" : "more");
	return K_OK;
}

static void
require_original(const struct adoption *a)
{
	struct kbuf b = { 0 };

	if (journal_is_original(a)) {
		journal_require_writable(a, a->file);
		return;
	}
	journal_status(a, &b);
	kdie(K_USAGE,
	    "%s/%s has changed since it was adopted (%.*s); adopt it again into another folder",
	    a->project, a->file, (int)strcspn(b.data, "\n"), b.data);
}

/* A program that the application rejected is not tried again, except on request. */
static bool
has_failed(const struct attempt *t)
{
	auto_free char *why = verdicts_failed(t->a, t->hex);

	if (why)
		ksay("GATE: %s has failed in the application before (%s); run more rounds, which "
		     "are told about it, or use --again\n",
		    t->id, why);
	return why;
}

/* The best program is not worth it. This is reported once. */
static void
stop_at_gate(struct attempt *t, double gain)
{
	if (gain >= t->gate)
		kbuf_printf(&t->heard,
		    "within the noise, the best program, %s, may be no faster than the reference",
		    t->id);
	else
		kbuf_printf(&t->heard,
		    "the best program, %s, takes %.1f %% less time than the reference, "
		    "but %.1f %% is required",
		    t->id, 100 * gain, 100 * t->gate);
	ksay("GATE: %s; no file was changed%s\n", t->heard.data,
	    gain >= t->gate ? "; run make verify to measure it again" : "");
	if (!verdicts_said(t->a, t->heard.data))
		judge_winner(t, SHORT_CIRCUIT);
}

/* A file of the patch that has changed since the adoption; NULL: none. */
static const char *
changed_file(const struct adoption *a, const struct patch *p)
{
	kforeach_of(f, p->files, p->count) {
		auto_free char *now = file_text(project_path(a, f->name), NULL);

		if (!now || strcmp(now, f->was))
			return f->name;
	}
	return NULL;
}

static int
put_in(struct attempt *t)
{
	const char *changed;

	t->original = file_needed(journal_original(t->a, t->a->file), NULL);
	if (!scan(t)) {
		ksay("REFUSED: %s; no file was changed\n", t->id);
		return K_NO;
	}
	if (!new_files(t)) {
		run_note(&t->run,
		    "The winner does not fit into the project's file; no file was changed.\n");
		ksay("REFUSED: %s does not build in the project's file; no file was changed\n",
		    t->id);
		return K_NO;
	}
	changed = changed_file(t->a, &t->patch);
	if (changed)
		kdie(K_USAGE,
		    "%s/%s has changed since the function was adopted; "
		    "adopt it again into another folder",
		    t->a->project, changed);
	kforeach_of(f, t->patch.files, t->patch.count)
		run_diff(&t->run, "integrated.patch", f->name, f->was, f->text);
	return try_in_project(t);
}

static int
integrate(struct attempt *t)
{
	const struct adoption *a = t->a;
	bool any = find_winner(t);
	double gain = 1 - 1 / t->speedup;
	int code;

	if (!any) {
		ksay("GATE: no program of the campaign is better than the reference; "
		     "no file was changed\n");
		return K_GATE;
	}
	if (gain < t->gate || !t->sure) {
		stop_at_gate(t, gain);
		return K_GATE;
	}
	if (journal_is_accepted(a, t->id)) {
		ksay("ACCEPTED: %s is already in place\n", t->id);
		return K_OK;
	}
	require_original(a);
	if (!t->again && has_failed(t))
		return K_GATE;
	run_open(&t->run, a, t->id, t->code, t->speedup, t->keep_prompts);
	code = put_in(t);
	judge_winner(t, code == K_OK ? DEPLOYED : ROLLED_BACK);
	run_close(&t->run, code);
	return code;
}

int
command_integrate(int argc, char **argv)
{
	struct attempt t = { .campaign = ".", .pairs = PAIRS, .gate = 0.02, .speedup = 1 };
	struct adoption *a;
	int code;

	parse_options(&t, argc, argv);
	t.a = a = adoption_load(t.campaign);
	adoption_lock(a);
	code = journal_repair(a);
	if (code == K_OK)
		code = check_frozen(a);
	if (code == K_OK)
		code = integrate(&t);
	patch_free(&t.patch);
	kbuf_free(&t.heard);
	free(t.original);
	free(t.id);
	free(t.code);
	free(t.digits);
	adoption_free(a);
	return code;
}
