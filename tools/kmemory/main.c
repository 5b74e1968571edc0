/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmemory: what a campaign remembers of its trials, what it hides, and what it leaves to other
 * campaigns.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "kcommand.h"
#include "kio.h"
#include "kmemory.h"

static const struct kcommand commands[] = {
	{ "build", "", "[VERSION...]", command_build, false,
	    "bring memory/vN.json up to date with the trials" },
	{ "check", "", NULL, command_check, false,
	    "check every record against the campaign's records" },
	{ "read", "of", "[VERSION]", command_read, false,
	    "print a record, or all records that are not masked" },
	{ "summary", "o", NULL, command_summary, false, "print a table of all records" },
	{ "latest", "o", NULL, command_latest, false,
	    "print the newest version that is not masked" },
	{ "list", "o", NULL, command_list, false, "list all versions and their files" },
	{ "mask", "w", "VERSION...", command_mask, false, "hide records from prompts and plans" },
	{ "unmask", "w", "VERSION...", command_unmask, false, "show masked records again" },
	{ "restart", "wsud", NULL, command_restart, false,
	    "hide a random half, but never v0 or the last win" },
	{ "compact", "op", NULL, command_compact, false,
	    "let the second model summarise the records" },
	{ "tips", "ow", "add|list|check|remove [...]", command_tips, false,
	    "add, list, check or remove tips for later campaigns" },
	{ "freeze", "", NULL, command_freeze, false, "copy tips and library into the campaign" },
	{ "library", "", "[CAMPAIGN...]", command_library, false,
	    "list what has paid in finished campaigns" },
};

static const struct option long_options[] = {
	{ "campaign", required_argument, NULL, 'c' },
	{ "output", required_argument, NULL, 'o' },
	{ "field", required_argument, NULL, 'f' },
	{ "why", required_argument, NULL, 'w' },
	{ "seed", required_argument, NULL, 's' },
	{ "undo", no_argument, NULL, 'u' },
	{ "due", no_argument, NULL, 'd' },
	{ "prompt", no_argument, NULL, 'p' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static const char option_help[] =
    "      --field A.B      read: print only this field\n"
    "      --why TEXT       mask, unmask, restart, tips remove: log this reason\n"
    "      --seed N         restart: use N instead of the campaign's seed\n"
    "      --undo           restart: undo the last restart\n"
    "      --due            restart: only if memory.restart_after requires it\n"
    "      --prompt         compact: print the prompt, and do not ask the model\n";

long
parse_version(const char *name)
{
	long n;

	if (!kmemo_version(name, &n))
		kdie(K_USAGE,
		    "'%s' is not a version; write v and the number of the trial, such as v7", name);
	return n;
}

void
write_text(const char *path, const char *text, size_t len)
{
	if (kwrite_file(path, text, len) < 0)
		kdie_errno(K_IO, "%s", path);
}

void
write_json(const char *path, const json_t *object)
{
	char *text = json_dumps(object, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15)),
	     *line;

	if (!text)
		kdie(K_IO, "%s: cannot be written as JSON", path);
	line = kasprintf("%s\n", text);
	write_text(path, line, strlen(line));
	free(text);
	free(line);
}

void
memory_open(struct memory *m, bool writes)
{
	char *path;

	*m = (struct memory){ .camp = kcamp_load("."), .lock = -1 };
	path = kcamp_path(m->camp, kcamp_str(m->camp, "task"));
	m->task = ktask_load(path);
	free(path);
	m->statistic = KGAIN_STATISTIC;
	m->trials = kmalloc(sizeof *m->trials);
	ktrials_open(m->trials, m->camp);
	m->trials->join = KJOIN_WHOLE;
	if (writes) {
		kmake_folder("memory");
		m->lock = open("memory/.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (m->lock < 0 || flock(m->lock, LOCK_EX) < 0)
			kdie_errno(K_IO, "memory/.lock");
	}
	kmemo_masks_load(&m->masks, ".");
}

int
memory_close(struct memory *m)
{
	int code = m->trials->fault_count ? K_USAGE : K_OK;

	ktrials_close(m->trials);
	free(m->trials);
	kmemo_masks_free(&m->masks);
	ktask_free(m->task);
	kcamp_free(m->camp);
	if (m->lock >= 0)
		close(m->lock);
	return code;
}

static void
set_option(struct options *o, int letter)
{
	switch (letter) {
	case 'c':
		o->dir = optarg;
		break;
	case 'o':
		o->output = optarg;
		break;
	case 'f':
		o->field = optarg;
		break;
	case 'w':
		o->why = optarg;
		break;
	case 's':
		o->seed = optarg;
		break;
	case 'u':
		o->undo = true;
		break;
	case 'd':
		o->due = true;
		break;
	case 'p':
		o->prompt = true;
		break;
	}
}

/* Operands that name files or folders are made absolute: all of library's, and what tips reads. */
static char *const *
operands_of(const struct kcommand *command, char **argv, int argc)
{
	bool paths = command->run == command_library,
	     tips = command->run == command_tips && argc > 0 &&
	    (!strcmp(argv[0], "add") || !strcmp(argv[0], "check"));
	char **list = kcalloc((size_t)argc + 1, sizeof *list);

	for (int i = 0; i < argc; i++)
		list[i] = paths || (tips && i > 0) ? (char *)kcommand_path(argv[i]) : argv[i];
	return list;
}

int
main(int argc, char **argv)
{
	static const struct kcommand_line line = { commands, LEN(commands), "c:o:hV", long_options,
		option_help, set_option };
	struct options o = { 0 };
	const struct kcommand *command;

	kutil_init("kmemory");
	command = kcommand_read(&line, argc, argv, &o);
	o.count = (size_t)(argc - optind);
	o.operands = operands_of(command, argv + optind, argc - optind);
	o.output = kcommand_path(o.output);
	kcommand_enter(command, o.dir);
	return command->run(&o);
}
