/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karchive: the archive of a search. Turns the old archive and a trial's scored records into the
 * new archive: one elite per cell of the behaviour grid, islands, a capped population. With an
 * option that names a view, shows what an archive contains.
 */

#include "karchive.h"
#include "koption.h"

static const char usage[] = "usage: karchive [-c DIR] [-a ARCHIVE] [--thin] [-o FILE] [SCORED...]\n"
                            "       karchive --top N | --lineage ID | --stats | --check "
                            "[OPTION...] "
                            "[ARCHIVE]\n";

struct arguments {
	const char *archive, *output;
	struct view_options view;
	bool thin;
};

static void
parse(struct arguments *a, int argc, char **argv)
{
	struct view_options *v = &a->view;
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&kcamp.dir),
		{ 'a', "archive", .text = &a->archive, .help = "FILE\tstart from this archive" },
		KOPTION_OUTPUT(&a->output),
		KOPTION_FLAG("thin", &a->thin, "\twrite what is new, as in a trial's folder"),
		KOPTION_CHOICE("top", &v->view, VIEW_TOP, "N\tprint the N best programs",
		    .number = &v->top, .low = 1, .high = 1e9),
		KOPTION_CHOICE("lineage", &v->view, VIEW_LINEAGE,
		    "ID\tprint the ancestors of a candidate", .text = &v->id),
		KOPTION_CHOICE(
		    "stats", &v->view, VIEW_STATS, "\tprint the header, with all counts, as JSON"),
		KOPTION_CHOICE("check", &v->view, VIEW_CHECK,
		    "\tcheck the chain of a linear search; exit 1 if it is wrong"),
	};

	koption_read(options, usage, argc, argv);
}

static int
view(const struct arguments *a, char **operands)
{
	struct view_options o = a->view;
	const char *given = *operands ?: a->archive;
	auto_free char *path = given ? kstrdup(given) : kasprintf("%s/archive.ndjson", kcamp.dir);
	int code;

	if (*operands && operands[1])
		koption_misuse(usage, "give one archive only");
	if (o.id && !karch_is_id(o.id))
		koption_misuse(usage, "--lineage needs an id such as 007/02");
	o.archive = path;
	karch_load(path, true);
	kout_open(a->output);
	code = show_view(&o);
	kout_commit();
	return code;
}

static int
update(const struct arguments *a, char **operands, size_t count)
{
	long after, before;

	kcamp_load();
	karch_load(a->archive, true);
	before = kjson_int(karch.header, "candidates");
	after = a->thin ? karch.trial : -1;
	update_archive(operands, count);
	kout_open(a->output);
	put_archive(after, before);
	kout_commit();
	return K_OK;
}

int
main(int argc, char **argv)
{
	struct arguments a = { 0 };

	kutil_init("karchive");
	parse(&a, argc, argv);
	if (a.view.view != VIEW_NONE)
		return view(&a, argv + optind);
	return update(&a, argv + optind, (size_t)(argc - optind));
}
