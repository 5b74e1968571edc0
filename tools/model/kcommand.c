/* SPDX-License-Identifier: Apache-2.0 */
/* kcommand: see kcommand.h. */
#include "kcommand.h"

#include "kcamp.h"

/* A synopsis line, then one line for each command. The caller frees. */
static char *
usage_of(const struct kcommand_line *line)
{
	struct kbuf text = { 0 };
	int name = 0, operands = 0;

	kforeach_of(c, line->commands, line->count) {
		int n = (int)strlen(c->name), m = c->operands ? (int)strlen(c->operands) : 0;

		name = n > name ? n : name;
		operands = m > operands ? m : operands;
	}
	kbuf_printf(
	    &text, "usage: %s COMMAND [-c DIR] [-o FILE] [OPTION...] [OPERAND...]\n\n", kprog);
	kforeach_of(c, line->commands, line->count) {
		kbuf_printf(
		    &text, "  %-*s %-*s %s\n", name, c->name, operands, c->operands ?: "", c->help);
	}
	kbuf_puts(&text, line->help);
	return text.data;
}

static _Noreturn void
die_usage(const char *usage, const char *reason, const char *what)
{
	kwarn("%s: %s", reason, what);
	koption_misuse(usage, NULL);
}

static const struct kcommand *
find_command(const struct kcommand_line *line, const char *name, const char *usage)
{
	if (!name)
		koption_misuse(usage, "a command is missing");
	kforeach_of(command, line->commands, line->count)
		if (!strcmp(command->name, name))
			return command;
	die_usage(usage, "unknown command", name);
}

static void
check_operands(const struct kcommand *command, char *const *list, size_t count, const char *usage)
{
	const char *what = command->operands;
	size_t most = !what ? 0 : strstr(what, "...") ? SIZE_MAX : 1;

	if (count > most)
		die_usage(usage, "too many operands", list[most]);
	if (!count && what && *what != '[')
		die_usage(usage, "an operand is missing", what);
}

const struct kcommand *
kcommand_read(const struct kcommand_line *line, int argc, char **argv)
{
	auto_free char *usage = usage_of(line);
	uint64_t given = koption_rows(line->options, line->option_count, usage, argc, argv);
	const struct kcommand *command = find_command(line, argv[optind], usage);

	for (size_t i = 1; i < line->option_count; i++) {
		const char *name = line->options[i].name;

		if ((given >> i & 1) && !kis_one_of(command->options, name))
			kdie_usage("--%s is not an option of %s %s", name, kprog, command->name);
	}
	optind++;
	check_operands(command, argv + optind, (size_t)(argc - optind), usage);
	return command;
}

const char *
kcommand_path(const char *path)
{
	/* Callers keep the path to the end, like those of the command line. */
	static char **kept;
	static size_t count;
	char here[PATH_MAX];

	if (!path || *path == '/' || !strcmp(path, "-"))
		return path;
	if (!getcwd(here, sizeof here))
		kdie_io("working folder");
	return *kadded(kept, count) = kasprintf("%s/%s", here, path);
}

void
kcommand_enter(const char *dir)
{
	if (dir && chdir(dir) < 0)
		kdie_errno(K_USAGE, "%s", dir);
	/* Reported here, where the folder's name is still known. */
	if (dir && !kis_there("campaign.json"))
		kdie_errno(K_USAGE, "%s/campaign.json", dir);
	kcamp_no_links();
}
