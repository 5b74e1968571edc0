/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: tables of comma-separated values. Quoted cells may contain commas, doubled quotes and
 * line feeds.
 */
#include "kprofile.h"

#include "kregex.h"

void
row_free(struct row *r)
{
	kforeach_of(one, r->cell, r->width)
		free(*one);
	free(r->cell);
	*r = (struct row){ 0 };
}

static void
read_row(struct csv *c)
{
	/* the text in quotes, their end, or an unquoted text; then a comma or the end of the row */
	static const char form[] = "\\A(?:\"((?:[^\"]++|\"\")*+)(\"?)|([^,\\r\\n]*+))"
	                           "(?:(,)|(\\r?(?:\\n|\\z)))?";
	const char *end = c->text->data + c->text->len;
	struct kregex_span at[6];

	do {
		struct row *r = &c->row;
		auto_free char *quoted = NULL;

		if (!kregex_find(form, c->p, (size_t)(end - c->p), at, LEN(at)))
			text_fault(c->text, c->line, "a cell is too long");
		quoted = kregex_text(c->p, at[1]);
		if (quoted && at[2].from == at[2].to)
			text_fault(c->text, c->line,
			    "a quoted cell does not end: the file is truncated or not CSV");
		if (at[4].from == KREGEX_UNSET && at[5].from == KREGEX_UNSET)
			text_fault(c->text, c->line, "text after the closing quote of a cell");
		kgrow(r->cell, r->width);
		r->cell[r->width++] = !quoted ? kregex_text(c->p, at[3])
		    : strstr(quoted, "\"\"")  ? kregex_sub("\"\"", quoted, "\"")
		                              : kstrdup(quoted);
		kforeach_of(one, c->p, at->to)
			c->next += *one == '\n';
		c->p += at->to;
	} while (at[4].from != KREGEX_UNSET);
}

bool
csv_next(struct csv *c, bool quoted)
{
	row_free(&c->row);
	if (!c->p) {
		c->p = c->text->data;
		c->next = 1;
	}
	/* Output of the profiler and of the profiled program may appear between the rows. */
	while (*c->p && (quoted ? *c->p != '"' : strchr("\r\n", *c->p) != NULL)) {
		c->p += strcspn(c->p, "\n");
		c->next++;
		c->p += *c->p == '\n';
	}
	if (!*c->p)
		return false;
	c->line = c->next;
	read_row(c);
	return true;
}

void
csv_take(struct csv *c, struct row *to)
{
	row_free(to);
	*to = c->row;
	c->row = (struct row){ 0 };
}

const char *
csv_cell(const struct csv *c, const char *name)
{
	size_t at = kindex_of(name, (const char *const *)c->head.cell, c->head.width);

	return at == c->head.width ? NULL : at < c->row.width ? c->row.cell[at] : "";
}

const char *
csv_need(const struct csv *c, const char *name)
{
	const char *s = csv_cell(c, name);

	if (!s)
		text_fault(c->text, c->line, "unknown layout: the table of %s has no column \"%s\"",
		    c->text->format, name);
	return s;
}

void
csv_close(struct csv *c)
{
	row_free(&c->row);
	row_free(&c->head);
}
