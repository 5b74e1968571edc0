/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry: see entry.h. Each parameter of the function is converted to arguments that a task can
 * pass: itself, the numbers in a structure, or bytes.
 */
#include "entry.h"

#include "instance.h"
#include "kio.h"
#include "kregex.h"
#include "sequence.h"
#include "types.h"

enum { PARAMS = 48, BY_VALUE = 16, DEEP = 3 };
/* A larger structure, set to zero in each call, would leave nothing else in a first-level cache. */
enum { ROOM_MAX = 32 << 10 };

/* The entry that is being made. */
static struct making {
	struct adopted_unit *u;
	struct types types;
	const struct unit_source *s;
	const struct kscan_item *f;
	struct kscan_signature g;
	const json_t *seen; /* names used by the function and the functions that it calls */
	struct kbuf *why;
	/* parts of the entry's body: before the call, the call's arguments, after the call */
	struct kbuf before, arguments, after;
	struct kbuf templates; /* "<float, 256>" for the called function */
	struct kbuf rooms;     /* declarations of the structures that the entry makes */
	char *called;          /* the function as the entry calls it: "f", "n::f", "(&this_)->f" */
	const char *guard;     /* the pointer to the current members, or NULL */
	bool cxx, own;         /* the entry is not the function itself */
} making;

static void __attribute__((format(printf, 2, 3)))
refuse(const struct kscan_param *p, const char *fmt, ...)
{
	kformatted(text, fmt);

	if (p)
		kbuf_printf(making.why, "parameter '%s': ", p->text);
	kbuf_line(making.why, text);
}

/* Is P the object of a member, and not a parameter? */
static bool
is_object(const struct kscan_param *p)
{
	return !strcmp(p->name, "this");
}

/* Is this member of P used or, with END "=", modified, perhaps under another name? */
static bool
uses(const struct kscan_param *p, const char *member, const char *end)
{
	auto_free char *name = kasprintf("%s.%s%s", p->name, member, end);

	return json_object_get(making.seen, name) ||
	    json_object_get(making.seen, strchr(name, '.'));
}

/* A parameter of the entry; its fields are set by the caller. */
static struct unit_param *
add_param(const char *name, const char *type, const char *value)
{
	struct adopted_unit *u = making.u;
	struct unit_param *p = kadded(u->params, u->param_count);

	*p = (struct unit_param){
		.name = kstrdup(name), .type = kstrdup(type), .value = kstrdup(value)
	};
	p->guard = kstrdup(making.guard);
	if (u->param_count == PARAMS + 1)
		refuse(NULL, "its arguments come to more than %d numbers and arrays", PARAMS);
	return p;
}

/* The same for a pointer to elements of TYPE; NULL: to bytes. */
static struct unit_param *
add_pointer(const char *name, const char *type, const char *value, bool constant)
{
	struct unit_param *u = add_param(name, type ?: "unsigned char", value);

	u->pointer = true;
	u->bytes = !type;
	u->constant = constant;
	return u;
}

static void __attribute__((format(printf, 1, 2))) argument(const char *fmt, ...)
{
	kformatted(text, fmt);

	kbuf_join(&making.arguments, ", ", text);
}

/* The parameter's type as written in the application, without const and stars. The caller frees. */
static char *
spelled(const struct kscan_param *p)
{
	const char *bound = kjson_str_or(making.types.bound, p->type, p->type);
	auto_free char *word = making.cxx || kregex_is("\\A(?:struct|enum|union) ", bound)
	    ? NULL
	    : kregex_part("\\b((?:struct|enum|union) )", p->text);

	return kasprintf("%s%s", word ?: "", bound);
}

/* A pointer to arrays: "float (*rows)[3]". */
static bool
is_rows(const struct kscan_param *p)
{
	return kregex_is("\\A[^(]*\\(\\s*\\*[^(]*\\)\\s*\\[[^(]*\\z", p->text);
}

/* "x.y[0]" in a form for a name. The caller frees. */
static char *
plain_name(const char *prefix, const char *path)
{
	auto_free char *name = kasprintf("%s_%s", prefix, path),
	               *single = kregex_sub("(?<=_)\\W+", name, "");

	return kregex_sub("\\W+", single, "_");
}

/* ---- pointers to structures ---- */

/* Is the variable, or MEMBER, of this name used for more than what it points to: "p[i]", "p++"? */
static bool
goes_on(const char *name, bool member)
{
	const struct kscan *s = &making.s->scan;

	kscan_in_body(at, making.f, name) {
		size_t next = kscan_next(s, at, making.f->to);

		if (member == kscan_is_member(s, at) &&
		    (strchr("[+", s->code[next]) ||
		        (kscan_stands(s, at - 2, "++") && !kscan_stands(s, next, "->"))))
			return true;
	}
	return false;
}

/* The variable that gets the value from AT to END: "q = p;", "q = odd ? x : p;". To be freed. */
static char *
variable_for(size_t at, size_t end)
{
	const struct kscan *s = &making.s->scan;
	struct kregex_span found[2];
	size_t from = at;

	while (from > making.f->body && !strchr(";{}", s->code[from - 1]))
		from--;
	return strchr(";:,)", s->code[kscan_blank(s, end, making.f->to)]) &&
	        kregex_find(
	            "\\b(\\w+)\\s*=(?!=)[^=]*\\z", s->code + from, at - from, found, LEN(found))
	    ? kregex_text(s->code + from, found[1])
	    : NULL;
}

/*
 * Does the function access further structures after the one that P, or a MEMBER, points to, itself
 * or by a variable that begins as P?
 */
static bool
is_indexed(const struct kscan_param *p, bool member)
{
	const struct kscan *s = &making.s->scan;

	if (goes_on(p->name, member))
		return true;
	kscan_in_body(at, making.f, p->name) {
		auto_free char *other = member == kscan_is_member(s, at)
		    ? variable_for(at, at + strlen(p->name))
		    : NULL;

		if (other && goes_on(other, false))
			return true;
	}
	return false;
}

/* The first member of the record that contains a pointer and is used; to be freed. */
static char *
used_pointer(const struct kscan_param *p, const struct type *record)
{
	auto_members struct kscan_members all = kscan_members(record->item);

	if (all.hidden)
		return kstrdup("");
	kforeach_list(x, &all)
		if (strchr(x->text, '*') && uses(p, x->name, ""))
			return kstrdup(x->text);
	return NULL;
}

/* Is NAME, one of those DECLARED, larger than a call should copy, or keep on its stack? */
static bool
is_large(const char *declared, const char *name)
{
	const struct unit_source *s = making.s;

	return s->all->chosen && s->project &&
	    preprocess_is_larger(s->project, s->name, s->settings, declared, name, ROOM_MAX);
}

/*
 * The structure NAME of a TYPE, which is zero where the entry does not set it; in C++, without its
 * constructor. A large one would not fit on every stack: a thread has one for all calls, which may
 * still hold what an earlier call left. But the entry sets every member that the function, or what
 * it calls, names.
 */
static void
add_room(const char *type, const char *name)
{
	const char *store = "";

	kbuf_printf(&making.rooms, "extern %s %s;\n", type, name);
	if (is_large(making.rooms.data, name)) {
		store = "static __thread ";
		kbuf_puts(&making.before,
		    "\t/* Too large for a stack; what is used of it is set below, in each call. "
		    "*/\n");
	}
	if (making.cxx)
		kbuf_printf(&making.before,
		    "\talignas(%s) %sunsigned char %s_bytes[sizeof(%s)] = { 0 };\n"
		    "\t%s &%s = *(%s *)%s_bytes;\n\n",
		    type, store, name, type, type, name, type, name);
	else
		kbuf_printf(&making.before, "\t%s%s %s;\n\n", store, type, name);
	if (!making.cxx && !*store)
		kbuf_printf(&making.before, "\t__builtin_memset(&%s, 0, sizeof %s);\n", name, name);
}

static void flatten(const struct kscan_param *p, const struct type *record, const char *from,
    const char *to, const char *name, bool constant, int depth);

/* A member that is a number, and only read. */
static void
set_member(const char *name, const struct type *type, const char *from, const char *to)
{
	auto_free char *as = type->cast ? kasprintf("(__typeof__(%s))", to) : kstrdup("");

	add_param(name, type->name, from);
	kbuf_printf(&making.before, "\t%s = %s%s;\n", to, as, name);
}

/*
 * Copies a member in and back, as TYPE or (NULL) as bytes. ADDRESS: what makes a pointer of FROM.
 */
static void
copy_member(const char *name, const char *type, const char *from, const char *to,
    const char *address, bool constant)
{
	struct unit_param *u = add_pointer(
	    name, type, kshown("%s%s", type ? address : "(unsigned char *)&", from), constant);

	u->size = kasprintf("sizeof %s", from);
	kbuf_printf(&making.before, "\t__builtin_memcpy(&%s, %s, sizeof %s);\n", to, name, to);
	if (!constant)
		kbuf_printf(
		    &making.after, "\t__builtin_memcpy(%s, &%s, sizeof %s);\n", name, to, to);
}

/*
 * The members of a nested structure: IN is its expression in the application, OUT in the entry. A
 * pointer may be NULL; if it was NULL in every observed call, it is NULL in the entry, too.
 */
static void
flatten_inner(const struct kscan_param *p, const struct kscan_param *x, const struct type *type,
    const char *in, const char *out, const char *name, bool constant, int depth)
{
	auto_free char *from = kasprintf("%s%s", in, type->stars ? "->" : "."),
	               *to = type->stars ? kasprintf("%s_", name) : kstrdup(out),
	               *dot = kasprintf("%s.", to),
	               *guard =
	                   kasprintf("%s%s%s", making.guard ?: "", making.guard ? " && " : "", in);
	const char *around = making.guard;

	if (type->stars && kjson_has(json_object_get(making.u->assumed, "null"), in))
		return;
	if (type->stars) {
		/* The type of what a pointer to const points to would be const, too. */
		auto_free char *of =
		    x->constant && x->stars == 1 ? spelled(x) : kasprintf("__typeof__(*%s)", out);

		making.guard = guard;
		add_room(of, to);
		kbuf_printf(&making.before, "\t%s = &%s;\n", out, to);
	}
	flatten(p, type, from, dot, name, constant, depth + 1);
	making.guard = around;
}

/*
 * Does the function use NAME, a pointer to void, as a pointer to a structure with pointers? Sets
 * that type, and *AS to its text; the caller frees both. Refuses a type that the file does not
 * declare.
 */
static bool
is_void_for(const struct kscan_param *p, const char *name, struct type *type, char **as)
{
	auto_leaves struct type_leaves leaves = { 0 };
	struct types in = making.types;
	bool found, here;

	*as = type_of_void(&making.types, making.f, name, 0);
	*type = type_find(&in, *as ? *as : "", 1);
	/* Only another file may declare it. */
	kforeach_of(s, making.s->all->list, *as ? making.s->all->count : 0)
		if (type->kind == TYPE_UNKNOWN) {
			in.own = s;
			type_free(type);
			*type = type_find(&in, *as, 1);
		}
	found = type->kind == TYPE_RECORD && type->item && !type_leaves(&in, type, &leaves);
	here = found && unit_source_of(type->item) == making.s;
	if (found && !here)
		refuse(p,
		    "%s stands for a structure with pointers, %s, which this file does not declare",
		    name, *as);
	return here;
}

/* A member like that becomes a pointer to the structure, and so do its expressions. */
static void
see_void(const struct kscan_param *p, const char *name, struct type *type, char **in, char **out)
{
	auto_free char *as = NULL;
	struct type of = { 0 };

	if (type->kind == TYPE_VOID && type->stars == 1 && is_void_for(p, name, &of, &as)) {
		auto_free char *from = *in, *to = *out;

		*in = kasprintf("(*(%s **)&%s)", as, from);
		*out = kasprintf("(*(%s **)&%s)", as, to);
		type_free(type);
		*type = of;
		return;
	}
	type_free(&of);
}

/* The member X of a structure: FROM in the application, TO in the entry. */
static void
flatten_member(const struct kscan_param *p, const struct kscan_param *x, const char *from,
    const char *to, const char *prefix, bool constant, int depth)
{
	auto_free char *in = kasprintf("%s%s", from, x->name),
	               *out = kasprintf("%s%s", to, x->name), *name = plain_name(prefix, x->name);
	bool rows = is_rows(x), square = !rows && strchr(x->text, '[');
	int stars = rows ? 1 : x->stars - square;
	auto_type struct type type = type_find(&making.types, x->type, stars);
	auto_leaves struct type_leaves leaves = { 0 };
	bool plain, many, written = uses(p, x->name, "=");
	auto_free char *followed = NULL;

	if (type.array && !stars)
		square = type.stars--;
	see_void(p, x->name, &type, &in, &out);
	plain = type.kind == TYPE_RECORD && type_leaves(&making.types, &type, &leaves);
	many = type.kind == TYPE_RECORD && type.stars && type.item && !plain &&
	    (is_indexed(x, true) || (is_object(p) && is_indexed(x, false)));
	followed = many ? used_pointer(p, &type) : NULL;
	if (!uses(p, x->name, "") && *x->name) {
		/* Nothing uses it. */
	} else if (strchr(x->text, '{') && !strchr(x->text, '*') && *x->name) {
		copy_member(name, NULL, in, out, "", constant);
	} else if ((x->strange && !rows) || type.stars > 1 || (square && type.stars)) {
		refuse(p, "its member %s is not supported, but used", x->text);
	} else if (kregex_is("\\[0?\\]\\z", x->text)) {
		refuse(p, "its member %s has no size, so an entry cannot copy it", x->text);
	} else if (!type.stars && type.kind == TYPE_NUMBER && !square && (constant || !written)) {
		set_member(name, &type, in, out);
	} else if (!type.stars && (type.kind == TYPE_NUMBER || plain)) {
		copy_member(name, type.kind == TYPE_NUMBER ? type.name : NULL, in, out,
		    square ? "" : "&", constant);
	} else if (type.stars && !constant && written) {
		refuse(p, "its member %s is a pointer that is moved", x->text);
	} else if (followed) {
		refuse(p, "its member %s: many structures, whose member %s is a pointer", x->text,
		    followed);
	} else if (type.stars &&
	    (type.kind == TYPE_NUMBER || type.kind == TYPE_VOID || plain || many)) {
		add_pointer(name, type.kind == TYPE_NUMBER ? type.name : NULL, in,
		    x->constant || type.constant);
		kbuf_printf(&making.before, "\t%s = (__typeof__(%s))%s;\n", out, out, name);
	} else if (type.kind == TYPE_RECORD && type.item && depth < DEEP && !square) {
		flatten_inner(p, x, &type, in, out, name, constant, depth);
	} else {
		refuse(p, "its member %s is not supported, but used", x->text);
	}
}

/* In C, a member of P that is used, but not found among all MEMBERS, would always be zero. */
static void
refuse_unknown(
    const struct kscan_param *p, const struct type *record, const struct kscan_members *members)
{
	auto_free char *prefix = kasprintf("%s.", p->name);
	size_t len = strlen(prefix);

	kjson_foreach_member(used, seen, making.seen)
		if (!making.cxx && kbegins(used, prefix) && !strchr(used, '=') &&
		    !kany(kforeach_list(x, members),
		        *x->name ? !strcmp(x->name, used + len)
		                 : strstr(x->text, used + len) != NULL))
			refuse(p, "its member %s is not found in %s", used + len, record->name);
}

static void
flatten(const struct kscan_param *p, const struct type *record, const char *from, const char *to,
    const char *name, bool constant, int depth)
{
	auto_members struct kscan_members all = kscan_members(record->item);

	if (all.hidden || (!all.count && !is_object(p)))
		refuse(p, "the members of %s are not known%s", record->name,
		    all.hidden ? ", or it has virtual functions or a base" : "");
	if (all.hidden)
		return;
	kforeach_list(x, &all)
		flatten_member(p, x, from, to, name, constant, depth);
	if (!depth && all.count)
		refuse_unknown(p, record, &all);
}

/*
 * The structure OWN that P is, or points to, split into its members, which are written after FROM:
 * "p->" or "p."; "p->a" is "p_.a" in the entry.
 */
static void
take_members(
    const struct kscan_param *p, const struct type *type, const char *own, const char *from)
{
	auto_free char *room = kasprintf("%s_", p->name), *to = kasprintf("%s.", room);

	making.own = true;
	add_room(own, room);
	flatten(p, type, from, to, p->name, p->constant || from[strlen(from) - 1] == '.', 0);
}

/* ---- structures by value ---- */

static void
take_value(const struct kscan_param *p, const struct type *type)
{
	auto_free char *own = spelled(p), *from = kasprintf("%s.", p->name);
	auto_leaves struct type_leaves leaves;
	bool plain = type_leaves(&making.types, type, &leaves),
	     split = !plain && type->item && !making.u->kernel;

	making.own = true;
	if (split) {
		take_members(p, type, own, from);
	} else {
		if (!plain)
			refuse(p, "the structure %s holds more than numbers", type->name);
		else if (leaves.many || leaves.count > BY_VALUE)
			refuse(p,
			    "the structure %s is large, or its members are not known; "
			    "pass a pointer to it",
			    type->name);
		kbuf_printf(&making.before, "\t%s %s;\n\n", own, p->name);
	}
	kforeach_of(leaf, leaves.list, split ? 0 : leaves.count) {
		auto_free char *name = plain_name(p->name, leaf->path),
		               *value = kasprintf("%s.%s", p->name, leaf->path);

		add_param(name, leaf->type, value);
		kbuf_printf(&making.before, "\t%s = %s;\n", value, name);
	}
	argument("%s%s", p->name, split ? "_" : "");
}

/* The record that P points to, even if a typedef hides the pointer. The caller frees. */
static char *
record_name(const struct kscan_param *p, const struct type *type)
{
	auto_free char *own = spelled(p);

	return kasprintf(type->stars > p->stars ? "__typeof__(**(%s *)0)" : "%s", own);
}

/* The structures that P points to, as numbers or, if their types differ, as bytes. */
static void
take_records(
    const struct kscan_param *p, const char *common, const char *own, bool reference, bool constant)
{
	auto_free char *name = kasprintf("%s%s", p->name, is_object(p) ? "_" : "");
	struct unit_param *u =
	    add_pointer(name, common, kshown("%s%s", reference ? "&" : "", p->name), constant);

	u->cast = true;
	u->size = reference ? kasprintf("sizeof %s", p->name)
	    : is_object(p)  ? kstrdup("sizeof *this")
	                    : NULL;
	argument("%s(%s%s *)%s", reference ? "*" : "", constant ? "const " : "", own, name);
}

/* Would an entry copy large arrays in and out, members of the structure OWN that P points to? */
static bool
copies_much(const struct kscan_param *p, const struct type *type, const char *own)
{
	auto_members struct kscan_members all = kscan_members(type->item);
	auto_buf struct kbuf b = { 0 };

	kbuf_printf(&b, "extern %s %s_;\nextern char copied[1", own, p->name);
	kforeach_list(x, &all)
		if (strchr(x->text, '[') && uses(p, x->name, ""))
			kbuf_printf(&b, " + sizeof %s_.%s", p->name, x->name);
	kbuf_puts(&b, "];\n");
	return is_large(b.data, "copied");
}

static void
take_record(const struct kscan_param *p, const struct type *type, bool reference)
{
	auto_leaves struct type_leaves leaves;
	auto_free char *own = record_name(p, type), *used = NULL;
	bool constant = p->constant || type->constant;
	bool plain = type_leaves(&making.types, type, &leaves);

	making.own = true;
	/* Bytes keep the values of a recorded call; an object's should vary. */
	if (plain && (type_common(&leaves) || !is_object(p))) {
		take_records(p, type_common(&leaves), own, reference, constant);
	} else if (making.u->kernel || !type->item) {
		refuse(p,
		    type->item ? "the structure %s holds pointers"
		               : "the members of %s are not known",
		    type->name);
	} else if ((used = used_pointer(p, type)) && is_indexed(p, false)) {
		refuse(p, "many structures, whose member %s is a pointer", used);
	} else if (!used && (is_indexed(p, false) || copies_much(p, type, own))) {
		/* Pointers in them that are never dereferenced are copied like other bytes. */
		take_records(p, NULL, own, reference, constant);
	} else {
		auto_free char *from = kasprintf("%s->", p->name);

		take_members(p, type, own, from);
		argument(reference ? "%s_" : "&%s_", p->name);
	}
}

/* ---- parameters ---- */

/* The declaration of a type's NAME, which may stand for another type under another #if; or NULL. */
static const struct kscan_item *
declared(const char *name)
{
	size_t i = 0;
	const struct kscan_item *x = unit_item(making.s, name, &i);

	return x && x->kind == KSCAN_DECLARATION ? x : NULL;
}

/* The parameter into whose array P pointed in every observed call; NULL: none. */
static const struct kscan_param *
joined_to(const struct kscan_param *p)
{
	const json_t *joined = json_object_get(making.u->assumed, "joined");
	const char *name = joined && p->name ? kjson_str(joined, p->name) : "";

	kforeach_of(q, making.g.params, *name ? making.g.count : 0)
		if (!strcmp(q->name, name) && q->stars == 1 && p->stars == 1 && !q->rows &&
		    !strcmp(q->type, p->type))
			return q;
	return NULL;
}

static bool
is_joined(const struct kscan_param *p)
{
	return kany(kscan_params(q, &making.g), joined_to(q) == p);
}

/* The parameter into whose array P points, so that a number can replace P; NULL: none. */
static const struct kscan_param *
base_of(const struct kscan_param *p)
{
	const struct kscan_param *joined = joined_to(p), *q = kscan_base(making.f, &making.g, p);

	if (joined || is_joined(p) || making.u->kernel || making.u->sequence)
		return joined;
	if (q && joined_to(q))
		return joined_to(q);
	/* A place in the array of another place does not count. */
	return q && !kscan_base(making.f, &making.g, q) ? q : NULL;
}

/* The parameter that is always the same array. */
static const struct kscan_param *
twin_of(const struct kscan_param *p)
{
	const struct kscan_param *q =
	    making.u->kernel || making.u->sequence ? NULL : kscan_twin(making.f, &making.g, p);

	return q && !joined_to(q) ? q : NULL;
}

/* May the array P be written under another name? */
static bool
has_other_name(const struct kscan_param *p)
{
	return is_joined(p) || kany(kscan_params(q, &making.g), !q->constant && twin_of(q) == p);
}

/* The place in the array that BASE points to, as a number. */
static void
take_place(const struct kscan_param *p, const struct kscan_param *base)
{
	auto_free char *name = kasprintf("%s_at", p->name), *own = spelled(p);
	struct unit_param *u =
	    add_param(name, "int", kshown("(int)(%s - %s)", p->name, base->name));

	u->place = kstrdup(p->name);
	u->along = kstrdup(base->name);
	argument("(%s *)%s + %s", own, base->name, name);
	making.own = true;
}

static void
take_array(const struct kscan_param *p, const struct type *type, bool reference)
{
	bool bytes = type->kind == TYPE_VOID, decayed = type->array && !p->stars,
	     constant = (p->constant || type->constant) && !has_other_name(p);
	auto_free char *own = spelled(p),
	               *as = is_rows(p) ? kregex_sub("\\w+(?=\\s*\\)\\s*\\[)", p->text, "")
	                                : kasprintf("%s *", own);
	struct unit_param *u = add_pointer(p->name, bytes ? NULL : type->name,
	    kshown("%s%s", reference ? "&" : "", p->name), constant);

	u->cast = type->cast;
	u->size = reference ? kasprintf("sizeof %s", p->name)
	    : decayed       ? kasprintf("sizeof(%s)", own)
	                    : NULL;
	if (!bytes && !type->cast && !reference && type->stars == p->stars && declared(own))
		u->text = kasprintf("%s%s *%s", constant ? "const " : "", own, p->name);
	if (p->rows && strchr(p->text, '[')) {
		free(u->text);
		u->text = kasprintf(
		    "%s%s %s%s", constant ? "const " : "", own, p->name, strchr(p->text, '['));
	}
	making.own |= bytes || reference || type->cast;
	if (type->cast)
		argument("%s(%s)%s", reference || decayed ? "*" : "", as, p->name);
	else
		argument("%s%s", reference ? "*" : "", p->name);
}

static void
take_number(const struct kscan_param *p, const struct type *type)
{
	auto_free char *own = spelled(p);

	if (!type->cast && declared(own))
		add_param(p->name, type->name, p->name)->text = kasprintf("%s %s", own, p->name);
	else
		add_param(p->name, type->name, p->name);
	making.own |= type->cast;
	if (type->cast)
		argument("(%s)%s", own, p->name);
	else
		argument("%s", p->name);
}

/* A reference, which has a type that C does not have: "float&". */
static bool
is_reference(const struct kscan_param *p)
{
	return kregex_is("\\A[^(&]*&[^(&]*\\z", p->text);
}

/* A type for which no number or array stands. */
static void
refuse_type(const struct kscan_param *p, const char *name)
{
	const struct kscan_item *x = declared(name);

	if (!x)
		refuse(p, "the type %s is not defined in the project", name);
	else if (kscan_looks(x, "\\Atypedef\\b[^{]*\\("))
		refuse(p, "%s is the type of a function", name);
	else
		refuse(p, "the members of %s are not known", name);
}

static void
take_param(const struct kscan_param *p)
{
	bool reference = is_reference(p), rows = is_rows(p);
	const struct kscan_param *base;
	auto_type struct type type = { 0 }, of = { 0 };
	auto_free char *as = NULL;

	if (!p->name || !*p->name) {
		refuse(p, "it has no name");
		return;
	}
	if (strchr(p->text, '(') && !rows) {
		refuse(p, "a pointer to a function, or made by a macro");
		return;
	}
	type = type_find(&making.types, p->type, rows ? 1 : p->stars);
	type.cast |= rows;
	if (type.kind == TYPE_HANDLE && !type.stars) {
		add_param(p->name, type.name, p->name)->launch = true;
		argument("%s", p->name);
	} else if (type.kind == TYPE_UNKNOWN || type.kind == TYPE_HANDLE) {
		refuse_type(p, type.name);
	} else if (type.stars + reference > 1 || (rows && type.kind == TYPE_RECORD)) {
		refuse(p, "a pointer to pointers");
	} else if (type.kind == TYPE_RECORD && !type.stars && !reference) {
		take_value(p, &type);
	} else if (type.kind == TYPE_RECORD) {
		take_record(p, &type, reference);
	} else if (type.kind == TYPE_VOID && type.stars == 1 && is_void_for(p, p->name, &of, &as)) {
		auto_free char *from = kasprintf("((%s *)%s)->", as, p->name);

		take_members(p, &of, as, from);
		argument("&%s_", p->name);
	} else if (type.kind == TYPE_NUMBER && type.stars == 1 && (base = twin_of(p))) {
		argument("%s", base->name);
		making.own = true;
	} else if (type.kind == TYPE_NUMBER && type.stars == 1 && (base = base_of(p))) {
		take_place(p, base);
	} else if (type.stars || (reference && !p->constant)) {
		take_array(p, &type, reference && !type.stars);
	} else {
		take_number(p, &type);
	}
}

/* Does the class X declare its function NAME as static, so that it needs no object? */
static bool
is_static(const struct kscan_item *x, const char *name)
{
	auto_scan struct kscan in;

	kscan_inside(x, &in);
	return kany(kscan_items(f, &in), kscan_declares(f, name) && kscan_has_word(f, "static"));
}

/* A member of a class is called with an object, which the entry gets like a parameter. */
static void
take_object(void)
{
	const char *name = kscan_plain(making.u->name);
	auto_free char *class = kscan_path(making.u->name);
	struct kscan_param this = { .name = (char *)"this",
		.type = class,
		.stars = 1,
		.constant = making.g.constant,
		.text = (char *)"this" };
	auto_type struct type type = type_find(&making.types, class, 1);

	making.called = kasprintf("%s%s", kscan_hides(making.f) ? "::" : "", making.u->name);
	making.own |= *class != '\0';
	if (*class && type.kind == TYPE_RECORD && type.item && !is_static(type.item, name)) {
		take_record(&this, &type, false);
		free(making.called);
		making.called = kasprintf("(%s)->%s", making.arguments.data, name);
		*making.arguments.data = '\0';
		making.arguments.len = 0;
	}
}

/*
 * A __constant__ variable, DECLARED as "__constant__ float NAME[16];", that the application fills:
 * the entry gets its contents as an argument, and copies them there.
 */
static void
take_symbol(const char *name, const char *declared)
{
	const struct kscan s = kscan_code(declared);
	auto_free char *before = kscan_tidy(&s, 0, kscan_find(&s, 0, s.len, name)),
	               *words = kregex_sub("\\b__(?:constant|device)__ ?", before, ""), *of = NULL,
	               *own = NULL;
	auto_type struct type type = type_find(&making.types, words, 1);

	if (type.kind != TYPE_NUMBER || type.stars != 1) {
		refuse(NULL,
		    "it reads %s, which other code fills, and which is not a number or an array of "
		    "numbers: pass it as an argument",
		    name);
	} else {
		of = kasprintf("({ void *at_ = 0; cudaGetSymbolAddress(&at_, %s); at_; })", name);
		own = kasprintf("%s_", name);
		add_pointer(own, type.name, of, true);
		kbuf_printf(&making.before,
		    "\tcudaMemcpyToSymbolAsync(%s, %s_, sizeof %s, 0, cudaMemcpyDeviceToDevice, "
		    "stream);\n",
		    name, name, name);
	}
}

/* ---- what is returned ---- */

/* The type before the name, without words that are not types. The caller frees. */
static char *
returned_type(void)
{
	/* Probably a macro and not a type: only capitals, and more words follow. */
	static const char others[] =
	    "\\b(?:static|inline|extern|__inline__|__inline|__forceinline__|__device__|__host__|"
	    "__global__|constexpr|register|virtual|noinline|[A-Z0-9_]*[A-Z][A-Z0-9_]*(?= ))\\b";
	auto_free char *type = kregex_sub(others, making.g.result + kscan_template(&making.g), "");

	return kregex_sub("\\A[ \"]+| +\\z", type, "");
}

/*
 * The code before the call that stores the function's result in the entry's result; NULL: none. The
 * caller frees.
 */
static char *
take_result(void)
{
	auto_free char *own = returned_type();
	auto_leaves struct type_leaves leaves = { 0 };
	char *before = NULL;
	struct unit_param *u;
	auto_type struct type type = type_find(&making.types, own, 0);

	if (type.stars) {
		/* It returns one of its arguments, which is compared in place. */
		making.own = true;
		kforeach_text(name, "malloc", "calloc", "realloc", "new", "strdup")
			if (json_object_get(making.seen, name))
				kbuf_printf(making.why,
				    "it returns a pointer, perhaps to memory from %s\n", name);
	} else if (type.kind == TYPE_NUMBER ||
	    (type.kind == TYPE_RECORD && type_leaves(&making.types, &type, &leaves))) {
		bool number = type.kind == TYPE_NUMBER;

		making.own = true;
		u = add_pointer("result", number ? type.name : NULL, "result", false);
		u->result = true;
		u->size = kstrdup("sizeof kwatch_result");
		before = number ? kstrdup("*result = ") : kasprintf("*(%s *)result = ", own);
	} else if (type.kind != TYPE_VOID) {
		kbuf_printf(making.why, "it returns '%s', which is not a number\n", own);
	}
	return before;
}

/* ---- launches ---- */

/* One of the four parts of all launches: constant text, or parameters of the entry. */
static char *
launch_part(const char *what)
{
	char *text = instance_constant(making.u, what);
	struct kbuf b = { 0 };
	size_t dims = 1;

	/* A grid that is computed from names depends on the data, which may differ in a task. */
	if (text &&
	    (*what != 'g' || kregex_is("\\A\\d*\\z", instance_part(making.u->launches, what))))
		return text;
	free(text);
	unit_launches(l, making.u) {
		size_t n = instance_dimensions(l, instance_part(l, what));

		dims = n > dims ? n : dims;
	}
	for (size_t i = 0; i < dims; i++) {
		auto_free char *name = kasprintf("%s_%c", what, "xyz"[i]);

		add_param(name, "int", name)->launch = true;
		kbuf_printf(&b, "%s%s", i ? ", " : dims > 1 ? "dim3(" : "", name);
	}
	kbuf_puts(&b, dims > 1 ? ")" : "");
	return b.data;
}

/* "<<<grid, block, shared, stream>>>" in the entry. The caller frees. */
static char *
launch_text(void)
{
	auto_free char *grid = launch_part("grid"), *block = launch_part("block"),
	               *shared = instance_constant(making.u, "shared");

	if (!shared) {
		add_param("shared_bytes", "int", "shared_bytes")->launch = true;
		shared = kstrdup("shared_bytes");
	}
	if (!kany(unit_params(p, making.u), !strcmp(p->name, "stream")))
		add_param("stream", "cudaStream_t", "stream")->launch = true;
	return kasprintf("<<<%s, %s, %s, stream>>>", grid, block, shared);
}

/* ---- the text ---- */

/* The declaration TEXT of a parameter, or (NULL) that of a variable of its type. To be freed. */
static char *
declaration(const struct unit_param *p, const char *text)
{
	return text ? kstrdup(text)
	            : kasprintf("%s%s %s%s", p->constant && p->pointer ? "const " : "", p->type,
	                  p->pointer ? "*" : "", p->name);
}

static void
add_entry_head(struct kbuf *b)
{
	auto_buf struct kbuf list = kbuf_empty();

	unit_params(p, making.u) {
		auto_free char *one = declaration(p, p->text);

		kbuf_join(&list, ", ", one);
	}
	kbuf_printf(
	    b, "%svoid\n%s(%s)\n", making.cxx ? "extern \"C\" " : "", making.u->entry, list.data);
}

/* The entry that is the host function itself, with a stream. */
static void
write_sequence(void)
{
	struct kbuf b = { 0 };
	auto_free char *body = sequence_body(making.f);

	add_entry_head(&b);
	kbuf_printf(&b, "{\n%s%s\n", making.before.data, body + 1 + strspn(body + 1, "\n"));
	making.u->text = b.data;
}

static void
write_entry(const char *launch, const char *before)
{
	struct adopted_unit *u = making.u;
	struct kbuf b = { 0 };

	add_entry_head(&b);
	kbuf_printf(&b, "{\n%s\t%s%s%s%s(%s);\n%s}\n", making.before.data, before ?: "",
	    making.called, making.templates.data, launch ?: "", making.arguments.data,
	    making.after.data);
	u->text = b.data;
}

/* Let the entry's body begin with the lines B, which become part of it. */
static void
put_first(struct kbuf *b)
{
	kbuf_puts(b, making.before.data);
	kbuf_free(&making.before);
	making.before = *b;
}

/* Pointers that were null in every observed call are null in the entry, not arguments of it. */
static void
set_null(void)
{
	const json_t *names = json_object_get(making.u->assumed, "null");
	struct kbuf b = { 0 };
	size_t n = 0;

	unit_params(p, making.u) {
		bool null = p->pointer && kjson_has(names, p->name);

		if (null) {
			auto_free char *variable =
			    declaration(p, p->text && strchr(p->text, '[') ? NULL : p->text);

			kbuf_printf(&b, "\t%s = 0;\n", variable);
			unit_param_free(p);
		} else {
			making.u->params[n++] = *p;
		}
	}
	making.own |= n < making.u->param_count;
	making.u->param_count = n;
	put_first(&b);
}

/* For each pointer that was null in some observed calls, a number that says whether it is not. */
static void
set_given(void)
{
	const json_t *names = json_object_get(making.u->assumed, "given");
	struct kbuf b = { 0 };

	for (size_t i = 0, n = making.u->param_count; i < n; i++) {
		struct unit_param *p = &making.u->params[i], *given;
		auto_free char *name = kasprintf("%s_given", p->name),
		               *value = kasprintf("(%s) != 0", p->value),
		               *guard = kstrdup(p->guard);

		if (!p->pointer || !kjson_has(names, p->name))
			continue;
		kbuf_printf(&b, "\tif (!%s)\n\t\t%s = 0;\n", name, p->name);
		given = add_param(name, "int", value);
		given->given = kstrdup(making.u->params[i].name);
		given->guard = kstrdup(guard);
		making.own = true;
	}
	put_first(&b);
}

/* The array FROM is now a block: so is TO, if that is the same name. */
static void
follow(char **to, const char *from)
{
	if (!*to || strcmp(*to, from) != 0)
		return;
	free(*to);
	*to = kasprintf("%s_block", from);
}

/* If the function also touches what is before an array: the whole block, and a place in it. */
static void
put_within(size_t at, struct kbuf *b)
{
	struct unit_param *p = &making.u->params[at], *place;
	auto_free char *variable = declaration(p, NULL), *name = p->name, *value = p->value,
	               *at_name = kasprintf("%s_at", name),
	               *at_value = kasprintf("(int)((%s *)(%s) - (%s *)kwatch_block(%s))", p->type,
	                   value, p->type, value);

	kbuf_printf(b, "\t%s = %s_block + %s;\n", variable, name, at_name);
	p->name = kasprintf("%s_block", name);
	p->value = kasprintf("kwatch_block(%s)", value);
	free(p->text);
	p->text = NULL;
	place = add_param(at_name, "int", at_value);
	place->place = kstrdup(value);
	place->along = kstrdup(name);
	unit_params(q, making.u) {
		follow(&q->along, name);
		follow(&q->given, name);
	}
	making.own = true;
}

static void
set_within(void)
{
	const json_t *names = json_object_get(making.u->assumed, "within");
	struct kbuf b = { 0 };

	for (size_t i = 0; i < making.u->param_count; i++) {
		const struct unit_param *p = &making.u->params[i];

		if (p->pointer && !p->guard && !p->size && kjson_has(names, p->name))
			put_within(i, &b);
	}
	put_first(&b);
}

/* What the entry relies on, if it has any results. */
static void
rely(void)
{
	const struct adopted_unit *u = making.u;

	if (!making.why->len && !kany(unit_params(p, u), p->pointer && !p->constant))
		refuse(NULL, "it returns nothing, and changes none of its arguments");
	set_null();
	set_given();
	set_within();
}

/* A name that does not occur in the project. The caller frees. */
static char *
entry_name(void)
{
	struct kbuf name = { 0 };

	kbuf_printf(&name, "%s_%s", kscan_plain(making.u->name),
	    making.u->kernel || making.u->sequence ? "launch" : "entry");
	while (json_object_get(making.s->all->index, name.data))
		kbuf_puts(&name, "_");
	return name.data;
}

/* A task passes the stream as the last argument. */
static void
put_stream_last(struct adopted_unit *u)
{
	for (size_t i = 0; i + 1 < u->param_count; i++)
		if (!strcmp(u->params[i].type, "cudaStream_t")) {
			struct unit_param stream = u->params[i];

			memmove(&u->params[i], &u->params[i + 1],
			    (u->param_count - i - 1) * sizeof *u->params);
			u->params[u->param_count - 1] = stream;
			return;
		}
}

void
entry_make(struct adopted_unit *u, const json_t *seen, const json_t *symbols, struct kbuf *why)
{
	making = (struct making){ .u = u,
		.types = { .own = u->source },
		.s = u->source,
		.f = u->f,
		.why = why,
		.seen = seen,
		.before = kbuf_empty(),
		.arguments = kbuf_empty(),
		.after = kbuf_empty(),
		.templates = kbuf_empty() };
	json_auto_t *bound = NULL;
	auto_free char *launch = NULL, *before = NULL;
	auto_buf struct kbuf same = { 0 };

	making.cxx = unit_is_cxx(making.s);
	making.g = kscan_signature(making.f);
	bound = instance_bind(u, &making.g, &making.templates, why);
	making.types.bound = bound;
	making.own =
	    u->kernel || u->sequence || making.templates.len > 0 || !unit_is_plain(making.f);
	u->names = json_array();
	take_object();
	for (size_t i = 0; i < making.g.count; i++) {
		if (u->kernel && instance_is_null(u, i))
			argument("nullptr");
		else
			take_param(&making.g.params[i]);
		kbuf_join(&same, ", ", making.g.params[i].name);
		if (u->sequence && !making.why->len &&
		    (strcmp(same.data, making.arguments.data) || making.after.len))
			refuse(&making.g.params[i],
			    "neither a number, an array nor a structure of numbers, for a function "
			    "that launches kernels");
		kjson_add(u->names, making.g.params[i].name);
	}
	kjson_foreach_member(name, declared, symbols)
		take_symbol(name, json_string_value(declared));
	before = take_result();
	launch = u->kernel && u->launch_count ? launch_text() : NULL;
	if (u->sequence)
		add_param("stream", "cudaStream_t", "0")->launch = true;
	put_stream_last(u);
	if (!u->kernel && !u->sequence)
		rely();
	u->entry = making.own ? entry_name() : kstrdup(u->name);
	if (u->sequence)
		write_sequence();
	else if (making.own)
		write_entry(launch, before);
	free(making.called);
	kscan_signature_free(&making.g);
	kbuf_free(&making.before);
	kbuf_free(&making.arguments);
	kbuf_free(&making.after);
	kbuf_free(&making.templates);
	kbuf_free(&making.rooms);
}
