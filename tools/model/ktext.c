/* SPDX-License-Identifier: Apache-2.0 */
/* ktext: see ktext.h. */
#include "ktext.h"

/* A run that is shorter takes less room as it stands. */
enum { LEAST_BYTES = 40 };

/* A line with its newline; the last may have none. */
struct line {
	const char *s;
	size_t len;
	uint64_t hash;
	size_t next; /* the next line with this hash in its bucket, + 1; 0: none */
};

/* All lines of all sources, one source after the other. */
struct lines {
	struct line *line;
	size_t count;
	size_t *first;  /* of each source, and the end */
	size_t *bucket; /* line + 1 */
	size_t mask;
};

static uint64_t
hash_of(const char *s, size_t len)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 1099511628211u;
	return h;
}

static struct line
next_line(const char *s, const char *end)
{
	const char *newline = memchr(s, '\n', (size_t)(end - s));
	size_t len = (size_t)((newline ? newline + 1 : end) - s);

	return (struct line){ s, len, hash_of(s, len), 0 };
}

static size_t
count_lines(const char *text, size_t len)
{
	size_t n = 0;

	for (const char *p = text, *end = text + len; p < end; n++) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));

		p = newline ? newline + 1 : end;
	}
	return n;
}

static void
add_lines(struct lines *all, const struct ktext_source *source)
{
	const char *end = source->text + source->len;

	for (const char *p = source->text; p < end;) {
		struct line *line = &all->line[all->count];

		*line = next_line(p, end);
		p += line->len;
		all->count++;
	}
}

/* The first of equal lines comes first in its bucket. */
static void
fill_buckets(struct lines *all)
{
	for (all->mask = 63; all->mask < 2 * all->count; all->mask = 2 * all->mask + 1)
		;
	all->bucket = kcalloc(all->mask + 1, sizeof *all->bucket);
	for (size_t i = all->count; i-- > 0;) {
		size_t *bucket = &all->bucket[all->line[i].hash & all->mask];

		all->line[i].next = *bucket;
		*bucket = i + 1;
	}
}

static void
lines_open(struct lines *all, const struct ktext_source *sources, size_t count)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += count_lines(sources[i].text, sources[i].len);
	*all = (struct lines){ .line = kcalloc(total + 1, sizeof *all->line),
		.first = kcalloc(count + 1, sizeof *all->first) };
	for (size_t i = 0; i < count; i++) {
		all->first[i] = all->count;
		add_lines(all, &sources[i]);
	}
	all->first[count] = all->count;
	fill_buckets(all);
}

static void
lines_close(struct lines *all)
{
	free(all->line);
	free(all->first);
	free(all->bucket);
}

static bool
same_line(const struct line *a, const struct line *b)
{
	return a->hash == b->hash && a->len == b->len && !memcmp(a->s, b->s, a->len);
}

/* A run of lines of one source. */
struct run {
	size_t source, first, count, bytes;
};

static struct run
run_at(const struct lines *all, size_t at, size_t source, const char *s, const char *end)
{
	struct run r = { source, at - all->first[source], 0, 0 };

	while (at < all->first[source + 1] && s < end) {
		struct line line = next_line(s, end);

		if (!same_line(&line, &all->line[at++]))
			break;
		r.count++;
		r.bytes += line.len;
		s += line.len;
	}
	return r;
}

/* The longest run that the text at S begins with; bytes 0: none that is worth it. */
static struct run
longest_run(const struct lines *all, size_t sources, const char *s, const char *end)
{
	struct line line = next_line(s, end);
	struct run best = { .bytes = 0 };

	for (size_t i = all->bucket[line.hash & all->mask]; i; i = all->line[i - 1].next) {
		struct run r;
		size_t source = 0;

		while (source + 1 < sources && all->first[source + 1] < i)
			source++;
		r = run_at(all, i - 1, source, s, end);
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
		struct run r = longest_run(&all, count, s, end);

		if (!r.bytes) {
			s += next_line(s, end).len;
			continue;
		}
		put_own(parts, own, (size_t)(s - own));
		json_array_append_new(parts,
		    json_pack(
		        "[I,I,I]", (json_int_t)r.source, (json_int_t)r.first, (json_int_t)r.count));
		own = s += r.bytes;
	}
	put_own(parts, own, (size_t)(s - own));
	lines_close(&all);
	return parts;
}

/* LINES lines of a source from FIRST on; false when it has not so many. */
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
	struct kbuf b = { 0 };
	size_t i;
	json_t *part;

	kbuf_add(&b, "", 0);
	json_array_foreach(parts, i, part)
		if (!add_part(&b, part, sources, count)) {
			kbuf_free(&b);
			return NULL;
		}
	*len = b.len;
	return b.data;
}
