/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit: a reply that edits the program shown instead of writing all of it: blocks of SEARCH and
 * REPLACE, or a unified diff, whose line numbers are ignored. A text to be replaced must occur in
 * that program exactly once, in whole lines; nothing is guessed.
 */

#include "keval.h"

enum { MAX_EDITS = 64 };

struct edit {
	struct kbuf was, now;
	size_t at; /* offset of WAS in the program */
};

struct edits {
	struct edit at[MAX_EDITS + 1]; /* one more than is accepted */
	size_t count;
};

/* What the next line belongs to. */
enum part { OUTSIDE, SEARCH, REPLACE, HUNK };

/* Appends a line of LEN bytes, given without its newline, to B. */
static void
add_line(struct kbuf *b, const char *line, size_t len)
{
	kbuf_add(b, line, len);
	kbuf_puts(b, "\n");
}

/* Handles one line of a diff; false after its last one. */
static bool
take_hunk_line(struct edit *e, const char *line, size_t len)
{
	/* A blank context line may have lost its leading blank. */
	char sign = len ? *line : ' ';

	if (!strchr(" +-\\", sign))
		return false;
	line += len > 0;
	len -= len > 0;
	if (sign == ' ' || sign == '-')
		add_line(&e->was, line, len);
	if (sign == ' ' || sign == '+')
		add_line(&e->now, line, len);
	return true;
}

/* The part that begins after LINE, if that is a mark; else PART itself. */
static enum part
part_after(struct edits *all, enum part part, const char *line)
{
	bool inside = part == SEARCH || part == REPLACE, search = kbegins(line, "<<<<<<< SEARCH");

	if (!inside && (search || kbegins(line, "@@ ")) && all->count < LEN(all->at)) {
		all->at[all->count++] = (struct edit){ 0 };
		return search ? SEARCH : HUNK;
	}
	if (part == SEARCH && kbegins(line, "======="))
		return REPLACE;
	if (part == REPLACE && kbegins(line, ">>>>>>> REPLACE"))
		return OUTSIDE;
	return part;
}

/* Reads the edits in TEXT; false when the last one is incomplete. */
static bool
read_edits(struct edits *all, const char *text)
{
	enum part part = OUTSIDE, next;

	all->count = 0;
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		struct edit *e = &all->at[all->count ? all->count - 1 : 0];
		size_t len = n = strcspn(text, "\n");

		len -= len && text[len - 1] == '\r';
		next = part_after(all, part, text);
		if (part == HUNK && next == HUNK && kbegins(text, "@@ "))
			continue; /* another hunk follows this one */
		if (next != part)
			part = next;
		else if (part == SEARCH || part == REPLACE)
			add_line(part == SEARCH ? &e->was : &e->now, text, len);
		else if (part == HUNK && !take_hunk_line(e, text, len))
			part = OUTSIDE;
	}
	return part != SEARCH && part != REPLACE;
}

/* How often the lines WAS occur in PROGRAM; *AT is the last place. */
static size_t
find_lines(const char *program, const char *was, size_t *at)
{
	size_t found = 0;

	for (const char *p = program; (p = strstr(p, was)); p++)
		if (p == program || p[-1] == '\n') {
			*at = (size_t)(p - program);
			found++;
		}
	return found;
}

/* Finds the place of each edit; NULL, or what is wrong, which the caller frees. */
static char *
place_edits(struct edits *all, const char *program)
{
	if (all->count > MAX_EDITS)
		return kasprintf("there are more than %d", MAX_EDITS);
	for (size_t i = 0; i < all->count; i++) {
		struct edit *e = &all->at[i];
		size_t found = e->was.len ? find_lines(program, e->was.data, &e->at) : 0;

		if (!e->was.len)
			return kasprintf("edit %zu does not say what it replaces", i + 1);
		if (found != 1)
			return kasprintf("the lines that edit %zu replaces occur in the program "
			                 "%zu times; they must occur exactly once",
			    i + 1, found);
		for (size_t k = 0; k < i; k++)
			if (e->at < all->at[k].at + all->at[k].was.len &&
			    all->at[k].at < e->at + e->was.len)
				return kasprintf("edits %zu and %zu overlap", k + 1, i + 1);
	}
	return NULL;
}

static int
by_place(const void *a, const void *b)
{
	size_t x = ((const struct edit *)a)->at, y = ((const struct edit *)b)->at;

	return (x > y) - (x < y);
}

/* PROGRAM with its edits applied; the caller frees. */
static char *
apply(struct edits *all, const char *program)
{
	struct kbuf b = { 0 };
	size_t done = 0;

	qsort(all->at, all->count, sizeof *all->at, by_place);
	kforeach_of(e, all->at, all->count) {
		kbuf_slice(&b, program, done, e->at);
		kbuf_puts(&b, e->now.data ?: "");
		done = e->at + e->was.len;
	}
	kbuf_puts(&b, program + done);
	return b.data;
}

bool
is_difference(const char *code)
{
	return kregex_is("\\A(?:---|diff --git|@@|[*]{3}) |<<<<<<< SEARCH", code);
}

char *
edited_program(const char *text, const char *program, char **fault)
{
	auto_free struct edits *all = kmalloc(sizeof *all);
	bool whole = read_edits(all, text);
	char *edited = NULL;

	*fault = NULL;
	if (all->count) {
		*fault = whole ? place_edits(all, program)
		               : kasprintf("edit %zu does not end", all->count);
		edited = *fault ? NULL : apply(all, program);
	}
	kforeach_of(e, all->at, all->count) {
		kbuf_free(&e->was);
		kbuf_free(&e->now);
	}
	return edited;
}
