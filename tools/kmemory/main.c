/* SPDX-License-Identifier: Apache-2.0 */
/* kmemory: what a campaign remembers of its trials, what it hides, and what it leaves to other campaigns. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kio.h"
#include "kmemory.h"

static const struct command {
	const char *name;
	const char *options;	/* letters it takes beside -c, -h and -V */
	const char *operands;	/* what they are; NULL: none */
	int (*run)(const struct options *o);
	const char *help;
} commands[] = {
	{ "build", "", "[VERSION...]", command_build, "bring memory/vN.json up to date with the trials" },
	{ "check", "", NULL, command_check, "is every record what the facts say?" },
	{ "read", "of", "[VERSION]", command_read, "print a record, or all that are not masked" },
	{ "summary", "o", NULL, command_summary, "a table of all records, for people" },
	{ "latest", "o", NULL, command_latest, "the newest version that is not masked" },
	{ "list", "o", NULL, command_list, "all versions and their files" },
	{ "mask", "w", "VERSION...", command_mask, "hide records from prompts and plans" },
	{ "unmask", "w", "VERSION...", command_unmask, "show them again" },
	{ "restart", "wsud", NULL, command_restart, "hide a random half, never v0 nor the last win" },
	{ "compact", "op", NULL, command_compact, "let the second model sum the records up" },
	{ "tips", "ow", "add|list|check|remove [...]", command_tips, "tips for later campaigns" },
	{ "freeze", "", NULL, command_freeze, "copy tips and library into the campaign" },
	{ "library", "", "[CAMPAIGN...]", command_library, "what has paid in finished campaigns" },
};

static const struct option long_options[] = {
	{ "campaign", required_argument, NULL, 'c' }, { "output", required_argument, NULL, 'o' },
	{ "field", required_argument, NULL, 'f' }, { "why", required_argument, NULL, 'w' },
	{ "seed", required_argument, NULL, 's' }, { "undo", no_argument, NULL, 'u' }, { "due", no_argument, NULL, 'd' },
	{ "prompt", no_argument, NULL, 'p' }, { "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' },
	{ 0 },
};

#define USAGE "usage: kmemory COMMAND [-c DIR] [-o FILE] [OPTION...] [OPERAND...]"

static void
help(void)
{
	printf(USAGE "\n\n");
	for (size_t i = 0; i < LEN(commands); i++)
		printf("  %-8s %-28s %s\n", commands[i].name, commands[i].operands ? commands[i].operands : "", commands[i].help);
	printf("\n"
	    "  -c, --campaign DIR   the campaign's folder (default: .)\n"
	    "  -o, --output FILE    write there instead of stdout\n"
	    "      --field A.B      read: this field alone\n"
	    "      --why TEXT       mask, unmask, restart, tips remove: the reason, for the log\n"
	    "      --seed N         restart: instead of the campaign's seed\n"
	    "      --undo           restart: take the last one back\n"
	    "      --due            restart: only when the knobs memory.restart_after and memory.mask_every ask for it\n"
	    "      --prompt         compact: print the prompt and ask nobody\n"
	    "  -h, --help           this text\n"
	    "  -V, --version        the version\n");
}

static _Noreturn void
usage(const char *reason, const char *what)
{
	fprintf(stderr, "kmemory: %s%s%s\n" USAGE "\n", reason, what ? ": " : "", what ? what : "");
	exit(K_USAGE);
}

long
parse_version(const char *name)
{
	long n;

	if (!kmemo_version(name, &n))
		kdie(K_USAGE, "'%s' is no version: write v and the number of the trial, such as v7", name);
	return n;
}

void
make_folder(const char *path)
{
	char *copy = kstrdup(path);

	for (char *p = copy + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			if (mkdir(copy, 0777) < 0 && errno != EEXIST)
				kdie_errno(K_IO, "%s", copy);
			*p = '/';
		}
	if (mkdir(copy, 0777) < 0 && errno != EEXIST)
		kdie_errno(K_IO, "%s", copy);
	free(copy);
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
	char *text = json_dumps(object, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15)), *line;

	if (!text)
		kdie(K_IO, "%s: could not be written as JSON", path);
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
	m->statistic = kcamp_str(m->camp, "score.statistic");
	m->linear = !strcmp(kcamp_str(m->camp, "search.mode"), "linear");
	if (writes) {
		make_folder("memory");
		m->lock = open("memory/.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		if (m->lock < 0 || flock(m->lock, LOCK_EX) < 0)
			kdie_errno(K_IO, "memory/.lock");
	}
	kmemo_masks_load(&m->masks, ".");
}

void
memory_close(struct memory *m)
{
	kmemo_masks_free(&m->masks);
	ktask_free(m->task);
	kcamp_free(m->camp);
	if (m->lock >= 0)
		close(m->lock);
}

static const struct command *
find_command(const char *name)
{
	for (size_t i = 0; i < LEN(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	usage("no such command", name);
}

static void
check_option(const struct command *command, int letter)
{
	if (letter == 'c' || strchr(command->options, letter))
		return;
	for (size_t i = 0; i < LEN(long_options) - 1; i++)
		if (long_options[i].val == letter)
			kdie(K_USAGE, "--%s means nothing to kmemory %s", long_options[i].name, command->name);
}

/* Files of the command line stay where the caller meant them when we change to the campaign's folder. */
static const char *
absolute(const char *path)
{
	char here[PATH_MAX];

	if (!path || *path == '/' || !strcmp(path, "-"))
		return path;
	if (!getcwd(here, sizeof here))
		kdie_errno(K_IO, "working folder");
	return kasprintf("%s/%s", here, path);
}

static void
set_option(struct options *o, const char **dir, int letter)
{
	switch (letter) {
	case 'c': *dir = optarg; break;
	case 'o': o->output = optarg; break;
	case 'f': o->field = optarg; break;
	case 'w': o->why = optarg; break;
	case 's': o->seed = optarg; break;
	case 'u': o->undo = true; break;
	case 'd': o->due = true; break;
	case 'p': o->prompt = true; break;
	case 'h': help(); exit(K_OK);
	case 'V': kversion(); exit(K_OK);
	default: usage("see kmemory --help", NULL);
	}
}

/* Operands that name files or folders are made absolute: all of library's, and what tips reads. */
static char *const *
operands_of(const struct command *command, char **argv, int argc)
{
	bool paths = command->run == command_library, tips = command->run == command_tips && argc > 0 &&
	    (!strcmp(argv[0], "add") || !strcmp(argv[0], "check"));
	char **list = kcalloc((size_t)argc + 1, sizeof *list);

	for (int i = 0; i < argc; i++)
		list[i] = paths || (tips && i > 0) ? (char *)absolute(argv[i]) : argv[i];
	return list;
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	const struct command *command;
	const char *dir = ".";
	char given[32] = "";
	size_t count = 0;
	int letter;

	kutil_init("kmemory");
	while ((letter = getopt_long(argc, argv, "c:o:hV", long_options, NULL)) != -1) {
		set_option(&o, &dir, letter);
		if (count < sizeof given - 1)
			given[count++] = (char)letter;
	}
	if (optind == argc)
		usage("a command is missing", NULL);
	command = find_command(argv[optind++]);
	for (const char *p = given; *p; p++)
		check_option(command, *p);
	if (optind < argc && !command->operands)
		usage("one operand too many", argv[optind]);
	o.count = (size_t)(argc - optind);
	o.operands = operands_of(command, argv + optind, argc - optind);
	o.output = absolute(o.output);
	if (chdir(dir) < 0)
		kdie_errno(K_USAGE, "%s", dir);
	return command->run(&o);
}
