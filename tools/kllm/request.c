/* SPDX-License-Identifier: Apache-2.0 */
/* request: see request.h. */
#include "request.h"

#include "kregex.h"
#include "models.h"

static const char *
effort_of(const struct request *r)
{
	const char *effort = kcamp_str(call.camp, "model.effort");

	return *effort && !(r->dropped & DROP_EFFORT) ? effort : NULL;
}

static bool
sends_temperature(const struct request *r)
{
	return kcamp_num(call.camp, "model.temperature") >= 0 && r->row->sampling &&
	    !(r->dropped & DROP_TEMPERATURE);
}

/* A text block; MARK sets a prompt-cache breakpoint after it. */
static json_t *
block(const char *text, size_t len, bool mark)
{
	json_t *b = json_pack("{s:s s:o}", "type", "text", "text", kjson_text(text, len));

	if (mark)
		json_object_set_new(b, "cache_control", json_pack("{s:s}", "type", "ephemeral"));
	return b;
}

/*
 * Bytes of the user text before the breakpoint: whole characters, and enough for a cache to accept
 * the prefix.
 */
static size_t
cached_bytes(const struct request *r)
{
	size_t n = call.stable_bytes;
	int64_t least = r->row->min_cache ? r->row->min_cache : 1024;

	if ((r->dropped & DROP_CACHE) || n >= strlen(call.user))
		return 0;
	while (n && ((unsigned char)call.user[n] & 0xc0) == 0x80)
		n--;
	return models_tokens(n + strlen(call.system)) >= least ? n : 0;
}

static json_t *
messages_user(const struct request *r)
{
	const char *user = call.user;
	size_t stable = cached_bytes(r);
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
budget(const struct request *r, const char *effort)
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
			long tokens = row->tokens < r->cap / 2 ? row->tokens : r->cap / 2;

			if (tokens < 1024)
				return NULL;
			return json_pack(
			    "{s:s s:I}", "type", "enabled", "budget_tokens", (json_int_t)tokens);
		}
	return NULL;
}

static void
add_thinking(const struct request *r, json_t *o)
{
	const char *effort = effort_of(r);
	json_t *thinking;

	if (!effort || (r->dropped & DROP_THINKING))
		return;
	if (r->row->thinking == KTHINKING_BUDGET) {
		thinking = budget(r, effort);
		if (thinking)
			json_object_set_new(o, "thinking", thinking);
		return;
	}
	if (r->row->thinking == KTHINKING_ADAPTIVE)
		json_object_set_new(o, "thinking", json_pack("{s:s}", "type", "adaptive"));
	json_object_set_new(o, "output_config", json_pack("{s:s}", "effort", effort));
}

static json_t *
messages_body(const struct request *r)
{
	const char *system = call.system;
	json_t *o = json_pack("{s:o s:I s:[{s:s s:o}] s:b}", "model", kjson_string(r->model),
	    "max_tokens", (json_int_t)r->cap, "messages", "role", "user", "content",
	    messages_user(r), "stream", 1);

	if (*system)
		json_object_set_new(
		    o, "system", json_pack("[o]", block(system, strlen(system), false)));
	add_thinking(r, o);
	return o;
}

static const char *
cap_field(const struct request *r)
{
	static const char plain[] = "max_tokens", full[] = "max_completion_tokens";
	bool is_plain = !strcmp(r->row->cap_field, plain);

	return is_plain != !!(r->dropped & SWAP_CAP) ? plain : full;
}

static json_t *
chat_body(const struct request *r)
{
	const char *system = call.system;

	return json_pack("{s:o s:[o* o] s:o* s:b s:o* s:s*}", "model", kjson_string(r->model),
	    "messages", *system ? text_message("system", system) : NULL,
	    text_message("user", call.user), cap_field(r),
	    r->dropped & DROP_CAP ? NULL : json_integer(r->cap), "stream", 1, "stream_options",
	    r->dropped & DROP_STREAM_OPTIONS ? NULL : json_pack("{s:b}", "include_usage", 1),
	    "reasoning_effort", effort_of(r));
}

char *
request_body(const struct request *r, size_t *len)
{
	json_auto_t *o = r->api == API_MESSAGES ? messages_body(r) : chat_body(r);
	char *text;

	if (sends_temperature(r))
		json_object_set_new(
		    o, "temperature", json_real(kcamp_num(call.camp, "model.temperature")));
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
	auto_free char *pattern = kasprintf("\\b%s\\b", word);
	struct kregex *re = kregex_new("a parameter", NULL, pattern, 0);
	bool found = kregex_search(re, text, strlen(text), 0, NULL) == KREGEX_FOUND;

	kregex_free(re);
	return found;
}

unsigned
request_refused(const struct request *r, const struct kanswer_error *e, const char **name)
{
	const char *cap = cap_field(r);
	const bool chat = r->api == API_CHAT, thinks = r->row->thinking != KTHINKING_NONE;
	const struct {
		const char *name;
		unsigned drop;
		bool sent;
	} rows[] = {
		{ "temperature", DROP_TEMPERATURE, sends_temperature(r) },
		{ "reasoning_effort", DROP_EFFORT, chat && effort_of(r) },
		{ "stream_options", DROP_STREAM_OPTIONS, chat },
		{ "include_usage", DROP_STREAM_OPTIONS, chat },
		{ "cache_control", DROP_CACHE, !chat && cached_bytes(r) },
		{ "thinking", DROP_THINKING, !chat && effort_of(r) && thinks },
		{ "output_config", DROP_EFFORT, !chat && effort_of(r) },
		{ "effort", DROP_EFFORT, effort_of(r) != NULL },
		{ cap, SWAP_CAP, chat && !(r->dropped & SWAP_CAP) },
		{ cap, DROP_CAP, chat && (r->dropped & SWAP_CAP) },
	};

	kforeach(one, rows)
		if (one->sent && !(r->dropped & one->drop) &&
		    (!strcmp(e->param, one->name) || names(e->message, one->name))) {
			*name = one->name;
			return one->drop;
		}
	return 0;
}
