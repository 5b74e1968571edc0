/* SPDX-License-Identifier: Apache-2.0 */
/* klog: compiler output as compilers print it, and as hostile programs make them print it. */
#include <stdlib.h>

#include "kfence.h"
#include "klog.h"
#include "kutil.h"
#include "tap.h"

#define BAD "\xef\xbf\xbd"

static const struct {
	const char *name, *log, *want;
} cases[] = {
	{ "nothing", "", "" },
	{ "an error stays as it is", "candidate.c:3:5: error: 'x' undeclared\n",
	    "candidate.c:3:5: error: 'x' undeclared\n" },
	{ "what stands before the first error goes",
	    "cc1: warning: something\nstep 1 of 2\ncandidate.c:1:1: error: bad\n",
	    "candidate.c:1:1: error: bad\n" },
	{ "the context of the error stays",
	    "noise\ncandidate.c: In function 'f':\ncandidate.c:1:1: error: bad\n    1 | x\n",
	    "candidate.c: In function 'f':\ncandidate.c:1:1: error: bad\n    1 | x\n" },
	{ "a system note and its snippet go",
	    "a.c:1:1: error: bad\n/usr/include/math.h:9:1: note: declared here\n    9 | double "
	    "y;\n      |        ^\na.c:2:1: error: worse\n",
	    "a.c:1:1: error: bad\na.c:2:1: error: worse\n" },
	{ "a system warning goes", "a.c:1:1: error: bad\n/usr/include/x.h:1:1: warning: odd\n",
	    "a.c:1:1: error: bad\n" },
	{ "a system error stays, its path shortened",
	    "/usr/lib/gcc/x86_64-linux-gnu/12/include/fmaintrin.h:5:1: error: inlining failed\n",
	    "fmaintrin.h:5:1: error: inlining failed\n" },
	{ "a note of the candidate stays", "a.c:1:1: error: bad\na.c:1:2: note: here\n",
	    "a.c:1:1: error: bad\na.c:1:2: note: here\n" },
	{ "a stack of includes is collapsed",
	    "In file included from /usr/a/b.h:1,\n                 from /usr/a/c.h:2,\n            "
	    "     from /usr/a/d.h:3,\n                 from a.c:4:\nx.h:1:1: error: bad\n",
	    "In file included from b.h:1,\n                 from a.c:4:\nx.h:1:1: error: bad\n" },
	{ "a stack of templates is collapsed",
	    "a.cpp:1:1: error: bad\na.cpp:2:1:   required from 'A'\na.cpp:3:1:   required from "
	    "'B'\na.cpp:4:1:   required from here\n",
	    "a.cpp:1:1: error: bad\na.cpp:2:1:   required from 'A'\na.cpp:4:1:   required from "
	    "here\n" },
	{ "repeats go", "a.c:1:1: error: bad\na.c:1:1: error: bad\na.c:1:1: error: bad\n",
	    "a.c:1:1: error: bad\n" },
	{ "a command keeps compiler, sources and output",
	    "/usr/bin/gcc -O3 -DX=1 -I/usr/include/y -c a.c -o a.o -lm\na.c:1:1: error: bad\n",
	    "gcc a.c -o a.o\na.c:1:1: error: bad\n" },
	{ "a linker's complaint is an error",
	    "step\n/usr/bin/ld: /tmp/ccX.o: in function `f':\ncandidate.c:(.text+0x5): undefined "
	    "reference to `g'\n",
	    "ld: ccX.o: in function `f':\ncandidate.c:(.text+0x5): undefined reference to `g'\n" },
	{ "no error: all stays", "a.c:1:1: warning: odd\n", "a.c:1:1: warning: odd\n" },
	{ "colours go", "a.c:1:1: \033[01;31m\033[Kerror: \033[m\033[Kbad\n",
	    "a.c:1:1: error: bad\n" },
	{ "a division is no path", "a.c:1:1: error: x / y is bad\n",
	    "a.c:1:1: error: x / y is bad\n" },
	{ "an address is no path", "error: see https://example.org/a/b.html\n",
	    "error: see https://example.org/a/b.html\n" },
};

static void
test_compiler(void)
{
	for (size_t i = 0; i < LEN(cases); i++) {
		char *got = klog_compiler(cases[i].log, strlen(cases[i].log));

		if (!tap_check(!strcmp(got, cases[i].want), cases[i].name, __FILE__, __LINE__))
			printf("# got:\n# %s\n", got);
		free(got);
	}
}

static void
test_clean(void)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "10%\r50%\rdone\r\n", "done\n" },
		{ "a\001b\177c", "abc" },
		{ "\xff\xc3(", BAD BAD "(" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "\xe2\x80\xae"
		  "evil",
		    "evil" },
		{ "zero\xe2\x80\x8bwidth", "zerowidth" },
		{ "\033]0;title\abody", "body" },
		{ "\033]8;;x\033\\body", "body" },
		{ "\033[", "" },
		{ "\033", "" },
		{ "\033Mup", "up" },
		{ "\xed\xa0\x80", BAD BAD BAD },
		{ "\xf4\x90\x80\x80", BAD BAD BAD BAD },
		{ "\xc0\xaf", BAD BAD },
		{ "tab\tstays\n", "tab\tstays\n" },
		{ "end\r", "end" },
		{ "\xf0\x9f\x99\x82 ok", "\xf0\x9f\x99\x82 ok" },
		{ "\033\nx", "\nx" },
		{ "\033]open", "open" },
	};
	char *got;

	for (size_t i = 0; i < LEN(rows); i++) {
		got = kfence_log(rows[i].in, strlen(rows[i].in));
		CHECK_STR(got, rows[i].out);
		free(got);
	}
	got = kfence_log("a\0b", 3);
	CHECK_STR(got, "ab");
	free(got);
}

static void
test_limits(void)
{
	struct kbuf b = { 0 };
	char *got;

	for (int i = 0; i < 2000; i++)
		kbuf_printf(&b, "a.c:%d:1: warning: number %d of many\n", i, i);
	kbuf_puts(&b, "a.c:9999:1: error: the one that matters\n");
	got = klog_compiler(b.data, b.len);
	CHECK_STR(got, "a.c:9999:1: error: the one that matters\n");
	free(got);
	b.len = 0;
	for (int i = 0; i < 2000; i++)
		kbuf_printf(&b, "a.c:%d:1: error: number %d of many\n", i, i);
	got = klog_compiler(b.data, b.len);
	CHECK(strlen(got) <= 5000 + 2000 + 64);
	CHECK(strstr(got, "number 0 of many") && strstr(got, "bytes cut ...]\n") &&
	    !strstr(got, "number 1999"));
	CHECK(strlen(got) > 6000);
	free(got);
	b.len = 0;
	kbuf_puts(&b, "a.c:1:1: error: ");
	for (int i = 0; i < 3000; i++)
		kbuf_puts(&b, "\xc3\xa9");
	got = klog_compiler(b.data, b.len);
	CHECK(strlen(got) <= 404 && !strchr(strstr(got, "\xc3\xa9"), '?'));
	free(got);
	kbuf_free(&b);
}

int
main(void)
{
	test_compiler();
	test_clean();
	test_limits();
	return tap_done();
}
