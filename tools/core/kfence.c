/* SPDX-License-Identifier: Apache-2.0 */
/* kfence: see kfence.h. */
#include "kfence.h"

#include <ctype.h>

enum { ESC = 0x1b, BEL = 0x07, ST8 = 0x9c, CSI8 = 0x9b, NEL = 0x85 };

/* Characters that change what is read without being seen: dropped. Sorted by code point. */
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

bool
kfence_is_seen(uint32_t c)
{
	for (size_t i = 0; i < LEN(invisible) && c >= invisible[i].first; i++)
		if (c <= invisible[i].last)
			return false;
	return c != KFENCE_ESCAPE;
}

/* The character at S; an invalid byte counts as one U+FFFD. Returns the bytes used; LEFT > 0. */
static size_t
decode(const unsigned char *s, size_t left, uint32_t *c)
{
	size_t n = kutf8((const char *)s, left, c);

	if (!n)
		*c = KFENCE_INVALID;
	return n ? n : 1;
}

/*
 * Bytes of parameters, intermediates and the final byte of a control sequence; what is no such byte
 * is left alone.
 */
static size_t
csi_len(const unsigned char *s, size_t left)
{
	size_t n = 0;

	while (n < left && s[n] >= 0x20 && s[n] <= 0x3f)
		n++;
	return n + (n < left && s[n] >= 0x40 && s[n] <= 0x7e);
}

/*
 * Bytes of a control string (window title, hyperlink …) with its terminator BEL, ESC \ or ST. One
 * that does not end on its line is not swallowed: a forged start must not hide the rest of a log.
 */
static size_t
string_len(const unsigned char *s, size_t left)
{
	for (size_t n = 0; n < left && s[n] != '\n'; n++) {
		if (s[n] == BEL)
			return n + 1;
		if (n + 1 < left &&
		    ((s[n] == ESC && s[n + 1] == '\\') || (s[n] == 0xc2 && s[n + 1] == ST8)))
			return n + 2;
	}
	return 0;
}

/* Bytes of the escape sequence behind an ESC. */
static size_t
escape_len(const unsigned char *s, size_t left)
{
	size_t n = 0;

	if (!left)
		return 0;
	if (s[0] == '[')
		return 1 + csi_len(s + 1, left - 1);
	if (strchr("]PX^_", s[0]) && s[0])
		return 1 + string_len(s + 1, left - 1);
	while (n < left && s[n] >= 0x20 && s[n] <= 0x2f)
		n++;
	return n + (n < left && s[n] >= 0x30 && s[n] <= 0x7e);
}

size_t
kfence_next(const char *text, size_t left, uint32_t *c)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = decode(s, left, c);

	if (*c != ESC && *c != CSI8)
		return n;
	n += *c == ESC ? escape_len(s + n, left - n) : csi_len(s + n, left - n);
	*c = KFENCE_ESCAPE;
	return n;
}

char *
kfence_clean(const char *s, size_t len)
{
	struct kbuf b = { 0 };
	uint32_t c;

	kbuf_add(&b, "", 0);
	for (size_t i = 0, n; i < len; i += n) {
		n = kfence_next(s + i, len - i, &c);
		if (c == '\r' && i + 1 < len && s[i + 1] == '\n')
			continue;
		else if (c == '\r' || c == NEL || c == 0x2028 || c == 0x2029)
			kbuf_puts(&b, "\n");
		else if (c == KFENCE_INVALID)
			kbuf_puts(&b, "\xef\xbf\xbd");
		else if (kfence_is_seen(c))
			kbuf_add(&b, s + i, n);
	}
	return b.data;
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
		if (!isspace((unsigned char)*p))
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

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
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

static size_t
longest_run(const char *s, char c)
{
	size_t longest = 0;

	for (size_t run = 0; *s; s++) {
		run = *s == c ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	return longest;
}

/* Append text and see that it ends its line. */
static void
add_lines(struct kbuf *out, const char *s)
{
	kbuf_puts(out, s);
	if (*s && s[strlen(s) - 1] != '\n')
		kbuf_puts(out, "\n");
}

static void
add_repeated(struct kbuf *out, char c, size_t n)
{
	while (n--)
		kbuf_add(out, &c, 1);
}

void
kfence_code(struct kbuf *out, const char *s, const char *label)
{
	char *clean = kfence_clean(s, strlen(s));
	size_t ticks = longest_run(clean, '`') + 1;

	if (ticks < 3)
		ticks = 3;
	add_repeated(out, '`', ticks);
	for (; *label; label++)
		if (isalnum((unsigned char)*label) || strchr("+-_./#:", *label))
			kbuf_add(out, label, 1);
	kbuf_puts(out, "\n");
	add_lines(out, clean);
	add_repeated(out, '`', ticks);
	kbuf_puts(out, "\n");
	free(clean);
}

void
kfence_data(struct kbuf *out, const char *s, const char *what, const char *salt)
{
	char *clean = kfence_clean(s, strlen(s)), hex[65];

	for (unsigned draw = 0;; draw++) {
		char *key = kasprintf("%s/%u/%s", salt, draw, clean);

		ksha256_hex(key, strlen(key), hex);
		free(key);
		hex[16] = '\0';
		if (!strstr(clean, hex))
			break;
	}
	kbuf_printf(out, "----- begin %s %s -----\n", what, hex);
	add_lines(out, clean);
	kbuf_printf(out, "----- end %s %s -----\n", what, hex);
	free(clean);
}
