/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of kneedle: the strings found, and that no match of any table's pattern is ever filtered away. */
#include "kneedle.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#include "kio.h"
#include "kutil.h"
#include "tap.h"

/* The strings of a pattern; NULL: none. */
static void
gives(const char *pattern, const char *want)
{
	char *got = kneedle_strings(pattern);

	CHECK_STR(got ? got : "(none)", want ? want : "(none)");
	free(got);
}

static void
test_strings(void)
{
	gives("\\b__SyncThreads\\s*\\(", "__syncthreads");
	gives("\\bcp\\.async\\b", "cp.async");
	gives("(?:abc|defg)\\w*x", "abc|defg");
	gives("(abc|de)longer(?:x|y)", "longer");
	gives("abc|def", "abc|def");
	gives("abc|de", NULL);
	gives("abc|", NULL);
	gives("abcd?ef", "abc");
	gives("abc*defg", "defg");
	gives("ab(?:cde)?f", NULL);
	gives("ab(?:cde)+f", "cde");
	gives("ab(?:cde){2,3}?f", "cde");
	gives("abc{0,2}def", "def");
	gives("abc{2}def", "abc");
	gives("abc{x}", "abc{x}");
	gives("abc++d", "abc");
	gives("[abc]def[^]x]ghij", "ghij");
	gives("a[\\]]bcd", "bcd");
	gives("(?-i:ABC)", "abc");
	gives("(\\w+)abc\\1", "abc");
	gives("^abc$", "abc");
	gives("a.bcd", "bcd");
	gives("((abc))", "abc");
}

/* What is beyond the reader, or wrong, gives nothing rather than too much. */
static void
test_lost(void)
{
	static const char *const beyond[] = {
		"abc(?=def)", "(?i)abc", "abc(?!d)", "(*UCP)abc", "\\Qabc\\E", "abc\\x41", "[[:alpha:]]abc", "abc[x",
		"abc)", "(abc", "abc\\", "(?x: a b c)", "", "ab",
	};
	struct kbuf deep = { 0 };

	for (size_t i = 0; i < LEN(beyond); i++)
		gives(beyond[i], NULL);
	for (int i = 0; i < 100; i++)
		kbuf_puts(&deep, "(");
	kbuf_puts(&deep, "abc");
	for (int i = 0; i < 100; i++)
		kbuf_puts(&deep, ")");
	gives(deep.data, NULL);
	deep.len = 0;
	for (int i = 0; i < 40; i++)
		kbuf_printf(&deep, "%sabc%d", i ? "|" : "", i);
	gives(deep.data, NULL);
	kbuf_free(&deep);
	gives("abcdefghijklmnopqrstuvwxyzabcdefghijklmnop", "abcdefghijklmnopqrstuvwxyzabcdef");
}

static bool
may(const char *pattern, const char *text)
{
	struct kneedle_text t;
	uint16_t *needles = kneedle_new(pattern);
	bool answer;

	kneedle_text(&t, text, strlen(text));
	answer = kneedle_may_match(needles, &t);
	free(needles);
	return answer;
}

static void
test_filter(void)
{
	CHECK(may("\\bcp\\.async", "x CP.ASYNC y"));
	CHECK(!may("\\bcp\\.async", "cp async"));
	CHECK(may("abc|xyz", "..xyz"));
	CHECK(!may("abc|xyz", "ab xy"));
	CHECK(may("[abc]", ""));
	CHECK(!may("abc", ""));
}

struct sweep {
	pcre2_match_data *match;
	char *corpus;
	size_t searched, passed_over, wrong;
};

/* Every paragraph of the corpus against one pattern: what is passed over must not match. */
static void
sweep_pattern(struct sweep *s, const char *pattern)
{
	int code;
	PCRE2_SIZE offset;
	pcre2_code *re = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_CASELESS | PCRE2_MULTILINE,
	    &code, &offset, NULL);
	uint16_t *needles = kneedle_new(pattern);

	for (char *text = s->corpus, *end; text; text = end) {
		struct kneedle_text t;
		size_t len;

		end = strstr(text + 1, "\n=== ");
		len = end ? (size_t)(end - text) : strlen(text);
		kneedle_text(&t, text, len);
		s->searched++;
		if (kneedle_may_match(needles, &t))
			continue;
		s->passed_over++;
		s->wrong += pcre2_match(re, (PCRE2_SPTR)text, len, 0, 0, s->match, NULL) >= 0;
	}
	free(needles);
	pcre2_code_free(re);
}

static void
sweep_table(struct sweep *s, const char *name)
{
	char *path = kdata_path(name);
	json_t *table = kjson_load(path), *dim, *level, *category, *pattern;
	const char *key, *number;
	size_t i, k;

	json_object_foreach(json_object_get(table, "dims"), key, dim)
		json_object_foreach(dim, number, level)
			json_array_foreach(level, i, category)
				json_array_foreach(json_object_get(category, "patterns"), k, pattern)
					sweep_pattern(s, json_string_value(pattern));
	json_decref(table);
	free(path);
}

static void
test_tables(void)
{
	static const char *const tables[] = { "starter", "base", "c", "cuda", "hip", "opencl", "sycl", "triton" };
	char *path = kdata_path("tests/golden/kclassify/levels.cases");
	struct sweep s = { .match = pcre2_match_data_create(1, NULL) };

	s.corpus = kread_file_or_die(path, 1 << 20, NULL);
	for (size_t i = 0; i < LEN(tables); i++) {
		char *name = kasprintf("patterns/%s.json", tables[i]);

		sweep_table(&s, name);
		free(name);
	}
	CHECK(s.searched > 10000);
	CHECK(s.passed_over > s.searched * 8 / 10);
	CHECK(s.wrong == 0);
	pcre2_match_data_free(s.match);
	free(s.corpus);
	free(path);
}

int
main(void)
{
	test_strings();
	test_lost();
	test_filter();
	test_tables();
	return tap_done();
}
