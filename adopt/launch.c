/* SPDX-License-Identifier: Apache-2.0 */
/* kscan: see kscan.h. Here: launches, and what numbers expressions are. */
#include "kio.h"
#include "kregex.h"
#include "kscan.h"

/* How many names and parentheses a number may go through. */
enum { CHAIN = 32 };

size_t
kscan_name_before(const struct kscan *s, size_t p, size_t from, size_t *end)
{
	int angle = 0;

	p = kscan_back(s, p, from);
	if (p > from && s->code[p - 1] == '>') {
		do {
			p--;
			angle += (s->code[p] == '>') - (s->code[p] == '<');
		} while (p > from && angle);
		p = kscan_back(s, p, from);
	}
	for (*end = p; p > from && (kis_word(s->code[p - 1]) || s->code[p - 1] == ':');)
		p--;
	return p;
}

/* The launch whose "<<<" is at P; false: it is not a launch. */
static bool
read_launch(const struct kscan *s, size_t p, struct kscan_launch *l)
{
	char **const parts[] = { &l->grid, &l->block, &l->shared, &l->stream };
	size_t begin[LEN(parts)], end[LEN(parts)], n = 0, q = p + 3, to = s->len, name_end, open,
	                                           close;

	for (begin[0] = q; q < to && !kscan_stands(s, q, ">>>"); q = kscan_after(s, q, to))
		if (s->code[q] == ',' && n + 1 < LEN(parts)) {
			end[n++] = q;
			begin[n] = q + 1;
		}
	if (q >= to || !n)
		return false;
	end[n++] = q;
	open = kscan_blank(s, q + 3, to);
	close = s->code[open] == '(' ? kscan_close(s, open, to) : to;
	if (close >= to)
		close = open = q + 2;
	*l = (struct kscan_launch){ .at = kscan_name_before(s, p, 0, &name_end),
		.config = p,
		.config_to = q,
		.to = close + 1 };
	l->kernel = kscan_tidy(s, l->at, name_end);
	l->arguments = kscan_tidy(s, name_end, p);
	for (size_t i = 0; i < LEN(parts); i++)
		*parts[i] = i < n ? kscan_tidy(s, begin[i], end[i]) : kstrdup("");
	l->call = kscan_tidy(s, open + 1, close);
	return true;
}

void
kscan_find_launches(struct kscan *s)
{
	for (size_t p = 0; p + 3 < s->len; p++) {
		struct kscan_launch launch;

		if (!kscan_stands(s, p, "<<<") || !read_launch(s, p, &launch))
			continue;
		*kadded(s->launches, s->launch_count) = launch;
		p += 2;
	}
}

const struct kscan_launch *
kscan_launches(const struct kscan_item *f, size_t *count)
{
	const struct kscan_launch *first = f->in->launches, *end = first + f->in->launch_count;

	while (first < end && first->at < f->body)
		first++;
	for (*count = 0; first + *count < end && first[*count].to <= f->to;)
		++*count;
	return first;
}

void
kscan_free_launches(struct kscan *s)
{
	kforeach_of(l, s->launches, s->launch_count) {
		char *const texts[] = { l->kernel, l->arguments, l->grid, l->block, l->shared,
			l->stream, l->call };

		kforeach(text, texts)
			free(*text);
	}
	free(s->launches);
}

/* ---- constants ---- */

struct sum {
	const struct kscan_scope *scope;
	const char *p;
	int depth;
	bool bad;
};

static int64_t evaluate(struct sum *x, int level);

static int64_t
fail(struct sum *x)
{
	x->bad = true;
	return 0;
}

/* Skips blanks, and the backslash of a macro that goes on in the next line. */
static void
skip_spaces(struct sum *x)
{
	while (kis_space(*x->p) || *x->p == '\\')
		x->p++;
}

/* EXPRESSION in the same scope, one level deeper. */
static int64_t
number_of(struct sum *x, const char *expression)
{
	struct sum inner = { .scope = x->scope, .p = expression, .depth = x->depth + 1 };
	int64_t v;

	if (inner.depth > CHAIN)
		return fail(x);
	v = evaluate(&inner, 0);
	skip_spaces(&inner);
	x->bad |= inner.bad || *inner.p;
	return v;
}

/* The text from P to the next ',' or ';' or '}' outside brackets; NULL: there is none. */
static char *
value_at(const struct kscan *s, size_t p, size_t to)
{
	size_t end = p;

	while (end < to && !strchr(",;}", s->code[end]))
		end = kscan_after(s, end, to);
	return end < to ? kscan_copy(s, p, end) : NULL;
}

/* The text after "NAME =" from FROM to TO; the caller frees, NULL: there is none. */
static char *
initialiser(const struct kscan *s, size_t from, size_t to, const char *name)
{
	kscan_each(p, s, from, to, name) {
		size_t q = kscan_next(s, p, to);

		if (q < to && s->code[q] == '=' && s->code[q + 1] != '=' &&
		    (!p || s->code[p - 1] != '.'))
			return value_at(s, q + 1, to);
	}
	return NULL;
}

/*
 * The arguments of the dim3 variable NAME in a list of declarations from FROM to TO; to be freed,
 * NULL: none.
 */
static char *
dim3_arguments(const struct kscan *s, size_t from, size_t to, const char *name)
{
	kscan_each(at, s, from, to, "dim3")
		for (size_t p = at + strlen("dim3"), word, open;; p++) {
			word = kscan_blank(s, p, to);
			p = kscan_word(s, word, to);
			open = kscan_blank(s, p, to);
			if (p == word || open >= to || !strchr("({", s->code[open]))
				break;
			if (kscan_among(s, word, p, name))
				return kscan_copy(s, open + 1, kscan_close(s, open, to));
			p = kscan_blank(s, kscan_after(s, open, to), to);
			if (s->code[p] != ',')
				break;
		}
	return NULL;
}

char *
kscan_macro(const struct kscan_item *x)
{
	const struct kscan *s = x->in;
	size_t p = kscan_find(s, x->from, x->to, x->names[0]) + strlen(x->names[0]);

	return p < x->to && s->code[p] != '(' ? kscan_tidy(s, p, x->to) : NULL;
}

/*
 * The expression that NAME is defined as in one source, outside functions; to be freed, NULL: none.
 */
static char *
constant_in(const struct kscan *s, const char *name)
{
	kscan_items(x, s)
		if (kscan_declares(x, name) && x->kind == KSCAN_MACRO)
			return kscan_macro(x);
		else if (kscan_declares(x, name) && x->kind == KSCAN_DECLARATION)
			return initialiser(s, x->from, x->to, name);
	return NULL;
}

/* The enumerator's value: its position, unless it has an explicit value. */
static bool
enumerator_in(struct sum *x, const struct kscan *s, const char *name, int64_t *value)
{
	kscan_items(e, s) {
		if (e->kind != KSCAN_DECLARATION || !kscan_has_word(e, "enum") ||
		    !kscan_declares(e, name))
			continue;
		*value = -1;
		kforeach_of(each, e->names, e->name_count) {
			auto_free char *own = initialiser(s, e->from, e->to, *each);

			*value = own ? number_of(x, own) : *value + 1;
			if (!strcmp(*each, name))
				return !x->bad;
		}
	}
	return false;
}

/*
 * Does NAME have different values at different places of the function? Then no single place
 * determines it: "int b; if (wide) b = 512; else b = 256;".
 */
static bool
is_variable(const struct kscan_item *f, const char *name)
{
	const struct kscan *s = f->in;
	size_t times = 0;

	kscan_in_body(p, f, name)
		times += s->code[p - 1] != '.' &&
		    (kscan_assigns(s, p + strlen(name), f->to) || kscan_steps(s, p - 2));
	return times > 1;
}

static int64_t
name_value(struct sum *x, const char *name)
{
	const struct kscan_scope *c = x->scope;
	const json_t *given = json_object_get(c->values, name);
	auto_free char *text = NULL;
	int64_t v = 0;

	if (json_is_number(given))
		return (int64_t)json_number_value(given);
	if (c->f && is_variable(c->f, name))
		return fail(x);
	if (c->f)
		text = initialiser(c->s, c->f->body, c->f->to, name);
	if (!text && c->s)
		text = constant_in(c->s, name);
	for (size_t i = 0; i < c->count && !text; i++)
		text = constant_in(c->sources[i], name);
	if (text)
		return number_of(x, text);
	if (c->s && enumerator_in(x, c->s, name, &v))
		return v;
	kforeach_of(source, c->sources, c->count)
		if (enumerator_in(x, *source, name, &v))
			return v;
	return fail(x);
}

static bool triple_of(struct sum *x, const char *expression, int64_t triple[3]);

/* "n", or "block.x" of a dim3. */
static int64_t
word_value(struct sum *x)
{
	struct kregex_span at[3];
	auto_free char *name = NULL;
	int64_t triple[3];
	const char *p = x->p;

	kregex_match("\\A(\\w+)(?:\\s*\\.([xyz])\\b)?", p, at);
	name = kregex_text(p, at[1]);
	x->p += at[0].to;
	if (at[2].from == KREGEX_UNSET)
		return name_value(x, name);
	return x->depth++ < CHAIN && triple_of(x, name, triple) ? triple[p[at[2].from] - 'x']
	                                                        : fail(x);
}

static int64_t
factor(struct sum *x)
{
	static const char cast[] = "\\A\\((?:\\s*(?:int|unsigned|long|size_t|int64_t|uint32_t|"
	                           "int32_t|short|const)\\b)+\\s*\\)";
	struct kregex_span at[1];
	int64_t v;
	char *end;

	skip_spaces(x);
	if (kregex_match(cast, x->p, at)) {
		x->p += at->to;
		return factor(x);
	}
	if (*x->p == '(') {
		x->p++;
		v = evaluate(x, 0);
		skip_spaces(x);
		x->bad |= *x->p != ')';
		x->p += *x->p == ')';
		return v;
	}
	if (*x->p == '-') {
		x->p++;
		return -factor(x);
	}
	if (kis_digit(*x->p)) {
		v = strtoll(x->p, &end, 0);
		end += strspn(end, "uUlL");
		x->bad |= *end == '.' || kis_word(*end);
		x->p = end;
		return v;
	}
	return kis_word(*x->p) ? word_value(x) : fail(x);
}

static int64_t
evaluate(struct sum *x, int level)
{
	static const char *const operators[] = { "+-", "*/%" };
	int64_t v;

	if (level == LEN(operators))
		return factor(x);
	if (++x->depth > 4 * CHAIN)
		return fail(x);
	v = evaluate(x, level + 1);
	for (;;) {
		int64_t r;
		char op;

		skip_spaces(x);
		if (x->bad || !*x->p || !strchr(operators[level], *x->p))
			break;
		op = *x->p++;
		r = evaluate(x, level + 1);
		if (op == '+' || op == '-' || op == '*')
			x->bad |= op == '+' ? __builtin_add_overflow(v, r, &v)
			    : op == '-'     ? __builtin_sub_overflow(v, r, &v)
			                    : __builtin_mul_overflow(v, r, &v);
		else if (r == 0 || (v == INT64_MIN && r == -1))
			x->bad = true;
		else
			v = op == '/' ? v / r : v % r;
	}
	x->depth--;
	return v;
}

bool
kscan_number(const struct kscan_scope *scope, const char *expression, int64_t *value)
{
	struct sum x = { .scope = scope, .p = expression };

	*value = evaluate(&x, 0);
	skip_spaces(&x);
	return !x.bad && !*x.p;
}

/* A number, up to three of them with commas between, dim3(…), or a variable with such a value. */
static bool
triple_of(struct sum *x, const char *expression, int64_t triple[3])
{
	const struct kscan_scope *c = x->scope;
	auto_free char *list = kregex_part("\\A\\s*dim3[({]((?s).*).\\z", expression),
	               *name = list || !c->f
	    ? NULL
	    : kregex_part("\\A\\s*([A-Za-z_]\\w*)\\s*\\z", expression);
	json_auto_t *parts = NULL;
	size_t n;

	if (name) {
		x->bad |= is_variable(c->f, name);
		list = dim3_arguments(c->s, c->f->body, c->f->to, name);
	}
	parts = kscan_list(list ?: expression, false);
	n = json_array_size(parts);
	for (size_t i = 0; i < 3; i++)
		triple[i] = i < n ? number_of(x, kjson_item(parts, i)) : 1;
	return n && n <= 3 && !x->bad;
}

bool
kscan_dim3(const struct kscan_scope *scope, const char *expression, int64_t triple[3])
{
	struct sum x = { .scope = scope };

	return triple_of(&x, expression, triple);
}
