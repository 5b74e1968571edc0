/* SPDX-License-Identifier: Apache-2.0 */
/* From code to the eval member: hash, duplicates, static scan, then the tiers. */

#include "keval.h"
#include "kneutral.h"

const struct subject *subject;
json_t *eval;

void
eval_begin(const struct subject *s)
{
	subject = s;
	json_decref(eval);
	eval = json_object();
}

bool
is_null(void)
{
	return kcamp_is("eval.evaluator", "null");
}

bool
is_gpu(void)
{
	return kcamp_backend()->pointers;
}

void
eval_fail(enum status status, const char *check, const char *detail, ...)
{
	kformatted(text, detail);

	kjson_append(kjson_ensure(eval, "reasons", json_array()), "{s:s,s:o}", "check", check,
	    "detail", kjson_string(text));
	kjson_set(eval, "status", status_json(status));
}

void
add_spent(const char *what, double seconds)
{
	json_t *spent = kjson_ensure(eval, "spent_s", json_object());

	kjson_put(spent, what, kjson_num(spent, what) + seconds);
}

static void
program_hash(const char *code, char tokens[17])
{
	/*
	 * A program that uses its line numbers, or turns its words into strings or names, may
	 * change its meaning when these change.
	 */
	static const char as_written[] = "__LINE__|(?m)^[^\\S\\n]*+\\S[^\\n#]*+#";
	const char *const keep[] = { kjson_str(keval.task, "entry.name"), NULL };

	if (kregex_is(as_written, code)) {
		snprintf(tokens, 17, "%.16s", ksha256_of(code));
		return;
	}
	kneutral_hash(code, strlen(code), kcamp_backend()->syntax, keep, tokens);
}

char *
subject_text(const struct subject *s)
{
	struct kbuf all = { 0 };

	kbuf_puts(&all, s->code);
	kforeach_of(file, s->files, s->file_count)
		kbuf_printf(&all, "\n@ %s @\n%s", file->path, file->content);
	return all.data;
}

/* The token hash over all files of the candidate. */
static void
hash_subject(const struct subject *s, char tokens[17])
{
	auto_free char *all = subject_text(s);

	program_hash(all, tokens);
}

/* The program with its hash, which TOKENS gets, too. */
static void
add_code(char tokens[17])
{
	json_t *files = subject->file_count ? json_array() : NULL;

	hash_subject(subject, tokens);
	kforeach_of(file, subject->files, subject->file_count)
		kjson_append(
		    files, "{s:s,s:o}", "path", file->path, "content", kjson_string(file->content));
	kjson_extend(eval, "{s:o,s:s,s:s,s:o*}", "code", kjson_string(subject->code), "code_sha256",
	    ksha256_of(subject->code), "tokens", tokens, "files", files);
}

/* ---- earlier evaluations: found by id in the trials' folders, by hash in the archive ---- */

const char *
past_path(const char *id)
{
	return karch_is_id(id) ? kplace_id(id, "eval") : NULL;
}

json_t *
past_eval(const char *id)
{
	size_t len;
	const char *path = past_path(id);
	auto_free char *text = path ? input_read(path, KIO_LINE_MAX, &len) : NULL;
	const char *why;
	struct krec rec;
	json_t *found;

	if (!text)
		return NULL;
	while (len && text[len - 1] == '\n')
		len--;
	if ((why = krec_parse(&rec, text, len)))
		kdie_usage("%s:1: %s", path, why);
	found = json_incref(json_object_get(rec.json, "eval"));
	krec_free(&rec);
	return found;
}

bool
subject_of_past(const json_t *past, struct subject *s)
{
	s->code = kjson_maybe(past, "code");
	s->files = s->recorded;
	s->file_count = 0;
	kjson_foreach(f, past, "files") {
		const char *path = kjson_str(f, "path");

		if (!kextract_path_ok(path) || s->file_count == KEXTRACT_MAX_FILES)
			continue;
		snprintf(s->recorded[s->file_count].path, sizeof s->recorded->path, "%s", path);
		s->recorded[s->file_count++].content = (char *)kjson_str(f, "content");
	}
	return s->code != NULL;
}

/* The id of the line of TEXT that contains NEEDLE, or NULL. */
static char *
find_line(const char *file, char *text, size_t len, const char *needle)
{
	char *hit = memmem(text, len, needle, strlen(needle)), *start, *end, *id = NULL;
	const char *why;
	struct krec rec;

	if (!hit)
		return NULL;
	start = memrchr(text, '\n', (size_t)(hit - text));
	start = start ? start + 1 : text;
	end = strchrnul(hit, '\n');
	if ((why = krec_parse(&rec, start, (size_t)(end - start))))
		kdie_usage("%s: %s", file, why);
	if (json_object_get(rec.json, "id"))
		id = kstrdup(kjson_str(rec.json, "id"));
	krec_free(&rec);
	return id;
}

/* Searches without parsing the other lines of the archive. */
static char *
past_with(const char *key, const char *hex)
{
	char *id = NULL;
	size_t len;

	for (size_t i = 0; i < keval.archive_count && !id; i++) {
		auto_free char *text = input_read(keval.archives[i], SIZE_MAX, &len);

		id = find_line(keval.archives[i], text, len, kshown("\"%s\":\"%s\"", key, hex));
	}
	return id;
}

/* The archive also contains the parent, with its hash already computed. */
char *
subject_duplicate(const struct subject *s)
{
	char tokens[17], parent[17];

	hash_subject(s, tokens);
	if (!keval.archive && s->parent && s->parent_code) {
		program_hash(s->parent_code, parent);
		if (!strcmp(parent, tokens))
			return kstrdup(s->parent);
	}
	return past_with("tokens", tokens);
}

/*
 * Copies the results of ID's evaluation if its member KEY is HEX too: the same program is neither
 * built nor timed twice. False when there is nothing to copy. A rejection for words in the source
 * does not apply to the same program in other words.
 */
static bool
take_over(const char *id, const char *key, const char *hex)
{
	json_auto_t *old = id ? past_eval(id) : NULL;
	const char *of = kjson_str_or(old, "duplicate_of", id), *log = kjson_str(old, "log");
	const char *said = strcmp(of ?: "", id ?: "") ? strchrnul(log, '\n') : log;
	bool take = old && kjson_is(old, key, hex) && status_at(old, "status") != STATUS_REJECTED;

	if (take) {
		kjson_pick(eval, old, "object", "status", "tier", "reasons", "log", "build",
		    "correctness", "timing", "noise", "sandbox", "environment", "seed", "level",
		    "reuse", "reuse_against", "trace", "anchor", "pairs", "machine");
		kjson_put(eval, "duplicate_of", of);
		kjson_set(eval, "log",
		    json_sprintf("The same program as %s, "
		                 "except for names, comments and layout: "
		                 "its result holds, and nothing was run.\n%s",
		        of, said + (*said == '\n')));
	}
	return take;
}

bool
take_object(const struct build *b)
{
	char hex[17];
	auto_free char *id = NULL;

	if (!b->so)
		return false;
	kelf_hash(b->so, b->so_len, hex);
	kjson_put(eval, "object", hex);
	if (subject->trusted || subject->again || !(id = past_with("object", hex)))
		return false;
	input_past(id);
	return take_over(id, "object", hex);
}

/* ---- the null evaluator: nothing is run, all results are drawn from the hash of the code ---- */

enum { REFERENCE_NS = 10000000 };

/* Shares of the outcomes for a model that is neither very good nor very bad. */
static const struct {
	double share;
	enum status status;
	int tier;
} outcomes[] = {
	{ 0.06, STATUS_COMPILE_ERROR, 1 },
	{ 0.02, STATUS_RUN_ERROR, 2 },
	{ 0.04, STATUS_WRONG_VALUE, 2 },
	{ 0.02, STATUS_PARTIAL, 2 },
	{ 1.00, STATUS_CORRECT, 3 },
};

static json_t *
timing_row(const char *workload, json_int_t ns)
{
	return json_pack("{s:s,s:[I],s:i,s:I,s:I,s:I,s:i,s:i}", "workload", workload, "samples_ns",
	    ns, "calls_per_sample", 1, "median_ns", ns, "min_ns", ns, "mean_ns", ns, "sd_ns", 0,
	    "iqr_ns", 0);
}

/*
 * Rows for the timed workloads of the set, like those of a real run, or one row when there is no
 * task.
 */
static json_t *
timing_of(struct krng *rng, double speedup)
{
	json_t *timing = json_array();

	kjson_foreach(w, keval.task, "workloads") {
		double spread = rng ? 0.9 + 0.2 * krng_double(rng) : 1;

		if (kjson_bool(w, "timed") && in_set(w, keval.set))
			json_array_append_new(timing,
			    timing_row(kjson_str(w, "name"),
			        (json_int_t)llround(REFERENCE_NS / speedup * spread)));
	}
	if (!json_array_size(timing))
		json_array_append_new(
		    timing, timing_row("null", (json_int_t)llround(REFERENCE_NS / speedup)));
	return timing;
}

/*
 * Approximately log-normal: e to the sum of uniform draws, from about 0.2 to 60 with a median of
 * 3.3.
 */
static double
draw_speedup(struct krng *rng)
{
	double sum = 0;

	for (int i = 0; i < 4; i++)
		sum += krng_double(rng) - 0.5;
	return exp(1.2 + 1.45 * sum);
}

static void
null_evaluate(const char *tokens, bool reference)
{
	struct krng rng;
	double draw;
	size_t last = LEN(outcomes) - 1, i = reference ? last : 0;

	krng_init(&rng, strtoull(tokens, NULL, 16), 0, 0, "null-evaluator");
	draw = krng_double(&rng);
	while (i < last && draw >= outcomes[i].share)
		draw -= outcomes[i++].share;
	kjson_set(eval, "status", status_json(outcomes[i].status));
	kjson_put(eval, "tier", outcomes[i].tier);
	kjson_set(
	    eval, "log", json_sprintf("null evaluator: %s", status_rows[outcomes[i].status].name));
	if (i < last)
		return;
	/* Measuring costs nothing here, so measure on the full set. */
	if (kcamp_linear()) {
		choose_full_set();
		kjson_put(eval, "level", "full");
	}
	kjson_set(
	    eval, "timing", timing_of(reference ? NULL : &rng, reference ? 1 : draw_speedup(&rng)));
	kjson_extend(eval, "{s:{s:f}}", "noise", "floor", 0.01);
}

/* ---- one evaluation ---- */

static bool
scan(void)
{
	scan_source(NULL, subject->code);
	kforeach_of(file, subject->files, subject->file_count)
		scan_source(file->path, file->content);
	if (!json_object_get(eval, "status"))
		return true;
	kjson_put(eval, "tier", 0);
	return false;
}

bool
subject_fits(const struct subject *s)
{
	json_auto_t *all = json_pack("[o]", kjson_string(s->code));

	kforeach_of(file, s->files, s->file_count)
		json_array_append_new(all, kjson_string(file->content));
	return kjson_size(all) <= KIO_CODE_MAX;
}

/* Fails a program that is not run, for a FAULT of that CHECK; LOG is taken over. */
static void
unrun(enum status status, const char *check, const char *fault, json_t *log)
{
	eval_fail(status, check, "%s", fault);
	kjson_put(eval, "tier", 0);
	kjson_set(eval, "log", log);
}

void
evaluate_too_large(const char *what, size_t max)
{
	const char *detail = kshown("the %s takes more than %zu bytes in a record", what, max);

	eval_begin(subject);
	unrun(STATUS_NO_CODE, KIO_TOO_LARGE, detail,
	    json_sprintf("Nothing was evaluated, because %s. "
	                 "Give one complete program and much less text.",
	        detail));
}

void
evaluate(const struct subject *s)
{
	int64_t start = know_ns();
	char tokens[17];
	bool clean;

	eval_begin(s);
	add_code(tokens);
	clean = is_null() || scan();
	if (clean && !s->trusted && !s->again && take_over(s->twin, "tokens", tokens))
		return;
	if (is_null()) {
		/* A separate draw for each text, as its author wrote it. */
		ktoken_hash(s->code, strlen(s->code), tokens);
		null_evaluate(tokens, s->trusted);
		return;
	}
	add_spent("scanning", kseconds_since(start));
	if (clean)
		evaluate_tiers();
	if (!json_object_get(eval, "duplicate_of"))
		report_log();
	kjson_put(eval, "wall_s", kseconds_since(start));
}

void
evaluate_unrun(enum status status, const char *check, const char *because, const char *fault)
{
	char tokens[17];

	add_code(tokens);
	unrun(status, check, fault,
	    json_sprintf("The program was not evaluated, because %s: %s.\n", because, fault));
}

void
evaluate_nothing(void)
{
	if (subject->too_large) {
		evaluate_too_large("reply", KIO_REPLY_MAX);
		return;
	}
	unrun(STATUS_NO_CODE, "extract",
	    subject->cut_off ? "the reply was cut off before any code"
	                     : "the reply contains no fenced block of code",
	    json_string("No code was found in the reply. "
	                "Give the complete program in one fenced block."));
}
