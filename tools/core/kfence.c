/* SPDX-License-Identifier: Apache-2.0 */
/* kfence: see kfence.h. */
#include "kfence.h"

#include "kregex.h"

enum { ESC = 0x1b, CSI8 = 0x9b, NEL = 0x85 };
#define BAD "\xef\xbf\xbd" /* U+FFFD */

/* Invisible characters that change how text is read; they are dropped. Sorted by code point. */
static const struct {
	uint32_t first, last;
} invisible[] = {
	{ 0x0000, 0x0008 }, { 0x000b, 0x000c }, { 0x000e, 0x001f }, { 0x007f, 0x009f },
	{ 0x00ad, 0x00ad },   /* soft hyphen */
	{ 0x034f, 0x034f },   /* combining grapheme joiner */
	{ 0x061c, 0x061c },   /* Arabic letter mark */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x17b4, 0x17b5 },   /* Khmer inherent vowels */
	{ 0x180b, 0x180f },   /* Mongolian variation selectors and vowel separator */
	{ 0x200b, 0x200f },   /* zero-width space to right-to-left mark */
	{ 0x202a, 0x202e },   /* bidirectional embeddings and overrides */
	{ 0x2060, 0x206f },   /* word joiner, isolates, deprecated format characters */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xfe00, 0xfe0f },   /* variation selectors */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* half-width Hangul filler */
	{ 0xfff0, 0xfffb },   /* specials without a glyph */
	{ 0x1bca0, 0x1bca3 }, /* shorthand format controls */
	{ 0x1d173, 0x1d17a }, /* musical format controls */
	{ 0xe0000, 0xe0fff }, /* tags and variation selectors supplement */
};

/* Is the character visible, and without effect on anything else? */
static bool
is_seen(uint32_t c)
{
	for (size_t i = 0; i < LEN(invisible) && c >= invisible[i].first; i++)
		if (c <= invisible[i].last)
			return false;
	return c != KFENCE_ESCAPE;
}

size_t
kfence_next(const char *text, size_t left, uint32_t *c)
{
	/*
	 * In this order: a control sequence; a control string (window title, hyperlink …) with its
	 * terminator BEL, ESC \ or ST, which is swallowed only if it ends on the same line, so that
	 * a forged start cannot hide the rest of a log; any other sequence.
	 */
	static const char escape[] = "\\A(?:(?:\x1b\\[|\xc2\x9b)[ -?]*[@-~]?|"
	                             "\x1b[]PX^_](?:[^\n]*?(?:\a|\x1b\\\\|\xc2\x9c))?|\x1b[ "
	                             "-/]*[0-~]?)";
	size_t n = kutf8(text, left, c);
	struct kregex_span at;

	if (!n)
		*c = KFENCE_INVALID;
	if ((*c == ESC || *c == CSI8) && kregex_find(escape, text, left, &at, 1)) {
		*c = KFENCE_ESCAPE;
		n = at.to;
	}
	return n ?: 1;
}

/* Where the last line begins. */
static size_t
line_start(const struct kbuf *b)
{
	const char *newline = memrchr(b->data, '\n', b->len);

	return newline ? (size_t)(newline + 1 - b->data) : 0;
}

/*
 * HIDDEN replaces each character that a reader would not see. RESTARTS: a carriage return begins
 * its line again, as on a terminal.
 */
static char *
clean(const char *s, size_t len, const char *hidden, bool restarts)
{
	struct kbuf b = kbuf_empty();
	uint32_t c;

	for (size_t i = 0, n; i < len; i += n) {
		n = kfence_next(s + i, len - i, &c);
		if (c == '\r' && i + 1 < len && (s[i + 1] == '\n' || s[i + 1] == '\r'))
			continue;
		else if (c == '\r' && restarts)
			b.len = i + 1 < len ? line_start(&b) : b.len;
		else if (c == '\r' || c == NEL || c == 0x2028 || c == 0x2029)
			kbuf_puts(&b, "\n");
		else if (c == KFENCE_INVALID)
			kbuf_puts(&b, BAD);
		else if (is_seen(c))
			kbuf_add(&b, s + i, n);
		else
			kbuf_puts(&b, hidden);
		b.data[b.len] = '\0';
	}
	return b.data;
}

char *
kfence_clean(const char *s, size_t len)
{
	return clean(s, len, "", false);
}

char *
kfence_marked(const char *s, size_t len)
{
	return clean(s, len, BAD, false);
}

char *
kfence_log(const char *s, size_t len)
{
	return clean(s, len, "", true);
}

size_t
kfence_chars(const char *s, size_t n)
{
	size_t i = 0;

	for (; s[i]; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80 && n-- == 0)
			break;
	return i;
}

char *
kfence_line(const char *s, size_t max)
{
	char *clean = kfence_clean(s, strlen(s)), *out = clean;

	for (const char *p = clean; *p; p++) {
		if (!kis_space(*p))
			*out++ = *p;
		else if (out > clean && out[-1] != ' ')
			*out++ = ' ';
	}
	if (out > clean && out[-1] == ' ')
		out--;
	*out = '\0';
	clean[kfence_chars(clean, max)] = '\0';
	return clean;
}

static size_t
count_chars(const char *s, size_t len)
{
	size_t n = 0;

	kforeach_of(c, s, len)
		n += ((unsigned char)*c & 0xc0) != 0x80;
	return n;
}

char *
kfence_shorten(const char *s, size_t max)
{
	size_t len = strlen(s), total = count_chars(s, len), head, tail;
	struct kbuf b = { 0 };

	if (total <= max)
		return kstrdup(s);
	head = kfence_chars(s, max - max / 3);
	tail = kfence_chars(s, total - max / 3);
	/* Move both cuts to line ends when one is near. */
	for (size_t i = head; i > head / 2; i--)
		if (s[i - 1] == '\n') {
			head = i;
			break;
		}
	for (size_t i = tail; i < tail + (len - tail) / 2; i++)
		if (s[i] == '\n') {
			tail = i + 1;
			break;
		}
	kbuf_add(&b, s, head);
	if (head && s[head - 1] != '\n')
		kbuf_puts(&b, "\n");
	kbuf_printf(&b, "[... %zu characters cut ...]\n", count_chars(s + head, tail - head));
	kbuf_puts(&b, s + tail);
	return b.data;
}

/* Append text and make sure that it ends with a newline. */
static void
add_lines(struct kbuf *out, const char *s)
{
	kbuf_printf(out, "%s%s", s, *s && s[strlen(s) - 1] != '\n' ? "\n" : "");
}

void
kfence_code(struct kbuf *out, const char *s, const char *label)
{
	auto_free char *clean = kfence_clean(s, strlen(s)), *fence = NULL;
	size_t ticks = 3, run = 0;

	for (const char *p = clean; *p; p++) {
		run = *p == '`' ? run + 1 : 0;
		if (run >= ticks)
			ticks = run + 1;
	}
	fence = memset(kcalloc(ticks + 1, 1), '`', ticks);
	kbuf_puts(out, fence);
	for (; *label; label++)
		if (isalnum((unsigned char)*label) || strchr("+-_./#:", *label))
			kbuf_add(out, label, 1);
	kbuf_puts(out, "\n");
	add_lines(out, clean);
	kbuf_printf(out, "%s\n", fence);
}

void
kfence_data(struct kbuf *out, const char *s, const char *what, const char *salt)
{
	auto_free char *clean = kfence_clean(s, strlen(s));
	const char *hex;
	unsigned draw = 0;

	do
		hex = kshown("%.16s", ksha256_of(kshown("%s/%u/%s", salt, draw++, clean)));
	while (strstr(clean, hex));
	kbuf_printf(out, "----- begin %s %s -----\n", what, hex);
	add_lines(out, clean);
	kbuf_printf(out, "----- end %s %s -----\n", what, hex);
}
