/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of kreport's escaping: no bytes get through as markup, none that are not text get through at all. */
#include "../../tools/kreport/text.c"

#include <stdlib.h>

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
	GIVES(doc_escape_html, "<a b='c' d=\"e\">&amp;", "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;amp;");
	GIVES(doc_escape_html, "]]></script><!--", "]]&gt;&lt;/script&gt;&lt;!--");
	GIVES(doc_escape_html, "\tµs × 2\n", "\tµs × 2\n");
	GIVES(doc_escape_html, "a\r\nb\rc", "a\nb" BAD "c");
	GIVES(doc_escape_html, "\0\1\x1b[31m\x7f", BAD BAD BAD "[31m" BAD);
}

static void
test_bytes(void)
{
	GIVES(doc_clean, "\xff\xfe", BAD BAD);
	GIVES(doc_clean, "\xc3", BAD);
	GIVES(doc_clean, "\xc3(", BAD "(");
	GIVES(doc_clean, "\xe2\x82", BAD BAD);
	GIVES(doc_clean, "\xc0\xaf\xe0\x80\xaf", BAD BAD BAD BAD BAD);
	GIVES(doc_clean, "\xed\xa0\x80", BAD BAD BAD);
	GIVES(doc_clean, "\xf4\x90\x80\x80", BAD BAD BAD BAD);
	GIVES(doc_clean, "\xf0\x9f\x94\xa5\xe2\x82\xac", "\xf0\x9f\x94\xa5\xe2\x82\xac");
	GIVES(doc_clean, "a\xe2\x80\xae" "b\xe2\x81\xa6\xef\xbb\xbf\xc2\x85", "a" BAD "b" BAD BAD BAD);
}

static void
test_md(void)
{
	GIVES(doc_escape_md, "compile_error _x_ *y* `z`", "compile_error \\_x\\_ \\*y\\* \\`z\\`");
	GIVES(doc_escape_md, "<b>|[a](b)", "&lt;b>\\|\\[a\\](b)");
	GIVES(doc_escape_md, "# a\n# b", "\\# a # b");
	GIVES(doc_escape_md, "- a - b", "\\- a - b");
	GIVES(doc_escape_md, "+1.5 %", "+1.5 %");
	GIVES(doc_escape_md, "&lt; \\n", "&amp;lt; \\\\n");
}

int
main(void)
{
	test_html();
	test_bytes();
	test_md();
	return tap_done();
}
