/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krecords: what people read about a campaign's rounds; what it remembers, hides and leaves to
 * other campaigns; and the proof that nobody edited any of it. See krecords.h.
 */

#include "kcommand.h"
#include "krecords.h"

/* The files are written first: commits refer to them. */
static int
command_close(void)
{
	int code;

	rounds_load(true);
	code = close_rounds();
	if (!code)
		code = write_commits();
	/* The rounds before the damage are written, those after it are not. */
	return code ?: campaign_damage();
}

static bool
has_memory(void)
{
	size_t count;

	free(kmemo_versions(&count));
	return count || kseal_last(&campaign.seal, KMEMO_SEAL);
}

static int
command_check(void)
{
	struct kfaults f = { 0 };
	size_t files = 0, commits = 0, versions = 0;

	check_masks(&f);
	/* There are, or should be, files of rounds. Their trials stay loaded for the memory. */
	if (kseal_last(&campaign.seal, "round") || kis_there("rounds") || ktrials.linear)
		rounds_load(false);
	if (has_memory())
		check_memory(&f, &versions);
	if (campaign.count) {
		check_rounds(&f, &files);
		check_commits(&f, &commits);
	}
	if (ktrials.fault_count)
		kfault(&f, "%.*s", (int)ktrials.faults.len - 1, ktrials.faults.data);
	if (!f.count)
		kbuf_printf(&f.text,
		    "%zu rounds, %zu files, %d logs, %zu commits, %zu records of memory: unchanged "
		    "since they were sealed\n",
		    campaign.count, files, LOGS, commits, versions);
	kout_open(given.output);
	kout_line("%s", f.text.data);
	kout_commit();
	kbuf_free(&f.text);
	return f.count ? K_NO : K_OK;
}

/* The kernel of an accepted round with the files of its bundle, byte for byte. */
static int
command_restore(void)
{
	struct program p;
	const struct round *r;

	rounds_load(false);
	if ((size_t)given.round > campaign.count)
		kdie_usage("--round %ld: there are %zu rounds", given.round, campaign.count);
	r = given.round ? &campaign.round[given.round - 1] : last_accepted();
	if (!r->accepted)
		kdie(K_NO, "round %ld was not accepted; the last accepted round is %ld", r->number,
		    last_accepted()->number);
	program_of(r->accepted, kernel_name(), &p);
	kforeach_of(one, p.file, p.count)
		put_file(kshown("%s/%s", given.output, one->path), one->text, strlen(one->text));
	program_free(&p);
	return K_OK;
}

static const struct kcommand commands[] = {
	{ "close", "correct", NULL, command_close,
	    "write and seal rounds/ and logs/, commit accepted kernels" },
	{ "check", "output", NULL, command_check,
	    "check that everything is as it was sealed; exit 1 if not" },
	{ "restore", "output round", NULL, command_restore,
	    "put the kernel of a round into the folder -o DIR" },
	{ "remember", "", "[VERSION...]", command_remember,
	    "bring memory/vN.json up to date with the trials" },
	{ "read", "output field", "[VERSION]", command_read,
	    "print a record of memory, or all that are not masked" },
	{ "summary", "output", NULL, command_summary, "print the records as a table" },
	{ "latest", "output", NULL, command_latest, "print the newest version that is not masked" },
	{ "list", "output", NULL, command_list, "list all versions and their files" },
	{ "mask", "why", "VERSION...", command_mask, "hide records from prompts and plans" },
	{ "note", "why", "VERSION...", command_note,
	    "add what a person knows about them, --why TEXT" },
	{ "unmask", "why", "VERSION...", command_unmask, "show hidden records again" },
	{ "restart", "why seed undo due", NULL, command_restart,
	    "hide a random half, never v0 nor the last win" },
	{ "compact", "output prompt", NULL, command_compact,
	    "let the second model summarise the records" },
	{ "tips", "output why", "add|list|check|remove [...]", command_tips,
	    "keep tips for later campaigns" },
	{ "freeze", "", NULL, command_freeze, "copy tips and library into the campaign" },
	{ "library", "", "[CAMPAIGN...]", command_library,
	    "list what has paid off in finished campaigns" },
};

struct options given = { .seed = -1 };

static const struct koption options[] = {
	KOPTION_CAMPAIGN(&given.dir),
	KOPTION_OUTPUT(&given.output),
	KOPTION_FLAG("correct", &given.correct,
	    "\tclose: add labelled corrections where facts have changed"),
	{ 'N', "round", .number = &given.round, .low = 1, .high = 999999,
	    .help = "ROUND\trestore: this round (default: the last accepted one)" },
	KOPTION_TEXT("field", &given.field, "A.B\tread: this field alone"),
	KOPTION_TEXT("why", &given.why,
	    "TEXT\tmask, note, unmask, restart, tips remove: the reason, for the seal"),
	{ 0, "seed", .number = &given.seed, .high = 9007199254740991,
	    .help = "N\trestart: use this seed, not the campaign's" },
	KOPTION_FLAG("undo", &given.undo, "\trestart: undo the last one"),
	KOPTION_FLAG("due", &given.due, "\trestart: only if memory.restart_after requires it"),
	KOPTION_FLAG("prompt", &given.prompt, "\tcompact: print the prompt without asking a model"),
};

/* Operands that are files or folders are made absolute: all of library's, and what tips reads. */
static char *const *
operands_of(const struct kcommand *command, char **argv, int argc)
{
	bool tips = command->run == command_tips && argc > 0 && strcmp(argv[0], "remove");
	int first = command->run == command_library ? 0 : tips ? 1 : argc;

	for (int i = first; i < argc; i++)
		argv[i] = (char *)kcommand_path(argv[i]);
	return argv;
}

/* Commands that need the campaign for themselves. */
static const char writers[] = "close remember mask note unmask restart compact";

int
main(int argc, char **argv)
{
	static const struct kcommand_line line = { commands, LEN(commands), options, LEN(options),
		"" };
	const struct kcommand *command;

	kutil_init("krecords");
	command = kcommand_read(&line, argc, argv);
	/* Only compact asks a model; git, for example, needs no keys. */
	if (command->run != command_compact)
		kutil_drop_secrets();
	given.count = (size_t)(argc - optind);
	given.operands = operands_of(command, argv + optind, argc - optind);
	if (command->run == command_restore && !given.output)
		kdie_usage("give -o DIR, the folder for the kernel");
	given.output = kcommand_path(given.output);
	kcommand_enter(given.dir);
	if (command->run != command_library)
		campaign_open(kis_one_of(writers, command->name));
	return command->run();
}
