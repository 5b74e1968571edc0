/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay: recorded replies, replies/TTT/BB.ndjson. Never uses the network: a missing recording ends
 * the run.
 */

#include "kllm.h"

/*
 * The first record of the file; one that is too long to read counts as a reply that was too long.
 */
static void
load(struct krec *rec, const char *path)
{
	static const char too_large[] = "{\"text\":\"\",\"provider\":\"replay\",\"model\":\"\","
	                                "\"finish\":\"other\","
	                                "\"flags\":[\"" KIO_TOO_LARGE "\"],\"prompt_sha256\":\"\"}";
	struct kin in;

	if (!kis_there(path))
		kdie_errno(K_MISSING, "no recorded reply: %s", path);
	kin_open(&in, path);
	in.lenient = true;
	if (!kin_next(&in, rec) && (!in.too_long || krec_parse(rec, too_large, strlen(too_large))))
		kdie_usage("%s: no record", path);
	rec->file = path;
	kin_close(&in);
}

json_t *
ask_replay(void)
{
	const char *source = kshown("replies/%s.ndjson", call.id), *path = kcamp_path(source);
	const json_t *recorded;
	const char *answered;
	struct krec rec;
	json_t *member;

	load(&rec, path);
	/* A whole record, or only its member "reply". */
	recorded = json_object_get(rec.json, "reply");
	if (!recorded)
		recorded = rec.json;
	if (!json_is_string(json_object_get(recorded, "text")))
		kdie_usage("%s: the recorded reply has no 'text'", path);
	answered = kjson_str_or(recorded, "prompt_sha256", kjson_maybe(rec.json, "prompt.sha256"));
	member = json_deep_copy(recorded);
	json_object_del(member, "recorded");
	kjson_extend(member, "{s:{s:b s:s}}", "recorded", "prompt_match",
	    answered && !strcmp(answered, call.sha256), "source", source);
	krec_free(&rec);
	return member;
}
