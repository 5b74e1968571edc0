/* SPDX-License-Identifier: Apache-2.0 */
/* kscan: see kscan.h. Here: what a function writes. */
#include "kio.h"
#include "kregex.h"
#include "kscan.h"

static const char casts[] = "reinterpret_cast static_cast const_cast";

bool
kscan_assigns(const struct kscan *s, size_t p, size_t to)
{
	return p < to &&
	    kscan_matches(
	        s, p, to, "\\A\\s*(?:\\.[xyz]\\s*)?(?:=(?!=)|(?:<<|>>|[-+*/%&|^])=|\\+\\+|--)");
}

/* Where the casts before the place AT begin: "(float4 *)", "reinterpret_cast<float4 *>". */
static size_t
before_casts(const struct kscan *s, size_t at, size_t from)
{
	for (;;) {
		size_t p = kscan_back(s, at, from), end, commas;
		char c = p > from ? s->code[p - 1] : 0;

		at = c == '>'  ? kscan_name_before(s, p, from, &end)
		    : c == ')' ? kscan_open(s, p - 1, from, &commas)
		               : p;
		if (at == p || (c == '>' && !kscan_among(s, at, end, casts)))
			return p;
	}
}

/* What the parenthesis at OPEN calls or launches: a name from *AT to *END; false: nothing. */
static bool
is_called(const struct kscan *s, size_t open, size_t from, size_t *at, size_t *end)
{
	size_t p = kscan_back(s, open, from);

	if (p >= from + 3 && kscan_stands(s, p - 3, ">>>"))
		while (p > from && !kscan_stands(s, p, "<<<"))
			p--;
	for (size_t q = *at = kscan_name_before(s, p, from, end); q < *end; q++)
		if (s->code[q] == ':')
			*at = q + 1;
	return *at < *end && !kscan_among(s, *at, *end, casts) &&
	    !kscan_among(s, *at, *end, "if while for switch return sizeof");
}

/* "NAME@BODY": pointers that were examined already, by function. */
static json_t *seen;

static bool writes(const struct kscan_item *f, const char *name);

/* Does what is called by the name at AT write through its argument INDEX? */
static bool
callee_writes(const struct kscan_item *f, size_t at, size_t end, size_t index)
{
	auto_signature struct kscan_signature g = { 0 };
	auto_free char *name = kscan_copy(f->in, at, end);
	const struct kscan_item *callee = kscan_function(f->in, name);

	if (!callee)
		return !index && !strstr(name, "load") &&
		    kregex_is("atomic|store|memset|memcpy|memmove|__st[cw]", name);
	g = kscan_signature(callee);
	return index < g.count && !g.params[index].constant && writes(callee, g.params[index].name);
}

/* Is the pointer that begins at AT the value of another variable, which is written? */
static bool
alias_writes(const struct kscan_item *f, size_t at)
{
	const char *code = f->in->code;
	size_t from = f->body, end = before_casts(f->in, at, from);
	auto_free char *name = NULL;

	if (end < from + 2 || code[--end] != '=' || strchr("=!<>+-*/%&|^", code[end - 1]))
		return false;
	end = kscan_back(f->in, end, from);
	for (at = end; at > from && kis_word(code[at - 1]);)
		at--;
	name = kscan_copy(f->in, at, end);
	return *name && writes(f, name);
}

/* Does the statement around the place AT declare variables: "int *p = q, *r"? */
static bool
is_declared(const struct kscan *s, size_t at, size_t from)
{
	size_t p = at, end;

	while (p > from && !strchr(";{}(", s->code[p - 1]))
		p--;
	p = kscan_blank(s, p, at);
	end = kscan_word(s, p, at);
	at = kscan_blank(s, end, at);
	return end > p && !kscan_among(s, p, end, "else do return") &&
	    (s->code[at] == '*' || kscan_begins_word(s->code[at]));
}

/* A part of an expression, from AT to before P. */
struct place {
	size_t at, p;
	bool star;    /* a "*" stands before it; what follows it binds tighter: "*p[i]", "*p++" */
	bool element; /* it is an element that the pointer points to, or part of one */
	bool whole;   /* there is nothing else in its parentheses */
};

enum after { ENDS, ASSIGNED, CLOSES };

/* What comes after X, within its parentheses. */
static enum after
after_place(const struct kscan *s, struct place *x, size_t to)
{
	for (x->p = kscan_blank(s, x->p, to); x->p < to; x->p = kscan_blank(s, x->p + 1, to)) {
		const char *c = s->code + x->p;

		if (x->whole && kscan_assigns(s, x->p, to)) {
			bool moves = c[0] == c[1];

			if (x->element || (x->star && !moves))
				return ASSIGNED;
			if (!moves)
				return ENDS;
			x->p++;
		} else if (*c == '[' || *c == '(') {
			x->element |= x->whole && *c == '[';
			x->p = kscan_close(s, x->p, to);
		} else if (x->whole && (*c == '.' || kbegins(c, "->"))) {
			x->element |= *c == '-';
			x->p = kscan_word(s, kscan_blank(s, x->p + 1 + (*c == '-'), to), to) - 1;
		} else if (strchr(";{}]", *c)) {
			return ENDS;
		} else if (*c == ')') {
			return CLOSES;
		} else {
			x->whole = false;
		}
	}
	return ENDS;
}

/* Is what the pointer named from AT to P points to changed there? */
static bool
is_written_at(const struct kscan_item *f, size_t at, size_t p)
{
	const struct kscan *s = f->in;
	size_t from = f->body, call, end;
	struct place x = { at, p, .element = false };

	for (;; x.p++) {
		size_t left = before_casts(s, x.at, from), index;
		const char *c = s->code + left - 1;
		bool address =
		         *c == '&' && strchr("(,=", s->code[before_casts(s, left - 1, from) - 1]),
		     pointer;
		enum after after;

		x.star = *c == '*' && !is_declared(s, left, from);
		x.whole = true;
		after = after_place(s, &x, f->to);
		if (after == ASSIGNED || (x.element && kscan_steps(s, left - 2)))
			return true;
		pointer = address || (!x.element && !x.star);
		if (after == ENDS)
			return pointer && alias_writes(f, address ? left - 1 : x.at);
		x.at = kscan_open(s, x.at, from, &index);
		if (is_called(s, x.at, from, &call, &end))
			return pointer && callee_writes(f, call, end, index);
		x.element |= x.star;
		/* Its value is one of several in an expression. */
		if (x.element && (!x.whole || !strchr("(*&", *c)))
			return false;
	}
}

static bool
writes(const struct kscan_item *f, const char *name)
{
	if (!kjson_enter(seen, kshown("%s@%zu", name, f->body)))
		return false;
	return kany(kscan_in_body(at, f, name),
	    !kscan_is_member(f->in, at) && is_written_at(f, at, at + strlen(name)));
}

bool
kscan_writes(const struct kscan_item *f, const char *name)
{
	bool found;

	seen = json_object();
	found = writes(f, name);
	json_decref(seen);
	return found;
}
