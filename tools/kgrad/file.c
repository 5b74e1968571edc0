/* SPDX-License-Identifier: Apache-2.0 */
/* kgrad: the gradient's file: a header, a line per cell, then the newest transitions. */

#include "kgrad.h"

struct gradient gradient;

/* Numbers of an array, at most N; how many. */
static size_t
read_reals(const json_t *list, double *v, size_t n)
{
	size_t got = 0;

	for (; got < n && json_is_number(json_array_get(list, got)); got++)
		v[got] = json_number_value(json_array_get(list, got));
	return got;
}

void
add_delta(struct direction *v, double delta)
{
	if (v->timed == DELTAS)
		memmove(v->deltas, v->deltas + 1, --v->timed * sizeof *v->deltas);
	v->deltas[v->timed++] = delta;
}

static void
read_directions(struct cell *cell, const json_t *list)
{
	size_t n = json_array_size(list);

	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_array_get(list, i),
		             *step = json_object_get(one, "direction"),
		             *deltas = json_object_get(one, "deltas");
		struct direction *v;

		kgrow(cell->directions, cell->count);
		v = &cell->directions[cell->count++];
		*v = (struct direction){ 0 };
		for (size_t d = 0; d < KARCH_DIMS; d++)
			v->step[d] = (int)json_integer_value(json_array_get(step, d));
		v->samples = (long)kjson_int_or(one, "samples", 0);
		v->successes = (long)kjson_int_or(one, "successes", 0);
		v->failures = (long)kjson_int_or(one, "failures", 0);
		for (size_t d = 0; d < json_array_size(deltas); d++)
			add_delta(v, json_number_value(json_array_get(deltas, d)));
	}
}

void
cell_open(struct cell *cell)
{
	json_t *o;

	if (!cell->line)
		return;
	o = json_loadb(cell->line, cell->len, 0, NULL);
	if (json_array_size(json_object_get(o, "sum")) != KARCH_DIMS)
		kdie(K_USAGE, "a cell of the gradient is malformed; make views makes it again");
	cell->departures = (long)kjson_int_or(o, "departures", 0);
	cell->arrivals = (long)kjson_int_or(o, "arrivals", 0);
	cell->improvements = (long)kjson_int_or(o, "improvements", 0);
	cell->discoveries = (long)kjson_int_or(o, "discoveries", 0);
	cell->replacements = (long)kjson_int_or(o, "replacements", 0);
	cell->updated = (long)kjson_int_or(o, "updated", 0);
	cell->base = (long)kjson_int_or(o, "base", 0);
	read_reals(json_object_get(o, "sum"), cell->sum, KARCH_DIMS);
	read_reals(json_object_get(o, "weight"), cell->weight, KARCH_DIMS);
	read_directions(cell, json_object_get(o, "directions"));
	cell->line = NULL;
	json_decref(o);
}

static void
cell_clear(struct cell *cell)
{
	free(cell->directions);
	*cell = (struct cell){ 0 };
}

/* The header of the newest file. */
static void
take_header(const json_t *o)
{
	const json_t *lengths = json_object_get(o, "lengths");

	gradient.trial = (long)kjson_int_or(o, "trial", 0);
	gradient.total = (long long)kjson_int_or(o, "total", 0);
	for (size_t i = 0; i < KARCH_LENGTHS; i++) {
		const json_t *one = json_array_get(lengths, i);

		gradient.lengths[i] = (struct length){ kjson_num_or(one, "tries", 0),
			kjson_num_or(one, "correct", 0), kjson_num_or(one, "gain", 0) };
	}
}

void
gradient_load(const char *path)
{
	gradient = (struct gradient){ .trial = -1 };
	karch_gradient_load(&gradient.old, path);
	if (gradient.old.header)
		take_header(gradient.old.header);
	for (int c = 0; c < KARCH_CELLS; c++)
		gradient.cells[c] = (struct cell){ .used = gradient.old.cell[c].s,
			.line = gradient.old.cell[c].s,
			.len = gradient.old.cell[c].len };
}

static void
put_reals(struct kbuf *b, const char *name, const double *v, size_t n)
{
	char number[32];

	kbuf_printf(b, ",\"%s\":[", name);
	for (size_t i = 0; i < n; i++)
		kbuf_printf(b, "%s%s", i ? "," : "", karch_real(v[i], number));
	kbuf_puts(b, "]");
}

static void
put_directions(struct kbuf *b, const struct cell *cell)
{
	kbuf_puts(b, ",\"directions\":[");
	for (size_t i = 0; i < cell->count; i++) {
		const struct direction *v = &cell->directions[i];

		kbuf_printf(b,
		    "%s{\"direction\":[%d,%d,%d,%d],\"samples\":%ld,\"successes\":%ld,\"failures\":"
		    "%"
		    "ld",
		    i ? "," : "", v->step[0], v->step[1], v->step[2], v->step[3], v->samples,
		    v->successes, v->failures);
		put_reals(b, "deltas", v->deltas, v->timed);
		kbuf_puts(b, "}");
	}
	kbuf_puts(b, "]");
}

static void
put_cell(struct kbuf *b, const struct cell *cell, int c)
{
	double slope[KARCH_DIMS];
	char name[KARCH_DIMS + 1], rate[32];

	karch_cell_text(c, name);
	for (int d = 0; d < KARCH_DIMS; d++)
		slope[d] = cell->weight[d] > 1e-12 ? cell->sum[d] / cell->weight[d] : 0;
	karch_real(
	    cell->departures ? (double)cell->improvements / (double)cell->departures : 0.5, rate);
	kbuf_printf(b,
	    "{\"kind\":\"cell\",\"cell\":\"%s\",\"rate\":%s,\"departures\":%ld,\"arrivals\":%ld,"
	    "\"improvements\":%ld,\"discoveries\":%ld,\"replacements\":%ld,\"updated\":%ld,"
	    "\"base\":%"
	    "ld",
	    name, rate, cell->departures, cell->arrivals, cell->improvements, cell->discoveries,
	    cell->replacements, cell->updated, cell->base);
	put_reals(b, "gradient", slope, KARCH_DIMS);
	put_reals(b, "sum", cell->sum, KARCH_DIMS);
	put_reals(b, "weight", cell->weight, KARCH_DIMS);
	put_directions(b, cell);
	kbuf_puts(b, "}");
}

static void
put_header(const char *campaign, long cells, long after)
{
	json_auto_t *header = json_pack("{s:s,s:s,s:s,s:I,s:I,s:I,s:I}", "kind", "gradient",
	    "schema", KARCH_GRADIENT, "campaign", campaign, "trial", (json_int_t)gradient.trial,
	    "cells", (json_int_t)cells, "transitions", (json_int_t)gradient.added_count, "total",
	    (json_int_t)gradient.total);
	json_t *lengths = json_array();

	for (size_t i = 0; i < KARCH_LENGTHS; i++)
		json_array_append_new(lengths,
		    json_pack("{s:f,s:f,s:f}", "tries", gradient.lengths[i].tries, "correct",
		        gradient.lengths[i].correct, "gain", gradient.lengths[i].gain));
	kjson_set(header, "lengths", lengths);
	if (after >= 0)
		kjson_set(header, "after", json_integer(after));
	kout_json(header);
}

void
gradient_put(const struct kcamp *camp, long after)
{
	auto_buf struct kbuf b = { 0 };
	long n = 0;

	if (!karch_is_thin(after, gradient.trial, KARCH_WHOLE_TRIALS, (long)gradient.total))
		after = -1;
	for (int c = 0; c < KARCH_CELLS; c++) {
		const struct cell *cell = &gradient.cells[c];

		if (!cell->used || (after >= 0 && cell->line))
			continue;
		if (cell->line)
			kbuf_add(&b, cell->line, cell->len);
		else
			put_cell(&b, cell, c);
		kbuf_puts(&b, "\n");
		n++;
	}
	kbuf_add(&b, gradient.added.data ? gradient.added.data : "", gradient.added.len);
	put_header(kcamp_str(camp, "name"), n, after);
	if (b.len)
		kout_raw(b.data, b.len - 1);
}

void
gradient_free(void)
{
	for (int c = 0; c < KARCH_CELLS; c++)
		cell_clear(&gradient.cells[c]);
	karch_gradient_free(&gradient.old);
	kbuf_free(&gradient.added);
}
