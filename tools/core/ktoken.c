/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktoken: see ktoken.h. One scanner splits the source into spans; stripping and hashing both read
 * these.
 */
#include "ktoken.h"

#include "kregex.h"

/* The groups of the patterns below; a literal contains another group, for how it must end. */
enum kind { NEWLINE = 1, BLANK, COMMENT, STRING, ENDING, NUMBER, WORD, PUNCT, KINDS };

struct scanner {
	const char *s;
	size_t len;
	size_t from, to; /* the current span */
	enum ktoken_lang lang;
	bool fresh;     /* only blanks and comments so far on this line */
	bool directive; /* inside a preprocessor line */
};

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
	return kis_listed("python python3 py", name, strlen(name)) ? KTOKEN_PYTHON : KTOKEN_C;
}

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	    c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static char
at(const struct scanner *x, size_t pos)
{
	return pos < x->len ? x->s[pos] : '\0';
}

/* Puts the next span into from and to, and its kind into KIND; false at the end. */
static bool
next_span(struct scanner *x, enum kind *kind)
{
	struct kregex_span at[KINDS];

	x->from = x->to;
	if (x->from >= x->len)
		return false;
	*kind = NEWLINE;
	if (!kregex_find(spans[x->lang], x->s + x->from, x->len - x->from, at, KINDS)) {
		/* The text needs too many steps of the pattern. */
		at->to = 1;
		*kind = PUNCT;
	} else {
		while (at[*kind].from == KREGEX_UNSET)
			++*kind;
	}
	x->to += at->to;
	if (*kind == NEWLINE) {
		x->fresh = true;
		x->directive = false;
	} else if (*kind >= STRING) {
		x->directive |= x->lang == KTOKEN_C && x->fresh && x->s[x->from] == '#';
		x->fresh = false;
	}
	return true;
}

static bool
is_one_of(const struct scanner *x, const char *list)
{
	return kis_listed(list, x->s + x->from, x->to - x->from);
}

/* Where strings are code: in certain lines, and inside the parentheses of certain calls. */
struct keeper {
	bool in_line, line; /* in a preprocessor line; in one whose strings are kept */
	bool headed;        /* the word after # has been seen */
	bool called;        /* a call's name has been seen, its parenthesis not yet */
	int depth;          /* open parentheses of the call */
};

static void
keeper_see(struct keeper *k, const struct scanner *x, enum kind kind)
{
	if (x->directive != k->in_line) {
		*k = (struct keeper){ .in_line = x->directive };
	} else if (kind == WORD && k->in_line && !k->headed) {
		k->headed = true;
		k->line = is_one_of(x, code_lines);
	}
	if (kind == WORD && !k->depth) {
		k->called |= is_one_of(x, code_calls);
	} else if (kind == PUNCT) {
		if (x->s[x->from] == '(' && (k->called || k->depth))
			k->depth++;
		else if (x->s[x->from] == ')' && k->depth)
			k->depth--;
		k->called = false;
	}
}

/* Blanks out the inside of the current span; a literal keeps its quotes. */
static void
blank_out(const struct scanner *x, enum kind kind, char *out)
{
	size_t from = x->from, to = x->to;

	if (kind == STRING) {
		while (from < to && x->s[from] != '"' && x->s[from] != '\'')
			from++;
		from++;
		if (to > from && (x->s[to - 1] == '"' || x->s[to - 1] == '\''))
			to--;
	}
	for (size_t i = from; i < to; i++)
		if (out[i] != '\n' && out[i] != '\r')
			out[i] = ' ';
}

char *
ktoken_strip(const char *src, size_t len, enum ktoken_lang lang)
{
	struct scanner x = { .s = src, .len = len, .lang = lang, .fresh = true };
	struct keeper keep = { 0 };
	enum kind kind;
	char *out = kmalloc(len + 1);

	memcpy(out, src, len);
	out[len] = '\0';
	while (next_span(&x, &kind)) {
		keeper_see(&keep, &x, kind);
		if (kind == COMMENT || (kind == STRING && !keep.line && !keep.depth))
			blank_out(&x, kind, out);
	}
	return out;
}

struct hasher {
	struct kbuf text;
	int brackets;       /* open brackets: Python's lines end only outside them */
	bool line;          /* this line holds a token */
	size_t indent[128]; /* columns of the open blocks */
	size_t depth;
};

static void
add_token(struct hasher *h, const char *token, size_t len)
{
	unsigned char size[4] = { (unsigned char)len, (unsigned char)(len >> 8),
		(unsigned char)(len >> 16), (unsigned char)(len >> 24) };

	kbuf_add(&h->text, size, sizeof size);
	kbuf_add(&h->text, token, len);
	h->line = true;
}

static size_t
column_of(const struct scanner *x)
{
	size_t start = x->from, column = 0;

	while (start > 0 && x->s[start - 1] != '\n')
		start--;
	for (size_t i = start; i < x->from; i++)
		column = x->s[i] == '\t' ? (column / 8 + 1) * 8 : column + 1;
	return column;
}

/*
 * Blocks that begin or end with this line of Python; deeper levels than the table holds are hashed
 * unchanged.
 */
static void
add_indent(struct hasher *h, const struct scanner *x)
{
	size_t column = column_of(x);

	while (h->depth && column < h->indent[h->depth - 1]) {
		h->depth--;
		add_token(h, "\n<", 2);
	}
	if (column <= (h->depth ? h->indent[h->depth - 1] : 0))
		return;
	if (h->depth == LEN(h->indent)) {
		add_token(h, (const char *)&column, sizeof column);
		return;
	}
	h->indent[h->depth++] = column;
	add_token(h, "\n>", 2);
}

static void
add_python(struct hasher *h, const struct scanner *x, enum kind kind)
{
	char c = x->s[x->from];

	if (kind == NEWLINE) {
		if (h->line && !h->brackets)
			add_token(h, "\n", 1);
		h->line = h->line && h->brackets;
		return;
	}
	if (!h->line && !h->brackets)
		add_indent(h, x);
	if (kind == PUNCT && (c == '(' || c == '[' || c == '{'))
		h->brackets++;
	else if (kind == PUNCT && (c == ')' || c == ']' || c == '}') && h->brackets)
		h->brackets--;
	add_token(h, x->s + x->from, x->to - x->from);
}

static void
add_c(struct hasher *h, const struct scanner *x, enum kind kind, bool was_directive)
{
	char c = x->s[x->from];

	if (kind == NEWLINE) {
		if (was_directive)
			add_token(h, "\n", 1);
		return;
	}
	if (c == '(' && x->directive && x->from > 0 && is_word(x->s[x->from - 1]))
		add_token(h, "\n(", 2);
	add_token(h, x->s + x->from, x->to - x->from);
}

/*
 * A line splice in the middle of a word or operator joins its halves and does not count as a blank.
 */
static bool
is_joint(const struct scanner *x)
{
	char before = x->from ? x->s[x->from - 1] : '\n', after = at(x, x->to);

	return x->s[x->from] == '\\' && x->s[x->to - 1] == '\n' && before != '\n' &&
	    after != '\n' && after != '\0';
}

void
ktoken_hash_as(const char *src, size_t len, enum ktoken_lang lang, char hex[17])
{
	struct scanner x = { .s = src, .len = len, .lang = lang, .fresh = true };
	struct hasher h = { 0 };
	enum kind kind;
	bool was_directive = false;
	char digest[65];

	while (next_span(&x, &kind)) {
		if (kind == BLANK && is_joint(&x))
			add_token(&h, "\\", 1);
		else if (kind != BLANK && kind != COMMENT && lang == KTOKEN_PYTHON)
			add_python(&h, &x, kind);
		else if (kind != BLANK && kind != COMMENT)
			add_c(&h, &x, kind, was_directive);
		was_directive = x.directive;
	}
	if (was_directive || (lang == KTOKEN_PYTHON && h.line))
		add_token(&h, "\n", 1);
	ksha256_hex(h.text.data, h.text.len, digest);
	memcpy(hex, digest, 16);
	hex[16] = '\0';
	kbuf_free(&h.text);
}

void
ktoken_hash(const char *src, size_t len, char hex[17])
{
	ktoken_hash_as(src, len, KTOKEN_C, hex);
}
