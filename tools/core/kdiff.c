/* SPDX-License-Identifier: Apache-2.0 */
/* kdiff: see kdiff.h. */
#include "kdiff.h"

enum { CONTEXT = 3 };

/* A text as lines, without copying it; a length includes the newline where there is one. */
struct line {
	const char *s;
	size_t len;
};

/* The two texts that are compared, and what was found; one pair at a time. */
static struct text {
	struct line *line;
	size_t count;
} old, new;
static struct kdiff marks;

static struct text
split(const char *s)
{
	struct text t = { 0 };

	for (size_t n; *s; s += n) {
		n = strcspn(s, "\n");
		n += s[n] == '\n';
		*kadded(t.line, t.count) = (struct line){ s, n };
	}
	return t;
}

static bool
equal(const struct line *a, const struct line *b)
{
	return a->len == b->len && !memcmp(a->s, b->s, a->len);
}

/* The part of both texts between their common beginning and end. */
static struct {
	const struct line *a, *b;
	long n, m;
} window;

/*
 * Forward search: TRACE[d] holds, for each diagonal -d..d, how far down the first text a script of
 * d edits gets. Returns the length of the shortest script, or -1 if it exceeds KDIFF_MAX.
 */
static long
search(long **trace)
{
	auto_free long *v = kcalloc(2 * KDIFF_MAX + 3, sizeof *v);
	long *at = v + KDIFF_MAX + 1, found = -1;

	for (long d = 0; d <= KDIFF_MAX && found < 0; d++) {
		for (long k = -d; k <= d; k += 2) {
			long x = k == -d || (k != d && at[k - 1] < at[k + 1]) ? at[k + 1]
			                                                      : at[k - 1] + 1;

			while (x < window.n && x - k < window.m &&
			    equal(&window.a[x], &window.b[x - k]))
				x++;
			at[k] = x;
			if (k == window.n - window.m && x >= window.n)
				found = d;
		}
		trace[d] = kmalloc((size_t)(2 * d + 1) * sizeof **trace);
		memcpy(trace[d], at - d, (size_t)(2 * d + 1) * sizeof **trace);
	}
	return found;
}

/* Walk back from the end of the script of EDITS edits, marking what each edit removes or adds. */
static void
mark(long *const *trace, long edits, bool *removed, bool *added)
{
	long x = window.n, y = window.m;

	for (long d = edits; d > 0; d--) {
		const long *at = trace[d - 1] + d - 1;
		long k = x - y;
		bool down = k == -d || (k != d && at[k - 1] < at[k + 1]);
		long from = down ? k + 1 : k - 1;

		x = at[from];
		y = x - from;
		if (down)
			added[y] = true;
		else
			removed[x] = true;
	}
}

static void
compare(bool *removed, bool *added)
{
	auto_free long **trace = kcalloc(KDIFF_MAX + 1, sizeof *trace);
	long edits = search(trace);

	if (edits >= 0) {
		mark(trace, edits, removed, added);
	} else {
		memset(removed, 1, (size_t)window.n);
		memset(added, 1, (size_t)window.m);
	}
	for (long d = 0; d <= KDIFF_MAX; d++)
		free(trace[d]);
}

/* Compares the texts; the marks are the caller's. */
static void
diff_lines(const char *a, const char *b)
{
	size_t head = 0, tail = 0, most;

	old = split(a);
	new = split(b);
	most = old.count < new.count ? old.count : new.count;
	marks = (struct kdiff){ kcalloc(old.count, sizeof(bool)), kcalloc(new.count, sizeof(bool)),
		{ old.count, new.count }, 0, 0 };
	while (head < most && equal(&old.line[head], &new.line[head]))
		head++;
	while (tail < most - head &&
	    equal(&old.line[old.count - 1 - tail], &new.line[new.count - 1 - tail]))
		tail++;
	window.a = old.line + head;
	window.b = new.line + head;
	window.n = (long)(old.count - head - tail);
	window.m = (long)(new.count - head - tail);
	compare(marks.removed + head, marks.added + head);
	kforeach_of(removed, marks.removed, old.count)
		marks.removals += *removed;
	kforeach_of(added, marks.added, new.count)
		marks.additions += *added;
}

static void
free_lines(void)
{
	free(old.line);
	free(new.line);
}

void
kdiff(const char *a, const char *b, struct kdiff *d)
{
	diff_lines(a, b);
	free_lines();
	*d = marks;
}

void
kdiff_free(struct kdiff *d)
{
	free(d->removed);
	free(d->added);
	*d = (struct kdiff){ 0 };
}

bool
kdiff_step(const struct kdiff *d, size_t *x, size_t *y, char *sign)
{
	if (*x >= d->lines[0] && *y >= d->lines[1])
		return false;
	*sign = *x < d->lines[0] && d->removed[*x] ? '-'
	    : *y < d->lines[1] && d->added[*y]     ? '+'
	                                           : ' ';
	*x += *sign != '+';
	*y += *sign != '-';
	return true;
}

static void
put_line(struct kbuf *out, char sign, const struct line *l)
{
	kbuf_add(out, &sign, 1);
	kbuf_add(out, l->s, l->len);
	if (l->s[l->len - 1] != '\n')
		kbuf_puts(out, "\n\\ No newline at end of file\n");
}

/* One side of a hunk's heading: where it begins, counted from 1, and how long it is. */
static void
put_range(struct kbuf *out, char sign, size_t from, size_t count)
{
	kbuf_printf(out, "%c%zu", sign, count ? from + 1 : from);
	if (count != 1)
		kbuf_printf(out, ",%zu", count);
}

/* The lines of one hunk, from X0, Y0 to X1, Y1. */
static void
put_hunk(struct kbuf *out, const size_t from[2], const size_t to[2])
{
	size_t x = from[0], y = from[1];
	char sign;

	kbuf_puts(out, "@@ ");
	put_range(out, '-', x, to[0] - x);
	kbuf_puts(out, " ");
	put_range(out, '+', y, to[1] - y);
	kbuf_puts(out, " @@\n");
	while ((x < to[0] || y < to[1]) && kdiff_step(&marks, &x, &y, &sign))
		put_line(out, sign, sign == '+' ? &new.line[y - 1] : &old.line[x - 1]);
}

/*
 * The end of the hunk with the change at AT: after the changed lines, and after unchanged stretches
 * that are too short to separate two hunks.
 */
static void
hunk_end(const size_t at[2], size_t end[2])
{
	size_t x = at[0], y = at[1], same = 0;
	char sign;

	while (same <= 2 * CONTEXT && kdiff_step(&marks, &x, &y, &sign))
		same = sign == ' ' ? same + 1 : 0;
	end[0] = x - (same > CONTEXT ? same - CONTEXT : 0);
	end[1] = y - (same > CONTEXT ? same - CONTEXT : 0);
}

void
kdiff_unified(
    const char *a, const char *b, const char *a_name, const char *b_name, struct kbuf *out)
{
	char sign;

	diff_lines(a, b);
	if (marks.removals || marks.additions)
		kbuf_printf(out, "--- %s\n+++ %s\n", a_name, b_name);
	for (size_t x = 0, y = 0, at[2] = { 0, 0 }; kdiff_step(&marks, &x, &y, &sign);) {
		size_t lead = at[0] < CONTEXT ? at[0] : CONTEXT,
		       from[2] = { at[0] - lead, at[1] - lead };

		if (sign != ' ') {
			hunk_end(at, at);
			put_hunk(out, from, at);
			x = at[0];
			y = at[1];
		}
		at[0] = x;
		at[1] = y;
	}
	kdiff_free(&marks);
	free_lines();
}
