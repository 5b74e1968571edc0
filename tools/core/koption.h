/* SPDX-License-Identifier: Apache-2.0 */
/*
 * koption: the command line of a tool as a table that says where each option's value goes. --help
 * and --version belong to every tool and are handled here; errors end the program with K_USAGE.
 */
#pragma once

#include "kutil.h"

/* An option takes a value if it has a place to store one: a text, a number or a function. */
struct koption {
	char letter;      /* 0: there is only the long form */
	const char *name; /* NULL: there is only the letter */
	const char **text;
	long *number; /* from LOW to HIGH, like REAL */
	double *real;
	double low, high;
	void (*call)(void *to, const char *name, const char *value); /* NAME: "--knob" */
	void *to;
	bool *flag;
	int *choice, value; /* CHOICE is set to VALUE, for options that exclude each other */
	const char *help;   /* "VALUE\tdescription"; for an option without a value
                             * "\tdescription" */
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

/* Rows of options that have only the long form. */
#define KOPTION_FLAG(option, place, words) \
	{ \
		0, option, .flag = place, .help = words \
	}
#define KOPTION_TEXT(option, place, words) \
	{ \
		0, option, .text = place, .help = words \
	}
#define KOPTION_NUMBER(option, place, least, most, words) \
	{ \
		0, option, .number = place, .low = least, .high = most, .help = words \
	}
#define KOPTION_REAL(option, place, least, most, words) \
	{ \
		0, option, .real = place, .low = least, .high = most, .help = words \
	}
#define KOPTION_CALL(option, function, argument, words) \
	{ \
		0, option, .call = function, .to = argument, .help = words \
	}
/* One of several that exclude each other: PLACE is set to WHICH. More members may follow. */
#define KOPTION_CHOICE(option, place, which, words, ...) \
	{ \
		0, option, .choice = place, .value = which, .help = words, ##__VA_ARGS__ \
	}
/* As the first row: the first operand ends the options. */
#define KOPTION_IN_ORDER \
	{ \
		.letter = '+' \
	}

/*
 * Reads the COUNT rows of OPTIONS, 64 at most. Wrong use prints the beginning of USAGE, lines that
 * begin with "usage:", up to the first blank line; -h prints all of it, and a line for each option.
 * Operands begin at optind, whatever the order they were given in. Returns a bit for each row that
 * was given.
 */
uint64_t koption_rows(
    const struct koption *options, size_t count, const char *usage, int argc, char **argv);
/* The same for the array OPTIONS. */
#define koption_read(options, usage, argc, argv) \
	koption_rows(options, LEN(options), usage, argc, argv)

/* Prints WHY (NULL: already printed) and USAGE, and ends the program. */
_Noreturn void koption_misuse(const char *usage, const char *why);
/* Dies if there is an operand. */
void koption_no_operands(const char *usage, int argc, char **argv);
/* Both. */
#define koption_all(options, usage, argc, argv) \
	(koption_read(options, usage, argc, argv), koption_no_operands(usage, argc, argv))
