/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of kdiff: known differences, and random texts whose marks must lead from one to the
 * other.
 */
#include "kdiff.h"

#include <stdlib.h>

#include "tap.h"

static void
unified(const char *a, const char *b, const char *want)
{
	struct kbuf out = { 0 };

	kbuf_puts(&out, "");
	kdiff_unified(a, b, "a", "b", &out);
	CHECK_STR(out.data, want);
	kbuf_free(&out);
}

static void
test_known(void)
{
	struct kdiff d;

	unified("", "", "");
	unified("x\ny\n", "x\ny\n", "");
	unified("", "x\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n");
	unified("x\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n");
	unified("x", "x\n", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n");
	unified("1\n2\n3\n4\n5\n", "1\n2\nx\n4\n5\n",
	    "--- a\n+++ b\n@@ -1,5 +1,5 @@\n 1\n 2\n-3\n+x\n 4\n 5\n");
	/* Six lines between two changes make one hunk, seven make two. */
	unified("a\n1\n2\n3\n4\n5\n6\nb\n", "x\n1\n2\n3\n4\n5\n6\ny\n",
	    "--- a\n+++ b\n@@ -1,8 +1,8 @@\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+y\n");
	unified("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "x\n1\n2\n3\n4\n5\n6\n7\ny\n",
	    "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n "
	    "7\n-b\n+y\n");
	kdiff("a\nb\nc\n", "a\nc\nd\n", &d);
	CHECK(d.removals == 1 && d.additions == 1);
	CHECK_STR(d.script, " - +");
	free(d.script);
}

/* A random text of up to MOST lines out of few words, so that much repeats. */
static char *
random_text(struct krng *r, size_t most)
{
	struct kbuf b = { 0 };

	kbuf_puts(&b, "");
	for (size_t n = krng_below(r, most + 1); n > 0; n--)
		kbuf_printf(&b, "%zu\n", krng_below(r, 4));
	return b.data;
}

/* Do the lines that stay read the same in both texts, and does the script reach both ends? */
static bool
consistent(const char *a, const char *b, const struct kdiff *d)
{
	/* Every line is one digit and a newline. */
	for (const char *s = d->script; *s; s++) {
		if (*s == ' ' && *a != *b)
			return false;
		a += *s == '+' ? 0 : 2;
		b += *s == '-' ? 0 : 2;
	}
	return !*a && !*b;
}

/* Length of the longest common subsequence, the slow way. */
static size_t
common(const char *a, size_t n, const char *b, size_t m)
{
	size_t *row = kcalloc(m + 1, sizeof *row), result;

	for (size_t i = 0; i < n; i++) {
		size_t diagonal = 0;

		for (size_t j = 0; j < m; j++) {
			size_t above = row[j + 1];

			row[j + 1] = a[2 * i] == b[2 * j] ? diagonal + 1
			    : above > row[j]              ? above
			                                  : row[j];
			diagonal = above;
		}
	}
	result = row[m];
	free(row);
	return result;
}

static void
test_random(void)
{
	struct krng r;
	bool good = true, shortest = true;

	krng_init(&r, 1, 0, 0, "kdiff");
	for (int i = 0; i < 2000; i++) {
		char *a = random_text(&r, 30), *b = random_text(&r, 30);
		struct kdiff d;

		kdiff(a, b, &d);
		good &= consistent(a, b, &d);
		shortest &=
		    strlen(a) / 2 - d.removals == common(a, strlen(a) / 2, b, strlen(b) / 2);
		free(d.script);
		free(a);
		free(b);
	}
	CHECK(good);
	CHECK(shortest);
}

static void
test_large(void)
{
	struct kbuf a = { 0 }, b = { 0 };
	struct kdiff d;

	for (int i = 0; i < 5000; i++) {
		kbuf_printf(&a, "a%d\n", i);
		kbuf_printf(&b, "b%d\n", i);
	}
	kdiff(a.data, b.data, &d);
	CHECK(d.removals == 5000 && d.additions == 5000);
	free(d.script);
	kbuf_free(&a);
	kbuf_free(&b);
}

int
main(void)
{
	test_known();
	test_random();
	test_large();
	return tap_done();
}
