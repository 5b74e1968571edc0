/* SPDX-License-Identifier: Apache-2.0 */
/* koption: see koption.h. */
#include "koption.h"

#include <getopt.h>

/* For row I, getopt returns FIRST + I, or the row's letter. */
enum { ROWS_MAX = 64, FIRST = 256 };
enum { COLUMN = 25 }; /* of the descriptions in --help */

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
	int width = printf("  %s%s%s%s%.*s", letters, name ? "--" : "", name ? name : "",
	    n ? " " : "", (int)n, help);

	printf("%*s%s\n", width < COLUMN ? COLUMN - width : 1, "", help + n + 1);
}

static void
put_help(const struct koption *options, size_t count, const char *usage)
{
	printf("%s\n", usage);
	kforeach_of(option, options, count)
		if (option->help)
			put_option(option->letter, option->name, option->help);
	put_option('h', "help", "\tprint this text");
	put_option('V', "version", "\tprint the version");
}

static bool
takes_value(const struct koption *o)
{
	return o->text || o->number || o->real || o->call;
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
die_exclusive(const struct koption *options, size_t count, const int *choice, const char *usage)
{
	struct kbuf b = { 0 };

	kforeach_of(option, options, count)
		if (option->choice == choice)
			kbuf_printf(&b, "%s--%s", b.len ? ", " : "", option->name);
	kbuf_puts(&b, " cannot be used together");
	koption_misuse(usage, b.data);
}

static void
apply(const struct koption *options, size_t count, const struct koption *o, const char *usage)
{
	if (o->choice && *o->choice && *o->choice != o->value)
		die_exclusive(options, count, o->choice, usage);
	if (o->choice)
		*o->choice = o->value;
	if (o->flag)
		*o->flag = true;
	put_value(o, optarg);
}

/* The arguments for getopt; LETTERS has room for two characters per row. */
static void
translate(const struct koption *options, size_t count, struct option *longs, char *letters)
{
	for (size_t i = 0; i < count; i++) {
		bool value = takes_value(&options[i]);

		if (options[i].name)
			*longs++ = (struct option){ options[i].name, value, NULL, FIRST + (int)i };
		if (options[i].letter)
			*letters++ = options[i].letter;
		if (options[i].letter && value)
			*letters++ = ':';
	}
	*longs++ = (struct option){ "help", no_argument, NULL, 'h' };
	*longs = (struct option){ "version", no_argument, NULL, 'V' };
	*letters++ = 'h';
	*letters++ = 'V';
	*letters = '\0';
}

uint64_t
koption_read(const struct koption *options, size_t count, const char *usage, int argc, char **argv)
{
	struct option longs[ROWS_MAX + 3] = { 0 };
	char letters[2 * ROWS_MAX + 3];
	uint64_t given = 0;
	int c;

	if (count > ROWS_MAX)
		abort();
	translate(options, count, longs, letters);
	optind = 0;
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		size_t i = c >= FIRST ? (size_t)(c - FIRST) : 0;

		if (c == 'h') {
			put_help(options, count, usage);
			exit(K_OK);
		}
		if (c == 'V') {
			kversion();
			exit(K_OK);
		}
		while (c < FIRST && i < count && options[i].letter != c)
			i++;
		if (i == count)
			koption_misuse(usage, NULL);
		apply(options, count, &options[i], usage);
		given |= (uint64_t)1 << i;
	}
	return given;
}
