/* SPDX-License-Identifier: Apache-2.0 */
/* kdiff: see kdiff.h. */
#include "kdiff.h"

enum { CONTEXT = 3 };

/* A text as lines, without copying it; a length includes the newline where there is one. */
struct text {
	struct line {
		const char *s;
		size_t len;
	} * line;
	long count;
};

static const char *
next_line(const char *s)
{
	s += strcspn(s, "\n");
	return s + (*s == '\n');
}

static struct text
split(const char *s)
{
	struct text t = { 0 };

	for (const char *end; *s; s = end) {
		end = next_line(s);
		*kadded(t.line, t.count) = (struct line){ s, (size_t)(end - s) };
	}
	return t;
}

static bool
equal(const struct line *a, const struct line *b)
{
	return a->len == b->len && !memcmp(a->s, b->s, a->len);
}

/* Does edit D get farthest on diagonal K by adding a line, and not by removing one? */
static bool
is_addition(const long *at, long d, long k)
{
	return k == -d || (k != d && at[k - 1] < at[k + 1]);
}

/*
 * Forward search: TRACE[d] holds, for each diagonal -d..d, how far down the first text a script of
 * d edits gets. Returns the length of the shortest script, or -1 if it exceeds KDIFF_MAX.
 */
static long
search(const struct text *a, const struct text *b, long **trace)
{
	auto_free long *room = kcalloc(2 * KDIFF_MAX + 3, sizeof *room);
	long *at = room + KDIFF_MAX + 1;

	for (long d = 0; d <= KDIFF_MAX; d++) {
		for (long k = -d; k <= d; k += 2) {
			long x = is_addition(at, d, k) ? at[k + 1] : at[k - 1] + 1;

			while (
			    x < a->count && x - k < b->count && equal(&a->line[x], &b->line[x - k]))
				x++;
			at[k] = x;
			if (x >= a->count && x - k >= b->count)
				return d;
		}
		trace[d] = (void *)kmemdup(at - d, (size_t)(2 * d + 1) * sizeof *at);
	}
	return -1;
}

/* Writes the script of D edits that leads to X and Y, backwards from END. */
static void
write_script(long *const *trace, long d, long x, long y, char *end)
{
	for (; d > 0; d--) {
		const long *at = trace[d - 1] + d - 1;
		long k = x - y;
		bool adds = is_addition(at, d, k);
		long from = adds ? at[k + 1] : at[k - 1] + 1;

		for (; x > from; x--)
			*--end = ' ';
		*--end = adds ? '+' : '-';
		x -= !adds;
		y = x - (adds ? k + 1 : k - 1);
	}
	memset(end - x, ' ', (size_t)x);
}

void
kdiff(const char *old, const char *new, struct kdiff *diff)
{
	long *trace[KDIFF_MAX + 1] = { NULL };
	struct text a = split(old), b = split(new);
	long edits = search(&a, &b, trace), same = edits < 0 ? 0 : (a.count + b.count - edits) / 2;
	size_t len = (size_t)(a.count + b.count - same);

	*diff = (struct kdiff){ .script = kcalloc(len + 1, 1),
		.removals = (size_t)(a.count - same),
		.additions = (size_t)(b.count - same) };
	if (edits >= 0) {
		write_script(trace, edits, a.count, b.count, diff->script + len);
	} else {
		memset(diff->script, '-', diff->removals);
		memset(diff->script + diff->removals, '+', diff->additions);
	}
	kforeach(one, trace)
		free(*one);
	free(a.line);
	free(b.line);
}

/* One side of a hunk's heading: where it begins, counted from 1, and how long it is. */
static void
put_range(struct kbuf *out, char sign, size_t from, size_t count)
{
	kbuf_printf(out, "%c%zu", sign, count ? from + 1 : from);
	if (count != 1)
		kbuf_printf(out, ",%zu", count);
}

static void
put_line(struct kbuf *out, char sign, const char *line)
{
	const char *end = next_line(line);

	kbuf_add(out, &sign, 1);
	kbuf_add(out, line, (size_t)(end - line));
	if (end[-1] != '\n')
		kbuf_puts(out, "\n\\ No newline at end of file\n");
}

/*
 * The end of the hunk with the change at S: after the changed lines, and after unchanged stretches
 * that are too short to separate two hunks.
 */
static const char *
hunk_end(const char *s)
{
	size_t same = 0;

	for (; *s && same <= 2 * CONTEXT; s += same) {
		s += strspn(s, "+-");
		same = strspn(s, " ");
	}
	return s - (same > CONTEXT ? same - CONTEXT : 0);
}

void
kdiff_unified(
    const char *a, const char *b, const char *a_name, const char *b_name, struct kbuf *out)
{
	struct kdiff d;
	size_t x = 0, y = 0;

	kdiff(a, b, &d);
	if (d.removals || d.additions)
		kbuf_printf(out, "--- %s\n+++ %s\n", a_name, b_name);
	for (const char *s = d.script, *end; s[strspn(s, " ")]; s = end) {
		size_t same = strspn(s, " "), old = 0, new = 0;

		for (; same > CONTEXT; same--, s++, x++, y++) {
			a = next_line(a);
			b = next_line(b);
		}
		end = hunk_end(s + same);
		for (const char *p = s; p < end; p++) {
			old += *p != '+';
			new += *p != '-';
		}
		kbuf_puts(out, "@@ ");
		put_range(out, '-', x, old);
		kbuf_puts(out, " ");
		put_range(out, '+', y, new);
		kbuf_puts(out, " @@\n");
		for (; s < end; s++) {
			put_line(out, *s, *s == '+' ? b : a);
			a = *s == '+' ? a : next_line(a);
			b = *s == '-' ? b : next_line(b);
		}
		x += old;
		y += new;
	}
	free(d.script);
}
