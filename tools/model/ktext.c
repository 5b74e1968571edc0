/* SPDX-License-Identifier: Apache-2.0 */
/* ktext: see ktext.h. */
#include "ktext.h"

/* A shorter run takes less room as plain text. */
enum { LEAST_BYTES = 40 };

/* A line with its newline. */
struct line {
	const char *s;
	size_t len, at;        /* AT: among those of all sources */
	size_t source, number; /* where its source has it */
};

/* The lines of all sources in their order, and sorted by their text. */
struct lines {
	struct line *line, *sorted;
	size_t count;
};

static struct line
next_line(const char *s, const char *end)
{
	const char *newline = memchr(s, '\n', (size_t)(end - s));

	return (struct line){ .s = s, .len = (size_t)((newline ? newline + 1 : end) - s) };
}

static int
by_text(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return memcmp(a->s, b->s, a->len);
}

/* The same, and equal lines in the order of the sources. */
static int
by_place(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	return by_text(a, b) ?: (a->at > b->at) - (a->at < b->at);
}

static void
lines_open(struct lines *all, const struct ktext_source *sources, size_t count)
{
	*all = (struct lines){ 0 };
	for (size_t i = 0; i < count; i++) {
		const char *s = sources[i].text, *end = s + sources[i].len;

		for (size_t number = 0; s < end; number++, s += all->line[all->count++].len) {
			kgrow(all->line, all->count);
			all->line[all->count] = next_line(s, end);
			all->line[all->count].at = all->count;
			all->line[all->count].source = i;
			all->line[all->count].number = number;
		}
	}
	all->sorted = kcalloc(all->count, sizeof *all->sorted);
	for (size_t i = 0; i < all->count; i++)
		all->sorted[i] = all->line[i];
	qsort(all->sorted, all->count, sizeof *all->sorted, by_place);
}

static void
lines_close(struct lines *all)
{
	free(all->line);
	free(all->sorted);
}

/* A run of lines of one source. */
struct run {
	size_t source, first, count, bytes;
};
/* The run of the text at S that begins with the line FROM of a source. */
static struct run
run_at(const struct lines *all, const struct line *from, const char *s, const char *end)
{
	struct run r = { from->source, from->number, 0, 0 };

	for (size_t at = from->at; at < all->count && s < end; at++) {
		struct line line = next_line(s, end);

		if (all->line[at].source != r.source || by_text(&line, &all->line[at]))
			break;
		r.count++;
		r.bytes += line.len;
		s += line.len;
	}
	return r;
}

/* The longest run at the beginning of the text at S; bytes 0: none worth using. */
static struct run
longest_run(const struct lines *all, const char *s, const char *end)
{
	struct line first = next_line(s, end);
	const struct line *l = bsearch(&first, all->sorted, all->count, sizeof *l, by_text);
	struct run best = { .bytes = 0 };

	while (l && l > all->sorted && !by_text(l - 1, &first))
		l--;
	for (; l && l < all->sorted + all->count && !by_text(l, &first); l++) {
		struct run r = run_at(all, l, s, end);

		if (r.bytes > best.bytes)
			best = r;
	}
	return best.bytes >= LEAST_BYTES ? best : (struct run){ .bytes = 0 };
}

static void
put_own(json_t *parts, const char *s, size_t len)
{
	if (len)
		json_array_append_new(parts, json_stringn(s, len));
}

json_t *
ktext_parts(const char *text, size_t len, const struct ktext_source *sources, size_t count)
{
	const char *s = text, *own = text, *end = text + len;
	json_t *parts = json_array();
	struct lines all;

	lines_open(&all, sources, count);
	while (s < end) {
		struct run r = longest_run(&all, s, end);

		if (!r.bytes) {
			s += next_line(s, end).len;
			continue;
		}
		put_own(parts, own, (size_t)(s - own));
		kjson_append(parts, "[I,I,I]", (json_int_t)r.source, (json_int_t)r.first,
		    (json_int_t)r.count);
		own = s += r.bytes;
	}
	put_own(parts, own, (size_t)(s - own));
	lines_close(&all);
	return parts;
}

/* Appends LINES lines of a source, beginning with FIRST; false when it has fewer. */
static bool
add_run(struct kbuf *b, const struct ktext_source *source, json_int_t first, json_int_t lines)
{
	const char *s = source->text, *end = s + source->len;

	for (json_int_t n = 0; n < first + lines; n++) {
		const char *newline = s < end ? memchr(s, '\n', (size_t)(end - s)) : NULL;
		const char *next = newline ? newline + 1 : end;

		if (s == end)
			return false;
		if (n >= first)
			kbuf_add(b, s, (size_t)(next - s));
		s = next;
	}
	return true;
}

static bool
add_part(struct kbuf *b, const json_t *part, const struct ktext_source *sources, size_t count)
{
	json_int_t n[3];

	if (json_is_string(part)) {
		kbuf_add(b, json_string_value(part), json_string_length(part));
		return true;
	}
	for (size_t i = 0; i < LEN(n); i++) {
		const json_t *number = json_array_get(part, i);

		n[i] = json_is_integer(number) ? json_integer_value(number) : -1;
		if (n[i] < 0 || n[i] > INT32_MAX)
			return false;
	}
	return (size_t)n[0] < count && add_run(b, &sources[n[0]], n[1], n[2]);
}

char *
ktext_whole(const json_t *parts, const struct ktext_source *sources, size_t count, size_t *len)
{
	struct kbuf b = kbuf_empty();

	kjson_foreach(part, parts)
		if (!add_part(&b, part, sources, count)) {
			kbuf_free(&b);
			return NULL;
		}
	*len = b.len;
	return b.data;
}
