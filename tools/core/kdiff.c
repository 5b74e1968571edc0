/* SPDX-License-Identifier: Apache-2.0 */
/* kdiff: see kdiff.h. */
#include "kdiff.h"

enum { CONTEXT = 3 };

/* A text as lines, without copying it; a length includes the newline where there is one. */
struct line {
	const char *s;
	size_t len;
};

struct text {
	struct line *line;
	size_t count;
};

static struct text
split(const char *s, size_t len)
{
	struct text t = { 0 };

	for (const char *end = s + len; s < end;) {
		const char *newline = memchr(s, '\n', (size_t)(end - s)),
		           *next = newline ? newline + 1 : end;

		kgrow(t.line, t.count);
		t.line[t.count++] = (struct line){ s, (size_t)(next - s) };
		s = next;
	}
	return t;
}

static bool
equal(const struct line *a, const struct line *b)
{
	return a->len == b->len && !memcmp(a->s, b->s, a->len);
}

/* The part of both texts between their common beginning and end. */
struct window {
	const struct line *a, *b;
	long n, m;
};

/*
 * Forward search: TRACE[d] holds, for each diagonal -d..d, how far down the first text a script of
 * d edits gets. Returns the length of the shortest script, or -1 if it exceeds KDIFF_MAX.
 */
static long
search(const struct window *w, long **trace)
{
	auto_free long *v = kcalloc(2 * KDIFF_MAX + 3, sizeof *v);
	long *at = v + KDIFF_MAX + 1, found = -1;

	for (long d = 0; d <= KDIFF_MAX && found < 0; d++) {
		for (long k = -d; k <= d; k += 2) {
			long x = k == -d || (k != d && at[k - 1] < at[k + 1]) ? at[k + 1]
			                                                      : at[k - 1] + 1;

			while (x < w->n && x - k < w->m && equal(&w->a[x], &w->b[x - k]))
				x++;
			at[k] = x;
			if (k == w->n - w->m && x >= w->n)
				found = d;
		}
		trace[d] = kmalloc((size_t)(2 * d + 1) * sizeof **trace);
		memcpy(trace[d], at - d, (size_t)(2 * d + 1) * sizeof **trace);
	}
	return found;
}

/* Walk back from the end of the script of EDITS edits, marking what each edit removes or adds. */
static void
mark(const struct window *w, long *const *trace, long edits, bool *removed, bool *added)
{
	long x = w->n, y = w->m;

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
compare(const struct window *w, bool *removed, bool *added)
{
	auto_free long **trace = kcalloc(KDIFF_MAX + 1, sizeof *trace);
	long edits = search(w, trace);

	if (edits >= 0) {
		mark(w, trace, edits, removed, added);
	} else {
		memset(removed, 1, (size_t)w->n);
		memset(added, 1, (size_t)w->m);
	}
	for (long d = 0; d <= KDIFF_MAX; d++)
		free(trace[d]);
}

static void
diff_lines(const struct text *a, const struct text *b, struct kdiff *d)
{
	size_t head = 0, tail = 0, most = a->count < b->count ? a->count : b->count;

	*d = (struct kdiff){ kcalloc(a->count, sizeof(bool)), kcalloc(b->count, sizeof(bool)),
		{ a->count, b->count }, 0, 0 };
	while (head < most && equal(&a->line[head], &b->line[head]))
		head++;
	while (tail < most - head &&
	    equal(&a->line[a->count - 1 - tail], &b->line[b->count - 1 - tail]))
		tail++;
	compare(&(struct window){ a->line + head, b->line + head, (long)(a->count - head - tail),
	            (long)(b->count - head - tail) },
	    d->removed + head, d->added + head);
	kforeach_of(one, d->removed, a->count)
		d->removals += *one;
	kforeach_of(each, d->added, b->count)
		d->additions += *each;
}

void
kdiff(const char *a, size_t a_len, const char *b, size_t b_len, struct kdiff *d)
{
	struct text x = split(a, a_len), y = split(b, b_len);

	diff_lines(&x, &y, d);
	free(x.line);
	free(y.line);
}

void
kdiff_free(struct kdiff *d)
{
	free(d->removed);
	free(d->added);
	*d = (struct kdiff){ 0 };
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

static bool
differs(const struct kdiff *d, size_t x, size_t y)
{
	return (x < d->lines[0] && d->removed[x]) || (y < d->lines[1] && d->added[y]);
}

/* The lines of one hunk, from X0, Y0 to X1, Y1. */
static void
put_hunk(struct kbuf *out, const struct kdiff *d, const struct text *a, const struct text *b,
    const size_t from[2], const size_t to[2])
{
	size_t x = from[0], y = from[1];

	kbuf_puts(out, "@@ ");
	put_range(out, '-', x, to[0] - x);
	kbuf_puts(out, " ");
	put_range(out, '+', y, to[1] - y);
	kbuf_puts(out, " @@\n");
	while (x < to[0] || y < to[1]) {
		while (x < to[0] && d->removed[x])
			put_line(out, '-', &a->line[x++]);
		while (y < to[1] && d->added[y])
			put_line(out, '+', &b->line[y++]);
		if (x < to[0] && y < to[1] && !differs(d, x, y)) {
			put_line(out, ' ', &a->line[x++]);
			y++;
		}
	}
}

/*
 * The end of the hunk with the change at AT: after the changed lines, and after unchanged stretches
 * that are too short to separate two hunks.
 */
static void
hunk_end(const struct kdiff *d, const size_t at[2], size_t end[2])
{
	size_t x = at[0], y = at[1], same = 0;

	while ((x < d->lines[0] || y < d->lines[1]) && same <= 2 * CONTEXT) {
		if (x < d->lines[0] && d->removed[x]) {
			x++;
			same = 0;
		} else if (y < d->lines[1] && d->added[y]) {
			y++;
			same = 0;
		} else {
			x++;
			y++;
			same++;
		}
	}
	end[0] = x - (same > CONTEXT ? same - CONTEXT : 0);
	end[1] = y - (same > CONTEXT ? same - CONTEXT : 0);
}

void
kdiff_unified(const char *a, size_t a_len, const char *b, size_t b_len, const char *a_name,
    const char *b_name, struct kbuf *out)
{
	struct text x = split(a, a_len), y = split(b, b_len);
	struct kdiff d;

	diff_lines(&x, &y, &d);
	if (d.removals || d.additions)
		kbuf_printf(out, "--- %s\n+++ %s\n", a_name, b_name);
	for (size_t at[2] = { 0, 0 }; at[0] < x.count || at[1] < y.count;) {
		size_t lead = at[0] < CONTEXT ? at[0] : CONTEXT,
		       from[2] = { at[0] - lead, at[1] - lead };

		if (!differs(&d, at[0], at[1])) {
			at[0]++;
			at[1]++;
			continue;
		}
		hunk_end(&d, from, at);
		put_hunk(out, &d, &x, &y, from, at);
	}
	kdiff_free(&d);
	free(x.line);
	free(y.line);
}
