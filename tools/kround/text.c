/* SPDX-License-Identifier: Apache-2.0 */
/* Words of models and compilers, made fit for our files. See kround.h. */
#include <stdlib.h>
#include <string.h>

#include "klog.h"
#include "kmark.h"
#include "kround.h"

/* Bytes of TEXT that fit into MAX without cutting a character. */
static size_t
whole_characters(const char *text, size_t max)
{
	size_t n = strnlen(text, max + 1);

	if (n <= max)
		return n;
	for (n = max; n && ((unsigned char)text[n] & 0xc0) == 0x80;)
		n--;
	return n;
}

char *
one_line(const char *text, size_t max)
{
	char *clean = klog_clean(text, strlen(text));
	struct kbuf out = { 0 };
	size_t keep;

	kbuf_puts(&out, "");
	for (const char *p = clean; *p;) {
		size_t n = strcspn(p, " \t\n");

		if (n && out.len)
			kbuf_puts(&out, " ");
		kbuf_add(&out, p, n);
		p += n + strspn(p + n, " \t\n");
	}
	free(clean);
	keep = whole_characters(out.data, max);
	if (keep < out.len) {
		out.len = keep;
		kbuf_puts(&out, "…");
	}
	return out.data;
}

void
put_md(const char *text, size_t max, struct kbuf *out)
{
	char *line = one_line(text ? text : "", max);

	if (!*line)
		kbuf_puts(out, "(none)");
	kmark_md(out, line, strlen(line));
	free(line);
}

void
put_item(size_t max, struct kbuf *out, const char *what, const char *text)
{
	kbuf_printf(out, "- %s: ", what);
	put_md(text, max, out);
	kbuf_puts(out, "\n");
}

static char *
line_at(const char *text, const char *end)
{
	const char *newline = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;

	return text < end ? kstrndup(text, (size_t)((newline ? newline : end) - text))
	                  : kstrdup("(end of file)");
}

size_t
first_difference(
    const char *a, size_t a_len, const char *b, size_t b_len, char **line_a, char **line_b)
{
	size_t line = 1, start = 0, i = 0;

	for (; i < a_len && i < b_len && a[i] == b[i]; i++)
		if (a[i] == '\n') {
			line++;
			start = i + 1;
		}
	*line_a = line_at(a + start, a + a_len);
	*line_b = line_at(b + start, b + b_len);
	return line;
}
