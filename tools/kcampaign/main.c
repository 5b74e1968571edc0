/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcampaign: makes, checks, runs and reports on campaigns. One table says which command takes what.
 */
#include "kcampaign.h"

#include <string.h>
#include <unistd.h>

#include "kcommand.h"
#include "kio.h"

static const struct kcommand commands[] = {
	{ "new", "tm", "[FOLDER]", command_new, true, "create a campaign from a task" },
	{ "check", "ol", NULL, command_check, false,
	    "check every field of campaign.json and task.json" },
	{ "status", "o", NULL, command_status, false,
	    "show the state of the campaign and the next step" },
	{ "next", "o", NULL, command_next, false,
	    "print the number of the next trial; exit 1 if the campaign is over" },
	{ "best", "oC", NULL, command_best, false, "show the best kernel and how it was measured" },
	{ "baseline", "je", NULL, command_baseline, false,
	    "measure the reference, which is round 1 of a linear search" },
	{ "shapes", "ok", NULL, command_shapes, false,
	    "propose the shapes of every round; --check: reject cherry-picked sets" },
	{ "record", "o", "TRIAL/BRANCH", command_record, false,
	    "print everything that is known about a candidate" },
	{ "run", "njrRe", NULL, command_run, false, "run trials until a stop condition is met" },
	{ "views", "je", NULL, command_views, false, "make scores, archives and gradients again" },
	{ "redo", "jfe", "TRIAL/BRANCH", command_redo, false,
	    "make one candidate again from a stage on" },
	{ "verify", "je", NULL, command_verify, false, "measure the best kernel again" },
	{ "upgrade", "", NULL, command_upgrade, false,
	    "convert the records of an older version of kiln" },
	{ "watch", "e", NULL, command_watch, false,
	    "keep the report up to date in a browser while a campaign runs" },
	{ "knobs", "o", "[GROUP]", command_knobs, true,
	    "list fields of campaign.json, or of a group; explain one" },
	{ "schema", "o", NULL, command_schema, true, "print the JSON Schema of campaign.json" },
};

static const struct option long_options[] = {
	{ "campaign", required_argument, NULL, 'c' },
	{ "output", required_argument, NULL, 'o' },
	{ "trials", required_argument, NULL, 'n' },
	{ "jobs", required_argument, NULL, 'j' },
	{ "retries", required_argument, NULL, 'r' },
	{ "retry-s", required_argument, NULL, 'R' },
	{ "every", required_argument, NULL, 'e' },
	{ "from", required_argument, NULL, 'f' },
	{ "task", required_argument, NULL, 't' },
	{ "code", no_argument, NULL, 'C' },
	{ "check", no_argument, NULL, 'k' },
	{ "mode", required_argument, NULL, 'm' },
	{ "remote", no_argument, NULL, 'l' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static const char option_help[] =
    "  -n, --trials N       run: run N trials, and do not retry after a temporary failure\n"
    "  -j, --jobs N         run, views, redo, verify: run N stages at once (default: one per "
    "branch)\n"
    "      --retries N      run: retry N times after temporary failures (default: 8)\n"
    "      --retry-s S      run: wait S seconds before the first retry, then twice as long "
    "(default: 15)\n"
    "      --every S        run, views, redo, verify: show progress at least every S seconds\n"
    "                       (default: 30; on a terminal it is always up to date);\n"
    "                       watch: reload the page every S seconds (default: 2)\n"
    "      --from STAGE     redo: begin at sample, prompt, reply or eval (default: eval)\n"
    "      --code           best: print its code\n"
    "      --check          shapes: check that the quick set is a fair choice; exit 1 if it is "
    "not\n"
    "      --remote         check: also check that evaluations run through eval.launcher\n"
    "      --mode MODE      new: search with map-elites (the default) or linear\n"
    "      --task DIR       new: take task.json and its files from DIR\n"
    "\n"
    "  adopt      make a campaign from a kernel of an application: see kadopt(1)\n"
    "  integrate  put the winner into the application: see kadopt(1)\n";

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
	case 'n':
		o->trials = knum_long(optarg, 1, 999999, "--trials");
		break;
	case 'j':
		o->jobs = knum_long(optarg, 1, 9999, "--jobs");
		break;
	case 'r':
		o->retries = knum_long(optarg, 0, 1000, "--retries");
		break;
	case 'R':
		o->retry_s = knum_double(optarg, 0, 86400, "--retry-s");
		break;
	case 'e':
		o->every = knum_double(optarg, 0.01, 86400, "--every");
		break;
	case 'f':
		o->from = optarg;
		break;
	case 't':
		o->task = optarg;
		break;
	case 'C':
		o->code = true;
		break;
	case 'k':
		o->check = true;
		break;
	case 'm':
		o->mode = optarg;
		break;
	case 'l':
		o->remote = true;
		break;
	}
}

/* Adoption has a program of its own. */
static void
hand_over(int argc, char **argv)
{
	if (argc < 2 || (strcmp(argv[1], "adopt") && strcmp(argv[1], "integrate")))
		return;
	execvp(ktool_path("kadopt"), argv);
	kdie_errno(K_MISSING, "kadopt");
}

int
main(int argc, char **argv)
{
	static const struct kcommand_line line = { commands, LEN(commands), "c:o:n:j:hV",
		long_options, option_help, set_option };
	struct options o = { .from = "eval", .retries = 8, .retry_s = 15 };
	const struct kcommand *command;

	kutil_init("kcampaign");
	hand_over(argc, argv);
	command = kcommand_read(&line, argc, argv, &o);
	o.operand = argv[optind];
	o.output = kcommand_path(o.output);
	kcommand_enter(command, o.dir);
	return command->run(&o);
}
