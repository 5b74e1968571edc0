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

struct integrate_options {
	const char *campaign;
	long pairs;
	double gate; /* smallest gain, as a share of the time */
	bool keep_prompts, again;
};

struct winner {
	char *id, *code, hex[65]; /* HEX: the digest of its code */
	double speedup;
	bool sure; /* faster than the reference by more than the noise */
};

static void
parse_options(struct integrate_options *o, int argc, char **argv)
{
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&o->campaign),
		KOPTION_NUMBER("pairs", &o->pairs, 3, 32, "N\tcompare N pairs of runs"),
		KOPTION_REAL("gate", &o->gate, 0.0001, 0.99,
		    "SHARE\trequire that all calls together take this share less time"),
		KOPTION_FLAG(
		    "again", &o->again, "\ttry a winner again that has failed in the application"),
		KOPTION_FLAG("keep-prompts", &o->keep_prompts, "\tkeep copies of the prompts"),
	};

	koption_read(options, LEN(options), usage, argc, argv);
	koption_no_operands(usage, argc, argv);
}

/* ---- messages about the winner ---- */

/* What was wrong, for the next round; see docs/schemas/verdict-1.json. */
static struct kbuf heard;
/* With which --compare nothing would have been wrong; NULL: with none. */
static char *digits;

/*
 * Goes into the report of the run, and to the next round. OWN, which may be NULL, is what the
 * application itself printed: its data belong to the user, and no prompt shows them.
 */
static void __attribute__((format(printf, 3, 4)))
hear(struct run_folder *run, const char *own, const char *format, ...)
{
	kformatted(text, format);

	run_note(run, "%s%s%s", text, own ? own : "", own ? "\n" : "");
	kbuf_printf(&heard, "%s%s", heard.len ? " " : "", text);
}

static void
judge_winner(const struct adoption *a, const struct winner *w, enum verdict outcome)
{
	verdicts_add(a, w->id, w->hex, outcome, heard.len ? heard.data : "accepted", digits);
	kbuf_free(&heard);
}

/* ---- the winner ---- */

/* The best program of the campaign, according to kreport, if one is better than the reference. */
static bool
find_winner(const struct adoption *a, struct winner *w)
{
	json_auto_t *facts = NULL;
	const json_t *best, *source;

	*w = (struct winner){ .speedup = 1 };
	if (!kis_there(path_of("%s/archive.ndjson", a->dir)))
		kdie(K_USAGE, "%s: the campaign has not run yet; run make campaign", a->dir);
	facts = command_json(a, "kreport", "--json");
	best = json_object_get(facts, "best");
	source = kjson_find(json_object_get(facts, "sources"), "id", kjson_str_or(best, "id", "?"));
	if (!source)
		return false;
	w->id = kstrdup(kjson_str(best, "id"));
	w->code = kstrdup(kjson_str(source, "code"));
	ksha256_text(w->code, w->hex);
	w->speedup = kjson_num_or(best, "speed.mean", 1);
	w->sure = kjson_num(best, "speed.low") > 1;
	return true;
}

static void
free_winner(struct winner *w)
{
	free(w->id);
	free(w->code);
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
scan(const struct adoption *a, const char *code, struct run_folder *run)
{
	json_auto_t *arrays = written_arrays(a);
	auto_free char *reference =
	    file_needed(path_of("%s/reference.%s", a->dir, a->suffix), NULL);
	auto_buf struct kbuf faults = { 0 };

	splice_scan(a, reference, code, arrays, &faults);
	if (faults.len)
		hear(run, NULL, "Refused; no file was changed:\n\n%s\n", faults.data);
	kpart_foreach(line, faults.data, "\n")
		kwarn("%s", line);
	return !faults.len;
}

/* ---- the new text of the file ---- */

/* What the model must know about a patch that does not work: P may be empty. */
static char *
ask_file(const struct adoption *a, const struct winner *w, const char *original,
    const struct patch *p, const char *log, const char *fault, int n, char **why)
{
	const char *text = p->count ? p->files[0].text : NULL;
	auto_free char *was = ask_fenced(a, original), *now = ask_fenced(a, text),
	               *code = ask_fenced(a, w->code), *answer = NULL;
	json_auto_t *facts = ask_facts(a, text ? text : "", log, fault),
	            *own = json_pack("{s:s,s:s,s:s,s:s}", "original", was, "winner", code, "text",
	                now, "called", kjson_str(p->called, "function"));

	if (!own)
		kdie(K_USAGE, "%s is not UTF-8", a->file);
	json_object_update(facts, own);
	answer = ask_model(a, "integrate", n, facts);
	return ask_code(a, answer, original, why);
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
 * forbidden. If launches in P call the entry, that must be unchanged.
 */
static bool
is_fit(const struct adoption *a, const char *original, const struct patch *p, const char *text,
    char **why)
{
	const char *called = kjson_str_or(p->called, "function", NULL);
	auto_scan struct kscan s, o;

	kscan(text, strlen(text), &s);
	kscan(original, strlen(original), &o);
	if (!same_function(
	        called ? p->files[0].text : original, text, called ? called : a->kernel, why))
		return false;
	kscan_items(x, &o)
		kforeach_of(name, x->names, x->kind == KSCAN_FUNCTION ? x->name_count : 0)
			if (!kscan_has_word(x, "static") &&
			    !(called && kscan_declares(x, a->kernel)) &&
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

/* Asks the model once; P stays unchanged, or gets a new text for the kernel's file. */
static void
mend(const struct adoption *a, const struct winner *w, const char *original, struct patch *p,
    const char *log, char **fault, int n)
{
	char *why = NULL, *next = ask_file(a, w, original, p, log, *fault, n, &why);

	free(*fault);
	*fault = why;
	if (!next || !is_fit(a, original, p, next, fault)) {
		free(next);
	} else if (p->count) {
		free(p->files[0].text);
		p->files[0].text = next;
	} else {
		patch_add(p, a->file, kstrdup(original), next);
	}
}

/* The project's files with the winner in them, which build in a copy; false on failure. */
static bool
new_files(const struct adoption *a, const struct winner *w, const char *original, struct patch *p,
    struct run_folder *run)
{
	auto_free char *fault = NULL, *log = kstrdup("");
	auto_buf struct kbuf notes = { 0 };

	splice_winner(a, w->code, p, &notes, &fault);
	if (notes.len)
		run_note(run, "%s\n", notes.data);
	for (int n = 1; n <= TRIES + 1; n++) {
		if (p->count) {
			write_text(run_path(run, "integrated"), p->files[0].text);
			if (real_build(a, p, false))
				return true;
			free(log);
			log = build_log(a);
		}
		kwarn("%s", p->count ? "the winner does not build in the project" : fault);
		run_note(run, "Try %d: %s\n\n%s\n", n,
		    p->count ? "it does not build in the project" : fault, log);
		if (n > TRIES || !json_object_get(a->json, "model")) {
			hear(run, NULL, "It does not build in the application's file: %s\n",
			    p->count ? log : fault);
			break;
		}
		mend(a, w, original, p, log, &fault, n);
	}
	return false;
}

/* ---- in the project ---- */

static bool
command_good(
    const struct adoption *a, const char *what, const char *command, struct run_folder *run)
{
	auto_result struct command_result r = { 0 };

	command_run(a, a->project, command, NULL, what, &r);
	if (r.status) {
		kwarn("%s: %s", what, r.why);
		hear(run, r.said, "In the application: %s\n\n", r.why);
	}
	return !r.status;
}

/* Runs the program, and compares its outputs with the original's. */
static bool
run_good(const struct adoption *a, struct run_folder *run)
{
	json_auto_t *before = outputs_stamps(a, a->project);
	bool good = command_good(a, "run", a->run, run);
	const char *stale = good ? outputs_untouched(a, a->project, before) : NULL;
	auto_free char *why = good && !stale ? outputs_all_differ(a, a->project) : NULL;

	if (stale) {
		kwarn("output %s: the run did not write it", stale);
		hear(run, NULL, "The run of the application did not write %s.\n", stale);
	}
	if (why) {
		kwarn("%s", why);
		hear(run, NULL, "%s\n", why);
		digits = outputs_digits(a, a->project);
	}
	return good && !stale && !why;
}

static bool
measured_good(const struct adoption *a, const struct integrate_options *o, const struct patch *p,
    struct run_folder *run, json_t **record)
{
	bool built = real_build(a, p, true);
	const char *why;

	*record = built ? real_compare(a, p, (size_t)o->pairs, o->gate) : NULL;
	why = *record ? kjson_str(*record, "why")
	    : built   ? "the programs did not run to the end"
	              : "the original program does not build in a copy";
	if (*record)
		write_json(path_of("%s/timing.json", run->path), *record);
	if (*why) {
		kwarn("%s", why);
		hear(run, NULL, "In the application: %s\n", why);
	}
	return !*why;
}

static int
roll_back(const struct adoption *a, struct run_folder *run)
{
	journal_restore(a);
	if (!command_good(a, "rebuild", a->build, run))
		kwarn("%s is restored, but the project's build failed; build it again", a->file);
	run_note(run, "Rolled back: %s is restored byte by byte.\n", a->file);
	ksay("ROLLED BACK: %s/%s is restored\n", a->project, a->file);
	if (!digits)
		return K_NO;
	ksay("The outputs differ in digits of floating-point numbers alone. If that is acceptable, "
	     "run: kadopt go -c %s --compare %s\n",
	    a->dir, digits);
	return K_DIGITS;
}

/*
 * The project is changed from here on; every exit leaves it with the verified winner, or unchanged.
 */
static int
try_in_project(const struct adoption *a, const struct integrate_options *o, const struct winner *w,
    const struct patch *p, struct run_folder *run)
{
	json_auto_t *record = NULL;
	double reduction, wall;

	kforeach_of(f, p->files, p->count)
		journal_require_writable(a, f->name);
	journal_change(a, p, run->name, w->id);
	if (!command_good(a, "build", a->build, run) || !run_good(a, run) ||
	    !measured_good(a, o, p, run, &record))
		return roll_back(a, run);
	reduction = 100 * kjson_num(record, "reduction");
	wall = kjson_num(record, "wall");
	journal_accepted(a);
	run_note(run,
	    "Accepted: %s alone %.2fx; in the application all calls together take %.1f %% less, "
	    "the application %.1f %% %s.\n",
	    w->id, w->speedup, reduction, 100 * fabs(1 - wall), wall < 1 ? "less" : "more");
	ksay("ACCEPTED: %s: %.2fx alone; %.1f %% less time in the calls of the application "
	     "(worst pair %.1f %%), %.1f %% %s in all\n",
	    w->id, w->speedup, reduction, 100 * kjson_num(record, "worst"), 100 * fabs(1 - wall),
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
has_failed(const struct adoption *a, const struct winner *w)
{
	auto_free char *why = verdicts_failed(a, w->hex);

	if (why)
		ksay("GATE: %s has failed in the application before (%s); run more rounds, which "
		     "are told about it, or use --again\n",
		    w->id, why);
	return why;
}

/* The best program W (NULL: none) is not worth it. This is reported once. */
static void
stop_at_gate(const struct adoption *a, const struct integrate_options *o, const struct winner *w,
    double gain)
{
	if (!w)
		ksay("GATE: no program of the campaign is better than the reference; no file was "
		     "changed\n");
	else if (gain >= o->gate)
		kbuf_printf(&heard,
		    "within the noise, the best program, %s, may be no faster than the reference",
		    w->id);
	else
		kbuf_printf(&heard,
		    "the best program, %s, takes %.1f %% less time than the reference, but %.1f %% "
		    "is required",
		    w->id, 100 * gain, 100 * o->gate);
	if (w)
		ksay("GATE: %s; no file was changed%s\n", heard.data,
		    gain >= o->gate ? "; run make verify to measure it again" : "");
	if (w && !verdicts_said(a, heard.data))
		judge_winner(a, w, SHORT_CIRCUIT);
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
put_in(const struct adoption *a, const struct integrate_options *o, const struct winner *w,
    struct run_folder *run)
{
	auto_free char *original = file_needed(journal_original(a, a->file), NULL);
	struct patch p = { 0 };
	int code = K_NO;

	if (!scan(a, w->code, run)) {
		ksay("REFUSED: %s; no file was changed\n", w->id);
	} else if (!new_files(a, w, original, &p, run)) {
		run_note(
		    run, "The winner does not fit into the project's file; no file was changed.\n");
		ksay("REFUSED: %s does not build in the project's file; no file was changed\n",
		    w->id);
	} else if (changed_file(a, &p)) {
		kdie(K_USAGE,
		    "%s/%s has changed since the function was adopted; adopt it again into "
		    "another folder",
		    a->project, changed_file(a, &p));
	} else {
		kforeach_of(f, p.files, p.count)
			run_diff(run, "integrated.patch", f->name, f->was, f->text);
		code = try_in_project(a, o, w, &p, run);
	}
	patch_free(&p);
	return code;
}

static int
integrate(const struct adoption *a, const struct integrate_options *o)
{
	struct winner w;
	struct run_folder run;
	bool any = find_winner(a, &w);
	double gain = 1 - 1 / w.speedup;
	int code = K_GATE;

	if (!any || gain < o->gate || !w.sure) {
		stop_at_gate(a, o, any ? &w : NULL, gain);
	} else if (journal_is_accepted(a, w.id)) {
		ksay("ACCEPTED: %s is already in place\n", w.id);
		code = K_OK;
	} else {
		require_original(a);
		if (o->again || !has_failed(a, &w)) {
			run_open(&run, a, w.id, w.code, w.speedup, o->keep_prompts);
			code = put_in(a, o, &w, &run);
			judge_winner(a, &w, code == K_OK ? DEPLOYED : ROLLED_BACK);
			run_close(&run, code);
		}
	}
	free_winner(&w);
	return code;
}

int
command_integrate(int argc, char **argv)
{
	struct integrate_options o = { .campaign = ".", .pairs = PAIRS, .gate = 0.02 };
	struct adoption *a;
	int code;

	parse_options(&o, argc, argv);
	a = adoption_load(o.campaign);
	adoption_lock(a);
	code = journal_repair(a);
	if (code == K_OK)
		code = check_frozen(a);
	if (code == K_OK)
		code = integrate(a, &o);
	adoption_free(a);
	return code;
}
