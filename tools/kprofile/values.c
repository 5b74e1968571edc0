/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: values of a launch. Expressions have + - * / ( ), numbers, max(), min(), first() and
 * names: of the table's values, of raw metrics, and of peaks as "peak.NAME". A value that needs
 * something absent is absent too.
 */
#include "kprofile.h"

enum { MAX_DEPTH = 40 };

struct values values;

struct parser {
	const char *whole, *p;
};

void
values_open(const json_t *launch)
{
	json_decref(values.memo);
	json_decref(values.unreliable);
	values = (struct values){ launch, json_object(), json_object(), NULL, 0 };
}

static double values_eval(const char *expression);

static void
miss(const char *name)
{
	if (values.missing && !kjson_has(values.missing, name))
		kjson_add(values.missing, name);
}

/* A raw metric in base units. */
static double
raw_value(const char *name)
{
	const json_t *cell = json_object_get(json_object_get(values.launch, "raw"), name);
	const char *text = kjson_item(cell, 0), *unit = kjson_item(cell, 1);
	const char *file = kjson_item(cell, 2);
	json_int_t line = json_integer_value(json_array_get(cell, 3));
	double value, scale;

	if (!cell)
		return NAN;
	if (number_absent(text)) {
		if (*text == '(')
			json_object_set_new(values.unreliable, name, json_string(text));
		return NAN;
	}
	scale = number_scale(json_object_get(profile.table, "units"), unit);
	if (scale <= 0)
		kdie_usage("%s:%lld: %s: unknown unit '%s'", file, line, name, unit);
	if (!number_read(text, &value))
		kdie_usage("%s:%lld: %s: '%.60s' is not a number", file, line, name, text);
	return value * scale;
}

/*
 * A value of the table: the first of its metrics that is present, or else the first of its
 * expressions that has a value.
 */
static double
table_value(const json_t *value, const char *name)
{
	const json_t *from = json_object_get(value, "from"), *expr = json_object_get(value, "expr");
	json_t *outer = values.missing;
	json_auto_t *wanted = json_array();
	double found = NAN;

	if (++values.depth > MAX_DEPTH)
		kdie_usage("%s: value %s depends on itself", profile.where, name);
	values.missing = NULL;
	kjson_foreach_text(one, from)
		if (isnan(found))
			found = raw_value(one);
	kjson_foreach(item, expr) {
		/* Only what the preferred way needs counts as missing. */
		values.missing = kjson_at(item) || json_array_size(from) ? NULL : wanted;
		if (isnan(found))
			found = values_eval(json_string_value(item));
	}
	values.missing = outer;
	if (isnan(found) && json_array_size(from))
		miss(kjson_item(from, 0));
	else if (isnan(found) && !json_array_size(wanted))
		miss(name);
	else if (isnan(found))
		kjson_foreach_text(one, wanted)
			miss(one);
	values.depth--;
	return found;
}

double
values_get(const char *name)
{
	const json_t *known = json_object_get(values.memo, name),
	             *value = kjson_find(json_object_get(profile.table, "values"), "name", name);
	double found;

	if (json_is_number(known))
		return json_number_value(known);
	if (kbegins(name, "peak.")) {
		found = kjson_num_or(profile.peaks, name + 5, NAN);
		if (isnan(found))
			miss(name);
		return found;
	}
	if (value) {
		found = table_value(value, name);
	} else {
		found = raw_value(name);
		if (isnan(found))
			miss(name);
	}
	if (!isnan(found))
		json_object_set_new(values.memo, name, json_real(found));
	return found;
}

_Noreturn static void
syntax(const struct parser *s, const char *what)
{
	kdie_usage(
	    "%s: \"%s\", offset %zu: %s", profile.where, s->whole, (size_t)(s->p - s->whole), what);
}

static double evaluate(struct parser *s, int above);

static char
peek(struct parser *s)
{
	s->p += strspn(s->p, " ");
	return *s->p;
}

static void
close_bracket(struct parser *s)
{
	if (peek(s) != ')')
		syntax(s, "')' expected");
	s->p++;
}

static double
call(struct parser *s, const char *name)
{
	double result = NAN, a;
	bool first = !strcmp(name, "first"), max = !strcmp(name, "max");
	json_t *outer = values.missing;

	if (!first && !max && strcmp(name, "min"))
		syntax(s, "unknown function: must be first, max or min");
	for (int n = 0; n == 0 || peek(s) == ','; n++) {
		s->p++;
		/* Only the preferred one counts as missing. */
		if (first && n)
			values.missing = NULL;
		a = evaluate(s, 0);
		if (n == 0 || (first && isnan(result)))
			result = a;
		else if (!first)
			result = isnan(a) || isnan(result) ? NAN
			    : max                          ? fmax(a, result)
			                                   : fmin(a, result);
	}
	values.missing = outer;
	close_bracket(s);
	return result;
}

static double
operand(struct parser *s)
{
	const char *from;
	auto_free char *name = NULL;
	double value;

	if (peek(s) == '(') {
		s->p++;
		value = evaluate(s, 0);
		close_bracket(s);
		return value;
	}
	if (*s->p == '-') {
		s->p++;
		return -operand(s);
	}
	if (kis_digit(*s->p))
		return strtod(s->p, (char **)&s->p);
	for (from = s->p; kis_word(*s->p) || *s->p == '.'; s->p++)
		;
	if (s->p == from)
		syntax(s, "expected a number or a name");
	name = kstrndup(from, (size_t)(s->p - from));
	return *s->p == '(' ? call(s, name) : values_get(name);
}

/* Operators that bind more strongly than ABOVE: 1 for + and -, 2 for * and /. */
static double
evaluate(struct parser *s, int above)
{
	double a, b;

	values.depth += !above;
	if (values.depth > MAX_DEPTH)
		syntax(s, "nested too deep");
	a = operand(s);
	for (;;) {
		char op = peek(s);
		int strength = !op ? 0 : strchr("*/", op) ? 2 : strchr("+-", op) ? 1 : 0;

		if (strength <= above)
			break;
		s->p++;
		b = evaluate(s, strength);
		a = op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
		/* 0/0 and x/0 say nothing. */
		a = isfinite(a) ? a : NAN;
	}
	values.depth -= !above;
	return a;
}

static double
values_eval(const char *expression)
{
	struct parser s = { expression, expression };
	double a = evaluate(&s, 0);

	if (*s.p)
		syntax(&s, "expected an operator");
	return a;
}

static enum truth
values_test(const char *condition, double *margin)
{
	struct parser s = { condition, condition };
	double a = evaluate(&s, 0), b;
	char op = *s.p;
	bool equal;

	if (op != '<' && op != '>')
		syntax(&s, "expected one of < <= > >=");
	equal = *++s.p == '=';
	s.p += equal;
	b = evaluate(&s, 0);
	if (*s.p)
		syntax(&s, "expected an operator");
	if (isnan(a) || isnan(b))
		return UNKNOWN;
	/* 0.6 / 3 equals 0.2, but not in binary. */
	if (fabs(a - b) <= 1e-12 * fabs(b))
		a = b;
	if (margin)
		*margin = (op == '>' ? a - b : b - a) / fmax(fabs(b), 1e-9);
	if (equal)
		return op == '>' ? a >= b : a <= b;
	return op == '>' ? a > b : a < b;
}

enum truth
values_all(const json_t *conditions, double *margin)
{
	enum truth all = YES;

	kjson_foreach(c, conditions) {
		enum truth t = values_test(json_string_value(c), kjson_at(c) ? NULL : margin);

		/* A condition that is false decides, whatever is missing in others. */
		if (t == NO || (t == UNKNOWN && all == YES))
			all = t;
		if (all == NO)
			break;
	}
	return all;
}

char *
values_fill(const char *text)
{
	struct kbuf b = kbuf_empty();
	json_t *outer = values.missing;
	struct kregex_span at[2];

	values.missing = NULL;
	for (; kregex_match("\\{([^}]*)\\}", text, at); text += at->to) {
		auto_free char *expression = kregex_text(text, at[1]);
		double value = values_eval(expression);

		kbuf_add(&b, text, at->from);
		kbuf_puts(&b, isnan(value) ? "?" : number_text(value));
	}
	if (strchr(text, '{'))
		kdie_usage("%s: \"%s\": '{' without '}'", profile.where, text);
	kbuf_puts(&b, text);
	values.missing = outer;
	return b.data;
}

void
values_used(const char *text, bool braces, json_t *out)
{
	/* a name that is not a function, within braces if there must be any */
	const char *form = braces ? "(?<![\\w.])([A-Za-z_][\\w.]*+)(?!\\()(?=[^{}]*\\})"
	                          : "(?<![\\w.])([A-Za-z_][\\w.]*+)(?!\\()";
	struct kregex_span at[2];

	for (; kregex_match(form, text, at); text += at->to) {
		auto_free char *name = kregex_text(text, at[1]);
		double value = values_get(name);

		if (!isnan(value))
			json_object_set_new(out, name, json_real(value));
	}
}
