/* SPDX-License-Identifier: Apache-2.0 */
/*
 * koption: the command line of a tool as a table that says where each option goes. --help and
 * --version are every tool's, and are served here; what is wrong ends the program with K_USAGE.
 */
#ifndef KOPTION_H
#define KOPTION_H

#include "kutil.h"

/* An option takes a value when it has a place for one: a text, a number or a function. */
struct koption {
	char letter;      /* 0: there is only the long form */
	const char *name; /* NULL: there is only the letter */
	const char **text;
	long *number; /* from LOW to HIGH, as REAL is */
	double *real;
	double low, high;
	void (*call)(void *to, const char *name, const char *value); /* NAME: "--knob" */
	void *to;
	bool *flag;
	int *choice, value; /* CHOICE becomes VALUE, of options that exclude each other */
	const char *help;   /* "VALUE\tdescription"; of an option without a value "\tdescription" */
};

/* Rows that most tools have; a letter means the same in every tool (tests/options.t). */
#define KOPTION_CAMPAIGN(place) \
	{ \
		'c', "campaign", .text = (place), \
		                 .help = "DIR\tthe campaign's folder (default: .)" \
	}
#define KOPTION_OUTPUT(place) \
	{ \
		'o', "output", .text = (place), .help = "FILE\twrite to FILE instead of stdout" \
	}

/*
 * The COUNT rows of OPTIONS, 64 at most. Misuse prints USAGE, lines that begin with "usage:", up to
 * its first blank line; -h prints all of it, and a line for each option. Operands begin at optind,
 * whatever the order they were given in. Returns a bit for each row that was given.
 */
uint64_t koption_read(
    const struct koption *options, size_t count, const char *usage, int argc, char **argv);

/* WHY (NULL: it has been said) and USAGE; ends the program. */
_Noreturn void koption_misuse(const char *usage, const char *why);
/* Dies when there is an operand. */
void koption_no_operands(const char *usage, int argc, char **argv);

#endif
