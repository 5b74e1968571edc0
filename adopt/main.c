/* SPDX-License-Identifier: Apache-2.0 */
/* kadopt: see kadopt.h. */
#include "kadopt.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "adopt", command_adopt, "all steps up to a campaign, one after the other" },
	{ "preflight", command_preflight,
	    "look for everything that can be missing, and build and run a copy" },
	{ "observe", command_observe, "run the application and record every call of the kernel" },
	{ "configs", command_configs,
	    "choose representative configurations from what was observed" },
	{ "extract", command_extract,
	    "the kernel with what it needs, as a file that compiles alone" },
	{ "task", command_task, "a task from it, tried out on the reference, and a campaign" },
	{ "check", command_check, "are the files that all figures rest on what they were?" },
	{ "integrate", command_integrate, "the winner into the application, if it holds there" },
	{ "repair", command_repair, "finish or undo what a killed kadopt left" },
	{ "status", command_status, "where the adoption stands" },
};

static void
print_usage(FILE *f)
{
	fputs("usage: kadopt COMMAND [OPTION]...\n", f);
	for (size_t i = 0; i < LEN(commands); i++)
		fprintf(f, "       kadopt %-10s %s\n", commands[i].name, commands[i].help);
	fputs("       kadopt COMMAND --help | --version\n", f);
}

int
main(int argc, char **argv)
{
	kutil_init("kadopt");
	if (argc < 2) {
		print_usage(stderr);
		return K_USAGE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		print_usage(stdout);
		return K_OK;
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) {
		kversion();
		return K_OK;
	}
	for (size_t i = 0; i < LEN(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	kwarn("'%s' is no command", argv[1]);
	print_usage(stderr);
	return K_USAGE;
}
