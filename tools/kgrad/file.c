/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgrad: the gradient's file: a header, a line per cell, then the transitions, whose lines pass
 * through as they are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kgrad.h"
#include "kio.h"

/* Where the part of a cell's line begins that only transitions change. */
static const char rest_begins[] = "\"confidence\":";

/* Numbers of an array, at most N; how many. */
static size_t
read_reals(const json_t *list, double *v, size_t n)
{
	size_t got = 0;

	for (; got < n && json_is_number(json_array_get(list, got)); got++)
		v[got] = json_number_value(json_array_get(list, got));
	return got;
}

static void
read_directions(struct cell *cell, const json_t *list)
{
	size_t n = json_array_size(list);

	cell->directions = kcalloc(n, sizeof *cell->directions);
	cell->count = cell->capacity = n;
	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_array_get(list, i),
		             *step = json_object_get(one, "direction");

		for (size_t d = 0; d < KARCH_DIMS; d++)
			cell->directions[i].step[d] =
			    (int)json_integer_value(json_array_get(step, d));
		cell->directions[i].samples = (long)kjson_int_or(one, "samples", 0);
		cell->directions[i].successes = (long)kjson_int_or(one, "successes", 0);
		cell->directions[i].delta = kjson_num_or(one, "delta", 0);
	}
}

void
cell_open(struct cell *cell)
{
	struct kbuf object = { 0 };
	json_t *o;

	if (!cell->rest.s)
		return;
	kbuf_puts(&object, "{");
	kbuf_add(&object, cell->rest.s, cell->rest.len);
	o = json_loadb(object.data, object.len, 0, NULL);
	if (!o)
		kdie(K_USAGE, "a cell of the gradient is malformed");
	cell->arrivals = (long)kjson_int_or(o, "arrivals", 0);
	cell->improvements = (long)kjson_int_or(o, "improvements", 0);
	cell->discoveries = (long)kjson_int_or(o, "discoveries", 0);
	cell->replacements = (long)kjson_int_or(o, "replacements", 0);
	cell->delta = kjson_num_or(o, "delta", 0);
	cell->since = (long long)kjson_int_or(o, "since", 0);
	cell->base = (long)kjson_int_or(o, "base", 0);
	read_reals(json_object_get(o, "sum"), cell->sum, KARCH_DIMS);
	read_reals(json_object_get(o, "weight"), cell->weight, KARCH_DIMS);
	read_directions(cell, json_object_get(o, "directions"));
	cell->rest = (struct span){ 0 };
	json_decref(o);
	kbuf_free(&object);
}

static void
cell_clear(struct cell *cell)
{
	free(cell->directions);
	*cell = (struct cell){ 0 };
}

static void
read_cell(struct gradient *g, struct span line, const char *path, long lineno)
{
	json_t *o = json_loadb(line.s, line.len, 0, NULL);
	const char *rest = memmem(line.s, line.len, rest_begins, sizeof rest_begins - 1);
	int c = karch_cell(kjson_str_or(o, "cell", ""));
	struct cell *cell;

	if (!o || c < 0 || g->cells[c].used || !rest)
		kdie(K_USAGE, "%s:%ld: not a cell written by kgrad", path, lineno);
	cell = &g->cells[c];
	cell->used = true;
	cell->rest = (struct span){ rest, (size_t)(line.s + line.len - rest) };
	cell->departures = (long)kjson_int_or(o, "departures", 0);
	cell->updated = (long)kjson_int_or(o, "updated", 0);
	cell->since = (long long)kjson_int_or(o, "since", 0);
	if (read_reals(json_object_get(o, "fitness"), cell->fitness, KARCH_DIMS) != KARCH_DIMS ||
	    read_reals(json_object_get(o, "rates"), cell->rates, KARCH_DIMS) != KARCH_DIMS)
		kdie(K_USAGE, "%s:%ld: a cell without its gradient", path, lineno);
	json_decref(o);
}

static void
read_header(struct gradient *g, struct span line, const char *path)
{
	json_t *o = json_loadb(line.s, line.len, 0, NULL);

	if (strcmp(kjson_str_or(o, "schema", ""), "gradient/1"))
		kdie(K_USAGE, "%s:1: not a gradient", path);
	g->trial = (long)kjson_int_or(o, "trial", 0);
	g->total = (long long)kjson_int_or(o, "total", 0);
	g->kept = (size_t)kjson_int_or(o, "transitions", 0);
	json_decref(o);
}

static size_t
count_lines(struct span text)
{
	size_t n = 0;

	for (const char *p = text.s, *end = text.s + text.len; p < end; n++)
		p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
	return n;
}

void
gradient_load(struct gradient *g, const char *path)
{
	static const char transition[] = "{\"kind\":\"transition\"";
	size_t len, at = 0;
	long lineno = 0;

	*g = (struct gradient){ .trial = -1 };
	if (!path)
		return;
	g->text = kread_file_or_die(path, SIZE_MAX, &len);
	if (!len || g->text[len - 1] != '\n')
		kdie(K_USAGE, "%s: %s", path,
		    len ? "truncated (no newline at the end)" : "is empty");
	while (at < len && strncmp(g->text + at, transition, sizeof transition - 1)) {
		const char *line = g->text + at;
		size_t n = (size_t)((const char *)memchr(line, '\n', len - at) - line);

		if (!lineno++)
			read_header(g, (struct span){ line, n }, path);
		else
			read_cell(g, (struct span){ line, n }, path, lineno);
		at += n + 1;
	}
	g->old = (struct span){ g->text + at, len - at };
	if (!lineno || count_lines(g->old) != g->kept)
		kdie(K_USAGE, "%s: the header has a wrong count of transitions", path);
}

static void
put_reals(struct kbuf *b, const char *name, const double *v)
{
	char number[32];

	kbuf_printf(b, "\"%s\":[", name);
	for (int d = 0; d < KARCH_DIMS; d++)
		kbuf_printf(b, "%s%s", d ? "," : "", karch_real(v[d], number));
	kbuf_puts(b, "],");
}

static void
put_directions(struct kbuf *b, const struct cell *cell)
{
	char number[32];

	kbuf_puts(b, "\"directions\":[");
	for (size_t i = 0; i < cell->count; i++) {
		const struct direction *v = &cell->directions[i];

		kbuf_printf(b,
		    "%s{\"direction\":[%d,%d,%d,%d],\"samples\":%ld,\"successes\":%ld,\"delta\":%"
		    "s}",
		    i ? "," : "", v->step[0], v->step[1], v->step[2], v->step[3], v->samples,
		    v->successes, karch_real(v->delta, number));
	}
	kbuf_puts(b, "]");
}

static void
put_rest(struct kbuf *b, const struct cell *cell)
{
	double n = (double)cell->departures;
	char number[32];

	if (cell->rest.s) {
		kbuf_add(b, cell->rest.s, cell->rest.len);
		return;
	}
	kbuf_printf(b, "%s%s,", rest_begins, karch_real(fmin(1, n / 20), number));
	kbuf_printf(b, "\"rate\":%s,",
	    karch_real(cell->departures ? (double)cell->improvements / n : 0.5, number));
	kbuf_printf(b,
	    "\"departures\":%ld,\"arrivals\":%ld,\"improvements\":%ld,\"discoveries\":%ld,"
	    "\"replacements\":%ld,",
	    cell->departures, cell->arrivals, cell->improvements, cell->discoveries,
	    cell->replacements);
	kbuf_printf(b, "\"delta\":%s,\"since\":%lld,\"updated\":%ld,\"base\":%ld,",
	    karch_real(cell->delta, number), cell->since, cell->updated, cell->base);
	put_reals(b, "fitness", cell->fitness);
	put_reals(b, "rates", cell->rates);
	put_reals(b, "sum", cell->sum);
	put_reals(b, "weight", cell->weight);
	put_directions(b, cell);
	kbuf_puts(b, "}");
}

/* Six digits of the gradient are plenty: nothing is computed from it but weights. */
static void
put_cell(struct kbuf *b, const struct cell *cell, int c, const double *g)
{
	double size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + g[3] * g[3]);
	char name[KARCH_DIMS + 1];

	karch_cell_text(c, name);
	kbuf_printf(b,
	    "{\"kind\":\"cell\",\"cell\":\"%s\",\"gradient\":[%.6g,%.6g,%.6g,%.6g],\"magnitude\":%."
	    "6g,",
	    name, g[0], g[1], g[2], g[3], size);
	put_rest(b, cell);
	kbuf_puts(b, "\n");
}

static void
put_header(const struct gradient *g, const char *campaign, long cells)
{
	json_t *header = json_pack("{s:s,s:s,s:s,s:I,s:I,s:I,s:I}", "kind", "gradient", "schema",
	    "gradient/1", "campaign", campaign, "trial", (json_int_t)g->trial, "cells",
	    (json_int_t)cells, "transitions", (json_int_t)g->kept, "total", (json_int_t)g->total);

	kout_json(header);
	json_decref(header);
}

void
gradient_put(const struct gradient *g, const struct kcamp *camp, const struct karch *archive)
{
	double pull[KARCH_CELLS], at[KARCH_DIMS];
	struct kbuf b = { 0 };
	long n = 0;

	pulls(archive, pull);
	for (int c = 0; c < KARCH_CELLS; c++) {
		if (!g->cells[c].used)
			continue;
		slope(&g->cells[c], c, pull, at);
		put_cell(&b, &g->cells[c], c, at);
		n++;
	}
	kbuf_add(&b, g->old.len ? g->old.s : "", g->old.len);
	kbuf_add(&b, g->added.data ? g->added.data + g->start : "", g->added.len - g->start);
	put_header(g, kcamp_str(camp, "name"), n);
	if (b.len)
		kout_raw(b.data, b.len - 1);
	kbuf_free(&b);
}

void
gradient_free(struct gradient *g)
{
	for (int c = 0; c < KARCH_CELLS; c++)
		cell_clear(&g->cells[c]);
	kbuf_free(&g->added);
	free(g->text);
}
