/* SPDX-License-Identifier: Apache-2.0 */
/* kround: the rounds of a campaign as files for people, and the accepted ones as commits. See kround.h. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kround.h"

static const char usage_text[] =
    "usage: kround records | commit | close [--correct] [-c DIR]\n"
    "       kround check [-c DIR] [-o FILE]\n"
    "       kround restore [-N ROUND] [--from git|snapshot] -o DIR [-c DIR]\n";

static _Noreturn void
die_usage(const char *why, const char *what)
{
	kwarn("%s%s%s", why, what ? ": " : "", what ? what : "");
	fputs(usage_text, stderr);
	exit(K_USAGE);
}

/* What a pipeline calls after each trial: records first, for commits point to them. */
static int
close_rounds(const struct campaign *c, const struct options *o)
{
	struct options quiet = *o;
	int code = write_records(c, o);

	quiet.quiet = c->count > 2;
	return code ? code : write_commits(c, &quiet);
}

static int
check_all(const struct campaign *c, const struct options *o)
{
	struct faults f = { 0 };
	size_t files = 0, commits = 0;
	int code;

	check_records(c, &f, &files);
	check_commits(c, &f, &commits);
	code = f.count ? K_NO : K_OK;
	if (!f.count)
		kbuf_printf(&f.text, "%zu rounds, %zu files, %d logs, %zu commits: as they were closed\n", c->count, files, LOGS, commits);
	kout_open(o->output);
	kout_line(f.text.data, f.text.len - 1);
	kout_commit();
	kbuf_free(&f.text);
	return code;
}

static const struct command {
	const char *name, *options;
	int (*run)(const struct campaign *c, const struct options *o);
} commands[] = {
	{ "records", "C", write_records }, { "commit", "", write_commits }, { "close", "C", close_rounds },
	{ "check", "o", check_all }, { "restore", "oNf", restore_round },
};

static const struct option long_options[] = {
	{ "campaign", required_argument, NULL, 'c' }, { "output", required_argument, NULL, 'o' },
	{ "round", required_argument, NULL, 'N' }, { "from", required_argument, NULL, 'f' },
	{ "correct", no_argument, NULL, 'C' }, { "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' }, { 0 },
};

/* The output stays where the caller meant it when we change to the campaign's folder. The caller frees. */
static char *
absolute(const char *path)
{
	char here[PATH_MAX];

	if (!path || *path == '/' || !strcmp(path, "-"))
		return path ? kstrdup(path) : NULL;
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
	case 'N': o->round = knum_long(optarg, 1, 999999, "--round"); break;
	case 'f': o->from = optarg; break;
	case 'C': o->correct = true; break;
	case 'h': fputs(usage_text, stdout); exit(K_OK);
	case 'V': kversion(); exit(K_OK);
	default: fputs(usage_text, stderr); exit(K_USAGE);
	}
}

static const struct command *
find_command(const char *name, const char *given)
{
	for (size_t i = 0; i < LEN(commands); i++) {
		if (strcmp(commands[i].name, name))
			continue;
		for (const char *p = given; *p; p++)
			if (*p != 'c' && !strchr(commands[i].options, *p))
				die_usage("an option that this command does not take", name);
		return &commands[i];
	}
	die_usage("no such command", name);
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	const struct command *command;
	const char *dir = ".";
	char given[32] = "", *output;
	struct campaign c;
	int letter, code;

	kutil_init("kround");
	while ((letter = getopt_long(argc, argv, "c:o:N:hV", long_options, NULL)) != -1) {
		set_option(&o, &dir, letter);
		if (strlen(given) < sizeof given - 1)
			given[strlen(given)] = (char)letter;
	}
	if (optind == argc)
		die_usage("a command is missing", NULL);
	command = find_command(argv[optind++], given);
	if (optind < argc)
		die_usage("one operand too many", argv[optind]);
	if (o.from && strcmp(o.from, "git") && strcmp(o.from, "snapshot"))
		die_usage("--from is git or snapshot, not", o.from);
	if (command->run == restore_round && !o.output)
		die_usage("-o DIR, where to put the kernel, is missing", NULL);
	o.output = output = absolute(o.output);
	if (chdir(dir) < 0)
		kdie_errno(K_USAGE, "%s", dir);
	campaign_load(&c);
	code = command->run(&c, &o);
	campaign_free(&c);
	free(output);
	return code;
}
