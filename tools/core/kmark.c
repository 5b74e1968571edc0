/* SPDX-License-Identifier: Apache-2.0 */
/* kmark: see kmark.h. */
#include "kmark.h"

/*
 * Control characters, and characters that make text look different from what it is: direction marks
 * and overrides, and Unicode's own line ends.
 */
static bool
is_hidden(uint32_t c)
{
	return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) ||
	    (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff0 && c <= 0xfffb) ||
	    (c & 0xfffe) == 0xfffe;
}

/*
 * Consumes one character of *P and copies it to OUT unchanged, or as U+FFFD. Returns the character
 * if it is ASCII, else 0.
 */
static char
next(const char **p, const char *end, char out[5])
{
	uint32_t c = 0;
	size_t len = kutf8(*p, (size_t)(end - *p), &c);
	bool valid = len > 0;

	len += !valid;
	if (c == '\r' && *p + 1 < end && (*p)[1] == '\n') {
		++*p;
		c = '\n';
	}
	if (!valid || is_hidden(c)) {
		strcpy(out, "\xef\xbf\xbd");
	} else {
		memcpy(out, *p, len);
		out[len] = '\0';
	}
	*p += len;
	return out[1] ? '\0' : out[0];
}

void
kmark_clean(struct kbuf *out, const char *text, size_t len)
{
	const char *end = text + len;
	char c[5];

	kbuf_add(out, "", 0);
	while (text < end) {
		next(&text, end, c);
		kbuf_puts(out, c);
	}
}

/* Characters with a meaning in HTML. */
static const char *const entities[128] = {
	['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;", ['\''] = "&#39;"
};

void
kmark_html(struct kbuf *out, const char *text, size_t len)
{
	const char *end = text + len;
	char c[5];

	while (text < end) {
		kbuf_puts(out, entities[(int)next(&text, end, c)] ?: c);
	}
}

/*
 * An underscore inside a word has no meaning in Markdown, and names are full of them; some
 * characters have a meaning only at the start of a line.
 */
void
kmark_md(struct kbuf *out, const char *text, size_t len)
{
	const char *start = text, *end = text + len;
	char c[5], last = ' ';

	while (text < end) {
		bool first = text == start;
		char ascii = next(&text, end, c);
		bool item = first && ascii && strchr("+-", ascii) && text < end && *text == ' ';

		if (ascii == '<' || ascii == '&')
			kbuf_puts(out, entities[(int)ascii]);
		else if (ascii == '\n' || ascii == '\t')
			kbuf_puts(out, " ");
		else if (ascii == '_' && isalnum((unsigned char)last) && text < end &&
		    isalnum((unsigned char)*text))
			kbuf_puts(out, "_");
		else
			kbuf_printf(out, "%s%s",
			    item || (ascii && strchr(first ? "\\`*_[]|~$>#" : "\\`*_[]|~$", ascii))
			        ? "\\"
			        : "",
			    c);
		last = ascii;
	}
}
