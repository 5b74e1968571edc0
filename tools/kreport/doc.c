/* SPDX-License-Identifier: Apache-2.0 */
/* The document: see doc.h. */
#include "doc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kmark.h"
#include "ktemplate.h"

enum { LONGEST_LINE = 400 }; /* of code, in bytes */

enum { CELL_END = '\3' };

/* LAST is the last parameter that has a name. */
#define FORMAT_AS(text, fmt, last) \
	do { \
		va_list args; \
		va_start(args, last); \
		(text) = kvasprintf(fmt, args); \
		va_end(args); \
	} while (0)
#define FORMAT(text, fmt) FORMAT_AS(text, fmt, fmt)

void
doc_plain(json_t *json)
{
	const char *key, *text = json_string_value(json);
	json_t *v;
	size_t i;

	json_object_foreach(json, key, v) doc_plain(v);
	json_array_foreach(json, i, v) doc_plain(v);
	if (text && strpbrk(text, "\1\2\3")) {
		char *copy = kstrdup(text);

		for (char *p = copy; (p = strpbrk(p, "\1\2\3")); p++)
			*p = '\4';
		json_string_set(json, copy);
		free(copy);
	}
}

/* As it is, for the page and for Markdown. */
static void
both(struct doc *d, const char *html, const char *md)
{
	kbuf_puts(&d->html, html);
	kbuf_puts(&d->md, md);
}

/* Foreign text, of LEN bytes. */
static void
put_text(struct doc *d, const char *text, size_t len)
{
	kmark_html(&d->html, text, len);
	kmark_md(&d->md, text, len);
}

/*
 * A code span: between more backticks in a row than stand inside; a space keeps those at its ends
 * apart.
 */
static void
code_span_md(struct kbuf *out, const char *text, size_t len, bool in_table)
{
	size_t run = 0, longest = 0;
	struct kbuf clean = { 0 };

	kmark_clean(&clean, text, len);
	for (size_t i = 0; i < clean.len; i++) {
		run = clean.data[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	for (size_t i = 0; i <= longest; i++)
		kbuf_puts(out, "`");
	kbuf_puts(out, longest || !clean.len ? " " : "");
	for (const char *p = clean.data; *p; p++) {
		kbuf_puts(out, in_table && *p == '|' ? "\\" : "");
		kbuf_add(out, *p == '\n' || *p == '\t' ? " " : p, 1);
	}
	kbuf_puts(out, longest ? " " : "");
	for (size_t i = 0; i <= longest; i++)
		kbuf_puts(out, "`");
	kbuf_free(&clean);
}

/* Text with its marks, for both. */
static void
put_inline(struct doc *d, const char *text, bool in_table)
{
	bool code = false, strong = false;

	while (*text) {
		size_t n = strcspn(text, "\1\2");

		if (code) {
			kbuf_puts(&d->html, "<code>");
			kmark_html(&d->html, text, n);
			kbuf_puts(&d->html, "</code>");
			code_span_md(&d->md, text, n, in_table);
		} else {
			put_text(d, text, n);
		}
		text += n;
		if (*text == '\1')
			code = !code;
		if (*text == '\2') {
			strong = !strong;
			both(d, strong ? "<strong>" : "</strong>", "**");
		}
		text += *text != '\0';
	}
	if (strong)
		both(d, "</strong>", "**");
}

/* Ends a list, tiles, figures or bars when something else follows. */
static void
open_block(struct doc *d, enum doc_open what)
{
	static const struct {
		const char *begin, *end, *md;
	} blocks[] = {
		[DOC_NOTHING] = { "", "", "" },
		[DOC_LIST] = { "<ul>\n", "</ul>\n", "\n" },
		[DOC_TILES] = { "<div class=\"tiles\">\n", "</div>\n", "\n" },
		[DOC_FIGURES] = { "<div class=\"figures\">\n", "</div>\n", "" },
		[DOC_BARS] = { "<div class=\"bars\">\n", "</ol></div></div>\n", "\n" },
	};

	if (d->open == what)
		return;
	both(d, blocks[d->open].end, blocks[d->open].md);
	kbuf_puts(&d->html, blocks[what].begin);
	d->open = what;
}

void
doc_begin(struct doc *d, const char *title)
{
	*d = (struct doc){ .title = kstrdup(title) };
	both(d, "<h1>", "# ");
	put_text(d, title, strlen(title));
	both(d, "</h1>\n", "\n\n");
}

void
doc_section(struct doc *d, const char *id, const char *title)
{
	open_block(d, DOC_NOTHING);
	kbuf_printf(&d->html, "%s<section id=\"%s\">\n<h2>%s</h2>\n",
	    d->section ? "</section>\n" : "", id, title);
	kbuf_printf(&d->contents, "<li><a href=\"#%s\">%s</a></li>\n", id, title);
	kbuf_printf(&d->md, "## %s\n\n", title);
	d->section = true;
}

void
doc_block(struct doc *d, enum doc_kind kind, const char *fmt, ...)
{
	static const struct {
		const char *begin, *end, *md, *md_end;
		enum doc_open in;
	} kinds[] = {
		[DOC_HEADING] = { "<h3>", "</h3>\n", "### ", "\n\n", DOC_NOTHING },
		[DOC_TEXT] = { "<p>", "</p>\n", "", "\n\n", DOC_NOTHING },
		[DOC_LEAD] = { "<p class=\"lead\">", "</p>\n", "", "\n\n", DOC_NOTHING },
		[DOC_NOTE] = { "<p class=\"note\">", "</p>\n", "> ", "\n\n", DOC_NOTHING },
		[DOC_ITEM] = { "<li>", "</li>\n", "- ", "\n", DOC_LIST },
	};
	char *text;

	FORMAT(text, fmt);
	open_block(d, kinds[kind].in);
	both(d, kinds[kind].begin, kinds[kind].md);
	put_inline(d, text, false);
	both(d, kinds[kind].end, kinds[kind].md_end);
	free(text);
}

void
doc_items(struct doc *d, const json_t *rows, const char *template)
{
	const struct ktemplate t = { 0 };
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		struct kbuf text = { 0 };
		char why[256];
		bool right =
		    ktemplate_render(&t, &text, template, "a record", row, why, sizeof why);

		doc_item(d, "%s", right ? text.data : why);
		kbuf_free(&text);
	}
}

void
doc_tile(struct doc *d, const char *figure, const char *what, const char *fmt, ...)
{
	char *text;

	FORMAT(text, fmt);
	open_block(d, DOC_TILES);
	both(d, "<p><strong>", "- **");
	put_text(d, figure, strlen(figure));
	both(d, "</strong> ", "** ");
	put_text(d, what, strlen(what));
	both(d, " <small>", *text ? ": " : "");
	put_inline(d, text, false);
	both(d, "</small></p>\n", "\n");
	free(text);
}

void
doc_bars(struct doc *d, double longest, const char *fmt, ...)
{
	char *text;

	FORMAT(text, fmt);
	if (d->open == DOC_BARS)
		both(d, "</ol></div>\n", "\n");
	open_block(d, DOC_BARS);
	d->longest = longest;
	both(d, "<div><h3>", "**");
	put_inline(d, text, false);
	both(d, "</h3><ol>\n", "**\n\n");
	free(text);
}

/* Percent of the scale. */
static double
on_scale(const struct doc *d, double value)
{
	return 100 * (value < d->longest ? value / d->longest : 1);
}

void
doc_bar(struct doc *d, const struct doc_bar *bar, const char *fmt, ...)
{
	double low = on_scale(d, bar->low), high = on_scale(d, bar->high);
	double end = on_scale(d, bar->value);
	char *text;

	FORMAT(text, fmt);
	kbuf_printf(&d->html, "<li class=\"%s\">", bar->class);
	both(d, "<span>", "- ");
	put_text(d, bar->name, strlen(bar->name));
	both(d, "</span> <span>", ": ");
	put_inline(d, text, false);
	kbuf_printf(&d->html, "</span><div><b style=\"width:%.2f%%\"></b>", end);
	if (low < high)
		kbuf_printf(
		    &d->html, "<i style=\"left:%.2f%%;width:%.2f%%\"></i>", low, high - low);
	kbuf_puts(&d->md, " ");
	for (int i = 0; i < end / 4; i++)
		kbuf_puts(&d->md, "█");
	both(d, "</div></li>\n", "\n");
	free(text);
}

/* What the sign before a column's name says. */
static const struct kind {
	char sign;
	const char *class, *rule;
} kinds[] = {
	{ '>', "n", "---:|" },
	{ '^', "n many", "---:|" },
	{ '~', "prose", "---|" },
	{ '\0', "", "---|" },
};

static const struct kind *
kind_of(char sign)
{
	const struct kind *k = kinds;

	while (k->sign && k->sign != sign)
		k++;
	return k;
}

static void
put_column(struct doc *d, const char *spec, size_t len, struct kbuf *rule)
{
	const struct kind *kind = kind_of(*spec);
	const char *name = spec + (kind->sign != '\0');

	if (d->columns == LEN(d->columns_of))
		abort();
	len -= kind->sign != '\0';
	d->columns_of[d->columns++] = (struct doc_column){ kind->class, name, len };
	kbuf_printf(&d->html, "<th scope=\"col\" class=\"%s\">", kind->class);
	kbuf_puts(&d->md, " ");
	put_text(d, name, len);
	both(d, "</th>", " |");
	kbuf_puts(rule, kind->rule);
}

void
doc_table(struct doc *d, const char *caption, const char *spec)
{
	struct kbuf rule = { 0 };

	open_block(d, DOC_NOTHING);
	d->columns = d->column = 0;
	kbuf_puts(&d->html, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"");
	kmark_html(&d->html, caption, strlen(caption));
	both(d, "\"><table>\n<caption>", "**");
	put_text(d, caption, strlen(caption));
	both(d, "</caption>\n<thead><tr>", "**\n\n|");
	while (*spec) {
		size_t n = strcspn(spec, "|");

		put_column(d, spec, n, &rule);
		spec += n + (spec[n] == '|');
	}
	kbuf_puts(&d->html, "</tr></thead>\n<tbody>\n");
	kbuf_printf(&d->md, "\n|%s\n", rule.data);
	kbuf_free(&rule);
}

static void
put_cell(struct doc *d, const char *text)
{
	const struct doc_column *column = &d->columns_of[d->column];

	if (!d->column) {
		both(d, "<tr><th scope=\"row\">", "|");
	} else {
		/* On a narrow screen a row is a card, in which each cell says what it is. */
		kbuf_printf(&d->html, "<td class=\"%s\" data-is=\"", column->class);
		kmark_html(&d->html, column->name, column->len);
		kbuf_puts(&d->html, "\">");
	}
	kbuf_puts(&d->md, " ");
	put_inline(d, text, true);
	both(d, d->column ? "</td>" : "</th>", " |");
	if (++d->column == d->columns) {
		both(d, "</tr>\n", "\n");
		d->column = 0;
	}
}

void
doc_cells(struct doc *d, const char *fmt, ...)
{
	char *marked = kstrdup(fmt), *text, *end;

	for (char *p = marked; (p = strchr(p, '|')); p++)
		*p = CELL_END;
	FORMAT_AS(text, marked, fmt);
	for (char *cell = text; cell; cell = end ? end + 1 : NULL) {
		end = strchr(cell, CELL_END);
		if (end)
			*end = '\0';
		put_cell(d, cell);
	}
	free(marked);
	free(text);
}

void
doc_table_end(struct doc *d)
{
	while (d->column)
		put_cell(d, "");
	both(d, "</tbody></table></div>\n", "\n");
}

void
doc_box(struct doc *d, const char *class)
{
	open_block(d, DOC_NOTHING);
	kbuf_printf(&d->html, "<div class=\"%s\">\n", class);
}

void
doc_box_end(struct doc *d)
{
	open_block(d, DOC_NOTHING);
	kbuf_puts(&d->html, "</div>\n");
}

void
doc_details(struct doc *d, const char *fmt, ...)
{
	char *text;

	FORMAT(text, fmt);
	open_block(d, DOC_NOTHING);
	both(d, "<details><summary>", "<details><summary>");
	/* Inside a tag Markdown is not read, so both get HTML. */
	kmark_html(&d->html, text, strlen(text));
	kmark_html(&d->md, text, strlen(text));
	both(d, "</summary>\n", "</summary>\n\n");
	free(text);
}

void
doc_details_end(struct doc *d)
{
	open_block(d, DOC_NOTHING);
	both(d, "</details>\n", "</details>\n\n");
}

/* The line that begins at TEXT, without its newline, cut; and the start of the next. */
static const char *
next_line(const char *text, const char *end, size_t *len, size_t *cut)
{
	const char *newline = memchr(text, '\n', (size_t)(end - text));
	size_t all = (size_t)((newline ? newline : end) - text);

	if (all && text[all - 1] == '\r')
		all--;
	*len = all < LONGEST_LINE ? all : LONGEST_LINE;
	while (*len < all && *len && ((unsigned char)text[*len] & 0xc0) == 0x80)
		--*len;
	*cut = all - *len;
	return newline ? newline + 1 : end;
}

static const char *
line_class(char first)
{
	return first == '+' ? "add" : first == '-' ? "del" : first == '@' ? "at" : NULL;
}

static size_t
longest_fence(const char *text, size_t len)
{
	size_t run = 0, longest = 2;

	for (size_t i = 0; i < len; i++) {
		run = text[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest + 1;
}

void
doc_code(struct doc *d, const char *text, size_t len, const char *language)
{
	const char *end = text + len;
	bool diff = !strcmp(language, "diff");
	size_t fence = longest_fence(text, len), n, cut;

	open_block(d, DOC_NOTHING);
	kbuf_puts(&d->html, "<pre tabindex=\"0\"><code>");
	for (size_t i = 0; i < fence; i++)
		kbuf_puts(&d->md, "`");
	kbuf_printf(&d->md, "%s\n", language);
	for (const char *line = text, *following; line < end; line = following) {
		const char *class = diff ? line_class(*line) : NULL;

		following = next_line(line, end, &n, &cut);
		if (class)
			kbuf_printf(&d->html, "<span class=\"%s\">", class);
		kmark_html(&d->html, line, n);
		kmark_clean(&d->md, line, n);
		if (cut) {
			kbuf_printf(&d->html, "<i> … %zu bytes more</i>", cut);
			kbuf_printf(&d->md, " … %zu bytes more", cut);
		}
		both(d, class ? "</span>\n" : "\n", "\n");
	}
	kbuf_puts(&d->html, "</code></pre>\n");
	for (size_t i = 0; i < fence; i++)
		kbuf_puts(&d->md, "`");
	kbuf_puts(&d->md, "\n\n");
}

void
doc_figure(struct doc *d, struct kbuf *svg, const char *fmt, ...)
{
	char *text;

	FORMAT(text, fmt);
	open_block(d, DOC_FIGURES);
	kbuf_printf(&d->html, "<figure>\n%s", svg->data);
	both(d, "<figcaption>", "*Figure:* ");
	put_inline(d, text, false);
	both(d, "</figcaption></figure>\n", "\n\n");
	kbuf_free(svg);
	free(text);
}

/*
 * The page asks for nothing and runs nothing, and says so: should a text ever get through as
 * markup, the browser would still load and run none of it.
 */
static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" "
    "href=\"data:,\">\n<title>";

void
doc_end(struct doc *d, const char *style)
{
	struct kbuf page = { 0 };

	open_block(d, DOC_NOTHING);
	kbuf_puts(&page, head);
	kmark_html(&page, d->title, strlen(d->title));
	kbuf_printf(&page,
	    "</title>\n<style>\n%s</style>\n</head>\n<body>\n"
	    "<nav "
	    "aria-label=\"Sections\"><ul>\n%s</ul></nav>\n<main>\n%s%s</main>\n</body>\n</html>\n",
	    style, d->contents.data, d->html.data, d->section ? "</section>\n" : "");
	kbuf_free(&d->html);
	d->html = page;
	while (
	    d->md.len > 1 && d->md.data[d->md.len - 1] == '\n' && d->md.data[d->md.len - 2] == '\n')
		d->md.data[--d->md.len] = '\0';
}

void
doc_free(struct doc *d)
{
	kbuf_free(&d->html);
	kbuf_free(&d->md);
	kbuf_free(&d->contents);
	free(d->title);
}
