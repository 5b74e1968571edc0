/* SPDX-License-Identifier: Apache-2.0 */
/* ktext: see ktext.h. */
#include "ktext.h"

/* A shorter run takes less room as plain text. */
enum { LEAST_BYTES = 40 };

/* Length of the line at S, with its newline. */
static size_t
line_at(const char *s, const char *end)
{
	const char *newline = memchr(s, '\n', (size_t)(end - s));

	return (size_t)((newline ? newline + 1 : end) - s);
}

/* A run of lines of one source. */
struct run {
	size_t source, first, count, bytes;
};

/* The lines that P and S have in common, from there on. */
static struct run
run_at(const char *p, const char *p_end, const char *s, const char *end)
{
	struct run r = { 0 };

	for (size_t n; p < p_end && s < end && *p == *s; p += n, s += n) {
		n = line_at(s, end);
		if (n != line_at(p, p_end) || memcmp(p, s, n))
			break;
		r.count++;
		r.bytes += n;
	}
	return r;
}

/* The longest run at the beginning of the text at S; bytes 0: none worth using. */
static struct run
longest_run(const struct ktext_source *sources, size_t count, const char *s, const char *end)
{
	struct run best = { .bytes = LEAST_BYTES - 1 };

	for (size_t i = 0; i < count; i++) {
		const char *p = sources[i].text, *p_end = p + sources[i].len;

		for (size_t number = 0; p < p_end; p += line_at(p, p_end), number++) {
			struct run r = run_at(p, p_end, s, end);

			if (r.bytes > best.bytes)
				best = (struct run){ i, number, r.count, r.bytes };
		}
	}
	return best.count ? best : (struct run){ 0 };
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

	while (s < end) {
		struct run r = longest_run(sources, count, s, end);

		if (!r.bytes) {
			s += line_at(s, end);
			continue;
		}
		put_own(parts, own, (size_t)(s - own));
		kjson_append(parts, "[I,I,I]", (json_int_t)r.source, (json_int_t)r.first,
		    (json_int_t)r.count);
		own = s += r.bytes;
	}
	put_own(parts, own, (size_t)(s - own));
	return parts;
}

/* Appends LINES lines of a source, beginning with FIRST; false when it has fewer. */
static bool
add_run(struct kbuf *b, const struct ktext_source *source, json_int_t first, json_int_t lines)
{
	const char *s = source->text, *end = s + source->len;

	for (json_int_t n = 0; n < first + lines; n++) {
		size_t len = line_at(s, end);

		if (s == end)
			return false;
		if (n >= first)
			kbuf_add(b, s, len);
		s += len;
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
