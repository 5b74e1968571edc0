/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: rows of comma-separated values. Quoted cells may hold commas, doubled quotes and line
 * feeds.
 */
#include "kprofile.h"

#include <stdlib.h>
#include <string.h>

static void
clear(struct csv *c)
{
	for (size_t i = 0; i < c->width; i++)
		free(c->cell[i]);
	c->width = 0;
}

static void
push(struct csv *c, char *cell)
{
	if (c->width == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 32;
		c->cell = krealloc(c->cell, c->cap * sizeof *c->cell);
	}
	c->cell[c->width++] = cell;
}

/* A quoted cell; c->p stands behind the opening quote, and behind the closing one on return. */
static char *
quoted_cell(struct csv *c)
{
	struct kbuf b = { 0 };

	kbuf_add(&b, "", 0);
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
	for (;;) {
		if (*c->p == '"') {
			c->p++;
			push(c, quoted_cell(c));
		} else {
			size_t n = strcspn(c->p, ",\r\n");

			push(c, kstrndup(c->p, n));
			c->p += n;
		}
		if (*c->p != ',')
			break;
		c->p++;
	}
	c->p += *c->p == '\r';
	if (*c->p && *c->p != '\n')
		text_fault(c->text, c->line, "text after the closing quote of a cell");
	if (*c->p == '\n') {
		c->p++;
		c->next++;
	}
}

bool
csv_next(struct csv *c, bool quoted)
{
	clear(c);
	if (!c->p) {
		c->p = c->text->data;
		c->next = 1;
	}
	/* Lines of the profiler and of the program that was profiled stand between the rows. */
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
csv_close(struct csv *c)
{
	clear(c);
	free(c->cell);
}

long
csv_find(char *const *header, size_t width, const char *name)
{
	for (size_t i = 0; i < width; i++)
		if (!strcmp(header[i], name))
			return (long)i;
	return -1;
}
