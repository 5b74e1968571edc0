/* SPDX-License-Identifier: Apache-2.0 */
/* kgrad: the gradient's file: a header, a line per cell, then the newest transitions. */

#include "kgrad.h"

struct gradient gradient;

json_t *
cell_open(int c)
{
	json_t **cell = &gradient.cells[c];

	if (!*cell && gradient.old.cell[c].s)
		*cell = json_loadb(gradient.old.cell[c].s, gradient.old.cell[c].len, 0, NULL);
	else if (!*cell)
		*cell = json_pack("{s:s,s:s,s:i,s:i,s:i,s:i,s:i,s:i,s:[f,f,f,f],s:[f,f,f,f],s:[]}",
		    "kind", "cell", "cell", karch_cell_text(c), "departures", 0, "arrivals", 0,
		    "improvements", 0, "discoveries", 0, "replacements", 0, "base", 0, "sum", 0.0,
		    0.0, 0.0, 0.0, "weight", 0.0, 0.0, 0.0, 0.0, "directions");
	if (json_array_size(json_object_get(*cell, "sum")) != KARCH_DIMS)
		kdie_usage("a cell of the gradient is malformed; make views makes it again");
	return *cell;
}

void
gradient_load(const char *path)
{
	gradient = (struct gradient){ 0 };
	karch_gradient_load(&gradient.old, path);
	gradient.trial = kjson_int_or(gradient.old.header, "trial", -1);
	gradient.total = kjson_int(gradient.old.header, "total");
}

static void
put_cell(struct kbuf *b, json_t *cell)
{
	const json_t *sum = json_object_get(cell, "sum"), *weight = json_object_get(cell, "weight");
	double left = kjson_num(cell, "departures");
	json_t *slopes = json_array();
	auto_free char *text = NULL;

	for (size_t d = 0; d < KARCH_DIMS; d++) {
		double w = json_number_value(json_array_get(weight, d));

		json_array_append_new(slopes,
		    json_real(w > 1e-12 ? json_number_value(json_array_get(sum, d)) / w : 0));
	}
	kjson_extend(cell, "{s:f,s:o}", "rate",
	    left > 0 ? kjson_num(cell, "improvements") / left : 0.5, "gradient", slopes);
	text = json_dumps(cell, JSON_COMPACT | JSON_REAL_PRECISION(15));
	kbuf_puts(b, text);
}

static void
put_header(const char *campaign, long cells, long after)
{
	json_auto_t *header = NULL;
	json_t *lengths = json_array();

	kforeach_of(length, gradient.old.lengths, KARCH_LENGTHS)
		kjson_append(lengths, "{s:f,s:f,s:f}", "tries", length->tries, "correct",
		    length->correct, "gain", length->gain);
	header = json_pack("{s:s,s:s,s:s,s:I,s:I,s:I,s:I,s:o,s:o*}", "kind", "gradient", "schema",
	    KARCH_GRADIENT, "campaign", campaign, "trial", (json_int_t)gradient.trial, "cells",
	    (json_int_t)cells, "transitions", (json_int_t)gradient.added_count, "total",
	    (json_int_t)gradient.total, "lengths", lengths, "after",
	    after < 0 ? NULL : json_integer(after));
	kout_json(header);
}

void
gradient_put(long after)
{
	auto_buf struct kbuf b = { 0 };
	long n = 0;

	if (!karch_is_thin(after, gradient.trial, KARCH_WHOLE_TRIALS, (long)gradient.total))
		after = -1;
	for (int c = 0; c < KARCH_CELLS; c++) {
		if (gradient.cells[c])
			put_cell(&b, gradient.cells[c]);
		else if (gradient.old.cell[c].s && after < 0)
			kbuf_add(&b, gradient.old.cell[c].s, gradient.old.cell[c].len);
		else
			continue;
		kbuf_puts(&b, "\n");
		n++;
	}
	kbuf_add(&b, gradient.added.data ?: "", gradient.added.len);
	put_header(kcamp_str("name"), n, after);
	if (b.len)
		kout_raw(b.data, b.len - 1);
}

void
gradient_free(void)
{
	kforeach_of(cell, gradient.cells, KARCH_CELLS)
		json_decref(*cell);
	karch_gradient_free(&gradient.old);
	kbuf_free(&gradient.added);
}
