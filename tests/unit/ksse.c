/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of ksse and kanswer: the rules of event streams, both APIs, and that no split of the
 * bytes changes the answer.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#include "../../tools/kllm/kanswer.c"
#include "../../tools/kllm/ksse.c"
#include "../../tools/kllm/kusage.c"

/* What the handler saw, as "name=data|". */
static struct kbuf seen;

static void
see(const char *name, const char *data, size_t len, void *arg)
{
	(void)arg;
	kbuf_printf(&seen, "%s=", name);
	kbuf_add(&seen, data, len);
	kbuf_puts(&seen, "|");
}

/* The events of BODY, fed in pieces of SIZE bytes (0: at once). */
static const char *
events(const char *body, size_t size)
{
	struct ksse s = { 0 };
	size_t len = strlen(body);

	seen.len = 0;
	kbuf_add(&seen, "", 0);
	for (size_t i = 0, n; i < len; i += n) {
		n = size && size < len - i ? size : len - i;
		ksse_feed(&s, body + i, n, see, NULL);
	}
	ksse_end(&s, see, NULL);
	return seen.data;
}

static void
test_lines(void)
{
	static const struct {
		const char *body, *want;
	} rows[] = {
		{ "data: a\n\n", "=a|" },
		{ "data:a\n\n", "=a|" },
		{ "data:  a\n\n", "= a|" },
		{ "data\n\n", "=|" },
		{ "data: a\r\n\r\n", "=a|" },
		{ "data: a\r\r", "=a|" },
		{ "data: a\ndata: b\n\n", "=a\nb|" },
		{ "event: x\ndata: a\n\ndata: b\n\n", "x=a|=b|" },
		{ "event: x\n\ndata: b\n\n", "=b|" },
		{ ": comment\n\n:\n\n", "" },
		{ "id: 7\nretry: 10\nfoo: bar\n\n", "" },
		{ "data: a", "=a|" },
		{ "data: a\n", "=a|" },
		{ "\xef\xbb\xbf"
		  "data: a\n\n",
		    "=a|" },
		{ "\n\n\ndata: a\n\n", "=a|" },
		{ "dat: a\ndatax: b\n\n", "" },
		{ "data: a\n\n\xef\xbb\xbf"
		  "data: b\n\n",
		    "=a|" },
		{ "data: {\"x\":1}\n\ndata: [DONE]\n\n", "={\"x\":1}|=[DONE]|" },
		{ "", "" },
		{ "event: e\r\ndata: 1\r\ndata: 2\r\n\r\n", "e=1\n2|" },
	};

	for (size_t i = 0; i < LEN(rows); i++)
		for (size_t size = 0; size < 4; size++)
			CHECK_STR(events(rows[i].body, size), rows[i].want);
}

static void
test_long_line(void)
{
	struct kbuf b = { 0 };
	struct ksse s = { 0 };

	kbuf_puts(&b, "data: ");
	while (b.len <= KSSE_LINE_MAX)
		kbuf_puts(&b, "0123456789abcdef0123456789abcdef");
	CHECK(!ksse_feed(&s, b.data, b.len, see, NULL));
	CHECK(!ksse_feed(&s, "\n\ndata: a\n\n", 11, see, NULL));
	seen.len = 0;
	ksse_end(&s, see, NULL);
	CHECK(s.bad && seen.len == 0);
	kbuf_free(&b);
}

static const char chat[] =
    "\xef\xbb\xbf: OPENROUTER PROCESSING\r\n\r\n"
    "data: "
    "{\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"reasoning_"
    "content\":\"hm "
    "\\ud83d\\ude00\"}}]}\r\n\r\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"caf\xc3\xa9 "
    "\"},\"finish_reason\":null}]}\r\n\r\n"
    "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"another choice\"}}]}\r\n\r\n"
    "data: "
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"a\\u0000b\"},"
    "{\"type\":\"x\","
    "\"text\":\"no\"}]}}]}\r\n\r\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" \\ud800 \\\\ud800\"}}]}\r\n\r\n"
    "data: {broken\r\n\r\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\r\n\r\n"
    "data: "
    "{\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":7,\"prompt_tokens_"
    "details\":{\"cached_"
    "tokens\":4},"
    "\"completion_tokens_details\":{\"reasoning_tokens\":3}}}\r\n\r\n"
    "data: [DONE]\r\n\r\n";

static const char messages[] =
    "event: message_start\ndata: "
    "{\"type\":\"message_start\",\"message\":{\"model\":\"c-1\",\"content\":[],\"usage\":{\"input_"
    "tokens\":5,"
    "\"cache_read_input_tokens\":20,\"cache_creation_input_tokens\":3,\"output_tokens\":1}}}\n\n"
    "event: ping\ndata: {\"type\":\"ping\"}\n\n"
    "event: content_block_delta\ndata: "
    "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}"
    "\n\n"
    "event: content_block_delta\ndata: "
    "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"signature_delta\",\"signature\":"
    "\"xx\"}}\n\n"
    "event: content_block_start\ndata: "
    "{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"A\"}}\n\n"
    "event: content_block_delta\ndata: "
    "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"B\"}}\n\n"
    "event: new_thing\ndata: {\"type\":\"new_thing\",\"usage\":{\"input_tokens\":999}}\n\n"
    "event: message_delta\ndata: "
    "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\",\"stop_details\":{"
    "\"category\":\"cyber\"}},"
    "\"usage\":{\"output_tokens\":9,\"output_tokens_details\":{\"thinking_tokens\":4}}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}";

static void
decode(struct kanswer *a, const char *body, size_t len, struct krng *rng, size_t longest)
{
	*a = (struct kanswer){ 0 };
	for (size_t i = 0, n; i < len; i += n) {
		n = rng ? 1 + krng_below(rng, longest) : len;
		n = n < len - i ? n : len - i;
		kanswer_feed(a, body + i, n);
	}
	kanswer_end(a);
}

static void
test_chat(void)
{
	struct kanswer a;

	decode(&a, chat, strlen(chat), NULL, 0);
	CHECK(
	    a.text.len == 20 && !memcmp(a.text.data, "caf\xc3\xa9 a\0b \xef\xbf\xbd \\ud800", 20));
	CHECK_STR(a.reasoning.data, "hm \xf0\x9f\x98\x80");
	CHECK_STR(a.model, "m-1");
	CHECK_STR(kanswer_finish(&a), "length");
	CHECK(a.done && a.malformed == 1 && kanswer_complete(&a) && a.kind == KANSWER_STREAM);
	CHECK(a.usage.known && a.usage.input == 10 && a.usage.output == 7 &&
	    a.usage.cache_read == 4 && a.usage.reasoning == 3);
	kanswer_free(&a);
}

static void
test_messages(void)
{
	struct kanswer a;

	decode(&a, messages, strlen(messages), NULL, 0);
	CHECK_STR(a.text.data, "AB");
	CHECK_STR(a.reasoning.data, "hm");
	CHECK_STR(kanswer_finish(&a), "refusal");
	CHECK_STR(a.detail, "cyber");
	CHECK(a.done && kanswer_complete(&a) && !a.malformed);
	CHECK(a.usage.input == 28 && a.usage.output == 9 && a.usage.cache_read == 20 &&
	    a.usage.cache_write == 3 && a.usage.reasoning == 4);
	kanswer_free(&a);
}

/* 10,000 random splits of each stream give what the whole gives. */
static void
test_splits(void)
{
	static const char *const bodies[] = { chat, messages };
	struct krng rng;
	size_t differing = 0;

	krng_init(&rng, 1, 0, 0, "splits");
	for (size_t b = 0; b < LEN(bodies); b++) {
		struct kanswer whole, split;

		decode(&whole, bodies[b], strlen(bodies[b]), NULL, 0);
		for (int i = 0; i < 10000; i++) {
			decode(&split, bodies[b], strlen(bodies[b]), &rng,
			    (size_t[]){ 1, 3, 40, 400 }[i % 4]);
			differing += split.text.len != whole.text.len ||
			    memcmp(split.text.data, whole.text.data, whole.text.len) ||
			    strcmp(split.reasoning.data, whole.reasoning.data) ||
			    strcmp(split.finish, whole.finish) ||
			    memcmp(&split.usage, &whole.usage, sizeof whole.usage) ||
			    split.progress != whole.progress;
			kanswer_free(&split);
		}
		kanswer_free(&whole);
	}
	CHECK(differing == 0);
}

static void
test_whole_bodies(void)
{
	static const struct {
		const char *body, *text, *finish;
		bool complete;
		int status; /* of the error inside */
	} rows[] = {
		{ "\n\n "
		  "{\"choices\":[{\"message\":{\"content\":\"hi\",\"reasoning\":\"r\"},\"finish_"
		  "reason\":\"stop\"}]}",
		    "hi", "stop", true, 0 },
		{ "{\"choices\":[{\"message\":{\"content\":null,\"refusal\":\"no\"},\"finish_"
		  "reason\":\"stop\"}]}",
		    "", "refusal", true, 0 },
		{ "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":"
		  "\"tool_use\"},{"
		  "\"type\":\"text\",\"text\":\"b\"}],"
		  "\"stop_reason\":\"max_tokens\"}",
		    "ab", "length", true, 0 },
		{ "{\"error\":{\"message\":\"m\",\"type\":\"t\",\"code\":\"insufficient_quota\"}}",
		    "", "stop", false, 402 },
		{ "{\"error\":{\"message\":\"m\",\"code\":429}}", "", "stop", false, 429 },
		{ "{\"object\":\"error\",\"message\":\"m\",\"type\":\"server_error\"}", "", "stop",
		    false, 500 },
		{ "{\"detail\":\"Not Found\"}", "", "stop", false, 0 },
		{ "data: "
		  "{\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"error\"}]}\n\n",
		    "x", "stop", false, 500 },
		{ "<html>", "", "stop", false, 0 },
		{ "", "", "stop", false, 0 },
		{ "{\"cho", "", "stop", false, 0 },
		{ "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n", "x", "stop", false,
		    0 },
		{ "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n", "x",
		    "stop", true, 0 },
		{ "data: 1\n\ndata: [DONE]\n\n", "", "stop", false, 0 },
		{ "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n"
		  "data: {\"choices\":[{\"delta\":{\"content\":\"y\"}}],\"error\":\"late\"}\n\n",
		    "x", "stop", true, 0 },
		{ "{\"choices\":[{\"message\":{\"content\":\"x\"}}],\"error\":{}}", "x", "stop",
		    true, 0 },
		{ "{\"choices\":[{\"message\":{\"content\":\"x\"}}],\"error\":\"\"}", "x", "stop",
		    true, 0 },
		{ "{\"choices\":[{\"message\":{\"content\":\"x\"}}],\"error\":false}", "x", "stop",
		    true, 0 },
		{ "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n", "",
		    "other", true, 0 },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct kanswer a;

		decode(&a, rows[i].body, strlen(rows[i].body), NULL, 0);
		CHECK_STR(a.text.data ? a.text.data : "", rows[i].text);
		CHECK_STR(kanswer_finish(&a), rows[i].finish);
		CHECK(kanswer_complete(&a) == rows[i].complete);
		CHECK(a.error.status == rows[i].status);
		kanswer_free(&a);
	}
}

/* What is no count counts nothing, so that no cost comes out below zero. */
static void
test_absurd_usage(void)
{
	static const char *const counts[] = { "-1", "1e12", "100000000000000", "\"7\"", "null",
		"[7]" };

	for (size_t i = 0; i < LEN(counts); i++) {
		char *body = kasprintf("{\"usage\":{\"prompt_tokens\":%s,\"completion_tokens\":%s}"
		                       "}",
		    counts[i], counts[i]);
		struct kanswer a;

		decode(&a, body, strlen(body), NULL, 0);
		CHECK(a.usage.known && a.usage.input == 0 && a.usage.output == 0);
		kanswer_free(&a);
		free(body);
	}
}

static void
test_error_bodies(void)
{
	static const struct {
		const char *body, *message;
		int status;
	} rows[] = {
		{ "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":"
		  "\"O\\nver\"}}",
		    "O ver", 529 },
		{ "{\"error\":\"model not found\",\"error_type\":\"x\"}", "model not found", 0 },
		{ "{\"detail\":[{\"msg\":\"field required\"}]}", "[{\"msg\":\"field required\"}]",
		    0 },
		{ "[{\"error\":{\"code\":429,\"message\":\"quota\",\"status\":\"RESOURCE_"
		  "EXHAUSTED\"}}]",
		    "quota", 429 },
		{ "{\"message\":\"plain\"}", "plain", 0 },
		{ "no JSON\nat all", "no JSON at all", 0 },
		{ "", "", 0 },
		{ "{\"error\":null,\"message\":\"x\"}", "x", 0 },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct kanswer_error e;

		kanswer_error_body(&e, rows[i].body, strlen(rows[i].body));
		CHECK(e.present && e.status == rows[i].status);
		CHECK_STR(e.message, rows[i].message);
	}
}

int
main(void)
{
	test_lines();
	test_long_line();
	test_chat();
	test_messages();
	test_splits();
	test_whole_bodies();
	test_absurd_usage();
	test_error_bodies();
	kbuf_free(&seen);
	return tap_done();
}
