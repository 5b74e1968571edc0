/* SPDX-License-Identifier: Apache-2.0 */
/* kseal: every edit of the chain is found, with its line; a file is known by what was sealed. */
#include "kseal.h"

#include <stdlib.h>

#include "kio.h"
#include "tap.h"

static char dir[] = "/tmp/kiln-unit.XXXXXX";

static void
put(const char *name, const char *text, size_t len)
{
	char *path = kasprintf("%s/%s", dir, name);

	if (kwrite_file(path, text, len) < 0)
		kdie_errno(K_IO, "%s", path);
	free(path);
}

/* What reading says now, without the folder's name. */
static void
reads(const char *want)
{
	struct kseal s;
	char *fault = kseal_read(&s, dir, NULL);

	CHECK_STR(fault ? fault + strlen(dir) + 1 : "sound", want);
	free(fault);
	kseal_close(&s);
}

static void
test_lines(void)
{
	struct kseal s;

	reads("sound");
	kseal_note(dir, "a", json_pack("{s:s}", "why", "\"kind\":\"b\",\"previous\":\"\""));
	kseal_note(dir, "b", json_pack("{s:{s:s}}", "files", "x.c", "d1"));
	kseal_note(dir, "b", json_pack("{s:{s:s}}", "files", "x.c", "d2"));
	reads("sound");
	kseal_open(&s, dir, "b");
	CHECK(json_array_size(s.lines) == 2);
	CHECK_STR(kseal_digest(kseal_last(&s, "b"), "x.c"), "d2");
	CHECK_STR(kseal_digest(kseal_last(&s, "b"), "y.c"), "");
	CHECK(kseal_knows(&s, "x.c", "d1") && !kseal_knows(&s, "x.c", "d3"));
	CHECK(kjson_int_or(kseal_last(&s, "b"), "n", 0) == 3 && !kseal_last(&s, "c"));
	kseal_close(&s);
}

/* Who asks for lines of one kind hears of edits in those, and who asks for all, of every edit. */
static void
test_kinds(void)
{
	static const char *const kinds[] = { "a", "b", NULL };
	struct kseal whole, s;
	char *why;

	kseal_open(&whole, dir, NULL);
	why = strstr(whole.text.data, "why");
	*why = 'W';
	put(KSEAL_FILE, whole.text.data, whole.text.len);
	for (size_t i = 0; i < LEN(kinds); i++) {
		char *fault = kseal_read(&s, dir, kinds[i]);

		CHECK(!fault == (kinds[i] && *kinds[i] == 'b'));
		free(fault);
		kseal_close(&s);
	}
	*why = 'w';
	put(KSEAL_FILE, whole.text.data, whole.text.len);
	kseal_close(&whole);
}

/*
 * Every byte of the file changed, and every line removed, doubled or swapped: none passes, but
 * the last line cut off.
 */
static void
test_edits(void)
{
	struct kseal s;
	struct kbuf whole = { 0 };
	size_t found = 0, lines[4] = { 0 };
	char *text;

	kseal_open(&s, dir, NULL);
	kbuf_add(&whole, s.text.data, s.text.len);
	kseal_close(&s);
	for (size_t i = 0, n = 0; i < whole.len; i++)
		if (whole.data[i] == '\n')
			lines[++n] = i + 1;
	text = kstrdup(whole.data);
	for (size_t i = 0; i < whole.len; i++) {
		char *fault;

		text[i] ^= 1;
		put(KSEAL_FILE, text, whole.len);
		fault = kseal_read(&s, dir, NULL);
		found += fault != NULL;
		free(fault);
		kseal_close(&s);
		text[i] ^= 1;
	}
	CHECK(found == whole.len);
	put(KSEAL_FILE, text + lines[1], whole.len - lines[1]);
	reads(KSEAL_FILE ":1: was moved, or a line before it was removed: it does not continue "
	                 "that one; put the file back from a copy");
	put(KSEAL_FILE, text, whole.len - 1);
	reads(KSEAL_FILE ":3: was edited: no newline at its end; put the file back from a copy");
	memmove(text + lines[1], text + lines[2], whole.len - lines[2] + 1);
	put(KSEAL_FILE, text, strlen(text));
	reads(KSEAL_FILE ":2: was moved, or a line before it was removed: it does not continue "
	                 "that one; put the file back from a copy");
	put(KSEAL_FILE, whole.data, lines[2]);
	reads("sound");
	free(text);
	kbuf_free(&whole);
}

static void
test_files(void)
{
	static const char *const names[] = { "one", "two", "none", NULL };
	char *fault;

	put("one", "1", 1);
	put("two", "2", 1);
	CHECK(!kseal_changed(dir, "frozen", "so"));
	kseal_note(dir, "frozen", json_pack("{s:o}", "files", kseal_files(dir, names)));
	CHECK(!kseal_changed(dir, "frozen", "so"));
	put("two", "3", 1);
	fault = kseal_changed(dir, "frozen", "so");
	CHECK(fault && strstr(fault, "/two: it has changed since so, so figures"));
	free(fault);
}

static void
put_away(void)
{
	static const char *const names[] = { KSEAL_FILE, "one", "two", "" };

	for (size_t i = 0; i < LEN(names); i++) {
		char *path = kasprintf("%s/%s", dir, names[i]);

		CHECK(remove(path) == 0);
		free(path);
	}
}

int
main(void)
{
	CHECK(mkdtemp(dir) != NULL);
	test_lines();
	test_kinds();
	test_edits();
	test_files();
	put_away();
	return tap_done();
}
