/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kscan: see kscan.h. Here: pointers into one array, such as its begin and its end, or the same
 * array twice.
 */
#include "kregex.h"
#include "kscan.h"

/* Is "X SIGN Y" in the function F, with one of the SIGNS? */
static bool
compares(const struct kscan_item *f, const char *x, const char *signs, const char *y)
{
	static const char compared[] = "\\A\\s*(<=?|>=?|!=|-)\\s*\\(?\\s*(\\w+)\\b(?!\\s*(?:\\[|->|"
	                               "\\.|\\())";
	const struct kscan *s = f->in;
	struct kregex_span at[3];

	kscan_in_body(p, f, x) {
		size_t end = p + strlen(x);
		const char *rest = s->code + end;

		if (!strchr(".>*", s->code[p - 1]) &&
		    kregex_find(compared, rest, f->to - end, at, LEN(at)) &&
		    kis_listed(signs, rest + at[1].from, at[1].to - at[1].from) &&
		    kscan_among(s, end + at[2].from, end + at[2].to, y))
			return true;
	}
	return false;
}

/* Is X, or a variable that begins as X, below the pointer Y? */
static bool
is_below(const struct kscan_item *f, const char *x, const char *y)
{
	const struct kscan *s = f->in;
	const char *code = s->code + f->body;
	struct kregex_span at[2];
	bool found = compares(f, x, "< <=", y) || compares(f, y, "> >= -", x);

	kscan_in_body(p, f, x) {
		auto_free char *other = !found && s->code[kscan_next(s, p, f->to)] == ';' &&
		        kregex_find("\\b(\\w+)\\s*=\\s*\\z", code, p - f->body, at, LEN(at))
		    ? kregex_text(code, at[1])
		    : NULL;

		found |= other &&
		    (compares(f, other, "< <= !=", y) || compares(f, y, "> >= - !=", other));
	}
	return found;
}

/* Is the pointer only compared, and nothing read or written through it? */
static bool
is_limit(const struct kscan_item *f, const char *name)
{
	const struct kscan *s = f->in;

	kscan_in_body(p, f, name) {
		size_t at = kscan_back(s, p, f->body);
		char before = s->code[at - 1], after = s->code[kscan_next(s, p, f->to)];
		bool ends = strchr(";,)", after);

		/* An operand of "*" or "[]", the value assigned to a variable, or an argument. */
		if (before == '*' || strchr("[=", after) || (ends && strchr("(,", before)) ||
		    (ends && before == '=' && !strchr("!<>=", s->code[at - 2])))
			return false;
	}
	return true;
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
	size_t len = strlen(f->names[0]), calls = 0;

	for (const char *c = s->code; (c = strstr(c, f->names[0])); c += len) {
		size_t at = (size_t)(c - s->code), open = kscan_blank(s, at + len, s->len);
		const struct kscan_item *in =
		    s->code[open] == '(' && !kis_word(c[-(at > 0)]) ? kscan_at(s, at) : NULL;
		json_auto_t *list = NULL;

		if (!in || in->kind != KSCAN_FUNCTION || at < in->body || kis_word(c[len]))
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
