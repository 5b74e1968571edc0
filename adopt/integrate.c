/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt integrate: puts the winner into the application if it is worth it and works there:
 * checked, built, run, compared; otherwise the project stays the same, byte by byte. docs/adopt.md
 * gives the order of the steps.
 */

#include "adopt.h"
#include "journal.h"
#include "klog.h"
#include "real.h"
#include "runs.h"
#include "splice.h"

static const char usage[] = "usage: kadopt integrate [OPTION...]\n";

enum { TRIES = 8, PAIRS = 3 };

/* The winner on its way into the application: one a process. */
static struct {
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
	struct kbuf heard; /* what was wrong, for the next round; see docs/schemas/verdict-1.json */
	char *digits;      /* the --compare that would allow the difference; NULL: none would */
} attempt = { .campaign = ".", .pairs = PAIRS, .gate = 0.02, .speedup = 1 };

static void
parse_options(int argc, char **argv)
{
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&attempt.campaign),
		KOPTION_NUMBER("pairs", &attempt.pairs, 3, 32, "N\tcompare N pairs of runs"),
		KOPTION_REAL("gate", &attempt.gate, 0.0001, 0.99,
		    "SHARE\trequire that all calls together take this share less time"),
		KOPTION_FLAG("again", &attempt.again,
		    "\ttry a winner again that has failed in the application"),
		KOPTION_FLAG("keep-prompts", &attempt.keep_prompts, "\tkeep copies of the prompts"),
	};

	koption_all(options, usage, argc, argv);
}

/* ---- messages about the winner ---- */

/*
 * Goes into the report of the run, and to the next round. OWN, which may be NULL, is what the
 * application itself printed: its data belong to the user, and no prompt shows them.
 */
static void __attribute__((format(printf, 2, 3))) hear(const char *own, const char *format, ...)
{
	kformatted(text, format);

	run_note("%s%s%s", text, own ?: "", own ? "\n" : "");
	kbuf_join(&attempt.heard, " ", text);
}

/* The result: on the terminal, and in the report. */
static void __attribute__((format(printf, 1, 2))) conclude(const char *format, ...)
{
	kformatted(text, format);

	ksay("%s\n", text);
	run_note("%s\n", text);
}

static void
judge_winner(enum verdict outcome)
{
	verdicts_add(attempt.id, attempt.hex, outcome,
	    attempt.heard.len ? attempt.heard.data : "accepted", attempt.digits);
}

/* ---- the winner ---- */

/* The best program of the campaign, according to kreport, if one is better than the reference. */
static bool
find_winner(void)
{
	auto_free char *text = NULL;
	json_auto_t *facts = NULL;
	const json_t *best, *source;

	if (!kis_there(campaign_path("archive.ndjson")))
		kdie_usage("%s: the campaign has not run yet; run make campaign", adoption.dir);
	text = program_output(NULL, -1, "kreport", "--json", "-c", adoption.dir);
	facts = json_loads(text, 0, NULL);
	if (!facts)
		kdie(K_IO, "kreport printed no JSON");
	best = json_object_get(facts, "best");
	source = kjson_find(json_object_get(facts, "sources"), "id", kjson_str_or(best, "id", "?"));
	if (!source)
		return false;
	attempt.id = kstrdup(kjson_str(best, "id"));
	attempt.code = kstrdup(kjson_str(source, "code"));
	ksha256_hex(attempt.code, strlen(attempt.code), attempt.hex);
	attempt.speedup = kjson_num_or(best, "speed.mean", 1);
	attempt.sure = kjson_num(best, "speed.low") > 1;
	return true;
}

/* Arrays that the kernel writes, according to the task. New reference. */
static json_t *
written_arrays(void)
{
	json_auto_t *task = kjson_load(campaign_path("task.json"));
	json_t *list = json_array();

	kjson_foreach_member(name, output, task, "outputs")
		kjson_add(list, name);
	return list;
}

static bool
scan(void)
{
	json_auto_t *arrays = written_arrays();
	auto_free char *reference =
	    file_needed(campaign_path("reference.%s", adoption.suffix), NULL);
	auto_buf struct kbuf faults = { 0 };

	splice_scan(reference, attempt.code, arrays, &faults);
	if (faults.len)
		hear(NULL, "Refused; no file was changed:\n\n%s\n", faults.data);
	kpart_foreach(line, faults.data, "\n")
		kwarn("%s", line);
	return !faults.len;
}

/* ---- the new text of the file ---- */

/* What the model must know about a patch that does not work; there may be none. */
static char *
ask_file(const char *log, const char *fault, int n, char **why)
{
	const char *text = attempt.patch.count ? attempt.patch.files[0].text : NULL;
	auto_free char *was = ask_fenced(attempt.original), *now = ask_fenced(text),
	               *code = ask_fenced(attempt.code), *answer = NULL;
	json_auto_t *facts = ask_facts(text ?: "", log, fault),
	            *own = json_pack("{s:s,s:s,s:s,s:s}", "original", was, "winner", code, "text",
	                now, "called", kjson_str(attempt.patch.called, "function"));

	if (!own)
		kdie_usage("%s is not UTF-8", adoption.file);
	json_object_update(facts, own);
	answer = ask_model("integrate", n, facts);
	return ask_code(answer, attempt.original, why);
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
is_fit(const char *text, char **why)
{
	const struct patch *p = &attempt.patch;
	const char *called = kjson_maybe(p->called, "function");
	auto_scan struct kscan s, o;

	kscan(text, &s);
	kscan(attempt.original, &o);
	if (!same_function(
	        called ? p->files[0].text : attempt.original, text, called ?: adoption.kernel, why))
		return false;
	kscan_items(x, &o)
		kforeach_of(name, x->names, x->kind == KSCAN_FUNCTION ? x->name_count : 0)
			if (!kscan_has_word(x, "static") &&
			    !(called && kscan_declares(x, adoption.kernel)) &&
			    !kscan_function(&s, *name)) {
				*why = kasprintf("%s is missing", *name);
				return false;
			}
	return true;
}

static char *
build_log(void)
{
	size_t len;
	auto_free char *text = file_text(adopt_path("log/watch-build.log"), &len);

	return text ? klog_compiler(text, len) : kstrdup("");
}

/* Asks the model once; the patch stays unchanged, or gets a new text for the kernel's file. */
static void
mend(const char *log, char **fault, int n)
{
	struct patch *p = &attempt.patch;
	char *why = NULL, *next = ask_file(log, *fault, n, &why);

	free(*fault);
	*fault = why;
	if (!next || !is_fit(next, fault)) {
		free(next);
	} else if (p->count) {
		free(p->files[0].text);
		p->files[0].text = next;
	} else {
		patch_add(p, adoption.file, kstrdup(attempt.original), next);
	}
}

/* The project's files with the winner in them, which build in a copy; false on failure. */
static bool
new_files(void)
{
	struct patch *p = &attempt.patch;
	auto_free char *fault = NULL, *log = kstrdup("");
	auto_buf struct kbuf notes = { 0 };

	splice_winner(attempt.code, p, &notes, &fault);
	if (notes.len)
		run_note("%s\n", notes.data);
	for (int n = 1; n <= TRIES + 1; n++) {
		if (p->count) {
			write_text(run_path("integrated"), p->files[0].text);
			if (real_build(p, false))
				return true;
			free(log);
			log = build_log();
		}
		kwarn("%s", p->count ? "the winner does not build in the project" : fault);
		run_note("Try %d: %s\n\n%s\n", n,
		    p->count ? "it does not build in the project" : fault, log);
		if (n > TRIES || !json_object_get(adoption.json, "model")) {
			hear(NULL, "It does not build in the application's file: %s\n",
			    p->count ? log : fault);
			break;
		}
		mend(log, &fault, n);
	}
	return false;
}

/* ---- in the project ---- */

static bool
command_good(const char *what, const char *command)
{
	auto_result struct command_result r = command_run(adoption.project, command, NULL, what);

	if (r.status) {
		kwarn("%s: %s", what, r.why);
		hear(r.said, "In the application: %s\n\n", r.why);
	}
	return !r.status;
}

/* Runs the program, and compares its outputs with the original's. */
static bool
run_good(void)
{
	auto_free char *why = NULL;

	outputs_empty(adoption.project);
	if (!command_good("run", adoption.run))
		return false;
	why = outputs_all_differ(adoption.project);
	if (why) {
		kwarn("%s", why);
		hear(NULL, "%s\n", why);
		attempt.digits = outputs_digits();
	}
	return !why;
}

static bool
measured_good(json_t **record)
{
	bool built = real_build(&attempt.patch, true);
	const char *why;

	*record = built ? real_compare(&attempt.patch, (size_t)attempt.pairs, attempt.gate) : NULL;
	why = *record ? kjson_str(*record, "why")
	    : built   ? "the programs did not run to the end"
	              : "the original program does not build in a copy";
	if (*record)
		write_json(path_of("%s/timing.json", run_folder.path), *record);
	if (*why) {
		kwarn("%s", why);
		hear(NULL, "In the application: %s\n", why);
	}
	return !*why;
}

static int
roll_back(void)
{
	journal_restore();
	conclude("ROLLED BACK: %s/%s is restored", adoption.project, adoption.file);
	if (!attempt.digits)
		return K_NO;
	ksay("The outputs differ in digits of floating-point numbers alone. If that is acceptable, "
	     "run: kadopt go -c %s --compare %s\n",
	    adoption.dir, attempt.digits);
	return K_DIGITS;
}

/*
 * The project is changed from here on; every exit leaves it with the verified winner, or unchanged.
 */
static int
try_in_project(void)
{
	json_auto_t *record = NULL;
	double wall;

	kforeach_of(f, attempt.patch.files, attempt.patch.count)
		journal_require_writable(f->name);
	journal_change(&attempt.patch, run_folder.name, attempt.id);
	if (!command_good("build", adoption.build) || !run_good() || !measured_good(&record))
		return roll_back();
	wall = kjson_num(record, "wall");
	journal_accepted();
	conclude("ACCEPTED: %s: %.2fx alone; %.1f %% less time in the calls of the application "
	         "(worst pair %.1f %%), %.1f %% %s in all",
	    attempt.id, attempt.speedup, 100 * kjson_num(record, "reduction"),
	    100 * kjson_num(record, "worst"), 100 * fabs(1 - wall), wall < 1 ? "less" : "more");
	return K_OK;
}

static void
require_original(void)
{
	struct kbuf b = { 0 };

	if (journal_is_original()) {
		journal_require_writable(adoption.file);
		return;
	}
	journal_status(&b);
	kdie_usage("%s/%s has changed since it was adopted (%.*s); adopt it again into another "
	           "folder",
	    adoption.project, adoption.file, (int)strcspn(b.data, "\n"), b.data);
}

/* A program that the application rejected is not tried again, except on request. */
static bool
has_failed(void)
{
	auto_free char *why = verdicts_failed(attempt.hex);

	if (why)
		ksay("GATE: %s has failed in the application before (%s); run more rounds, which "
		     "are told about it, or use --again\n",
		    attempt.id, why);
	return why;
}

/* The best program is not worth it. This is reported once. */
static void
stop_at_gate(double gain)
{
	if (gain >= attempt.gate)
		kbuf_printf(&attempt.heard,
		    "within the noise, the best program, %s, may be no faster than the reference",
		    attempt.id);
	else
		kbuf_printf(&attempt.heard,
		    "the best program, %s, takes %.1f %% less time than the reference, "
		    "but %.1f %% is required",
		    attempt.id, 100 * gain, 100 * attempt.gate);
	ksay("GATE: %s; no file was changed%s\n", attempt.heard.data,
	    gain >= attempt.gate ? "; run make verify to measure it again" : "");
	if (!verdicts_said(attempt.heard.data))
		judge_winner(SHORT_CIRCUIT);
}

/* A file of the patch that has changed since the adoption; NULL: none. */
static const char *
changed_file(const struct patch *p)
{
	kforeach_of(f, p->files, p->count) {
		auto_free char *now = file_text(project_path(f->name), NULL);

		if (!now || strcmp(now, f->was))
			return f->name;
	}
	return NULL;
}

static int
put_in(void)
{
	const char *changed;

	attempt.original = file_needed(journal_original(adoption.file), NULL);
	if (!scan()) {
		conclude("REFUSED: %s; no file was changed", attempt.id);
		return K_NO;
	}
	if (!new_files()) {
		conclude("REFUSED: %s does not build in the project's file; no file was changed",
		    attempt.id);
		return K_NO;
	}
	changed = changed_file(&attempt.patch);
	if (changed)
		kdie_usage("%s/%s has changed since the function was adopted; "
		           "adopt it again into another folder",
		    adoption.project, changed);
	kforeach_of(f, attempt.patch.files, attempt.patch.count)
		run_diff("integrated.patch", f->name, f->was, f->text);
	return try_in_project();
}

static int
integrate(void)
{
	bool any = find_winner();
	double gain = 1 - 1 / attempt.speedup;
	int code;

	if (!any) {
		ksay("GATE: no program of the campaign is better than the reference; "
		     "no file was changed\n");
		return K_GATE;
	}
	if (gain < attempt.gate || !attempt.sure) {
		stop_at_gate(gain);
		return K_GATE;
	}
	if (journal_is_accepted(attempt.id)) {
		ksay("ACCEPTED: %s is already in place\n", attempt.id);
		return K_OK;
	}
	require_original();
	if (!attempt.again && has_failed())
		return K_GATE;
	run_open(attempt.id, attempt.code, attempt.speedup, attempt.keep_prompts);
	code = put_in();
	judge_winner(code == K_OK ? DEPLOYED : ROLLED_BACK);
	run_close(code);
	return code;
}

int
command_integrate(int argc, char **argv)
{
	int code;

	parse_options(argc, argv);
	adoption_open(attempt.campaign, NULL);
	adoption_lock();
	code = journal_repair();
	if (code == K_OK)
		code = check_frozen();
	if (code == K_OK)
		code = integrate();
	return code;
}
