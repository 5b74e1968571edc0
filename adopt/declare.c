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

/* TEXT in the form of kscan_tidy. The caller frees. */
static char *
tidy(const char *text)
{
	const struct kscan s = kscan_code(text);

	return kscan_tidy(&s, 0, s.len);
}

/* Words that are neither the name of a parameter nor, for us, a part of its type. */
#define QUALIFIERS \
	"\\b(?:const|volatile|restrict|__restrict__|__restrict|register|struct|__grid_constant__|" \
	"static)\\b"
/* What brackets contain, with nested ones. */
#define SQUARE "(\\[(?:[^][]|(?-1))*\\])"

/*
 * The name of a parameter: the last word outside square brackets, if another one precedes it. A
 * pointer to a function or to an array has its name before a ')': "(*f)(int)".
 */
static const char param_name[] = "(?(DEFINE)(?<word>\\b(?!" QUALIFIERS ")[A-Za-z_]\\w*+)"
                                 "(?<any>[^][]|" SQUARE "))"
                                 "\\A(?>(?&any)*?(?&word))(?|(?&any)*?((?&word))\\s*\\)|"
                                 "(?&any)*((?&word)))";

static void
read_param(const struct kscan *in, size_t from, size_t to, struct kscan_param *x)
{
	/* A default value begins outside brackets. */
	static const char given[] = "(?s)\\A((?:[^=([{]|([([{](?:[^][(){}]|(?2))*[])}]))*+)=.*\\z";
	auto_free char *code = plain_code(in, from, to), *own = kregex_sub(given, code, "$1"),
	               *open = NULL, *words = NULL;
	struct kregex_span at[5];

	*x = (struct kscan_param){ .text = tidy(code), .name = kstrdup("") };
	if (kregex_match(param_name, own, at)) {
		free(x->name);
		x->name = kregex_text(own, at[4]);
		memset(own + at[4].from, ' ', strlen(x->name));
	}
	/* What is left is the type, with an open bracket for every dimension. */
	open = kregex_sub(SQUARE, own, "[");
	words = kregex_sub(QUALIFIERS "|[^\\w\\s<>:,]", open, " ");
	x->type = tidy(words);
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

struct kscan_signature
kscan_signature(const struct kscan_item *f)
{
	const struct kscan *s = f->in;
	size_t close = kscan_close(s, f->open, f->to);
	auto_free char *head = plain_code(s, f->from, kscan_path_start(s, f->from, f->name_at));
	struct kscan_signature g = { .result = tidy(head),
		.close = close,
		.constant = close < f->body && kscan_uses(s, close, f->body, "const") };

	for (size_t p = f->open + 1, end; p < close; p = end + 1) {
		end = kscan_part(s, p, close, true);
		if (!kscan_matches(s, p, end, "\\A\\s*(?:void\\s*)?\\z"))
			read_param(s, p, end, kadded(g.params, g.count));
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
	free(list);
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

/* The same for a declaration, unless it declares no data. */
static void
read_declaration(const struct kscan *s, size_t from, size_t to, struct kscan_members *m)
{
	static const char others[] = "(?s)\\A\\s*(?:(?:static|using|typedef|friend)\\b.*|"
	                             "enum\\b[^{]*\\{[^}]*\\}\\s*|enum\\s+\\w+\\s*)?\\z",
	                  /* a parenthesis before any brace, and not for the size of an array */
	    round[] = "(?s)\\A(?:[^({\\[]|\\[[^]]*\\])*\\(";
	auto_free char *text = plain_code(s, from, to);
	const struct kscan own = kscan_code(text);

	/* A prototype is not data; a pointer to a function is. */
	if ((!kregex_is(round, text) || strstr(text, "(*")) && !kregex_is(others, text))
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

const struct kscan_item *
kscan_named(const char *text, size_t len, const char *name, struct kscan *s)
{
	const struct kscan_item *f;

	kscan_bytes(text, len, false, s);
	f = kscan_function(s, name);
	if (!f) {
		kscan_free(s);
		kscan_bytes(text, len, true, s);
		f = kscan_function(s, name);
	}
	return f;
}

char *
kscan_signature_of(const char *text, const char *name)
{
	auto_signature struct kscan_signature g = { 0 };
	auto_scan struct kscan s;
	const struct kscan_item *f = kscan_named(text, strlen(text), name, &s);

	if (!f)
		return NULL;
	g = kscan_signature(f);
	return kscan_signature_text(&g);
}

char *
kscan_typedef_of(const struct kscan_item *x, int *stars)
{
	/* "using name = TYPE" or "typedef TYPE name[4]" */
	static const char form[] = "\\A(?:using\\b[^=]*=|(typedef)\\b)\\s*(?:const\\s+)?"
	                           "((?:[^][{(;,<]|<[^;]*>)*?)([\\s*]*)(?(1)\\b\\w+)\\s*((?:\\[[^]]"
	                           "*\\]\\s*)*);"
	                           "\\z";
	auto_free char *code = kscan_copy(x->in, x->from, x->to), *is_typedef = NULL, *type = NULL,
	               *pointer = NULL, *rows = NULL, *text = NULL;

	*stars = 0;
	if (!kregex_scan(form, code, &is_typedef, &type, &pointer, &rows))
		return NULL;
	for (const char *c = pointer; *c; c++)
		*stars += *c == '*';
	text = kasprintf("%s%s", type, rows);
	/* An array of pointers is not a pointer to arrays. */
	return *rows && *stars ? NULL : tidy(text);
}

char *
kscan_typedef(const struct kscan *s, const char *type, int *stars)
{
	char *text = NULL;

	*stars = 0;
	kscan_items(x, s)
		if (!text && x->kind == KSCAN_DECLARATION && kscan_declares(x, type))
			text = kscan_typedef_of(x, stars);
	return text;
}
