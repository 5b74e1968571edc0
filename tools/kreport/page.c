/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: lines of report.page, filled in, as HTML or Markdown. Everything that was filled in
 * is data: it contains no markup characters, and is escaped for the format (kmark). See kreport.h.
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

void
page_show(char *text, size_t len)
{
	kforeach_of(one, text, len)
		if (*one > 0 && *one <= (char)strlen(signs))
			*one = signs[*one - 1];
}

/* The block that is open; it ends when something else follows. */
enum inside { NOTHING, LIST, TILES, PICTURES, BARS };

static struct page {
	bool html; /* or else Markdown */
	struct kbuf out;
	struct kbuf contents; /* links to the sections */
	enum inside inside;
	bool section;
	char *column[CELLS]; /* of the current table: the sign of its kind and its name */
	size_t columns;      /* 0: no table is open */
	double longest;      /* longest bar of the current group */
	const json_t *figures;
	/* Put a piece of text, or of code in a line, into the format. */
	void (*text)(struct kbuf *out, const char *text, size_t len);
	void (*code)(struct kbuf *out, const char *text, size_t len);
} page;

/* LEN bytes of TEXT, in which characters are hidden, as AS writes them. */
static void
put_text(const char *text, size_t len, void (*as)(struct kbuf *, const char *, size_t))
{
	auto_free char *plain = kmemdup(text, len);

	page_show(plain, len);
	as(&page.out, plain, len);
}

static void
put_backticks(size_t count)
{
	while (count--)
		kbuf_puts(&page.out, "`");
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

/* A code span of Markdown: between more backticks in a row than it contains, and spaces. */
static void
code_in_markdown(struct kbuf *out, const char *text, size_t len)
{
	auto_buf struct kbuf clean = { 0 };
	size_t longest = longest_run(text, len);
	const char *space = longest ? " " : "";

	kmark_clean(&clean, text, len);
	put_backticks(longest + 1);
	kbuf_puts(out, clean.len ? space : " ");
	kforeach_of(c, clean.data, clean.len)
		if (*c == '|' && page.columns)
			kbuf_puts(out, "\\|");
		else
			kbuf_add(out, *c == '\n' || *c == '\t' ? " " : c, 1);
	kbuf_puts(out, space);
	put_backticks(longest + 1);
}

static void
code_in_html(struct kbuf *out, const char *text, size_t len)
{
	kbuf_puts(out, "<code>");
	kmark_html(out, text, len);
	kbuf_puts(out, "</code>");
}

/* Text with `code` and **strong**. */
static void
put_inline(const char *text)
{
	bool strong = false;

	while (*text) {
		size_t n = strcspn(text, "`*\\");
		const char *end = text[n] == '`' ? strchr(text + n + 1, '`') : NULL;

		put_text(text, n, page.text);
		text += n;
		if (end) {
			put_text(text + 1, (size_t)(end - text - 1), page.code);
			text = end + 1;
		} else if (kbegins(text, "**")) {
			strong = !strong;
			kbuf_puts(&page.out, !page.html ? "**" : strong ? "<strong>" : "</strong>");
			text += 2;
		} else if (kbegins(text, "\\n")) {
			put_text("\n", 1, page.text);
			text += 2;
		} else if (*text) {
			put_text(text++, 1, page.text);
		}
	}
}

/*
 * One of two markups, in which $0 to $9 are cells, and @0 to @9 cells in HTML, without markup of
 * their own.
 */
static void
put(const char *html, const char *md, char *const *cell)
{
	for (const char *s = page.html ? html : md; *s; s++)
		if (*s == '$') {
			put_inline(cell[*++s - '0']);
		} else if (*s == '@') {
			const char *text = cell[*++s - '0'];

			put_text(text, strlen(text), kmark_html);
		} else {
			kbuf_add(&page.out, s, 1);
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

	if (page.inside == what)
		return;
	put(around[page.inside].end, around[page.inside].md, NULL);
	put(around[what].begin, "", NULL);
	page.inside = what;
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
begin_section(char **cell)
{
	if (page.section)
		put("</section>\n", "", NULL);
	page.section = true;
	kbuf_printf(&page.contents, "<li><a href=\"#%s\">%s</a></li>\n", cell[0], cell[1]);
}

/* The bars of a group are all on the scale of the longest. */
static void
begin_bars(char **cell)
{
	if (page.inside == BARS)
		put("</ol></div>\n", "\n", NULL);
	enter(BARS);
	page.longest = atof(cell[0]);
}

/* A value and the ends of its interval, in per cent of the scale; and the bar in Markdown. */
static void
scale_bar(char **cell)
{
	auto_buf struct kbuf bar = kbuf_empty();
	double percent[3];

	for (int i = 0; i < 3; i++)
		percent[i] = 100 * fmin(atof(cell[2 + i]) / page.longest, 1);
	for (int i = 0; i < percent[0] / 4; i++)
		kbuf_puts(&bar, "█");
	cell[2] = (char *)kshown("%.2f", percent[0]);
	cell[3] = (char *)kshown("%.2f", percent[1]);
	cell[4] = (char *)kshown("%.2f", fmax(percent[2] - percent[1], 0));
	cell[6] = (char *)kshown("%s", bar.data);
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
kind_of(const char *column)
{
	const struct kind *k = kinds;

	while (k->sign && k->sign != *column)
		k++;
	return k;
}

static void
put_cell(const char *html, const char *md, size_t column, char *text)
{
	char *name = page.column[column];
	const struct kind *kind = kind_of(name);

	put(html, md, (char *[]){ (char *)kind->class, name + !!kind->sign, text });
}

static void
put_columns(char **cell)
{
	for (page.columns = 0; *cell[page.columns + 1]; page.columns++) {
		page.column[page.columns] = cell[page.columns + 1];
		put_cell("<th scope=\"col\" class=\"$0\">$1</th>", " $1 |", page.columns, NULL);
	}
	put("</tr></thead>\n<tbody>\n", "\n|", NULL);
	kforeach_of(column, page.column, page.html ? 0 : page.columns)
		kbuf_puts(&page.out, kind_of(*column)->rule);
	put("", "\n", NULL);
}

/* On a narrow screen a row becomes a card, in which each cell has a label. */
static void
put_cells(char **cell)
{
	for (size_t i = 0; i < page.columns; i++)
		put_cell(i ? "<td class=\"$0\" data-is=\"@1\">$2</td>"
		           : "<th scope=\"row\" class=\"\" data-is=\"@1\">$2</th>",
		    " $2 |", i, cell[i]);
	put("</tr>\n", "\n", NULL);
}

static void
end_table(char **cell)
{
	(void)cell;
	page.columns = 0;
}

static void
put_figure(char **cell)
{
	put("<figure>\n", "", NULL);
	kbuf_puts(&page.out, page.html ? kjson_str(page.figures, cell[0]) : "");
}

/* A line of code, truncated; those of a diff have colours. */
static void
put_code_line(const char *line, bool diff)
{
	size_t all = strlen(line) - (kregex_is("\r\\z", line) ? 1 : 0),
	       shown = kutf8_prefix(line, all, LONGEST_LINE);
	const char *class = !diff || !page.html ? NULL
	    : *line == '+'                      ? "add"
	    : *line == '-'                      ? "del"
	    : *line == '@'                      ? "at"
	                                        : NULL;

	if (class)
		kbuf_printf(&page.out, "<span class=\"%s\">", class);
	(page.html ? kmark_html : kmark_clean)(&page.out, line, shown);
	if (shown < all)
		kbuf_printf(&page.out, page.html ? "<i> … %zu bytes more</i>" : " … %zu bytes more",
		    all - shown);
	kbuf_puts(&page.out, class ? "</span>\n" : "\n");
}

/* Text in a fixed-width font, up to a line of backticks. Returns what follows. */
static char *
put_code(char *text)
{
	char *language = text + strlen("```"), *from = strchr(text, '\n'),
	     *end = from ? strstr(from, "\n```\n") : NULL;
	bool diff = kbegins(language, "diff\n");
	size_t len = end > from ? (size_t)(end - from) - 1 : 0, fence;

	if (!end)
		kdie_usage("report.page: code without an end");
	*from++ = *end = '\0';
	page_show(from, len);
	enter(NOTHING);
	fence = page.html ? 0 : longest_run(from, len) + 1;
	put_backticks(fence && fence < 3 ? 3 : fence);
	put("<pre tabindex=\"0\"><code>", "$0\n", &language);
	while (from && from < end)
		put_code_line(strsep(&from, "\n"), diff);
	put_backticks(fence && fence < 3 ? 3 : fence);
	put("</code></pre>\n", "\n\n", NULL);
	return end + strlen("\n```\n");
}

/* What the first characters of a line mean; functions do what markup does not say. */
static const struct line {
	const char *sign, *html, *md;
	enum inside inside;
	void (*before)(char **cell), (*after)(char **cell);
} lines[] = {
	{ "#", "<h1>$0</h1>\n", .md = "# $0\n\n" },
	{ "===", "<h3>$0</h3>\n", .md = "### $0\n\n" },
	{ ".", "<p>$0</p>\n", .md = "$0\n\n" },
	{ "!", "<p class=\"lead\">$0</p>\n", .md = "$0\n\n" },
	{ ">", "<p class=\"note\">$0</p>\n", .md = "> $0\n\n" },
	{ "-", "<li>$0</li>\n", "- $0\n", .inside = LIST },
	{ "==", "<section id=\"$0\">\n<h2>$1</h2>\n", "## $1\n\n", .before = begin_section },
	{ "*", "<p><strong>$0</strong> $1 <small>$2</small></p>\n", "- **$0** $1: $2\n",
	    .inside = TILES },
	{ "&", "<div><h3>$1</h3><ol>\n", "**$1**\n\n", .inside = BARS, .before = begin_bars },
	{ "+",
	    "<li class=\"$0\"><span>$1</span> <span>$5</span><div>"
	    "<b style=\"width:$2%\"></b><i style=\"left:$3%;width:$4%\"></i></div></li>\n",
	    "- $1: $5 $6\n", .inside = BARS, .before = scale_bar },
	{ "[",
	    "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"$0\"><table>\n"
	    "<caption>$0</caption>\n<thead><tr>",
	    "**$0**\n\n|", .after = put_columns },
	{ "|", "<tr>", "|", .after = put_cells },
	{ "]", "</tbody></table></div>\n", "\n", .before = end_table },
	{ "{", "<div class=\"$0\">\n", .md = "" },
	{ "}", "</div>\n", .md = "" },
	/* Markdown is not interpreted inside a tag. */
	{ "(", "<details><summary>@0</summary>\n", .md = "<details><summary>@0</summary>\n\n" },
	{ ")", "</details>\n", .md = "</details>\n\n" },
	{ "~", "<figcaption>$1</figcaption></figure>\n", "*Figure:* $1\n\n", .inside = PICTURES,
	    .before = put_figure },
};

static void
put_line(char *text)
{
	char *cell[CELLS + 1];
	size_t n = strcspn(text, " ");

	kforeach(l, lines) {
		if (strlen(l->sign) != n || strncmp(l->sign, text, n))
			continue;
		split(text + n, cell);
		if (l->before != begin_bars)
			enter(l->inside);
		if (l->before)
			l->before(cell);
		put(l->html, l->md, cell);
		if (l->after)
			l->after(cell);
		return;
	}
	kdie_usage("report.page: a line begins with no sign: %.60s", text);
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

/* The whole document around the sections. */
static void
wrap(const char *title, long refresh)
{
	auto_free char *file = kdata_path("tools/kreport/report.css"),
	               *style = kread_file_or_die(file, 1 << 20, NULL);
	auto_buf struct kbuf body = page.out, contents = page.contents;

	page.out = (struct kbuf){ 0 };
	kbuf_puts(&page.out, head);
	if (refresh)
		kbuf_printf(&page.out, "<meta http-equiv=\"refresh\" content=\"%ld\">\n", refresh);
	kbuf_puts(&page.out, "<title>");
	kmark_html(&page.out, title, strlen(title));
	kbuf_printf(&page.out,
	    "</title>\n<style>\n%s</style>\n</head>\n<body>\n"
	    "<nav aria-label=\"Sections\"><ul>\n%s</ul></nav>\n<main>\n"
	    "%s%s</main>\n</body>\n</html>\n",
	    style, contents.data ?: "", body.data, page.section ? "</section>\n" : "");
}

struct kbuf
page_make(bool html, const char *text, const char *title, long refresh, const json_t *figures)
{
	auto_free char *copy = kstrdup(text);

	page = (struct page){ .html = html,
		.figures = figures,
		.text = html ? kmark_html : kmark_md,
		.code = html ? code_in_html : code_in_markdown };
	for (char *rest = copy; rest && *rest;)
		if (kbegins(rest, "```"))
			rest = put_code(rest);
		else if (*rest == '\n')
			rest++;
		else
			put_line(strsep(&rest, "\n"));
	enter(NOTHING);
	if (html)
		wrap(title, refresh);
	return page.out;
}
