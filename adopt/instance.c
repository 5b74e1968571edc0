/* SPDX-License-Identifier: Apache-2.0 */
/* instance: see instance.h. */
#include "instance.h"

#include "kio.h"
#include "types.h"

enum { PARTS = 16, OUTWARDS = 4 };

/* Parts of a list, separated by commas outside brackets. */
struct parts {
	char *at[PARTS];
	size_t count;
};

static char *
trimmed(const char *from, size_t n)
{
	while (n && isspace((unsigned char)*from)) {
		from++;
		n--;
	}
	while (n && isspace((unsigned char)from[n - 1]))
		n--;
	return kstrndup(from, n);
}

/* Splits LEN bytes at TEXT. */
static void
split(const char *text, size_t len, struct parts *list)
{
	int depth = 0;
	size_t start = 0;

	list->count = 0;
	for (size_t i = 0; i <= len; i++) {
		char c = i < len ? text[i] : ',';

		depth += (strchr("(<[{", c) && c) - (strchr(")>]}", c) && c);
		depth += i < len && i && c == '>' && text[i - 1] == '-';
		if (c != ',' || (depth && i < len) || list->count == PARTS)
			continue;
		if (i > start || i < len)
			list->at[list->count++] = trimmed(text + start, i - start);
		start = i + 1;
	}
}

static void
parts_free(struct parts *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->at[i]);
	list->count = 0;
}

bool
instance_is_null(const struct unit *u, size_t i)
{
	bool null = u->launch_count > 0;

	for (size_t k = 0; k < u->launch_count && null; k++) {
		const char *call = u->launches[k].arguments;
		struct parts list;

		split(call, strlen(call), &list);
		null = i < list.count && kis_listed("nullptr NULL", list.at[i], strlen(list.at[i]));
		parts_free(&list);
	}
	return null;
}

/* The parts inside the "<…>" at TEXT; returns its length, or 0. */
static size_t
split_angles(const char *text, struct parts *list)
{
	int depth = 0;
	size_t n = 0;

	list->count = 0;
	if (*text != '<')
		return 0;
	do
		depth += (text[n] == '<') - (text[n] == '>');
	while (text[++n] && depth);
	if (depth)
		return 0;
	split(text + 1, n - 2, list);
	return n;
}

/* ---- templates ---- */

struct formal {
	char *name, *given; /* given: its default, or NULL */
	bool type;
};
struct formals {
	struct formal at[PARTS];
	size_t count;
	bool strange;
};

/* "typename T", "int N=4" */
static void
read_formal(char *text, struct formal *x)
{
	char *sign = strchr(text, '='), *end;

	*x = (struct formal){ .given = sign ? trimmed(sign + 1, strlen(sign + 1)) : NULL };
	if (sign)
		*sign = '\0';
	for (end = text + strlen(text); end > text && !kis_word(end[-1]); end--)
		end[-1] = '\0';
	while (end > text && kis_word(end[-1]))
		end--;
	x->name = kstrdup(end);
	x->type = (!strncmp(text, "typename", 8) || !strncmp(text, "class", 5)) && end > text;
}

/* The parameters of the "template<…>" at the beginning of RESULT. */
static bool
read_formals(const char *result, struct formals *f)
{
	struct parts list;

	*f = (struct formals){ 0 };
	if (strncmp(result, "template<", 9) || !split_angles(result + 8, &list))
		return false;
	for (size_t i = 0; i < list.count; i++) {
		f->strange |= strstr(list.at[i], "...") || !strncmp(list.at[i], "template", 8);
		read_formal(list.at[i], &f->at[f->count++]);
	}
	parts_free(&list);
	return f->count > 0;
}

static void
formals_free(struct formals *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->at[i].name);
		free(f->at[i].given);
	}
	f->count = 0;
}

char *
instance_formals(const char *result)
{
	struct formals f;
	struct kbuf b = { 0 };

	kbuf_puts(&b, "");
	if (read_formals(result, &f))
		for (size_t i = 0; i < f.count; i++)
			kbuf_printf(&b, "%s%s%s", i ? ", " : "<", f.at[i].name,
			    i + 1 == f.count ? ">" : "");
	formals_free(&f);
	return b.data;
}

/* A place in the sources where names are resolved. */
struct place {
	const struct unit_sources *sources;
	const struct unit_source *s;
	const struct kscan_item *f; /* or NULL */
	size_t at;
	int depth;
};

static char *resolve(const struct place *p, const char *text, bool type);

static size_t
index_of(const struct unit_sources *sources, const struct unit_source *s)
{
	return (size_t)(s - sources->list);
}

/* The argument for parameter NAME of the template around P, taken from its callers. */
static char *
from_callers(const struct place *p, const char *name)
{
	struct kscan_signature g;
	struct formals formals;
	size_t which = 0;
	char *found = NULL;

	if (!p->f || p->depth >= OUTWARDS)
		return NULL;
	kscan_signature(&p->s->scan, p->f, &g);
	read_formals(g.result, &formals);
	kscan_signature_free(&g);
	while (which < formals.count && strcmp(formals.at[which].name, name))
		which++;
	for (size_t i = 0; which < formals.count && i < p->sources->count && !found; i++) {
		const struct unit_source *s = &p->sources->list[i];
		size_t n = strlen(p->f->names[0]);

		for (const char *c = s->scan.code; (c = strstr(c, p->f->names[0])) && !found;
		     c += n) {
			struct parts list;
			size_t at = (size_t)(c - s->scan.code);

			if ((at && kis_word(c[-1])) || c[n] != '<' || !split_angles(c + n, &list))
				continue;
			if (which < list.count) {
				struct place outer = { p->sources, s, NULL, at, p->depth + 1 };

				outer.f = unit_function_at(&s->scan, at);
				if (outer.f != p->f || outer.s != p->s)
					found =
					    resolve(&outer, list.at[which], formals.at[which].type);
			}
			parts_free(&list);
		}
	}
	formals_free(&formals);
	return found;
}

/* TEXT in a form that means the same everywhere: with known types and numbers for names. */
static char *
resolve(const struct place *p, const char *text, bool is_type)
{
	struct types types = { .sources = p->sources, .which = index_of(p->sources, p->s) };
	const struct kscan *scans[] = { &p->s->scan };
	struct kscan_scope scope = { .sources = scans, .count = 1, .s = &p->s->scan, .f = p->f };
	struct type type;
	int64_t n;
	bool known;

	if (!strcmp(text, "true") || !strcmp(text, "false"))
		return kstrdup(text);
	if (!is_type && kscan_number(&scope, text, &n))
		return kasprintf("%lld", (long long)n);
	type_find(&types, text, 0, &type);
	known = type.kind == TYPE_NUMBER || type.kind == TYPE_RECORD;
	type_free(&type);
	/* "Mode::fast" is an enumerator. */
	if (is_type ? known : strstr(text, "::") != NULL)
		return kstrdup(text);
	return from_callers(p, text);
}

/* ---- types of arguments ---- */

/* Words that may begin a declaration but are not types. */
static bool
is_type_word(const char *text, size_t n)
{
	static const char *const words[] = { "return", "else", "case", "delete", "goto", "new",
		"sizeof" };

	for (size_t i = 0; i < LEN(words); i++)
		if (strlen(words[i]) == n && !strncmp(words[i], text, n))
			return false;
	return n && (isalpha((unsigned char)*text) || *text == '_');
}

/* The type in "const float *__restrict__ x, *y" before its names; NULL: none. The caller frees. */
static char *
leading_type(const char *code, size_t from, size_t to)
{
	size_t p = from, last = from, words = 0;
	int angle = 0;

	while (p < to && isspace((unsigned char)code[p]))
		p++;
	from = p;
	while (p < to && (angle || !strchr("*&=,;([", code[p]))) {
		size_t n = 0;

		angle += (code[p] == '<') - (code[p] == '>');
		while (p + n < to && kis_word(code[p + n]))
			n++;
		if (n && !angle) {
			if (!is_type_word(code + p, n))
				return NULL;
			/* The previous word belonged to the type; this one may be the name. */
			words += !(p > from && code[p - 1] == ':');
			last = p;
		}
		p += n ? n : 1;
	}
	if (p < to && (code[p] == '*' || code[p] == '&') && words)
		return trimmed(code + from, p - from);
	return words > 1 ? trimmed(code + from, last - from) : NULL;
}

/* The declared type of variable NAME in the function around P, before P. The caller frees. */
static char *
declared_type(const struct place *p, const char *name)
{
	const char *code = p->s->scan.code;
	size_t n = strlen(name);

	if (!p->f || !n)
		return NULL;
	for (size_t at = p->f->open + 1; at + n < p->at; at++) {
		size_t from = at, comma;
		char *type;

		if (strncmp(code + at, name, n) || kis_word(code[at + n]) || kis_word(code[at - 1]))
			continue;
		while (from > p->f->open && !strchr(";{}(,", code[from - 1]))
			from--;
		type = leading_type(code, from, at + n);
		if (type)
			return type;
		for (comma = from; comma > p->f->open && !strchr(";{}(", code[comma - 1]);)
			comma--;
		type = comma < from ? leading_type(code, comma, at + n) : NULL;
		if (type)
			return type;
	}
	return NULL;
}

/* The type of an expression, without its stars, if its first words determine it. */
static char *
type_of(const struct place *p, const char *expression)
{
	size_t n = 0;
	char *name, *type;

	while (*expression && strchr("&*+- ", *expression))
		expression++;
	if (*expression == '(') {
		size_t inner = strcspn(expression + 1, "*)");

		name = kstrndup(expression + 1, inner);
		type = resolve(p, name, true);
		free(name);
		return type ? type : type_of(p, expression + 1);
	}
	if (isdigit((unsigned char)*expression)) {
		n = strcspn(expression, ",)");
		if (memchr(expression, '.', n))
			return kstrdup(memchr(expression, 'f', n) ? "float" : "double");
		return kstrdup("int");
	}
	while (kis_word(expression[n]))
		n++;
	name = kstrndup(expression, n);
	type = declared_type(p, name);
	free(name);
	if (type) {
		char *known = resolve(p, type, true);

		free(type);
		type = known;
	}
	return type;
}

/*
 * The argument for parameter FORMAL of a kernel's template, from the types of a launch's arguments.
 */
static char *
deduce(const struct place *p, const struct kscan_signature *g, const char *formal, const char *call)
{
	struct parts list;
	char *found = NULL;

	split(call, strlen(call), &list);
	for (size_t i = 0; i < g->count && i < list.count && !found; i++)
		if (!strcmp(g->params[i].type, formal))
			found = type_of(p, list.at[i]);
	parts_free(&list);
	return found;
}

/* One launch: the arguments of all template parameters, or NULL. */
static json_t *
bind_launch(const struct place *p, const struct formals *formals, const struct kscan_signature *g,
    const char *templates, const char *call, struct kbuf *arguments)
{
	json_t *bound = json_object();
	struct parts list;

	split_angles(templates, &list);
	arguments->len = 0;
	for (size_t i = 0; i < formals->count && bound; i++) {
		const struct formal *x = &formals->at[i];
		char *text = i < list.count ? resolve(p, list.at[i], x->type) : NULL;

		if (i >= list.count && x->type)
			text = deduce(p, g, x->name, call);
		if (!text && i >= list.count && x->given)
			text = kstrdup(x->given);
		if (text) {
			kbuf_printf(arguments, "%s%s", i ? ", " : "<", text);
			json_object_set_new(bound, x->name, json_string(text));
		} else {
			json_decref(bound);
			bound = NULL;
		}
		free(text);
	}
	if (bound)
		kbuf_puts(arguments, ">");
	parts_free(&list);
	return bound;
}

/* The same for a call of a function that is not a kernel: "f<float>(". */
static json_t *
bind_call(const struct unit *u, const struct unit_sources *sources, const struct formals *formals,
    const struct kscan_signature *g, struct kbuf *arguments)
{
	size_t n = strlen(u->name);
	json_t *bound = NULL;

	for (size_t i = 0; i < sources->count && !bound; i++) {
		const struct unit_source *s = &sources->list[i];

		for (const char *c = s->scan.code; (c = strstr(c, u->name)) && !bound; c += n) {
			struct place p = { sources, s, NULL, (size_t)(c - s->scan.code), 0 };
			size_t call = n + strcspn(c + n, "(;{}");
			char *angles, *rest;

			if ((p.at && kis_word(c[-1])) || kis_word(c[n]) || c[call] != '(')
				continue;
			p.f = unit_function_at(&s->scan, p.at);
			if (!p.f || p.at < p.f->body || !strcmp(p.f->names[0], u->name))
				continue;
			angles = trimmed(c + n, call - n);
			rest = kstrndup(c + call + 1, strcspn(c + call + 1, ";{}"));
			if (strrchr(rest, ')'))
				*strrchr(rest, ')') = '\0';
			bound = bind_launch(&p, formals, g, angles, rest, arguments);
			free(angles);
			free(rest);
		}
	}
	return bound;
}

json_t *
instance_bind(const struct unit *u, const struct unit_sources *sources,
    const struct kscan_signature *g, struct kbuf *arguments, struct kbuf *why)
{
	struct formals formals;
	json_t *bound = NULL;

	if (!read_formals(g->result, &formals))
		return strncmp(g->result, "template", 8) ? NULL : json_object();
	if (formals.strange)
		kbuf_puts(why, "its template takes any number of arguments, or templates\n");
	for (size_t i = 0; i < u->launch_count && !formals.strange; i++) {
		struct unit_launch *l = &u->launches[i];
		struct place p = { sources, l->source, l->inside, l->from, 0 };
		struct kbuf more = { 0 };
		json_t *own = bind_launch(
		    &p, &formals, g, l->templates, l->arguments, bound ? &more : arguments);

		bound = bound ? bound : json_incref(own);
		l->other = !own || !json_equal(own, bound);
		json_decref(own);
		kbuf_free(&more);
	}
	if (!u->kernel && !formals.strange)
		bound = bind_call(u, sources, &formals, g, arguments);
	if (!bound && !formals.strange && (!u->kernel || u->launch_count))
		kbuf_printf(why,
		    "it is a template, and no %s shows its arguments; write them there, as in "
		    "%s<float>\n",
		    u->kernel ? "launch" : "call", u->name);
	if (!bound)
		arguments->len = 0;
	formals_free(&formals);
	return bound;
}

/* ---- geometry ---- */

/* Three numbers in the syntax of a launch. */
static char *
triple_text(const int64_t t[3])
{
	if (t[1] == 1 && t[2] == 1)
		return kasprintf("%lld", (long long)t[0]);
	if (t[2] == 1)
		return kasprintf("dim3(%lld, %lld)", (long long)t[0], (long long)t[1]);
	return kasprintf(
	    "dim3(%lld, %lld, %lld)", (long long)t[0], (long long)t[1], (long long)t[2]);
}

char *
instance_constant(const struct unit *u, const struct unit_sources *sources,
    const char *(*part)(const struct unit_launch *))
{
	const struct kscan **scans = kcalloc(sources->count, sizeof *scans);
	int64_t first[3] = { 0 };
	bool same = u->launch_count > 0;

	for (size_t i = 0; i < sources->count; i++)
		scans[i] = &sources->list[i].scan;
	for (size_t i = 0; i < u->launch_count && same; i++) {
		const struct unit_launch *l = &u->launches[i];
		struct kscan_scope scope = { .sources = scans,
			.count = sources->count,
			.s = &l->source->scan,
			.f = l->inside };
		int64_t t[3] = { 0 };

		same = kscan_dim3(&scope, part(l), t) && (!i || !memcmp(first, t, sizeof t));
		memcpy(first, t, sizeof t);
	}
	free(scans);
	return same ? triple_text(first) : NULL;
}

/* Number of arguments in the parentheses or braces at C. */
static size_t
count_arguments(const char *c)
{
	int depth = 0;
	size_t n = 1;

	for (; *c; c++) {
		depth += (strchr("({[", *c) != NULL) - (strchr(")}]", *c) != NULL);
		if (!depth)
			return n;
		n += *c == ',' && depth == 1;
	}
	return 3;
}

size_t
instance_dimensions(const struct unit_launch *l, const char *expression)
{
	const char *code = l->source->scan.code;
	size_t n = 0, found = 0;

	if (!strncmp(expression, "dim3", 4) && expression[4])
		return count_arguments(expression + 4);
	while (kis_word(expression[n]))
		n++;
	/* An expression of numbers is one number; a name may be anything. */
	if (!n || (expression[n] && expression[n] != '('))
		return 1;
	for (size_t p = l->inside ? l->inside->open : 0; p < l->from; p++) {
		size_t q = p + n;

		if (strncmp(code + p, expression, n) || kis_word(code[q]) ||
		    (p && kis_word(code[p - 1])))
			continue;
		q += strspn(code + q, " \t\n");
		if (code[q] == '.' && strchr("yz", code[q + 1]))
			return 3;
		if (code[q] == '(' || code[q] == '{')
			found = count_arguments(code + q);
		else if (code[q] == '=' &&
		    !strncmp(code + q + 1 + strspn(code + q + 1, " \t"), "dim3", 4))
			found = count_arguments(strpbrk(code + q, "({"));
		else if (code[q] == '=' && !found)
			found = 1;
	}
	return found ? found : 3;
}
