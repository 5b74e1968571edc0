/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt --digest: the prompt for a second, cheaper model that summarises the log of an
 * evaluation. The summary is for prompts that show its candidate as a parent.
 */

#include "kfence.h"
#include "kprompt.h"

enum { WORDS = 250, LOG_MAX = 60000, PROFILE_MAX = 20000 };

static void
put_evaluation(void)
{
	const json_t *eval = json_object_get(rec->json, "eval"),
	             *profile = json_object_get(eval, "profile");
	auto_free char *dump =
	    profile ? json_dumps(profile, JSON_INDENT(1) | JSON_SORT_KEYS) : kstrdup("");
	auto_buf struct kbuf code = { 0 };

	krec_str(rec, "eval.status");
	salt = kjson_str_or(rec->json, "sample.seed", kjson_str(eval, "code_sha256"));
	kfence_code(&code, kjson_str(eval, "code"), campaign.label);
	put("code", kjson_text(code.data, code.len));
	put("result", json_string(kjson_str(eval, "status")));
	put("words", json_integer(WORDS));
	put("log", data_part(kjson_str(eval, "log"), LOG_MAX, "evaluation log"));
	put("profile", data_part(dump, PROFILE_MAX, "profile"));
}

json_t *
digest_record(void)
{
	json_t *record = json_object();
	auto_buf struct kbuf system = { 0 }, user = { 0 }, whole = { 0 };

	put_evaluation();
	files_render(&system, "digest/system", facts, NULL);
	files_render(&user, "digest/user", facts, NULL);
	kbuf_printf(&whole, "%s\n%s", system.data, user.data);
	kjson_pick(record, rec->json, "schema", "campaign", "trial", "branch", "id");
	kjson_extend(record, "{s:{s:s,s:s,s:i,s:s,s:[]}}", "prompt", "system", system.data, "user",
	    user.data, "stable_bytes", 0, "sha256", ksha256(whole.data, whole.len), "sections");
	return record;
}
