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
	{ "adopt", command_adopt, "run all steps up to a campaign" },
	{ "preflight", command_preflight, "check all requirements, and build and run a copy" },
	{ "observe", command_observe, "run the application and record every call of the kernel" },
	{ "configs", command_configs,
	    "choose representative configurations from what was observed" },
	{ "extract", command_extract, "extract the kernel into a file that compiles alone" },
	{ "task", command_task, "make a task, try it on the reference, and make a campaign" },
	{ "check", command_check, "verify that the frozen input files are unchanged" },
	{ "integrate", command_integrate,
	    "put the winner into the application if it works and pays there" },
	{ "repair", command_repair, "finish or undo the changes of an interrupted kadopt" },
	{ "status", command_status, "show the state of the adoption" },
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
	kwarn("unknown command '%s'", argv[1]);
	print_usage(stderr);
	return K_USAGE;
}
