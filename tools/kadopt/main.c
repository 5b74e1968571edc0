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
	{ "observe", command_observe, "run the application and record every call of the kernel" },
	{ "configs", command_configs, "choose representative configurations from what was observed" },
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
