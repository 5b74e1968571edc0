/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcommand: programs with commands, `NAME COMMAND [OPTION...] [OPERAND...]`. One table says which
 * command takes which options and operands; help and usage errors come from it.
 */
#pragma once

#include <getopt.h>

#include "koption.h"

struct kcommand {
	const char *name;
	const char *options; /* long names of those that it takes besides -c, separated by blanks */
	const char *operands; /* "FOLDER"; "[FILE]": optional; "FILE...": several; NULL: none */
	int (*run)(void);     /* returns an exit code */
	const char *help;
};

struct kcommand_line {
	const struct kcommand *commands;
	size_t count;
	const struct koption *options; /* -c is the first */
	size_t option_count;
	const char *help; /* more help text, printed after the commands */
};

/*
 * Returns the command, with optind at its first operand. -h and -V are handled here; errors end the
 * program with K_USAGE.
 */
const struct kcommand *kcommand_read(const struct kcommand_line *line, int argc, char **argv);

/*
 * PATH as seen from here, for use in another working folder: unchanged, or made absolute (kept to
 * the end). NULL stays NULL.
 */
const char *kcommand_path(const char *path);

/*
 * Change to DIR, the campaign's folder (NULL: here). K_USAGE when there is none, or when links lead
 * out of it (kcamp_no_links).
 */
void kcommand_enter(const char *dir);
