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
		*cell = json_pack("{s:s,s:s,s:i,s:i,s:[]}", "kind", "cell", "cell",
		    karch_cell_text(c), "departures", 0, "improvements", 0, "directions");
	if (!json_is_array(json_object_get(*cell, "directions")))
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
		auto_free char *text = gradient.cells[c]
		    ? json_dumps(gradient.cells[c], JSON_COMPACT | JSON_REAL_PRECISION(15))
		    : NULL;

		if (text)
			kbuf_puts(&b, text);
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
