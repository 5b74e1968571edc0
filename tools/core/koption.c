/* SPDX-License-Identifier: Apache-2.0 */
/* koption: see koption.h. */
#include "koption.h"

#include <getopt.h>

/* For row I, getopt returns FIRST + I, or the row's letter. */
enum { ROWS_MAX = 64, FIRST = 256 };
enum { COLUMN = 25 }; /* of the descriptions in --help */

/* The options that are read. */
static struct {
	const struct koption *row;
	size_t count;
	const char *usage;
} table;

_Noreturn void
koption_misuse(const char *usage, const char *why)
{
	const char *more = strstr(usage, "\n\n");

	if (why)
		kwarn("%s", why);
	fwrite(usage, 1, more ? (size_t)(more - usage) + 1 : strlen(usage), stderr);
	exit(K_USAGE);
}

void
koption_no_operands(const char *usage, int argc, char **argv)
{
	if (optind < argc) {
		kwarn("unexpected operand '%s'", argv[optind]);
		koption_misuse(usage, NULL);
	}
}

static void
put_option(char letter, const char *name, const char *help)
{
	size_t n = strcspn(help, "\t");
	auto_free char *letters =
	    letter ? kasprintf("-%c%s", letter, name ? ", " : "") : kstrdup("    ");
	int width = printf(
	    "  %s%s%s%s%.*s", letters, name ? "--" : "", name ?: "", n ? " " : "", (int)n, help);

	printf("%*s%s\n", width < COLUMN ? COLUMN - width : 1, "", help + n + 1);
}

static void
put_help(void)
{
	printf("%s\n", table.usage);
	kforeach_of(option, table.row, table.count)
		if (option->help)
			put_option(option->letter, option->name, option->help);
	put_option('h', "help", "\tprint this text");
	put_option('V', "version", "\tprint the version");
}

static void
put_value(const struct koption *o, const char *value)
{
	auto_free char *name = o->name ? kasprintf("--%s", o->name) : kasprintf("-%c", o->letter);

	if (o->text)
		*o->text = value;
	if (o->number)
		*o->number = knum_long(value, (long)o->low, (long)o->high, name);
	if (o->real)
		*o->real = knum_double(value, o->low, o->high, name);
	if (o->call)
		o->call(o->to, name, value);
}

/* One message that names all options of the exclusive choice. */
static _Noreturn void
die_exclusive(const int *choice)
{
	struct kbuf b = { 0 };

	kforeach_of(option, table.row, table.count)
		if (option->choice == choice) {
			kbuf_join(&b, ", ", "--");
			kbuf_puts(&b, option->name);
		}
	kbuf_puts(&b, " cannot be used together");
	koption_misuse(table.usage, b.data);
}

static void
apply(const struct koption *o)
{
	if (o->choice && *o->choice && *o->choice != o->value)
		die_exclusive(o->choice);
	if (o->choice)
		*o->choice = o->value;
	if (o->flag)
		*o->flag = true;
	put_value(o, optarg);
}

/* The arguments for getopt; LETTERS has room for two characters per row. */
static void
translate(struct option *longs, char *letters)
{
	kforeach_of(o, table.row, table.count) {
		bool value = o->text || o->number || o->real || o->call;

		if (o->name)
			*longs++ =
			    (struct option){ o->name, value, NULL, FIRST + (int)(o - table.row) };
		if (o->letter)
			*letters++ = o->letter;
		if (o->letter && value)
			*letters++ = ':';
	}
	*longs++ = (struct option){ "help", no_argument, NULL, 'h' };
	*longs = (struct option){ "version", no_argument, NULL, 'V' };
	strcpy(letters, "hV");
}

uint64_t
koption_rows(const struct koption *options, size_t count, const char *usage, int argc, char **argv)
{
	struct option longs[ROWS_MAX + 3] = { 0 };
	char letters[2 * ROWS_MAX + 3];
	uint64_t given = 0;
	int c;

	if (count > ROWS_MAX)
		abort();
	table.row = options;
	table.count = count;
	table.usage = usage;
	translate(longs, letters);
	optind = 0;
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		size_t i = c >= FIRST ? (size_t)(c - FIRST) : 0;

		if (c == 'h' || c == 'V') {
			(c == 'h' ? put_help : kversion)();
			exit(K_OK);
		}
		while (c < FIRST && i < count && options[i].letter != c)
			i++;
		if (i == count)
			koption_misuse(usage, NULL);
		apply(&options[i]);
		given |= (uint64_t)1 << i;
	}
	return given;
}
