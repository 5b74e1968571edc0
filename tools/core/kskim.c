/* SPDX-License-Identifier: Apache-2.0 */
/* kskim: see kskim.h. */
#include "kskim.h"

#include <stdlib.h>
#include <string.h>

static const char *
blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
		p++;
	return p;
}

/* P stands on an opening quote: the place behind the closing one, or NULL. */
static const char *
skip_string(const char *p, const char *end)
{
	const char *start = ++p;

	while (p < end && (p = memchr(p, '"', (size_t)(end - p)))) {
		const char *back = p;

		while (back > start && back[-1] == '\\')
			back--;
		p++;
		if ((p - 1 - back) % 2 == 0)
			return p;
	}
	return NULL;
}

/* P stands on '{' or '[': the place behind its end, or NULL. */
static const char *
skip_nested(const char *p, const char *end)
{
	size_t depth = 0;

	while (p && p < end) {
		switch (*p) {
		case '"':
			p = skip_string(p, end);
			continue;
		case '{': case '[':
			depth++;
			break;
		case '}': case ']':
			if (!--depth)
				return p + 1;
			break;
		}
		p++;
	}
	return NULL;
}

static bool
ends_literal(char c)
{
	switch (c) {
	case ',': case '}': case ']': case ' ': case '\t': case '\r': case '\n':
	case ':': case '"': case '{': case '[': case '\0':
		return true;
	}
	return false;
}

static const char *
skip_value(const char *p, const char *end)
{
	const char *start = p;

	if (p == end)
		return NULL;
	if (*p == '"')
		return skip_string(p, end);
	if (*p == '{' || *p == '[')
		return skip_nested(p, end);
	while (p < end && !ends_literal(*p))
		p++;
	return p > start ? p : NULL;
}

static void
note_member(struct kspan key, struct kspan value, const char *const *keys, size_t count, struct kspan *out)
{
	for (size_t i = 0; i < count; i++)
		/* The first byte decides nearly always. */
		if (*keys[i] == *key.s && strlen(keys[i]) == key.len && !memcmp(keys[i], key.s, key.len)) {
			out[i] = value;
			return;
		}
}

bool
kskim_members(struct kspan object, const char *const *keys, size_t count, struct kspan *out)
{
	const char *p = object.s, *end = p + object.len, *from, *to;

	for (size_t i = 0; i < count; i++)
		out[i] = (struct kspan){ 0 };
	if (!p || (p = blanks(p, end)) == end || *p != '{')
		return false;
	p = blanks(p + 1, end);
	if (p < end && *p == '}')
		return blanks(p + 1, end) == end;
	for (;; p = blanks(p + 1, end)) {
		struct kspan key;

		if (p == end || *p != '"' || !(to = skip_string(p, end)))
			return false;
		key = (struct kspan){ p + 1, (size_t)(to - p) - 2 };
		p = blanks(to, end);
		if (p == end || *p != ':')
			return false;
		from = blanks(p + 1, end);
		if (!(to = skip_value(from, end)))
			return false;
		note_member(key, (struct kspan){ from, (size_t)(to - from) }, keys, count, out);
		p = blanks(to, end);
		if (p < end && *p == '}')
			return blanks(p + 1, end) == end;
		if (p == end || *p != ',')
			return false;
	}
}

struct kspan
kskim_path(struct kspan object, const char *path)
{
	char key[64];
	const char *const keys[] = { key };

	while (object.s && *path) {
		size_t n = strcspn(path, ".");

		if (n >= sizeof key)
			return (struct kspan){ 0 };
		memcpy(key, path, n);
		key[n] = '\0';
		if (!kskim_members(object, keys, 1, &object))
			return (struct kspan){ 0 };
		path += n + (path[n] == '.');
	}
	return object;
}

json_t *
kskim_json(struct kspan value)
{
	return value.s ? json_loadb(value.s, value.len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL) : NULL;
}

bool
kskim_word(struct kspan value, char *buf, size_t size)
{
	*buf = '\0';
	if (!value.s || value.len < 2 || *value.s != '"' || value.len - 2 >= size || memchr(value.s, '\\', value.len))
		return false;
	memcpy(buf, value.s + 1, value.len - 2);
	buf[value.len - 2] = '\0';
	return true;
}

double
kskim_num(struct kspan value, double def)
{
	char text[64], *end;
	double v;

	if (!value.s || !value.len || value.len >= sizeof text || !strchr("-0123456789", *value.s))
		return def;
	memcpy(text, value.s, value.len);
	text[value.len] = '\0';
	v = strtod(text, &end);
	return *end ? def : v;
}

bool
kskim_true(struct kspan value)
{
	return value.s && value.len == 4 && !memcmp(value.s, "true", 4);
}
