/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: tables of comma-separated values. Quoted cells may contain commas, doubled quotes and
 * line feeds.
 */
#include "kprofile.h"

static void
push(struct row *r, char *cell)
{
	r->cell = krealloc(r->cell, (r->width + 1) * sizeof *r->cell);
	r->cell[r->width++] = cell;
}

void
row_free(struct row *r)
{
	for (size_t i = 0; i < r->width; i++)
		free(r->cell[i]);
	free(r->cell);
	*r = (struct row){ 0 };
}

/* A quoted cell; c->p is after the opening quote, and after the closing one on return. */
static char *
quoted_cell(struct csv *c)
{
	struct kbuf b = kbuf_empty();

	for (;;) {
		size_t n = strcspn(c->p, "\"");

		for (const char *q = c->p; (q = memchr(q, '\n', (size_t)(c->p + n - q))); q++)
			c->next++;
		kbuf_add(&b, c->p, n);
		c->p += n;
		if (!*c->p)
			text_fault(c->text, c->line,
			    "a quoted cell does not end: the file is truncated or not CSV");
		if (c->p[1] != '"')
			break;
		kbuf_add(&b, "\"", 1);
		c->p += 2;
	}
	c->p++;
	return b.data;
}

static void
read_row(struct csv *c)
{
	for (;; c->p++) {
		if (*c->p == '"') {
			c->p++;
			push(&c->row, quoted_cell(c));
		} else {
			size_t n = strcspn(c->p, ",\r\n");

			push(&c->row, kstrndup(c->p, n));
			c->p += n;
		}
		if (*c->p != ',')
			break;
	}
	c->p += *c->p == '\r';
	if (*c->p && *c->p != '\n')
		text_fault(c->text, c->line, "text after the closing quote of a cell");
	c->next += *c->p == '\n';
	c->p += *c->p == '\n';
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

void
csv_close(struct csv *c)
{
	row_free(&c->row);
	row_free(&c->head);
}
