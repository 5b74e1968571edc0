/* SPDX-License-Identifier: Apache-2.0 */
/* request: see request.h. */
#include "request.h"

#include "kregex.h"
#include "models.h"

struct request request;

static const char *
effort_of(void)
{
	const char *effort = kcamp_str("model.effort");

	return *effort && !(request.dropped & DROP_EFFORT) ? effort : NULL;
}

static bool
sends_temperature(void)
{
	return kcamp_num("model.temperature") >= 0 && request.row->sampling &&
	    !(request.dropped & DROP_TEMPERATURE);
}

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
	int64_t least = request.row->min_cache ?: 1024;

	if ((request.dropped & DROP_CACHE) || n >= strlen(call.user))
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

/* Reasoning budgets for models that take a number; at most half of the cap. */
static json_t *
budget(const char *effort)
{
	static const struct {
		const char *effort;
		long tokens;
	} rows[] = {
		{ "low", 2048 },
		{ "medium", 8192 },
		{ "high", 16384 },
		{ "xhigh", 32768 },
		{ "max", 65536 },
	};

	kforeach(row, rows)
		if (!strcmp(row->effort, effort)) {
			long tokens = row->tokens < request.cap / 2 ? row->tokens : request.cap / 2;

			if (tokens < 1024)
				return NULL;
			return json_pack(
			    "{s:s s:I}", "type", "enabled", "budget_tokens", (json_int_t)tokens);
		}
	return NULL;
}

static void
add_thinking(json_t *o)
{
	const char *effort = effort_of();
	json_t *thinking;

	if (!effort || (request.dropped & DROP_THINKING))
		return;
	if (request.row->thinking == KTHINKING_BUDGET) {
		thinking = budget(effort);
		if (thinking)
			json_object_set_new(o, "thinking", thinking);
		return;
	}
	if (request.row->thinking == KTHINKING_ADAPTIVE)
		kjson_extend(o, "{s:{s:s}}", "thinking", "type", "adaptive");
	kjson_extend(o, "{s:{s:s}}", "output_config", "effort", effort);
}

static json_t *
messages_body(void)
{
	const char *system = call.system;
	json_t *o = json_pack("{s:o s:I s:[{s:s s:o}] s:b}", "model", kjson_string(request.model),
	    "max_tokens", (json_int_t)request.cap, "messages", "role", "user", "content",
	    messages_user(), "stream", 1);

	if (*system)
		kjson_extend(o, "{s:[o]}", "system", block(system, strlen(system), false));
	add_thinking(o);
	return o;
}

static const char *
cap_field(void)
{
	static const char plain[] = "max_tokens", full[] = "max_completion_tokens";
	bool is_plain = !strcmp(request.row->cap_field, plain);

	return is_plain != !!(request.dropped & SWAP_CAP) ? plain : full;
}

static json_t *
chat_body(void)
{
	const char *system = call.system;

	return json_pack("{s:o s:[o* o] s:o* s:b s:o* s:s*}", "model", kjson_string(request.model),
	    "messages", *system ? text_message("system", system) : NULL,
	    text_message("user", call.user), cap_field(),
	    request.dropped & DROP_CAP ? NULL : json_integer(request.cap), "stream", 1,
	    "stream_options",
	    request.dropped & DROP_STREAM_OPTIONS ? NULL : json_pack("{s:b}", "include_usage", 1),
	    "reasoning_effort", effort_of());
}

char *
request_body(size_t *len)
{
	json_auto_t *o = request.api == API_MESSAGES ? messages_body() : chat_body();
	char *text;

	if (sends_temperature())
		kjson_put(o, "temperature", kcamp_num("model.temperature"));
	text = json_dumps(o, KIO_DUMP);
	if (!text)
		kdie(K_IO, "out of memory");
	*len = strlen(text);
	return text;
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

unsigned
request_refused(const struct kanswer_error *e, const char **name)
{
	const char *cap = cap_field();
	const bool chat = request.api == API_CHAT, thinks = request.row->thinking != KTHINKING_NONE;
	const struct {
		const char *name;
		unsigned drop;
		bool sent;
	} rows[] = {
		{ "temperature", DROP_TEMPERATURE, sends_temperature() },
		{ "reasoning_effort", DROP_EFFORT, chat && effort_of() },
		{ "stream_options", DROP_STREAM_OPTIONS, chat },
		{ "include_usage", DROP_STREAM_OPTIONS, chat },
		{ "cache_control", DROP_CACHE, !chat && cached_bytes() },
		{ "thinking", DROP_THINKING, !chat && effort_of() && thinks },
		{ "output_config", DROP_EFFORT, !chat && effort_of() },
		{ "effort", DROP_EFFORT, effort_of() != NULL },
		{ cap, SWAP_CAP, chat && !(request.dropped & SWAP_CAP) },
		{ cap, DROP_CAP, chat && (request.dropped & SWAP_CAP) },
	};

	kforeach(one, rows)
		if (one->sent && !(request.dropped & one->drop) &&
		    (!strcmp(e->param, one->name) || names(e->message, one->name))) {
			*name = one->name;
			return one->drop;
		}
	return 0;
}
