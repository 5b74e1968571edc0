/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of kanswer: the rules of event streams, both APIs, and that no split of the
 * bytes changes the answer.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#include "../../tools/kllm/kanswer.c"
#include "../../tools/kllm/kusage.c"

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

/* Events with these data, without other members. */
#define A "{\"text\":\"a\"}"
#define B "{\"text\":\"b\"}"
#define BOM "\xef\xbb\xbf"

static void
test_lines(void)
{
	static const struct {
		const char *body, *text;
		size_t malformed;
	} rows[] = {
		{ "data: " A "\n\n", "a", 0 },
		{ "data:" A "\n\n", "a", 0 },
		{ "data:  " A "\n\n", "a", 0 },
		{ "data\n\n", "", 0 },
		{ "data:\n\n", "", 0 },
		{ "data: " A "\r\n\r\n", "a", 0 },
		{ "data: " A "\r\r", "a", 0 },
		{ "data: {\"text\":\ndata: \"a\"}\n\n", "a", 0 },
		{ "data: " A "\ndata: " B "\n\n", "", 1 },
		{ "event: x\ndata: " A "\n\ndata: " B "\n\n", "ab", 0 },
		{ "event: x\n\ndata: " B "\n\n", "b", 0 },
		{ ": comment\n\n:\n\n", "", 0 },
		{ "id: 7\nretry: 10\nfoo: bar\n\n", "", 0 },
		{ "data: " A, "a", 0 },
		{ "data: " A "\n", "a", 0 },
		{ BOM "data: " A "\n\n", "a", 0 },
		{ BOM A, "a", 0 },
		{ "\n\n\ndata: " A "\n\n", "a", 0 },
		{ "data: " B "\n\ndat: " A "\ndatax: " A "\n\n", "b", 0 },
		{ "data: " A "\n\n" BOM "data: " B "\n\n", "a", 0 },
		{ "data: " A "\n\ndata: [DONE]\n\ndata: " B "\n\n", "a", 0 },
		{ "", "", 0 },
		{ "event: e\r\ndata: {\"text\":\r\ndata: \"a\"}\r\n\r\n", "a", 0 },
	};
	struct krng rng;

	krng_init(&rng, 1, 0, 0, "lines");
	for (size_t i = 0; i < LEN(rows); i++)
		for (size_t size = 0; size < 4; size++) {
			struct kanswer a;

			decode(&a, rows[i].body, strlen(rows[i].body), size ? &rng : NULL, size);
			CHECK_STR(a.text.data ?: "", rows[i].text);
			CHECK(a.malformed == rows[i].malformed);
			kanswer_free(&a);
		}
}

static void
test_long_line(void)
{
	struct kbuf b = { 0 };
	struct kanswer a = { 0 };

	kbuf_puts(&b, "data: ");
	while (b.len <= KANSWER_LINE_MAX)
		kbuf_puts(&b, "0123456789abcdef0123456789abcdef");
	CHECK(!kanswer_feed(&a, b.data, b.len));
	CHECK(!kanswer_feed(&a, "\n\ndata: " A "\n\n", strlen("\n\ndata: " A "\n\n")));
	kanswer_end(&a);
	CHECK(a.bad && !a.text.len && !kanswer_complete(&a));
	kanswer_free(&a);
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
		{ "{\"object\":\"error\",\"message\":\"m\",\"type\":\"overloaded_error\"}", "",
		    "stop", false, 529 },
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
	return tap_done();
}
