/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karchive: the archive of a search. Turns the old archive and a trial's scored records into the
 * new archive: one elite per cell of the behaviour grid, islands, a capped population. With an
 * option that names a view, shows what an archive contains.
 */

#include "karchive.h"
#include "koption.h"

static const char usage[] = "usage: karchive [-c DIR] [-a ARCHIVE] [--thin] [-o FILE] [SCORED...]\n"
                            "       karchive --top N | --stats | --check [OPTION...] [ARCHIVE]\n";

static struct arguments {
	const char *archive, *output;
	int view;
	long top;
	bool thin;
} given;

enum { VIEW_NONE, VIEW_TOP, VIEW_STATS, VIEW_CHECK };

static void
parse(int argc, char **argv)
{
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&kcamp.dir),
		{ 'a', "archive", .text = &given.archive, .help = "FILE\tstart from this archive" },
		KOPTION_OUTPUT(&given.output),
		KOPTION_FLAG("thin", &given.thin, "\twrite what is new, as in a trial's folder"),
		KOPTION_CHOICE("top", &given.view, VIEW_TOP, "N\tprint the N best programs",
		    .number = &given.top, .low = 1, .high = 1e9),
		KOPTION_CHOICE("stats", &given.view, VIEW_STATS,
		    "\tprint the header, with all counts, as JSON"),
		KOPTION_CHOICE("check", &given.view, VIEW_CHECK,
		    "\tcheck the chain of a linear search; exit 1 if it is wrong"),
	};

	koption_read(options, usage, argc, argv);
}

/* Prints the best N rows: elites and programs are both sorted, so this is a merge. */
static int
show_top(long n)
{
	const struct karch_row *elites[KARCH_CELLS];
	size_t count = karch_ranked(elites), e = 0, p = 0;

	if (!count && !karch.programs)
		return K_NO;
	while (n-- && (e < count || p < karch.programs)) {
		bool elite = p == karch.programs ||
		    (e < count && elites[e]->score >= karch.program[p]->score);

		karch_put(elite ? elites[e++] : karch.program[p++]);
	}
	return K_OK;
}

/* A record, for people: what a terminal would obey is masked. */
static int
show_stats(void)
{
	auto_free char *text = json_dumps(karch.header, KIO_DUMP);

	kout_line("%s", text);
	return K_OK;
}

static int
view(char **operands)
{
	const char *own = *operands ?: given.archive,
	           *path = own ?: kshown("%s/archive.ndjson", kcamp.dir);
	int code;

	if (*operands && operands[1])
		koption_misuse(usage, "give one archive only");
	karch_load(path);
	kout_open(given.output);
	code = given.view == VIEW_TOP  ? show_top(given.top)
	    : given.view == VIEW_STATS ? show_stats()
	                               : check_chain(path);
	kout_commit();
	return code;
}

static int
update(char **operands, size_t count)
{
	long after, before;

	kcamp_load();
	karch_load(given.archive);
	before = kjson_int(karch.header, "candidates");
	after = given.thin ? karch.trial : -1;
	update_archive(operands, count);
	kout_open(given.output);
	put_archive(after, before);
	kout_commit();
	return K_OK;
}

int
main(int argc, char **argv)
{
	kutil_init("karchive");
	/* A benchmark makes many archives in one process. */
	given = (struct arguments){ 0 };
	parse(argc, argv);
	if (given.view != VIEW_NONE)
		return view(argv + optind);
	return update(argv + optind, (size_t)(argc - optind));
}
