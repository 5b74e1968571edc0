/* SPDX-License-Identifier: Apache-2.0 */
/* types: see types.h. */
#include "types.h"

#include "adopt.h"
#include "numbers.h"

enum { CHAIN = 16, DEEP = 6 };

/*
 * A record of the system's headers: the type of its members and their names, one letter each; none
 * if they are unknown. NULL: it is not such a record. Borrowed.
 */
static const json_t *
system_record(const char *name)
{
	return json_object_get(rules_words("records"), name);
}

/* Halves are records: C cannot pass them. */
static bool
is_number(const char *name)
{
	const struct number_type *n = number_type(name);

	return n && !number_is_half(n);
}

static bool
is_handle(const char *name)
{
	return kis_one_of("cudaStream_t CUstream", name);
}

void
type_free(struct type *type)
{
	free(type->name);
	*type = (struct type){ 0 };
}

/* "const T *" as a TYPE: removes words and counts stars. The caller frees. */
static char *
bare(const char *text, struct type *type)
{
	static const char others[] = "\\b(?:const|volatile|struct|enum|union|class|typename|"
	                             "restrict|__restrict__|"
	                             "__restrict|register|static)\\b ?|\\*|\\[[^]]*\\]";
	auto_free char *rest = kregex_sub(others, text, "");

	type->constant |= kregex_is("\\bconst\\b", text);
	type->array |= strchr(text, '[') != NULL;
	for (const char *c = text; *c; c++)
		type->stars += *c == '*';
	type->stars += type->array && !type->stars;
	return kregex_sub("\\A(?:::|std::(?=u?int\\d+_t|s?size_t|ptrdiff_t))|\\s+\\z", rest, "");
}

/* Does X define a record, or an enumeration, with its members? */
static bool
is_definition(const struct kscan_item *x)
{
	return x->kind == KSCAN_DECLARATION && kscan_looks(x, "\\{") &&
	    kscan_has_word(x, "struct class union enum");
}

/* A preprocessed text shows everything that its file sees. */
static bool
is_hidden(const struct types *t, const struct kscan_item *x)
{
	return t->own->project && unit_source_of(x) != t->own;
}

/* The meaning of NAME where types are looked up: one step. NULL: none. The caller frees. */
static char *
one_step(const struct types *t, const char *name, int *stars)
{
	const char *given = kjson_maybe(t->bound, name);
	char *text = kstrdup(given);

	unit_items(x, t->own, name) {
		int more = 0;

		if (text || is_hidden(t, x))
			continue;
		text = x->kind == KSCAN_MACRO      ? kscan_macro(x)
		    : x->kind == KSCAN_DECLARATION ? kscan_typedef_of(x, &more)
		                                   : NULL;
		if (text && !strcmp(text, name)) {
			free(text);
			text = NULL;
		} else if (text) {
			*stars += more;
		}
	}
	return text;
}

static void
set_name(struct type *type, const char *name)
{
	free(type->name);
	type->name = kstrdup(name);
}

/* Classifies a name that cannot be resolved further. */
static void
settle(const struct types *t, struct type *type)
{
	const char *other = kjson_maybe(rules_words("numbers"), type->name);
	const char *colon = strrchr(type->name, ':');

	if (other)
		set_name(type, other);
	type->kind = is_number(type->name) ? TYPE_NUMBER
	    : !strcmp(type->name, "void")  ? TYPE_VOID
	    : is_handle(type->name)        ? TYPE_HANDLE
	    : system_record(type->name)    ? TYPE_RECORD
	                                   : TYPE_UNKNOWN;
	if (type->kind != TYPE_UNKNOWN)
		return;
	unit_items(x, t->own, colon && !strchr(colon, '>') ? colon + 1 : type->name) {
		if (is_hidden(t, x) || !is_definition(x))
			continue;
		type->kind = TYPE_RECORD;
		type->item = x;
		/* A structure may have a member of one. */
		if (kscan_looks(x, "\\A[^{]*\\benum\\b")) {
			set_name(type, "int");
			type->kind = TYPE_NUMBER;
			type->cast = true;
		}
		return;
	}
}

struct type
type_find(const struct types *t, const char *name, int stars)
{
	struct type type = { .stars = stars };

	type.name = bare(name, &type);
	for (int i = 0; i < CHAIN && !is_number(type.name) && !is_handle(type.name); i++) {
		char *next = one_step(t, type.name, &type.stars), *own = type.name;

		if (!next)
			break;
		type.name = bare(next, &type);
		free(next);
		free(own);
	}
	settle(t, &type);
	type.cast |= type.array;
	return type;
}

/* ---- what a pointer to void stands for ---- */

/* The type of the parameter that gets the argument at AT; of a pointer to void, the same there. */
static char *
type_of_argument(const struct types *t, const struct kscan_item *f, size_t at, int depth)
{
	const struct kscan *s = f->in;
	auto_signature struct kscan_signature g = { 0 };
	auto_free char *called = NULL;
	const struct kscan_param *p;
	const struct kscan_item *x;
	size_t index, i = 0, end;

	at = kscan_open(s, at, f->body, &index);
	at = kscan_name_before(s, kscan_back(s, at, f->body), f->body, &end);
	called = kscan_copy(s, at, end);
	while ((x = unit_item(t->own, called, &i)) && x->kind != KSCAN_FUNCTION)
		continue;
	if (!x || depth == DEEP)
		return NULL;
	g = kscan_signature(x);
	p = &g.params[index];
	return index >= g.count || p->stars != 1 ? NULL
	    : strcmp(p->type, "void")            ? kstrdup(p->type)
	                                         : type_of_void(t, x, p->name, depth + 1);
}

char *
type_of_void(const struct types *t, const struct kscan_item *f, const char *name, int depth)
{
	static const char taken[] = "(?:\\(\\s*(?:const\\s+)?((?:struct\\s+)?\\w+)\\s*\\*\\s*\\)|"
	                            "\\b((?:struct\\s+)?\\w+)\\s*\\*\\s*\\w+\\s*=)\\s*[\\w.>-]*\\z";
	const char *code = f->in->code;
	struct kregex_span at[3];
	char *found = NULL;

	kscan_in_body(p, f, name) {
		if (found || strchr("-.[(", code[kscan_next(f->in, p, f->to)]))
			continue;
		found = kregex_find(taken, code + f->body, p - f->body, at, LEN(at))
		    ? kregex_text(code + f->body, at[at[1].from == KREGEX_UNSET ? 2 : 1])
		    : type_of_argument(t, f, p, depth);
	}
	return found;
}

/* ---- what a record holds ---- */

static void
add_leaf(struct type_leaves *l, char *path, const char *type)
{
	if (l->count == TYPE_LEAVES) {
		l->many = true;
		free(path);
		return;
	}
	l->list[l->count].path = path;
	l->list[l->count++].type = kstrdup(type);
}

static bool add_record(const struct types *t, const struct type *record, struct type_leaves *l,
    const char *path, int depth);

/* Adds the member M, and the first element of an array. */
static bool
add_member(const struct types *t, const struct kscan_param *m, struct type_leaves *l,
    const char *path, int depth)
{
	bool square = strchr(m->text, '[');
	int stars = m->stars - square;
	auto_type struct type type = type_find(t, m->type, stars);
	auto_free char *name = NULL;

	if (type.array && !stars)
		square = type.stars--;
	/* An array's length may depend on macros: treat it as many elements. */
	l->many |= square;
	name = kasprintf("%s%s%s", path, m->name, square ? "[0]" : "");
	if (strchr(m->text, '{')) {
		add_leaf(l, kstrdup(name), "?");
		l->many = true;
		return !strchr(m->text, '*');
	}
	if (type.stars || m->strange || (type.kind != TYPE_NUMBER && type.kind != TYPE_RECORD))
		return false;
	if (type.kind == TYPE_RECORD)
		return add_record(t, &type, l, kshown("%s.", name), depth + 1);
	add_leaf(l, kstrdup(name), type.name);
	return true;
}

static bool
add_record(const struct types *t, const struct type *record, struct type_leaves *l,
    const char *path, int depth)
{
	const json_t *known = system_record(record->name);
	auto_members struct kscan_members all = { 0 };
	bool good;

	if (depth > DEEP)
		return false;
	for (const char *name = kjson_item(known, 1); name && *name; name++)
		add_leaf(l, kasprintf("%s%c", path, *name), kjson_item(known, 0));
	if (json_array_size(known))
		return true;
	if (!record->item) {
		add_leaf(l, kasprintf("%s?", path), "?");
		l->many = true;
		return known;
	}
	all = kscan_members(record->item);
	good = !all.hidden && all.count;
	kforeach_list(member, &all)
		good = good && add_member(t, member, l, path, depth);
	return good;
}

bool
type_leaves(const struct types *t, const struct type *record, struct type_leaves *leaves)
{
	*leaves = (struct type_leaves){ 0 };
	return add_record(t, record, leaves, "", 0);
}

void
type_leaves_free(struct type_leaves *l)
{
	kforeach_list(leaf, l) {
		free(leaf->path);
		free(leaf->type);
	}
	l->count = 0;
}

const char *
type_common(const struct type_leaves *l)
{
	const char *first = l->count ? l->list[0].type : "?";

	return kany(kforeach_list(leaf, l), strcmp(leaf->type, first)) || !strcmp(first, "?")
	    ? NULL
	    : first;
}
