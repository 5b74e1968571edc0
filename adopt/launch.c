/* SPDX-License-Identifier: Apache-2.0 */
/* kscan: see kscan.h. Here: launches, and what numbers expressions are. */
#include "kio.h"
#include "kregex.h"
#include "kscan.h"

/* How many names, parentheses and products a number may go through. */
enum { DEEP = 96 };

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
	/* Parts between commas outside brackets; then the arguments, if there are any. */
	static const char form[] = "(?(DEFINE)(?<part>(?:[^][(){},>]++|>(?!>>)|(?&group))*+)"
	                           "(?<group>[[({](?:[^][(){}]++|(?&group))*+[])}]))"
	                           "\\A<<<((?&part)),((?&part)),?((?&part)),?((?&part))>>>"
	                           "(?|\\s*\\(((?:,|>|(?&part))*+)\\)|())";
	struct kregex_span at[8];
	char **const parts[] = { &l->grid, &l->block, &l->shared, &l->stream, &l->call };
	size_t end;

	if (!kregex_find(form, s->code + p, s->len - p, at, LEN(at)))
		return false;
	*l = (struct kscan_launch){ .at = kscan_name_before(s, p, 0, &end),
		.config = p,
		.config_to = p + at[6].to,
		.to = p + at->to };
	l->kernel = kscan_tidy(s, l->at, end);
	l->arguments = kscan_tidy(s, end, p);
	for (size_t i = 0; i < LEN(parts); i++)
		*parts[i] = kscan_tidy(s, p + at[3 + i].from, p + at[3 + i].to);
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

/* The next character after blanks, and after the backslash of a macro that goes on. */
static char
peek(struct sum *x)
{
	while (kis_space(*x->p) || *x->p == '\\')
		x->p++;
	return *x->p;
}

static bool
skip(struct sum *x, char c)
{
	if (peek(x) != c)
		return false;
	x->p++;
	return true;
}

/* EXPRESSION in the same scope. */
static int64_t
number_of(struct sum *x, const char *expression)
{
	struct sum inner = { .scope = x->scope, .p = expression, .depth = x->depth };
	int64_t v = evaluate(&inner, 0);

	x->bad |= inner.bad || peek(&inner);
	return v;
}

/*
 * The text after "NAME =" from FROM to TO, up to the next ',' or ';' or '}' outside brackets; the
 * caller frees, NULL: there is none.
 */
static char *
initialiser(const struct kscan *s, size_t from, size_t to, const char *name)
{
	kscan_each(p, s, from, to, name) {
		size_t at = kscan_next(s, p, to) + 1, end = at;

		if (!kscan_matches(s, at - 1, to, "\\A=(?!=)") || (p && s->code[p - 1] == '.'))
			continue;
		while (end < to && !strchr(",;}", s->code[end]))
			end = kscan_after(s, end, to);
		return end < to ? kscan_copy(s, at, end) : NULL;
	}
	return NULL;
}

/* The arguments of the dim3 variable NAME of the function F; to be freed, NULL: none. */
static char *
dim3_arguments(const struct kscan_item *f, const char *name)
{
	const struct kscan *s = f->in;

	kscan_in_body(p, f, name) {
		size_t open = kscan_next(s, p, f->to);

		if (strchr("({", s->code[open]) &&
		    kscan_matches(s, f->body, p, "\\bdim3\\b[^;]*\\z"))
			return kscan_copy(s, open + 1, kscan_close(s, open, f->to));
	}
	return NULL;
}

char *
kscan_macro(const struct kscan_item *x)
{
	auto_free char *code = kscan_copy(x->in, x->from, x->to),
	               *text = kregex_part("\\A#\\s*define\\s+\\w++(?!\\()\\s*(\\S(?s).*)", code);
	const struct kscan s = kscan_code(text ?: "");

	return text ? kscan_tidy(&s, 0, s.len) : NULL;
}

/*
 * The value of the enumerator NAME of X, as an expression: counted from the last one that has its
 * own. NULL: X has none of that name.
 */
static char *
enumerator(const struct kscan_item *x, const char *name)
{
	auto_free char *inside = kregex_part(
	                   "\\A[^{=;]*\\benum\\b[^{=;]*\\{([^}]*)", x->in->code + x->from),
	               *base = kstrdup("0");
	json_auto_t *list = kscan_list(inside ?: "", false);
	size_t count = 0;

	kjson_foreach_text(text, list) {
		auto_free char *own = kuntil(text, " \t\n=");
		const char *value = strchr(text, '=');

		if (value) {
			free(base);
			base = kstrdup(value + 1);
			count = 0;
		}
		if (!strcmp(own, name))
			return kasprintf("(%s)+%zu", base, count);
		count++;
	}
	return NULL;
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
			return enumerator(x, name) ?: initialiser(s, x->from, x->to, name);
	return NULL;
}

/*
 * Does NAME have different values at different places of the function? Then no single place
 * determines it: "int b; if (wide) b = 512; else b = 256;".
 */
static bool
is_variable(const struct kscan_item *f, const char *name)
{
	const char *set = kshown("(?<![.\\w])%1$s\\s*(?:\\.[xyz]\\s*)?"
	                         "(?:=(?!=)|(?:<<|>>|[-+*/%%&|^])=|\\+\\+|--)|"
	                         "(?:\\+\\+|--)%1$s\\b",
	    name);

	return kscan_matches(f->in, f->body, f->to, kshown("(?s)(?:%1$s).*(?:%1$s)", set));
}

static int64_t
name_value(struct sum *x, const char *name)
{
	const struct kscan_scope *c = x->scope;
	const json_t *given = json_object_get(c->values, name);
	auto_free char *text = NULL;

	if (json_is_number(given))
		return (int64_t)json_number_value(given);
	if (c->f && is_variable(c->f, name))
		return fail(x);
	if (c->f)
		text = initialiser(c->f->in, c->f->body, c->f->to, name);
	for (size_t i = 0; i < c->count && !text; i++)
		text = constant_in(c->sources[i], name);
	return text ? number_of(x, text) : fail(x);
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
	return triple_of(x, name, triple) ? triple[p[at[2].from] - 'x'] : fail(x);
}

static int64_t
factor(struct sum *x)
{
	static const char cast[] = "\\A\\((?:\\s*(?:int|unsigned|long|size_t|int64_t|uint32_t|"
	                           "int32_t|short|const)\\b)+\\s*\\)";
	struct kregex_span at[1];
	int64_t v;
	char *end;

	if (skip(x, '-'))
		return -factor(x);
	if (kregex_match(cast, x->p, at)) {
		x->p += at->to;
		return factor(x);
	}
	if (skip(x, '(')) {
		v = evaluate(x, 0);
		return skip(x, ')') ? v : fail(x);
	}
	if (kis_digit(*x->p)) {
		v = strtoll(x->p, &end, 0);
		x->p = end + strspn(end, "uUlL");
		x->bad |= *x->p == '.' || kis_word(*x->p);
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
	if (++x->depth > DEEP)
		return fail(x);
	v = evaluate(x, level + 1);
	while (!x->bad && peek(x) && strchr(operators[level], *x->p)) {
		char op = *x->p++;
		__int128 a = v, b = evaluate(x, level + 1);

		if (!b && strchr("/%", op))
			return fail(x);
		a = op == '+'   ? a + b
		    : op == '-' ? a - b
		    : op == '*' ? a * b
		    : op == '/' ? a / b
		                : a % b;
		v = (int64_t)a;
		x->bad |= v != a;
	}
	x->depth--;
	return v;
}

bool
kscan_number(const struct kscan_scope *scope, const char *expression, int64_t *value)
{
	struct sum x = { .scope = scope };

	*value = number_of(&x, expression);
	return !x.bad;
}

/* A number, up to three of them with commas between, dim3(…), or a variable with such a value. */
static bool
triple_of(struct sum *x, const char *expression, int64_t triple[3])
{
	const struct kscan_item *f = x->scope->f;
	auto_free char *list = kregex_part("\\A\\s*dim3[({]((?s).*).\\z", expression),
	               *name = list || !f
	    ? NULL
	    : kregex_part("\\A\\s*([A-Za-z_]\\w*)\\s*\\z", expression);
	json_auto_t *parts = NULL;
	size_t n;

	if (name) {
		x->bad |= is_variable(f, name);
		list = dim3_arguments(f, name);
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
