/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kremote: run a stage on another machine: its inputs are sent there, its output comes back. See
 * kremote.h.
 */
#include "kremote.h"

#include "koption.h"

struct call call;

static const char usage[] =
    "usage: kremote [--there FOLDER] [--shared] [--plain] TRANSPORT... -- PROGRAM [ARGUMENT...]\n"
    "       kremote --serve\n"
    "\n"
    "Example: kremote ssh gpu1 -- keval -a trials/006/archive.ndjson -o eval.ndjson reply.ndjson\n";

/*
 * It becomes a word for a shell on the other machine, or for none: quotes added here would work
 * with some transports only.
 */
static void
check_there(const char *folder)
{
	if (*folder != '/' && *folder != '~')
		kdie_usage("--there %s: must be an absolute path or begin with ~", folder);
	if (kregex_is("[^\\w/.+@~-]", folder))
		kdie_usage("--there %s: only letters, digits and / . _ + - @ ~ are allowed; make a "
		           "link "
		           "with such a name",
		    folder);
}

/* TRANSPORT... -- PROGRAM...: the "--" becomes the end of the first list. */
static void
split(char **words)
{
	char **end = words;

	while (*end && strcmp(*end, "--"))
		end++;
	if (!*end)
		koption_misuse(
		    usage, "-- is missing after the transport: kremote ssh HOST -- keval ...");
	if (end == words)
		koption_misuse(usage, "give a transport, such as: ssh HOST");
	if (!end[1])
		koption_misuse(usage, "give a program after --");
	*end = NULL;
	call.transport = words;
	call.args = end + 1;
	if (strchr(*call.args, '/'))
		kdie_usage(
		    "%s: must be the name of one of kiln's programs, without a folder", *call.args);
}

int
main(int argc, char **argv)
{
	bool other_end = false;
	const struct koption options[] = {
		/* The first word that is not an option begins the transport. */
		KOPTION_IN_ORDER,
		KOPTION_TEXT("there", &call.there,
		    "FOLDER\tkiln's programs are in FOLDER on the other machine "
		    "(default: in its PATH)"),
		KOPTION_FLAG("shared", &call.shared,
		    "\tsend no files: the other machine has this folder at the same path"),
		KOPTION_FLAG("plain", &call.plain, "\tdo not add options to ssh or srun"),
		KOPTION_FLAG("serve", &other_end, "\tbe the other end; the transport starts this"),
	};

	kutil_init("kremote");
	koption_read(options, usage, argc, argv);
	if (other_end && (argv[optind] || call.there || call.shared || call.plain))
		koption_misuse(usage, "--serve does not take other options");
	if (other_end)
		return serve();
	if (call.there)
		check_there(call.there);
	split(argv + optind);
	return call_run();
}
