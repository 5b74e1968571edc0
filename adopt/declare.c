/* SPDX-License-Identifier: Apache-2.0 */
/* kscan: see kscan.h. Here: signatures, members of types, typedefs. */
#include "kregex.h"
#include "kscan.h"

/* Attributes, which are not part of a type. */
static const char attributes[] = "\\[\\[[^]]*\\]\\]|\\b(?!sizeof)(?:" KSCAN_ATTRIBUTES ")"
                                 "\\s*(\\((?:[^()]++|(?1))*+\\))";

/* The code from FROM to TO without attributes. The caller frees. */
static char *
plain_code(const struct kscan *s, size_t from, size_t to)
{
	auto_free char *code = kscan_copy(s, from, to);

	return kregex_sub(attributes, code, "");
}

/* Words that are neither the name of a parameter nor, for us, a part of its type. */
#define QUALIFIERS \
	"\\b(?:const|volatile|restrict|__restrict__|__restrict|register|struct|__grid_constant__|" \
	"static)\\b"

/* After the word, the square brackets or the character at P. */
static size_t
step(const struct kscan *s, size_t p, size_t to)
{
	return kis_word(s->code[p]) || s->code[p] == '[' ? kscan_after(s, p, to) : p + 1;
}

/*
 * The last word outside square brackets, if another one precedes it; else TO. A pointer to a
 * function or to an array has its name before a ')': "(*f)(int)".
 */
static size_t
name_of_param(const struct kscan *s, size_t from, size_t to)
{
	size_t last = to, words = 0;

	for (size_t p = from; p < to; p = step(s, p, to))
		if (kscan_begins_word(s->code[p]) &&
		    !kscan_matches(s, p, kscan_word(s, p, to), "\\A" QUALIFIERS "\\z")) {
			words++;
			last = p;
			if (words > 1 && s->code[kscan_next(s, p, to)] == ')')
				break;
		}
	return words > 1 ? last : to;
}

static void
read_param(const struct kscan *in, size_t from, size_t to, struct kscan_param *x)
{
	static const char bounds[] = "(\\[(?:[^][]|(?1))*\\])",
	                  others[] = QUALIFIERS "|[^\\w\\s<>:,]";
	auto_free char *code = plain_code(in, from, to), *open = NULL, *words = NULL;
	const struct kscan own = kscan_code(code), *s = &own;
	struct kscan type;
	size_t last, given = 0;

	from = 0;
	to = own.len;
	*x = (struct kscan_param){ .text = kscan_tidy(s, from, to) };
	/* A default value begins outside brackets. */
	for (; given < to && s->code[given] != '='; given++)
		given = s->code[given] && strchr("([{", s->code[given]) ? kscan_close(s, given, to)
		                                                        : given;
	to = given < to ? given : to;
	last = name_of_param(s, from, to);
	x->name = kscan_copy(s, last, kscan_word(s, last, to));
	/* What is left without the name is the type, with an open bracket for every dimension. */
	memset(code + last, ' ', strlen(x->name));
	code[to] = '\0';
	open = kregex_sub(bounds, code, "[");
	words = kregex_sub(others, open, " ");
	type = kscan_code(words);
	x->type = kscan_tidy(&type, 0, type.len);
	x->constant = kregex_is("\\A[^*]*\\bconst\\b", open);
	for (const char *c = open; *c; c++) {
		x->stars += *c == '*';
		x->rows += *c == '[';
		x->strange |= *c == '(' || *c == '&';
	}
	x->stars += x->rows > 0;
	x->rows -= x->rows > 0;
	x->strange |= x->stars > 1;
}

/* The text before the name and its path, without attributes. */
static char *
result_of(const struct kscan_item *f)
{
	const struct kscan *s = f->in;
	auto_free char *whole = kscan_tidy(s, f->from, kscan_path_start(s, f->from, f->name_at));
	char *text = kregex_sub(attributes, whole, "");

	for (size_t n = strlen(text); n && text[n - 1] == ' ';)
		text[--n] = '\0';
	return text;
}

struct kscan_signature
kscan_signature(const struct kscan_item *f)
{
	const struct kscan *s = f->in;
	size_t close = kscan_close(s, f->open, f->to);
	struct kscan_signature g = { .result = result_of(f),
		.close = close,
		.constant = close < f->body && kscan_uses(s, close, f->body, "const") };

	for (size_t p = f->open + 1, end; p < close && !g.too_many; p = end + 1) {
		auto_free char *text = NULL;

		end = kscan_part(s, p, close, true);
		text = kscan_tidy(s, p, end);
		if (!*text || !strcmp(text, "void"))
			continue;
		g.too_many = g.count == KSCAN_PARAMS;
		if (!g.too_many)
			read_param(s, p, end, &g.params[g.count++]);
	}
	return g;
}

static void
free_params(struct kscan_param *list, size_t count)
{
	kforeach_of(x, list, count) {
		free(x->name);
		free(x->type);
		free(x->text);
	}
}

size_t
kscan_template(const struct kscan_signature *g)
{
	const struct kscan s = kscan_code(g->result);

	return kscan_stands(&s, 0, "template<") ? kscan_angle_end(&s, 8, s.len) : 0;
}

void
kscan_signature_free(struct kscan_signature *g)
{
	free_params(g->params, g->count);
	free(g->result);
	*g = (struct kscan_signature){ 0 };
}

bool
kscan_hides(const struct kscan_item *f)
{
	auto_signature struct kscan_signature g = kscan_signature(f);

	return !f->depth && f->name_count == 1 &&
	    kany(kscan_params(p, &g), !strcmp(p->name, f->names[0]));
}

/* ---- members of types ---- */

/* Length of the part of TEXT that is the type shared by all names of the declaration. */
static size_t
base_length(const char *text, const char *name)
{
	size_t n = strcspn(text, "*&(["), m = strlen(name);

	while (n && kis_space(text[n - 1]))
		n--;
	return m && n > m && !strncmp(text + n - m, name, m) && !kis_word(text[n - m - 1]) ? n - m
	                                                                                   : n;
}

/* "TYPE a, *b, c[3]" from FROM to TO: each with the type before it. */
static void
read_members(const struct kscan *s, size_t from, size_t to, struct kscan_members *m)
{
	size_t base = 0;

	for (size_t p = from, end; p <= to; p = end + 1) {
		auto_buf struct kbuf b = { 0 };
		struct kscan_param x;
		struct kscan own;

		end = kscan_part(s, p, to, true);
		if (p > from)
			kbuf_printf(&b, "%.*s ", (int)base, s->code + from);
		kbuf_slice(&b, s->code, p, end);
		own = kscan_code(b.data);
		read_param(&own, 0, own.len, &x);
		if (p == from)
			base = base_length(b.data, x.name);
		/* A type without a name: represented by its text. */
		m->hidden |= !*x.name && !memchr(b.data, '{', b.len);
		*kadded(m->list, m->count) = x;
	}
}

/* Does the text have a parenthesis before any brace, and not for the size of an array? */
static bool
is_round(const char *text)
{
	return kregex_is("(?s)\\A(?:[^({\\[]|\\[[^]]*\\])*\\(", text);
}

/* The same for a declaration, unless it declares no data. */
static void
read_declaration(const struct kscan *s, size_t from, size_t to, struct kscan_members *m)
{
	static const char others[] = "(?s)\\A\\s*(?:(?:static|using|typedef|friend)\\b.*|"
	                             "enum\\b[^{]*\\{[^}]*\\}\\s*|enum\\s+\\w+\\s*)?\\z";
	auto_free char *text = plain_code(s, from, to);
	const struct kscan own = kscan_code(text);

	/* A prototype is not data; a pointer to a function is. */
	if ((!is_round(text) || strstr(text, "(*")) && !kregex_is(others, text))
		read_members(&own, 0, own.len, m);
}

/* The members of X, and those of structures, or unions of no pointers, in it without a name. */
static void
add_members(const struct kscan_item *x, struct kscan_members *m)
{
	static const char unnamed[] = "(?s)\\A(?:struct\\s*\\{.*|union\\s*\\{[^*]*)\\}\\s*;\\z";
	auto_scan struct kscan in;

	kscan_inside(x, &in);
	kscan_items(y, &in) {
		struct kscan_item own = *y;

		own.in = x->in;
		/* What follows the braces is not a member. */
		if (y->kind == KSCAN_CLOSE)
			break;
		if (y->kind != KSCAN_DECLARATION || x->in->code[y->to - 1] != ';')
			continue;
		if (kscan_looks(&own, unnamed))
			add_members(&own, m);
		else
			read_declaration(x->in, y->from, y->to - 1, m);
	}
}

struct kscan_members
kscan_members(const struct kscan_item *x)
{
	/* It has a base, or no braces. */
	struct kscan_members m = { .hidden = kscan_mentions(x, "virtual") ||
		    kscan_looks(x, "\\A[^{]*(?::|\\z)") };

	add_members(x, &m);
	return m;
}

void
kscan_members_free(struct kscan_members *m)
{
	free_params(m->list, m->count);
	free(m->list);
}

char *
kscan_signature_text(const struct kscan_signature *g)
{
	struct kbuf b = { 0 };

	kbuf_printf(&b, "%s(", g->result);
	kscan_params(x, g) {
		kbuf_puts(&b, x > g->params ? "," : "");
		if (x->strange)
			kbuf_puts(&b, x->text);
		else
			kbuf_printf(&b, "%s%s%.*s%.*s", x->constant && x->stars ? "const " : "",
			    x->type, x->stars, "********", 2 * x->rows, "[][][][][][][][]");
	}
	kbuf_puts(&b, ")");
	return b.data;
}

char *
kscan_signature_of(const char *text, const char *name)
{
	auto_signature struct kscan_signature g = { 0 };
	const struct kscan_item *f;
	auto_scan struct kscan s;

	kscan(text, &s);
	f = kscan_function(&s, name);
	if (!f) {
		kscan_free(&s);
		kscan_through(text, &s);
		f = kscan_function(&s, name);
	}
	if (!f)
		return NULL;
	g = kscan_signature(f);
	return kscan_signature_text(&g);
}

char *
kscan_typedef_of(const struct kscan_item *x, const char *type, int *stars)
{
	const struct kscan *s = x->in;
	bool alias = s->code[x->from] == 'u'; /* using */
	auto_free char *text = NULL, *rows = NULL;
	struct kregex_span at[2];
	char *c;

	*stars = 0;
	if (!kregex_find("\\A(?:using\\b[^=]*=|typedef\\b)([^{(]*)\\z", s->code + x->from,
	        x->to - x->from, at, 2))
		return NULL;
	text = kscan_tidy(s, x->from + at[1].from, x->to - 1);
	c = text + strcspn(text, "[");
	rows = kstrdup(c);
	*c = '\0';
	/* Remove the name at the end of a typedef, and the stars before it. */
	if (!alias && strlen(text) > strlen(type))
		text[strlen(text) - strlen(type)] = '\0';
	for (c = text + strlen(text); c > text && (c[-1] == '*' || c[-1] == ' '); c--) {
		*stars += c[-1] == '*';
		c[-1] = '\0';
	}
	/* An array of pointers is not a pointer to arrays. */
	return *rows && *stars ? NULL
	                       : kasprintf("%s%s", text + (kbegins(text, "const ") ? 6 : 0), rows);
}

char *
kscan_typedef(const struct kscan *s, const char *type, int *stars)
{
	char *text = NULL;

	*stars = 0;
	kscan_items(x, s)
		if (!text && x->kind == KSCAN_DECLARATION && kscan_declares(x, type))
			text = kscan_typedef_of(x, type, stars);
	return text;
}
