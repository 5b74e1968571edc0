/* SPDX-License-Identifier: Apache-2.0 */
/* kgrad: the gradient's file: a header, a line per cell, then the transitions, whose lines pass through as they are. */
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
read_reals(struct kspan array, double *v, size_t n)
{
	const char *p = array.s, *end = array.s + array.len;
	size_t got = 0;

	while (p && p < end && got < n) {
		char *after;

		v[got] = strtod(p + 1, &after);
		if (after == p + 1)
			break;
		got++;
		p = after;
	}
	return got;
}

static void
read_directions(struct cell *cell, struct kspan text)
{
	json_t *list = kskim_json(text);
	size_t n = json_array_size(list);

	cell->directions = kcalloc(n, sizeof *cell->directions);
	cell->count = cell->capacity = n;
	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_array_get(list, i), *step = json_object_get(one, "direction");

		for (size_t d = 0; d < KARCH_DIMS; d++)
			cell->directions[i].step[d] = (int)json_integer_value(json_array_get(step, d));
		cell->directions[i].samples = (long)kjson_int_or(one, "samples", 0);
		cell->directions[i].successes = (long)kjson_int_or(one, "successes", 0);
		cell->directions[i].delta = kjson_num_or(one, "delta", 0);
	}
	json_decref(list);
}

void
cell_open(struct cell *cell)
{
	enum { ARRIVALS, IMPROVEMENTS, DISCOVERIES, REPLACEMENTS, DELTA, SINCE, BASE, SUM, WEIGHT, DIRECTIONS, KEYS };
	static const char *const keys[] = {
		"arrivals", "improvements", "discoveries", "replacements", "delta", "since", "base", "sum",
		"weight", "directions",
	};
	struct kspan v[KEYS];
	struct kbuf object = { 0 };

	if (!cell->rest.s)
		return;
	kbuf_puts(&object, "{");
	kbuf_add(&object, cell->rest.s, cell->rest.len);
	if (!kskim_members((struct kspan){ object.data, object.len }, keys, KEYS, v))
		kdie(K_USAGE, "a cell of the gradient is malformed");
	cell->arrivals = (long)kskim_num(v[ARRIVALS], 0);
	cell->improvements = (long)kskim_num(v[IMPROVEMENTS], 0);
	cell->discoveries = (long)kskim_num(v[DISCOVERIES], 0);
	cell->replacements = (long)kskim_num(v[REPLACEMENTS], 0);
	cell->delta = kskim_num(v[DELTA], 0);
	cell->since = (long long)kskim_num(v[SINCE], 0);
	cell->base = (long)kskim_num(v[BASE], 0);
	read_reals(v[SUM], cell->sum, KARCH_DIMS);
	read_reals(v[WEIGHT], cell->weight, KARCH_DIMS);
	read_directions(cell, v[DIRECTIONS]);
	cell->rest = (struct kspan){ 0 };
	kbuf_free(&object);
}

void
cell_clear(struct cell *cell)
{
	free(cell->directions);
	*cell = (struct cell){ 0 };
}

static void
read_cell(struct gradient *g, struct kspan line, const char *path, long lineno)
{
	enum { CELL, CONFIDENCE, DEPARTURES, UPDATED, SINCE, FITNESS, RATES, KEYS };
	static const char *const keys[] = {
		"cell", "confidence", "departures", "updated", "since", "fitness", "rates",
	};
	const size_t name = sizeof rest_begins - 1;
	struct kspan v[KEYS];
	struct cell *cell;
	char text[KARCH_WORD];
	const char *rest;
	int c;

	if (!kskim_members(line, keys, KEYS, v) || !kskim_word(v[CELL], text, sizeof text) || (c = karch_cell(text)) < 0
	    || g->cells[c].used || !v[CONFIDENCE].s || (rest = v[CONFIDENCE].s - name) < line.s
	    || memcmp(rest, rest_begins, name))
		kdie(K_USAGE, "%s:%ld: not a cell as kgrad writes it", path, lineno);
	cell = &g->cells[c];
	cell->used = true;
	cell->rest = (struct kspan){ rest, (size_t)(line.s + line.len - rest) };
	cell->departures = (long)kskim_num(v[DEPARTURES], 0);
	cell->updated = (long)kskim_num(v[UPDATED], 0);
	cell->since = (long long)kskim_num(v[SINCE], 0);
	if (read_reals(v[FITNESS], cell->fitness, KARCH_DIMS) != KARCH_DIMS
	    || read_reals(v[RATES], cell->rates, KARCH_DIMS) != KARCH_DIMS)
		kdie(K_USAGE, "%s:%ld: a cell without its parts of the gradient", path, lineno);
}

static void
read_header(struct gradient *g, struct kspan line, const char *path)
{
	enum { SCHEMA, TRIAL, TOTAL, TRANSITIONS, KEYS };
	static const char *const keys[] = { "schema", "trial", "total", "transitions" };
	struct kspan v[KEYS];
	char schema[KARCH_WORD];

	if (!kskim_members(line, keys, KEYS, v) || !kskim_word(v[SCHEMA], schema, sizeof schema)
	    || strcmp(schema, "gradient/1"))
		kdie(K_USAGE, "%s:1: not a gradient", path);
	g->trial = (long)kskim_num(v[TRIAL], 0);
	g->total = (long long)kskim_num(v[TOTAL], 0);
	g->kept = (size_t)kskim_num(v[TRANSITIONS], 0);
}

static size_t
count_lines(struct kspan text)
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
		kdie(K_USAGE, "%s: %s", path, len ? "truncated (no newline at the end)" : "is empty");
	while (at < len && strncmp(g->text + at, transition, sizeof transition - 1)) {
		const char *line = g->text + at;
		size_t n = (size_t)((const char *)memchr(line, '\n', len - at) - line);

		if (!lineno++)
			read_header(g, (struct kspan){ line, n }, path);
		else
			read_cell(g, (struct kspan){ line, n }, path, lineno);
		at += n + 1;
	}
	g->old = (struct kspan){ g->text + at, len - at };
	if (!lineno || count_lines(g->old) != g->kept)
		kdie(K_USAGE, "%s: its header does not count its transitions right", path);
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

		kbuf_printf(b, "%s{\"direction\":[%d,%d,%d,%d],\"samples\":%ld,\"successes\":%ld,\"delta\":%s}",
		    i ? "," : "", v->step[0], v->step[1], v->step[2], v->step[3], v->samples, v->successes,
		    karch_real(v->delta, number));
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
	kbuf_printf(b, "\"rate\":%s,", karch_real(cell->departures ? (double)cell->improvements / n : 0.5, number));
	kbuf_printf(b,
	    "\"departures\":%ld,\"arrivals\":%ld,\"improvements\":%ld,\"discoveries\":%ld,\"replacements\":%ld,",
	    cell->departures, cell->arrivals, cell->improvements, cell->discoveries, cell->replacements);
	kbuf_printf(b, "\"delta\":%s,\"since\":%lld,\"updated\":%ld,\"base\":%ld,", karch_real(cell->delta, number),
	    cell->since, cell->updated, cell->base);
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
	kbuf_printf(b, "{\"kind\":\"cell\",\"cell\":\"%s\",\"gradient\":[%.6g,%.6g,%.6g,%.6g],\"magnitude\":%.6g,",
	    name, g[0], g[1], g[2], g[3], size);
	put_rest(b, cell);
	kbuf_puts(b, "\n");
}

static void
put_header(const struct gradient *g, const char *campaign, long cells)
{
	json_t *header = json_pack("{s:s,s:s,s:s,s:I,s:I,s:I,s:I}", "kind", "gradient", "schema", "gradient/1",
	    "campaign", campaign, "trial", (json_int_t)g->trial, "cells", (json_int_t)cells,
	    "transitions", (json_int_t)g->kept, "total", (json_int_t)g->total);

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
		slope(camp, &g->cells[c], c, pull, at);
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
