/* SPDX-License-Identifier: Apache-2.0 */
/* instance: see instance.h. */
#include "instance.h"

#include "kio.h"
#include "kregex.h"
#include "types.h"

/* MOST: bytes of template arguments that are looked at. */
enum { OUTWARDS = 4, MOST = 4096 };

/* The parts inside the "<…>" at TEXT; none if there is no such thing. New reference. */
static json_t *
angles(const char *text)
{
	const struct kscan s = kscan_code(text);
	size_t end = *text == '<' ? kscan_angle_end(&s, 0, s.len < MOST ? s.len : MOST) : 0;

	return end > 1 && text[end - 1] == '>' ? kscan_parts(&s, 1, end - 1, true) : json_array();
}

bool
instance_is_null(const struct adopted_unit *u, size_t i)
{
	unit_launches(l, u) {
		json_auto_t *list = kscan_list(l->at->call, true);
		const char *given = kjson_item(list, i);

		if (!given || !kis_one_of("nullptr NULL", given))
			return false;
	}
	return u->launch_count;
}

/* ---- templates ---- */

/*
 * The parameters of the "template<…>" at the beginning of RESULT: for each its "name", its default
 * if one is "given", whether it is a "type", and whether it is "strange": a template, or any number
 * of arguments. New reference.
 */
static json_t *
read_formals(const char *result)
{
	/* "typename T", "int N=4" */
	static const char form[] = "\\A(typename\\b|class\\b)?[^=]*?(\\w*)[^\\w=]*(?:=\\s*((?s).*))"
	                           "?\\z";
	json_auto_t *list = kbegins(result, "template<") ? angles(result + 8) : NULL;
	json_t *formals = json_array();

	kjson_foreach_text(text, list) {
		auto_free char *type = NULL, *name = NULL, *given = NULL;

		kregex_scan(form, text, &type, &name, &given);
		kjson_append(formals, "{s:s,s:s*,s:b,s:b}", "name", name, "given", given, "type",
		    type != NULL, "strange", kregex_is("\\.\\.\\.|\\Atemplate", text));
	}
	return formals;
}

char *
instance_formals(const char *result)
{
	json_auto_t *formals = read_formals(result);
	struct kbuf b = kbuf_empty();

	kjson_foreach(x, formals)
		kbuf_printf(&b, "%s%s", b.len ? ", " : "<", kjson_str(x, "name"));
	kbuf_puts(&b, b.len ? ">" : "");
	return b.data;
}

/* Is TEXT a number, or a type of UNIT's parameters, which are declared before the function? */
static bool
is_known(const json_t *unit, const char *text)
{
	return kjson_find(json_object_get(unit, "parameters"), "type", text) || kis_digit(*text) ||
	    kis_one_of("true false", text);
}

char *
instance_condition(const char *result, const json_t *unit)
{
	auto_free char *given = kregex_part(
	    kshown("(?s)%s(<.*)", kjson_str(unit, "function")), kjson_str(unit, "text"));
	json_auto_t *formals = read_formals(result), *actual = given ? angles(given) : NULL;
	struct kbuf b = kbuf_empty();
	size_t i = 0;

	kjson_foreach(x, formals) {
		const char *text = kjson_item(actual, i++);

		if (text && is_known(unit, text))
			kbuf_printf(&b,
			    kjson_bool(x, "type") ? "%skwatch_same<%s, %s>::yes" : "%s(%s) == (%s)",
			    b.len ? " && " : "", kjson_str(x, "name"), text);
	}
	return b.data;
}

/* A place in the sources where names are resolved. */
struct place {
	const struct unit_source *s;
	const struct kscan_item *f; /* or NULL */
	size_t at;
	int depth;
};

static char *resolve(const struct place *p, const char *text, bool type);

/* The argument for parameter NAME of the template around P, taken from its callers. */
static char *
from_callers(const struct place *p, const char *name)
{
	auto_signature struct kscan_signature g = { 0 };
	json_auto_t *formals = NULL;
	const json_t *x;
	size_t which = 0;
	char *found = NULL;

	if (!p->f || p->depth >= OUTWARDS)
		return NULL;
	g = kscan_signature(p->f);
	formals = read_formals(g.result);
	while ((x = json_array_get(formals, which)) && !kjson_is(x, "name", name))
		which++;
	kforeach_of(s, p->s->all->list, x ? p->s->all->count : 0) {
		kscan_each(at, &s->scan, 0, found ? 0 : s->scan.len, p->f->names[0]) {
			json_auto_t *list = angles(s->scan.code + at + strlen(p->f->names[0]));
			struct place outer = { s, unit_function_at(&s->scan, at), at,
				p->depth + 1 };

			if (kjson_item(list, which) && (outer.f != p->f || outer.s != p->s))
				found =
				    resolve(&outer, kjson_item(list, which), kjson_bool(x, "type"));
		}
	}
	return found;
}

/* TEXT in a form that means the same everywhere: with known types and numbers for names. */
static char *
resolve(const struct place *p, const char *text, bool is_type)
{
	struct types types = { .own = p->s };
	const struct kscan *scans[] = { &p->s->scan };
	struct kscan_scope scope = { .sources = scans, .count = 1, .f = p->f };
	auto_type struct type type = { 0 };
	int64_t n;

	if (kis_one_of("true false", text))
		return kstrdup(text);
	if (!is_type && kscan_number(&scope, text, &n))
		return kasprintf("%lld", (long long)n);
	type = type_find(&types, text, 0);
	/* Under its own name it is known everywhere, so that the wrapper can compare it. */
	if (is_type && type.kind == TYPE_NUMBER && !type.stars && !type.cast)
		return kstrdup(type.name);
	/* "Mode::fast" is an enumerator. */
	if (is_type ? type.kind == TYPE_NUMBER || type.kind == TYPE_RECORD
	            : strstr(text, "::") != NULL)
		return kstrdup(text);
	return from_callers(p, text);
}

/* ---- types of arguments ---- */

/*
 * The declared type of variable NAME in the function around P, before P, without stars; it may be
 * one of a list: "const float *__restrict__ x, *NAME". The caller frees.
 */
static char *
declared_type(const struct place *p, const char *name)
{
	auto_free char *before = kscan_copy(&p->s->scan, p->f ? p->f->open : p->at, p->at),
	               *declared = kasprintf(
	                   "(?x) [;{}(,] \\s*"
	                   "( (?! (?:return|else|case|delete|goto|new|sizeof) \\b )"
	                   "  (?<word> [A-Za-z_][\\w:]* (?: \\s* <[^;{}()]*> )? )"
	                   "  (?: \\s+ (?&word) )* )"
	                   "[\\s*&]+ (?: (?:const|restrict|__restrict|__restrict__)\\b [\\s*&]* )*"
	                   "(?: [^;{}()]* , [\\s*&]* )? %s \\b",
	                   name);

	return kregex_part(declared, before);
}

/*
 * The type of an expression, without its stars, if its first words determine it: a cast, or what is
 * in parentheses; a number; a variable.
 */
static char *
type_of(const struct place *p, const char *expression)
{
	static const char form[] = "(?s)\\A[&*+\\- ]*(?:\\((([^*)]*).*)|(\\d[^,)]*)|(\\w*))";
	auto_free char *inside = NULL, *cast = NULL, *number = NULL, *name = NULL, *type = NULL;
	char *known;

	kregex_scan(form, expression, &inside, &cast, &number, &name);
	if (cast) {
		known = resolve(p, cast, true);
		return known ?: type_of(p, inside);
	}
	if (number)
		return kstrdup(!strchr(number, '.') ? "int"
		        : strchr(number, 'f')       ? "float"
		                                    : "double");
	type = declared_type(p, name);
	return type ? resolve(p, type, true) : NULL;
}

/*
 * The argument for parameter FORMAL of a kernel's template, from the types of a launch's arguments.
 */
static char *
deduce(const struct place *p, const struct kscan_signature *g, const char *formal, const char *call)
{
	json_auto_t *list = kscan_list(call, true);
	char *found = NULL;

	for (size_t i = 0; i < g->count && kjson_item(list, i) && !found; i++)
		if (!strcmp(g->params[i].type, formal))
			found = type_of(p, kjson_item(list, i));
	return found;
}

/* One launch: the arguments of all template parameters, or NULL. */
static json_t *
bind_launch(const struct place *p, const json_t *formals, const struct kscan_signature *g,
    const char *templates, const char *call, struct kbuf *arguments)
{
	json_auto_t *bound = json_object(), *list = angles(templates);
	size_t i = 0;

	arguments->len = 0;
	kjson_foreach(x, formals) {
		const char *given = kjson_item(list, i++), *name = kjson_str(x, "name"),
		           *usual = json_string_value(json_object_get(x, "given"));
		bool type = kjson_bool(x, "type");
		auto_free char *text = given ? resolve(p, given, type)
		    : type                   ? deduce(p, g, name, call)
		                             : NULL;

		if (!text && !given && usual)
			text = kstrdup(usual);
		if (!text)
			return NULL;
		kbuf_printf(arguments, "%s%s", arguments->len ? ", " : "<", text);
		json_object_set_new(bound, name, json_string(text));
	}
	kbuf_puts(arguments, ">");
	return json_incref(bound);
}

/* The same for a call of a function that is not a kernel: "f<float>(". */
static json_t *
bind_call(const struct adopted_unit *u, const json_t *formals, const struct kscan_signature *g,
    struct kbuf *arguments)
{
	json_t *bound = NULL;

	kforeach_list(source, u->source->all) {
		const struct kscan *s = &source->scan;

		kscan_each(at, s, 0, bound ? 0 : s->len, u->name) {
			struct place p = { source, unit_function_at(s, at), at, 0 };
			const char *c = s->code + at + strlen(u->name);
			size_t call = strcspn(c, "(;{}");
			auto_free char *templates = kstrndup(c, call), *rest = NULL;

			if (c[call] != '(' || !p.f || at < p.f->body ||
			    !strcmp(p.f->names[0], u->name))
				continue;
			rest = kuntil(c + call + 1, ";{}");
			if (strrchr(rest, ')'))
				*strrchr(rest, ')') = '\0';
			bound = bind_launch(&p, formals, g, templates + strspn(templates, " \t\n"),
			    rest, arguments);
		}
	}
	return bound;
}

json_t *
instance_bind(const struct adopted_unit *u, const struct kscan_signature *g, struct kbuf *arguments,
    struct kbuf *why)
{
	json_auto_t *formals = read_formals(g->result);
	json_t *bound = NULL;
	bool strange = kany(kjson_foreach(x, formals), kjson_bool(x, "strange"));

	if (!json_array_size(formals))
		return kscan_template(g) ? json_object() : NULL;
	if (strange)
		kbuf_puts(why, "its template takes any number of arguments, or templates\n");
	kforeach_of(l, u->launches, strange ? 0 : u->launch_count) {
		struct place p = { l->source, l->inside, l->at->at, 0 };
		auto_buf struct kbuf more = { 0 };
		json_auto_t *own = bind_launch(
		    &p, formals, g, l->at->arguments, l->at->call, bound ? &more : arguments);

		bound = bound ?: json_incref(own);
		l->other = !own || !json_equal(own, bound);
	}
	if (!u->kernel && !strange)
		bound = bind_call(u, formals, g, arguments);
	if (!bound && !strange && (!u->kernel || u->launch_count))
		kbuf_printf(why,
		    "it is a template, and no %s shows its arguments; "
		    "write them there, as in %s<float>\n",
		    u->kernel ? "launch" : "call", u->name);
	if (!bound)
		arguments->len = 0;
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

const char *
instance_part(const struct unit_launch *l, const char *what)
{
	return *what == 'g'  ? l->at->grid
	    : *what == 'b'   ? l->at->block
	    : *l->at->shared ? l->at->shared
	                     : "0";
}

char *
instance_constant(const struct adopted_unit *u, const char *what)
{
	const struct unit_sources *sources = u->source->all;
	auto_free const struct kscan **scans = kcalloc(sources->count + 1, sizeof *scans);
	int64_t first[3] = { 0 };
	bool same = u->launch_count > 0;

	for (size_t i = 0; i < sources->count; i++)
		scans[i + 1] = &sources->list[i].scan;
	unit_launches(l, u) {
		struct kscan_scope scope = { scans, sources->count + 1, .f = l->inside };
		int64_t t[3] = { 0 };

		scans[0] = &l->source->scan;
		same = same && kscan_dim3(&scope, instance_part(l, what), t) &&
		    (l == u->launches || !memcmp(first, t, sizeof t));
		memcpy(first, t, sizeof t);
	}
	return same ? triple_text(first) : NULL;
}

/* Number of arguments in the parentheses or braces at OPEN in TEXT. */
static size_t
count_arguments(const char *text, size_t open)
{
	const struct kscan s = kscan_code(text);
	json_auto_t *list = kscan_parts(&s, open + 1, kscan_close(&s, open, s.len), false);

	return json_array_size(list) ?: 1;
}

size_t
instance_dimensions(const struct unit_launch *l, const char *expression)
{
	/* An expression of numbers is one number; a name may be anything. */
	auto_free char *name = kregex_part("\\A([A-Za-z_]\\w*)(?:\\(|\\z)", expression),
	               *before =
	                   kscan_copy(&l->source->scan, l->inside ? l->inside->open : 0, l->at->at);
	struct kregex_span at[2];

	if (kbegins(expression, "dim3") && expression[4])
		return count_arguments(expression, 4);
	if (!name)
		return 1;
	if (kregex_is(kshown("\\b%s\\s*\\.[yz]\\b", name), before))
		return 3;
	if (kregex_match(kshown("(?s).*\\b%s\\s*(?:=\\s*dim3\\s*)?([({])", name), before, at))
		return count_arguments(before, at[1].from);
	return kregex_is(kshown("\\b%s\\s*=", name), before) ? 1 : 3;
}
