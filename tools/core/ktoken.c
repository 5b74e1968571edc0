/* SPDX-License-Identifier: Apache-2.0 */
/* ktoken: see ktoken.h. */
#include "ktoken.h"

#include "kregex.h"

/* The text that is being read; one at a time. */
static struct scanner {
	const char *s;
	size_t len;
	enum ktoken_lang lang;
	struct ktoken t; /* the current one */
	bool fresh;      /* only blanks and comments so far on this line */
} scanner;

/* The groups of these patterns are the kinds; a literal contains another, for how it must end. */

#define LETTER "[\\w$\\x80-\\xff]"
#define SPACE "(\n)|((?:[ \\t\r\\f\\x0b]|\\\\\r?\n)++)|"
#define COMMENT_C "(//(?:\\\\\r?\n|[^\n])*+|/\\*(?:[^*]|\\*(?!/))*+(?:\\*/)?)|"
/* A literal ends with its line, unless the line ends with a backslash. */
#define QUOTED "\"(?:\\\\(?:\r\n|.)?+|[^\"\\\\\n])*+\"?|'(?:\\\\(?:\r\n|.)?+|[^'\\\\\n])*+'?"
#define RAW "(?:L|u8?|U)?R\"([^(]{0,16}+)(?:(?!\\)\\g{-1}\").)*+(?:\\)\\g{-1}\")?"
#define STRING_C "(" RAW "|(?:L|u8?|U|(?:L|u8?|U)?R(?='))?(?:" QUOTED "))|"
#define TRIPLE "(\"\"\"|''')(?:\\\\.?+|(?!\\g{-1}).)*+(?:\\g{-1})?"
#define STRING_PYTHON "([rRbBuUfF]{0,2}(?:" TRIPLE "|" QUOTED "))|"
/* What the preprocessor calls a number, and a word. */
#define NUMBERS(more) "(\\.?\\d(?:(?<=[eEpP])[+-]|" more "\\.|" LETTER ")*+)|(" LETTER "++)|"
/* The longest signs come first. */
#define SIGNS_C \
	"(<<<|>>>|<<=|>>=|\\.\\.\\.|->\\*|<=>|\\+\\+|--|->|<<|>>|[<>=!]=|&&|\\|\\||" \
	"[-+*/%&|^]=|##|::|\\.\\*|.)"
#define SIGNS_PYTHON "(\\*\\*=|//=|<<=|>>=|\\.\\.\\.|\\*\\*|//|<<|>>|[<>=!:]=|->|[-+*/%&|^@]=|.)"
#define SPAN(comment, string, number, sign) "(?s)\\A(?:" SPACE comment string number sign ")"

static const char *const spans[] = {
	[KTOKEN_C] = SPAN(COMMENT_C, STRING_C, NUMBERS("'(?=" LETTER ")|"), SIGNS_C),
	[KTOKEN_PYTHON] = SPAN("(\\#[^\n]*+)|", STRING_PYTHON, NUMBERS(""), SIGNS_PYTHON),
};

/* Calls that contain code in their strings. */
static const char code_calls[] = "asm __asm __asm__ _Pragma __pragma inline_asm_elementwise";
/* The strings in these preprocessor lines are code too. */
static const char code_lines[] = "include include_next import pragma";

enum ktoken_lang
ktoken_lang_of(const char *name)
{
	return kis_one_of("python python3 py", name) ? KTOKEN_PYTHON : KTOKEN_C;
}

static bool
is_word(char c)
{
	return kis_word(c) || c == '$' || (unsigned char)c >= 0x80;
}

void
ktoken_start(const char *src, size_t len, enum ktoken_lang lang)
{
	scanner = (struct scanner){ .s = src, .len = len, .lang = lang, .fresh = true };
}

bool
ktoken_next(struct ktoken *given)
{
	struct ktoken *t = &scanner.t;
	struct kregex_span at[KTOKEN_KINDS];

	t->from = t->to;
	t->kind = KTOKEN_NEWLINE;
	if (t->from >= scanner.len)
		return false;
	if (!kregex_find(spans[scanner.lang], scanner.s + t->from, scanner.len - t->from, at,
	        KTOKEN_KINDS)) {
		/* The text needs too many steps of the pattern. */
		at->to = 1;
		t->kind = KTOKEN_SIGN;
	}
	while (t->kind < KTOKEN_SIGN && at[t->kind].from == KREGEX_UNSET)
		t->kind++;
	t->to += at->to;
	if (t->kind == KTOKEN_NEWLINE) {
		scanner.fresh = true;
		t->directive = false;
	} else if (t->kind >= KTOKEN_STRING) {
		t->directive |=
		    scanner.lang == KTOKEN_C && scanner.fresh && scanner.s[t->from] == '#';
		scanner.fresh = false;
	}
	*given = *t;
	return true;
}

static bool
is_one_of(const struct ktoken *t, const char *list)
{
	return kis_listed(list, scanner.s + t->from, t->to - t->from);
}

/* Where strings are code: in certain lines, and inside the parentheses of certain calls. */
struct keeper {
	bool in_line, line; /* in a preprocessor line; in one whose strings are kept */
	bool headed;        /* the word after # has been seen */
	bool called;        /* a call's name has been seen, its parenthesis not yet */
	int depth;          /* open parentheses of the call */
};

static void
keeper_see(struct keeper *k, const struct ktoken *t)
{
	char c = scanner.s[t->from];

	if (t->directive != k->in_line) {
		*k = (struct keeper){ .in_line = t->directive };
	} else if (t->kind == KTOKEN_WORD && k->in_line && !k->headed) {
		k->headed = true;
		k->line = is_one_of(t, code_lines);
	}
	if (t->kind == KTOKEN_WORD && !k->depth) {
		k->called |= is_one_of(t, code_calls);
	} else if (t->kind == KTOKEN_SIGN) {
		k->depth += c == '(' && (k->called || k->depth);
		k->depth -= c == ')' && k->depth;
		k->called = false;
	}
}

/* Blanks out the inside of a span; a literal keeps its quotes. */
static void
blank_out(const struct ktoken *t, char *out)
{
	size_t from = t->from, to = t->to;

	if (t->kind == KTOKEN_STRING) {
		while (from < to && scanner.s[from] != '"' && scanner.s[from] != '\'')
			from++;
		from++;
		if (to > from && (scanner.s[to - 1] == '"' || scanner.s[to - 1] == '\''))
			to--;
	}
	for (size_t i = from; i < to; i++)
		if (out[i] != '\n' && out[i] != '\r')
			out[i] = ' ';
}

char *
ktoken_strip(const char *src, size_t len, enum ktoken_lang lang)
{
	struct keeper keep = { 0 };
	char *out = kmemdup(src, len);

	ktoken_start(src, len, lang);
	for (struct ktoken t; ktoken_next(&t);) {
		keeper_see(&keep, &t);
		if (t.kind == KTOKEN_COMMENT ||
		    (t.kind == KTOKEN_STRING && !keep.line && !keep.depth))
			blank_out(&t, out);
	}
	return out;
}

static struct hasher {
	struct kbuf text;
	int brackets;       /* open brackets: Python's lines end only outside them */
	bool line;          /* this line holds a token */
	size_t indent[128]; /* columns of the open blocks: more than Python allows */
	size_t depth;
} hasher;

static void
add_token(const void *token, size_t len)
{
	uint32_t size = (uint32_t)len;

	kbuf_add(&hasher.text, &size, sizeof size);
	kbuf_add(&hasher.text, token, len);
	hasher.line = true;
}

static size_t
column_of(size_t at)
{
	size_t start = at, column = 0;

	while (start > 0 && scanner.s[start - 1] != '\n')
		start--;
	for (size_t i = start; i < at; i++)
		column = scanner.s[i] == '\t' ? (column / 8 + 1) * 8 : column + 1;
	return column;
}

/* Blocks that begin or end with a line of Python. */
static void
add_indent(size_t column)
{
	for (; hasher.depth && column < hasher.indent[hasher.depth - 1]; hasher.depth--)
		add_token("\n<", 2);
	if (column > (hasher.depth ? hasher.indent[hasher.depth - 1] : 0) &&
	    hasher.depth < LEN(hasher.indent)) {
		hasher.indent[hasher.depth++] = column;
		add_token("\n>", 2);
	}
}

/* What layout means in Python: the ends of lines outside brackets, and their indentation. */
static void
add_layout(const struct ktoken *t)
{
	char c = scanner.s[t->from];

	if (t->kind == KTOKEN_NEWLINE) {
		if (hasher.line && !hasher.brackets)
			add_token("\n", 1);
		hasher.line = hasher.line && hasher.brackets;
		return;
	}
	if (!hasher.line && !hasher.brackets)
		add_indent(column_of(t->from));
	if (t->kind == KTOKEN_SIGN && strchr("([{", c))
		hasher.brackets++;
	else if (t->kind == KTOKEN_SIGN && strchr(")]}", c) && hasher.brackets)
		hasher.brackets--;
}

void
ktoken_hash_as(const char *src, size_t len, enum ktoken_lang lang, char hex[17])
{
	bool was_directive = false;

	ktoken_start(src, len, lang);
	hasher = (struct hasher){ 0 };
	for (struct ktoken t; ktoken_next(&t); was_directive = t.directive) {
		/* A line splice in the middle of a word or operator does not count as a blank. */
		bool joint = t.kind == KTOKEN_BLANK && src[t.from] == '\\' && src[t.to - 1] == '\n';

		if (t.kind == KTOKEN_COMMENT || (t.kind == KTOKEN_BLANK && !joint))
			continue;
		if (lang == KTOKEN_PYTHON && !joint)
			add_layout(&t);
		if (t.kind == KTOKEN_NEWLINE && was_directive)
			add_token("\n", 1);
		if (src[t.from] == '(' && t.directive && is_word(src[t.from - 1]))
			add_token("\n(", 2);
		if (t.kind != KTOKEN_NEWLINE)
			add_token(src + t.from, joint ? 1 : t.to - t.from);
	}
	if (was_directive || (lang == KTOKEN_PYTHON && hasher.line))
		add_token("\n", 1);
	snprintf(hex, 17, "%.16s", ksha256(hasher.text.data, hasher.text.len));
	kbuf_free(&hasher.text);
}

void
ktoken_hash(const char *src, size_t len, char hex[17])
{
	ktoken_hash_as(src, len, KTOKEN_C, hex);
}
