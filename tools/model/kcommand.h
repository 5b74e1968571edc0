/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcommand: programs with commands, `NAME COMMAND [OPTION...] [OPERAND...]`. One table says which
 * command takes which options and operands; help and usage errors come from it.
 */
#ifndef KCOMMAND_H
#define KCOMMAND_H

#include <getopt.h>

#include "koption.h"

/* What the command line gave: each program's own. */
struct options;

struct kcommand {
	const char *name;
	const char *options; /* long names of those that it takes beside -c, a blank between two */
	const char
	    *operands; /* "FOLDER"; "[FILE]": may be left out; "FILE...": several; NULL: none */
	int (*run)(const struct options *o); /* returns an exit code */
	bool anywhere;                       /* needs no campaign's folder to stand in */
	const char *help;
};

struct kcommand_line {
	const struct kcommand *commands;
	size_t count;
	const struct koption *options; /* -c is the first */
	size_t option_count;
	const char *help; /* what else is to be said, after the commands */
};

/*
 * Returns the command, with optind at its first operand. -h and -V are served here; what is wrong
 * ends the program with K_USAGE.
 */
const struct kcommand *kcommand_read(const struct kcommand_line *line, int argc, char **argv);

/*
 * PATH as it is meant from here, for use in another working folder: the same, or made absolute
 * (kept to the end). NULL stays.
 */
const char *kcommand_path(const char *path);

/*
 * Change to DIR, the campaign's folder (NULL: here), unless the command may run anywhere. K_USAGE
 * when there is none, or when links lead out of it (kcamp_no_links).
 */
void kcommand_enter(const struct kcommand *command, const char *dir);

#endif
