/* SPDX-License-Identifier: Apache-2.0 */
/* kcommand: see kcommand.h. */
#include "kcommand.h"

#include <limits.h>

#include "kcamp.h"

enum { OPTIONS_MAX = 64 };

static void
put_usage(FILE *f)
{
	fprintf(f, "usage: %s COMMAND [-c DIR] [-o FILE] [OPTION...] [OPERAND...]\n", kprog);
}

static void
put_help(const struct kcommand_line *line)
{
	int name = 0, operands = 0;

	for (size_t i = 0; i < line->count; i++) {
		const struct kcommand *c = &line->commands[i];
		int n = (int)strlen(c->name), m = c->operands ? (int)strlen(c->operands) : 0;

		name = n > name ? n : name;
		operands = m > operands ? m : operands;
	}
	put_usage(stdout);
	printf("\n");
	for (size_t i = 0; i < line->count; i++) {
		const struct kcommand *c = &line->commands[i];

		printf("  %-*s %-*s %s\n", name, c->name, operands, c->operands ? c->operands : "",
		    c->help);
	}
	printf("\n"
	       "  -c, --campaign DIR   the campaign's folder (default: .)\n"
	       "  -o, --output FILE    write to FILE instead of stdout\n"
	       "  -h, --help           print this text\n"
	       "  -V, --version        print the version\n"
	       "%s",
	    line->help);
}

static _Noreturn void
die_usage(const char *reason, const char *what)
{
	kwarn("%s%s%s", reason, what ? ": " : "", what ? what : "");
	put_usage(stderr);
	exit(K_USAGE);
}

static const struct kcommand *
find_command(const struct kcommand_line *line, const char *name)
{
	for (size_t i = 0; i < line->count; i++)
		if (!strcmp(line->commands[i].name, name))
			return &line->commands[i];
	die_usage("unknown command", name);
}

static void
check_option(const struct kcommand_line *line, const struct kcommand *command, char letter)
{
	if (letter == 'c' || strchr(command->options, letter))
		return;
	for (const struct option *o = line->options; o->name; o++)
		if (o->val == letter)
			kdie(K_USAGE, "--%s is not an option of %s %s", o->name, kprog,
			    command->name);
}

static void
check_operands(const struct kcommand *command, char *const *list, size_t count)
{
	const char *what = command->operands;
	size_t most = !what ? 0 : strstr(what, "...") ? SIZE_MAX : 1;

	if (count > most)
		die_usage("too many operands", list[most]);
	if (!count && what && *what != '[')
		die_usage("an operand is missing", what);
}

const struct kcommand *
kcommand_read(const struct kcommand_line *line, int argc, char **argv, struct options *o)
{
	char given[OPTIONS_MAX] = "";
	const struct kcommand *command;
	size_t count = 0;
	int letter;

	while ((letter = getopt_long(argc, argv, line->letters, line->options, NULL)) != -1) {
		if (letter == 'h') {
			put_help(line);
			exit(K_OK);
		}
		if (letter == 'V') {
			kversion();
			exit(K_OK);
		}
		if (letter == '?')
			die_usage("see --help", NULL);
		line->set(o, letter);
		if (count == OPTIONS_MAX - 1)
			die_usage("too many options", NULL);
		given[count++] = (char)letter;
	}
	if (optind == argc)
		die_usage("a command is missing", NULL);
	command = find_command(line, argv[optind++]);
	for (const char *p = given; *p; p++)
		check_option(line, command, *p);
	check_operands(command, argv + optind, (size_t)(argc - optind));
	return command;
}

const char *
kcommand_path(const char *path)
{
	/* Who asks keeps the path to the end, as it does those of the command line. */
	static char **kept;
	static size_t count;
	char here[PATH_MAX];

	if (!path || *path == '/' || !strcmp(path, "-"))
		return path;
	if (!getcwd(here, sizeof here))
		kdie_errno(K_IO, "working folder");
	kept = krealloc(kept, (count + 1) * sizeof *kept);
	return kept[count++] = kasprintf("%s/%s", here, path);
}

void
kcommand_enter(const struct kcommand *command, const char *dir)
{
	if (command->anywhere)
		return;
	if (dir && chdir(dir) < 0)
		kdie_errno(K_USAGE, "%s", dir);
	/* Said here, where the folder's name is still known. */
	if (dir && !kis_there("campaign.json"))
		kdie_errno(K_USAGE, "%s/campaign.json", dir);
	kcamp_no_links(".");
}
