/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: lines of report.page, filled in, as HTML and as Markdown. Everything that was filled in
 * is data: it contains no markup characters, and is escaped for each format (kmark). See kreport.h.
 */

#include "kmark.h"
#include "kreport.h"

enum { LONGEST_LINE = 400, CELLS = 32 }; /* bytes of a line of code; cells of a row */

/*
 * Characters with a meaning in a line; in values they are replaced by bytes from \1 on, in this
 * order, which otherwise do not occur.
 */
static const char signs[] = "\n|`*\\";

char
page_hide(char c)
{
	const char *sign = c ? strchr(signs, c) : NULL;

	return sign ? (char)(1 + sign - signs) : c > 0 && c <= (char)strlen(signs) ? '\6' : c;
}

/* The block that is open; it ends when something else follows. */
enum inside { NOTHING, LIST, TILES, PICTURES, BARS };

static struct writer {
	struct kbuf contents; /* links to the sections */
	enum inside inside;
	bool section;
	char *column[CELLS]; /* of the current table: the sign of its kind and its name */
	size_t columns;
	double longest; /* longest bar of the current group */
	const json_t *figures;
} writer; /* of the page */

struct page page;

/* Adds unescaped text to the page and to Markdown. */
static void
both(const char *html, const char *md)
{
	kbuf_puts(&page.html, html);
	kbuf_puts(&page.md, md);
}

void
page_show(char *text, size_t len)
{
	kforeach_of(one, text, len)
		if (*one > 0 && *one <= (char)strlen(signs))
			*one = signs[*one - 1];
}

/* The caller frees. */
static char *
unhidden(const char *text, size_t len)
{
	char *plain = kmemdup(text, len);

	page_show(plain, len);
	return plain;
}

static void
put_text(const char *text, size_t len)
{
	auto_free char *plain = unhidden(text, len);

	kmark_html(&page.html, plain, len);
	kmark_md(&page.md, plain, len);
}

/* Backticks in a row in a text. */
static size_t
longest_run(const char *text, size_t len)
{
	size_t run = 0, longest = 0;

	kforeach_of(one, text, len) {
		run = *one == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static void
put_backticks(struct kbuf *md, size_t count)
{
	while (count--)
		kbuf_puts(md, "`");
}

/*
 * A code span: enclosed in more backticks in a row than it contains; a space separates those at its
 * ends.
 */
static void
put_code_span(const char *text, size_t len, bool in_table)
{
	auto_free char *plain = unhidden(text, len);
	auto_buf struct kbuf clean = { 0 };
	struct kbuf *md = &page.md;
	size_t longest;

	kbuf_puts(&page.html, "<code>");
	kmark_html(&page.html, plain, len);
	kbuf_puts(&page.html, "</code>");
	kmark_clean(&clean, plain, len);
	longest = longest_run(clean.data, clean.len);
	put_backticks(md, longest + 1);
	kbuf_puts(md, longest || !clean.len ? " " : "");
	kforeach_of(one, clean.data, clean.len) {
		char c = *one;

		kbuf_puts(md, in_table && c == '|' ? "\\" : "");
		kbuf_add(md, c == '\n' || c == '\t' ? " " : &c, 1);
	}
	kbuf_puts(md, longest ? " " : "");
	put_backticks(md, longest + 1);
}

/* Text with `code` and **strong**. */
static void
put_inline(const char *text, bool in_table)
{
	bool strong = false;

	while (*text) {
		size_t n = strcspn(text, "`*\\");
		const char *end = text[n] == '`' ? strchr(text + n + 1, '`') : NULL;

		put_text(text, n);
		text += n;
		if (end) {
			put_code_span(text + 1, (size_t)(end - text - 1), in_table);
			text = end + 1;
		} else if (kbegins(text, "**")) {
			strong = !strong;
			both(strong ? "<strong>" : "</strong>", "**");
			text += 2;
		} else if (kbegins(text, "\\n")) {
			put_text("\n", 1);
			text += 2;
		} else if (*text) {
			put_text(text++, 1);
		}
	}
}

static void
enter(enum inside what)
{
	static const struct {
		const char *begin, *end, *md;
	} around[] = {
		[NOTHING] = { "", "", "" },
		[LIST] = { "<ul>\n", "</ul>\n", "\n" },
		[TILES] = { "<div class=\"tiles\">\n", "</div>\n", "\n" },
		[PICTURES] = { "<div class=\"figures\">\n", "</div>\n", "" },
		[BARS] = { "<div class=\"bars\">\n", "</ol></div></div>\n", "\n" },
	};

	if (writer.inside == what)
		return;
	both(around[writer.inside].end, around[writer.inside].md);
	kbuf_puts(&page.html, around[what].begin);
	writer.inside = what;
}

/* Splits TEXT at '|' into parts without surrounding blanks; the rest of the cells are empty. */
static void
split(char *text, char *cell[CELLS + 1])
{
	size_t n = 0;

	for (char *end; text && n < CELLS; text = end ? end + 1 : NULL) {
		end = strchr(text, '|');
		if (end)
			*end = '\0';
		text += strspn(text, " ");
		for (size_t len = strlen(text); len && text[len - 1] == ' ';)
			text[--len] = '\0';
		cell[n++] = text;
	}
	for (; n <= CELLS; n++)
		cell[n] = (char *)"";
}

static void
put_section(char **cell)
{
	kbuf_printf(&page.html, "%s<section id=\"%s\">\n<h2>%s</h2>\n",
	    writer.section ? "</section>\n" : "", cell[0], cell[1]);
	kbuf_printf(&writer.contents, "<li><a href=\"#%s\">%s</a></li>\n", cell[0], cell[1]);
	kbuf_printf(&page.md, "## %s\n\n", cell[1]);
	writer.section = true;
}

static void
put_tile(char **cell)
{
	both("<p><strong>", "- **");
	put_inline(cell[0], false);
	both("</strong> ", "** ");
	put_inline(cell[1], false);
	both(" <small>", *cell[2] ? ": " : "");
	put_inline(cell[2], false);
	both("</small></p>\n", "\n");
}

/* A group of bars, all on the scale of the longest. */
static void
put_bars(char **cell)
{
	if (writer.inside == BARS)
		both("</ol></div>\n", "\n");
	enter(BARS);
	writer.longest = atof(cell[0]);
	both("<div><h3>", "**");
	put_inline(cell[1], false);
	both("</h3><ol>\n", "**\n\n");
}

/* Percent of the scale. */
static double
on_scale(const char *number)
{
	double value = atof(number);

	return 100 * (value < writer.longest ? value / writer.longest : 1);
}

static void
put_bar(char **cell)
{
	double low, high, end;

	end = on_scale(cell[2]);
	low = on_scale(cell[3]);
	high = on_scale(cell[4]);
	kbuf_printf(&page.html, "<li class=\"%s\">", cell[0]);
	both("<span>", "- ");
	put_inline(cell[1], false);
	both("</span> <span>", ": ");
	put_inline(cell[5], false);
	kbuf_printf(&page.html, "</span><div><b style=\"width:%.2f%%\"></b>", end);
	if (low < high)
		kbuf_printf(
		    &page.html, "<i style=\"left:%.2f%%;width:%.2f%%\"></i>", low, high - low);
	kbuf_puts(&page.md, " ");
	for (int i = 0; i < end / 4; i++)
		kbuf_puts(&page.md, "█");
	both("</div></li>\n", "\n");
}

/* What the sign before a column's name means. */
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
put_table(char **cell)
{
	auto_buf struct kbuf rule = { 0 };

	kbuf_printf(&page.html,
	    "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"%s\"><table>\n",
	    cell[0]);
	both("<caption>", "**");
	put_inline(cell[0], false);
	both("</caption>\n<thead><tr>", "**\n\n|");
	for (writer.columns = 0; *cell[writer.columns + 1]; writer.columns++) {
		size_t i = writer.columns;
		const struct kind *kind = kind_of(*cell[i + 1]);

		writer.column[i] = cell[i + 1];
		kbuf_printf(&page.html, "<th scope=\"col\" class=\"%s\">", kind->class);
		kbuf_puts(&page.md, " ");
		put_inline(cell[i + 1] + !!kind->sign, true);
		both("</th>", " |");
		kbuf_puts(&rule, kind->rule);
	}
	kbuf_puts(&page.html, "</tr></thead>\n<tbody>\n");
	kbuf_printf(&page.md, "\n|%s\n", rule.data);
}

static void
put_row(char **cell)
{
	both("<tr>", "|");
	for (size_t i = 0; i < writer.columns; i++) {
		const struct kind *kind = kind_of(*writer.column[i]);
		const char *name = writer.column[i] + !!kind->sign;
		auto_free char *plain = unhidden(name, strlen(name));

		/* On a narrow screen a row becomes a card, in which each cell has a label. */
		kbuf_printf(&page.html, "<%s class=\"%s\" data-is=\"",
		    i ? "td" : "th scope=\"row\"", i ? kind->class : "");
		kmark_html(&page.html, plain, strlen(name));
		kbuf_puts(&page.html, "\">");
		kbuf_puts(&page.md, " ");
		put_inline(cell[i], true);
		both(i ? "</td>" : "</th>", " |");
	}
	both("</tr>\n", "\n");
}

static void
put_box(char **cell)
{
	kbuf_printf(&page.html, "<div class=\"%s\">\n", *cell);
}

static void
put_details(char **cell)
{
	auto_free char *plain = unhidden(*cell, strlen(*cell));

	both("<details><summary>", "<details><summary>");
	/* Markdown is not interpreted inside a tag, so both get HTML. */
	kmark_html(&page.html, plain, strlen(plain));
	kmark_html(&page.md, plain, strlen(plain));
	both("</summary>\n", "</summary>\n\n");
}

static void
put_figure(char **cell)
{
	kbuf_printf(&page.html, "<figure>\n%s", kjson_str(writer.figures, cell[0]));
	both("<figcaption>", "*Figure:* ");
	put_inline(cell[1], false);
	both("</figcaption></figure>\n", "\n\n");
}

/* The line that begins at TEXT, without its newline, truncated; and the start of the next. */
static const char *
next_line(const char *text, const char *end, size_t *len, size_t *cut)
{
	const char *newline = memchr(text, '\n', (size_t)(end - text));
	size_t all = (size_t)((newline ?: end) - text);

	if (all && text[all - 1] == '\r')
		all--;
	*len = kutf8_prefix(text, all, LONGEST_LINE);
	*cut = all - *len;
	return newline ? newline + 1 : end;
}

static const char *
line_class(char first)
{
	return first == '+' ? "add" : first == '-' ? "del" : first == '@' ? "at" : NULL;
}

/* Text in a fixed-width font, with long lines truncated; the lines of a diff have colours. */
static void
put_code(const char *language, const char *text, const char *end)
{
	bool diff = !strcmp(language, "diff");
	size_t longest = longest_run(text, (size_t)(end - text)), n, cut,
	       fence = longest < 2 ? 3 : longest + 1;
	struct kbuf *html = &page.html, *md = &page.md;

	kbuf_puts(html, "<pre tabindex=\"0\"><code>");
	put_backticks(md, fence);
	kbuf_printf(md, "%s\n", language);
	for (const char *line = text, *following; line < end; line = following) {
		const char *class = diff ? line_class(*line) : NULL;

		following = next_line(line, end, &n, &cut);
		if (class)
			kbuf_printf(html, "<span class=\"%s\">", class);
		kmark_html(html, line, n);
		kmark_clean(md, line, n);
		if (cut) {
			kbuf_printf(html, "<i> … %zu bytes more</i>", cut);
			kbuf_printf(md, " … %zu bytes more", cut);
		}
		both(class ? "</span>\n" : "\n", "\n");
	}
	kbuf_puts(html, "</code></pre>\n");
	put_backticks(md, fence);
	kbuf_puts(md, "\n\n");
}

/*
 * What the first characters of a line mean: a function writes the line, or it goes between BEGIN
 * and END.
 */
static const struct line {
	const char *sign;
	enum inside inside;
	void (*put)(char **cell);
	const char *begin, *end, *md, *md_end;
} lines[] = {
	{ "#", .begin = "<h1>", .end = "</h1>\n", .md = "# ", .md_end = "\n\n" },
	{ "===", .begin = "<h3>", .end = "</h3>\n", .md = "### ", .md_end = "\n\n" },
	{ ".", .begin = "<p>", .end = "</p>\n", .md = "", .md_end = "\n\n" },
	{ "!", .begin = "<p class=\"lead\">", .end = "</p>\n", .md = "", .md_end = "\n\n" },
	{ ">", .begin = "<p class=\"note\">", .end = "</p>\n", .md = "> ", .md_end = "\n\n" },
	{ "-", .inside = LIST, .begin = "<li>", .end = "</li>\n", .md = "- ", .md_end = "\n" },
	{ "==", .put = put_section },
	{ "*", .inside = TILES, .put = put_tile },
	{ "&", .inside = BARS, .put = put_bars },
	{ "+", .inside = BARS, .put = put_bar },
	{ "[", .put = put_table },
	{ "|", .put = put_row },
	{ "]", .begin = "</tbody></table></div>\n", .end = "", .md = "\n", .md_end = "" },
	{ "{", .put = put_box },
	{ "}", .begin = "</div>\n", .end = "", .md = "", .md_end = "" },
	{ "(", .put = put_details },
	{ ")", .begin = "</details>\n", .end = "", .md = "</details>\n\n", .md_end = "" },
	{ "~", .inside = PICTURES, .put = put_figure },
};

static void
put_line(char *text)
{
	char *cell[CELLS + 1];
	size_t n = strcspn(text, " ");

	kforeach(l, lines) {
		if (strlen(l->sign) != n || strncmp(l->sign, text, n))
			continue;
		if (l->put != put_bars)
			enter(l->inside);
		text += n + (text[n] == ' ');
		if (l->put) {
			split(text, cell);
			l->put(cell);
		} else {
			both(l->begin, l->md);
			put_inline(text, false);
			both(l->end, l->md_end);
		}
		return;
	}
	kdie_usage("report.page: a line begins with no sign: %.60s", text);
}

/* Returns the end of the code that begins in the line at TEXT. */
static char *
code_block(char *text)
{
	char *language = text + strlen("```"), *from = strchr(text, '\n'), *end;
	auto_free char *plain = NULL;
	size_t len;

	end = from ? strstr(from, "\n```\n") : NULL;
	if (!end)
		kdie_usage("report.page: code without an end");
	*from++ = '\0';
	len = end >= from ? (size_t)(end - from) : 0;
	plain = unhidden(from, len);
	enter(NOTHING);
	put_code(language, plain, plain + len);
	return end + strlen("\n```\n");
}

/*
 * The page loads nothing and runs nothing, and declares so: should a text ever get through as
 * markup, the browser would still refuse to load or run it.
 */
static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" "
    "href=\"data:,\">\n";

/* Both texts whole. */
static void
finish(const char *title, long refresh)
{
	auto_free char *file = kdata_path("tools/kreport/report.css"),
	               *style = kread_file_or_die(file, 1 << 20, NULL);
	struct kbuf whole = { 0 }, *md = &page.md;

	kbuf_puts(&whole, head);
	if (refresh)
		kbuf_printf(&whole, "<meta http-equiv=\"refresh\" content=\"%ld\">\n", refresh);
	kbuf_puts(&whole, "<title>");
	kmark_html(&whole, title, strlen(title));
	kbuf_printf(&whole,
	    "</title>\n<style>\n%s</style>\n</head>\n<body>\n"
	    "<nav aria-label=\"Sections\"><ul>\n%s</ul></nav>\n<main>\n"
	    "%s%s</main>\n</body>\n</html>\n",
	    style, writer.contents.data ?: "", page.html.data,
	    writer.section ? "</section>\n" : "");
	kbuf_free(&page.html);
	kbuf_free(&writer.contents);
	page.html = whole;
	while (md->len > 1 && md->data[md->len - 1] == '\n' && md->data[md->len - 2] == '\n')
		md->data[--md->len] = '\0';
}

void
page_make(const char *text, const char *title, long refresh, const json_t *figures)
{
	auto_free char *copy = kstrdup(text);
	char *end;

	writer.figures = figures;
	for (char *line = copy; *line; line = end) {
		if (kbegins(line, "```")) {
			end = code_block(line);
			continue;
		}
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (*line)
			put_line(line);
	}
	enter(NOTHING);
	finish(title, refresh);
}
