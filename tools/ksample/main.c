/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksample: begins the record of one candidate: a parent from the archive, other kernels to look at,
 * a strategy and the target cell. All random numbers come from streams of the campaign's seed; see
 * plan_branch.
 */

#include "koption.h"
#include "krecord.h"
#include "ksample.h"

static const char usage[] = "usage: ksample [-c DIR] [--trial N] [--branch LIST] [-a FILE] "
                            "[-g FILE] [-o FILE | --thin]\n";

struct search search;

static struct arguments {
	const char *output;
	char *archive, *gradient; /* owned */
	long trial;               /* -1: the one after the archive's */
	bool branch[MAX_BRANCHES + 1];
	bool thin;
} given;

/* Read the cells of a gradient file; PATH NULL: none. */
static void
load_slopes(void)
{
	struct karch_gradient g;

	search.field = kcalloc(1, sizeof *search.field);
	kforeach_of(one, search.paid, KARCH_CELLS)
		*one = 0.5;
	if (!given.gradient || !kcamp_bool("gradient.enabled"))
		return;
	karch_gradient_load(&g, given.gradient);
	memcpy(search.field->lengths, g.lengths, sizeof g.lengths);
	for (int c = 0; c < KARCH_CELLS; c++) {
		json_t *cell = g.cell[c].s ? json_loadb(g.cell[c].s, g.cell[c].len, 0, NULL) : NULL;
		double left = kjson_num(cell, "departures");

		if (!g.cell[c].s)
			continue;
		if (!cell)
			kdie_usage(
			    "%s: a cell is not JSON; make views makes it again", given.gradient);
		search.directions[c] = json_incref(json_object_get(cell, "directions"));
		search.paid[c] = (kjson_num(cell, "improvements") + 1) / (left + 2);
		search.has_field |= left > 0;
		field_add(search.field, c, search.directions[c]);
		json_decref(cell);
	}
	karch_gradient_free(&g);
	field_fit(search.field);
}

static void
free_slopes(void)
{
	kforeach_of(direction, search.directions, KARCH_CELLS)
		json_decref(*direction);
	free(search.field);
}

/* Without options: the campaign's newest archive, or the one before the requested trial. */
static char *
default_file(long trial, const char *name)
{
	const char *file = kshown("%s.ndjson", name),
	           *path = trial < 0 ? kplace_in(kcamp.dir, file) : kplace_trial(trial, file);

	return kis_there(path) ? kstrdup(path) : NULL;
}

static bool
is_hidden(const char *id)
{
	const char *best = kjson_str(karch.header, "best.id");
	long trial, branch;

	if (!kcamp_linear() && kverdict_failed(search.failures, id))
		return true;
	return karch_id(id, &trial, &branch) && strcmp(id, best) && trial > 0 &&
	    kmemo_masked(trial, search.trial);
}

/* Removes entries that name programs from a list of the header. */
static void
hide_entries(const char *list)
{
	json_t *entries = json_object_get(karch.header, list);

	for (size_t i = json_array_size(entries); i-- > 0;)
		if (is_hidden(kjson_str(json_array_get(entries, i), "id")))
			json_array_remove(entries, i);
}

/* The best of the programs that are shown, if the best of all failed in the application. */
static void
choose_best(void)
{
	const struct karch_row *best = NULL;
	struct karch_row hidden;

	if (!karch_best(&hidden) || !is_hidden(hidden.id))
		return;
	for (size_t i = 0; i < KARCH_CELLS + karch.programs; i++) {
		const struct karch_row *row =
		    i < KARCH_CELLS ? karch.elite[i] : karch.program[i - KARCH_CELLS];

		if (row && row->status == STATUS_CORRECT &&
		    (!best || speed_of(row) > speed_of(best)))
			best = row;
	}
	if (best)
		karch_set_best(best);
	else
		json_object_del(karch.header, "best");
}

/*
 * Programs of masked trials are not used as parents, inspirations or warnings, but the best program
 * stays the best; a program that failed in the application is never used.
 */
static void
hide_masked(void)
{
	kmemo_masks_load();
	search.failures = kverdict_failures();
	kforeach_of(one, karch.elite, KARCH_CELLS)
		if (*one && is_hidden((*one)->id)) {
			karch_row_free(*one);
			*one = NULL;
		}
	for (size_t i = karch.programs; i-- > 0;)
		if (is_hidden(karch.program[i]->id)) {
			karch_row_free(karch.program[i]);
			memmove(karch.program + i, karch.program + i + 1,
			    (--karch.programs - i) * sizeof *karch.program);
		}
	hide_entries("errors");
	hide_entries("broken");
	choose_best();
}

static void
load(void)
{
	if (!given.archive)
		given.archive = default_file(given.trial < 0 ? -1 : given.trial - 1, "archive");
	karch_load(given.archive);
	search.trial = given.trial < 0 ? karch.trial + 1 : given.trial;
	if (search.trial < 1)
		search.trial = 1;
	if (karch.trial >= search.trial)
		kdie_usage("%s: is the archive of trial %ld, which cannot come before trial %ld",
		    given.archive, karch.trial, search.trial);
	hide_masked();
	if (!given.gradient && karch.header)
		given.gradient = default_file(karch.trial, "gradient");
	load_slopes();
}

/* "2", or "01 03" for several. */
static void
read_branches(const char *list)
{
	char *end;

	for (; *list; list = end + strspn(end, " ")) {
		long branch = strtol(list, &end, 10);

		if (end == list || branch < 1 || branch > MAX_BRANCHES)
			koption_misuse(usage, "--branch needs numbers from 1 to 99");
		given.branch[branch] = true;
	}
}

static void
parse(int argc, char **argv)
{
	const char *archive = NULL, *gradient = NULL, *branches = "1";
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&kcamp.dir),
		KOPTION_OUTPUT(&given.output),
		KOPTION_NUMBER("trial", &given.trial, 1, 999999,
		    "N\ttrial to sample for (default: the next one)"),
		KOPTION_TEXT("branch", &branches, "LIST\tbranches of the trial (default: 1)"),
		{ 'a', "archive", .text = &archive, .help = "FILE\tarchive of the previous trial" },
		{ 'g', "gradient", .text = &gradient,
		    .help = "FILE\tgradient of the previous trial" },
		KOPTION_FLAG("thin", &given.thin,
		    "\twrite the part of each record to its place in the trial's folder"),
	};

	koption_all(options, usage, argc, argv);
	read_branches(branches);
	given.archive = kstrdup(archive);
	given.gradient = kstrdup(gradient);
}

/* Writes the record of BRANCH; PLAN is NULL in a linear search. */
static void
put_sample(const struct plan *plan, int branch)
{
	json_auto_t *record = json_pack("{s:s,s:s,s:I,s:i,s:o,s:o}", "schema", KRECORD_SCHEMA,
	    "campaign", kcamp_str("name"), "trial", (json_int_t)search.trial, "branch", branch,
	    "id", json_sprintf("%03ld/%02d", search.trial, branch), "sample",
	    plan ? sample_json(plan, branch) : linear_json());

	if (given.thin)
		krecord_store(record, "sample", NULL);
	else
		kout_json(record);
}

int
main(int argc, char **argv)
{
	struct plan plans[MAX_BRANCHES + 1];
	int last = MAX_BRANCHES;
	bool linear;

	kutil_init("ksample");
	given = (struct arguments){ .trial = -1 };
	parse(argc, argv);
	/* A benchmark makes many samples in one process. */
	search = (struct search){ 0 };
	kcamp_load();
	search.seed = (uint64_t)kcamp_num("seed");
	search.branches = (int)kcamp_branches();
	load();
	linear = kcamp_linear();
	while (!given.branch[last])
		last--;
	if (linear && last > 1)
		kdie_usage(
		    "--branch %d: must be 1: a round of a linear search has one branch", last);
	if (!linear)
		plan_branches(plans, last);
	if (!given.thin)
		kout_open(given.output);
	for (int b = 1; b <= last; b++)
		if (given.branch[b])
			put_sample(linear ? NULL : &plans[b], b);
	if (!given.thin)
		kout_commit();
	free_slopes();
	kmemo_masks_free();
	json_decref(search.failures);
	free(given.archive);
	free(given.gradient);
	return K_OK;
}
