/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keval: from reply to evaluation: extracts the code, scans, builds, checks and times it. Also
 * evaluates the reference, a single file, and the best kernel again next to the reference and every
 * baseline.
 */

#include "keval.h"
#include "koption.h"
#include "krecord.h"

static const char usage[] = "usage: keval [OPTION...] [FILE...]\n"
                            "       keval --reference | --code FILE | --verify ID | --evidence "
                            "TRIAL | --anchor TRIAL [OPTION...]\n"
                            "       keval --race TIMES [-c DIR] [-s SET] [-o FILE] KERNEL...\n"
                            "       keval --preflight [-c DIR]\n";

struct keval keval;

enum mode {
	MODE_REPLIES,
	MODE_REFERENCE,
	MODE_CODE,
	MODE_VERIFY,
	MODE_EVIDENCE,
	MODE_ANCHOR,
	MODE_RACE,
	MODE_PREFLIGHT
};

struct arguments {
	int mode;
	const char *output;
	const char *operand; /* of --code, --verify and --evidence */
	bool inputs;         /* --inputs: only print what would be read */
	const char *const *files;
};

static void
parse(struct arguments *a, int argc, char **argv)
{
	static const char *const standard_input[] = { "-", NULL };
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&kcamp.dir),
		{ 'a', "archive", .text = &keval.archive,
		    .help = "FILE\tarchive of the previous trial, "
		            "with the program to race against" },
		{ 's', "set", .text = &keval.set, .help = "SET\tuse this set of workloads" },
		KOPTION_OUTPUT(&a->output),
		KOPTION_TEXT("seed", &keval.seed, "HEX\tseed for inputs, to repeat an evaluation"),
		KOPTION_FLAG("inputs", &a->inputs, "\tlist the files that an evaluation reads"),
		KOPTION_CHOICE("reference", &a->mode, MODE_REFERENCE, "\tevaluate the reference"),
		KOPTION_CHOICE(
		    "code", &a->mode, MODE_CODE, "FILE\tevaluate this file", .text = &a->operand),
		KOPTION_CHOICE("verify", &a->mode, MODE_VERIFY,
		    "ID\tmeasure a candidate again with reference and baselines",
		    .text = &a->operand),
		KOPTION_CHOICE("evidence", &a->mode, MODE_EVIDENCE,
		    "TRIAL\tgather evidence for a round of a linear search", .text = &a->operand),
		KOPTION_CHOICE("anchor", &a->mode, MODE_ANCHOR,
		    "TRIAL\trace the best program against the reference", .text = &a->operand),
		KOPTION_CHOICE("race", &a->mode, MODE_RACE,
		    "TIMES\trace the kernels, this many times", .text = &a->operand),
		KOPTION_CHOICE(
		    "preflight", &a->mode, MODE_PREFLIGHT, "\tcheck that evaluations can run here"),
		KOPTION_FLAG(
		    "thin", &keval.thin, "\twrite a part of the record, as in a trial's folder"),
	};

	koption_read(options, usage, argc, argv);
	a->files = (const char *const *)argv + optind;
	if (a->mode != MODE_REPLIES && a->mode != MODE_RACE && *a->files)
		koption_misuse(usage, "unexpected operand");
	if (a->mode == MODE_RACE && !*a->files)
		koption_misuse(usage, "--race: give the kernels to race");
	if (a->mode == MODE_REPLIES && !*a->files)
		a->files = standard_input;
	if (keval.seed && (!*keval.seed || keval.seed[strspn(keval.seed, "0123456789abcdef")]))
		koption_misuse(usage, "--seed must be lower-case hex digits");
}

/* The null evaluator needs no task; everything else does. */
static void
open_task(void)
{
	char *lack;

	keval.task_file = kstrdup(kcamp_path(kcamp_str("task")));
	if (!is_null() || kis_there(keval.task_file))
		keval.task = kjson_load(keval.task_file);
	lack = kcamp_lacks_runner(kjson_maybe(keval.task, "language"));
	if (lack)
		kdie_usage("%s: %s: %s", kcamp.file,
		    kcamp_backend()->runner ? "language of the task" : "campaign.json: backend",
		    lack);
}

/* The time of a record: a round without a model call has no other time in its records. */
static void
add_time(json_t *record)
{
	kjson_put(record, "time", know_text());
}

/* What is evaluated: a reply with its plan. */
struct entry {
	struct subject s;
	struct kextract x;
	struct kplan plan;
	char name[24];
	json_t *tuned;    /* see tune.c; goes into its evaluation */
	char *edit_fault; /* why its edits could not be applied; NULL: they were, or it has none */
};

/* Cut off by kllm, which marks it, or not cut at all. */
static bool
is_too_large(const json_t *rec, const char *text)
{
	size_t len = strlen(text);

	return kjson_has(kjson_path(rec, "reply.flags"), KIO_TOO_LARGE) ||
	    kjson_fit(text, len, KIO_REPLY_MAX) < len;
}

/* Applies edits to the parent, if the prompt allows edits. */
static void
make_edits(const struct krec *rec, const char *text, struct entry *r)
{
	const char *parent = r->s.parent_code;
	char *edited = NULL;

	if (!kextract_takes_edits(parent, kjson_path(rec->json, "sample.parent.files") != NULL))
		return;
	if (!r->x.code || !strcmp(r->x.how, "lines") || is_difference(r->x.code))
		edited = edited_program(text, parent, &r->edit_fault);
	if (!edited && r->edit_fault && !r->x.code)
		edited = kstrdup(text);
	if (edited) {
		free(r->x.code);
		r->x.code = edited;
	}
}

static void
open_reply(const struct krec *rec, struct entry *r)
{
	const char *text = krec_str(rec, "reply.text"),
	           *finish = kjson_str_or(rec->json, "reply.finish", "stop");

	*r = (struct entry){ .s = {
		                 .parent = kjson_maybe(rec->json, "sample.parent.id"),
		                 .parent_code = kjson_maybe(rec->json, "sample.parent.code"),
		                 .incumbent = kjson_maybe(rec->json, "sample.incumbent"),
		                 .cut_off = !strcmp(finish, "length"),
		             } };
	if (json_object_get(rec->json, "eval"))
		kdie_usage("%s:%ld: the record is already evaluated", rec->file, rec->lineno);
	strcpy(r->name, krec_id(rec));
	r->s.name = r->name;
	r->s.too_large = is_too_large(rec->json, text);
	if (r->s.too_large)
		return;
	if (kcamp_linear())
		plan_read(rec, text, strlen(text), &r->plan);
	/* The plan is not code, and comes before it. */
	text += r->plan.end;
	kextract(text, strlen(text), kcamp_str("language"),
	    json_object_get(keval.task, "files") != NULL, &r->x);
	make_edits(rec, text, r);
	r->s.code = r->x.code;
	r->s.files = r->x.files;
	r->s.file_count = r->x.file_count;
	r->s.cut_off |= r->x.unclosed;
	if (r->x.code && !r->plan.fault)
		inputs_of_subject(&r->s);
}

static void
close_entry(struct entry *r)
{
	kplan_free(&r->plan);
	kextract_free(&r->x);
	free(r->s.twin);
	free(r->edit_fault);
}

bool
has_commands(void)
{
	return kcamp_json("eval.build") || kcamp_json("eval.correctness") ||
	    kcamp_json("eval.timing");
}

/* A complete program, whose open parameters are set first. */
static void
evaluate_program(struct entry *r)
{
	/* Own commands are not raced: they may be slow, and judge one program at a time. */
	bool races = !is_null() && !has_commands();
	int64_t start = know_ns();
	auto_free char *fault = NULL;
	char *program = races ? tuned_program(r->x.code, &r->tuned, &fault) : NULL;
	double tuning = kseconds_since(start);

	if (program) {
		free(r->x.code);
		r->s.code = r->x.code = program;
		free(r->s.twin);
		r->s.twin = NULL;
		inputs_of_subject(&r->s);
	}
	eval_begin(&r->s);
	if (fault)
		evaluate_unrun(STATUS_COMPILE_ERROR, "tune", "it leaves too much open", fault);
	else
		evaluate(&r->s);
	if (r->tuned) {
		kjson_set(eval, "tuned", r->tuned);
		add_spent("tuning", tuning);
		kjson_put(eval, "wall_s", kjson_num(eval, "wall_s") + tuning);
	}
}

static void
evaluate_reply(struct krec *rec, struct entry *r)
{
	auto_free char *part = r->x.code && !r->edit_fault ? elided_part(r->x.code) : NULL;

	eval_begin(&r->s);
	if (!r->x.code)
		evaluate_nothing();
	else if (!subject_fits(&r->s))
		evaluate_too_large("program", KIO_CODE_MAX);
	else if (r->plan.fault)
		evaluate_unrun(STATUS_NO_PLAN, "plan", "of its plan", r->plan.fault);
	else if (r->edit_fault)
		evaluate_unrun(STATUS_COMPILE_ERROR, "edit",
		    "its edits do not fit the program shown", r->edit_fault);
	else if (part)
		evaluate_unrun(STATUS_COMPILE_ERROR, "elided", "it is incomplete", part);
	else
		evaluate_program(r);
	if (r->plan.json)
		kjson_set(eval, "plan", json_incref(r->plan.json));
	else if (r->plan.fault)
		kjson_set(eval, "plan_fault", kjson_string(r->plan.fault));
	/* The next stages read limited lines, and a custom evaluator's messages have no limit. */
	if (kjson_size(eval) > KIO_EVAL_MAX)
		evaluate_too_large("evaluation", KIO_EVAL_MAX);
	report_progress();
	add_time(eval);
	krecord_put(rec, keval.thin, "eval", eval);
}

/* Candidates name what they are compared with, so for --inputs they are read, too. */
static void
take_replies(const struct arguments *a, const char *path)
{
	struct kin in;
	struct krec rec;
	struct entry r;

	kin_open(&in, path);
	/* Plans are checked against the prompt; the record that is passed on contains it. */
	while (
	    krecord_next(&in, &rec, keval.thin && !kcamp_linear() ? KJOIN_PROGRAMS : KJOIN_WHOLE)) {
		open_reply(&rec, &r);
		if (!a->inputs)
			evaluate_reply(&rec, &r);
		close_entry(&r);
		krec_free(&rec);
	}
	kin_end(&in);
}

/* A record that did not come from a model. */
static void
put_record(const char *id)
{
	long trial = 0, branch = 0;
	struct krec rec = { .file = "<new>" };
	bool known = id && karch_id(id, &trial, &branch);

	rec.json = json_pack("{s:s,s:s,s:o*,s:o*,s:s*}", "schema", KRECORD_SCHEMA, "campaign",
	    kcamp_str("name"), "trial", known ? json_integer(trial) : NULL, "branch",
	    known ? json_integer(branch) : NULL, "id", known ? id : NULL);
	rec.line = json_dumps(rec.json, KIO_DUMP);
	rec.len = strlen(rec.line);
	add_time(eval);
	krecord_put(&rec, keval.thin, "eval", eval);
	krec_free(&rec);
}

static void
take_code(const struct arguments *a)
{
	auto_free char *code = input_read(a->operand, 8 << 20, NULL);
	struct subject s = { .name = a->operand, .code = code };

	inputs_of_subject(&s);
	if (!a->inputs) {
		evaluate(&s);
		report_progress();
		put_record(NULL);
	}
	free(s.twin);
}

/* Names everything that is known before the first candidate is read. */
static void
name_inputs(const struct arguments *a)
{
	inputs_of_run();
	if (a->mode == MODE_CODE)
		input(a->operand, true);
	if (a->mode == MODE_VERIFY)
		input_past(a->operand);
	if (a->mode == MODE_EVIDENCE || a->mode == MODE_ANCHOR) {
		auto_free char *id = a->mode == MODE_ANCHOR ? anchor_subject() : evidence_subject();

		input_past(id);
	}
	for (const char *const *f = a->files; *f; f++)
		input(*f, true);
}

static void
put_fact(json_t *fact)
{
	add_time(fact);
	kout_json(fact);
	json_decref(fact);
}

static void
run(const struct arguments *a)
{
	if (a->mode == MODE_CODE)
		take_code(a);
	for (const char *const *f = a->files; a->mode == MODE_REPLIES && *f; f++)
		take_replies(a, *f);
	if (a->inputs) {
		inputs_print();
		return;
	}
	switch (a->mode) {
	case MODE_REFERENCE:
		evaluate_reference();
		put_record("000/00");
		break;
	case MODE_VERIFY:
		evaluate_best(a->operand);
		put_record(a->operand);
		break;
	case MODE_EVIDENCE:
		put_fact(gather_evidence(knum_long(a->operand, 1, 999999, "--evidence")));
		break;
	case MODE_ANCHOR:
		put_fact(renew_anchor(knum_long(a->operand, 1, 999999, "--anchor")));
		break;
	case MODE_RACE:
		race_files(a->files, knum_long(a->operand, 1, 100000, "--race"));
		break;
	case MODE_PREFLIGHT:
		preflight();
		break;
	}
}

/* Parts of records are read elsewhere, so they are named here. */
static void
input_of_record(const char *path)
{
	input(path, false);
}

int
main(int argc, char **argv)
{
	struct arguments a = { 0 };

	kutil_init("keval");
	parse(&a, argc, argv);
	kcamp_load();
	krecord_reads = input_of_record;
	keval.set_given = keval.set != NULL;
	if (!keval.set)
		keval.set = kcamp_str("eval.set");
	open_task();
	kout_open(a.output);
	name_inputs(&a);
	run(&a);
	kout_commit();
	return K_OK;
}
