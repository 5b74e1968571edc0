/* SPDX-License-Identifier: Apache-2.0 */
/* kscan: see kscan.h. */
#include "kscan.h"

#include "ktoken.h"

enum { DEPTH = 64, CHAIN = 32 };

static bool
begins_word(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static size_t
skip_blank(const struct kscan *s, size_t p, size_t to)
{
	while (p < to && isspace((unsigned char)s->code[p]))
		p++;
	return p;
}

static size_t
word_end(const struct kscan *s, size_t p, size_t to)
{
	while (p < to && kis_word(s->code[p]))
		p++;
	return p;
}

static bool
is_text(const struct kscan *s, size_t p, size_t end, const char *word)
{
	return end - p == strlen(word) && !memcmp(s->code + p, word, end - p);
}

/* Attributes and the like: parentheses after one of these declare nothing. */
static bool
is_attribute(const struct kscan *s, size_t p, size_t end)
{
	return kis_listed("__attribute__ __attribute alignas _Alignas __align__ __declspec "
	                  "__launch_bounds__ __cluster_dims__ decltype typeof __typeof__ asm "
	                  "__asm__ _Static_assert static_assert sizeof",
	    s->code + p, end - p);
}

static bool
is_type_of(const struct kscan *s, size_t p, size_t end)
{
	return kis_listed("decltype typeof __typeof__", s->code + p, end - p);
}

static bool
is_keyword(const struct kscan *s, size_t p, size_t end)
{
	return kis_listed("static extern const constexpr inline __inline__ typedef struct union "
	                  "enum class using volatile restrict __restrict__ __restrict register "
	                  "unsigned signed int char short long float double void bool _Bool "
	                  "template typename namespace __device__ __host__ __global__ __shared__ "
	                  "__constant__ __forceinline__ _Thread_local thread_local auto _Alignas "
	                  "alignas __attribute__ __align__",
	    s->code + p, end - p);
}

/*
 * End of the preprocessor line at P, after its newline, including lines continued with a backslash.
 */
static size_t
line_end(const struct kscan *s, size_t p, size_t to)
{
	while (p < to && s->code[p] != '\n') {
		if (s->text[p] == '\\' && p + 1 < to && s->text[p + 1] == '\n')
			p++;
		p++;
	}
	return p < to ? p + 1 : to;
}

/* The word after the '#' at P. */
static size_t
directive_word(const struct kscan *s, size_t p, size_t to, size_t *end)
{
	p++;
	while (p < to && (s->code[p] == ' ' || s->code[p] == '\t'))
		p++;
	*end = word_end(s, p, to);
	return p;
}

static bool
at_line_start(const struct kscan *s, size_t p)
{
	while (p > 0 && (s->code[p - 1] == ' ' || s->code[p - 1] == '\t'))
		p--;
	return p == 0 || s->code[p - 1] == '\n';
}

enum branch { NO_BRANCH, BRANCH_IF, BRANCH_ELSE, BRANCH_END };

static enum branch
branch_of(const struct kscan *s, size_t p, size_t to)
{
	size_t end, word = directive_word(s, p, to, &end);

	if (kis_listed("if ifdef ifndef", s->code + word, end - word))
		return BRANCH_IF;
	if (kis_listed("else elif", s->code + word, end - word))
		return BRANCH_ELSE;
	return is_text(s, word, end, "endif") ? BRANCH_END : NO_BRANCH;
}

/* After the #endif for the #if at P; TO when there is none. */
static size_t
group_end(const struct kscan *s, size_t p, size_t to, bool *closed)
{
	size_t depth = 0;

	while (p < to) {
		p = skip_blank(s, p, to);
		if (p < to && s->code[p] == '#' && at_line_start(s, p)) {
			enum branch b = branch_of(s, p, to);

			p = line_end(s, p, to);
			depth += b == BRANCH_IF;
			if (b == BRANCH_END && --depth == 0)
				return p;
			continue;
		}
		while (p < to && s->code[p] != '\n')
			p++;
	}
	*closed = false;
	return to;
}

/*
 * Nesting depth while walking through code, and the depth where groups began: alternatives count
 * once.
 */
struct walk {
	int round, curly, square;
	struct {
		int round, curly, square;
	} before[DEPTH];
	size_t groups;
};

/*
 * One step of a walk: skips a preprocessor line, or one character, which is returned (0 for a
 * line).
 */
static char
step(const struct kscan *s, size_t *p, size_t to, struct walk *w)
{
	char c = s->code[*p];

	if (c == '#' && at_line_start(s, *p)) {
		enum branch b = branch_of(s, *p, to);

		if (b == BRANCH_IF && w->groups < DEPTH) {
			w->before[w->groups].round = w->round;
			w->before[w->groups].curly = w->curly;
			w->before[w->groups].square = w->square;
			w->groups++;
		} else if (b == BRANCH_ELSE && w->groups) {
			w->round = w->before[w->groups - 1].round;
			w->curly = w->before[w->groups - 1].curly;
			w->square = w->before[w->groups - 1].square;
		} else if (b == BRANCH_END && w->groups) {
			w->groups--;
		}
		*p = line_end(s, *p, to);
		return 0;
	}
	w->round += (c == '(') - (c == ')');
	w->curly += (c == '{') - (c == '}');
	w->square += (c == '[') - (c == ']');
	(*p)++;
	return c;
}

/* Position of the bracket that closes the one at P; TO when none does. */
static size_t
matching(const struct kscan *s, size_t p, size_t to)
{
	struct walk w = { 0 };

	while (p < to) {
		size_t at = p;

		if (step(s, &p, to, &w) && w.round <= 0 && w.curly <= 0 && w.square <= 0)
			return at;
	}
	return to;
}

/* After "template <…>" and the like at P, with '<' and '>' balanced. */
static size_t
angle_end(const struct kscan *s, size_t p, size_t to)
{
	int depth = 0;

	for (; p < to; p++) {
		depth += (s->code[p] == '<') - (s->code[p] == '>');
		if (s->code[p] == '>' && depth == 0)
			return p + 1;
		if (s->code[p] == ';' || s->code[p] == '{')
			break;
	}
	return p;
}

/*
 * Where the comment right above an item begins: full comment lines, with no blank line between. Not
 * before BACK.
 */
static size_t
lead_of(const struct kscan *s, size_t from, size_t back)
{
	size_t lead = from, line = from;

	while (line > back && s->text[line - 1] != '\n')
		line--;
	if (line < back || (line == back && back && s->text[line - 1] != '\n'))
		return from;
	for (;;) {
		size_t p = line;
		bool comment = false;

		if (p <= back)
			return lead == from ? line : lead;
		p--;
		while (p > back && s->text[p - 1] != '\n')
			p--;
		for (size_t i = p; i + 1 < line; i++) {
			if (!isspace((unsigned char)s->code[i]))
				return lead == from ? line : lead;
			comment |= !isspace((unsigned char)s->text[i]);
		}
		if (!comment)
			return lead == from ? line : lead;
		lead = line = p;
	}
}

static void
add_name(struct kscan_item *x, const struct kscan *s, size_t p, size_t end)
{
	x->names = krealloc(x->names, (x->name_count + 1) * sizeof *x->names);
	x->names[x->name_count++] = kstrndup(s->code + p, end - p);
}

static struct kscan_item *
add_item(struct kscan *s, enum kscan_kind kind, size_t from, size_t to, size_t depth)
{
	size_t back = s->count ? s->items[s->count - 1].to : 0;
	struct kscan_item *x;

	s->items = krealloc(s->items, (s->count + 1) * sizeof *s->items);
	x = &s->items[s->count++];
	*x = (struct kscan_item){ .kind = kind, .from = from, .to = to, .depth = depth };
	x->lead = lead_of(s, from, back > from ? from : back);
	return x;
}

/* Enumerators: the first word after '{' and after every ',' inside. */
static void
add_enumerators(struct kscan_item *x, const struct kscan *s, size_t open, size_t close)
{
	struct walk w = { 0 };
	bool expected = true;

	for (size_t p = open + 1; p < close;) {
		if (expected && w.round == 0 && begins_word(s->code[p])) {
			size_t end = word_end(s, p, close);

			add_name(x, s, p, end);
			expected = false;
			p = end;
			continue;
		}
		if (step(s, &p, close, &w) == ',' && w.round == 0 && w.curly == 0)
			expected = true;
	}
}

/* State while the words of a declaration are read. */
struct naming {
	bool value;        /* behind a '=' */
	bool tag, is_enum; /* after struct, union, enum, class */
	bool done;
};

/*
 * Handles a character that is not part of a word: skips brackets as a whole, with the names that
 * they may contain.
 */
static size_t
name_bracket(struct kscan *s, struct kscan_item *x, size_t p, struct naming *n)
{
	size_t to = x->to, after;
	char c = s->code[p];

	if (c == '#' && at_line_start(s, p))
		return line_end(s, p, to);
	n->value = c == '=' || (n->value && c != ',');
	if (c != '(' && c != '[' && c != '{')
		return p + 1;
	if (c == '{' && n->is_enum && !n->value)
		add_enumerators(x, s, p, matching(s, p, to));
	/* A pointer to a function has its name inside. */
	after = skip_blank(s, p + 1, to);
	if (c == '(' && !n->value && after < to && s->code[after] == '*') {
		after = skip_blank(s, after + 1, to);
		if (after < to && begins_word(s->code[after]))
			add_name(x, s, after, word_end(s, after, to));
		n->done = true;
	}
	after = matching(s, p, to);
	return after < to ? after + 1 : to;
}

/* A word that is not an attribute is a name if the right character follows. */
static void
name_word(struct kscan *s, struct kscan_item *x, size_t p, size_t end, struct naming *n)
{
	size_t to = x->to, next = skip_blank(s, end, to), behind = word_end(s, next, to);

	n->is_enum |= is_text(s, p, end, "enum");
	if (is_text(s, p, end, "enum") || is_text(s, p, end, "struct") ||
	    is_text(s, p, end, "union") || is_text(s, p, end, "class")) {
		n->tag = true;
		return;
	}
	if (n->value || is_keyword(s, p, end))
		return;
	if (next < to && s->code[next] == '(') {
		/* A prototype, or a C++ variable with arguments. */
		add_name(x, s, p, end);
		n->done = true;
	} else if (next >= to || strchr(";,=[", s->code[next]) ||
	    (n->tag && strchr("{:<", s->code[next])) ||
	    (behind > next && is_attribute(s, next, behind))) {
		add_name(x, s, p, end);
	}
	n->tag = false;
}

/*
 * Names of a declaration: words before a ',', ';', '=', '[' or the '{' of a tag, outside brackets
 * and initialisers.
 */
static void
name_declaration(struct kscan *s, struct kscan_item *x)
{
	struct naming n = { 0 };
	size_t p = x->from, to = x->to;

	while (p < to && !n.done) {
		size_t end = word_end(s, p, to), next = skip_blank(s, end, to);

		if (!begins_word(s->code[p]) || end == p) {
			p = name_bracket(s, x, p, &n);
		} else if (is_text(s, p, end, "template") && next < to && s->code[next] == '<') {
			p = angle_end(s, next, to);
		} else if (is_attribute(s, p, end)) {
			p = next < to && s->code[next] == '(' ? matching(s, next, to) + 1 : end;
		} else {
			name_word(s, x, p, end, &n);
			p = end;
		}
	}
}

/* After the sign in "operator+" or "operator()", which is part of the name that ends at P. */
static size_t
operator_end(const struct kscan *s, size_t p, size_t to)
{
	size_t q = skip_blank(s, p, to);

	if (q + 1 < to && s->code[q] == '(' && skip_blank(s, q + 1, to) < to &&
	    s->code[skip_blank(s, q + 1, to)] == ')')
		return skip_blank(s, q + 1, to) + 1;
	while (p < to && s->code[p] != '(')
		p++;
	return p;
}

/*
 * Where the '(' after the word that ends at P is, after the arguments of a specialisation; or TO.
 */
static size_t
opening(const struct kscan *s, size_t p, size_t to)
{
	p = skip_blank(s, p, to);
	if (p < to && s->code[p] == '<')
		p = skip_blank(s, angle_end(s, p, to), to);
	return p < to && s->code[p] == '(' ? p : to;
}

/* Skips what is not a word before a function's name: brackets as a whole. */
static size_t
before_name(const struct kscan *s, size_t p, size_t body)
{
	return s->code[p] == '(' || s->code[p] == '[' ? matching(s, p, body) + 1 : p + 1;
}

/*
 * Is the name at P, whose '(' is at OPEN, a macro that makes the type of the function whose name
 * follows, "static NEVER_INLINE(float *) f(int a) {"? Nothing before it can be a type then.
 */
static bool
is_type_macro(const struct kscan *s, size_t from, size_t p, size_t open, size_t body)
{
	size_t next = skip_blank(s, matching(s, open, body) + 1, body),
	       end = word_end(s, next, body);

	if (end == next || is_attribute(s, next, end) ||
	    kis_listed("noexcept throw requires", s->code + next, end - next) ||
	    skip_blank(s, end, body) >= body || s->code[skip_blank(s, end, body)] != '(')
		return false;
	for (from = skip_blank(s, from, p); from < p; from = skip_blank(s, end, p)) {
		end = word_end(s, from, p);
		if (!kis_listed(
		        "static inline extern __inline __inline__", s->code + from, end - from))
			return false;
	}
	return true;
}

/*
 * The name of the function whose body begins at BODY, searched from FROM: the word before the first
 * parenthesis that does not belong to an attribute.
 */
static bool
function_name(
    const struct kscan *s, size_t from, size_t body, size_t *name, size_t *name_end, size_t *open)
{
	size_t p = from;

	while (p < body) {
		size_t end = word_end(s, p, body), next;

		if (s->code[p] == '#' && at_line_start(s, p)) {
			p = line_end(s, p, body);
			continue;
		}
		if (!begins_word(s->code[p]) || end == p) {
			if (s->code[p] == '=' || s->code[p] == '{')
				return false;
			p = before_name(s, p, body);
			continue;
		}
		next = skip_blank(s, end, body);
		if (is_text(s, p, end, "template") && next < body && s->code[next] == '<') {
			p = angle_end(s, next, body);
			continue;
		}
		if (is_text(s, p, end, "operator"))
			end = operator_end(s, end, body);
		next = opening(s, end, body);
		if (next < body && !is_attribute(s, p, end) && !is_keyword(s, p, end) &&
		    !is_type_macro(s, from, p, next, body)) {
			*name = p;
			*name_end = end;
			*open = next;
			return true;
		}
		p = next < body && s->code[skip_blank(s, end, body)] == '('
		    ? matching(s, next, body) + 1
		    : end;
	}
	return false;
}

/* What kind of item has the brace at P; the item began at FROM. */
static enum kscan_kind
kind_at_brace(
    const struct kscan *s, size_t from, size_t p, size_t *name, size_t *name_end, size_t *open)
{
	size_t word = from, end = word_end(s, from, p);

	if (is_text(s, word, end, "inline")) {
		word = skip_blank(s, end, p);
		end = word_end(s, word, p);
	}
	if (is_text(s, word, end, "namespace"))
		return KSCAN_OPEN;
	if (is_text(s, word, end, "extern")) {
		size_t q = skip_blank(s, end, p);

		if (q < p && s->code[q] == '"') {
			size_t close = q + 1;

			while (close < p && s->code[close] != '"')
				close++;
			if (skip_blank(s, close + 1, p) >= p)
				return KSCAN_OPEN;
		}
	}
	return function_name(s, from, p, name, name_end, open) ? KSCAN_FUNCTION : KSCAN_DECLARATION;
}

/*
 * Does the ';' at P end a parameter of an old-style definition, "f(a, b) int a; double *b; {"? Then
 * its parentheses contain only names, and only declarations without parentheses come before the
 * brace.
 */
static bool
is_old_style(const struct kscan *s, size_t from, size_t p, size_t to)
{
	size_t name, name_end, open, close, q;

	if (!function_name(s, from, p, &name, &name_end, &open))
		return false;
	close = matching(s, open, p);
	for (q = skip_blank(s, open + 1, p); q < close;
	     q = skip_blank(s, q + (s->code[q] == ','), close)) {
		size_t end = word_end(s, q, close);

		if (end == q || is_keyword(s, q, end) ||
		    !(skip_blank(s, end, close) >= close ||
		        s->code[skip_blank(s, end, close)] == ','))
			return false;
		q = skip_blank(s, end, close);
	}
	q = skip_blank(s, close + 1, to);
	if (skip_blank(s, open + 1, p) >= close || q >= p || !begins_word(s->code[q]) ||
	    is_attribute(s, q, word_end(s, q, p)))
		return false;
	while (q < to &&
	    (kis_word(s->code[q]) || isspace((unsigned char)s->code[q]) ||
	        strchr("*,;[]", s->code[q])))
		q++;
	if (q >= to || s->code[q] != '{')
		return false;
	while (q > p && isspace((unsigned char)s->code[q - 1]))
		q--;
	return s->code[q - 1] == ';';
}

/*
 * Can more follow the braces at BRACE of the declaration from FROM? A type may be followed by
 * names, and an initialiser by other variables; anything else ends there.
 */
static bool
may_go_on(const struct kscan *s, size_t from, size_t brace)
{
	for (size_t p = from; p < brace;) {
		size_t end = word_end(s, p, brace);

		if (s->code[p] == '=' ||
		    kis_listed("struct union enum class typedef", s->code + p, end - p))
			return true;
		p = end > p ? end : p + 1;
	}
	return brace > from && kis_word(s->code[brace - 1]);
}

/* Where the name at P begins with what stands before it: "C::" or "n::C::". */
static size_t
path_start(const struct kscan *s, size_t from, size_t p)
{
	while (p > from + 2 && !strncmp(s->code + p - 2, "::", 2) && kis_word(s->code[p - 3]))
		for (p -= 2; p > from && kis_word(s->code[p - 1]);)
			p--;
	return p;
}

/* The declaration or function at P; returns its end, or P when it is not understood. */
static size_t
scan_item(struct kscan *s, size_t p, size_t to, size_t depth)
{
	size_t from = p, name = 0, name_end = 0, open = 0;
	struct walk w = { 0 };
	struct kscan_item *x;
	bool ended = false;

	if (is_text(s, p, word_end(s, p, to), "template"))
		p = angle_end(s, word_end(s, p, to), to);
	while (p < to && !ended) {
		size_t at = p;
		char c = step(s, &p, to, &w);

		if (c == ';' && w.round <= 0 && w.curly <= 0) {
			if (is_old_style(s, from, at, to))
				continue;
			break;
		}
		if (c != '{' || w.round > 0 || w.curly != 1)
			continue;
		switch (kind_at_brace(s, from, at, &name, &name_end, &open)) {
		case KSCAN_OPEN:
			add_item(s, KSCAN_OPEN, from, at + 1, depth);
			return at + 1;
		case KSCAN_FUNCTION:
			p = matching(s, at, to);
			s->unclosed |= p >= to;
			p = p < to ? p + 1 : to;
			x = add_item(s, KSCAN_FUNCTION, from, p, depth);
			x->name_at = name;
			x->open = open;
			x->body = at;
			add_name(x, s, name, name_end);
			if (path_start(s, from, name) < name)
				add_name(x, s, path_start(s, from, name), name_end);
			return p;
		default:
			p = matching(s, at, to);
			s->unclosed |= p >= to;
			p = p < to ? p + 1 : to;
			w.curly = 0;
			ended = !may_go_on(s, from, at);
		}
	}
	if (p >= to && (!to || s->code[to - 1] != ';'))
		s->unclosed |= w.curly > 0 || w.round > 0;
	x = add_item(s, KSCAN_DECLARATION, from, p, depth);
	name_declaration(s, x);
	return p;
}

static void scan_range(struct kscan *s, size_t p, size_t to);

/* Everything that any branch of a group declares becomes a name of the group. */
static void
name_group(struct kscan *s, size_t index, size_t from, size_t to)
{
	struct kscan inner = { .text = s->text, .code = s->code, .len = s->len };
	struct kscan_item *x = &s->items[index];
	size_t p = from;

	while (p < to) {
		size_t q = p;

		/* The group's own lines separate the ranges that are scanned. */
		while (q < to &&
		    !(s->code[q] == '#' && at_line_start(s, q) && branch_of(s, q, to) != NO_BRANCH))
			q++;
		if (q > p)
			scan_range(&inner, p, q);
		p = q < to ? line_end(s, q, to) : to;
	}
	for (size_t i = 0; i < inner.count; i++)
		for (size_t k = 0; k < inner.items[i].name_count; k++)
			if (inner.items[i].kind != KSCAN_INCLUDE) {
				const char *name = inner.items[i].names[k];

				x->names =
				    krealloc(x->names, (x->name_count + 1) * sizeof *x->names);
				x->names[x->name_count++] = kstrdup(name);
			}
	inner.code = NULL;
	kscan_free(&inner);
}

static size_t
scan_directive(struct kscan *s, size_t p, size_t to, size_t depth)
{
	size_t end, word = directive_word(s, p, to, &end), next = line_end(s, p, to), a, b;
	struct kscan_item *x;
	bool closed = true;

	if (branch_of(s, p, to) == BRANCH_IF && !s->through) {
		next = group_end(s, p, to, &closed);
		s->unclosed |= !closed;
		add_item(s, KSCAN_GROUP, p, next, depth);
		name_group(s, s->count - 1, p, next);
		return next;
	}
	a = skip_blank(s, end, next);
	if (is_text(s, word, end, "include") && a < next &&
	    (s->text[a] == '<' || s->text[a] == '"')) {
		char close = s->text[a] == '<' ? '>' : '"';

		for (b = a + 1; b < next && s->text[b] != close && s->text[b] != '\n';)
			b++;
		x = add_item(s, KSCAN_INCLUDE, p, next, depth);
		x->system = close == '>';
		x->names = kmalloc(sizeof *x->names);
		x->names[x->name_count++] = kstrndup(s->text + a + 1, b - a - 1);
	} else if (is_text(s, word, end, "define") && a < next && begins_word(s->code[a])) {
		x = add_item(s, KSCAN_MACRO, p, next, depth);
		add_name(x, s, a, word_end(s, a, next));
	} else {
		add_item(s, KSCAN_DIRECTIVE, p, next, depth);
	}
	return next;
}

/* After "public:" and the like at P; or P. */
static size_t
behind_label(const struct kscan *s, size_t p, size_t to)
{
	size_t end = word_end(s, p, to), colon = skip_blank(s, end, to);

	return kis_listed("public private protected", s->code + p, end - p) && colon < to &&
	        s->code[colon] == ':'
	    ? skip_blank(s, colon + 1, to)
	    : p;
}

static void
scan_range(struct kscan *s, size_t p, size_t to)
{
	size_t depth = 0;

	while ((p = behind_label(s, skip_blank(s, p, to), to)) < to) {
		if (s->code[p] == '#' && at_line_start(s, p)) {
			p = scan_directive(s, p, to, depth);
		} else if (s->code[p] == '}') {
			depth -= depth > 0;
			add_item(s, KSCAN_CLOSE, p, p + 1, depth);
			p++;
		} else if (s->code[p] == ';') {
			p++;
		} else {
			size_t before = s->count, next = scan_item(s, p, to, depth);

			depth += s->count > before && s->items[s->count - 1].kind == KSCAN_OPEN;
			p = next > p ? next : p + 1;
		}
	}
}

/* The range inside an include guard that spans the whole text. */
static void
look_through_guard(const struct kscan *s, size_t *from, size_t *to)
{
	size_t p = skip_blank(s, 0, s->len), end, word, name, inner, last = s->len;
	bool closed = true;

	if (p >= s->len || s->code[p] != '#')
		return;
	word = directive_word(s, p, s->len, &end);
	if (!is_text(s, word, end, "ifndef") ||
	    skip_blank(s, group_end(s, p, s->len, &closed), s->len) < s->len || !closed)
		return;
	name = skip_blank(s, end, s->len);
	inner = skip_blank(s, line_end(s, p, s->len), s->len);
	if (inner >= s->len || s->code[inner] != '#')
		return;
	word = directive_word(s, inner, s->len, &end);
	if (!is_text(s, word, end, "define"))
		return;
	end = skip_blank(s, end, s->len);
	if (word_end(s, end, s->len) - end != word_end(s, name, s->len) - name ||
	    memcmp(s->code + end, s->code + name, word_end(s, name, s->len) - name))
		return;
	while (last > inner && s->code[last - 1] != '#')
		last--;
	*from = line_end(s, inner, s->len);
	*to = last ? last - 1 : 0;
}

/* Blanks what stands between "#if 0" and its #else or #endif. */
static void
blank_disabled(struct kscan *s)
{
	for (size_t p = 0, end, next; p < s->len; p = next) {
		size_t at = p + strspn(s->code + p, " \t"), zero, depth = 0;

		next = line_end(s, p, s->len);
		if (s->code[at] != '#' || branch_of(s, at, next) != BRANCH_IF)
			continue;
		directive_word(s, at, next, &end);
		zero = end + strspn(s->code + end, " \t");
		if (!is_text(s, zero, word_end(s, zero, next), "0") ||
		    skip_blank(s, zero + 1, next) < next)
			continue;
		for (p = next; p < s->len; p = line_end(s, p, s->len)) {
			at = p + strspn(s->code + p, " \t");
			enum branch b = s->code[at] == '#' ? branch_of(s, at, s->len) : NO_BRANCH;

			if (!depth && (b == BRANCH_ELSE || b == BRANCH_END))
				break;
			depth += (size_t)(b == BRANCH_IF) - (b == BRANCH_END);
		}
		for (; next < p; next++)
			if (s->code[next] != '\n')
				s->code[next] = ' ';
	}
}

/* Takes the functions of IN, the inside of the type X, over. */
static void
take_members(struct kscan *s, const struct kscan_item *x, struct kscan *in)
{
	for (size_t i = 0; i < in->count; i++) {
		struct kscan_item *f = &in->items[i];

		if (f->kind != KSCAN_FUNCTION)
			continue;
		f->names = krealloc(f->names, (f->name_count + 1) * sizeof *f->names);
		f->names[f->name_count++] = kasprintf("%s::%s", x->names[0], f->names[0]);
		s->members = krealloc(s->members, (s->member_count + 1) * sizeof *s->members);
		s->members[s->member_count] = *f;
		s->members[s->member_count++].depth = x->depth + 1;
		f->names = NULL;
		f->name_count = 0;
	}
}

static void
scan_members(struct kscan *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct kscan_item *x = &s->items[i];
		struct kscan in = { 0 };

		if (x->kind != KSCAN_DECLARATION || !x->name_count ||
		    is_text(s, x->from, word_end(s, x->from, x->to), "template") ||
		    !(kscan_uses(s, x->from, x->to, "struct") ||
		        kscan_uses(s, x->from, x->to, "class")))
			continue;
		if (kscan_inside(s, x, &in))
			take_members(s, x, &in);
		kscan_free(&in);
	}
}

static void
scan_text(const char *text, size_t len, struct kscan *s, bool through)
{
	size_t from = 0, to = len;

	*s = (struct kscan){ .text = text,
		.code = ktoken_strip(text, len, KTOKEN_C),
		.len = len,
		.items = kmalloc(sizeof *s->items),
		.through = through };
	blank_disabled(s);
	look_through_guard(s, &from, &to);
	if (from < to)
		scan_range(s, from, to);
	scan_members(s);
}

void
kscan(const char *text, size_t len, struct kscan *s)
{
	scan_text(text, len, s, false);
}

void
kscan_through(const char *text, size_t len, struct kscan *s)
{
	scan_text(text, len, s, true);
}

static void
free_items(struct kscan_item *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < items[i].name_count; k++)
			free(items[i].names[k]);
		free(items[i].names);
	}
	free(items);
}

void
kscan_free(struct kscan *s)
{
	free_items(s->items, s->count);
	free_items(s->members, s->member_count);
	free(s->code);
	*s = (struct kscan){ 0 };
}

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
kscan_inside(const struct kscan *s, const struct kscan_item *x, struct kscan *in)
{
	const char *brace = memchr(s->code + x->from, '{', x->to - x->from);
	size_t body = brace ? (size_t)(brace + 1 - s->code) : x->to;

	*in = (struct kscan){ .text = s->text, .code = s->code, .len = s->len };
	scan_range(in, body, x->to);
	in->code = NULL;
	/* A comment above X is not that of what begins in the same line. */
	if (in->count && in->items[0].lead < body)
		in->items[0].lead = body;
	return brace != NULL;
}

bool
kscan_declares(const struct kscan_item *x, const char *name)
{
	for (size_t i = 0; i < x->name_count; i++)
		if (!strcmp(x->names[i], name))
			return x->kind != KSCAN_INCLUDE;
	return false;
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
kscan_holder(const struct kscan *s, const struct kscan_item *f)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i].from <= f->from && f->to <= s->items[i].to)
			return &s->items[i];
	return f;
}

void
kscan_identifiers(const struct kscan *s, size_t from, size_t to,
    bool (*see)(void *arg, const char *name, size_t len, size_t at), void *arg)
{
	for (size_t p = from; p < to;) {
		size_t end = word_end(s, p, to);

		if (end == p) {
			p++;
			continue;
		}
		if (begins_word(s->code[p]) && !see(arg, s->code + p, end - p, p))
			return;
		p = end;
	}
}

struct wanted {
	const char *name;
	size_t len;
	bool found;
};

static bool
see_wanted(void *arg, const char *name, size_t len, size_t at)
{
	struct wanted *w = arg;

	(void)at;
	w->found |= len == w->len && !memcmp(name, w->name, len);
	return !w->found;
}

bool
kscan_uses(const struct kscan *s, size_t from, size_t to, const char *name)
{
	struct wanted w = { .name = name, .len = strlen(name) };

	kscan_identifiers(s, from, to, see_wanted, &w);
	return w.found;
}

bool
kscan_has_word(const struct kscan *s, const struct kscan_item *x, const char *word)
{
	/* The apparent name may be a macro that makes whole functions. */
	size_t end = x->kind == KSCAN_FUNCTION ? x->name_at : x->to,
	       head = x->kind == KSCAN_FUNCTION ? x->open : x->to;

	if (kscan_uses(s, x->from, end, word))
		return true;
	/* "INLINE int f(...)", if INLINE is "static inline". */
	for (size_t i = 0; i < s->count; i++) {
		const struct kscan_item *m = &s->items[i];

		if (m->kind == KSCAN_MACRO && m != x && m->name_count &&
		    kscan_uses(s, x->from, head, m->names[0]) &&
		    kscan_uses(s, m->from, m->to, word))
			return true;
	}
	return false;
}

/* ---- signatures ---- */

/* Code from FROM to TO with single blanks between words and no others; the caller frees. */
static char *
tidy(const struct kscan *s, size_t from, size_t to)
{
	struct kbuf b = { 0 };

	for (size_t p = from; p < to; p++) {
		char c = s->code[p];

		if (isspace((unsigned char)c))
			continue;
		if (b.len && kis_word(b.data[b.len - 1]) && kis_word(c) && p > from &&
		    !kis_word(s->code[p - 1]))
			kbuf_puts(&b, " ");
		kbuf_add(&b, &c, 1);
	}
	kbuf_add(&b, "", 0);
	return b.data;
}

static bool
is_qualifier(const struct kscan *s, size_t p, size_t end)
{
	return kis_listed("const volatile restrict __restrict__ __restrict register struct "
	                  "__grid_constant__ static",
	    s->code + p, end - p);
}

/* The last word outside brackets, if another one precedes it; else TO. */
static size_t
name_of_param(const struct kscan *s, size_t from, size_t to)
{
	size_t last = to, words = 0;

	for (size_t p = from; p < to;) {
		size_t end = word_end(s, p, to);

		if (end > p && begins_word(s->code[p]) && !is_qualifier(s, p, end)) {
			words++;
			last = p;
		}
		p = s->code[p] == '[' ? matching(s, p, to) + 1 : end > p ? end : p + 1;
	}
	return words > 1 ? last : to;
}

static void
read_param(const struct kscan *s, size_t from, size_t to, struct kscan_param *x)
{
	struct kbuf type = { 0 };
	size_t last, p;
	bool starred = false;

	*x = (struct kscan_param){ .text = tidy(s, from, to) };
	for (p = from; p < to; p++)
		if (s->code[p] == '=') {
			to = p;
			break;
		}
	last = name_of_param(s, from, to);
	x->name = kstrndup(s->code + last, word_end(s, last, to) - last);
	for (p = from; p < to;) {
		size_t end = word_end(s, p, to);
		char c = s->code[p];

		if (end > p) {
			if (is_text(s, p, end, "const"))
				x->constant |= !starred;
			else if (p != last && !is_qualifier(s, p, end))
				kbuf_printf(&type, "%s%.*s",
				    type.len && kis_word(type.data[type.len - 1]) ? " " : "",
				    (int)(end - p), s->code + p);
			p = end;
			continue;
		}
		if (c == '*')
			starred = true;
		x->stars += c == '*';
		x->rows += c == '[';
		if (c == '(' || c == '&')
			x->strange = true;
		if (c == '<' || c == '>' || c == ':' || c == ',')
			kbuf_add(&type, &c, 1);
		p = c == '[' ? matching(s, p, to) + 1 : p + 1;
	}
	kbuf_add(&type, "", 0);
	x->type = type.data;
	x->stars += x->rows > 0;
	x->rows -= x->rows > 0;
	x->strange |= x->stars > 1;
}

/* The text before the name and its path, without attributes, which are not part of a type. */
static char *
result_of(const struct kscan *s, const struct kscan_item *f)
{
	struct kscan plain = { .code = kmemdup(s->code, f->name_at) };
	size_t to = path_start(s, f->from, f->name_at);
	char *text;

	for (size_t p = f->from, end; p < to; p = end) {
		size_t open;

		end = word_end(s, p, to);
		open = skip_blank(s, end, to);
		if (end == p && !strncmp(s->code + p, "[[", 2))
			end = matching(s, p, to) + 1;
		else if (end > p && is_attribute(s, p, end) && !is_type_of(s, p, end) &&
		    open < to && s->code[open] == '(')
			end = matching(s, open, to) + 1;
		else
			p = end = end > p ? end : p + 1;
		memset(plain.code + p, ' ', (end < to ? end : to) - p);
	}
	text = tidy(&plain, f->from, to);
	free(plain.code);
	return text;
}

void
kscan_signature(const struct kscan *s, const struct kscan_item *f, struct kscan_signature *g)
{
	size_t close = matching(s, f->open, f->to), p = f->open + 1, start = p;
	struct walk w = { 0 };
	int angle = 0;

	*g = (struct kscan_signature){ .result = result_of(s, f),
		.close = close,
		.constant = close < f->body && kscan_uses(s, close, f->body, "const") };
	while (p <= close) {
		size_t at = p;
		char c = p < close ? step(s, &p, close, &w) : ',';

		angle += (c == '<') - (c == '>');
		if (at < close && (c != ',' || w.round || w.square || w.curly || angle > 0))
			continue;
		if (skip_blank(s, start, at) < at) {
			auto_free char *text = tidy(s, start, at);
			bool none = !strcmp(text, "void");

			if (g->count == KSCAN_PARAMS)
				g->too_many = true;
			else if (!none)
				read_param(s, start, at, &g->params[g->count++]);
		}
		start = p;
		if (at == close)
			break;
	}
}

static void
free_params(struct kscan_param *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].name);
		free(list[i].type);
		free(list[i].text);
	}
}

void
kscan_signature_free(struct kscan_signature *g)
{
	free_params(g->params, g->count);
	free(g->result);
	*g = (struct kscan_signature){ 0 };
}

/* ---- members of types ---- */

static void
add_member(struct kscan_param **list, size_t *count, const struct kscan_param *x)
{
	*list = krealloc(*list, (*count + 1) * sizeof **list);
	(*list)[(*count)++] = *x;
}

/* Length of the part of TEXT that is the type shared by all names of the declaration. */
static size_t
base_length(const char *text, const char *name)
{
	size_t n = strcspn(text, "*&(["), m = strlen(name);

	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	return m && n > m && !strncmp(text + n - m, name, m) && !kis_word(text[n - m - 1]) ? n - m
	                                                                                   : n;
}

/* "TYPE a, *b, c[3]" from FROM to TO: each with the type before it. */
static void
read_members(const struct kscan *s, size_t from, size_t to, struct kscan_param **list,
    size_t *count, bool *hidden)
{
	size_t start = from, base = 0;
	struct walk w = { 0 };
	int angle = 0;

	for (size_t p = from; p <= to;) {
		size_t at = p;
		char c = p < to ? step(s, &p, to, &w) : ',';
		struct kscan one;
		struct kscan_param x;
		struct kbuf b = { 0 };

		p += at == to;
		angle += (c == '<') - (c == '>');
		if (at < to && (c != ',' || w.round || w.square || w.curly || angle > 0))
			continue;
		if (start > from)
			kbuf_printf(&b, "%.*s ", (int)base, s->code + from);
		kbuf_printf(&b, "%.*s", (int)(at - start), s->code + start);
		one = (struct kscan){ .text = b.data, .code = b.data, .len = b.len };
		read_param(&one, 0, b.len, &x);
		if (start == from)
			base = base_length(b.data, x.name);
		/* A type without a name: represented by its text. */
		*hidden |= !*x.name && !memchr(b.data, '{', b.len);
		add_member(list, count, &x);
		kbuf_free(&b);
		start = p;
	}
}

/* Is C in the code from FROM to TO, before any brace? */
static bool
has_before_brace(const struct kscan *s, size_t from, size_t to, char c)
{
	const char *brace = memchr(s->code + from, '{', to - from);

	return memchr(s->code + from, c, brace ? (size_t)(brace - s->code) - from : to - from);
}

size_t
kscan_members(
    const struct kscan *s, const struct kscan_item *x, struct kscan_param **list, bool *hidden)
{
	size_t open = x->from, close, count = 0;
	struct walk w = { 0 };

	*list = NULL;
	*hidden = kscan_uses(s, x->from, x->to, "virtual");
	while (open < x->to && s->code[open] != '{')
		*hidden |= s->code[open++] == ':';
	*hidden |= open >= x->to;
	close = open < x->to ? matching(s, open, x->to) : x->to;
	for (size_t p = open + 1, start = skip_blank(s, p, close); p < close;) {
		size_t at = p;
		char c = step(s, &p, close, &w);
		size_t end = word_end(s, start, close);

		if (c == ':' && !w.round && !w.curly && s->code[p] != ':' &&
		    s->code[at - 1] != ':' &&
		    kis_listed("public private protected", s->code + start, end - start)) {
			start = skip_blank(s, p, close);
			continue;
		}
		/* The end of a function's body; the body of a type defined in it continues. */
		if (c == '}' && !w.round && !w.curly && has_before_brace(s, start, at, '(')) {
			start = skip_blank(s, p, close);
			continue;
		}
		if (!c && !w.round && !w.curly) {
			start = skip_blank(s, p, close);
			continue;
		}
		if (c != ';' || w.round || w.curly)
			continue;
		/* A prototype is not data; a pointer to a function is. */
		if (has_before_brace(s, start, at, '(') &&
		    !memmem(s->code + start, at - start, "(*", 2)) {
			start = skip_blank(s, p, close);
			continue;
		}
		if (at > start &&
		    !kis_listed("static using typedef friend enum", s->code + start, end - start))
			read_members(s, start, at, list, &count, hidden);
		start = skip_blank(s, p, close);
	}
	return count;
}

void
kscan_members_free(struct kscan_param *list, size_t count)
{
	free_params(list, count);
	free(list);
}

char *
kscan_signature_text(const struct kscan_signature *g)
{
	struct kbuf b = { 0 };

	kbuf_printf(&b, "%s(", g->result);
	for (size_t i = 0; i < g->count; i++) {
		const struct kscan_param *x = &g->params[i];

		if (x->strange)
			kbuf_printf(&b, "%s%s", i ? "," : "", x->text);
		else
			kbuf_printf(&b, "%s%s%s%.*s%.*s", i ? "," : "",
			    x->constant && x->stars ? "const " : "", x->type, x->stars, "********",
			    2 * x->rows, "[][][][][][][][]");
	}
	kbuf_puts(&b, ")");
	return b.data;
}

char *
kscan_signature_of(const char *text, const char *name)
{
	struct kscan s;
	const struct kscan_item *f;
	struct kscan_signature g = { 0 };
	char *result = NULL;

	kscan(text, strlen(text), &s);
	f = kscan_function(&s, name);
	if (!f) {
		kscan_free(&s);
		kscan_through(text, strlen(text), &s);
		f = kscan_function(&s, name);
	}
	if (f) {
		kscan_signature(&s, f, &g);
		result = kscan_signature_text(&g);
	}
	kscan_signature_free(&g);
	kscan_free(&s);
	return result;
}

char *
kscan_typedef_of(const struct kscan *s, const struct kscan_item *x, const char *type, int *stars)
{
	size_t end = word_end(s, x->from, x->to), p = end;
	bool alias = is_text(s, x->from, end, "using");
	char *text, *c;

	*stars = 0;
	if (!alias && !is_text(s, x->from, end, "typedef"))
		return NULL;
	while (alias && p < x->to && s->code[p++] != '=')
		continue;
	if (p >= x->to || memchr(s->code + p, '{', x->to - p) ||
	    memchr(s->code + p, '(', x->to - p))
		return NULL;
	text = tidy(s, p, x->to - 1);
	/* Remove the name at the end of a typedef, and the stars before it. */
	if (!alias && strlen(text) > strlen(type))
		text[strlen(text) - strlen(type)] = '\0';
	for (c = text + strlen(text); c > text && (c[-1] == '*' || c[-1] == ' '); c--) {
		*stars += c[-1] == '*';
		c[-1] = '\0';
	}
	if (!strncmp(text, "const ", 6))
		memmove(text, text + 6, strlen(text + 6) + 1);
	return text;
}

char *
kscan_typedef(const struct kscan *s, const char *type, int *stars)
{
	char *text = NULL;

	*stars = 0;
	for (size_t i = 0; i < s->count && !text; i++)
		if (s->items[i].kind == KSCAN_DECLARATION && kscan_declares(&s->items[i], type))
			text = kscan_typedef_of(s, &s->items[i], type, stars);
	return text;
}

/* ---- launches ---- */

/* Where the expression before the "<<<" at P begins: a name, perhaps with template arguments. */
static size_t
launch_name(const struct kscan *s, size_t p, size_t from, size_t *name_end)
{
	size_t name;
	int angle = 0;

	while (p > from && isspace((unsigned char)s->code[p - 1]))
		p--;
	name = p;
	if (name > from && s->code[name - 1] == '>') {
		do {
			name--;
			angle += (s->code[name] == '>') - (s->code[name] == '<');
		} while (name > from && angle);
		while (name > from && isspace((unsigned char)s->code[name - 1]))
			name--;
	}
	*name_end = name;
	while (name > from && (kis_word(s->code[name - 1]) || s->code[name - 1] == ':'))
		name--;
	return name;
}

/* The launch whose "<<<" is at P; false: it is not a launch. */
static bool
read_launch(const struct kscan *s, size_t p, size_t from, size_t to, struct kscan_launch *launch)
{
	enum { PARTS = 4 };
	size_t begin[PARTS] = { p + 3 }, end[PARTS], parts = 1, q = p + 3, name_end, open, close;
	struct walk w = { 0 };

	while (q < to && (w.round || strncmp(s->code + q, ">>>", 3))) {
		size_t at = q;
		char c = step(s, &q, to, &w);

		if (c == ',' && !w.round && !w.square && !w.curly && parts < PARTS) {
			end[parts - 1] = at;
			begin[parts++] = at + 1;
		}
	}
	if (q >= to || parts < 2)
		return false;
	for (size_t i = parts - 1; i < PARTS; i++)
		end[i] = q;
	for (size_t i = parts; i < PARTS; i++)
		begin[i] = q;
	open = skip_blank(s, q + 3, to);
	close = open < to && s->code[open] == '(' ? matching(s, open, to) : to;
	if (close >= to)
		close = open = q + 2;
	*launch =
	    (struct kscan_launch){ .at = launch_name(s, p, from, &name_end), .to = close + 1 };
	launch->kernel = tidy(s, launch->at, name_end);
	launch->arguments = tidy(s, name_end, p);
	launch->grid = tidy(s, begin[0], end[0]);
	launch->block = tidy(s, begin[1], end[1]);
	launch->shared = tidy(s, begin[2], end[2]);
	launch->stream = tidy(s, begin[3], end[3]);
	launch->call = tidy(s, open < close ? open + 1 : close, close);
	return true;
}

size_t
kscan_launches(const struct kscan *s, const struct kscan_item *f, struct kscan_launch **list)
{
	size_t count = 0, from = f ? f->body : 0, to = f ? f->to : s->len;

	*list = NULL;
	for (size_t p = from; p + 3 < to; p++) {
		struct kscan_launch launch;

		if (strncmp(s->code + p, "<<<", 3) || !read_launch(s, p, from, to, &launch))
			continue;
		*list = krealloc(*list, (count + 1) * sizeof **list);
		(*list)[count++] = launch;
		p += 2;
	}
	return count;
}

void
kscan_launches_free(struct kscan_launch *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].kernel);
		free(list[i].arguments);
		free(list[i].grid);
		free(list[i].block);
		free(list[i].shared);
		free(list[i].stream);
		free(list[i].call);
	}
	free(list);
}

/* ---- constants ---- */

struct sum {
	const struct kscan_scope *scope;
	const char *p;
	int depth;
	bool bad;
};

static int64_t evaluate(struct sum *x, int level);

/* EXPRESSION in the same scope, one level deeper. */
static int64_t
number_of(struct sum *x, const char *expression)
{
	struct sum inner = { .scope = x->scope, .p = expression, .depth = x->depth + 1 };
	int64_t v;

	if (inner.depth > CHAIN) {
		x->bad = true;
		return 0;
	}
	v = evaluate(&inner, 0);
	while (isspace((unsigned char)*inner.p) || *inner.p == '\\')
		inner.p++;
	x->bad |= inner.bad || *inner.p;
	return v;
}

/*
 * The text after "NAME =" from FROM to TO, up to the next ',' or ';' or '}' outside brackets. To be
 * freed.
 */
static char *
initialiser(const struct kscan *s, size_t from, size_t to, const char *name)
{
	size_t n = strlen(name);

	for (size_t p = from; p + n < to; p++) {
		size_t q = p + n, start;
		struct walk w = { 0 };

		if (memcmp(s->code + p, name, n) || kis_word(s->code[q]) ||
		    (p && (kis_word(s->code[p - 1]) || s->code[p - 1] == '.')))
			continue;
		q = skip_blank(s, q, to);
		if (q >= to)
			return NULL;
		if (s->code[q] != '=' || s->code[q + 1] == '=')
			continue;
		for (start = ++q; q < to;) {
			size_t at = q;
			char c = step(s, &q, to, &w);

			if ((c == ',' || c == ';' || c == '}') && w.round <= 0 && w.curly <= 0 &&
			    w.square <= 0)
				return kstrndup(s->code + start, at - start);
		}
		return NULL;
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
	for (size_t p = from; p < to;) {
		size_t end = word_end(s, p, to);

		if (end == p || !is_text(s, p, end, "dim3")) {
			p = end == p ? p + 1 : end;
			continue;
		}
		do {
			size_t word, close;

			word = skip_blank(s, end == p ? p + 1 : end, to);
			end = word_end(s, word, to);
			p = skip_blank(s, end, to);
			if (end == word || p >= to || (s->code[p] != '(' && s->code[p] != '{'))
				break;
			close = matching(s, p, to);
			if (is_text(s, word, end, name))
				return kstrndup(s->code + p + 1, close - p - 1);
			end = p = skip_blank(s, close + 1, to);
		} while (p < to && s->code[p] == ',');
	}
	return NULL;
}

/*
 * The expression that NAME is defined as in one source, outside functions; to be freed, NULL: none.
 */
static char *
constant_in(const struct kscan *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct kscan_item *x = &s->items[i];

		if (!kscan_declares(x, name))
			continue;
		if (x->kind == KSCAN_MACRO) {
			size_t end, p = directive_word(s, x->from, x->to, &end);

			p = skip_blank(s, end, x->to) + strlen(name);
			return p < x->to && s->code[p] != '(' ? kstrndup(s->code + p, x->to - p)
			                                      : NULL;
		}
		if (x->kind == KSCAN_DECLARATION)
			return initialiser(s, x->from, x->to, name);
	}
	return NULL;
}

/* The enumerator's value, its position, unless an explicit value follows it. */
static bool
enumerator_in(struct sum *x, const struct kscan *s, const char *name, int64_t *value)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct kscan_item *e = &s->items[i];

		if (e->kind != KSCAN_DECLARATION || !kscan_has_word(s, e, "enum") ||
		    !kscan_declares(e, name))
			continue;
		*value = -1;
		for (size_t k = 0; k < e->name_count; k++) {
			auto_free char *own = initialiser(s, e->from, e->to, e->names[k]);

			*value = own && strcmp(e->names[k], name) ? number_of(x, own)
			    : own                                 ? number_of(x, own)
			                                          : *value + 1;
			if (!strcmp(e->names[k], name))
				return !x->bad;
		}
	}
	return false;
}

bool
kscan_assigns(const struct kscan *s, size_t p, size_t to)
{
	p = skip_blank(s, p, to);
	if (p + 2 < to && s->code[p] == '.' && strchr("xyz", s->code[p + 1]))
		p = skip_blank(s, p + 2, to);
	if (p + 2 >= to)
		return false;
	if (s->code[p] == '=')
		return s->code[p + 1] != '=';
	if (!strncmp(s->code + p, "<<=", 3) || !strncmp(s->code + p, ">>=", 3))
		return true;
	return strchr("+-*/%&|^", s->code[p]) &&
	    (s->code[p + 1] == '=' || (s->code[p + 1] == s->code[p] && strchr("+-", s->code[p])));
}

/* ---- what a function writes ---- */

static const char casts[] = "reinterpret_cast static_cast const_cast";

/* The '(' around the place AT; *COMMAS: how many commas are between. */
static size_t
to_open(const struct kscan *s, size_t at, size_t from, size_t *commas)
{
	*commas = 0;
	for (int depth = 1; at > from && depth;) {
		at--;
		depth += (s->code[at] == ')') - (s->code[at] == '(');
		*commas += depth == 1 && s->code[at] == ',';
	}
	return at;
}

/* Where the casts before the place AT begin: "(float4 *)", "reinterpret_cast<float4 *>". */
static size_t
before_casts(const struct kscan *s, size_t at, size_t from)
{
	for (;;) {
		size_t p = at, end, commas;

		while (p > from && isspace((unsigned char)s->code[p - 1]))
			p--;
		if (p > from && s->code[p - 1] == '>') {
			at = launch_name(s, p, from, &end);
			if (!kis_listed(casts, s->code + at, end - at))
				return p;
		} else if (p > from && s->code[p - 1] == ')') {
			at = to_open(s, p - 1, from, &commas);
		} else {
			return p;
		}
	}
}

/* What the parenthesis at OPEN calls or launches: a name from *AT to *END; false: nothing. */
static bool
is_called(const struct kscan *s, size_t open, size_t from, size_t *at, size_t *end)
{
	static const char others[] = "if while for switch return sizeof";
	size_t p = open;

	while (p > from && isspace((unsigned char)s->code[p - 1]))
		p--;
	if (p >= from + 3 && !strncmp(s->code + p - 3, ">>>", 3))
		while (p > from && strncmp(s->code + p, "<<<", 3))
			p--;
	*at = launch_name(s, p, from, end);
	for (size_t q = *at; q < *end; q++)
		if (s->code[q] == ':')
			*at = q + 1;
	return *at < *end && !kis_listed(casts, s->code + *at, *end - *at) &&
	    !kis_listed(others, s->code + *at, *end - *at);
}

struct writing {
	const struct kscan *s;
	const struct kscan_item *f;
	json_t *seen; /* "NAME@BODY": functions' pointers that were looked for */
};

static bool writes(const struct writing *w, const char *name);

/* Does what is called by the name at AT write through its argument INDEX? */
static bool
callee_writes(const struct writing *w, size_t at, size_t end, size_t index)
{
	static const char *const stores[] = { "atomic", "store", "memset", "memcpy", "memmove",
		"__stc", "__stw" };
	auto_free char *name = kstrndup(w->s->code + at, end - at);
	struct writing in = { w->s, kscan_function(w->s, name), w->seen };
	struct kscan_signature g;
	bool good = false;

	for (size_t i = 0; !in.f && !index && i < LEN(stores); i++)
		good |= strstr(name, stores[i]) && !strstr(name, "load");
	if (in.f) {
		kscan_signature(w->s, in.f, &g);
		good = index < g.count && !g.params[index].constant &&
		    writes(&in, g.params[index].name);
		kscan_signature_free(&g);
	}
	return good;
}

/* Is the pointer that begins at AT the value of another variable, which is written? */
static bool
alias_writes(const struct writing *w, size_t at)
{
	const char *code = w->s->code;
	size_t from = w->f->body, end = before_casts(w->s, at, from);
	char *name;
	bool good;

	if (end < from + 2 || code[--end] != '=' || strchr("=!<>+-*/%&|^", code[end - 1]))
		return false;
	while (end > from && isspace((unsigned char)code[end - 1]))
		end--;
	for (at = end; at > from && kis_word(code[at - 1]);)
		at--;
	name = kstrndup(code + at, end - at);
	good = *name && writes(w, name);
	free(name);
	return good;
}

/* Does the statement around the place AT declare variables: "int *p = q, *r"? */
static bool
is_declared(const struct kscan *s, size_t at, size_t from)
{
	size_t p = at, end;

	while (p > from && !strchr(";{}(", s->code[p - 1]))
		p--;
	p = skip_blank(s, p, at);
	end = word_end(s, p, at);
	at = skip_blank(s, end, at);
	return end > p && !kis_listed("else do return", s->code + p, end - p) &&
	    (s->code[at] == '*' || begins_word(s->code[at]));
}

/* A part of an expression, from AT to before P. */
struct place {
	size_t at, p;
	bool star;    /* a "*" stands before it, which what comes after it goes before */
	bool element; /* it is what the pointer points to, or in that */
	bool whole;   /* there is nothing else in its parentheses */
};

enum after { ENDS, ASSIGNED, CLOSES };

/* What comes after X, within its parentheses. */
static enum after
after_place(const struct kscan *s, struct place *x, size_t to)
{
	for (x->p = skip_blank(s, x->p, to); x->p < to; x->p = skip_blank(s, x->p + 1, to)) {
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
			x->p = matching(s, x->p, to);
		} else if (x->whole && (*c == '.' || !strncmp(c, "->", 2))) {
			x->element |= *c == '-';
			x->p = word_end(s, skip_blank(s, x->p + 1 + (*c == '-'), to), to) - 1;
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

/* Is what the pointer points to, whose name stands from AT to P, changed there? */
static bool
is_written_at(const struct writing *w, size_t at, size_t p)
{
	const struct kscan *s = w->s;
	size_t from = w->f->body, call, end;
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
		after = after_place(s, &x, w->f->to);
		if (after == ASSIGNED ||
		    (x.element && (!strncmp(c - 1, "++", 2) || !strncmp(c - 1, "--", 2))))
			return true;
		pointer = address || (!x.element && !x.star);
		if (after == ENDS)
			return pointer && alias_writes(w, address ? left - 1 : x.at);
		x.at = to_open(s, x.at, from, &index);
		if (is_called(s, x.at, from, &call, &end))
			return pointer && callee_writes(w, call, end, index);
		x.element |= x.star;
		/* A number of it, that others are added to. */
		if (x.element && (!x.whole || !strchr("(*&", *c)))
			return false;
	}
}

struct named {
	const struct writing *w;
	const char *name;
	bool found;
};

static bool
see_written(void *arg, const char *name, size_t len, size_t at)
{
	struct named *n = arg;
	const char *code = n->w->s->code;

	if (strlen(n->name) == len && !memcmp(name, n->name, len) && code[at - 1] != '.' &&
	    strncmp(code + at - 2, "->", 2))
		n->found = is_written_at(n->w, at, at + len);
	return !n->found;
}

static bool
writes(const struct writing *w, const char *name)
{
	struct named n = { w, name, false };
	auto_free char *key = kasprintf("%s@%zu", name, w->f->body);

	if (!json_object_get(w->seen, key)) {
		json_object_set_new(w->seen, key, json_true());
		kscan_identifiers(w->s, w->f->body, w->f->to, see_written, &n);
	}
	return n.found;
}

bool
kscan_writes(const struct kscan *s, const struct kscan_item *f, const char *name)
{
	struct writing w = { s, f, json_object() };
	bool found = writes(&w, name);

	json_decref(w.seen);
	return found;
}

/*
 * Does NAME have different values at different places of the function? Then no single place
 * determines it: "int b; if (wide) b = 512; else b = 256;".
 */
static bool
is_variable(const struct kscan *s, const struct kscan_item *f, const char *name)
{
	size_t n = strlen(name), times = 0;

	for (size_t p = f->body, end; p + n<f->to; p = end> p ? end : p + 1) {
		end = word_end(s, p, f->to);
		if (!is_text(s, p, end, name) || s->code[p - 1] == '.')
			continue;
		times += kscan_assigns(s, end, f->to) || !strncmp(s->code + p - 2, "++", 2) ||
		    !strncmp(s->code + p - 2, "--", 2);
	}
	return times > 1;
}

static int64_t
name_value(struct sum *x, const char *name)
{
	const struct kscan_scope *c = x->scope;
	const json_t *given = json_object_get(c->values, name);
	char *text = NULL;
	int64_t v = 0;

	if (json_is_number(given))
		return (int64_t)json_number_value(given);
	if (c->f && is_variable(c->s, c->f, name)) {
		x->bad = true;
		return 0;
	}
	if (c->f)
		text = initialiser(c->s, c->f->body, c->f->to, name);
	if (!text && c->s)
		text = constant_in(c->s, name);
	for (size_t i = 0; i < c->count && !text; i++)
		text = constant_in(c->sources[i], name);
	if (text) {
		v = number_of(x, text);
		free(text);
		return v;
	}
	if (c->s && enumerator_in(x, c->s, name, &v))
		return v;
	for (size_t i = 0; i < c->count; i++)
		if (enumerator_in(x, c->sources[i], name, &v))
			return v;
	x->bad = true;
	return 0;
}

static bool triple_of(struct sum *x, const char *expression, int64_t triple[3]);

static void
skip_spaces(struct sum *x)
{
	while (isspace((unsigned char)*x->p) || (*x->p == '\\' && x->p[1] == '\n'))
		x->p++;
}

static int64_t
word_value(struct sum *x)
{
	size_t n = 0;
	char name[128];

	while (kis_word(x->p[n]))
		n++;
	if (n >= sizeof name) {
		x->bad = true;
		return 0;
	}
	memcpy(name, x->p, n);
	name[n] = '\0';
	x->p += n;
	skip_spaces(x);
	if (*x->p == '.' && x->p[1] >= 'x' && x->p[1] <= 'z' && !kis_word(x->p[2])) {
		int64_t triple[3];
		int which = x->p[1] - 'x';

		x->p += 2;
		if (x->depth++ < CHAIN && triple_of(x, name, triple))
			return triple[which];
		x->bad = true;
		return 0;
	}
	return name_value(x, name);
}

/* A cast in parentheses: "(int)", "(unsigned long)". */
static bool
skip_cast(struct sum *x)
{
	const char *p = x->p + 1;
	bool any = false;

	for (;;) {
		size_t n = 0;

		while (*p == ' ')
			p++;
		while (kis_word(p[n]))
			n++;
		if (!kis_listed(
		        "int unsigned long size_t int64_t uint32_t int32_t short const", p, n))
			break;
		any = true;
		p += n;
	}
	if (!any || *p != ')')
		return false;
	x->p = p + 1;
	return true;
}

static int64_t
factor(struct sum *x)
{
	int64_t v;
	char *end;

	skip_spaces(x);
	if (*x->p == '(') {
		if (skip_cast(x))
			return factor(x);
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
	if (isdigit((unsigned char)*x->p)) {
		v = strtoll(x->p, &end, 0);
		while (*end && strchr("uUlL", *end))
			end++;
		x->bad |= *end == '.' || kis_word(*end);
		x->p = end;
		return v;
	}
	if (begins_word(*x->p))
		return word_value(x);
	x->bad = true;
	return 0;
}

static int64_t
evaluate(struct sum *x, int level)
{
	static const char *const operators[] = { "+-", "*/%" };
	int64_t v;

	if (level == 2)
		return factor(x);
	if (++x->depth > 4 * CHAIN) {
		x->bad = true;
		return 0;
	}
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

/* Up to three numbers, with commas between. */
static bool
numbers_of(struct sum *x, char *list, int64_t triple[3])
{
	int depth = 0, n = 0;
	char *start = list;

	triple[0] = triple[1] = triple[2] = 1;
	for (char *p = list;; p++) {
		char c = *p;

		depth += (c == '(') - (c == ')');
		if (c && (c != ',' || depth))
			continue;
		*p = '\0';
		if (n == 3)
			return false;
		triple[n++] = number_of(x, start);
		start = p + 1;
		if (!c)
			return !x->bad;
	}
}

static bool
triple_of(struct sum *x, const char *expression, int64_t triple[3])
{
	const struct kscan_scope *c = x->scope;
	auto_free char *list = NULL, *name = kstrdup(expression + strspn(expression, " \t\n"));
	size_t n = 0;

	while (kis_word(name[n]))
		n++;
	if (!strncmp(name, "dim3", 4) && (name[4] == '(' || name[4] == '{') && strlen(name) > 5)
		list = kstrndup(name + 5, strlen(name) - 6);
	else if (n && !name[n + strspn(name + n, " \t\n")] && begins_word(*name) && c->f) {
		name[n] = '\0';
		x->bad |= is_variable(c->s, c->f, name);
		list = dim3_arguments(c->s, c->f->body, c->f->to, name);
	}
	if (!list)
		list = kstrdup(name);
	return numbers_of(x, list, triple) && !x->bad;
}

bool
kscan_dim3(const struct kscan_scope *scope, const char *expression, int64_t triple[3])
{
	struct sum x = { .scope = scope };

	return triple_of(&x, expression, triple);
}
