/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktoken: see ktoken.h. One scanner splits the source into spans; stripping and hashing both read
 * these.
 */
#include "ktoken.h"

#include "kregex.h"

/* The groups of the patterns below; a literal contains another group, for how it must end. */
enum kind { NEWLINE = 1, BLANK, COMMENT, STRING, ENDING, NUMBER, WORD, PUNCT, KINDS };

/* The text that is being read; one at a time. */
static struct scanner {
	const char *s;
	size_t len;
	size_t from, to; /* the current span */
	enum ktoken_lang lang;
	bool fresh;     /* only blanks and comments so far on this line */
	bool directive; /* inside a preprocessor line */
} scanner;

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

static char
at(size_t pos)
{
	return pos < scanner.len ? scanner.s[pos] : '\0';
}

/* Puts the next span into from and to, and its kind into KIND; false at the end. */
static bool
next_span(enum kind *kind)
{
	struct kregex_span at[KINDS];

	scanner.from = scanner.to;
	if (scanner.from >= scanner.len)
		return false;
	*kind = NEWLINE;
	if (!kregex_find(spans[scanner.lang], scanner.s + scanner.from, scanner.len - scanner.from,
	        at, KINDS)) {
		/* The text needs too many steps of the pattern. */
		at->to = 1;
		*kind = PUNCT;
	} else {
		while (at[*kind].from == KREGEX_UNSET)
			++*kind;
	}
	scanner.to += at->to;
	if (*kind == NEWLINE) {
		scanner.fresh = true;
		scanner.directive = false;
	} else if (*kind >= STRING) {
		scanner.directive |=
		    scanner.lang == KTOKEN_C && scanner.fresh && scanner.s[scanner.from] == '#';
		scanner.fresh = false;
	}
	return true;
}

static bool
is_one_of(const char *list)
{
	return kis_listed(list, scanner.s + scanner.from, scanner.to - scanner.from);
}

/* Where strings are code: in certain lines, and inside the parentheses of certain calls. */
struct keeper {
	bool in_line, line; /* in a preprocessor line; in one whose strings are kept */
	bool headed;        /* the word after # has been seen */
	bool called;        /* a call's name has been seen, its parenthesis not yet */
	int depth;          /* open parentheses of the call */
};

static void
keeper_see(struct keeper *k, enum kind kind)
{
	if (scanner.directive != k->in_line) {
		*k = (struct keeper){ .in_line = scanner.directive };
	} else if (kind == WORD && k->in_line && !k->headed) {
		k->headed = true;
		k->line = is_one_of(code_lines);
	}
	if (kind == WORD && !k->depth) {
		k->called |= is_one_of(code_calls);
	} else if (kind == PUNCT) {
		if (scanner.s[scanner.from] == '(' && (k->called || k->depth))
			k->depth++;
		else if (scanner.s[scanner.from] == ')' && k->depth)
			k->depth--;
		k->called = false;
	}
}

/* Blanks out the inside of the current span; a literal keeps its quotes. */
static void
blank_out(enum kind kind, char *out)
{
	size_t from = scanner.from, to = scanner.to;

	if (kind == STRING) {
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
	enum kind kind;
	char *out = kmalloc(len + 1);

	scanner = (struct scanner){ .s = src, .len = len, .lang = lang, .fresh = true };
	memcpy(out, src, len);
	out[len] = '\0';
	while (next_span(&kind)) {
		keeper_see(&keep, kind);
		if (kind == COMMENT || (kind == STRING && !keep.line && !keep.depth))
			blank_out(kind, out);
	}
	return out;
}

static struct hasher {
	struct kbuf text;
	int brackets;       /* open brackets: Python's lines end only outside them */
	bool line;          /* this line holds a token */
	size_t indent[128]; /* columns of the open blocks */
	size_t depth;
} hasher;

static void
add_token(const char *token, size_t len)
{
	unsigned char size[4] = { (unsigned char)len, (unsigned char)(len >> 8),
		(unsigned char)(len >> 16), (unsigned char)(len >> 24) };

	kbuf_add(&hasher.text, size, sizeof size);
	kbuf_add(&hasher.text, token, len);
	hasher.line = true;
}

static size_t
column_of(void)
{
	size_t start = scanner.from, column = 0;

	while (start > 0 && scanner.s[start - 1] != '\n')
		start--;
	for (size_t i = start; i < scanner.from; i++)
		column = scanner.s[i] == '\t' ? (column / 8 + 1) * 8 : column + 1;
	return column;
}

/*
 * Blocks that begin or end with this line of Python; deeper levels than the table holds are hashed
 * unchanged.
 */
static void
add_indent(void)
{
	size_t column = column_of();

	while (hasher.depth && column < hasher.indent[hasher.depth - 1]) {
		hasher.depth--;
		add_token("\n<", 2);
	}
	if (column <= (hasher.depth ? hasher.indent[hasher.depth - 1] : 0))
		return;
	if (hasher.depth == LEN(hasher.indent)) {
		add_token((const char *)&column, sizeof column);
		return;
	}
	hasher.indent[hasher.depth++] = column;
	add_token("\n>", 2);
}

static void
add_python(enum kind kind)
{
	char c = scanner.s[scanner.from];

	if (kind == NEWLINE) {
		if (hasher.line && !hasher.brackets)
			add_token("\n", 1);
		hasher.line = hasher.line && hasher.brackets;
		return;
	}
	if (!hasher.line && !hasher.brackets)
		add_indent();
	if (kind == PUNCT && (c == '(' || c == '[' || c == '{'))
		hasher.brackets++;
	else if (kind == PUNCT && (c == ')' || c == ']' || c == '}') && hasher.brackets)
		hasher.brackets--;
	add_token(scanner.s + scanner.from, scanner.to - scanner.from);
}

static void
add_c(enum kind kind, bool was_directive)
{
	char c = scanner.s[scanner.from];

	if (kind == NEWLINE) {
		if (was_directive)
			add_token("\n", 1);
		return;
	}
	if (c == '(' && scanner.directive && scanner.from > 0 &&
	    is_word(scanner.s[scanner.from - 1]))
		add_token("\n(", 2);
	add_token(scanner.s + scanner.from, scanner.to - scanner.from);
}

/*
 * A line splice in the middle of a word or operator joins its halves and does not count as a blank.
 */
static bool
is_joint(void)
{
	char before = scanner.from ? scanner.s[scanner.from - 1] : '\n', after = at(scanner.to);

	return scanner.s[scanner.from] == '\\' && scanner.s[scanner.to - 1] == '\n' &&
	    before != '\n' && after != '\n' && after != '\0';
}

void
ktoken_hash_as(const char *src, size_t len, enum ktoken_lang lang, char hex[17])
{
	enum kind kind;
	bool was_directive = false;

	scanner = (struct scanner){ .s = src, .len = len, .lang = lang, .fresh = true };
	hasher = (struct hasher){ 0 };
	while (next_span(&kind)) {
		if (kind == BLANK && is_joint())
			add_token("\\", 1);
		else if (kind != BLANK && kind != COMMENT && lang == KTOKEN_PYTHON)
			add_python(kind);
		else if (kind != BLANK && kind != COMMENT)
			add_c(kind, was_directive);
		was_directive = scanner.directive;
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
