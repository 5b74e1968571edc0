/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kscan: see kscan.h. Here: pointers into one array, such as its begin and its end, or the same
 * array twice.
 */
#include "kregex.h"
#include "kscan.h"

static bool
has(const struct kscan_item *f, const char *pattern)
{
	return kscan_matches(f->in, f->body, f->to, pattern);
}

/* Is "X SIGN Y" in the function F, with one of the SIGNS? */
static bool
compares(const struct kscan_item *f, const char *x, const char *signs, const char *y)
{
	return has(f,
	    kshown("(?<![.>*])\\b%s\\s*(?:%s)\\s*\\(?\\s*%s\\b(?!\\s*(?:\\[|->|\\.|\\())", x, signs,
	        y));
}

/* Is X, or a variable that begins as X, below the pointer Y? */
static bool
is_below(const struct kscan_item *f, const char *x, const char *y)
{
	const char *code = f->in->code, *begins = kshown("\\b(\\w+)\\s*=\\s*%s\\s*;", x);
	struct kregex_span at[2];
	bool found = compares(f, x, "<=?", y) || compares(f, y, ">=?|-", x);

	for (size_t p = f->body; !found && kregex_find(begins, code + p, f->to - p, at, 2);
	     p += at->to) {
		auto_free char *other = kregex_text(code + p, at[1]);

		found = compares(f, other, "<=?|!=", y) || compares(f, y, ">=?|-|!=", other);
	}
	return found;
}

/* Is the pointer only compared, and nothing read or written through it? */
static bool
is_limit(const struct kscan_item *f, const char *name)
{
	/* An operand of "*" or "[]", an argument, or the value assigned to a variable. */
	return !has(f,
	    kshown("\\*\\s*%1$s\\b|\\b%1$s\\s*[[=]|(?:[(,]|(?<![!<>=])=)\\s*%1$s\\s*[;,)]", name));
}

bool
kscan_compares(const struct kscan_item *f, const struct kscan_param *p, const struct kscan_param *q)
{
	return q != p && q->stars == 1 && p->stars == 1 && !q->rows && !strcmp(q->type, p->type) &&
	    is_below(f, q->name, p->name);
}

const struct kscan_param *
kscan_base(const struct kscan_item *f, const struct kscan_signature *g, const struct kscan_param *p)
{
	for (const struct kscan_param *q = g->params; q < g->params + g->count; q++)
		if (kscan_compares(f, p, q) && (is_limit(f, p->name) || is_limit(f, q->name)))
			return q;
	return NULL;
}

/* Do all calls of the static function F pass the same text for its parameters I and K? */
static bool
is_passed_twice(const struct kscan_item *f, size_t i, size_t k)
{
	const struct kscan *s = f->in;
	size_t calls = 0;

	kscan_each(at, s, 0, s->len, f->names[0]) {
		size_t open = kscan_next(s, at, s->len);
		const struct kscan_item *in = s->code[open] == '(' ? kscan_at(s, at) : NULL;
		json_auto_t *list = NULL;

		if (!in || in->kind != KSCAN_FUNCTION || at < in->body)
			continue;
		list = kscan_parts(s, open + 1, kscan_close(s, open, s->len), false);
		if (!json_equal(json_array_get(list, i), json_array_get(list, k)))
			return false;
		calls++;
	}
	return calls > 0;
}

const struct kscan_param *
kscan_twin(const struct kscan_item *f, const struct kscan_signature *g, const struct kscan_param *p)
{
	for (const struct kscan_param *q = g->params; q < p; q++)
		if (q->stars == 1 && p->stars == 1 && q->rows == p->rows &&
		    !strcmp(q->type, p->type) && kscan_has_word(f, "static") &&
		    is_passed_twice(f, (size_t)(q - g->params), (size_t)(p - g->params)))
			return q;
	return NULL;
}
