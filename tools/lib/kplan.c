/* SPDX-License-Identifier: Apache-2.0 */
/* kplan: see kplan.h. */
#include "kplan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "kutil.h"

enum { TEXT_MAX = 4000, DIRECTIONS_MIN = 3 };

static const char form[] =
    "give it first, in a fenced block with the info string plan, as one JSON object with hypothesis, change, category "
    "and bucket";

/* Members of a plan, and what they must be. */
static const struct {
	const char *name;
	bool required, text;
} members[] = {
	{ "hypothesis", true, true }, { "change", true, true }, { "category", true, true }, { "bucket", true, true },
	{ "expected_gain_pct", false, false }, { "risks", false, true }, { "signal", false, true },
	{ "evidence", false, true }, { "quant_us", false, false }, { "step_us", false, false },
};

/* The kinds of change: what transfers to real use (K1 to K4, W1 within its bound), and what never does. */
static const struct {
	const char *name;
	bool allowed;
} buckets[] = {
	{ "K1", true }, { "K2", true }, { "K3", true }, { "K4", true }, { "W1", true }, { "W2", false }, { "W3",
	    false },
};

/* A fence: its character, its length, and what stands behind it. */
struct fence {
	char mark;
	size_t length;
	const char *info;
	size_t info_len;
};

static bool
read_fence(const char *line, size_t len, struct fence *f)
{
	size_t i = 0, n;

	while (i < len && i < 3 && line[i] == ' ')
		i++;
	if (i == len || (line[i] != '`' && line[i] != '~'))
		return false;
	f->mark = line[i];
	for (n = 0; i + n < len && line[i + n] == f->mark; n++)
		continue;
	f->length = n;
	for (i += n; i < len && isspace((unsigned char)line[i]); i++)
		continue;
	while (len > i && isspace((unsigned char)line[len - 1]))
		len--;
	f->info = line + i;
	f->info_len = len - i;
	return n >= 3;
}

/* A fenced block of the text. */
struct block {
	struct fence open;
	size_t start, stop, end;	/* content from START to STOP; END is behind the closing line */
	bool closed;
};

/* The next block from *AT on; false when there is none. */
static bool
next_block(const char *text, size_t len, size_t *at, struct block *b)
{
	bool inside = false;

	while (*at < len) {
		const char *line = text + *at, *newline = memchr(line, '\n', len - *at);
		size_t n = newline ? (size_t)(newline - line) : len - *at, start = *at;
		struct fence f;
		bool fence = read_fence(line, n, &f);

		*at += n + (newline != NULL);
		if (!inside && fence) {
			*b = (struct block){ .open = f, .start = *at, .stop = len, .end = len };
			inside = true;
		} else if (inside && fence && f.mark == b->open.mark && f.length >= b->open.length && !f.info_len) {
			b->stop = start;
			b->end = *at;
			b->closed = true;
			return true;
		}
	}
	return inside;
}

static bool
is_plan(const struct block *b)
{
	return b->open.info_len == 4 && !strncasecmp(b->open.info, "plan", 4);
}

static bool
is_blank(const char *s)
{
	return !s[strspn(s, " \t\r\n")];
}

static char *
member_fault(const json_t *plan, size_t i)
{
	const json_t *v = json_object_get(plan, members[i].name);
	const char *text = json_string_value(v);

	if (!v)
		return members[i].required ? kasprintf("the plan has no \"%s\"", members[i].name) : NULL;
	if (members[i].text ? !text : !json_is_number(v))
		return kasprintf("the plan's \"%s\" must be a %s", members[i].name,
		    members[i].text ? "text" : "number");
	if (members[i].required && is_blank(text))
		return kasprintf("the plan's \"%s\" is empty", members[i].name);
	if (members[i].text && strlen(text) > TEXT_MAX)
		return kasprintf("the plan's \"%s\" is longer than %d characters", members[i].name, TEXT_MAX);
	return NULL;
}

static char *
bucket_fault(const char *bucket)
{
	for (size_t i = 0; i < LEN(buckets); i++)
		if (!strcmp(buckets[i].name, bucket))
			return buckets[i].allowed ? NULL : kasprintf("bucket %s is forbidden: a cache keyed on inputs, or "
			    "results kept between calls, is no gain", bucket);
	return kasprintf("the plan's \"bucket\" is '%.20s', not one of K1, K2, K3, K4, W1", bucket);
}

static char *
directions_fault(const json_t *plan)
{
	const json_t *list = json_object_get(plan, "directions");

	if (list && !json_is_array(list))
		return kstrdup("the plan's \"directions\" must be a list of texts");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));

		if (!text || strlen(text) > TEXT_MAX)
			return kasprintf("the plan's \"directions\" must be a list of texts of at most %d characters",
			    TEXT_MAX);
	}
	return NULL;
}

static char *
plan_fault(const json_t *plan)
{
	char *fault = NULL;

	if (!json_is_object(plan))
		return kstrdup("the plan is not a JSON object");
	for (size_t i = 0; i < LEN(members) && !fault; i++)
		fault = member_fault(plan, i);
	if (!fault)
		fault = bucket_fault(kjson_str_or(plan, "bucket", ""));
	return fault ? fault : directions_fault(plan);
}

static void
read_object(const char *text, const struct block *b, struct kplan *p)
{
	json_error_t e;

	p->end = b->end;
	if (!b->closed) {
		p->fault = kstrdup("the plan block is not closed");
		return;
	}
	p->json = json_loadb(text + b->start, b->stop - b->start, JSON_REJECT_DUPLICATES, &e);
	p->fault = p->json ? plan_fault(p->json) : kasprintf("the plan is not JSON: line %d: %.120s", e.line, e.text);
	if (p->fault) {
		json_decref(p->json);
		p->json = NULL;
	}
}

void
kplan_read(const char *text, size_t len, struct kplan *p)
{
	size_t at = 0, blocks = 0, plans = 0, late = 0;
	struct block b = { 0 };

	*p = (struct kplan){ 0 };
	for (; next_block(text, len, &at, &b); blocks++) {
		if (!is_plan(&b))
			continue;
		late += blocks > 0 && !plans;
		if (!plans++ && !late)
			read_object(text, &b, p);
	}
	if (p->json && plans < 2)
		return;
	if (!plans || late || plans > 1) {
		free(p->fault);
		if (!plans)
			p->fault = kasprintf("there is no plan: %s", form);
		else if (late)
			p->fault = kasprintf("the plan stands behind other blocks, and must be stated before the code: %s", form);
		else
			p->fault = kstrdup("there is more than one plan: a round is one hypothesis and one change");
		json_decref(p->json);
		p->json = NULL;
	}
}

void
kplan_free(struct kplan *p)
{
	json_decref(p->json);
	free(p->fault);
	*p = (struct kplan){ 0 };
}

char *
kplan_normal(const char *text)
{
	struct kbuf b = { 0 };
	bool gap = false;

	kbuf_add(&b, "", 0);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		char lower = (char)tolower(c);

		/* Bytes of other scripts count as letters. */
		if (!isalnum(c) && c < 0x80) {
			gap = b.len > 0;
			continue;
		}
		if (gap)
			kbuf_add(&b, " ", 1);
		gap = false;
		kbuf_add(&b, &lower, 1);
	}
	return b.data;
}

static bool
says_the_same(const char *a, const char *b)
{
	char *x = kplan_normal(a), *y = kplan_normal(b);
	bool same = *x && !strcmp(x, y);

	free(x);
	free(y);
	return same;
}

/* The round whose direction TEXT repeats, or 0. */
static long
tried_in_vain(const json_t *ineffective, const char *text)
{
	for (size_t i = 0; i < json_array_size(ineffective); i++) {
		const json_t *one = json_array_get(ineffective, i);

		if (says_the_same(kjson_str_or(one, "change", ""), text))
			return (long)kjson_int_or(one, "round", 0);
	}
	return 0;
}

static char *
review_fault(const json_t *plan, const json_t *ineffective)
{
	const json_t *list = json_object_get(plan, "directions");
	size_t distinct = 0, count = json_array_size(list);

	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(list, i));
		long round = tried_in_vain(ineffective, text);
		bool again = is_blank(text);

		if (round)
			return kasprintf("direction %zu, \"%.80s\", was rolled back in round %ld", i + 1, text, round);
		for (size_t k = 0; k < i && !again; k++)
			again = says_the_same(json_string_value(json_array_get(list, k)), text);
		distinct += !again;
	}
	if (distinct < DIRECTIONS_MIN)
		return kasprintf("a review names at least %d fundamentally different \"directions\", and this one has "
		    "%zu", DIRECTIONS_MIN, distinct);
	return NULL;
}

char *
kplan_history_fault(const json_t *plan, const json_t *ineffective, bool review)
{
	const char *change = kjson_str_or(plan, "change", ""), *category = kjson_str_or(plan, "category", "");

	for (size_t i = 0; i < json_array_size(ineffective); i++) {
		const json_t *one = json_array_get(ineffective, i);

		if (says_the_same(kjson_str_or(one, "change", ""), change) &&
		    says_the_same(kjson_str_or(one, "category", ""), category))
			return kasprintf("this change was rolled back in round %lld: propose another one",
			    (long long)kjson_int_or(one, "round", 0));
	}
	return review ? review_fault(plan, ineffective) : NULL;
}
