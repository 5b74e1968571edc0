/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kround: the rounds of a campaign as files for people, and the accepted ones as commits. See
 * kround.h.
 */
#include <string.h>
#include <unistd.h>

#include "kcommand.h"
#include "kround.h"

/* What a pipeline calls after each trial: records first, for commits point to them. */
static int
close_rounds(const struct campaign *c, const struct options *o)
{
	struct options quiet = *o;
	int code = write_records(c, o);

	quiet.quiet = c->count > 2;
	return code ? code : write_commits(c, &quiet);
}

static void
add_damage(struct faults *f, const struct ktrials *t)
{
	if (t->fault_count)
		kbuf_add(&f->text, t->faults.data, t->faults.len);
	f->count += t->fault_count;
}

static int
check_all(const struct campaign *c, const struct options *o)
{
	struct faults f = { 0 };
	size_t files = 0, commits = 0;
	int code;

	check_records(c, &f, &files);
	check_commits(c, &f, &commits);
	add_damage(&f, &c->trials);
	code = f.count ? K_NO : K_OK;
	if (!f.count)
		kbuf_printf(&f.text,
		    "%zu rounds, %zu files, %d logs, %zu commits: unchanged since they were "
		    "closed\n",
		    c->count, files, LOGS, commits);
	kout_open(o->output);
	kout_line(f.text.data, f.text.len - 1);
	kout_commit();
	kbuf_free(&f.text);
	return code;
}

/*
 * The rounds of the working folder's campaign, for one command. They are read under the lock: what
 * another run closes in the meantime would look like a round without its trial.
 */
static int
with_campaign(int (*run)(const struct campaign *c, const struct options *o),
    const struct options *o, bool write)
{
	struct campaign c;
	int code, fd = records_lock(write);

	campaign_load(&c, write);
	code = run(&c, o);
	/* The rounds before the damage are written; those after it are not. */
	if (!code && write && c.trials.fault_count)
		code = K_USAGE;
	campaign_free(&c);
	close(fd);
	return code;
}

static int
command_records(const struct options *o)
{
	return with_campaign(write_records, o, true);
}

static int
command_commit(const struct options *o)
{
	return with_campaign(write_commits, o, true);
}

static int
command_close(const struct options *o)
{
	return with_campaign(close_rounds, o, true);
}

static int
command_check(const struct options *o)
{
	return with_campaign(check_all, o, false);
}

static int
command_restore(const struct options *o)
{
	if (!o->output)
		kdie(K_USAGE, "give -o DIR, the folder for the kernel");
	if (o->from && strcmp(o->from, "git") && strcmp(o->from, "snapshot"))
		kdie(K_USAGE, "--from %s: must be git or snapshot", o->from);
	return with_campaign(restore_round, o, false);
}

static const struct kcommand commands[] = {
	{ "records", "C", NULL, command_records, false,
	    "write rounds/ and logs/ up to the last complete trial" },
	{ "commit", "", NULL, command_commit, false, "make a commit for each accepted round" },
	{ "close", "C", NULL, command_close, false,
	    "do what a run does after each trial: records, then commit" },
	{ "check", "o", NULL, command_check, false,
	    "check that nothing has changed since it was closed; exit 1 if it has" },
	{ "restore", "oNf", NULL, command_restore, false,
	    "put the kernel of a round into the folder DIR (-o DIR)" },
};

static const struct option long_options[] = {
	{ "campaign", required_argument, NULL, 'c' },
	{ "output", required_argument, NULL, 'o' },
	{ "round", required_argument, NULL, 'N' },
	{ "from", required_argument, NULL, 'f' },
	{ "correct", no_argument, NULL, 'C' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static const char option_help[] =
    "  -N, --round ROUND    restore: take this round (default: the last accepted one)\n"
    "      --from PLACE     restore: take it from git or snapshot (default: the one that is "
    "intact)\n"
    "      --correct        records, close: add labelled corrections if facts have changed\n";

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
	case 'N':
		o->round = knum_long(optarg, 1, 999999, "--round");
		break;
	case 'f':
		o->from = optarg;
		break;
	case 'C':
		o->correct = true;
		break;
	}
}

int
main(int argc, char **argv)
{
	static const struct kcommand_line line = { commands, LEN(commands), "c:o:N:hV",
		long_options, option_help, set_option };
	struct options o = { 0 };
	const struct kcommand *command;

	kutil_init("kround");
	command = kcommand_read(&line, argc, argv, &o);
	o.output = kcommand_path(o.output);
	kcommand_enter(command, o.dir);
	return command->run(&o);
}
