/* SPDX-License-Identifier: Apache-2.0 */
/* request: see request.h. */
#include "request.h"

#include "kregex.h"

struct request request;

/* A text block; MARK sets a prompt-cache breakpoint after it. */
static json_t *
block(const char *text, size_t len, bool mark)
{
	json_t *b = json_pack("{s:s s:o}", "type", "text", "text", kjson_text(text, len));

	if (mark)
		kjson_extend(b, "{s:{s:s}}", "cache_control", "type", "ephemeral");
	return b;
}

/*
 * Bytes of the user text before the breakpoint: whole characters, and enough for a cache to accept
 * the prefix.
 */
static size_t
cached_bytes(void)
{
	size_t n = call.stable_bytes;
	int64_t least = kjson_int_or(request.row, "min_cache", 1024);

	if (n >= strlen(call.user))
		return 0;
	n = kutf8_prefix(call.user, SIZE_MAX, n);
	return models_tokens(n + strlen(call.system)) >= least ? n : 0;
}

static json_t *
messages_user(void)
{
	const char *user = call.user;
	size_t stable = cached_bytes();
	json_t *blocks = json_array();

	if (stable)
		json_array_append_new(blocks, block(user, stable, true));
	json_array_append_new(blocks, block(user + stable, strlen(user + stable), false));
	return blocks;
}

static json_t *
text_message(const char *role, const char *text)
{
	return json_pack("{s:s s:o}", "role", role, "content", kjson_string(text));
}

static json_t *
messages_body(void)
{
	const char *system = call.system, *effort = kcamp_str("model.effort");
	json_t *o = json_pack("{s:o s:I s:[{s:s s:o}] s:b}", "model", kjson_string(request.model),
	    "max_tokens", (json_int_t)request.cap, "messages", "role", "user", "content",
	    messages_user(), "stream", 1);

	if (*system)
		kjson_extend(o, "{s:[o]}", "system", block(system, strlen(system), false));
	if (*effort && kjson_bool(request.row, "adaptive"))
		kjson_extend(o, "{s:{s:s}}", "thinking", "type", "adaptive");
	if (*effort)
		kjson_extend(o, "{s:{s:s}}", "output_config", "effort", effort);
	return o;
}

static const char *
cap_field(void)
{
	static const char plain[] = "max_tokens", full[] = "max_completion_tokens";
	const char *own = kjson_str_or(request.row, "cap_field", plain);

	return !json_object_get(request.omitted, own) ? own : strcmp(own, plain) ? plain : full;
}

static json_t *
chat_body(void)
{
	const char *system = call.system, *effort = kcamp_str("model.effort");

	return json_pack("{s:o s:[o* o] s:I s:b s:{s:b} s:s*}", "model",
	    kjson_string(request.model), "messages",
	    *system ? text_message("system", system) : NULL, text_message("user", call.user),
	    cap_field(), (json_int_t)request.cap, "stream", 1, "stream_options", "include_usage", 1,
	    "reasoning_effort", *effort ? effort : NULL);
}

static void
omit(json_t *from, const char *name)
{
	json_object_del(from, name);
	kjson_foreach_member(key, member, from)
		omit(member, name);
	kjson_foreach(item, from)
		omit(item, name);
}

const char *
request_body(void)
{
	json_auto_t *o = request.api == API_MESSAGES ? messages_body() : chat_body();

	if (kcamp_num("model.temperature") >= 0 && kjson_bool_or(request.row, "sampling", true))
		kjson_put(o, "temperature", kcamp_num("model.temperature"));
	kjson_foreach_member(name, yes, request.omitted)
		omit(o, name);
	free(request.body);
	request.body = json_dumps(o, KIO_DUMP);
	if (!request.body)
		kdie(K_IO, "out of memory");
	return request.body;
}

/* Does TEXT name the parameter, as a whole word? */
static bool
names(const char *text, const char *word)
{
	struct kregex *re = kregex_new("a parameter", NULL, kshown("\\b%s\\b", word), 0);
	bool found = kregex_search(re, text, strlen(text), 0, NULL) == KREGEX_FOUND;

	kregex_free(re);
	return found;
}

const char *
request_omit(const struct kanswer_error *e)
{
	/* The messages API insists on the cap. */
	const char *const optional[] = { "temperature", "reasoning_effort", "stream_options",
		"include_usage", "cache_control", "thinking", "output_config", "effort",
		request.api == API_CHAT ? cap_field() : "temperature" };

	kforeach(name, optional)
		if (strstr(request.body, kshown("\"%s\":", *name)) &&
		    (!strcmp(e->param, *name) || names(e->message, *name))) {
			kjson_enter(request.omitted, *name);
			return *name;
		}
	return NULL;
}
