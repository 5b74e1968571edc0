/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of kregex: matches, definitions, groups, replacements, and texts that defeat an
 * expression.
 */
#include "kregex.h"

#include <stdlib.h>

#include "kutil.h"
#include "tap.h"

static enum kregex_found
found(const char *pattern, int flags, const char *text)
{
	struct kregex *re = kregex_new("here", NULL, pattern, flags);
	enum kregex_found f = kregex_search(re, text, strlen(text), 0, NULL);

	kregex_free(re);
	return f;
}

static void
test_flags(void)
{
	CHECK(found("b+", 0, "abbc") == KREGEX_FOUND && found("B", 0, "abc") == KREGEX_NONE);
	CHECK(found("B", KREGEX_NOCASE, "abc") == KREGEX_FOUND);
	CHECK(found("^b$", 0, "a\nb\nc") == KREGEX_NONE &&
	    found("^b$", KREGEX_LINES, "a\nb\nc") == KREGEX_FOUND);
	CHECK(found("a.c", 0, "a\nc") == KREGEX_NONE &&
	    found("a.c", KREGEX_DOTALL, "a\nc") == KREGEX_FOUND);
	CHECK(found("b$", KREGEX_LINES, "b\r\n") == KREGEX_NONE);
	CHECK_EXIT(K_USAGE, kregex_new("here", NULL, "(a", 0));
	CHECK_EXIT(K_USAGE, kregex_new("here", "(?(DEFINE)(?<x>a))", "(?&y)", 0));
}

/*
 * An expression gives up on a text, as interpreted and as machine code, and is as good as before
 * afterwards.
 */
static void
test_lost(void)
{
	struct kregex *re = kregex_new("here", NULL, "^(?:a+)+$", 0);
	char *text = kmalloc(8 << 10);
	bool same = true;

	memset(text, 'a', 8 << 10);
	text[60] = '!';
	for (int i = 0; i < 3; i++) {
		same &= kregex_search(re, text, 61, 0, NULL) == KREGEX_LOST;
		same &= kregex_search(re, text, 60, 0, NULL) == KREGEX_FOUND;
		same &= kregex_search(re, text, 8 << 10, 62, NULL) == KREGEX_NONE;
	}
	CHECK(same);
	kregex_free(re);
	free(text);
}

static void
test_places(void)
{
	static const char text[] = "x = old[3] + new[4];";
	struct kregex *re = kregex_new("here", "(?J)(?(DEFINE)(?<name>\\b(?:old|new)\\b))",
	    "(?&name)\\[(?:(?<key>4)|(?<key>\\d))\\]", 0);
	struct kregex_span at = { 0 };

	CHECK(kregex_search(re, text, strlen(text), 0, &at) == KREGEX_FOUND && at.from == 4 &&
	    at.to == 10);
	CHECK(kregex_group(re, "key", &at) && at.from == 8 && at.to == 9);
	CHECK(kregex_search(re, text, strlen(text), 5, &at) == KREGEX_FOUND && at.from == 13);
	CHECK(kregex_group(re, "key", &at) && text[at.from] == '4');
	CHECK(!kregex_group(re, "none", &at));
	CHECK(kregex_search(re, text, strlen(text), 14, NULL) == KREGEX_NONE);
	kregex_free(re);
}

static void
test_replace(void)
{
	struct kregex *re = kregex_new("here", NULL, "(\\w)-", 0);
	char *text = kmalloc(20001), *out;

	CHECK_STR(out = kregex_replace(re, "a-b-c", "<$1$1>"), "<aa><bb>c");
	free(out);
	CHECK(!kregex_replace(re, "abc", "x"));
	for (int i = 0; i < 20000; i++)
		text[i] = i % 2 ? '-' : 'a';
	text[20000] = '\0';
	out = kregex_replace(re, text, "12345678");
	CHECK(out && strlen(out) == 80000);
	free(out);
	free(text);
	kregex_free(re);
}

/* Patterns that follow one another in the same place are different ones. */
static void
test_kept(void)
{
	char pattern[] = "\\Aone\\z";

	CHECK(kregex_is(pattern, "one") && !kregex_is(pattern, "two"));
	memcpy(pattern + 2, "two", 3);
	CHECK(kregex_is(pattern, "two") && !kregex_is(pattern, "one"));
}

int
main(void)
{
	test_flags();
	test_lost();
	test_places();
	test_replace();
	test_kept();
	return tap_done();
}
