/* SPDX-License-Identifier: Apache-2.0 */
/* kscan: see kscan.h. Here: places in the text, and its items. */
#include "kscan.h"

#include "kio.h"
#include "kregex.h"
#include "ktoken.h"

/* How deep groups may be nested. */
enum { DEPTH = 64 };

/*
 * What expressions name: brackets with all between, "<…>", an attribute with its parentheses, a
 * line of the preprocessor, "template<…>", words that are no names, words, and what stands before
 * the name of a pointer to functions or arrays: "(*f)(int)", "(CALL *f)(int)". What a function
 * "f(T *x)" has there is a parameter.
 */
#define GRAMMAR \
	"(?(DEFINE)(?<group>[([{](?:[^][(){}]++|(?&group))*+[])}])" \
	"(?<angle><(?:[^<>;{]++|(?&angle))*+>)" \
	"(?<attribute>\\b(?:" KSCAN_ATTRIBUTES "|decltype|typeof|__typeof__)\\b" \
	"(?:\\s*(?=\\()(?&group))?+|\\[\\[[^]]*\\]\\])" \
	"(?<line>(?m:^)[ \\t]*#[^\\n]*+)" \
	"(?<template>\\btemplate\\s*(?:(?&angle)|<[^;{]*+))" \
	"(?<keyword>\\b(?:static|extern|const|constexpr|inline|__inline__|typedef|struct|" \
	"union|enum|class|using|volatile|restrict|__restrict__|__restrict|register|" \
	"unsigned|signed|int|char|short|long|float|double|void|bool|_Bool|template|" \
	"typename|namespace|__device__|__host__|__global__|__shared__|__constant__|" \
	"__forceinline__|_Thread_local|thread_local|auto)\\b)" \
	"(?<name>\\b[A-Za-z_]\\w*+)" \
	"(?<star>(?:(?=(?&group)\\s*[([])\\(\\s*\\w+\\s*|\\(\\s*)" \
	"\\*[\\s*]*(?:const\\s+)?(?=[A-Za-z_])))"
/* The group that an expression after that has first. */
enum { FOUND = 9 };

/* ---- places ---- */

size_t
kscan_blank(const struct kscan *s, size_t p, size_t to)
{
	while (p < to && kis_space(s->code[p]))
		p++;
	return p;
}

size_t
kscan_back(const struct kscan *s, size_t p, size_t from)
{
	while (p > from && kis_space(s->code[p - 1]))
		p--;
	return p;
}

size_t
kscan_word(const struct kscan *s, size_t p, size_t to)
{
	while (p < to && kis_word(s->code[p]))
		p++;
	return p;
}

size_t
kscan_next(const struct kscan *s, size_t p, size_t to)
{
	return kscan_blank(s, kscan_word(s, p, to), to);
}

bool
kscan_among(const struct kscan *s, size_t p, size_t end, const char *words)
{
	return kis_listed(words, s->code + p, end - p);
}

/* End of the line at P, after its newline. */
static size_t
line_end(const struct kscan *s, size_t p, size_t to)
{
	const char *end = memchr(s->code + p, '\n', to - p);

	return end ? (size_t)(end + 1 - s->code) : to;
}

static bool
is_one_of(char c, const char *list)
{
	return c && strchr(list, c);
}

/* Is there a '#' at P, and nothing before it in its line? */
static bool
is_directive(const struct kscan *s, size_t p)
{
	if (s->code[p] != '#')
		return false;
	while (p > 0 && (s->code[p - 1] == ' ' || s->code[p - 1] == '\t'))
		p--;
	return p == 0 || s->code[p - 1] == '\n';
}

size_t
kscan_branch(const struct kscan *s, size_t p, size_t to, enum kscan_branch *b)
{
	static const char line[] = "(?m)^[ \\t]*(#)[ \\t]*(?:(if(?:n?def)?)|(else|elif)|endif)\\b";
	struct kregex_span at[4];
	bool found = p < to && kregex_find(line, s->code + p, to - p, at, LEN(at));

	*b = !found                      ? KSCAN_NO_BRANCH
	    : at[2].from != KREGEX_UNSET ? KSCAN_IF
	    : at[3].from != KREGEX_UNSET ? KSCAN_ELSE
	                                 : KSCAN_ENDIF;
	return found ? p + at[1].from : to;
}

/* What the line of the preprocessor at P does; KSCAN_NO_BRANCH if there is none. */
static enum kscan_branch
branch_of(const struct kscan *s, size_t p, size_t to)
{
	enum kscan_branch b = KSCAN_NO_BRANCH;

	if (p < to && is_directive(s, p))
		kscan_branch(s, p, line_end(s, p, to), &b);
	return b;
}

/* The next branch of the group whose #if or #else is at P, and what it does; TO: none. */
static size_t
next_branch(const struct kscan *s, size_t p, size_t to, enum kscan_branch *b)
{
	size_t depth = 0;

	for (p = line_end(s, p, to);
	     (p = kscan_branch(s, p, to, b)) < to && (depth || *b == KSCAN_IF);
	     p = line_end(s, p, to))
		depth += (size_t)(*b == KSCAN_IF) - (*b == KSCAN_ENDIF);
	return p;
}

/* After the #endif for the #if at P; TO when there is none. */
static size_t
group_end(const struct kscan *s, size_t p, size_t to, bool *closed)
{
	enum kscan_branch b = KSCAN_IF;

	while (p < to && b != KSCAN_ENDIF)
		p = next_branch(s, p, to, &b);
	*closed &= p < to;
	return line_end(s, p, to);
}

size_t
kscan_close(const struct kscan *s, size_t p, size_t to)
{
	/* Alternatives count once: each begins at the depth where its group began. */
	int depth = 0, before[DEPTH];
	size_t groups = 0;

	for (; p < to; p++) {
		if (is_directive(s, p)) {
			enum kscan_branch b = branch_of(s, p, to);

			if (b == KSCAN_IF && groups < DEPTH)
				before[groups++] = depth;
			else if (b == KSCAN_ELSE && groups)
				depth = before[groups - 1];
			groups -= b == KSCAN_ENDIF && groups;
			p = line_end(s, p, to) - 1;
			continue;
		}
		depth += is_one_of(s->code[p], "([{") - is_one_of(s->code[p], ")]}");
		if (depth <= 0)
			return p;
	}
	return to;
}

size_t
kscan_open(const struct kscan *s, size_t p, size_t from, size_t *commas)
{
	*commas = 0;
	for (int depth = 1; p > from && depth;) {
		p--;
		depth += (s->code[p] == ')') - (s->code[p] == '(');
		*commas += depth == 1 && s->code[p] == ',';
	}
	return p;
}

size_t
kscan_after(const struct kscan *s, size_t p, size_t to)
{
	if (kis_word(s->code[p]))
		return kscan_word(s, p, to);
	if (is_directive(s, p))
		return line_end(s, p, to);
	if (strchr("([{", s->code[p]) && s->code[p])
		p = kscan_close(s, p, to);
	return p < to ? p + 1 : to;
}

size_t
kscan_part(const struct kscan *s, size_t p, size_t to, bool angles)
{
	int depth = 0;

	for (; p < to && (s->code[p] != ',' || depth > 0); p = kscan_after(s, p, to))
		if (angles && !(s->code[p] == '>' && p && s->code[p - 1] == '-'))
			depth += (s->code[p] == '<') - (s->code[p] == '>');
	return p;
}

size_t
kscan_angle_end(const struct kscan *s, size_t p, size_t to)
{
	int depth = 0;

	for (; p < to && !strchr(";{", s->code[p]); p++) {
		depth += (s->code[p] == '<') - (s->code[p] == '>');
		if (s->code[p] == '>' && depth == 0)
			return p + 1;
	}
	return p;
}

size_t
kscan_find(const struct kscan *s, size_t from, size_t to, const char *name)
{
	kscan_words(at, end, s, from, to)
		if (kscan_among(s, at, end, name))
			return at;
	return to;
}

bool
kscan_identifier(const struct kscan *s, size_t *at, size_t to, size_t *end)
{
	for (; *at<to; *at = *end> * at ? *end : *at + 1) {
		*end = kscan_word(s, *at, to);
		if (kscan_begins_word(s->code[*at]))
			return true;
	}
	return false;
}

bool
kscan_uses(const struct kscan *s, size_t from, size_t to, const char *name)
{
	return kscan_find(s, from, to, name) < to;
}

bool
kscan_stands(const struct kscan *s, size_t p, const char *text)
{
	return kbegins(s->code + p, text);
}

bool
kscan_is_member(const struct kscan *s, size_t p)
{
	return (p > 0 && s->code[p - 1] == '.') || (p > 1 && kscan_stands(s, p - 2, "->"));
}

bool
kscan_assigns(const struct kscan *s, size_t p, size_t to)
{
	return p < to &&
	    kscan_matches(
	        s, p, to, "\\A\\s*(?:\\.[xyz]\\s*)?(?:=(?!=)|(?:<<|>>|[-+*/%&|^])=|\\+\\+|--)");
}

bool
kscan_matches(const struct kscan *s, size_t from, size_t to, const char *pattern)
{
	return kregex_find(pattern, s->code + from, to - from, NULL, 0);
}

bool
kscan_mentions(const struct kscan_item *x, const char *name)
{
	return kscan_uses(x->in, x->from, x->to, name);
}

bool
kscan_looks(const struct kscan_item *x, const char *pattern)
{
	return kscan_matches(x->in, x->from, x->to, pattern);
}

char *
kscan_copy(const struct kscan *s, size_t from, size_t to)
{
	return kstrndup(s->code + from, to - from);
}

char *
kscan_tidy(const struct kscan *s, size_t from, size_t to)
{
	auto_free char *code = kscan_copy(s, from, to),
	               *close = kregex_sub("(?<![\\w\\s])\\s++|\\s++(?!\\w)", code, "");

	return kregex_sub("\\s+", close, " ");
}

json_t *
kscan_parts(const struct kscan *s, size_t from, size_t to, bool angles)
{
	json_t *list = json_array();

	for (size_t p = from, end; p <= to; p = end + 1) {
		size_t begin = kscan_blank(s, p, to);

		end = kscan_part(s, p, to, angles);
		if (begin < to || p > from)
			json_array_append_new(
			    list, kjson_text(s->text + begin, kscan_back(s, end, begin) - begin));
	}
	return list;
}

json_t *
kscan_list(const char *text, bool angles)
{
	const struct kscan s = kscan_code(text);

	return kscan_parts(&s, 0, s.len, angles);
}

/* ---- items ---- */

/* Does a comment that began before FROM end before TO? */
static bool
is_within_comment(const struct kscan *s, size_t from, size_t to)
{
	const char *end = memmem(s->text + from, to - from, "*/", 2),
	           *begin = memmem(s->text + from, to - from, "/*", 2);

	return end && (!begin || end < begin);
}

/*
 * Where the comment right above an item begins: full comment lines, with no blank line between. Not
 * before BACK.
 */
static size_t
lead_of(const struct kscan *s, size_t from, size_t back)
{
	size_t line = from, lead = from, above;

	while (line > back && s->text[line - 1] != '\n')
		line--;
	if (line == back && back && s->text[line - 1] != '\n')
		return from;
	for (lead = line; lead > back; lead = above) {
		for (above = lead - 1; above > back && s->text[above - 1] != '\n';)
			above--;
		if (kscan_blank(s, above, lead) < lead ||
		    (above + strspn(s->text + above, " \t\r\f\v\n") >= lead &&
		        !is_within_comment(s, lead, from)))
			break;
	}
	return lead;
}

static void
add_name(struct kscan_item *x, char *name)
{
	*kadded(x->names, x->name_count) = name;
}

/* "operator bool" is not an identifier, so it gets no blank either. */
static void
add_word(struct kscan_item *x, const struct kscan *s, size_t p, size_t end)
{
	auto_free char *name = kscan_tidy(s, p, end);

	add_name(x, kregex_sub(" ", name, ""));
}

/* Takes X over. */
static struct kscan_item *
put_item(struct kscan *s, struct kscan_item x)
{
	size_t back = s->count ? s->items[s->count - 1].to : 0;
	struct kscan_item *place = kadded(s->items, s->count);

	x.in = s->whole ?: s;
	x.lead = lead_of(s, x.from, back > x.from ? x.from : back);
	*place = x;
	return place;
}

static struct kscan_item *
add_item(struct kscan *s, enum kscan_kind kind, size_t from, size_t to, size_t depth)
{
	return put_item(
	    s, (struct kscan_item){ .kind = kind, .from = from, .to = to, .depth = depth });
}

/* The names in the code from P to TO that FORM finds, one after the other. */
static void
add_names(struct kscan_item *x, const struct kscan *s, size_t p, size_t to, const char *form)
{
	struct kregex_span at[FOUND + 1];

	for (; kregex_find(form, s->code + p, to - p, at, LEN(at)); p += at->to)
		add_word(x, s, p + at[FOUND].from, p + at[FOUND].to);
}

/*
 * Names of a declaration: words before a ',', ';', '=', '[', '(' or the '{' of a tag, outside
 * brackets and initialisers; up to a prototype, or a C++ variable with arguments. And enumerators.
 */
static void
name_declaration(const struct kscan *s, struct kscan_item *x)
{
	static const char form[] = GRAMMAR
	    "(?|(?:(?&line)|(?&template)|(?&attribute)|=(?:[^][(){},;]++|(?&group))*+)(*SKIP)(*F)|"
	    "\\b(?:struct|union|enum|class)\\b(?:\\s*(?:(?&attribute)|(?&keyword)))*\\s*((?&name))"
	    "(?=\\s*[{:<])|"
	    "(?:(?&keyword)|(?&name)(?=\\s*(?&star)))(*SKIP)(*F)|"
	    "((?&name))(?=\\s*(?:(?:(?&line)\\s*)*[;,=[]|(?&attribute)|\\z))|"
	    "((?&name))\\s*\\((?s).*|(?&star)((?&name))(?s).*|"
	    "(?:\\w++|(?&group))(*SKIP)(*F)|[([{](*COMMIT)(*F))",
	                  enumerators[] = GRAMMAR "(?|(?:\\A\\{|,)(?:\\s*+(?&line))*+\\s*((?&name))"
	                                          "|"
	                                          "(?:(?&line)|(?&group))(*SKIP)(*F))",
	                  braces[] = GRAMMAR "\\A(?:(?&line)|[^{=(])*?\\benum\\b(?:(?&line)|[^{=(;]"
	                                     ")*(\\{)";
	struct kregex_span at[FOUND + 1];
	size_t open;

	add_names(x, s, x->from, x->to, form);
	if (kregex_find(braces, s->code + x->from, x->to - x->from, at, LEN(at))) {
		open = x->from + at[FOUND].from;
		add_names(x, s, open, kscan_close(s, open, x->to), enumerators);
	}
}

/*
 * The name of the function X whose body begins at BODY: the word before the first parenthesis that
 * does not belong to an attribute, or to a macro that makes the function's type, "static
 * NEVER_INLINE(float *) f(int a) {", before which nothing can be a type. The sign of "operator+" or
 * "operator()" is a part of the name. Returns where it ends; 0: there is none.
 */
static size_t
function_name(const struct kscan *s, size_t body, struct kscan_item *x)
{
	static const char form[] = GRAMMAR
	    "\\A(?:(?:static|inline|extern|__inline|__inline__)\\b\\s*)*+"
	    "(?:(?!(?&attribute)|(?&keyword))(?&name)\\s*(?=\\()(?&group)\\s*"
	    "(?!(?&attribute)|(?:noexcept|throw|requires)\\b)(?=(?&name)\\s*\\())?+"
	    "(?:(?&line)|(?&template)|(?&attribute)|(?&keyword)|\\d\\w*+|"
	    "(?!operator\\b)(?&name)(?!\\s*(?&angle)?+\\s*\\()|(?!\\{)(?&group)|[^=({[\\w])*+"
	    "(operator\\b(?:\\s*\\(\\s*\\)|[^(]*+)|(?&name))\\s*(?&angle)?+\\s*\\(";
	struct kregex_span at[FOUND + 1];

	if (!kregex_find(form, s->code + x->from, body - x->from, at, LEN(at)))
		return 0;
	x->name_at = x->from + at[FOUND].from;
	x->open = x->from + at->to - 1;
	return x->from + at[FOUND].to;
}

/* The kind of item whose brace is at P; for a function, X gets its parts. */
static enum kscan_kind
kind_at_brace(const struct kscan *s, size_t p, struct kscan_item *x)
{
	size_t end, path;

	if (kscan_matches(
	        s, x->from, p, "\\A(?:(?:inline\\s+)?namespace\\b|extern\\s*\"[^\"]*\"\\s*\\z)"))
		return KSCAN_OPEN;
	end = function_name(s, p, x);
	if (!end)
		return KSCAN_DECLARATION;
	x->body = p;
	add_word(x, s, x->name_at, end);
	path = kscan_path_start(s, x->from, x->name_at);
	if (path < x->name_at)
		add_word(x, s, path, end);
	return KSCAN_FUNCTION;
}

/*
 * Does the ';' at P end a parameter of an old-style definition, "f(a, b) int a; double *b; {"? Then
 * its parentheses contain only names, and only declarations without parentheses come before the
 * brace.
 */
static bool
is_old_style(const struct kscan *s, size_t from, size_t p, size_t to)
{
	struct kscan_item x = { .from = from };

	return function_name(s, p, &x) &&
	    kscan_matches(s, x.open, to,
	        "\\A\\((?:\\s*\\w+\\s*(?:,|(?=\\))))+\\)\\s*[A-Za-z_][\\w\\s*,;\\[\\]]*;\\s*\\{");
}

/*
 * Can more follow the braces at BRACE of the declaration from FROM? A type may be followed by
 * names, and an initialiser by other variables; anything else ends there.
 */
static bool
may_go_on(const struct kscan *s, size_t from, size_t brace)
{
	return kscan_matches(s, from, brace, "=|\\b(?:struct|union|enum|class|typedef)\\b|\\w\\z");
}

size_t
kscan_path_start(const struct kscan *s, size_t from, size_t p)
{
	struct kregex_span at[1];

	return kregex_find("(?:\\w++::)++\\z", s->code + from, p - from, at, 1) ? from + at->from
	                                                                        : p;
}

/* The declaration or function at P; returns its end. */
static size_t
scan_item(struct kscan *s, size_t p, size_t to, size_t depth)
{
	struct kscan_item x = { .kind = KSCAN_DECLARATION, .from = p, .depth = depth };
	bool ended = false;

	if (kscan_among(s, p, kscan_word(s, p, to), "template"))
		p = kscan_angle_end(s, kscan_word(s, p, to), to);
	/* A '}' after a macro closes what is around it. */
	while (p < to && !ended && s->code[p] != '}') {
		size_t at = p;
		char c = s->code[p];

		p = kscan_after(s, p, to);
		if (c == '{' && (x.kind = kind_at_brace(s, at, &x)) == KSCAN_OPEN)
			p = at + 1;
		else if (p >= to && (c == '{' || (c == '(' && s->code[to - 1] != ';')))
			s->unclosed |= kscan_close(s, at, to) >= to;
		ended = c == ';'
		    ? !is_old_style(s, x.from, at, to)
		    : c == '{' && (x.kind != KSCAN_DECLARATION || !may_go_on(s, x.from, at));
	}
	x.to = p;
	if (x.kind == KSCAN_DECLARATION)
		name_declaration(s, &x);
	put_item(s, x);
	return p;
}

static void scan_range(struct kscan *s, size_t p, size_t to);

/*
 * Everything that any branch of the group X declares becomes a name of the group; not what is in
 * the bodies of functions, even between conditions there.
 */
static void
name_group(const struct kscan *s, struct kscan_item *x)
{
	struct kscan inner = { .text = s->text, .code = s->code, .len = s->len, .through = true };

	scan_range(&inner, line_end(s, x->from, x->to), x->to);
	kscan_items(y, &inner)
		kforeach_of(name, y->names, y->kind == KSCAN_INCLUDE ? 0 : y->name_count)
			add_name(x, kstrdup(*name));
	inner.code = NULL;
	kscan_free(&inner);
}

static size_t
scan_directive(struct kscan *s, size_t p, size_t to, size_t depth)
{
	static const char named[] = "\\A#[ \\t]*(?:include\\s*(?:<([^>\\n]*)|\"([^\"\\n]*))|"
	                            "define\\b\\s*([A-Za-z_]\\w*))";
	size_t next = line_end(s, p, to);
	struct kregex_span at[4] = { [1] = { KREGEX_UNSET } };
	struct kscan_item *x;
	bool closed = true, found;

	if (branch_of(s, p, to) == KSCAN_IF && !s->through) {
		next = group_end(s, p, to, &closed);
		s->unclosed |= !closed;
		name_group(s, add_item(s, KSCAN_GROUP, p, next, depth));
		return next;
	}
	found = kregex_find(named, s->text + p, next - p, at, LEN(at));
	x = add_item(s,
	    !found                           ? KSCAN_DIRECTIVE
	        : at[3].from != KREGEX_UNSET ? KSCAN_MACRO
	                                     : KSCAN_INCLUDE,
	    p, next, depth);
	x->system = at[1].from != KREGEX_UNSET;
	for (size_t i = 1; found && i < LEN(at); i++)
		if (at[i].from != KREGEX_UNSET)
			add_name(x, kregex_text(s->text + p, at[i]));
	return next;
}

/* After "public:" and the like at P, and blanks; or P. */
static size_t
behind_label(const struct kscan *s, size_t p, size_t to)
{
	size_t end = kscan_word(s, p, to), colon = kscan_blank(s, end, to);

	return kscan_among(s, p, end, "public private protected") && s->code[colon] == ':'
	    ? kscan_blank(s, colon + 1, to)
	    : p;
}

/*
 * The end of the group at P if it stops within a declaration, as one that only chooses the type of
 * the function after it; otherwise 0.
 */
static size_t
begun_end(const struct kscan *s, size_t p, size_t to)
{
	/* A word at the end of a line, and then only lines of the preprocessor. */
	static const char begun[] = GRAMMAR "(?m:^)(?![ \\t]*#)[^\\n]*\\w\\s*(?:(?&line)\\s*)+\\z";
	bool closed = true;
	size_t end, after;

	if (s->through || branch_of(s, p, to) != KSCAN_IF)
		return 0;
	end = group_end(s, p, to, &closed);
	after = kscan_blank(s, end, to);
	return closed && after < to && kis_word(s->code[after]) && kscan_matches(s, p, end, begun)
	    ? after
	    : 0;
}

static void
scan_range(struct kscan *s, size_t p, size_t to)
{
	size_t depth = 0;

	while ((p = behind_label(s, kscan_blank(s, p, to), to)) < to) {
		bool directive = is_directive(s, p);
		size_t back = s->count ? s->items[s->count - 1].to : 0, first = p,
		       begun = directive ? begun_end(s, p, to) : p;

		if (directive && !begun) {
			p = scan_directive(s, p, to, depth);
		} else if (s->code[p] == '}') {
			depth -= depth > 0;
			add_item(s, KSCAN_CLOSE, p, p + 1, depth);
			p++;
		} else if (s->code[p] == ';') {
			p++;
		} else {
			p = scan_item(s, begun, to, depth);
			s->items[s->count - 1].lead = lead_of(s, first, back);
			depth += s->items[s->count - 1].kind == KSCAN_OPEN;
		}
	}
}

/*
 * The range inside an include guard that begins at *HEAD, before which there are only includes, and
 * goes on to the end of the text.
 */
static void
look_through_guard(const struct kscan *s, size_t *head, size_t *from, size_t *to)
{
	static const char guard[] = "\\A(?:\\s*#[ \\t]*(?:include|pragma)\\b[^\\n]*\\n)*"
	                            "\\s*(#)[ \\t]*if(?:ndef\\s+|\\s*!\\s*defined[ "
	                            "\\t(]*)(\\w+)[^\\n]*\\n"
	                            "\\s*#[ \\t]*define\\s+\\2\\b";
	struct kregex_span at[3];
	bool closed = true;

	if (!kregex_find(guard, s->code, s->len, at, LEN(at)) ||
	    kscan_blank(s, group_end(s, at[1].from, s->len, &closed), s->len) < s->len || !closed)
		return;
	*head = at[1].from;
	*from = line_end(s, at[0].to, s->len);
	*to = (size_t)((char *)memrchr(s->code, '#', s->len) - s->code);
}

/* Blanks everything between "#if 0" and its #else or #endif. */
static void
blank_disabled(struct kscan *s)
{
	enum kscan_branch b;

	for (size_t at = 0; (at = kscan_branch(s, at, s->len, &b)) < s->len;) {
		size_t p = line_end(s, at, s->len), end = next_branch(s, at, s->len, &b);
		bool disabled = kscan_matches(s, at, p, "\\A#[ \\t]*if[ \\t]+0\\s*\\z");

		for (at = p; disabled && p < end; p++)
			if (s->code[p] != '\n')
				s->code[p] = ' ';
	}
}

/* Takes over the functions of IN, the inside of the type X. */
static void
take_members(struct kscan *s, const struct kscan_item *x, struct kscan *in)
{
	kforeach_of(f, in->items, in->count) {
		if (f->kind != KSCAN_FUNCTION)
			continue;
		add_name(f, kasprintf("%s::%s", x->names[0], f->names[0]));
		f->depth = x->depth + 1;
		*kadded(s->members, s->member_count) = *f;
		f->names = NULL;
		f->name_count = 0;
	}
}

static void
scan_members(struct kscan *s)
{
	kscan_items(x, s) {
		auto_scan struct kscan in = { 0 };

		if (x->kind == KSCAN_DECLARATION && x->name_count &&
		    !kscan_among(s, x->from, kscan_word(s, x->from, x->to), "template") &&
		    kscan_mentions(x, "struct class") && kscan_inside(x, &in))
			take_members(s, x, &in);
	}
}

/* A line that ends in a backslash goes on as if it were one with the next. */
static void
blank_continuations(struct kscan *s)
{
	struct kregex_span at[1];

	for (size_t p = 0; kregex_find("\\\\\r?\n", s->text + p, s->len - p, at, 1); p += at->to)
		memset(s->code + p + at->from, ' ', at->to - at->from);
}

void
kscan_bytes(const char *text, size_t len, bool through, struct kscan *s)
{
	size_t head = 0, from = 0, to = len;

	*s = (struct kscan){ .text = text,
		.code = ktoken_strip(text, len, KTOKEN_C),
		.len = len,
		.items = kmalloc(sizeof *s->items),
		.through = through };
	blank_continuations(s);
	blank_disabled(s);
	look_through_guard(s, &head, &from, &to);
	scan_range(s, 0, head);
	if (from < to)
		scan_range(s, from, to);
	scan_members(s);
	kscan_find_launches(s);
}

static void
free_items(struct kscan_item *items, size_t count)
{
	kforeach_of(x, items, count) {
		kforeach_of(name, x->names, x->name_count)
			free(*name);
		free(x->names);
	}
	free(items);
}

void
kscan_free(struct kscan *s)
{
	free_items(s->items, s->count);
	free_items(s->members, s->member_count);
	kscan_free_launches(s);
	free(s->code);
	*s = (struct kscan){ 0 };
}

/* ---- names ---- */

const char *
kscan_whole(const struct kscan_item *x)
{
	return x->name_count ? x->names[x->name_count - 1] : "";
}

const char *
kscan_plain(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon ? colon + 1 : name;
}

char *
kscan_path(const char *name)
{
	size_t n = (size_t)(kscan_plain(name) - name);

	return kstrndup(name, n ? n - 2 : 0);
}

bool
kscan_has_path(const char *name)
{
	return kscan_plain(name) != name;
}

bool
kscan_inside(const struct kscan_item *x, struct kscan *in)
{
	const struct kscan *s = x->in;
	const char *brace = memchr(s->code + x->from, '{', x->to - x->from);
	size_t body = brace ? (size_t)(brace + 1 - s->code) : x->to;

	*in = (struct kscan){
		.text = s->text, .code = s->code, .len = s->len, .through = s->through, .whole = s
	};
	scan_range(in, body, x->to);
	in->code = NULL;
	/* A comment above X is not that of what begins in the same line. */
	if (in->count && in->items[0].lead < body)
		in->items[0].lead = body;
	return brace;
}

bool
kscan_declares(const struct kscan_item *x, const char *name)
{
	return x->kind != KSCAN_INCLUDE &&
	    kany(kforeach_of(own, x->names, x->name_count), !strcmp(*own, name));
}

const struct kscan_item *
kscan_function(const struct kscan *s, const char *name)
{
	for (size_t i = s->count; i-- > 0;)
		if (s->items[i].kind == KSCAN_FUNCTION && kscan_declares(&s->items[i], name))
			return &s->items[i];
	for (size_t i = s->member_count; i-- > 0;)
		if (!strcmp(kscan_whole(&s->members[i]), name))
			return &s->members[i];
	return NULL;
}

const struct kscan_item *
kscan_at(const struct kscan *s, size_t at)
{
	kscan_items(x, s)
		if (x->from <= at && at < x->to)
			return x;
	return NULL;
}

bool
kscan_has_word(const struct kscan_item *x, const char *words)
{
	const struct kscan *s = x->in;
	/* The apparent name may be a macro that makes whole functions. */
	size_t end = x->kind == KSCAN_FUNCTION ? x->name_at : x->to,
	       head = x->kind == KSCAN_FUNCTION ? x->open : x->to;

	/* "INLINE int f(...)", if INLINE is "static inline". */
	return kscan_uses(s, x->from, end, words) ||
	    kany(kscan_items(m, s),
	        m->kind == KSCAN_MACRO && m != x && kscan_uses(s, x->from, head, m->names[0]) &&
	            kscan_mentions(m, words));
}
