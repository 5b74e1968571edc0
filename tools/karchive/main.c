/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karchive: the archive of a search. Old archive and a trial's scored records in, new archive out: one elite per cell
 * of the behaviour grid, islands, a capped population. Or, with an option that names a view, what an archive holds.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "karchive.h"
#include "kio.h"
#include "kutil.h"

static const char usage[] =
    "usage: karchive [-c DIR] [-a ARCHIVE] [-o FILE] [SCORED ...]\n"
    "       karchive --best | --top N | --cells | --lineage ID | --stats | --check [--json] [-c DIR] [-o FILE] [ARCHIVE]\n";

struct arguments {
	const char *dir, *archive, *output;
	struct view_options view;
};

static _Noreturn void
die_usage(const char *why)
{
	kwarn("%s", why);
	fputs(usage, stderr);
	exit(K_USAGE);
}

static void
pick_view(struct arguments *a, enum view view)
{
	if (a->view.view != VIEW_NONE)
		die_usage("one view at a time");
	a->view.view = view;
}

enum { OPT_BEST = 256, OPT_TOP, OPT_CELLS, OPT_LINEAGE, OPT_STATS, OPT_CHECK, OPT_JSON };

static const struct option options[] = {
	{ "campaign", required_argument, NULL, 'c' }, { "archive", required_argument, NULL, 'a' },
	{ "output", required_argument, NULL, 'o' }, { "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ "best", no_argument, NULL, OPT_BEST }, { "top", required_argument, NULL, OPT_TOP },
	{ "cells", no_argument, NULL, OPT_CELLS }, { "lineage", required_argument, NULL, OPT_LINEAGE },
	{ "stats", no_argument, NULL, OPT_STATS }, { "check", no_argument, NULL, OPT_CHECK }, { "json", no_argument, NULL, OPT_JSON }, { 0 },
};

static void
parse(struct arguments *a, int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "c:a:o:hV", options, NULL)) != -1)
		switch (opt) {
		case 'c': a->dir = optarg; break;
		case 'a': a->archive = optarg; break;
		case 'o': a->output = optarg; break;
		case 'h': fputs(usage, stdout); exit(K_OK);
		case 'V': kversion(); exit(K_OK);
		case OPT_BEST: pick_view(a, VIEW_BEST); break;
		case OPT_TOP:
			pick_view(a, VIEW_TOP);
			a->view.top = (size_t)knum_long(optarg, 1, 1000000000, "--top");
			break;
		case OPT_CELLS: pick_view(a, VIEW_CELLS); break;
		case OPT_LINEAGE:
			pick_view(a, VIEW_LINEAGE);
			a->view.id = optarg;
			break;
		case OPT_STATS: pick_view(a, VIEW_STATS); break;
		case OPT_CHECK: pick_view(a, VIEW_CHECK); break;
		case OPT_JSON: a->view.json = true; break;
		default: fputs(usage, stderr); exit(K_USAGE);
		}
}

static int
view(const struct arguments *a, char **operands)
{
	struct view_options o = a->view;
	const char *given = *operands ? *operands : a->archive;
	char *path = given ? kstrdup(given) : kasprintf("%s/archive.ndjson", a->dir);
	struct karch archive;
	int code;
	long trial, branch;

	if (*operands && operands[1])
		die_usage("one archive at a time");
	if (o.id && !karch_id(o.id, &trial, &branch))
		die_usage("--lineage wants an id such as 007/02");
	o.dir = a->dir;
	o.archive = path;
	karch_load(&archive, path, true);
	kout_open(a->output);
	code = show_view(&archive, &o);
	kout_commit();
	karch_free(&archive);
	free(path);
	return code;
}

static int
update(const struct arguments *a, char **operands, size_t count)
{
	struct kcamp *camp = kcamp_load(a->dir);
	struct karch archive;

	karch_load(&archive, a->archive, true);
	update_archive(&archive, camp, operands, count);
	kout_open(a->output);
	put_archive(&archive);
	kout_commit();
	karch_free(&archive);
	kcamp_free(camp);
	return K_OK;
}

int
main(int argc, char **argv)
{
	struct arguments a = { .dir = "." };

	kutil_init("karchive");
	parse(&a, argc, argv);
	if (a.view.view != VIEW_NONE)
		return view(&a, argv + optind);
	if (a.view.json)
		die_usage("--json belongs to a view");
	return update(&a, argv + optind, (size_t)(argc - optind));
}
