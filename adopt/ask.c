/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a model, through kllm, for what cannot be derived. See adopt.h. */

#include "adopt.h"
#include "ktemplate.h"
#include "../tools/model/kextract.h"

enum { AROUND = 8 };

/* A manifest for kllm, if the campaign has none yet; returns its folder. */
static char *
manifest_folder(void)
{
	json_t *model = json_object_get(adoption.json, "model");
	json_auto_t *m = NULL;

	if (kis_there(campaign_path("campaign.json")))
		return adoption.dir;
	if (!model)
		kdie(K_MISSING, "this step needs a model; name one with --provider and --model");
	m = json_pack("{s:s,s:s,s:i,s:O}", "schema", "campaign/1", "name", adoption.kernel, "seed",
	    42, "model", model);
	write_json(adopt_path("ask/campaign.json"), m);
	return adopt_path("ask");
}

char *
ask_text(const char *name, const json_t *context)
{
	auto_free char *relative = kasprintf("prompts/adopt/%s.txt", name),
	               *own = kasprintf("%s/%s", adoption.dir, relative),
	               *path = kis_there(own) ? kstrdup(own) : kdata_path(relative);
	struct ktemplate t = { 0 };
	struct kbuf out = { 0 };

	ktemplate_file(&t, &out, path, context);
	return out.data;
}

/* The text of a stored reply; NULL: there is none. The caller frees. */
static char *
stored(const char *path)
{
	json_auto_t *rec = kin_first(path);

	return rec ? kstrdup(kjson_str(rec, "reply.text")) : NULL;
}

/* The record with the question, for kllm. */
static void
write_question(const char *path, int n, const char *system, const char *user, const char *hex)
{
	json_auto_t *record = json_pack("{s:s,s:s,s:i,s:i,s:o,s:{s:s,s:s,s:i,s:s,s:[]}}", "schema",
	    "candidate/1", "campaign", adoption.kernel, "trial", 0, "branch", n, "id",
	    json_sprintf("000/%02d", n), "prompt", "system", system, "user", user, "stable_bytes",
	    0, "sha256", hex, "sections");

	if (!record)
		kdie_usage("%s: the question is not UTF-8", path);
	make_folder_of(path);
	kout_only(path, record);
}

char *
ask_model(const char *name, int n, const json_t *context)
{
	auto_free char *system = ask_text("system", context), *user = ask_text(name, context),
	               *whole = kasprintf("%s\n%s", system, user);
	const char *hex = ksha256_of(whole);
	char *prompt, *reply, *text;

	prompt = adopt_path("ask/%s-%d.%.12s/prompt.ndjson", name, n, hex);
	reply = adopt_path("ask/%s-%d.%.12s/reply.ndjson", name, n, hex);
	text = stored(reply);
	if (!text) {
		work_part("model", "asked, time %d: %s", n, name) {
			write_question(prompt, n, system, user, hex);
			free(program_output(
			    NULL, -1, "kllm", "-c", manifest_folder(), "-o", reply, prompt));
		}
		text = stored(reply);
	}
	return text ?: kstrdup("");
}

char *
ask_fenced(const char *text)
{
	struct kbuf b = kbuf_empty();

	if (text)
		kfence_code(&b, text, adoption.language);
	return b.data;
}

/*
 * "structural" (braces, prose in code) or "semantic" (names, types), judged by the compiler's first
 * message.
 */
static const char *
error_kind(const char *log)
{
	static const char structural[] =
	    "expected (?:a )?declaration|expected identifier or|expected (?:'|‘)}|at end of input|"
	    "unterminated|stray|extraneous closing brace|#endif|#if|missing terminating|"
	    "unrecognized token|expected unqualified-id";
	auto_free char *first = kregex_part("(error:[^\\n]*)", log);

	return first && kregex_is(structural, first) ? "structural" : "semantic";
}

/* Lines of TEXT around each error in LOG, and the errors. The caller frees. */
static char *
error_context(const char *text, const char *log)
{
	/* a line with an error, and the number in "file:12" or "file(12)" */
	struct kregex_span at[2];
	struct kbuf b = { 0 };
	size_t shown = 0;

	for (const char *p = log;
	     kregex_match("(?m)^(?:[^:(\\n]*[:(](\\d+))?[^\\n]*?error[^\\n]*", p, at);
	     p += at[0].to) {
		size_t number = at[1].from == KREGEX_UNSET ? 0 : strtoul(p + at[1].from, NULL, 10),
		       line = 1;

		kbuf_printf(&b, "%.*s\n", (int)(at[0].to - at[0].from), p + at[0].from);
		for (const char *t = text; number && *t && line <= number + AROUND; line++) {
			size_t m = strcspn(t, "\n");

			if (line + AROUND >= number && line > shown) {
				kbuf_printf(&b, "%5zu %.*s\n", line, (int)m, t);
				shown = line;
			}
			t += m + (t[m] == '\n');
		}
	}
	if (!b.len)
		kbuf_puts(&b, log);
	return b.data;
}

json_t *
ask_facts(const char *text, const char *log, const char *fault)
{
	auto_free char *context = error_context(text, log);
	auto_buf struct kbuf words = { 0 };
	const char *kind = error_kind(log);

	kfence_data(&words, context, "compiler", adoption.kernel);
	return json_pack("{s:s,s:s,s:s,s:o,s:s,s:b,s:s}", "kernel", adoption.kernel, "file",
	    adoption.file, "label", adoption.language, "log", kjson_string(words.data), "kind",
	    kind, "structural", !strcmp(kind, "structural"), "fault", fault ?: "");
}

char *
ask_program(const char *answer, bool *cut_off)
{
	struct kextract x;
	char *code =
	    kextract(answer, strlen(answer), adoption.language, false, &x) ? kstrdup(x.code) : NULL;

	*cut_off = x.unclosed;
	kextract_free(&x);
	return code;
}

char *
ask_code(const char *answer, const char *before, char **fault)
{
	bool cut_off;
	char *code = ask_program(answer, &cut_off);
	auto_buf struct kbuf faults = { 0 };

	*fault = NULL;
	if (!code)
		*fault = kstrdup("the answer contains no program");
	else if (cut_off)
		*fault = kstrdup("the answer was cut off");
	else if (rules_scan("reply", adoption.language, code, adoption.kernel, before, &faults))
		*fault = kstrdup(faults.data);
	if (*fault) {
		free(code);
		code = NULL;
	}
	return code;
}
