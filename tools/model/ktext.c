/* SPDX-License-Identifier: Apache-2.0 */
/* ktext: see ktext.h. */
#include "ktext.h"

/* A shorter run takes less room as plain text. */
enum { LEAST_BYTES = 40 };

/* A line with its newline. */
struct line {
	const char *s;
	size_t len;
};

/* The lines of all sources, one after the other. */
struct lines {
	struct line *line;
	size_t *first; /* first line of each source, and the end */
	json_t *at;    /* positions of each distinct line: an array of numbers */
};

static struct line
next_line(const char *s, const char *end)
{
	const char *newline = memchr(s, '\n', (size_t)(end - s));

	return (struct line){ s, (size_t)((newline ? newline + 1 : end) - s) };
}

static void
lines_open(struct lines *all, const struct ktext_source *sources, size_t count)
{
	size_t n = 0, room = 0;

	*all =
	    (struct lines){ .first = kcalloc(count + 1, sizeof *all->first), .at = json_object() };
	for (size_t i = 0; i < count; i++) {
		const char *s = sources[i].text, *end = s + sources[i].len;

		for (all->first[i] = n; s < end; s += all->line[n++].len) {
			json_t *places;

			if (n == room)
				all->line =
				    krealloc(all->line, (room = 2 * room + 64) * sizeof *all->line);
			all->line[n] = next_line(s, end);
			places = json_object_getn(all->at, s, all->line[n].len);
			if (!places) {
				places = json_array();
				json_object_setn_new_nocheck(all->at, s, all->line[n].len, places);
			}
			json_array_append_new(places, json_integer((json_int_t)n));
		}
	}
	all->first[count] = n;
}

static void
lines_close(struct lines *all)
{
	free(all->line);
	free(all->first);
	json_decref(all->at);
}

/* A run of lines of one source. */
struct run {
	size_t source, first, count, bytes;
};

static struct run
run_at(const struct lines *all, size_t at, size_t source, const char *s, const char *end)
{
	struct run r = { source, at - all->first[source], 0, 0 };

	for (; at < all->first[source + 1] && s < end; at++) {
		struct line line = next_line(s, end);

		if (line.len != all->line[at].len || memcmp(s, all->line[at].s, line.len))
			break;
		r.count++;
		r.bytes += line.len;
		s += line.len;
	}
	return r;
}

/* The longest run at the beginning of the text at S; bytes 0: none worth using. */
static struct run
longest_run(const struct lines *all, size_t sources, const char *s, const char *end)
{
	const json_t *places = json_object_getn(all->at, s, next_line(s, end).len), *place;
	struct run best = { .bytes = 0 };
	size_t i;

	json_array_foreach(places, i, place) {
		size_t at = (size_t)json_integer_value(place), source = 0;
		struct run r;

		while (source + 1 < sources && all->first[source + 1] <= at)
			source++;
		r = run_at(all, at, source, s, end);
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
