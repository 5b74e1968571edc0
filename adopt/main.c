/* SPDX-License-Identifier: Apache-2.0 */
/* kadopt: see kadopt.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adopt.h"
#include "journal.h"
#include "koption.h"

/* A step that takes -c alone works on an adoption that is there. */
static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	int (*step)(const struct adoption *a);
	bool looks; /* changes nothing, so others may be at work */
	const char *help;
} commands[] = {
	{ "adopt", .run = command_adopt,
	    .help = "all steps up to a campaign, one after the other" },
	{ "preflight", .step = preflight,
	    .help = "look for everything that can be missing, and build and run a copy" },
	{ "observe", .run = command_observe,
	    .help = "run the application and record every call of the kernel" },
	{ "configs", .run = command_configs,
	    .help = "choose representative configurations from what was observed" },
	{ "extract", .step = extract,
	    .help = "the kernel with what it needs, as a file that compiles alone" },
	{ "task", .step = make_task,
	    .help = "a task from it, tried out on the reference, and a campaign" },
	{ "check", .step = check_frozen, .looks = true,
	    .help = "verify that the frozen input files are unchanged" },
	{ "integrate", .run = command_integrate,
	    .help = "the winner into the application, if it holds there" },
	{ "repair", .step = journal_repair, .help = "finish or undo what a killed kadopt left" },
	{ "status", .step = show_status, .looks = true, .help = "where the adoption stands" },
};

static int
run_step(const struct command *c, int argc, char **argv)
{
	char *usage = kasprintf("usage: kadopt %s [-c CAMPAIGN]\n", c->name);
	const char *dir = ".";
	const struct koption options[] = { { 'c', "campaign", .text = &dir } };
	struct adoption *a;
	int code;

	koption_read(options, LEN(options), usage, argc, argv);
	koption_no_operands(usage, argc, argv);
	a = adoption_load(dir);
	if (!c->looks)
		adoption_lock(a);
	code = c->step(a);
	adoption_free(a);
	free(usage);
	return code;
}

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
			return commands[i].run ? commands[i].run(argc - 1, argv + 1)
			                       : run_step(&commands[i], argc - 1, argv + 1);
	kwarn("'%s' is no command", argv[1]);
	print_usage(stderr);
	return K_USAGE;
}
