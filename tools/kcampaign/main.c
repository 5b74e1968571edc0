/* SPDX-License-Identifier: Apache-2.0 */
/* kcampaign: makes, checks, runs and reports on campaigns. One table says which command takes what. */
#include "kcampaign.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kio.h"

static const struct command {
	const char *name;
	const char *options;	/* the option letters it takes beside -c, -h and -V */
	const char *operand;	/* what its operand is; NULL: it takes none; in brackets: may be left out */
	int (*run)(const struct options *o);
	bool anywhere;		/* needs no campaign folder to stand in */
	const char *help;
} commands[] = {
	{ "new", "tm", "FOLDER", command_new, true, "make a campaign from a task" },
	{ "check", "o", NULL, command_check, false, "check every field of campaign.json and task.json" },
	{ "status", "o", NULL, command_status, false, "where the campaign stands and what comes next" },
	{ "next", "o", NULL, command_next, false, "number of the next trial; exit 1 when the campaign is over" },
	{ "best", "oC", NULL, command_best, false, "the best kernel and how it was measured" },
	{ "baseline", "j", NULL, command_baseline, false, "measure the reference, which is round 1 of a linear search" },
	{ "shapes", "ok", NULL, command_shapes, false, "propose the shapes of every round; --check: refuse cherries" },
	{ "run", "njrR", NULL, command_run, false, "run trials until a stop condition holds" },
	{ "views", "j", NULL, command_views, false, "remake scores, archives and gradients" },
	{ "redo", "jf", "TRIAL/BRANCH", command_redo, false, "remake one candidate from a stage on" },
	{ "verify", "j", NULL, command_verify, false, "measure the best kernel again" },
	{ "knobs", "o", NULL, command_knobs, true, "print all fields of campaign.json with their defaults" },
	{ "schema", "o", NULL, command_schema, true, "print the JSON Schema of campaign.json" },
};

static const struct option long_options[] = {
	{ "campaign", required_argument, NULL, 'c' },
	{ "output", required_argument, NULL, 'o' },
	{ "trials", required_argument, NULL, 'n' },
	{ "jobs", required_argument, NULL, 'j' },
	{ "retries", required_argument, NULL, 'r' },
	{ "retry-s", required_argument, NULL, 'R' },
	{ "from", required_argument, NULL, 'f' },
	{ "task", required_argument, NULL, 't' },
	{ "code", no_argument, NULL, 'C' },
	{ "check", no_argument, NULL, 'k' },
	{ "mode", required_argument, NULL, 'm' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

#define USAGE "usage: kcampaign COMMAND [-c DIR] [-o FILE] [OPTION...] [OPERAND]"

static void
help(void)
{
	printf(USAGE "\n\n");
	for (size_t i = 0; i < LEN(commands); i++)
		printf("  %-8s %-13s %s\n", commands[i].name, commands[i].operand ? commands[i].operand : "", commands[i].help);
	printf("\n"
	    "  -c, --campaign DIR   the campaign's folder (default: .)\n"
	    "  -o, --output FILE    write there instead of stdout\n"
	    "  -n, --trials N       run: this many trials, without tries after a temporary failure\n"
	    "  -j, --jobs N         run, views, redo, verify: stages at once (default: one per branch)\n"
	    "      --retries N      run: tries after a temporary failure (default: 8)\n"
	    "      --retry-s S      run: seconds before the first of them; doubled each time (default: 15)\n"
	    "      --from STAGE     redo: sample, prompt, reply or eval (default: eval)\n"
	    "      --code           best: print its code\n"
	    "      --check          shapes: is the quick set a fair choice? exit 1 when not\n"
	    "      --mode MODE      new: map-elites (the default) or linear\n"
	    "      --task DIR       new: the folder with task.json and the files it names\n"
	    "  -h, --help           this text\n"
	    "  -V, --version        the version\n");
}

static _Noreturn void
usage(const char *reason, const char *what)
{
	fprintf(stderr, "kcampaign: %s%s%s\n" USAGE "\n", reason, what ? ": " : "", what ? what : "");
	exit(K_USAGE);
}

void
emit(const struct options *o, struct kbuf *text)
{
	size_t len = text->len;

	kout_open(o->output);
	if (len && text->data[len - 1] == '\n')
		len--;
	kout_line(text->data ? text->data : "", len);
	kout_commit();
	kbuf_free(text);
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
			kdie(K_USAGE, "--%s means nothing to kcampaign %s", long_options[i].name, command->name);
}

/* The output file stays where the caller meant it when we change to the campaign's folder. */
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
	case 'n': o->trials = knum_long(optarg, 1, 999999, "--trials"); break;
	case 'j': o->jobs = knum_long(optarg, 1, 9999, "--jobs"); break;
	case 'r': o->retries = knum_long(optarg, 0, 1000, "--retries"); break;
	case 'R': o->retry_s = knum_double(optarg, 0, 86400, "--retry-s"); break;
	case 'f': o->from = optarg; break;
	case 't': o->task = optarg; break;
	case 'C': o->code = true; break;
	case 'k': o->check = true; break;
	case 'm': o->mode = optarg; break;
	case 'h': help(); exit(K_OK);
	case 'V': kversion(); exit(K_OK);
	default: usage("see kcampaign --help", NULL);
	}
}

int
main(int argc, char **argv)
{
	struct options o = { .from = "eval", .retries = 8, .retry_s = 15 };
	const struct command *command;
	const char *dir = ".";
	char given[32] = "";
	size_t count = 0;
	int letter;

	kutil_init("kcampaign");
	while ((letter = getopt_long(argc, argv, "c:o:n:j:hV", long_options, NULL)) != -1) {
		set_option(&o, &dir, letter);
		if (count < sizeof given - 1)
			given[count++] = (char)letter;
	}
	if (optind == argc)
		usage("a command is missing", NULL);
	command = find_command(argv[optind++]);
	for (const char *p = given; *p; p++)
		check_option(command, *p);
	if (optind < argc && command->operand)
		o.operand = argv[optind++];
	if (optind < argc)
		usage("one operand too many", argv[optind]);
	if (command->operand && !o.operand)
		usage("an operand is missing", command->operand);
	o.output = absolute(o.output);
	if (!command->anywhere && chdir(dir) < 0)
		kdie_errno(K_USAGE, "%s", dir);
	return command->run(&o);
}
