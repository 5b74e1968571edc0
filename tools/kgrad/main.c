/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgrad: the gradient of a search: which steps on the behaviour grid have paid, from where. Old
 * gradient, the archive before a trial and the trial's scored records in, new gradient out; ksample
 * weighs parents and writes hints with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kgrad.h"
#include "kio.h"
#include "koption.h"
#include "kplace.h"

static const char usage[] =
    "usage: kgrad [-c DIR] [-g GRADIENT] [-a ARCHIVE] [--thin] [-o FILE] [SCORED ...]\n"
    "       kgrad --hints CELL | --cells [--json] [-c DIR] [-o FILE] [GRADIENT]\n";

struct arguments {
	const char *dir, *gradient, *archive, *output;
	int hints; /* cell, or -1 */
	bool cells, json, thin;
};

static void
set_hints(void *to, const char *name, const char *value)
{
	int *hints = to;

	*hints = karch_cell(value);
	if (*hints < 0)
		kdie(K_USAGE, "%s %s: must be a cell such as 2103", name, value);
}

static void
parse(struct arguments *a, int argc, char **argv)
{
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&a->dir),
		{ 'g', "gradient", .text = &a->gradient, .help = "FILE\tstart from this gradient" },
		{ 'a', "archive", .text = &a->archive,
		    .help = "FILE\tarchive of the previous trial" },
		KOPTION_OUTPUT(&a->output),
		{ 0, "thin", .flag = &a->thin,
		    .help = "\twrite what is new, as in a trial's folder" },
		{ 0, "hints", .call = set_hints, .to = &a->hints,
		    .help = "CELL\tprint hints for a cell, such as 2103" },
		{ 0, "cells", .flag = &a->cells, .help = "\tprint all cells" },
		{ 0, "json", .flag = &a->json, .help = "\tprint the view as JSON" },
	};

	koption_read(options, LEN(options), usage, argc, argv);
}

/* "+compute -memory" */
static void
put_step(const json_t *direction, struct kbuf *b)
{
	for (size_t d = 0; d < KARCH_DIMS; d++) {
		json_int_t step = json_integer_value(json_array_get(direction, d));

		if (step)
			kbuf_printf(
			    b, "%s%+lld %s", b->len ? ", " : "", (long long)step, karch_dims[d]);
	}
}

/* Print what ksample would tell the model from this cell. */
static int
show_hints(const struct arguments *a, const json_t *cell)
{
	json_t *hints = karch_hints(json_object_get(cell, "directions")), *h;
	int code = json_array_size(hints) ? K_OK : K_NO;
	size_t i;

	json_array_foreach(hints, i, h) {
		struct kbuf b = { 0 };

		if (a->json) {
			kout_json(h);
			continue;
		}
		put_step(json_object_get(h, "direction"), &b);
		kbuf_printf(&b, ": %lld of %lld tries were faster, by %.3g %% in the median",
		    (long long)kjson_int_or(h, "successes", 0),
		    (long long)kjson_int_or(h, "samples", 0), 100 * kjson_num_or(h, "gain", 0));
		kout_line(b.data, b.len);
		kbuf_free(&b);
	}
	json_decref(hints);
	return code;
}

static void
show_cell(const struct arguments *a, const struct span *line, const json_t *o)
{
	const json_t *slope = json_object_get(o, "gradient");
	struct kbuf b = { 0 };

	if (a->json) {
		kout_raw(line->s, line->len);
		return;
	}
	kbuf_printf(&b, "%s %6lld %6lld  %4.0f %% ", kjson_str_or(o, "cell", "?"),
	    (long long)kjson_int_or(o, "departures", 0), (long long)kjson_int_or(o, "arrivals", 0),
	    100 * kjson_num_or(o, "rate", 0));
	for (size_t d = 0; d < KARCH_DIMS; d++)
		kbuf_printf(&b, " %+9.3f", json_number_value(json_array_get(slope, d)));
	kout_line(b.data, b.len);
	kbuf_free(&b);
}

/* The gradient that belongs to the campaign's newest archive. */
static char *
newest_gradient(const char *dir)
{
	char *archive = kplace_in(dir, "archive.ndjson"), *path;
	json_t *header;

	/* It refuses a link that leads elsewhere. */
	kcamp_free(kcamp_load(dir));
	header = kin_first(archive);
	path = kplace_trial(dir, (long)kjson_int_or(header, "trial", 0), "gradient.ndjson");
	json_decref(header);
	free(archive);
	return path;
}

static int
view(const struct arguments *a, const char *operand)
{
	static const char heading[] = "cell  left   came   paid     memory   compute "
	                              "parallelism   esimd";
	char *path = operand ? kstrdup(operand)
	    : a->gradient    ? kstrdup(a->gradient)
	                     : newest_gradient(a->dir);
	struct gradient g;
	int code = K_NO;

	gradient_load(&g, path);
	kout_open(a->output);
	if (a->cells && !a->json)
		kout_line(heading, sizeof heading - 1);
	for (int c = 0; c < KARCH_CELLS; c++) {
		const struct span *line = &g.cells[c].line;
		json_t *o;

		if (!g.cells[c].used || (!a->cells && c != a->hints))
			continue;
		o = json_loadb(line->s, line->len, 0, NULL);
		if (a->cells)
			show_cell(a, line, o);
		code = a->cells ? K_OK : show_hints(a, o);
		json_decref(o);
	}
	kout_commit();
	gradient_free(&g);
	free(path);
	return code;
}

static int
update(const struct arguments *a, char **operands, size_t count)
{
	struct kcamp *camp = kcamp_load(a->dir);
	struct gradient g;
	struct karch archive;
	long after;

	gradient_load(&g, a->gradient);
	after = a->thin ? g.trial : -1;
	karch_load(&archive, a->archive, false);
	gradient_update(&g, camp, &archive, operands, count);
	kout_open(a->output);
	gradient_put(&g, camp, after);
	kout_commit();
	gradient_free(&g);
	karch_free(&archive);
	kcamp_free(camp);
	return K_OK;
}

int
main(int argc, char **argv)
{
	struct arguments a = { .dir = ".", .hints = -1 };

	kutil_init("kgrad");
	parse(&a, argc, argv);
	if (a.cells && a.hints >= 0)
		koption_misuse(usage, "give one view only");
	if (!a.cells && a.hints < 0 && a.json)
		koption_misuse(usage, "--json needs a view");
	if (!a.cells && a.hints < 0)
		return update(&a, argv + optind, (size_t)(argc - optind));
	if (argc - optind > 1)
		koption_misuse(usage, "give one gradient only");
	return view(&a, argv[optind]);
}
