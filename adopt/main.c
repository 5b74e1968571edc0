/* SPDX-License-Identifier: Apache-2.0 */
/* kadopt: see kadopt.h. */

#include "adopt.h"
#include "journal.h"

/* A step that only takes -c works on an existing adoption. */
static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	int (*step)(void);
	bool looks; /* read-only, so others may run at the same time */
	const char *help;
} commands[] = {
	{ "adopt", .run = command_adopt, .help = "run all steps up to a campaign" },
	{ "go", .run = command_adopt,
	    .help = "the same, then run the campaign and put its winner in; resumes" },
	{ "list", .run = command_list,
	    .help = "list which functions of a project can be adopted, and why others cannot" },
	{ "preflight", .step = preflight,
	    .help = "check all requirements, and build and run a copy" },
	{ "observe", .run = command_observe,
	    .help = "run the application and record every call of the kernel" },
	{ "configs", .run = command_configs,
	    .help = "choose representative configurations from what was observed" },
	{ "record", .step = record, .help = "save the arrays of the chosen calls, for the task" },
	{ "extract", .step = extract_kernel,
	    .help = "extract the kernel into a file that compiles alone" },
	{ "task", .step = make_task,
	    .help = "make a task, try it on the reference, and make a campaign" },
	{ "check", .step = check_frozen, .looks = true,
	    .help = "verify that the frozen input files are unchanged" },
	{ "integrate", .run = command_integrate,
	    .help = "put the winner into the application if that works and gets faster" },
	{ "repair", .step = journal_repair,
	    .help = "finish or undo the changes of an interrupted kadopt" },
	{ "status", .step = show_status, .looks = true, .help = "show the state of the adoption" },
};

/* NULL: there is none of this name. */
static const struct command *
find_command(const char *name)
{
	return krow_with(commands, LEN(commands), name, name);
}

int
command_step(const char *name, const char *option, const char *value)
{
	const struct command *c = find_command(name);
	char *argv[] = { (char *)name, (char *)"-c", adoption.dir, (char *)option, (char *)value,
		NULL };
	struct work_span w = { name, know_ns() };
	int code;

	ksay("---------- %s: %s\n", name, c->help);
	optind = 0;
	code = c->run ? c->run(value ? 5 : 3, argv) : c->step();
	work_end(&w);
	return code;
}

static int
run_step(const struct command *c, int argc, char **argv)
{
	auto_free char *usage = kasprintf("usage: kadopt %s [OPTION...]\n", c->name);
	const char *dir = ".";
	const struct koption options[] = { KOPTION_CAMPAIGN(&dir) };

	koption_all(options, usage, argc, argv);
	adoption_open(dir, NULL);
	if (!c->looks)
		adoption_lock();
	return c->step();
}

int
main(int argc, char **argv)
{
	static const struct koption options[] = { KOPTION_IN_ORDER };
	auto_buf struct kbuf usage = { 0 };
	const struct command *command;

	kutil_init("kadopt");
	kbuf_puts(&usage, "usage: kadopt COMMAND [OPTION]...\n");
	kforeach(c, commands)
		kbuf_printf(&usage, "       kadopt %-10s %s\n", c->name, c->help);
	koption_read(options, usage.data, argc, argv);
	argc -= optind;
	argv += optind;
	optind = 0;
	command = argc ? find_command(*argv) : NULL;
	if (!command)
		koption_misuse(usage.data, argc ? kshown("unknown command: %s", *argv) : NULL);
	return command->run ? command->run(argc, argv) : run_step(command, argc, argv);
}
