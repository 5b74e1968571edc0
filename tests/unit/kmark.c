/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of kmark: no bytes get through as markup, none that are not text get through at all.
 */
#include "kmark.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

typedef void escape(struct kbuf *out, const char *text, size_t len);

static bool
gives(escape *f, const char *text, size_t len, const char *want)
{
	struct kbuf b = { 0 };
	bool same;

	kbuf_add(&b, "", 0);
	f(&b, text, len);
	same = !strcmp(b.data, want);
	if (!same)
		fprintf(stderr, "# got %s, not %s\n", b.data, want);
	kbuf_free(&b);
	return same;
}

#define GIVES(f, text, want) CHECK(gives(f, text, sizeof(text) - 1, want))
#define BAD "\xef\xbf\xbd"

static void
test_html(void)
{
	GIVES(kmark_html, "<a b='c' d=\"e\">&amp;",
	    "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;amp;");
	GIVES(kmark_html, "]]></script><!--", "]]&gt;&lt;/script&gt;&lt;!--");
	GIVES(kmark_html, "\tµs × 2\n", "\tµs × 2\n");
	GIVES(kmark_html, "a\r\nb\rc", "a\nb\nc");
	GIVES(kmark_html, "\0\1\x1b[31m\x7f", BAD BAD BAD BAD);
}

static void
test_bytes(void)
{
	GIVES(kmark_clean, "\xff\xfe", BAD BAD);
	GIVES(kmark_clean, "\xc3", BAD);
	GIVES(kmark_clean, "\xc3(", BAD "(");
	GIVES(kmark_clean, "\xe2\x82", BAD BAD);
	GIVES(kmark_clean, "\xc0\xaf\xe0\x80\xaf", BAD BAD BAD BAD BAD);
	GIVES(kmark_clean, "\xed\xa0\x80", BAD BAD BAD);
	GIVES(kmark_clean, "\xf4\x90\x80\x80", BAD BAD BAD BAD);
	GIVES(kmark_clean, "\xf0\x9f\x94\xa5\xe2\x82\xac", "\xf0\x9f\x94\xa5\xe2\x82\xac");
	GIVES(kmark_clean,
	    "a\xe2\x80\xae"
	    "b\xe2\x81\xa6\xef\xbb\xbf\xc2\x85",
	    "a" BAD "b" BAD BAD "\n");
}

static void
test_md(void)
{
	GIVES(kmark_md, "compile_error _x_ *y* `z`", "compile_error \\_x\\_ \\*y\\* \\`z\\`");
	GIVES(kmark_md, "<b>|[a](b)", "&lt;b>\\|\\[a\\](b)");
	GIVES(kmark_md, "# a\n# b", "\\# a # b");
	GIVES(kmark_md, "- a - b", "\\- a - b");
	GIVES(kmark_md, "+1.5 %", "+1.5 %");
	GIVES(kmark_md, "&lt; \\n", "&amp;lt; \\\\n");
}

int
main(void)
{
	test_html();
	test_bytes();
	test_md();
	return tap_done();
}
