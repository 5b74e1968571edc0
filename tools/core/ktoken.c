/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktoken: see ktoken.h. One scanner splits the source into spans; stripping and hashing are two
 * readers of them.
 */
#include "ktoken.h"

enum kind { BLANK, NEWLINE, COMMENT, STRING, WORD, NUMBER, PUNCT };

struct scanner {
	const char *s;
	size_t len;
	size_t from, to; /* the current span */
	enum ktoken_lang lang;
	bool fresh;     /* only blanks and comments so far on this line */
	bool directive; /* inside a preprocessor line */
};

/* Longest first; what is not listed is one byte long. */
static const char c_punct[] = "<<< >>> <<= >>= ... ->* <=> ++ -- -> << >> <= >= == != && || += -= "
                              "*= /= "
                              "%= &= |= ^= ## :: .*";
static const char python_punct[] = "**= //= <<= >>= ... ** // << >> <= >= == != -> := += -= *= /= "
                                   "%= &= |= "
                                   "^= @=";

/* A call of one of these carries code in its strings. */
static const char code_calls[] = "asm __asm __asm__ _Pragma __pragma inline_asm_elementwise";
/* The strings of these preprocessor lines are code too. */
static const char code_lines[] = "include include_next import pragma";

enum ktoken_lang
ktoken_lang_of(const char *name)
{
	return kis_listed("python python3 py", name, strlen(name)) ? KTOKEN_PYTHON : KTOKEN_C;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	    c == '$' || (unsigned char)c >= 0x80;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static char
at(const struct scanner *x, size_t pos)
{
	return pos < x->len ? x->s[pos] : '\0';
}

/* Length of a backslash and the line break behind it, or 0. */
static size_t
splice(const struct scanner *x, size_t pos)
{
	if (at(x, pos) != '\\')
		return 0;
	if (at(x, pos + 1) == '\n')
		return 2;
	return at(x, pos + 1) == '\r' && at(x, pos + 2) == '\n' ? 3 : 0;
}

static void
scan_line_comment(struct scanner *x)
{
	while (x->to < x->len && x->s[x->to] != '\n') {
		size_t n = x->lang == KTOKEN_C ? splice(x, x->to) : 0;

		x->to += n ? n : 1;
	}
}

static void
scan_block_comment(struct scanner *x)
{
	for (x->to += 2; x->to < x->len; x->to++)
		if (x->s[x->to] == '*' && at(x, x->to + 1) == '/') {
			x->to += 2;
			return;
		}
}

/* R"tag( … )tag"; x->to is at the opening quote. */
static void
scan_raw_string(struct scanner *x)
{
	size_t tag = ++x->to, tag_len = 0;

	while (tag + tag_len < x->len && tag_len < 16 && x->s[tag + tag_len] != '(')
		tag_len++;
	for (x->to = tag + tag_len; x->to < x->len; x->to++)
		if (x->s[x->to] == ')' && x->len - x->to >= tag_len + 2 &&
		    x->s[x->to + 1 + tag_len] == '"' &&
		    !memcmp(x->s + x->to + 1, x->s + tag, tag_len)) {
			x->to += tag_len + 2;
			return;
		}
}

static void
scan_triple_string(struct scanner *x, char quote)
{
	for (x->to += 3; x->to < x->len; x->to++) {
		if (x->s[x->to] == '\\') {
			x->to++;
		} else if (x->s[x->to] == quote && at(x, x->to + 1) == quote &&
		    at(x, x->to + 2) == quote) {
			x->to += 3;
			return;
		}
	}
}

/* A string or character literal; x->to is at the opening quote. */
static void
scan_string(struct scanner *x)
{
	char quote = x->s[x->to];

	if (x->lang == KTOKEN_PYTHON && at(x, x->to + 1) == quote && at(x, x->to + 2) == quote) {
		scan_triple_string(x, quote);
	} else {
		for (x->to++; x->to < x->len && x->s[x->to] != '\n'; x->to++) {
			if (x->s[x->to] == '\\') {
				x->to += splice(x, x->to) == 3 ? 2 : 1;
			} else if (x->s[x->to] == quote) {
				x->to++;
				break;
			}
		}
	}
	if (x->to > x->len)
		x->to = x->len;
}

static bool
is_string_prefix(const struct scanner *x, size_t from, size_t len)
{
	if (x->lang == KTOKEN_PYTHON)
		return len <= 2 && strspn(x->s + from, "rRbBuUfF") >= len;
	return kis_listed("L u U u8 R LR uR UR u8R", x->s + from, len);
}

/* A word, or the string literal whose prefix it is. */
static enum kind
scan_word(struct scanner *x)
{
	char next;

	while (x->to < x->len && is_word(x->s[x->to]))
		x->to++;
	next = at(x, x->to);
	if ((next != '"' && next != '\'') || !is_string_prefix(x, x->from, x->to - x->from))
		return WORD;
	if (x->lang == KTOKEN_C && x->s[x->to - 1] == 'R' && next == '"')
		scan_raw_string(x);
	else
		scan_string(x);
	return STRING;
}

/* What the preprocessor calls a number, digit separators and signed exponents included. */
static enum kind
scan_number(struct scanner *x)
{
	for (x->to++; x->to < x->len; x->to++) {
		char c = x->s[x->to];

		if ((c == '+' || c == '-') && strchr("eEpP", x->s[x->to - 1]))
			continue;
		if (c == '\'' && x->lang == KTOKEN_C && is_word(at(x, x->to + 1)))
			continue;
		if (c != '.' && !is_word(c))
			break;
	}
	return NUMBER;
}

static enum kind
scan_punct(struct scanner *x)
{
	const char *p = x->lang == KTOKEN_C ? c_punct : python_punct;
	size_t n = 0;

	for (; *p; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if (*p == x->s[x->from] && x->len - x->from >= n && !memcmp(x->s + x->from, p, n))
			break;
	}
	x->to += *p ? n : 1;
	return PUNCT;
}

static enum kind
scan_blank(struct scanner *x)
{
	size_t n = 1;

	while (x->to < x->len && n) {
		n = is_blank(x->s[x->to]) ? 1 : splice(x, x->to);
		x->to += n;
	}
	return BLANK;
}

static enum kind
scan_token(struct scanner *x)
{
	char c = x->s[x->to];

	if (x->lang == KTOKEN_C && x->fresh && c == '#')
		x->directive = true;
	x->fresh = false;
	if (c == '"' || c == '\'') {
		scan_string(x);
		return STRING;
	}
	if (is_digit(c) || (c == '.' && is_digit(at(x, x->to + 1))))
		return scan_number(x);
	return is_word(c) ? scan_word(x) : scan_punct(x);
}

/* The next span into from and to, and its kind; false at the end. */
static bool
next_span(struct scanner *x, enum kind *kind)
{
	char c, next;

	x->from = x->to;
	if (x->from >= x->len)
		return false;
	c = x->s[x->from];
	next = at(x, x->from + 1);
	if (c == '\n') {
		x->to++;
		x->fresh = true;
		x->directive = false;
		*kind = NEWLINE;
	} else if (is_blank(c) || splice(x, x->from)) {
		*kind = scan_blank(x);
	} else if (x->lang == KTOKEN_C ? c == '/' && next == '/' : c == '#') {
		scan_line_comment(x);
		*kind = COMMENT;
	} else if (x->lang == KTOKEN_C && c == '/' && next == '*') {
		scan_block_comment(x);
		*kind = COMMENT;
	} else {
		*kind = scan_token(x);
	}
	return true;
}

static bool
is_one_of(const struct scanner *x, const char *list)
{
	return kis_listed(list, x->s + x->from, x->to - x->from);
}

/* Where strings are code: on certain lines, and inside the parentheses of certain calls. */
struct keeper {
	bool in_line, line; /* in a preprocessor line; and its strings are kept */
	bool headed;        /* the word behind # has been seen */
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

/* Blanks the inside of the current span; a literal keeps its outermost bytes. */
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
	int brackets;       /* open ones: Python's lines end only outside */
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
 * Blocks that begin or end with this line of Python; depths beyond the table are hashed as they
 * stand.
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

/* A line splice in the middle of a word or operator joins its halves: not a blank. */
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
	ksha256_hex(h.text.data ? h.text.data : "", h.text.len, digest);
	memcpy(hex, digest, 16);
	hex[16] = '\0';
	kbuf_free(&h.text);
}

void
ktoken_hash(const char *src, size_t len, char hex[17])
{
	ktoken_hash_as(src, len, KTOKEN_C, hex);
}
