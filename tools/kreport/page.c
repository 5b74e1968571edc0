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

struct writer {
	struct page *p;
	struct kbuf contents; /* links to the sections */
	enum inside inside;
	bool section;
	char *column[CELLS]; /* of the current table: the sign of its kind and its name */
	size_t columns;
	double longest; /* longest bar of the current group */
	const json_t *figures;
};

/* Adds unescaped text to the page and to Markdown. */
static void
both(struct writer *w, const char *html, const char *md)
{
	kbuf_puts(&w->p->html, html);
	kbuf_puts(&w->p->md, md);
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
put_text(struct writer *w, const char *text, size_t len)
{
	auto_free char *plain = unhidden(text, len);

	kmark_html(&w->p->html, plain, len);
	kmark_md(&w->p->md, plain, len);
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
put_code_span(struct writer *w, const char *text, size_t len, bool in_table)
{
	auto_free char *plain = unhidden(text, len);
	auto_buf struct kbuf clean = { 0 };
	struct kbuf *md = &w->p->md;
	size_t longest;

	kbuf_puts(&w->p->html, "<code>");
	kmark_html(&w->p->html, plain, len);
	kbuf_puts(&w->p->html, "</code>");
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
put_inline(struct writer *w, const char *text, bool in_table)
{
	bool strong = false;

	while (*text) {
		size_t n = strcspn(text, "`*\\");
		const char *end = text[n] == '`' ? strchr(text + n + 1, '`') : NULL;

		put_text(w, text, n);
		text += n;
		if (end) {
			put_code_span(w, text + 1, (size_t)(end - text - 1), in_table);
			text = end + 1;
		} else if (!strncmp(text, "**", 2)) {
			strong = !strong;
			both(w, strong ? "<strong>" : "</strong>", "**");
			text += 2;
		} else if (!strncmp(text, "\\n", 2)) {
			put_text(w, "\n", 1);
			text += 2;
		} else if (*text) {
			put_text(w, text++, 1);
		}
	}
}

static void
enter(struct writer *w, enum inside what)
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

	if (w->inside == what)
		return;
	both(w, around[w->inside].end, around[w->inside].md);
	kbuf_puts(&w->p->html, around[what].begin);
	w->inside = what;
}

/* Splits TEXT at '|' into parts without surrounding blanks; returns how many. */
static size_t
split(char *text, char *cell[CELLS])
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
	for (size_t i = n; i < CELLS; i++)
		cell[i] = text ? text : (char *)"";
	return n;
}

static void
put_section(struct writer *w, char *text)
{
	char *cell[CELLS];

	split(text, cell);
	kbuf_printf(&w->p->html, "%s<section id=\"%s\">\n<h2>%s</h2>\n",
	    w->section ? "</section>\n" : "", cell[0], cell[1]);
	kbuf_printf(&w->contents, "<li><a href=\"#%s\">%s</a></li>\n", cell[0], cell[1]);
	kbuf_printf(&w->p->md, "## %s\n\n", cell[1]);
	w->section = true;
}

static void
put_tile(struct writer *w, char *text)
{
	char *cell[CELLS];

	split(text, cell);
	both(w, "<p><strong>", "- **");
	put_inline(w, cell[0], false);
	both(w, "</strong> ", "** ");
	put_inline(w, cell[1], false);
	both(w, " <small>", *cell[2] ? ": " : "");
	put_inline(w, cell[2], false);
	both(w, "</small></p>\n", "\n");
}

/* A group of bars, all on the scale of the longest. */
static void
put_bars(struct writer *w, char *text)
{
	char *cell[CELLS];

	split(text, cell);
	if (w->inside == BARS)
		both(w, "</ol></div>\n", "\n");
	enter(w, BARS);
	w->longest = strtod(cell[0], NULL);
	both(w, "<div><h3>", "**");
	put_inline(w, cell[1], false);
	both(w, "</h3><ol>\n", "**\n\n");
}

/* Percent of the scale. */
static double
on_scale(const struct writer *w, const char *number)
{
	double value = strtod(number, NULL);

	return 100 * (value < w->longest ? value / w->longest : 1);
}

static void
put_bar(struct writer *w, char *text)
{
	char *cell[CELLS];
	double low, high, end;

	split(text, cell);
	end = on_scale(w, cell[2]);
	low = on_scale(w, cell[3]);
	high = on_scale(w, cell[4]);
	kbuf_printf(&w->p->html, "<li class=\"%s\">", cell[0]);
	both(w, "<span>", "- ");
	put_inline(w, cell[1], false);
	both(w, "</span> <span>", ": ");
	put_inline(w, cell[5], false);
	kbuf_printf(&w->p->html, "</span><div><b style=\"width:%.2f%%\"></b>", end);
	if (low < high)
		kbuf_printf(
		    &w->p->html, "<i style=\"left:%.2f%%;width:%.2f%%\"></i>", low, high - low);
	kbuf_puts(&w->p->md, " ");
	for (int i = 0; i < end / 4; i++)
		kbuf_puts(&w->p->md, "█");
	both(w, "</div></li>\n", "\n");
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
put_table(struct writer *w, char *text)
{
	char *cell[CELLS];
	auto_buf struct kbuf rule = { 0 };

	w->columns = split(text, cell) - 1;
	kbuf_printf(&w->p->html,
	    "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"%s\"><table>\n",
	    cell[0]);
	both(w, "<caption>", "**");
	put_inline(w, cell[0], false);
	both(w, "</caption>\n<thead><tr>", "**\n\n|");
	for (size_t i = 0; i < w->columns; i++) {
		const struct kind *kind = kind_of(*cell[i + 1]);

		w->column[i] = cell[i + 1];
		kbuf_printf(&w->p->html, "<th scope=\"col\" class=\"%s\">", kind->class);
		kbuf_puts(&w->p->md, " ");
		put_inline(w, cell[i + 1] + !!kind->sign, true);
		both(w, "</th>", " |");
		kbuf_puts(&rule, kind->rule);
	}
	kbuf_puts(&w->p->html, "</tr></thead>\n<tbody>\n");
	kbuf_printf(&w->p->md, "\n|%s\n", rule.data);
}

static void
put_row(struct writer *w, char *text)
{
	char *cell[CELLS];

	split(text, cell);
	both(w, "<tr>", "|");
	for (size_t i = 0; i < w->columns; i++) {
		const struct kind *kind = kind_of(*w->column[i]);
		const char *name = w->column[i] + !!kind->sign;
		auto_free char *plain = unhidden(name, strlen(name));

		/* On a narrow screen a row becomes a card, in which each cell has a label. */
		kbuf_printf(&w->p->html, "<%s class=\"%s\" data-is=\"",
		    i ? "td" : "th scope=\"row\"", i ? kind->class : "");
		kmark_html(&w->p->html, plain, strlen(name));
		kbuf_puts(&w->p->html, "\">");
		kbuf_puts(&w->p->md, " ");
		put_inline(w, cell[i], true);
		both(w, i ? "</td>" : "</th>", " |");
	}
	both(w, "</tr>\n", "\n");
}

static void
put_box(struct writer *w, char *text)
{
	kbuf_printf(&w->p->html, "<div class=\"%s\">\n", text);
}

static void
put_details(struct writer *w, char *text)
{
	auto_free char *plain = unhidden(text, strlen(text));

	both(w, "<details><summary>", "<details><summary>");
	/* Markdown is not interpreted inside a tag, so both get HTML. */
	kmark_html(&w->p->html, plain, strlen(text));
	kmark_html(&w->p->md, plain, strlen(text));
	both(w, "</summary>\n", "</summary>\n\n");
}

static void
put_figure(struct writer *w, char *text)
{
	char *cell[CELLS];

	split(text, cell);
	kbuf_printf(&w->p->html, "<figure>\n%s", kjson_str(w->figures, cell[0]));
	both(w, "<figcaption>", "*Figure:* ");
	put_inline(w, cell[1], false);
	both(w, "</figcaption></figure>\n", "\n\n");
}

/* The line that begins at TEXT, without its newline, truncated; and the start of the next. */
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

/* Text in a fixed-width font, with long lines truncated; the lines of a diff have colours. */
static void
put_code(struct writer *w, const char *language, const char *text, const char *end)
{
	bool diff = !strcmp(language, "diff");
	size_t longest = longest_run(text, (size_t)(end - text)), n, cut,
	       fence = longest < 2 ? 3 : longest + 1;
	struct kbuf *html = &w->p->html, *md = &w->p->md;

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
		both(w, class ? "</span>\n" : "\n", "\n");
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
	void (*put)(struct writer *w, char *text);
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
put_line(struct writer *w, char *text)
{
	size_t n = strcspn(text, " ");

	kforeach(l, lines) {
		if (strlen(l->sign) != n || strncmp(l->sign, text, n))
			continue;
		if (l->put != put_bars)
			enter(w, l->inside);
		text += n + (text[n] == ' ');
		if (l->put) {
			l->put(w, text);
		} else {
			both(w, l->begin, l->md);
			put_inline(w, text, false);
			both(w, l->end, l->md_end);
		}
		return;
	}
	kdie(K_USAGE, "report.page: a line begins with no sign: %.60s", text);
}

/* Returns the end of the code that begins in the line at TEXT. */
static char *
code_block(struct writer *w, char *text)
{
	char *language = text + strlen("```"), *from = strchr(text, '\n'), *end;
	auto_free char *plain = NULL;
	size_t len;

	end = from ? strstr(from, "\n```\n") : NULL;
	if (!end)
		kdie(K_USAGE, "report.page: code without an end");
	*from++ = '\0';
	len = end >= from ? (size_t)(end - from) : 0;
	plain = unhidden(from, len);
	enter(w, NOTHING);
	put_code(w, language, plain, plain + len);
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
finish(struct writer *w, const char *title, long refresh)
{
	auto_free char *file = kdata_path("tools/kreport/report.css"),
	               *style = kread_file_or_die(file, 1 << 20, NULL);
	struct kbuf page = { 0 }, *md = &w->p->md;

	kbuf_puts(&page, head);
	if (refresh)
		kbuf_printf(&page, "<meta http-equiv=\"refresh\" content=\"%ld\">\n", refresh);
	kbuf_puts(&page, "<title>");
	kmark_html(&page, title, strlen(title));
	kbuf_printf(&page,
	    "</title>\n<style>\n%s</style>\n</head>\n<body>\n"
	    "<nav aria-label=\"Sections\"><ul>\n%s</ul></nav>\n<main>\n"
	    "%s%s</main>\n</body>\n</html>\n",
	    style, w->contents.data ? w->contents.data : "", w->p->html.data,
	    w->section ? "</section>\n" : "");
	kbuf_free(&w->p->html);
	kbuf_free(&w->contents);
	w->p->html = page;
	while (md->len > 1 && md->data[md->len - 1] == '\n' && md->data[md->len - 2] == '\n')
		md->data[--md->len] = '\0';
}

void
page_make(struct page *p, const char *text, const char *title, long refresh, const json_t *figures)
{
	struct writer w = { .p = p, .figures = figures };
	auto_free char *copy = kstrdup(text);
	char *end;

	*p = (struct page){ 0 };
	for (char *line = copy; *line; line = end) {
		if (!strncmp(line, "```", 3)) {
			end = code_block(&w, line);
			continue;
		}
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (*line)
			put_line(&w, line);
	}
	enter(&w, NOTHING);
	finish(&w, title, refresh);
}
