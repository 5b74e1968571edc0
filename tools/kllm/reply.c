/* SPDX-License-Identifier: Apache-2.0 */
/* reply: the member "reply" of a record, from any provider. */

#include "kllm.h"
#include "secret.h"

struct reply reply;

void
reply_init(const char *provider, const char *model)
{
	reply = (struct reply){
		.provider = provider,
		.model = kstrdup(model),
		.finish = "stop",
		.flags = json_array(),
		.failures = json_array(),
		.nanousd = KUSAGE_UNKNOWN,
		.attempts = 1,
		.first_byte_ms = -1,
		.total_ms = -1,
	};
	kbuf_add(&reply.text, "", 0);
	kbuf_add(&reply.reasoning, "", 0);
}

void
reply_model(const char *name)
{
	if (!name)
		return;
	free(reply.model);
	reply.model = kstrdup(name);
}

/* A short text that a server may have influenced: it may echo anything, even the key. */
static json_t *
safe_text(const char *s)
{
	auto_buf struct kbuf b = { 0 };

	kbuf_add(&b, s, strlen(s));
	secret_redact(&b);
	return kjson_text(b.data, b.len);
}

/* Once; takes FLAG. */
static void
add_flag(json_t *flags, json_t *flag)
{
	if (!kjson_has(flags, json_string_value(flag)))
		json_array_append(flags, flag);
	json_decref(flag);
}

void
reply_flag(const char *flag)
{
	add_flag(reply.flags, safe_text(flag));
}

void
reply_estimate(void)
{
	reply.usage = (struct kusage){
		.input = models_tokens(strlen(call.system) + strlen(call.user)),
		.output = models_tokens(reply.text.len + reply.reasoning.len),
		.known = true,
		.estimated = true,
	};
}

void
reply_price(void)
{
	if (reply.usage.known && reply.nanousd == KUSAGE_UNKNOWN)
		reply.nanousd = kmodel_cost(models_row(reply.model), &reply.usage);
}

bool
reply_read(const json_t *o)
{
	static const char *const finishes[] = { "stop", "length", "refusal", "content_filter",
		"other" };
	const json_t *text = json_object_get(o, "text");
	size_t finish = kindex_of(kjson_str_or(o, "finish", "stop"), finishes, LEN(finishes) - 1);
	double cost = kjson_num_or(o, "cost_usd", -1);

	if (!json_is_string(text))
		return false;
	kbuf_add(&reply.text, json_string_value(text), json_string_length(text));
	kbuf_puts(&reply.reasoning, kjson_str(o, "reasoning"));
	reply.finish = finishes[finish];
	reply_model(kjson_maybe(o, "model"));
	kusage_read(&reply.usage, json_object_get(o, "usage"));
	if (cost >= 0 && cost < 1e6)
		reply.nanousd = llround(cost * 1e9);
	return true;
}

static json_t *
usage_json(const struct kusage *u)
{
	return json_pack("{s:I s:I s:I s:I s:I s:o*}", "input_tokens", (json_int_t)u->input,
	    "output_tokens", (json_int_t)u->output, "reasoning_tokens", (json_int_t)u->reasoning,
	    "cache_read_tokens", (json_int_t)u->cache_read, "cache_write_tokens",
	    (json_int_t)u->cache_write, "estimated", u->estimated ? json_true() : NULL);
}

/* NULL: not measured. */
static json_t *
milliseconds(double ms)
{
	return ms >= 0 ? json_real(round(ms * 1e3) / 1e3) : NULL;
}

json_t *
reply_finish(void)
{
	bool text = secret_redact(&reply.text), reasoning = secret_redact(&reply.reasoning);
	json_t *o;

	if (text || reasoning)
		reply_flag("redacted");
	o = json_pack("{s:o s:o* s:s s:o s:s s:o s:o* s:o* s:o* s:i s:s}", "text",
	    kjson_text(reply.text.data, reply.text.len), "reasoning",
	    reply.reasoning.len ? kjson_text(reply.reasoning.data, reply.reasoning.len) : NULL,
	    "provider", reply.provider, "model", safe_text(reply.model), "finish", reply.finish,
	    "flags", reply.flags, "failures",
	    json_array_size(reply.failures) ? json_incref(reply.failures) : NULL, "usage",
	    reply.usage.known ? usage_json(&reply.usage) : NULL, "cost_usd",
	    reply.nanousd != KUSAGE_UNKNOWN ? json_real((double)reply.nanousd / 1e9) : NULL,
	    "attempts", reply.attempts, "prompt_sha256", call.sha256);
	if (!reply.timeless) {
		kjson_extend(o, "{s:{s:o* s:o*} s:s}", "ms", "first_byte",
		    milliseconds(reply.first_byte_ms), "total", milliseconds(reply.total_ms),
		    "time", know_text());
	}
	json_decref(reply.failures);
	kbuf_free(&reply.text);
	kbuf_free(&reply.reasoning);
	free(reply.model);
	return o;
}

void
reply_too_large(void)
{
	reply.finish = "other";
	reply_flag(KIO_TOO_LARGE);
}

/* Cuts the text of member KEY; true when that was necessary. */
static bool
cut_member(json_t *member, const char *key)
{
	const json_t *text = json_object_get(member, key);
	const char *bytes = json_string_value(text);
	size_t len = json_string_length(text),
	       fit = bytes ? kjson_fit(bytes, len, KIO_REPLY_MAX) : len;

	if (fit < len)
		json_object_set_new(member, key, json_stringn(bytes, fit));
	return fit < len;
}

json_t *
reply_bounded(json_t *member)
{
	static const char *const kept[] = { "text", "reasoning", "provider", "model", "finish",
		"attempts", "prompt_sha256", "usage", "cost_usd", "recorded" };
	bool text = cut_member(member, "text"), reasoning = cut_member(member, "reasoning");
	json_t *flags = json_object_get(member, "flags"), *small = member;

	/* A recording may contain anything else. */
	if (kjson_size(member) > 3 * KIO_REPLY_MAX) {
		small = json_object();
		kforeach(key, kept)
			if (kjson_size(json_object_get(member, *key)) <= KIO_REPLY_MAX + 2)
				json_object_set(small, *key, json_object_get(member, *key));
		flags = NULL;
	} else if (!text && !reasoning) {
		return member;
	}
	flags = json_is_array(flags) ? json_copy(flags) : json_array();
	add_flag(flags, json_string(KIO_TOO_LARGE));
	json_object_set_new(small, "flags", flags);
	if (small != member)
		json_decref(member);
	return small;
}
