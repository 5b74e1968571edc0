/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kneedle: see kneedle.h. A reader of regular expressions that knows literals, groups, alternatives and quantifiers;
 * what it does not know ends the current literal, and what could change the meaning of the rest makes it give up.
 */
#include "kneedle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kutil.h"

enum { GRAM = 3, STRINGS_MAX = 32, LENGTH_MAX = 32, DEPTH_MAX = 32 };

/* At least one of these occurs; count 0: nothing is known. */
struct choice {
	char s[STRINGS_MAX][LENGTH_MAX + 1];
	size_t count;
	size_t shortest;
};

struct reader {
	const char *p;
	int depth;
	bool lost;	/* something here is beyond us */
};

enum atom { LITERAL, NOTHING, ANYTHING, GROUP };

static char
fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool
is_better(const struct choice *a, const struct choice *b)
{
	if (!a->count || !b->count)
		return a->count > 0;
	return a->shortest != b->shortest ? a->shortest > b->shortest : a->count < b->count;
}

/* The literal read so far competes with the best choice of its sequence. */
static void
end_run(struct choice *best, char *run, size_t *len)
{
	struct choice c = { .count = 1, .shortest = *len };

	run[*len] = '\0';
	memcpy(c.s[0], run, *len + 1);
	if (*len >= GRAM && is_better(&c, best))
		*best = c;
	*len = 0;
}

/* Reads a quantifier: the least number of repetitions, -1 when there is none. */
static int
read_quantifier(struct reader *r)
{
	int least;

	if (*r->p == '*' || *r->p == '?') {
		least = 0;
		r->p++;
	} else if (*r->p == '+') {
		least = 1;
		r->p++;
	} else if (*r->p == '{' && isdigit((unsigned char)r->p[1])) {
		least = strtol(r->p + 1, NULL, 10) > 0;
		r->p += strcspn(r->p, "}");
		r->p += *r->p == '}';
	} else {
		return -1;
	}
	if (*r->p == '?' || *r->p == '+')
		r->p++;
	return least;
}

/* A character class; r->p is behind its opening bracket. */
static void
skip_class(struct reader *r)
{
	if (*r->p == '^')
		r->p++;
	if (*r->p == ']')
		r->p++;
	while (*r->p && *r->p != ']') {
		if (r->p[0] == '[' && r->p[1] == ':')
			r->lost = true;
		r->p += r->p[0] == '\\' && r->p[1] ? 2 : 1;
	}
	if (*r->p)
		r->p++;
	else
		r->lost = true;
}

/* Behind a backslash. */
static enum atom
read_escape(struct reader *r, char *literal)
{
	char c = *r->p;

	if (!c) {
		r->lost = true;
		return NOTHING;
	}
	r->p++;
	*literal = c;
	if (c == 'b' || c == 'B')
		return NOTHING;
	if (strchr("sSwWdDnrtfv", c) || (c >= '1' && c <= '9'))
		return ANYTHING;
	if (isalnum((unsigned char)c))
		r->lost = true;
	return LITERAL;
}

/* Behind an opening parenthesis: past "?:" and the like. */
static void
read_group_head(struct reader *r)
{
	if (*r->p == '*')
		r->lost = true;
	if (*r->p != '?')
		return;
	r->p += 1 + strspn(r->p + 1, "-ims");
	if (*r->p == ':')
		r->p++;
	else
		r->lost = true;
}

static enum atom
read_atom(struct reader *r, char *literal)
{
	char c = *r->p++;

	switch (c) {
	case '\\': return read_escape(r, literal);
	case '^': case '$': return NOTHING;
	case '.': return ANYTHING;
	case '[': skip_class(r); return ANYTHING;
	case '(': read_group_head(r); return GROUP;
	}
	*literal = c;
	return LITERAL;
}

static void read_choice(struct reader *r, struct choice *out);

static void
read_group(struct reader *r, struct choice *best)
{
	struct choice inner;

	read_choice(r, &inner);
	if (*r->p == ')')
		r->p++;
	else
		r->lost = true;
	if (read_quantifier(r) && is_better(&inner, best))
		*best = inner;
}

/* A sequence up to '|', ')' or the end: the best of its parts. */
static void
read_sequence(struct reader *r, struct choice *best)
{
	char run[LENGTH_MAX + 1], literal = 0;
	size_t len = 0;

	best->count = 0;
	while (!r->lost && *r->p && *r->p != '|' && *r->p != ')') {
		enum atom atom = read_atom(r, &literal);
		int least = atom == GROUP ? 1 : read_quantifier(r);

		if (atom == LITERAL && least != 0 && len < LENGTH_MAX)
			run[len++] = fold(literal);
		if (atom == GROUP || atom == ANYTHING || least >= 0 || len == LENGTH_MAX)
			end_run(best, run, &len);
		if (atom == GROUP)
			read_group(r, best);
	}
	end_run(best, run, &len);
}

/* Alternatives: all their strings together, if every one has some. */
static void
read_choice(struct reader *r, struct choice *out)
{
	struct choice next;

	if (++r->depth > DEPTH_MAX)
		r->lost = true;
	read_sequence(r, out);
	while (!r->lost && *r->p == '|') {
		r->p++;
		read_sequence(r, &next);
		if (!out->count || !next.count || out->count + next.count > STRINGS_MAX) {
			out->count = 0;
			continue;
		}
		memcpy(out->s[out->count], next.s, next.count * sizeof next.s[0]);
		out->count += next.count;
		out->shortest = out->shortest < next.shortest ? out->shortest : next.shortest;
	}
	r->depth--;
}

static bool
read_pattern(const char *pattern, struct choice *c)
{
	struct reader r = { .p = pattern };

	read_choice(&r, c);
	return !r.lost && !*r.p && c->count;
}

static uint16_t
gram_at(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;

	return (uint16_t)(((uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16) * 0x9e3779b1U >> 16);
}

void
kneedle_text(struct kneedle_text *t, const char *text, size_t len)
{
	char gram[GRAM] = { 0 };

	memset(t, 0, sizeof *t);
	for (size_t i = 0; i < len; i++) {
		uint16_t h;

		gram[0] = gram[1];
		gram[1] = gram[2];
		gram[2] = fold(text[i]);
		h = gram_at(gram);
		t->bits[h >> 6] |= (uint64_t)1 << (h & 63);
	}
}

uint16_t *
kneedle_new(const char *pattern)
{
	struct choice c;
	uint16_t *needles, *out;

	if (!read_pattern(pattern, &c))
		return NULL;
	needles = out = kmalloc((1 + c.count * LENGTH_MAX) * sizeof *needles);
	for (size_t i = 0; i < c.count; i++) {
		size_t grams = strlen(c.s[i]) - GRAM + 1;

		*out++ = (uint16_t)grams;
		for (size_t k = 0; k < grams; k++)
			*out++ = gram_at(c.s[i] + k);
	}
	*out = 0;
	return needles;
}

char *
kneedle_strings(const char *pattern)
{
	struct choice c;
	struct kbuf out = { 0 };

	if (!read_pattern(pattern, &c))
		return NULL;
	for (size_t i = 0; i < c.count; i++)
		kbuf_printf(&out, "%s%s", i ? "|" : "", c.s[i]);
	return out.data;
}

bool
kneedle_may_match(const uint16_t *needles, const struct kneedle_text *t)
{
	if (!needles)
		return true;
	for (const uint16_t *n = needles; *n; n += 1 + *n) {
		uint16_t k = 1;

		while (k <= *n && t->bits[n[k] >> 6] >> (n[k] & 63) & 1)
			k++;
		if (k > *n)
			return true;
	}
	return false;
}
