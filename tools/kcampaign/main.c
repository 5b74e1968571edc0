/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcampaign: makes, checks, runs and reports on campaigns. One table says which command takes which
 * options.
 */
#include "kcampaign.h"

#include "kcommand.h"

static const struct kcommand commands[] = {
	{ "new", "task mode", "[FOLDER]", command_new, "create a campaign from a task" },
	{ "check", "output remote", NULL, command_check,
	    "check every field of campaign.json and task.json" },
	{ "status", "output", NULL, command_status,
	    "show the state of the campaign and the next step" },
	{ "next", "output", NULL, command_next,
	    "print the number of the next trial; exit 1 if the campaign is over" },
	{ "best", "output code", NULL, command_best,
	    "show the best kernel and how it was measured" },
	{ "baseline", "jobs every", NULL, command_baseline,
	    "measure the reference, which is round 1 of a linear search" },
	{ "shapes", "output check", NULL, command_shapes,
	    "propose the shapes of every round; --check: reject cherry-picked sets" },
	{ "record", "output", "TRIAL/BRANCH", command_record,
	    "print everything that is known about a candidate" },
	{ "run", "trials jobs retries retry-s every", NULL, command_run,
	    "run trials until a stop condition is met" },
	{ "views", "jobs every", NULL, command_views, "make scores, archives and gradients again" },
	{ "redo", "jobs from every", "TRIAL/BRANCH", command_redo,
	    "make one candidate again from a stage on" },
	{ "verify", "jobs every", NULL, command_verify, "measure the best kernel again" },
	{ "upgrade", "", NULL, command_upgrade, "convert the records of an older version of kiln" },
	{ "watch", "every", NULL, command_watch,
	    "keep the report up to date in a browser while a campaign runs" },
	{ "knobs", "output", "[GROUP]", command_knobs,
	    "list fields of campaign.json, or of a group; explain one" },
};

struct kbuf page;
struct options given = { .from = "eval", .retries = 8, .retry_s = 15 };

static const struct koption options[] = {
	KOPTION_CAMPAIGN(&given.dir),
	KOPTION_OUTPUT(&given.output),
	{ 'n', "trials", .number = &given.trials, .low = 1, .high = 999999,
	    .help = "N\trun: run N trials, and do not retry after a temporary failure" },
	{ 'j', "jobs", .number = &given.jobs, .low = 1, .high = 9999,
	    .help = "N\trun, views, redo, verify: run N stages at once (default: one per branch)" },
	{ 0, "retries", .number = &given.retries, .high = 1000,
	    .help = "N\trun: retry N times after temporary failures (default: 8)" },
	{ 0, "retry-s", .real = &given.retry_s, .high = 86400,
	    .help = "S\trun: wait S seconds before a retry, then twice as long (default: 15)" },
	KOPTION_REAL("every", &given.every, 0.01, 86400,
	    "S\trun, views, redo, verify: show progress at least every S seconds\n"
	    "                         (default: 30; on a terminal, always);\n"
	    "                         watch: reload the page every S seconds "
	    "(default: 2)"),
	KOPTION_TEXT("from", &given.from,
	    "STAGE\tredo: begin at sample, prompt, reply or eval (default: eval)"),
	KOPTION_FLAG("code", &given.code, "\tbest: print its code"),
	KOPTION_FLAG("check", &given.check,
	    "\tshapes: check that the quick set is a fair choice; exit 1 if it is not"),
	KOPTION_FLAG("remote", &given.remote,
	    "\tcheck: also check that evaluations run through eval.launcher"),
	KOPTION_TEXT(
	    "mode", &given.mode, "MODE\tnew: search with map-elites (the default) or linear"),
	KOPTION_TEXT("task", &given.task, "DIR\tnew: take task.json and its files from DIR"),
};

static const char adoption[] = "\n"
                               "  adopt      make a campaign from a kernel of an application: see "
                               "kadopt(1)\n"
                               "  integrate  put the winner into the application: see kadopt(1)\n";

void
emit(void)
{
	kout_open(given.output);
	kout_line("%s", page.data ?: "");
	kout_commit();
}

/* Adoption has its own program. */
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
	static const struct kcommand_line line = { commands, LEN(commands), options, LEN(options),
		adoption };
	const struct kcommand *command;
	bool runs, anywhere;
	int code;

	kutil_init("kcampaign");
	hand_over(argc, argv);
	command = kcommand_read(&line, argc, argv);
	runs = kis_one_of("baseline run views redo verify", command->name);
	anywhere = kis_one_of("new knobs", command->name);
	given.operand = argv[optind];
	given.output = kcommand_path(given.output);
	if (!anywhere)
		kcommand_enter(given.dir);
	if (runs)
		loop_begin();
	else if (!anywhere && command->run != command_check)
		kcamp_load();
	code = command->run();
	if (runs)
		progress_close();
	return code;
}
