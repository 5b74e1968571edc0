/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kremote: run a stage on another machine: its inputs are sent there, its output comes back. See
 * kremote.h.
 */
#include "kremote.h"

#include <getopt.h>

static const char usage_text[] = "usage: kremote [--there FOLDER] [--shared] [--plain] "
                                 "TRANSPORT... -- PROGRAM [ARGUMENT...]\n"
                                 "       kremote --serve\n";

static const char help_text[] =
    "\n"
    "      --there FOLDER   kiln's programs are in FOLDER on the other machine (default: in its "
    "PATH)\n"
    "      --shared         send no files: the other machine has this folder at the same path\n"
    "      --plain          do not add options to ssh or srun\n"
    "      --serve          be the other end; the transport starts this\n"
    "  -h, --help           this text\n"
    "  -V, --version        the version\n"
    "\n"
    "Example: kremote ssh gpu1 -- keval -a trials/006/archive.ndjson -o eval.ndjson reply.ndjson\n";

static _Noreturn void
usage(const char *why)
{
	kwarn("%s", why);
	fputs(usage_text, stderr);
	exit(K_USAGE);
}

/*
 * It becomes a word for a shell on the other machine, or for none: quotes added here would work
 * with some transports only.
 */
static void
check_there(const char *folder)
{
	if (*folder != '/' && *folder != '~')
		kdie(K_USAGE, "--there %s: must be an absolute path or begin with ~", folder);
	if (folder[strspn(
	        folder, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._+@~-")])
		kdie(K_USAGE,
		    "--there %s: only letters, digits and / . _ + - @ ~ are allowed; make a link "
		    "with such a name",
		    folder);
}

/* TRANSPORT... -- PROGRAM...: the "--" becomes the end of the first list. */
static void
split(struct call *c, char **words)
{
	char **end = words;

	while (*end && strcmp(*end, "--"))
		end++;
	if (!*end)
		usage("-- is missing after the transport: kremote ssh HOST -- keval ...");
	if (end == words)
		usage("give a transport, such as: ssh HOST");
	if (!end[1])
		usage("give a program after --");
	*end = NULL;
	c->transport = words;
	c->args = end + 1;
	if (strchr(c->args[0], '/'))
		kdie(K_USAGE, "%s: must be the name of one of kiln's programs, without a folder",
		    c->args[0]);
}

int
main(int argc, char **argv)
{
	enum { THERE = 256, SHARED, PLAIN, SERVE };
	static const struct option options[] = {
		{ "there", required_argument, NULL, THERE },
		{ "shared", no_argument, NULL, SHARED },
		{ "plain", no_argument, NULL, PLAIN },
		{ "serve", no_argument, NULL, SERVE },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	struct call c = { 0 };
	bool other_end = false;
	int opt;

	kutil_init("kremote");
	/* The first word that is not an option begins the transport. */
	while ((opt = getopt_long(argc, argv, "+hV", options, NULL)) != -1)
		switch (opt) {
		case THERE:
			c.there = optarg;
			break;
		case SHARED:
			c.shared = true;
			break;
		case PLAIN:
			c.plain = true;
			break;
		case SERVE:
			other_end = true;
			break;
		case 'h':
			printf("%s%s", usage_text, help_text);
			return K_OK;
		case 'V':
			kversion();
			return K_OK;
		default:
			fputs(usage_text, stderr);
			return K_USAGE;
		}
	if (other_end && (argv[optind] || c.there || c.shared || c.plain))
		usage("--serve does not take other options");
	if (other_end)
		return serve();
	if (c.there)
		check_there(c.there);
	split(&c, argv + optind);
	return call_run(&c);
}
