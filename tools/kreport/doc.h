/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document that is written once and comes out twice: as a page of HTML and as Markdown.
 * Whatever text goes in is data: it is escaped for each of them (kmark). In a format string, \1
 * begins and ends code and \2 what is strong; blocks end what was left open. Foreign text must
 * hold no byte below \4: see doc_plain.
 */
#ifndef DOC_H
#define DOC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kutil.h"

#define DOC_FORMAT __attribute__((format(printf, 2, 3)))

struct doc {
	struct kbuf html, md; /* the body so far */
	struct kbuf contents; /* links to the sections */
	char *title;
	enum doc_open { DOC_NOTHING, DOC_LIST, DOC_TILES, DOC_FIGURES, DOC_BARS } open;
	bool section;
	size_t columns, column; /* of the table at work */
	struct doc_column {
		const char *class, *name;
		size_t len; /* of the name */
	} columns_of[32];
	double longest; /* bar of the group at work */
};

/* Replaces, in all texts of a JSON value, the bytes that have a meaning here. */
void doc_plain(json_t *json);
void doc_begin(struct doc *d, const char *title);
void doc_section(struct doc *d, const char *id, const char *title);
/* A block of one text; DOC_LEAD is the paragraph that says it all. */
enum doc_kind { DOC_HEADING, DOC_TEXT, DOC_LEAD, DOC_NOTE, DOC_ITEM };
void doc_block(struct doc *d, enum doc_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define doc_heading(d, ...) doc_block(d, DOC_HEADING, __VA_ARGS__)
#define doc_text(d, ...) doc_block(d, DOC_TEXT, __VA_ARGS__)
#define doc_lead(d, ...) doc_block(d, DOC_LEAD, __VA_ARGS__)
#define doc_note(d, ...) doc_block(d, DOC_NOTE, __VA_ARGS__)
#define doc_item(d, ...) doc_block(d, DOC_ITEM, __VA_ARGS__)
/* An item for each of ROWS, whose members fill in TEMPLATE (ktemplate.h). */
void doc_items(struct doc *d, const json_t *rows, const char *template);
/* One figure of the headline: "158×", what it is, and what has to be known with it. */
void doc_tile(struct doc *d, const char *figure, const char *what, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/*
 * Bars, one below the other, all on the scale of LONGEST. A group has a heading; groups that follow
 * each other stand next to each other. FMT says the figure. CLASS is a word of the style sheet.
 */
struct doc_bar {
	const char *name, *class;
	double value, low, high; /* low and high: of its interval; equal: there is none */
};
void doc_bars(struct doc *d, double longest, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void doc_bar(struct doc *d, const struct doc_bar *bar, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * A table with the columns of SPEC, "Program|>Median|^Rate|~Reason": after > figures, to the
 * right; after ^ several of them, a line each; after ~ prose, which may be long. Then its cells,
 * row by row; the first of a row is its name. In FMT | separates cells; in what it is filled
 * with, it does not.
 */
void doc_table(struct doc *d, const char *caption, const char *spec);
void doc_cells(struct doc *d, const char *fmt, ...) DOC_FORMAT;
void doc_table_end(struct doc *d);
/* A box of the page for what stands up to its end; Markdown has no boxes. */
void doc_box(struct doc *d, const char *class);
void doc_box_end(struct doc *d);
/* What is hidden below a line until the reader opens it. */
void doc_details(struct doc *d, const char *fmt, ...) DOC_FORMAT;
void doc_details_end(struct doc *d);
/*
 * Text in fixed pitch; LANGUAGE is a word for the Markdown fence, "diff" colours lines. Long
 * lines are cut.
 */
void doc_code(struct doc *d, const char *text, size_t len, const char *language);
/*
 * SVG for the page, and what it shows in words, which is all that the Markdown has. SVG is freed.
 */
void doc_figure(struct doc *d, struct kbuf *svg, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Ends the document: both texts whole, STYLE being the page's style sheet. */
void doc_end(struct doc *d, const char *style);
void doc_free(struct doc *d);

#endif
