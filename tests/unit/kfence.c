/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfence: what cleaning drops and keeps, that cuts fall between characters, and that no content
 * leaves its fence.
 */
#include "kfence.h"

#include <stdlib.h>

#include "tap.h"

static void
is_str(char *got, const char *want, const char *name)
{
	tap_str(got, want, name, __FILE__, __LINE__);
	free(got);
}

static void
clean_is(const char *in, size_t len, const char *want, const char *name)
{
	is_str(kfence_clean(in, len), want, name);
}

#define CLEAN(in, want, name) clean_is(in, sizeof in - 1, want, name)

static void
test_clean(void)
{
	CLEAN("plain\ttext\n", "plain\ttext\n", "text, tab and line feed stay");
	CLEAN("", "", "empty text");
	CLEAN("a\0b\x01\x08\x0b\x7f"
	      "c",
	    "abc", "control characters go");
	CLEAN("a\r\nb\rc", "a\nb\nc", "CR LF and CR become LF");
	CLEAN("a\xc2\x85"
	      "b\xe2\x80\xa8"
	      "c\xe2\x80\xa9"
	      "d",
	    "a\nb\nc\nd", "NEL and Unicode separators become LF");
	CLEAN("\x1b[31mred\x1b[0m", "red", "colours");
	CLEAN("\xc2\x9b"
	      "2Jx",
	    "x", "eight-bit CSI");
	CLEAN("\x1b]0;title\x07x", "x", "window title ended by BEL");
	CLEAN(
	    "\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link", "hyperlink ended by ESC backslash");
	CLEAN("\x1b]0;t\xc2\x9cx", "x", "control string ended by ST");
	CLEAN("\x1b]0;never ends\nnext", "0;never ends\nnext",
	    "an open control string hides nothing");
	CLEAN("\x1b(Bx\x1b"
	      "7y\x1b",
	    "xy", "short escapes, and one at the end");
	CLEAN("\x1b[12;", "", "cut control sequence");
	CLEAN("\x1b[3\nx", "\nx", "a control sequence ends at the line");
	CLEAN("a\xe2\x80\x8b"
	      "b\xe2\x80\xae"
	      "c\xef\xbb\xbf"
	      "d\xc2\xad"
	      "e\xf3\xa0\x81\x81"
	      "f",
	    "abcdef", "invisible characters");
	CLEAN("\xe2\x81\xa6x\xe2\x81\xa9\xd8\x9cy\xef\xb8\x8f", "xy",
	    "isolates, letter mark, variation selector");
	CLEAN("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
	    "other characters stay");
	CLEAN("a\xff"
	      "b\xc3",
	    "a\xef\xbf\xbd"
	    "b\xef\xbf\xbd",
	    "invalid bytes");
	CLEAN("\xc0\xaf\xed\xa0\x80",
	    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
	    "overlong form and surrogate");
	CLEAN("\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
	    "beyond Unicode");
}

static void
test_lines(void)
{
	char *s;

	is_str(kfence_line("  a \t b\n\nc  ", 100), "a b c", "one line");
	is_str(kfence_line("\xc3\xa9\xc3\xa9\xc3\xa9", 2), "\xc3\xa9\xc3\xa9",
	    "cut between characters");
	is_str(kfence_line(" \n ", 10), "", "nothing but blanks");
	CHECK(kfence_chars("abc", 0) == 0 && kfence_chars("abc", 9) == 3 &&
	    kfence_chars("\xc3\xa9x", 1) == 2);
	is_str(kfence_shorten("short\n", 10), "short\n", "a short text is kept");
	is_str(kfence_shorten("aaaaaaaa\nbbbbbbbb\ncccccccc\ndddddddd\neeeeeeee\n", 27),
	    "aaaaaaaa\nbbbbbbbb\n[... 18 characters cut ...]\neeeeeeee\n",
	    "a long text is cut at line ends");
	s = kfence_shorten(
	    "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 3);
	is_str(s, "\xc3\xa9\xc3\xa9\n[... 6 characters cut ...]\n\xc3\xa9", "without line ends");
}

static void
fence_is(const char *in, const char *label, const char *want, const char *name)
{
	struct kbuf b = { 0 };

	kfence_code(&b, in, label);
	is_str(kstrdup(b.data), want, name);
	kbuf_free(&b);
}

static void
test_code(void)
{
	fence_is("int x;\n", "c", "```c\nint x;\n```\n", "a plain program");
	fence_is("int x;", "c", "```c\nint x;\n```\n", "the last line is ended");
	fence_is("", "c", "```c\n```\n", "no program");
	fence_is("```\nx\n```", "c", "````c\n```\nx\n```\n````\n", "three backticks inside");
	fence_is(
	    "a ``````` b", "c", "````````c\na ``````` b\n````````\n", "seven backticks inside");
	fence_is("`` ` ``", "c", "```c\n`` ` ``\n```\n", "two backticks need three");
	fence_is("~~~\n", "c", "```c\n~~~\n```\n", "tildes do not close backticks");
	fence_is("x", "c++ `\n/*", "```c++/\nx\n```\n", "a label is plain");
	fence_is("x", "c:a/b_1.h", "```c:a/b_1.h\nx\n```\n", "a label with a file name");
}

static void
test_data(void)
{
	struct kbuf a = { 0 }, b = { 0 }, c = { 0 };
	char tag[17];

	kfence_data(&a, "line\x1b[1m one", "log", "salt");
	kfence_data(&b, "line\x1b[1m one", "log", "salt");
	kfence_data(&c, "line one", "log", "other");
	tap_check(!strcmp(a.data, b.data), "the same text and salt give the same marks", __FILE__,
	    __LINE__);
	tap_check(strcmp(a.data, c.data), "another salt gives others", __FILE__, __LINE__);
	memcpy(tag, a.data + strlen("----- begin log "), 16);
	tag[16] = '\0';
	tap_check(
	    strspn(tag, "0123456789abcdef") == 16, "the tag is 16 hex digits", __FILE__, __LINE__);
	CHECK(!strncmp(a.data, "----- begin log ", 16) &&
	    strstr(a.data, " -----\nline one\n----- end log "));
	tap_check(strstr(strstr(a.data, tag) + 1, tag), "both marks carry it", __FILE__, __LINE__);
	kbuf_free(&a);
	kbuf_free(&b);
	kbuf_free(&c);
}

int
main(void)
{
	test_clean();
	test_lines();
	test_code();
	test_data();
	return tap_done();
}
