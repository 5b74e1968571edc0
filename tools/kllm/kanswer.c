/* SPDX-License-Identifier: Apache-2.0 */
/* kanswer: see kanswer.h. */
#include "kanswer.h"

#include "kregex.h"

/* Copy of a JSON string as one line of C text. */
static void
copy_line(char *to, size_t size, const json_t *v)
{
	snprintf(to, size, "%s", json_is_string(v) ? json_string_value(v) : "");
	for (char *p = to; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
}

/*
 * JSON that a strict parser accepts: escapes of half a surrogate pair become \ufffd, and bytes that
 * are not UTF-8 U+FFFD.
 */
static char *
mend(const char *s, size_t len)
{
	json_auto_t *clean = kjson_text(s, len);

	/* Whole pairs and other escapes are skipped. */
	return kregex_sub("(?i)(?:\\\\ud[89ab][\\da-f]{2}\\\\ud[c-f][\\da-f]{2}|"
	                  "\\\\(?!ud[89a-f][\\da-f]{2}).?)(*SKIP)(*FAIL)|"
	                  "\\\\ud[89a-f][\\da-f]{2}",
	    json_string_value(clean), "\\ufffd");
}

static json_t *
parse(const char *s, size_t len)
{
	json_t *v = json_loadb(s, len, JSON_ALLOW_NUL, NULL);
	char *mended;

	if (v)
		return v;
	mended = mend(s, len);
	v = json_loads(mended, JSON_ALLOW_NUL, NULL);
	free(mended);
	return v;
}

/* The status that a type or code means, if the error gives none. */
static const struct {
	const char *form;
	int status;
} words[] = {
	{ "overloaded", 529 },
	{ "rate_limit", 429 },
	{ "insufficient_(?:quota|credits)|billing", 402 },
	{ "authentication|invalid_api_key", 401 },
	{ "permission", 403 },
	{ "not_found|too_large|context_length|invalid_request", 400 },
};

static void
status_of_error(struct kanswer_error *e, const json_t *code)
{
	if (json_is_integer(code) && json_integer_value(code) >= 300 &&
	    json_integer_value(code) < 600)
		e->status = (int)json_integer_value(code);
	/*
	 * The code is more specific than the type ("insufficient_quota" of type
	 * "invalid_request_error").
	 */
	kforeach_text(said, e->code, e->type)
		kforeach(row, words)
			if (!e->status && kregex_is(row->form, said))
				e->status = row->status;
}

/* V is the value of "error" or "detail", or the whole body. */
static void
read_error(struct kanswer_error *e, const json_t *v)
{
	const json_t *code = json_object_get(v, "code"), *message = json_object_get(v, "message");

	if (e->present)
		return;
	e->present = true;
	if (json_is_string(v)) {
		copy_line(e->message, sizeof e->message, v);
		return;
	}
	copy_line(e->type, sizeof e->type, json_object_get(v, "type"));
	copy_line(e->code, sizeof e->code, code);
	copy_line(e->param, sizeof e->param, json_object_get(v, "param"));
	copy_line(e->message, sizeof e->message, message);
	if (!*e->message) {
		auto_free char *text = json_dumps(v, KIO_DUMP | JSON_ENCODE_ANY);

		snprintf(e->message, sizeof e->message, "%s", text ?: "");
	}
	status_of_error(e, code);
}

/* What the members of an answer or an event mean, by their names in both APIs. */
static const struct {
	const char *key;
	enum meaning {
		TEXT,
		REASONING,
		REFUSAL,
		SIGN_OF_LIFE,
		FINISH,
		DETAIL,
		MODEL,
		USAGE
	} meaning;
} members[] = {
	{ "content", TEXT },
	{ "text", TEXT },
	{ "reasoning_content", REASONING },
	{ "reasoning", REASONING },
	{ "thinking", REASONING },
	{ "refusal", REFUSAL },
	/* Signatures of hidden reasoning show that the server is working. */
	{ "signature", SIGN_OF_LIFE },
	{ "finish_reason", FINISH },
	{ "stop_reason", FINISH },
	{ "category", DETAIL },
	{ "model", MODEL },
	{ "usage", USAGE },
};

/* Members that contain those. */
static const char *const holders[] = { "choices", "delta", "message", "content", "content_block",
	"stop_details" };
/* Events of a messages stream, and its complete answer; other types are ignored. */
static const char types[] = "message message_start content_block_start content_block_delta "
                            "message_delta message_stop";

static void
take(struct kanswer *a, enum meaning meaning, const json_t *v)
{
	struct kbuf *const texts[] = { &a->text, &a->reasoning, &a->refusal };
	size_t len = json_string_length(v);

	if (meaning == USAGE && json_is_object(v)) {
		/* Cumulative in a stream: the last one counts. */
		kusage_read(&a->usage, v);
		a->usage.known = true;
	}
	if (!json_is_string(v))
		return;
	if (meaning < LEN(texts))
		kbuf_add(texts[meaning], json_string_value(v), len);
	if (meaning <= SIGN_OF_LIFE)
		a->progress += len;
	if (meaning == FINISH)
		copy_line(a->finish, sizeof a->finish, v);
	if (meaning == DETAIL)
		copy_line(a->detail, sizeof a->detail, v);
	if (meaning == MODEL && !a->model)
		a->model = kstrdup(json_string_value(v));
}

/* Reads everything in O and below it; choices and parts of other kinds are ignored. */
static void
read_members(struct kanswer *a, const json_t *o)
{
	const char *type = kjson_str_or(o, "type", "text");
	bool twice = json_string_length(json_object_get(o, "reasoning_content"));
	size_t i;

	kjson_foreach(item, o)
		if (kjson_int(item, "index") == 0)
			read_members(a, item);
	for (i = 0; i < LEN(members); i++)
		/* Servers that use both names for the reasoning send the same text twice. */
		if (!(twice && !strcmp(members[i].key, "reasoning")) &&
		    (strcmp(members[i].key, "text") || kbegins(type, "text")))
			take(a, members[i].meaning, json_object_get(o, members[i].key));
	for (i = 0; i < LEN(holders); i++)
		if (json_object_get(o, holders[i]))
			read_members(a, json_object_get(o, holders[i]));
}

/* Gateways add an empty error to a complete answer: null, false, "" or {}. */
static bool
says_error(const json_t *v)
{
	return v && !json_is_null(v) && !json_is_false(v) &&
	    (!json_is_string(v) || json_string_length(v)) &&
	    (!json_is_object(v) || json_object_size(v));
}

/* One JSON value, from an event or as the whole body; unknown values are ignored. */
static void
read_value(struct kanswer *a, const json_t *o)
{
	const json_t *error = json_object_get(o, "error"), *detail = json_object_get(o, "detail");
	const char *type = kjson_str(o, "type");
	bool known = json_object_get(o, "choices") || json_object_get(o, "usage") ||
	    json_object_get(o, "delta");

	if (says_error(error) || !strcmp(type, "error") || kjson_is(o, "object", "error"))
		read_error(&a->error, says_error(error) ? error : o);
	else if (detail && !known)
		read_error(&a->error, detail);
	else if (!*type || json_object_get(o, "choices") || kis_one_of(types, type))
		read_members(a, o);
	a->done |= !strcmp(type, "message_stop");
	if (!strcmp(a->finish, "error")) {
		a->finish[0] = '\0';
		a->error = (struct kanswer_error){ .present = true,
			.status = 500,
			.message = "the stream ended with finish_reason error" };
	}
}

/* A blank line ends an event. Anything after the end mark does not belong to the answer. */
static void
end_event(struct kanswer *a)
{
	const char *data = a->data.data ?: "";
	size_t len = a->data.len;
	json_auto_t *o = NULL;

	a->data.len = 0;
	if (a->done || strspn(data, " \t") >= len)
		return;
	if (kbegins(data, "[DONE]")) {
		a->done = true;
		return;
	}
	o = parse(data, len);
	if (json_is_object(o))
		read_value(a, o);
	else
		a->malformed++;
}

/*
 * A line of an event stream (WHATWG HTML, section 9.2). Lines of data are joined; comments, names
 * and unknown fields contain nothing of the answer.
 */
static void
read_line(struct kanswer *a, const char *line, size_t len)
{
	const char *value = line + strlen("data:");

	if (!len)
		end_event(a);
	if (len < strlen("data:") || !kbegins(line, "data:"))
		return;
	value += value < line + len && *value == ' ';
	kbuf_join(&a->data, "\n", "");
	kbuf_add(&a->data, value, len - (size_t)(value - line));
}

/* Reads the lines that have arrived, or all that is left if the body has ENDED. */
static void
read_lines(struct kanswer *a, bool ended)
{
	while (!a->bad && a->at < a->body.len) {
		const char *line = a->body.data + a->at;
		size_t left = a->body.len - a->at, len = a->scanned;

		while (len < left && line[len] != '\n' && line[len] != '\r')
			len++;
		a->scanned = len;
		a->bad = len > KANSWER_LINE_MAX;
		if (a->bad || (len == left && !ended))
			return;
		/* The LF of a CR LF ends no other line. */
		if (len || *line != '\n' || !a->at || line[-1] != '\r')
			read_line(a, line, len);
		a->at += len + (len < left);
		a->scanned = 0;
	}
	/* Some servers omit the blank line after the last event. */
	if (ended && !a->bad)
		end_event(a);
}

/*
 * What the first bytes indicate: events begin with a field name or a colon. EMPTY when only white
 * space has arrived, or the beginning of a field or of the byte order mark.
 */
static enum kanswer_kind
kind_of(const char *s, size_t len)
{
	static const char form[] = "\\A(?:\xef\xbb?\\z|(?:\xef\xbb\xbf)?\\s*(?:([[{])|(data|event|"
	                           "id|retry|:)|"
	                           "(?:da?t?|ev?e?n?|i|re?t?r?)?\\z))";
	struct kregex_span at[3];

	if (!kregex_find(form, s, len, at, LEN(at)))
		return KANSWER_ALIEN;
	return at[1].from != KREGEX_UNSET ? KANSWER_JSON
	    : at[2].from != KREGEX_UNSET  ? KANSWER_STREAM
	                                  : KANSWER_EMPTY;
}

bool
kanswer_feed(struct kanswer *a, const char *bytes, size_t len)
{
	kbuf_add(&a->body, bytes, len);
	if (a->kind == KANSWER_EMPTY) {
		a->kind = kind_of(a->body.data, a->body.len);
		a->at = kbom(a->body.data, a->body.len);
	}
	if (a->kind == KANSWER_STREAM)
		read_lines(a, false);
	else if (a->kind == KANSWER_JSON)
		a->progress += len;
	return a->kind != KANSWER_ALIEN && !a->bad;
}

void
kanswer_end(struct kanswer *a)
{
	json_auto_t *o = NULL;

	if (a->kind == KANSWER_STREAM)
		read_lines(a, true);
	if (a->kind != KANSWER_JSON)
		return;
	o = parse(a->body.data + a->at, a->body.len - a->at);
	if (json_is_object(o)) {
		a->done = true;
		read_value(a, o);
	} else {
		a->malformed++;
	}
}

void
kanswer_free(struct kanswer *a)
{
	kbuf_free(&a->body);
	kbuf_free(&a->data);
	kbuf_free(&a->text);
	kbuf_free(&a->reasoning);
	kbuf_free(&a->refusal);
	free(a->model);
	*a = (struct kanswer){ 0 };
}

bool
kanswer_complete(const struct kanswer *a)
{
	if (a->error.present || a->bad || a->kind == KANSWER_EMPTY || a->kind == KANSWER_ALIEN)
		return false;
	return *a->finish || (a->done && (a->text.len || a->refusal.len));
}

const char *
kanswer_finish(const struct kanswer *a)
{
	static const struct {
		const char *word, *finish;
	} rows[] = {
		{ "stop", "stop" },
		{ "end_turn", "stop" },
		{ "stop_sequence", "stop" },
		{ "", "stop" },
		{ "length", "length" },
		{ "max_tokens", "length" },
		{ "model_context_window_exceeded", "length" },
		{ "refusal", "refusal" },
		{ "content_filter", "content_filter" },
	};

	if (a->refusal.len && !a->text.len)
		return "refusal";
	kforeach(row, rows)
		if (!strcasecmp(row->word, a->finish))
			return row->finish;
	return "other";
}

void
kanswer_error_body(struct kanswer_error *e, const char *body, size_t len)
{
	json_auto_t *o = parse(body, len);
	json_t *start;
	const char *const places[] = { "error", "detail" };

	*e = (struct kanswer_error){ 0 };
	for (size_t i = 0; i < LEN(places) && json_is_object(o); i++) {
		const json_t *v = json_object_get(o, places[i]);

		if (v && !json_is_null(v))
			read_error(e, v);
	}
	if (json_is_object(o))
		read_error(e, o);
	if (json_is_array(o) && json_is_object(json_array_get(o, 0)))
		read_error(e, json_object_get(json_array_get(o, 0), "error"));
	if (e->present)
		return;
	e->present = true;
	start = kjson_text(body, len < 500 ? len : 500);
	copy_line(e->message, sizeof e->message, start);
	json_decref(start);
}
