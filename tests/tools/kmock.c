/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmock: a model server that misbehaves, for tests. It listens on 127.0.0.1, writes its port to PORTFILE, answers POST
 * /SCENARIO[@TAG]/… of both APIs by the table below, and writes a line of JSON per request to LOG. Ends with its
 * parent.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "kutil.h"

enum api { CHAT, MESSAGES };

enum framing { CHUNKED, LENGTH, TOO_LONG, TOO_SHORT, TO_THE_END };
enum ending { CLOSE, RESET, STALL, COMMENT_FOR_EVER, PING_FOR_EVER };

enum {
	WHOLE = 1,		/* one JSON body instead of events */
	NO_DONE = 2, NO_USAGE = 4, CRLF = 8, BOM = 16,
	NO_BLANK = 32,		/* the last event lacks its blank line */
	COMMENTS = 64, UNKNOWN = 128,
	BROKEN_OFF = 256,	/* ends before the finish event */
	CUT_CHARACTER = 512,	/* ends inside a character */
	ERROR_INSIDE = 1024, TWO_BLOCKS = 2048, GZIP = 4096, TRAILERS = 8192,
	SLOW_HEAD = 16384, REFUSES = 32768, HUGE_BODY = 65536, JUNK_EVENT = 131072,
	FEW_TOKENS = 262144,	/* counts a tenth of the prompt's tokens */
	HUGE_LINE = 524288, LEADING_LINES = 1048576, MEGABYTE_LINE = 2097152, NO_FINISH = 4194304, KEY_BACK = 8388608
};

/* One response. */
struct act {
	int status;		/* 0: 200 */
	const char *headers;	/* further lines, each with CR LF */
	const char *body;	/* as it stands, instead of an answer */
	const char *text;	/* of the answer, as inside a JSON string; NULL: the kernel below */
	const char *reasoning;
	const char *finish[2];	/* by API; NULL: its word for the natural end */
	const char *usage[2];	/* JSON, by API; NULL: counted */
	unsigned flags;
	enum framing framing;
	enum ending ending;
	size_t piece;		/* bytes per write; 0: an event at a time */
	int pause_ms;		/* between writes */
};

#define KERNEL                                                                                                         \
	"Here it is, caf\xc3\xa9 style.\\n```c\\nvoid\\nkernel(float *a, const float *b, int n)\\n{\\n\\tfor (int i "  \
	"= 0; i < n; i++)\\n"                                                                                          \
	"\\t\\ta[i] = 2.0f * b[i] + 1.0f;\\n}\\n```\\n"
#define HALF                                                                                                           \
	"```c\\nvoid\\nkernel(float *a, const float *b, int n)\\n{\\n\\tfor (int i = 0; i < n; i++)\\n\\t\\ta[i] = "   \
	"2.0f"
#define ERROR(type, message)                                                                                           \
	"{\"type\":\"error\",\"error\":{\"type\":\"" type "\",\"message\":\"" message "\",\"code\":null}}"
#define LIMITED(header) { .status = 429, .headers = header, .body = ERROR("rate_limit_error", "slow down") }
#define CODE                                                                                                           \
	"void f(float *a, const float *b, int n)\\n{\\n\\tfor (int i = 0; i < n; i++)\\n\\t\\ta[i] = b[i] * "          \
	"b[i];\\n}\\n"

/* The key that tests/mock/play.sh gives. */
#define CANARY "sk-CANARY-1b4e28ba-2fa1-Zz"

static const char html[] = "<!DOCTYPE html>\n<html><body>Please sign in to the hotel network.</body></html>\n";

/* What each scenario answers to its first, second, … request; the last response is repeated. */
static const struct scenario {
	const char *name;
	struct act acts[4];
	size_t count;		/* 0: one */
} scenarios[] = {
	{ "ok", { { .flags = WHOLE } }, 0 },
	{ "ok-stream", { { 0 } }, 0 },
	{ "usage",
	    { { .usage = { "{\"prompt_tokens\":1000,\"completion_tokens\":200,\"prompt_tokens_details\":{\"cached_"
			   "tokens\":400},"
			   "\"completion_tokens_details\":{\"reasoning_tokens\":150}}",
		    "{\"input_tokens\":500,\"cache_read_input_tokens\":400,\"cache_creation_input_tokens\":100,"
		    "\"output_tokens\":200,"
		    "\"output_tokens_details\":{\"thinking_tokens\":150}}" } } },
	    0 },
	{ "no-usage", { { .flags = NO_USAGE } }, 0 },
	/* The count of the answer is missing, or still the one from before the answer. */
	{ "no-count",
	    { { .usage = { "{\"prompt_tokens\":1000,\"completion_tokens\":null}",
		    "{\"input_tokens\":1000,\"output_tokens\":1}" } } },
	    0 },
	{ "few-tokens", { { .flags = FEW_TOKENS } }, 0 },
	{ "bytewise", { { .piece = 1 } }, 0 },
	{ "crlf", { { .flags = CRLF, .piece = 7 } }, 0 },
	{ "bom", { { .flags = BOM } }, 0 },
	{ "comments", { { .flags = COMMENTS } }, 0 },
	{ "comments-for-ever", { { .flags = BROKEN_OFF, .ending = COMMENT_FOR_EVER } }, 0 },
	{ "pings-for-ever", { { .flags = BROKEN_OFF, .ending = PING_FOR_EVER } }, 0 },
	{ "stall", { { .flags = BROKEN_OFF, .ending = STALL } }, 0 },
	{ "stall-then-ok", { { .flags = BROKEN_OFF, .ending = STALL }, { 0 } }, 2 },
	{ "silent", { { .body = "", .ending = STALL } }, 0 },
	{ "slow-head", { { .flags = SLOW_HEAD } }, 0 },
	{ "drip", { { .piece = 40, .pause_ms = 5 } }, 0 },
	{ "cut-character", { { .flags = CUT_CHARACTER, .framing = TO_THE_END }, { 0 } }, 2 },
	{ "cut-finish", { { .flags = BROKEN_OFF, .framing = TO_THE_END }, { 0 } }, 2 },
	{ "reset", { { .flags = BROKEN_OFF, .ending = RESET }, { 0 } }, 2 },
	{ "reset-at-once", { { .status = -1, .ending = RESET }, { 0 } }, 2 },
	{ "no-done", { { .flags = NO_DONE } }, 0 },
	{ "no-blank", { { .flags = NO_BLANK | NO_DONE } }, 0 },
	{ "no-finish", { { .flags = NO_FINISH } }, 0 },
	{ "done-then-open", { { .ending = STALL } }, 0 },
	{ "error-inside", { { .flags = ERROR_INSIDE }, { 0 } }, 2 },
	{ "html", { { .body = html, .headers = "Content-Type: text/html\r\n" } }, 0 },
	{ "rate-seconds", { LIMITED("Retry-After: 1\r\n"), LIMITED("Retry-After: 0\r\n"), { 0 } }, 3 },
	{ "rate-date", { LIMITED("Retry-After: Thu, 01 Jan 1970 00:00:00 GMT\r\n"), { 0 } }, 2 },
	{ "rate-ms", { LIMITED("Retry-After-Ms: 120\r\n"), LIMITED("Retry-After-Ms: 120\r\n"), { 0 } }, 3 },
	{ "rate-garbage", { LIMITED("Retry-After: soon\r\n"), { 0 } }, 2 },
	{ "rate-huge", { LIMITED("Retry-After: 3600\r\n") }, 0 },
	{ "rate-reset",
	    { LIMITED("x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 150ms\r\n"), { 0 } }, 2 },
	{ "rate-for-ever", { LIMITED("") }, 0 },
	{ "overloaded", { { .status = 529, .body = ERROR("overloaded_error", "Overloaded") }, { 0 } }, 2 },
	{ "overloaded-long",
	    { { .status = 529, .headers = "Retry-After: 400\r\n", .body = ERROR("overloaded_error", "Overloaded") } }, 0 },
	{ "loading",
	    { { .status = 503,
		  .body = "{\"error\":{\"code\":503,\"message\":\"Loading model\",\"type\":\"unavailable_error\"}}" },
		{ 0 } },
	    2 },
	{ "gateway", { { .status = 502, .body = html, .headers = "Content-Type: text/html\r\n" }, { 0 } }, 2 },
	{ "should-not-retry",
	    { { .status = 500, .headers = "x-should-retry: false\r\n", .body = ERROR("api_error", "broken") } }, 0 },
	{ "temperature",
	    { { .status = 400, .body = ERROR("invalid_request_error", "`temperature` is not supported by this model") },
		{ 0 } },
	    2 },
	{ "cap-field",
	    { { .status = 400,
		  .body = "{\"error\":{\"message\":\"Use 'max_completion_tokens' instead.\",\"type\":"
			  "\"invalid_request_error\",\"param\":\"max_tokens\",\"code\":\"unsupported_parameter\"}}" },
		{ 0 } },
	    2 },
	{ "bad-request",
	    { { .status = 400, .body = ERROR("invalid_request_error", "messages: at least one is required") } }, 0 },
	{ "no-model", { { .status = 404, .body = "{\"error\":\"model 'x' not found, try pulling it first\"}" } }, 0 },
	{ "detail", { { .status = 422, .body = "{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"field required\"}]}" } },
	    0 },
	{ "auth", { { .status = 401, .flags = KEY_BACK } }, 0 },
	{ "forbidden", { { .status = 403, .body = ERROR("permission_error", "not for you") } }, 0 },
	{ "billing", { { .status = 402, .body = ERROR("billing_error", "no money left") } }, 0 },
	{ "quota",
	    { { .status = 429,
		.body = "{\"error\":{\"message\":\"You exceeded your current quota\",\"type\":"
			"\"insufficient_quota\",\"param\":null,\"code\":\"insufficient_quota\"}}" } },
	    0 },
	{ "credit", { { .status = 400, .body = ERROR("invalid_request_error", "Your credit balance is too low") } },
	    0 },
	{ "too-large", { { .status = 413, .body = ERROR("request_too_large", "over 32 MB") } }, 0 },
	{ "redirect", { { .status = 307, .headers = "Location: http://localhost:1/stolen\r\n", .body = "" } }, 0 },
	{ "gzip", { { .flags = GZIP } }, 0 },
	{ "trailers", { { .flags = TRAILERS } }, 0 },
	{ "length-too-long", { { .framing = TOO_LONG } }, 0 },
	{ "length-too-short", { { .framing = TOO_SHORT }, { 0 } }, 2 },
	{ "huge-body", { { .flags = HUGE_BODY, .framing = TO_THE_END } }, 0 },
	{ "huge-line", { { .flags = HUGE_LINE } }, 0 },
	{ "megabyte-line", { { .flags = MEGABYTE_LINE } }, 0 },
	{ "leading-lines", { { .flags = WHOLE | LEADING_LINES } }, 0 },
	{ "refusal", { { .flags = REFUSES, .text = "I cannot help." } }, 0 },
	{ "refusal-then-ok", { { .flags = REFUSES, .text = "I cannot help." }, { 0 } }, 2 },
	{ "content-filter", { { .text = "void", .finish = { "content_filter", "content_filter" } } }, 0 },
	{ "odd-finish", { { .finish = { "insufficient_system_resource", "pause_turn" } } }, 0 },
	{ "length-tail", { { .text = KERNEL "And now I would like to expl", .finish = { "length", "max_tokens" } } },
	    0 },
	{ "length-raise", { { .text = HALF, .finish = { "length", "max_tokens" } }, { 0 } }, 2 },
	{ "length-for-ever", { { .text = HALF, .finish = { "length", "max_tokens" } } }, 0 },
	{ "length-empty",
	    { { .text = "", .reasoning = "so many thoughts", .finish = { "length", "max_tokens" } }, { 0 } }, 2 },
	{ "empty", { { .text = "" } }, 0 },
	{ "blocks", { { .flags = TWO_BLOCKS, .reasoning = "First ```c\\nnot this\\n``` then that." } }, 0 },
	{ "reasoning", { { .reasoning = "Let me think." } }, 0 },
	{ "unknown-events", { { .flags = UNKNOWN } }, 0 },
	{ "junk-event", { { .flags = JUNK_EVENT } }, 0 },
	{ "surrogates",
	    { { .text = "a\\u0000b \\ud800 c \\udc00 d \\ud83d\\ude00 \\\\ud800 e\\n```c\\n" CODE "```\\n" } }, 0 },
	{ "raw-bytes", { { .text = "bad \xff\xc3 bytes\\n```c\\n" CODE "```\\n" } }, 0 },
	{ "fence-none", { { .text = CODE } }, 0 },
	{ "fence-two", { { .text = "```c\\nint x;\\n```\\nbetter:\\n```c\\n" CODE "```\\n" } }, 0 },
	{ "fence-unclosed", { { .text = "```c\\n" CODE } }, 0 },
	{ "fence-tildes", { { .text = "~~~c\\n" CODE "~~~\\n" } }, 0 },
	{ "fence-nested", { { .text = "````md\\n```c\\n" CODE "```\\n````\\n" } }, 0 },
	{ "fence-cu", { { .text = "```cu\\n" CODE "```\\n" } }, 0 },
	{ "fence-cxx", { { .text = "```c++\\n" CODE "```\\n" } }, 0 },
	{ "key-everywhere",
	    { { .headers = "x-request-id: " CANARY "\r\n",
		.body = "{\"type\":\"message\",\"model\":\"" CANARY "\",\"content\":[],\"stop_reason\":\"refusal\","
			"\"stop_details\":{\"category\":\"" CANARY "\"}}" } },
	    0 },
	{ "slow", { { .pause_ms = 30 } }, 0 },
	{ "faulty", { { 0 } }, 0 },
	{ "fresh", { { 0 } }, 0 },
};

/* What "faulty" does instead, for one request in twenty. */
static const struct act faults[] = {
	LIMITED("Retry-After-Ms: 50\r\n"),
	{ .status = 500, .body = ERROR("api_error", "broken") },
	{ .status = 529, .body = ERROR("overloaded_error", "Overloaded") },
	{ .flags = BROKEN_OFF, .ending = RESET },
	{ .flags = BROKEN_OFF, .framing = TO_THE_END },
	{ .flags = ERROR_INSIDE },
};

struct request {
	char name[128];		/* SCENARIO[@TAG] */
	enum api api;
	char *body;
	size_t body_len;
	char key[256];
	json_t *json;
};

static FILE *log_file;

/* Requests so far per first path segment. */
static size_t
count_hit(const char *name)
{
	static struct { char name[128]; size_t hits; } seen[4096];
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	size_t hits = 0;

	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < LEN(seen); i++) {
		if (!*seen[i].name)
			snprintf(seen[i].name, sizeof seen[i].name, "%s", name);
		if (!strcmp(seen[i].name, name)) {
			hits = seen[i].hits++;
			break;
		}
	}
	pthread_mutex_unlock(&mutex);
	return hits;
}

static void
log_request(const struct request *r, size_t hit)
{
	json_t *keys = json_array(), *o, *messages = json_object_get(r->json, "messages");
	json_t *cap = json_object_get(r->json, "max_tokens");
	size_t marks = 0;
	const char *key;
	json_t *v;
	char *line;

	json_object_foreach(r->json, key, v)
		json_array_append_new(keys, json_string(key));
	for (const char *p = r->body; (p = strstr(p, "\"cache_control\"")); p++)
		marks++;
	if (!cap)
		cap = json_object_get(r->json, "max_completion_tokens");
	o = json_pack("{s:s s:s s:I s:o s:I s:b s:I s:O}", "scenario", r->name, "api",
	    r->api == CHAT ? "chat" : "messages", "n", (json_int_t)hit, "keys", keys, "marks", (json_int_t)marks,
	    "auth", *r->key != '\0', "turns", (json_int_t)json_array_size(messages), "model",
	    json_object_get(r->json, "model"));
	if (o && cap)
		json_object_set(o, "cap", cap);
	line = o ? json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS) : strdup("{}");
	fprintf(log_file, "%s\n", line);
	fflush(log_file);
	free(line);
	json_decref(o);
}

static void
nap(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static bool
send_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/* Write LEN bytes of the body in the act's framing. */
static bool
send_piece(int fd, const struct act *a, const char *data, size_t len)
{
	char head[32];

	if (a->framing != CHUNKED)
		return send_all(fd, data, len);
	snprintf(head, sizeof head, "%zx\r\n", len);
	return !len || (send_all(fd, head, strlen(head)) && send_all(fd, data, len) && send_all(fd, "\r\n", 2));
}

static void
event(struct kbuf *b, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void
event(struct kbuf *b, const char *name, const char *fmt, ...)
{
	va_list ap;
	char *data;

	va_start(ap, fmt);
	if (vasprintf(&data, fmt, ap) < 0)
		abort();
	va_end(ap);
	if (name)
		kbuf_printf(b, "event: %s\n", name);
	kbuf_printf(b, "data: %s\n\n", data);
	free(data);
}

static long
tokens_in(const struct request *r, const struct act *a)
{
	return (long)((double)r->body_len / (a->flags & FEW_TOKENS ? 38 : 3.8)) + 1;
}

/* One line of the answer's text at a time. */
static void
add_deltas(struct kbuf *b, const struct act *a, enum api api, const char *text, const char *field)
{
	for (const char *p = text; *p;) {
		const char *end = strstr(p, "\\n");
		int n = end ? (int)(end + 2 - p) : (int)strlen(p);

		if (a->flags & COMMENTS)
			kbuf_puts(b, ": keep-alive\n\n");
		if (api == CHAT)
			event(b, NULL,
			    "{\"choices\":[{\"index\":0,\"delta\":{\"%s\":\"%.*s\"},\"finish_reason\":null}]}", field,
			    n, p);
		else
			event(b, "content_block_delta",
			    "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"%s_delta\",\"%s\":\"%."
			    "*s\"}}",
			    field, field, n, p);
		p += n;
	}
}

static void
chat_events(struct kbuf *b, const struct act *a, const struct request *r)
{
	const char *text = a->text ? a->text : KERNEL, *finish = a->finish[CHAT] ? a->finish[CHAT] : "stop";

	event(b, NULL,
	    "{\"model\":\"mock-1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},"
	    "\"finish_reason\":null}]}");
	if (a->flags & UNKNOWN)
		event(b, "telemetry", "{\"obfuscation\":\"xyz\",\"choices\":[]}");
	if (a->reasoning)
		add_deltas(b, a, CHAT, a->reasoning, strlen(a->reasoning) % 2 ? "reasoning" : "reasoning_content");
	add_deltas(b, a, CHAT, text, a->flags & REFUSES ? "refusal" : "content");
	if (a->flags & JUNK_EVENT)
		event(b, NULL, "{\"choices\":[{\"del");
	if (a->flags & ERROR_INSIDE)
		event(b, NULL, "{\"error\":{\"code\":502,\"message\":\"upstream went away\"}}");
	if (a->flags & (BROKEN_OFF | ERROR_INSIDE))
		return;
	if (!(a->flags & NO_FINISH))
		event(b, NULL, "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"%s\"}]}", finish);
	if (a->usage[CHAT])
		event(b, NULL, "{\"choices\":[],\"usage\":%s}", a->usage[CHAT]);
	else if (!(a->flags & NO_USAGE))
		event(b, NULL, "{\"choices\":[],\"usage\":{\"prompt_tokens\":%ld,\"completion_tokens\":%zu}}",
		    tokens_in(r, a), strlen(text) / 4 + 1);
	if (!(a->flags & NO_DONE))
		event(b, NULL, "[DONE]");
}

static void
message_events(struct kbuf *b, const struct act *a, const struct request *r)
{
	const char *text = a->text ? a->text : KERNEL, *finish = a->finish[MESSAGES] ? a->finish[MESSAGES] : "end_turn";
	bool counts = !(a->flags & NO_USAGE);

	event(b, "message_start",
	    "{\"type\":\"message_start\",\"message\":{\"type\":\"message\",\"model\":\"mock-1\",\"content\":[]%s%s%s}}",
	    counts ? ",\"usage\":" : "",
	    counts ? (a->usage[MESSAGES] ? a->usage[MESSAGES] : "{\"output_tokens\":1}") : "", "");
	event(b, "ping", "{\"type\":\"ping\"}");
	if (a->flags & UNKNOWN)
		event(b, "telemetry", "{\"type\":\"telemetry\",\"delta\":{\"type\":\"citation_delta\"}}");
	if (a->reasoning)
		add_deltas(b, a, MESSAGES, a->reasoning, "thinking");
	event(b, "content_block_start",
	    "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}");
	add_deltas(b, a, MESSAGES, text, "text");
	if (a->flags & TWO_BLOCKS)
		add_deltas(b, a, MESSAGES, "Second block.", "text");
	if (a->flags & JUNK_EVENT)
		event(b, NULL, "{\"type\":\"content_bl");
	if (a->flags & ERROR_INSIDE)
		event(b, "error",
		    "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}");
	if (a->flags & (BROKEN_OFF | ERROR_INSIDE))
		return;
	if (!(a->flags & NO_FINISH)) {
		struct kbuf usage = { 0 };

		kbuf_add(&usage, "", 0);
		if (counts && a->usage[MESSAGES])
			kbuf_printf(&usage, ",\"usage\":%s", a->usage[MESSAGES]);
		else if (counts)
			kbuf_printf(&usage, ",\"usage\":{\"input_tokens\":%ld,\"output_tokens\":%zu}", tokens_in(r, a),
			    strlen(text) / 4 + 1);
		event(b, "message_delta", "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"%s\"%s}%s}",
		    a->flags & REFUSES ? "refusal" : finish,
		    a->flags & REFUSES ? ",\"stop_details\":{\"category\":\"frontier_llm\",\"explanation\":\"no\"}"
				       : "",
		    usage.data);
		kbuf_free(&usage);
	}
	if (!(a->flags & NO_DONE))
		event(b, "message_stop", "{\"type\":\"message_stop\"}");
}

static void
whole_body(struct kbuf *b, const struct act *a, const struct request *r)
{
	const char *text = a->text ? a->text : KERNEL;

	if (a->flags & LEADING_LINES)
		kbuf_puts(b, "\n\n\n");
	if (r->api == CHAT)
		kbuf_printf(b,
		    "{\"id\":\"x\",\"object\":\"chat.completion\",\"model\":\"mock-1\",\"choices\":[{\"index\":0,"
		    "\"message\":{\"role\":\"assistant\","
		    "\"content\":\"%s\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":%ld,\"completion_"
		    "tokens\":9}}",
		    text, tokens_in(r, a));
	else
		kbuf_printf(b,
		    "{\"type\":\"message\",\"model\":\"mock-1\",\"content\":[{\"type\":\"thinking\",\"thinking\":"
		    "\"hm\"},{\"type\":\"text\","
		    "\"text\":\"%s\"}],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":%ld,\"output_tokens\":"
		    "9}}",
		    text, tokens_in(r, a));
}

static uint32_t
crc32(const char *data, size_t len)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned char)data[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* A gzip member of stored blocks: compressed in name. */
static void
gzip(struct kbuf *b)
{
	struct kbuf z = { 0 };
	uint32_t tail[2] = { crc32(b->data, b->len), (uint32_t)b->len };

	kbuf_add(&z, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
	for (size_t i = 0; i < b->len; i += 1000) {
		uint16_t n = (uint16_t)(b->len - i < 1000 ? b->len - i : 1000), inverse = (uint16_t)~n;

		kbuf_add(&z, i + 1000 >= b->len ? "\1" : "\0", 1);
		kbuf_add(&z, &n, 2);
		kbuf_add(&z, &inverse, 2);
		kbuf_add(&z, b->data + i, n);
	}
	kbuf_add(&z, tail, 8);
	kbuf_free(b);
	*b = z;
}

static void
use_crlf(struct kbuf *b)
{
	struct kbuf out = { 0 };

	for (size_t i = 0; i < b->len; i++)
		kbuf_add(&out, b->data[i] == '\n' ? "\r\n" : b->data + i, b->data[i] == '\n' ? 2 : 1);
	kbuf_free(b);
	*b = out;
}

static void
compose(struct kbuf *b, const struct act *a, const struct request *r)
{
	kbuf_add(b, "", 0);
	if (a->flags & KEY_BACK) {
		kbuf_printf(b, ERROR("authentication_error", "Incorrect API key provided: %s"), r->key);
		return;
	}
	if (a->body) {
		kbuf_puts(b, a->body);
		return;
	}
	if (a->flags & WHOLE) {
		whole_body(b, a, r);
		return;
	}
	if (a->flags & BOM)
		kbuf_puts(b, "\xef\xbb\xbf");
	if (a->flags & (MEGABYTE_LINE | HUGE_LINE)) {
		kbuf_puts(b, "data: ");
		for (size_t i = 0, n = a->flags & HUGE_LINE ? 5 << 20 : 1 << 20; i < n; i += 64)
			kbuf_puts(b, "                                                                ");
		kbuf_puts(b, "{}\n\n");
	}
	(r->api == CHAT ? chat_events : message_events)(b, a, r);
	if (a->flags & NO_BLANK)
		b->len -= 2;
	if (a->flags & CRLF)
		use_crlf(b);
	if (a->flags & CUT_CHARACTER)
		b->len = (size_t)((char *)memchr(b->data, 0xc3, b->len) - b->data) + 1;
	if (a->flags & GZIP)
		gzip(b);
}

static void
send_head(int fd, const struct act *a, size_t len)
{
	struct kbuf h = { 0 };
	int status = a->status ? a->status : 200;

	kbuf_printf(&h, "HTTP/1.1 %d Mock\r\nX-Request-Id: req-1\r\nSet-Cookie: secret=1\r\n", status);
	if (!a->headers || !strcasestr(a->headers, "content-type"))
		kbuf_printf(
		    &h, "Content-Type: %s\r\n", a->body || a->flags & WHOLE ? "application/json" : "text/event-stream");
	if (a->headers)
		kbuf_puts(&h, a->headers);
	if (a->flags & GZIP)
		kbuf_puts(&h, "Content-Encoding: gzip\r\n");
	if (a->flags & TRAILERS)
		kbuf_puts(&h, "Trailer: Retry-After\r\n");
	if (a->framing == CHUNKED)
		kbuf_puts(&h, "Transfer-Encoding: chunked\r\n");
	else if (a->framing != TO_THE_END)
		kbuf_printf(&h, "Content-Length: %zu\r\n",
		    a->framing == TOO_LONG	  ? len + 100
			: a->framing == TOO_SHORT ? len / 2
						  : len);
	kbuf_puts(&h, "Connection: close\r\n\r\n");
	send_all(fd, h.data, h.len);
	kbuf_free(&h);
}

/* Keep the connection until the other side gives up. */
static void
linger(int fd, const struct act *a)
{
	static const char comment[] = ": keep-alive\n\n", ping[] = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
	const char *line = a->ending == COMMENT_FOR_EVER ? comment : ping;
	char byte;

	for (;;) {
		if (a->ending == STALL ? recv(fd, &byte, 1, 0) <= 0 : !send_piece(fd, a, line, strlen(line)))
			return;
		nap(50);
	}
}

static void
send_last_chunk(int fd, const char *trailer)
{
	char text[64];

	snprintf(text, sizeof text, "0\r\n%s\r\n", trailer);
	send_all(fd, text, strlen(text));
}

static void
send_huge(int fd)
{
	char block[4096];

	memset(block, ' ', sizeof block);
	memcpy(block, "data: {}\n\n", 10);
	for (size_t i = 0; i < (33u << 20) / sizeof block; i++)
		if (!send_all(fd, block, sizeof block))
			return;
}

/* Size of the next write: as asked, or to the end of an event. */
static size_t
next_piece(const struct act *a, const char *p, size_t left)
{
	const char *end = memmem(p, left, "\n\n", 2);

	if (a->piece)
		return a->piece < left ? a->piece : left;
	return end && !(a->flags & GZIP) ? (size_t)(end + 2 - p) : left;
}

static void
perform(int fd, const struct act *a, const struct request *r)
{
	struct linger now = { 1, 0 };
	struct kbuf b = { 0 };

	if (a->flags & SLOW_HEAD) {
		send_all(fd, "HTTP/1.1 200 OK\r\nX-Slow: ", 25);
		while (send_all(fd, "x", 1))
			nap(50);
		return;
	}
	if (a->status >= 0) {
		compose(&b, a, r);
		send_head(fd, a, b.len);
		if (a->flags & HUGE_BODY)
			send_huge(fd);
		for (size_t i = 0, n; i < b.len; i += n) {
			n = next_piece(a, b.data + i, b.len - i);
			if (!send_piece(fd, a, b.data + i, n))
				break;
			nap(a->pause_ms);
		}
		kbuf_free(&b);
	}
	if (a->ending == RESET) {
		/* Let what was sent arrive first: a reset discards what is still in the queue. */
		nap(20);
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
		return;
	}
	if (a->ending != CLOSE)
		linger(fd, a);
	else if (a->framing == CHUNKED)
		send_last_chunk(fd, a->flags & TRAILERS ? "Retry-After: 99\r\n" : "");
}

/* Value of a header line, or NULL. */
static const char *
header(const char *head, const char *name)
{
	const char *p = strcasestr(head, name);

	return p && p[-1] == '\n' && p[strlen(name)] == ':' ? p + strlen(name) + 1 + strspn(p + strlen(name) + 1, " ")
							    : NULL;
}

static bool
read_request(int fd, struct request *r)
{
	struct kbuf b = { 0 };
	char chunk[65536], *end = NULL;
	const char *key;
	size_t need = 0;
	ssize_t n;

	while (!end || b.len < need) {
		n = recv(fd, chunk, sizeof chunk, 0);
		if (n <= 0)
			break;
		kbuf_add(&b, chunk, (size_t)n);
		if (!end && (end = strstr(b.data, "\r\n\r\n"))) {
			const char *length = header(b.data, "content-length");

			need = (size_t)(end + 4 - b.data) + (length ? strtoul(length, NULL, 10) : 0);
		}
		end = end ? strstr(b.data, "\r\n\r\n") : NULL;
	}
	if (!end || b.len < need || sscanf(b.data, "POST /%127[^/ ]", r->name) != 1) {
		kbuf_free(&b);
		return false;
	}
	r->api = memmem(b.data, strcspn(b.data, "\r"), "/messages", 9) ? MESSAGES : CHAT;
	*end = '\0';
	key = header(b.data, "x-api-key");
	if (!key && (key = header(b.data, "authorization")))
		key += strcspn(key, " ") + 1;
	snprintf(r->key, sizeof r->key, "%.*s", key ? (int)strcspn(key, "\r") : 0, key ? key : "");
	r->body = kstrdup(end + 4);
	r->body_len = strlen(r->body);
	r->json = json_loads(r->body, 0, NULL);
	kbuf_free(&b);
	return true;
}

static const struct act *
act_of(const struct request *r, size_t hit)
{
	static const struct act unknown = { .status = 404, .body = ERROR("not_found_error", "no such scenario") };
	size_t n = strcspn(r->name, "@");

	for (size_t i = 0; i < LEN(scenarios); i++) {
		const struct scenario *s = &scenarios[i];
		size_t last = s->count ? s->count - 1 : 0;

		if (strlen(s->name) != n || strncmp(s->name, r->name, n))
			continue;
		if (!strcmp(s->name, "faulty") && hit % 20 == 7)
			return &faults[hit / 20 % LEN(faults)];
		return &s->acts[hit < last ? hit : last];
	}
	return &unknown;
}

/* A program that no other request gets, with techniques drawn from its number. */
static char *
fresh_text(size_t hit)
{
	static const char *const lines[] = { "#pragma omp parallel for", "#pragma omp simd", "#pragma GCC unroll 8",
		"float tile[64][64];", "__m256 v = _mm256_loadu_ps(b);", "s = fmaf(a[0], b[0], s);",
		"for (int ii = 0; ii < n; ii += 64) for (int i = ii; i < n; i++)", "const float *restrict p = b;" };
	struct kbuf b = { 0 };
	uint32_t bits = crc32((const char *)&hit, sizeof hit);

	kbuf_printf(&b, "```c\\n/* %zu */\\n", hit);
	for (size_t i = 0; i < LEN(lines); i++)
		if (bits >> 2 * i & 1 && bits >> (2 * i + 1) & 1)
			kbuf_printf(&b, "%s\\n", lines[i]);
	kbuf_printf(&b, "enum { fresh = %zu };\\n" CODE "```\\n", hit);
	return b.data;
}

static void *
serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	struct request r = { 0 };
	char *text = NULL;
	struct act a;
	size_t hit;

	if (read_request(fd, &r)) {
		hit = count_hit(r.name);
		log_request(&r, hit);
		a = *act_of(&r, hit);
		if (!strncmp(r.name, "fresh", 5))
			a.text = text = fresh_text(hit);
		perform(fd, &a, &r);
		free(text);
		json_decref(r.json);
		free(r.body);
	}
	close(fd);
	return NULL;
}

static void
write_port(const char *path, int fd)
{
	struct sockaddr_in at;
	socklen_t len = sizeof at;
	char text[16];

	getsockname(fd, (struct sockaddr *)&at, &len);
	snprintf(text, sizeof text, "%d\n", ntohs(at.sin_port));
	if (kwrite_file(path, text, strlen(text)) < 0)
		kdie_errno(K_IO, "%s", path);
}

int
main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	pthread_attr_t detached;

	kutil_init("kmock");
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (size_t i = 0; i < LEN(scenarios); i++)
			printf("%s\n", scenarios[i].name);
		return K_OK;
	}
	if (argc != 3)
		kdie(K_USAGE, "usage: kmock PORTFILE LOG | kmock --list");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	log_file = fopen(argv[2], "ae");
	if (!log_file || listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) < 0 ||
	    listen(listener, 512) < 0)
		kdie_errno(K_IO, "kmock");
	write_port(argv[1], listener);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&detached, 1 << 19);
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		pthread_t thread;

		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		if (pthread_create(&thread, &detached, serve, (void *)(intptr_t)fd))
			close(fd);
	}
}
