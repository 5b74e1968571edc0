/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt integrate: the winner goes back into the application, when it is worth it and holds there:
 * looked at, built, run, compared; else the project is what it was, byte by byte. See docs/adopt.md
 * for the order of things.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adopt.h"
#include "journal.h"
#include "kfence.h"
#include "kio.h"
#include "klog.h"
#include "koption.h"
#include "../tools/model/kseal.h"
#include "real.h"
#include "runs.h"
#include "splice.h"

static const char usage[] = "usage: kadopt integrate [OPTION...]\n";

enum { TRIES = 8, PAIRS = 3, LOG_CHARS = 6000, WHY_CHARS = 1200 };

struct integrate_options {
	const char *campaign;
	long pairs;
	double gate; /* smallest gain, as a share of the time */
	bool keep_prompts, again;
};

struct winner {
	char *id, *code;
	double speedup;
	bool sure; /* faster than the reference beyond the noise */
};

static void
parse_options(struct integrate_options *o, int argc, char **argv)
{
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&o->campaign),
		{ 0, "pairs", .number = &o->pairs, .low = 3, .high = 32,
		    .help = "N\tcompare N pairs of runs" },
		{ 0, "gate", .real = &o->gate, .low = 0.0001, .high = 0.99,
		    .help = "SHARE\trequire that all calls together take this share less time" },
		{ 0, "again", .flag = &o->again,
		    .help = "\ttry a winner that failed in the application before" },
		{ 0, "keep-prompts", .flag = &o->keep_prompts,
		    .help = "\tkeep copies of the prompts" },
	};

	koption_read(options, LEN(options), usage, argc, argv);
	koption_no_operands(usage, argc, argv);
}

/* ---- what is said of the winner ---- */

/* What was wrong, for the next round; see docs/schemas/verdict-1.json. */
static struct kbuf heard;

/*
 * Into the report of the run, and to the next round. OWN, which may be NULL, is what the
 * application itself said: its data are the user's, and no prompt shows them.
 */
static void __attribute__((format(printf, 3, 4)))
hear(struct run_folder *run, const char *own, const char *format, ...)
{
	va_list ap;
	char *text;

	va_start(ap, format);
	text = kvasprintf(format, ap);
	va_end(ap);
	run_note(run, "%s%s%s", text, own ? own : "", own ? "\n" : "");
	kbuf_printf(&heard, "%s%s", heard.len ? " " : "", text);
	free(text);
}

static json_t *
verdicts_of(const struct adoption *a)
{
	char *path = adopt_path(a, "verdicts.ndjson");
	json_t *list = json_array();
	struct krec rec;
	struct kin in;

	if (access(path, F_OK))
		return list;
	kin_open(&in, path);
	while (kin_next(&in, &rec)) {
		json_array_append(list, rec.json);
		krec_free(&rec);
	}
	kin_close(&in);
	return list;
}

/* Add what came of a program; the search and later integrations look at it. */
static void
judge_winner(const struct adoption *a, const struct winner *w, bool good)
{
	char *path = adopt_path(a, "verdicts.ndjson"), hex[65], now[32],
	     *line = kfence_line(heard.len ? heard.data : "accepted", WHY_CHARS);
	json_t *list = verdicts_of(a), *v;
	size_t i;

	ksha256_hex(w->code, strlen(w->code), hex);
	know_iso(now, sizeof now);
	json_array_append_new(list,
	    json_pack("{s:s,s:s,s:s,s:b,s:s,s:s}", "schema", "verdict/1", "id", w->id,
	        "code_sha256", hex, "good", (int)good, "why", line, "at", now));
	kout_open(path);
	json_array_foreach(list, i, v)
		kout_json(v);
	kout_commit();
	kbuf_free(&heard);
	json_decref(list);
	free(line);
}

/* Why the program failed in the application when it was there last; NULL: it did not. */
static char *
failed_before(const struct adoption *a, const struct winner *w)
{
	json_t *list = verdicts_of(a), *v;
	char hex[65], *why = NULL;
	size_t i;

	ksha256_hex(w->code, strlen(w->code), hex);
	json_array_foreach(list, i, v) {
		if (strcmp(kjson_str_or(v, "code_sha256", ""), hex))
			continue;
		free(why);
		why = kjson_bool_or(v, "good", false) ? NULL : kstrdup(kjson_str_or(v, "why", ""));
	}
	json_decref(list);
	return why;
}

/* ---- the winner ---- */

/* The best program of the campaign, as kreport tells it, when one is better than the reference. */
static bool
find_winner(const struct adoption *a, struct winner *w)
{
	char *archive = path_of("%s/archive.ndjson", a->dir);
	json_t *facts, *source;
	const json_t *best;
	size_t i;

	*w = (struct winner){ .speedup = 1 };
	if (access(archive, F_OK))
		kdie(K_USAGE, "%s: the campaign has not run yet; run make campaign", a->dir);
	facts = command_json(a, "kreport", "--json", NULL);
	best = json_object_get(facts, "best");
	json_array_foreach(best ? json_object_get(facts, "sources") : NULL, i, source) {
		if (strcmp(kjson_str_or(source, "id", ""), kjson_str_or(best, "id", "?")))
			continue;
		w->id = kstrdup(kjson_str_or(best, "id", ""));
		w->code = kstrdup(kjson_str_or(source, "code", ""));
		w->speedup = kjson_num_or(best, "speed.mean", 1);
		w->sure = kjson_num_or(best, "speed.low", 0) > 1;
	}
	json_decref(facts);
	return w->id != NULL;
}

static void
free_winner(struct winner *w)
{
	free(w->id);
	free(w->code);
}

/* Arrays that the kernel writes, by the task. New reference. */
static json_t *
written_arrays(const struct adoption *a)
{
	char *path = path_of("%s/task.json", a->dir);
	json_t *task = kjson_load(path), *list = json_array(), *v;
	const char *name;

	json_object_foreach(json_object_get(task, "outputs"), name, v)
		json_array_append_new(list, json_string(name));
	json_decref(task);
	return list;
}

static char *
reference_text(const struct adoption *a)
{
	char *path = path_of("%s/reference.%s", a->dir, a->suffix), *text = file_text(path, NULL);

	if (!text)
		kdie_errno(K_IO, "%s", path);
	return text;
}

static bool
scan(const struct adoption *a, const char *code, struct run_folder *run)
{
	json_t *arrays = written_arrays(a);
	char *reference = reference_text(a), *save;
	struct kbuf faults = { 0 };
	size_t n = splice_scan(a, reference, code, arrays, &faults);

	if (n)
		hear(run, NULL, "Refused; no file was changed:\n\n%s\n", faults.data);
	for (char *line = n ? strtok_r(faults.data, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		kwarn("%s", line);
	kbuf_free(&faults);
	json_decref(arrays);
	free(reference);
	return !n;
}

/* ---- the new text of the file ---- */

static char *
ask_file(const struct adoption *a, const struct winner *w, const char *original, const char *text,
    const char *log, const char *fault, int n, char **why)
{
	struct kbuf was = { 0 }, now = { 0 }, code = { 0 }, words = { 0 };
	char *context = error_context(text ? text : "", log), *answer, *file;
	json_t *facts;

	kfence_code(&was, original, a->language);
	kfence_code(&code, w->code, a->language);
	if (text)
		kfence_code(&now, text, a->language);
	kfence_data(&words, context, "compiler", a->kernel);
	kbuf_add(&now, "", 0);
	facts = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:s}", "kernel", a->kernel, "file",
	    a->file, "label", a->language, "original", was.data, "winner", code.data, "text",
	    now.data, "log", words.data, "structural", !strcmp(error_kind(log), "structural"),
	    "fault", fault ? fault : "");
	if (!facts)
		kdie(K_USAGE, "%s is not UTF-8", a->file);
	answer = ask_model(a, "integrate", n, facts);
	file = ask_code(a, answer, original, why);
	free(answer);
	json_decref(facts);
	free(context);
	kbuf_free(&was);
	kbuf_free(&now);
	kbuf_free(&code);
	kbuf_free(&words);
	return file;
}

/*
 * An answer has to be the project's file with another function: parameters as they were, and
 * nothing refused in it.
 */
static bool
is_fit(const struct adoption *a, const char *original, const char *text, char **why)
{
	char *was = kscan_signature_of(original, a->kernel),
	     *now = kscan_signature_of(text, a->kernel);
	bool good = was && now && !strcmp(was, now);
	struct kscan s, o;

	kscan(text, strlen(text), &s);
	kscan(original, strlen(original), &o);
	if (!good)
		*why =
		    kasprintf("the rest of the project calls another definition of %s", a->kernel);
	for (size_t i = 0; good && i < o.count; i++)
		for (size_t n = 0;
		     good && n < o.items[i].name_count && o.items[i].kind == KSCAN_FUNCTION; n++)
			if (!kscan_has_word(&o, &o.items[i], "static") &&
			    !kscan_function(&s, o.items[i].names[n])) {
				*why = kasprintf("%s is missing", o.items[i].names[n]);
				good = false;
			}
	free(was);
	free(now);
	kscan_free(&s);
	kscan_free(&o);
	return good;
}

static char *
build_log(const struct adoption *a)
{
	char *path = adopt_path(a, "log/watch-build.log"), *text, *log;
	size_t len;

	text = file_text(path, &len);
	log = text ? klog_compiler(text, len, LOG_CHARS, 0) : kstrdup("");
	free(text);
	return log;
}

/*
 * The project's file with the winner in it, which builds in a copy; NULL: it could not be had. The
 * caller frees.
 */
static char *
new_file(
    const struct adoption *a, const struct winner *w, const char *original, struct run_folder *run)
{
	char *path = run_path(run, "integrated"), *fault = NULL, *text, *log = kstrdup("");
	struct kbuf notes = { 0 };

	text = splice(a, original, w->code, &notes, &fault);
	if (notes.len)
		run_note(run, "%s\n", notes.data);
	for (int n = 1; n <= TRIES + 1; n++) {
		if (text) {
			write_text(path, text, strlen(text));
			if (real_build(a, "winner", path))
				break;
			free(log);
			log = build_log(a);
		}
		kwarn("%s", text ? "the winner does not build in the project" : fault);
		run_note(run, "Try %d: %s\n\n%s\n", n,
		    text ? "it does not build in the project" : fault, log);
		if (n > TRIES || !json_object_get(a->json, "model")) {
			hear(run, NULL, "It does not build in the application's file: %s\n",
			    text ? log : fault);
			free(text);
			text = NULL;
			break;
		}
		{
			char *why = NULL,
			     *next = ask_file(a, w, original, text, log, fault, n, &why);

			free(fault);
			fault = why;
			if (next && is_fit(a, original, next, &fault)) {
				free(text);
				text = next;
			} else {
				free(next);
			}
		}
	}
	kbuf_free(&notes);
	free(fault);
	free(log);
	return text;
}

/* ---- in the project ---- */

static bool
command_good(
    const struct adoption *a, const char *what, const char *command, struct run_folder *run)
{
	struct command_result r;
	bool good;

	command_run(a, a->project, command, NULL, what, &r);
	good = r.status == 0;
	if (!good) {
		kwarn("%s: %s", what, r.why);
		hear(run, r.said, "In the application: %s\n\n", r.why);
	}
	command_free(&r);
	return good;
}

/* The run, and what it wrote beside what the original wrote. */
static bool
run_good(const struct adoption *a, struct run_folder *run)
{
	const json_t *outputs = json_object_get(a->json, "outputs");
	json_t *before = outputs_stamps(a, a->project);
	bool good = command_good(a, "run", a->run, run);
	const char *stale = good ? outputs_untouched(a, a->project, before) : NULL;

	if (stale) {
		kwarn("output %s: the run did not write it", stale);
		hear(run, NULL, "The run of the application did not write %s.\n", stale);
		good = false;
	}
	json_decref(before);

	for (size_t i = 0; i < json_array_size(outputs) && good; i++) {
		const json_t *o = json_array_get(outputs, i);
		const char *name = kjson_str_or(o, "file", "");
		char *was = adopt_path(a, "outputs/%s", name), *now = project_path(a, name),
		     why[512];

		good = outputs_same(o, was, now, why, sizeof why);
		if (!good) {
			kwarn("output %s differs: %s", name, why);
			hear(run, NULL, "The application's output %s differs: %s\n", name, why);
		}
	}
	return good;
}

static bool
measured_good(const struct adoption *a, const struct integrate_options *o, struct run_folder *run,
    struct real *r)
{
	char *original = journal_original(a);
	bool good =
	    real_build(a, "original", original) && real_compare(a, (size_t)o->pairs, o->gate, r);

	if (r->record)
		run_json(run, "timing.json", r->record);
	if (!good || !r->faster) {
		kwarn("%s", r->why ? r->why : "the original program does not build in a copy");
		hear(run, NULL, "In the application: %s\n",
		    r->why ? r->why : "the original program does not build in a copy");
	}
	return good && r->faster;
}

static int
roll_back(const struct adoption *a, struct run_folder *run)
{
	journal_restore(a);
	if (!command_good(a, "rebuild", a->build, run))
		kwarn("%s is restored, but the project's build failed; build it again", a->file);
	run_note(run, "Rolled back: %s is restored byte by byte.\n", a->file);
	ksay("ROLLED BACK: %s/%s is restored\n", a->project, a->file);
	return K_NO;
}

/*
 * The project is changed from here on; every way out leaves it with the winner that was verified,
 * or as it was.
 */
static int
try_in_project(const struct adoption *a, const struct integrate_options *o, const struct winner *w,
    const char *text, struct run_folder *run)
{
	struct real r = { 0 };
	int code = K_NO;

	journal_change(a, text, strlen(text), run->name, w->id);
	if (command_good(a, "build", a->build, run) && run_good(a, run) &&
	    measured_good(a, o, run, &r)) {
		journal_verified(a);
		journal_accepted(a);
		run_note(run,
		    "Accepted: %s alone %.2fx; in the application all calls together take %.1f %% "
		    "less, the application %.1f %% %s.\n",
		    w->id, w->speedup, 100 * r.reduction, 100 * fabs(1 - r.wall),
		    r.wall < 1 ? "less" : "more");
		ksay("ACCEPTED: %s: %.2fx alone; %.1f %% less time in the calls of the application "
		     "(worst pair %.1f %%), %.1f %% %s in all\n",
		    w->id, w->speedup, 100 * r.reduction, 100 * r.worst, 100 * fabs(1 - r.wall),
		    r.wall < 1 ? "less" : "more");
		code = K_OK;
	} else {
		code = roll_back(a, run);
	}
	real_free(&r);
	return code;
}

static void
require_original(const struct adoption *a)
{
	struct kbuf b = { 0 };

	if (journal_is_original(a)) {
		journal_require_writable(a);
		return;
	}
	journal_status(a, &b);
	kdie(K_USAGE,
	    "%s/%s has changed since it was adopted (%.*s); adopt it again into another folder",
	    a->project, a->file, (int)strcspn(b.data, "\n"), b.data);
}

/* Nobody puts in again what the application has refused, unless asked to. */
static bool
has_failed(const struct adoption *a, const struct winner *w)
{
	char *why = failed_before(a, w);
	bool failed = why != NULL;

	if (failed)
		ksay("GATE: %s failed in the application before (%s); run more rounds, which are "
		     "told, or give --again\n",
		    w->id, why);
	free(why);
	return failed;
}

static int
integrate(const struct adoption *a, const struct integrate_options *o)
{
	struct winner w;
	struct run_folder run;
	bool any = find_winner(a, &w);
	double gain = 1 - 1 / w.speedup;
	char *original, *path, *text;
	int code;

	if (!any || gain < o->gate || !w.sure) {
		if (any && gain >= o->gate)
			ksay("GATE: within the noise, the best program, %s, may be no faster than "
			     "the reference; no file was changed; run make verify to measure it "
			     "again\n",
			    w.id);
		else if (any)
			ksay("GATE: the best program, %s, takes %.1f %% less time than the "
			     "reference, but %.1f %% is required; no file was changed\n",
			    w.id, 100 * gain, 100 * o->gate);
		else
			ksay("GATE: no program of the campaign is better than the reference; no "
			     "file was changed\n");
		free_winner(&w);
		return K_GATE;
	}
	if (journal_is_accepted(a, w.id)) {
		ksay("ACCEPTED: %s is already in place\n", w.id);
		free_winner(&w);
		return K_OK;
	}
	require_original(a);
	if (!o->again && has_failed(a, &w)) {
		free_winner(&w);
		return K_GATE;
	}
	run_open(&run, a, w.id, w.code, w.speedup, o->keep_prompts);
	path = journal_original(a);
	original = file_text(path, NULL);
	if (!original)
		kdie_errno(K_IO, "%s", path);
	code = K_NO;
	if (!scan(a, w.code, &run)) {
		ksay("REFUSED: %s; no file was changed\n", w.id);
	} else if (!(text = new_file(a, &w, original, &run))) {
		run_note(&run,
		    "The winner does not fit into the project's file; no file was changed.\n");
		ksay("REFUSED: %s does not build in the project's file; no file was changed\n",
		    w.id);
	} else {
		run_diff(&run, "integrated.patch", a->file, original, text);
		code = try_in_project(a, o, &w, text, &run);
		free(text);
	}
	judge_winner(a, &w, code == K_OK);
	run_close(&run, code);
	free(original);
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
