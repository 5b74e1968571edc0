/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of koption: where options go, what is refused, and where operands begin. */
#include "koption.h"

#include <stdlib.h>

#include "kutil.h"
#include "tap.h"

enum { WORDS = 20 };

static struct {
	const char *dir, *task;
	long trial;
	double gate;
	bool json;
	int mode, called;
} got;

static void
count_call(void *to, const char *option, const char *value)
{
	*(int *)to += !strcmp(option, "--knob") && !strcmp(value, "a=b");
}

/* Reads the words of TEXT; the index of the first operand. */
static int
parse(const char *text)
{
	const struct koption options[] = {
		{ 'c', "campaign", .text = &got.dir, .help = "N\tit" },
		{ 't', NULL, .text = &got.task, .help = "N\tit" },
		{ 'n', "trial", .number = &got.trial, .low = 1, .high = 9, .help = "N\tit" },
		{ 0, "gate", .real = &got.gate, .low = 0, .high = 1, .help = "N\tit" },
		{ 'j', "json", .flag = &got.json, .help = "\tit" },
		{ 'k', "knob", .call = count_call, .to = &got.called, .help = "N\tit" },
		{ 0, "best", .choice = &got.mode, .value = 1, .help = "\tit" },
		{ 0, "code", .choice = &got.mode, .value = 2, .text = &got.task, .help = "N\tit" },
	};
	static char *argv[WORDS + 1];
	int argc = 0;

	memset(&got, 0, sizeof got);
	argv[argc++] = kstrdup("tool");
	for (char *w = strtok(kstrdup(text), " "); w && argc < WORDS; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	koption_read(options, "usage: tool\n", argc, argv);
	return optind;
}

static void
test_places(void)
{
	CHECK(parse("-c here --trial 7 --gate=0.5 -j -t x -k a=b --knob a=b one two") == 13);
	CHECK_STR(got.dir, "here");
	CHECK_STR(got.task, "x");
	CHECK(got.trial == 7 && got.gate == 0.5 && got.json && got.called == 2 && !got.mode);
	CHECK(parse("one --best -jn3 two --best") == 4 && got.mode == 1 && got.json &&
	    got.trial == 3);
	CHECK(parse("--code file -- --best") == 4 && got.mode == 2 && !strcmp(got.task, "file"));
	CHECK(parse("") == 1 && !got.dir);
}

static void
test_refused(void)
{
	CHECK_EXIT(K_USAGE, parse("--trial 10"));
	CHECK_EXIT(K_USAGE, parse("--trial x"));
	CHECK_EXIT(K_USAGE, parse("--gate 1.5"));
	CHECK_EXIT(K_USAGE, parse("--unheard-of"));
	CHECK_EXIT(K_USAGE, parse("-x"));
	CHECK_EXIT(K_USAGE, parse("-c"));
	CHECK_EXIT(K_USAGE, parse("--json=1"));
	CHECK_EXIT(K_USAGE, parse("--best --code f"));
	CHECK_EXIT(K_USAGE, koption_misuse("usage: tool\n", "why"));
}

int
main(void)
{
	test_places();
	test_refused();
	CHECK_EXIT(K_OK, parse("-h"));
	CHECK_EXIT(K_OK, parse("--version"));
	return tap_done();
}
