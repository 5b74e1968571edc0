/* SPDX-License-Identifier: Apache-2.0 */
/* From code to the eval member: hash, duplicates, static scan, then the tiers. */
#include <string.h>

#include "backend.h"
#include "keval.h"
#include "kelf.h"
#include "kio.h"
#include "kneutral.h"
#include "kutil.h"
#include "status.h"

/* Members of an earlier evaluation that hold for the same program too. */
static const char *const copied[] = { "object", "status", "tier", "reasons", "log", "build",
	"correctness", "timing", "noise", "sandbox", "environment", "seed", "level", "reuse",
	"reuse_against", "trace", "anchor", "pairs", "machine" };

bool
is_null(const struct keval *k)
{
	return !strcmp(kcamp_str(k->camp, "eval.evaluator"), "null");
}

bool
is_gpu(const struct keval *k)
{
	return kcamp_backend(k->camp)->pointers;
}

void
eval_set(json_t *eval, const char *key, json_t *value)
{
	if (!value || json_object_set_new(eval, key, value) < 0)
		kdie(K_IO, "eval.%s could not be stored", key);
}

/* Fails the candidate: data, not an error. */
void
eval_fail(json_t *eval, enum status status, const char *check, const char *detail)
{
	json_t *reasons = json_object_get(eval, "reasons");

	if (!reasons) {
		reasons = json_array();
		eval_set(eval, "reasons", reasons);
	}
	json_array_append_new(reasons,
	    json_pack("{s:s,s:o}", "check", check, "detail", kjson_text(detail, strlen(detail))));
	eval_set(eval, "status", status_json(status));
}

void
add_spent(json_t *eval, const char *what, int64_t start_ns)
{
	json_t *spent = json_object_get(eval, "spent_s");

	if (!spent) {
		spent = json_object();
		eval_set(eval, "spent_s", spent);
	}
	eval_set(spent, what,
	    json_real(kjson_num_or(spent, what, 0) + (double)(know_ns() - start_ns) * 1e-9));
}

static void
add_code(const struct subject *s, const char *tokens, json_t *eval)
{
	char hex[65];

	eval_set(eval, "code", kjson_text(s->code, strlen(s->code)));
	ksha256_hex(s->code, strlen(s->code), hex);
	eval_set(eval, "code_sha256", json_string(hex));
	eval_set(eval, "tokens", json_string(tokens));
	if (s->file_count) {
		json_t *files = json_array();

		for (size_t i = 0; i < s->file_count; i++)
			json_array_append_new(files,
			    json_pack("{s:s,s:o}", "path", s->files[i].path, "content",
			        kjson_text(s->files[i].content, strlen(s->files[i].content))));
		eval_set(eval, "files", files);
	}
}

void
program_hash(const struct keval *k, const char *code, char tokens[17])
{
	const char *const keep[] = { kjson_str_or(k->task, "entry.name", ""), NULL };

	kneutral_hash(code, strlen(code), kcamp_backend(k->camp)->syntax, keep, tokens);
}

/*
 * The token hash of the whole candidate: of the program, and of each file of a bundle behind a line
 * with its name.
 */
static void
hash_subject(const struct keval *k, const struct subject *s, char tokens[17])
{
	struct kbuf all = { 0 };

	kbuf_puts(&all, s->code);
	for (size_t i = 0; i < s->file_count; i++)
		kbuf_printf(&all, "\n@ %s @\n%s", s->files[i].path, s->files[i].content);
	program_hash(k, all.data, tokens);
	kbuf_free(&all);
}

char *
subject_duplicate(const struct keval *k, const struct subject *s)
{
	char tokens[17];

	hash_subject(k, s, tokens);
	return past_duplicate(k, s, tokens);
}

/*
 * What the evaluation of ID found, if its member KEY is HEX too: the same program, which is neither
 * built nor timed twice. False when there is nothing to take over. What the words of a program have
 * given away says nothing of the same program in other words.
 */
static bool
take_over(struct keval *k, const char *id, const char *key, const char *hex, json_t *eval)
{
	json_t *old = id ? past_eval(k, id) : NULL;
	const char *of = kjson_str_or(old, "duplicate_of", id), *log = kjson_str_or(old, "log", "");
	const char *said = strcmp(of ? of : "", id ? id : "") ? strchrnul(log, '\n') : log;
	bool take = old && !strcmp(kjson_str_or(old, key, ""), hex) &&
	    status_at(old, "status") != STATUS_REJECTED;

	for (size_t i = 0; take && i < LEN(copied); i++) {
		json_t *v = json_object_get(old, copied[i]);

		if (v)
			eval_set(eval, copied[i], json_incref(v));
	}
	if (take) {
		eval_set(eval, "duplicate_of", json_string(of));
		eval_set(eval, "log",
		    json_sprintf("The same program as %s, but for names, comments and layout: its "
		                 "result holds, and nothing was run.\n%s",
		        of, said + (*said == '\n')));
	}
	json_decref(old);
	return take;
}

bool
take_object(struct keval *k, const struct subject *s, const struct build *b, json_t *eval)
{
	char hex[17], *id;
	bool taken;

	if (!b->so)
		return false;
	kelf_hash(b->so, b->so_len, hex);
	eval_set(eval, "object", json_string(hex));
	if (s->trusted || s->again || !(id = past_with(k, "object", hex)))
		return false;
	input_past(k, id);
	taken = take_over(k, id, "object", hex, eval);
	free(id);
	return taken;
}

static bool
scan(const struct keval *k, const struct subject *s, json_t *eval)
{
	json_t *reasons = json_array();
	bool clean = scan_source(k, NULL, s->code, reasons);

	for (size_t i = 0; i < s->file_count; i++)
		clean &= scan_source(k, s->files[i].path, s->files[i].content, reasons);
	if (!clean) {
		eval_set(eval, "reasons", json_incref(reasons));
		eval_set(eval, "status", status_json(STATUS_REJECTED));
		eval_set(eval, "tier", json_integer(0));
	}
	json_decref(reasons);
	return clean;
}

bool
subject_fits(const struct subject *s)
{
	json_t *all = json_pack("[o]", kjson_text(s->code, strlen(s->code)));
	size_t size;

	for (size_t i = 0; i < s->file_count; i++)
		json_array_append_new(
		    all, kjson_text(s->files[i].content, strlen(s->files[i].content)));
	size = kjson_size(all);
	json_decref(all);
	return size <= KIO_CODE_MAX;
}

json_t *
evaluate_too_large(const char *what, size_t max)
{
	json_t *eval = json_object();
	char *detail = kasprintf("the %s takes more than %zu bytes in a record", what, max);

	eval_fail(eval, STATUS_NO_CODE, KIO_TOO_LARGE, detail);
	eval_set(eval, "tier", json_integer(0));
	eval_set(eval, "log",
	    json_sprintf("Nothing was evaluated, because %s. Give one complete program and much "
	                 "less text.",
	        detail));
	free(detail);
	return eval;
}

json_t *
evaluate(struct keval *k, const struct subject *s)
{
	int64_t start = know_ns();
	json_t *eval = json_object();
	char tokens[17];
	bool clean;

	hash_subject(k, s, tokens);
	add_code(s, tokens, eval);
	clean = is_null(k) || scan(k, s, eval);
	if (clean && !s->trusted && !s->again && take_over(k, s->twin, "tokens", tokens, eval))
		return eval;
	if (is_null(k)) {
		/* A draw for each text, as its author wrote it. */
		ktoken_hash(s->code, strlen(s->code), tokens);
		null_evaluate(k, tokens, s->trusted, eval);
		return eval;
	}
	add_spent(eval, "scanning", start);
	if (clean)
		evaluate_tiers(k, s, eval);
	if (!json_object_get(eval, "duplicate_of"))
		report_log(k, s, eval);
	eval_set(eval, "wall_s", json_real((double)(know_ns() - start) / 1e9));
	return eval;
}

json_t *
evaluate_unplanned(const struct keval *k, const struct subject *s, const char *fault)
{
	json_t *eval = json_object();
	char tokens[17];

	hash_subject(k, s, tokens);
	add_code(s, tokens, eval);
	eval_fail(eval, STATUS_NO_PLAN, "plan", fault);
	eval_set(eval, "tier", json_integer(0));
	eval_set(eval, "log",
	    json_sprintf("The program was not evaluated, because of its plan: %s.\n", fault));
	return eval;
}

json_t *
evaluate_nothing(const struct subject *s)
{
	json_t *eval;

	if (s->too_large)
		return evaluate_too_large("reply", KIO_REPLY_MAX);
	eval = json_object();

	eval_fail(eval, STATUS_NO_CODE, "extract",
	    s->cut_off ? "the reply was cut off before any code"
	               : "the reply contains no fenced block of code");
	eval_set(eval, "tier", json_integer(0));
	eval_set(eval, "log",
	    json_string("No code was found in the reply. Give the complete program in one fenced "
	                "block."));
	return eval;
}
