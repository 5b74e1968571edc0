/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel and everything from the project that it needs, in one text that compiles alone: items
 * of its file and of the project's headers that it names, those that they name, and so on; includes
 * of the system are unchanged. See adopt.h.
 */

#include "adopt.h"
#include "instance.h"
#include "ktoken.h"
#include "numbers.h"
#include "unit.h"

/* NAME in a folder of headers, which is relative to the copy unless it is absolute. */
static char *
header_path(const struct bundle *b, const char *folder, const char *name)
{
	return *folder == '/' ? kasprintf("%s/%s", folder, name)
	                      : kasprintf("%s/%s/%s", b->folder, folder, name);
}

/*
 * The project's file that an include in FROM names; NULL: not a file of the project. The caller
 * frees.
 */
static char *
find_header(const struct bundle *b, const struct source *from, const char *name, bool system)
{
	auto_free char *near = kfolder_of(from->path);
	json_auto_t *folders = json_array();

	if (!system)
		kjson_add(folders, near);
	if (b->include)
		json_array_extend(folders, b->include);
	kjson_foreach_text(folder, folders) {
		auto_free char *path = header_path(b, folder, name);
		char full[PATH_MAX];

		if (realpath(path, full) &&
		    (path_in(b->folder, full) || siblings_name(b->folder, full)))
			return kstrdup(full);
	}
	return NULL;
}

/* The header that the item X of F includes, in the same way. */
static char *
included_by(const struct bundle *b, const struct source *f, const struct kscan_item *x)
{
	return x->kind == KSCAN_INCLUDE ? find_header(b, f, x->names[0], x->system) : NULL;
}

/*
 * What the code of F includes from one place to another: paths of files of the project; "<" for
 * another header of the system, and "\"" for another one. New reference.
 */
static json_t *
includes_in(const struct bundle *b, const struct source *f, size_t from, size_t to)
{
	static const char line[] = "(?m)^[ \\t]*(#)[ \\t]*include[ \\t]*([<\"])([^>\"\\n]*)";
	json_t *list = json_array();
	struct kregex_span at[4];

	for (; kregex_find(line, f->text + from, to - from, at, LEN(at)); from += at[0].to) {
		auto_free char *kind = kregex_text(f->text + from, at[2]),
		               *name = kregex_text(f->text + from, at[3]),
		               *header = find_header(b, f, name, *kind == '<');

		/* Not in a comment. */
		if (f->scan.code[from + at[1].from] == '#')
			kjson_add(list, header ?: kind);
	}
	return list;
}

/*
 * Does the group only include system headers? Then it stays unchanged, like such an include outside
 * a group.
 */
static bool
is_system_group(const struct kscan_item *x, const json_t *includes)
{
	return !x->name_count && json_array_size(includes) &&
	    !kany(kjson_foreach_text(name, includes), *name != '<');
}

static struct source *
find_source(const struct bundle *b, const char *path)
{
	struct source *f = b->first;

	while (f && strcmp(f->path, path))
		f = f->next;
	return f;
}

static struct source *
open_source(struct bundle *b, const char *path)
{
	const char *name = path_in(b->folder, path) ?: siblings_name(b->folder, path);
	struct source *f = find_source(b, path), **end = &b->first;

	if (f)
		return f;
	while (*end)
		end = &(*end)->next;
	*end = f = kcalloc(1, sizeof *f);
	/* NULL: in a folder to which the copies only have a link. */
	*f = (struct source){ .path = kstrdup(path),
		.name = kstrdup(name ?: path),
		.text = file_needed(path, NULL),
		.root = f == b->first };
	kscan(f->text, &f->scan);
	return f;
}

/*
 * Adds the items of a source; before each of them those of headers that are included above it. For
 * a condition without other branches, "#ifdef HAVE_CONFIG_H" and the like, assume that the
 * project's headers in it are included.
 */
static void
add_parts(struct bundle *b, const char *path)
{
	struct source *f = open_source(b, path);

	if (f->added)
		return;
	f->added = true;
	kscan_items(x, &f->scan) {
		bool group = x->kind == KSCAN_GROUP;
		auto_free char *header = included_by(b, f, x);
		json_auto_t *all = group ? includes_in(b, f, x->from, x->to) : NULL;

		x->kept |= is_system_group(x, all);
		if (group && kscan_looks(x, "(?m)^[ \\t]*#[ \\t]*el"))
			json_array_clear(all);
		kjson_foreach_text(name, all)
			if (*name == '/')
				add_parts(b, name);
		if (header)
			add_parts(b, header);
		else
			*kadded(b->parts, b->count) = (struct part){ f, x };
	}
}

/* Puts a source before the others: the kernel's own stays last. */
static void
prepend_source(struct bundle *b, const char *path)
{
	json_array_insert_new(b->top, 0, json_string(path));
	b->count = 0;
	for (struct source *f = b->first; f; f = f->next)
		f->added = false;
	kjson_foreach_text(one, b->top)
		add_parts(b, one);
}

void
bundle_open(struct bundle *b, const char *file, const char *folder, const json_t *settings)
{
	char *path = path_join(folder, file), real[PATH_MAX];
	const json_t *forced = json_object_get(settings, "forced");

	*b = (struct bundle){ .folder = realpath(folder, NULL),
		.entry = kjson_str(adoption.unit, "text"),
		.notes = json_array(),
		.top = json_array(),
		.include = json_incref(json_object_get(settings, "include")) };
	if (!b->folder || !realpath(path, real))
		kdie_io("%s", path);
	kscan(b->entry, &b->entry_scan);
	prepend_source(b, real);
	for (size_t i = json_array_size(forced); i-- > 0;) {
		auto_free char *header = header_path(b, ".", kjson_item(forced, i));

		if (realpath(header, real) && path_in(b->folder, real) && !find_source(b, real))
			prepend_source(b, real);
	}
}

void
bundle_close(struct bundle *b)
{
	for (struct source *f = b->first, *next; f; f = next) {
		next = f->next;
		kscan_free(&f->scan);
		free(f->path);
		free(f->name);
		free(f->text);
		free(f);
	}
	kscan_free(&b->entry_scan);
	free(b->parts);
	free(b->folder);
	json_decref(b->include);
	json_decref(b->notes);
	json_decref(b->top);
	*b = (struct bundle){ 0 };
}

/* ---- what is needed ---- */

struct need {
	struct bundle *b;
	const struct kscan_item *of; /* the names are those of this item */
	bool changed;
};

/*
 * If X defines a member of a class of the project: is the name at AT something else? It is if the
 * class is not needed, or if AT is among the declarations of its members.
 */
static bool
is_other_member(const struct need *n, const struct kscan_item *x, size_t at)
{
	auto_free char *class = kscan_path(kscan_whole(x));
	bool known = false, kept = false;
	int depth = 0;

	if (!*class)
		return false;
	bundle_items(n->b, f, y)
		if (kscan_declares(y, kscan_plain(class))) {
			known = true;
			kept |= y->kept;
		}
	for (size_t p = n->of->from; p < at; p++)
		depth += (n->of->in->code[p] == '{') - (n->of->in->code[p] == '}');
	return known && (!kept || (n->of->kind == KSCAN_DECLARATION && depth == 1));
}

/* Does F declare NAME itself, as a parameter, a variable or a member: "float *NAME,"? */
static bool
is_own(const struct kscan_item *f, const char *name)
{
	return kscan_looks(f,
	    kshown("\\b(?!(?:return|else|case|goto|sizeof|do|new|delete|throw)\\b)\\w+[\\s*]+%s"
	           "\\s*[,;)=[]",
	        name));
}

/* Does X declare NAME as a function? */
static bool
is_function(const struct kscan_item *x, const char *name)
{
	return (x->kind == KSCAN_FUNCTION || x->kind == KSCAN_DECLARATION) &&
	    kscan_looks(x, kshown("\\b%s\\s*\\(", name));
}

/* Keeps all items that declare the name from AT to END in N's item. */
static void
keep_named(struct need *n, size_t at, size_t end)
{
	bundle_items(n->b, f, x)
		for (size_t m = 0; !x->kept && m < x->name_count; m++)
			if (x->kind != KSCAN_INCLUDE &&
			    kscan_among(n->of->in, at, end, x->names[m]) &&
			    !is_other_member(n, x, at) &&
			    !(x != n->of && is_function(x, x->names[m]) &&
			        is_own(n->of, x->names[m])))
				n->changed = x->kept = true;
}

bool
bundle_in_include(const struct kscan *s, size_t at)
{
	while (at && s->code[at - 1] != '\n')
		at--;
	return kregex_find("\\A[ \\t]*#[ \\t]*include\\b", s->code + at, s->len - at, NULL, 0);
}

/* The same for every name in X. A condition before it may choose its type. */
static void
keep_all_named(struct need *n, const struct kscan_item *x)
{
	n->of = x;
	kscan_words(at, end, x->in, x->lead, x->to)
		if (x->kind != KSCAN_GROUP || !bundle_in_include(x->in, at))
			keep_named(n, at, end);
}

/* Is NAME in an item that is kept so far? */
static bool
is_named(const struct bundle *b, const char *name)
{
	return kany(bundle_items(b, f, x), x->kept && kscan_mentions(x, name));
}

/* Are the types without which nothing calls the operator X kept: of its parameters, its class? */
static bool
has_operands(const struct bundle *b, const struct kscan_item *x)
{
	auto_signature struct kscan_signature g = kscan_signature(x);
	auto_free char *class = kscan_path(kscan_whole(x)), *formals = instance_formals(g.result);
	bool has = !*class || is_named(b, kscan_plain(class));

	kscan_params(p, &g) {
		auto_free char *own = kregex_part("(\\w+)\\s*(?:<.*)?[\\s&]*\\z", p->type);

		if (own && !number_type(p->type) && !kregex_is(kshown("\\b%s\\b", own), formals))
			has &= is_named(b, own);
	}
	return has;
}

/* Is X an operator that the items kept so far may use? Its sign and its types are all they name. */
static bool
is_used_operator(const struct bundle *b, const struct kscan_item *x)
{
	static const char word[] = "operator";
	const char *sign = x->name_count ? x->names[0] + strlen(word) : NULL;

	if (x->kind != KSCAN_FUNCTION || !kbegins(x->names[0], word) ||
	    !ispunct((unsigned char)*sign) || *sign == '_')
		return false;
	return (x->name_count > 1 ||
	           kany(bundle_items(b, f, y),
	               y->kept &&
	                   memmem(y->in->code + y->from, y->to - y->from, sign, strlen(sign)))) &&
	    has_operands(b, x);
}

/* Items that are kept name other items: keep those too, until nothing new is named. */
static void
close_over(struct bundle *b)
{
	struct need n = { .b = b, .changed = true };

	bundle_items(b, f, x)
		x->seen = false;
	/* Its parameters have the types of a template's arguments, or of what a launch passes. */
	kscan_items(x, &b->entry_scan)
		keep_all_named(&n, x);
	while (n.changed) {
		n.changed = false;
		bundle_items(b, f, x)
			if (x->kept && !x->seen) {
				x->seen = true;
				keep_all_named(&n, x);
			}
		bundle_items(b, f, x)
			if (!x->kept && is_used_operator(b, x))
				n.changed = x->kept = true;
	}
}

/* Does a kept function itself copy to the device's variable NAME before it launches the kernel? */
static bool
sets_itself(const struct bundle *b, const char *name)
{
	auto_free char *copy = kasprintf("cudaMemcpyToSymbolAsync(%s,", name);

	return strstr(b->entry, copy) ||
	    kany(bundle_items(b, f, x),
	        x->kept && x->kind == KSCAN_FUNCTION &&
	            kscan_mentions(x, "cudaMemcpyToSymbol cudaMemcpyToSymbolAsync") &&
	            kscan_mentions(x, name));
}

/* In a standalone program nobody would set it, so the reference would compute something else. */
static void
refuse_symbol(const struct bundle *b, const struct source *x, const char *name)
{
	auto_free char *copy =
	    kasprintf("\\bcudaMemcpyToSymbol(?:Async)?\\s*\\([^,]*\\b%s\\b", name);
	json_auto_t *files = sets_itself(b, name) ? NULL : unit_files(b->folder);

	kjson_foreach_text(file, files) {
		auto_free char *text = text_in(b->folder, file);
		struct kregex_span at;

		if (text && kregex_find(copy, text, strlen(text), &at, 1))
			kdie_usage("%s: the kernel reads %s, which other code sets on the device "
			           "(%s:%zu), so it would not be set when the kernel runs alone; "
			           "pass it "
			           "to the function as an array, or copy it there before the "
			           "launch with "
			           "cudaMemcpyToSymbolAsync",
			    x->name, name, file, kline_at(text, at.from));
	}
}

/*
 * Variables that other code may change are not arguments: in a standalone program they keep their
 * initial values.
 */
static void
note_variables(struct bundle *b)
{
	json_array_clear(b->notes);
	bundle_items(b, f, x) {
		if (!x->kept || x->kind != KSCAN_DECLARATION || !x->name_count ||
		    kscan_looks(x, "\\(") ||
		    kscan_has_word(
		        x, "const constexpr typedef using struct union enum class template"))
			continue;
		if (kscan_has_word(x, "__constant__ __device__"))
			refuse_symbol(b, f, x->names[0]);
		/* If nothing copies to it, it keeps its initializer. */
		if (!kscan_has_word(x, "__constant__"))
			json_array_append_new(b->notes,
			    json_sprintf("%s: the kernel uses the variable %s, "
			                 "which other code may change; "
			                 "in the extracted file it keeps its first value",
			        f->name, x->names[0]));
	}
}

/*
 * Does the linker find it under NAME: a function with its body, or a variable and not just a
 * declaration?
 */
static bool
is_definition(const struct kscan_item *x, const char *name)
{
	if (!kscan_declares(x, name) || kscan_has_word(x, "static"))
		return false;
	return x->kind == KSCAN_FUNCTION ||
	    (x->kind == KSCAN_DECLARATION && !kscan_has_word(x, "extern typedef") &&
	        !kscan_looks(x, "\\("));
}

/* A definition, or else a group with one. */
static const struct kscan_item *
definition_in(const struct kscan *s, const char *name)
{
	auto_free char *body =
	    kasprintf("\\b%s\\s*(?:\\([^;{}()]*\\)\\s*\\{|(?:\\[[^]]*\\]\\s*)*=(?!=))", name);

	kscan_items(x, s)
		if (is_definition(x, name))
			return x;
	kscan_items(x, s)
		if (x->kind == KSCAN_GROUP && kscan_declares(x, name) &&
		    kregex_find(body, s->code + x->from, x->to - x->from, NULL, 0))
			return x;
	return NULL;
}

/*
 * The path of the project's source that is not open and defines the function or variable NAME, to
 * be freed; NULL: none. HASH gets the ktoken_hash of the definition.
 */
static char *
find_definition(const struct bundle *b, const char *name, char hash[17])
{
	json_auto_t *files = unit_files(b->folder);

	kjson_foreach_text(file, files) {
		auto_free char *path = kasprintf("%s/%s", b->folder, file),
		               *text = find_source(b, path) ? NULL : file_text(path, NULL);
		auto_scan struct kscan s = { 0 };
		const struct kscan_item *x;

		if (!text || !strstr(text, name))
			continue;
		kscan(text, &s);
		x = definition_in(&s, name);
		if (!x)
			continue;
		ktoken_hash(text + x->from, x->to - x->from, hash);
		return kstrdup(path);
	}
	return NULL;
}

bool
bundle_has_elsewhere(const struct bundle *b, const char *name, const char *hash)
{
	char other[17];
	auto_free char *path = find_definition(b, name, other);

	return path && !strcmp(hash, other);
}

/* Is X the class that defines the member NAME between its braces? */
static bool
holds(const struct kscan_item *x, const char *name)
{
	const struct kscan_item *f =
	    x->kind == KSCAN_DECLARATION ? kscan_function(x->in, name) : NULL;

	return f && x->from < f->from && f->to < x->to;
}

/* What is kept already is not enough: in a group, NAME may be only declared. */
static bool
keep_function(struct bundle *b, const char *name)
{
	bundle_items(b, f, x)
		if (!x->kept &&
		    (((x->kind == KSCAN_FUNCTION || x->kind == KSCAN_GROUP) &&
		         kscan_declares(x, name)) ||
		        is_definition(x, name) || holds(x, name)))
			return x->kept = true;
	return false;
}

bool
bundle_keep(struct bundle *b, const char *name)
{
	auto_free char *path = NULL;
	char hash[17];

	if (!keep_function(b, name)) {
		path = find_definition(b, name, hash);
		if (!path)
			return false;
		prepend_source(b, path);
		if (!keep_function(b, name))
			return false;
	}
	close_over(b);
	return true;
}

/* ---- the text ---- */

/* Is X a constructor or destructor of KERNEL's class? A task makes no objects. */
static bool
is_maker(const struct kscan_item *x, const char *kernel)
{
	auto_free char *class = kscan_path(kernel);

	return *class && x->kind == KSCAN_FUNCTION && !strcmp(x->names[0], kscan_plain(class)) &&
	    strchr(":~", x->in->code[x->name_at - 1]);
}

static bool
is_kept(const struct part *p)
{
	const struct source *f = p->source;
	const struct kscan_item *x = p->item;

	switch (x->kind) {
	case KSCAN_INCLUDE:
		return true;
	case KSCAN_MACRO:
		/* Macros that system headers check (_GNU_SOURCE) are named nowhere else. */
		return x->kept || (f->root && x->names[0][0] == '_');
	case KSCAN_DIRECTIVE:
		return f->root && !strstr(f->scan.code + x->from, "pragma once") &&
		    f->scan.code[x->from] == '#' && kscan_mentions(x, "pragma");
	case KSCAN_OPEN:
	case KSCAN_CLOSE:
		return false;
	default:
		/* Its prototype would have different linkage from the entry of a task. */
		/* What is kept may use its names without a path. */
		if (kscan_looks(x, "\\Ausing\\s+namespace\\s+std\\s*;"))
			return true;
		return x->kept && !is_maker(x, adoption.kernel) &&
		    !(x->kind == KSCAN_DECLARATION && x->name_count == 1 &&
		        !strcmp(x->names[0], adoption.kernel));
	}
}

const struct kscan_item *
bundle_around(const struct kscan_item *x, size_t depth)
{
	while (x > x->in->items && (x->kind != KSCAN_OPEN || x->depth != depth))
		x--;
	return x;
}

/* The namespaces around an item are opened before it, one line each, and closed after it. */
static void
add_depth(struct kbuf *out, const struct kscan_item *x, bool open)
{
	for (size_t depth = 0; depth < x->depth; depth++) {
		const struct kscan_item *around = bundle_around(x, depth);

		if (open)
			kbuf_slice(out, x->in->text, around->from, around->to);
		kbuf_puts(out, open ? "\n" : "}\n");
	}
}

/* A group without its includes of the project, whose items are added separately. */
static void
add_group(
    struct kbuf *out, const struct bundle *b, const struct source *f, const struct kscan_item *item)
{
	for (size_t p = item->lead, next; p < item->to; p = next) {
		size_t end = p + strcspn(f->text + p, "\n") + 1;
		json_auto_t *includes = NULL;

		next = end < item->to ? end : item->to;
		includes = includes_in(b, f, p, next);
		if (!json_array_size(includes) || *kjson_item(includes, 0) != '/')
			kbuf_slice(out, f->text, p, next);
	}
}

/* Is P the last of the functions with the kernel's name: overloads, and instances of a template? */
static bool
is_last(const struct bundle *b, const struct part *p)
{
	return !kany(kforeach_of(q, p + 1, (size_t)(b->parts + b->count - p - 1)),
	    is_kept(q) && q->item->kind == KSCAN_FUNCTION &&
	        kscan_declares(q->item, adoption.kernel));
}

/*
 * The kernel's own definition: as the entry, visible from outside under its plain name. An entry of
 * its own follows the LAST.
 */
static void
add_kernel(struct kbuf *out, const struct source *x, const struct kscan_item *item, bool last)
{
	bool replaced = json_object_get(adoption.unit, "sequence"),
	     own = strcmp(adoption.entry, adoption.kernel);
	struct kregex_span specifiers = { 0 };

	/* Unchanged, followed by the entry that calls it for the task, or stands for it. */
	kbuf_slice(out, x->text, item->lead, own && !replaced ? item->to : item->from);
	if (own && last)
		kbuf_printf(out, "%s%s", replaced ? "" : "\n\n", kjson_str(adoption.unit, "text"));
	if (own)
		return;
	if ((adoption.device || adoption.cxx) && !kscan_has_word(item, "extern"))
		kbuf_puts(out, "extern \"C\" ");
	/* In C, an inline function alone is not a definition. */
	kregex_find("\\A(?:(?:static|inline)\\s+)*", x->scan.code + item->from,
	    item->to - item->from, &specifiers, 1);
	kbuf_slice(out, x->text, item->from + specifiers.to, item->to);
}

char *
bundle_text(struct bundle *b)
{
	enum kscan_kind last = KSCAN_INCLUDE;
	json_auto_t *included = json_object();
	auto_buf struct kbuf out = { 0 };

	kbuf_printf(&out, "/* %s of %s, and what it needs. */\n", adoption.kernel, adoption.file);
	kforeach_of(p, b->parts, b->count) {
		const struct source *f = p->source;
		const struct kscan_item *x = p->item;

		if (!is_kept(p) ||
		    (x->kind == KSCAN_INCLUDE && !kjson_enter(included, x->names[0])))
			continue;
		if (last != x->kind || x->kind == KSCAN_FUNCTION ||
		    (x->lead < x->from && x->kind != KSCAN_INCLUDE))
			kbuf_puts(&out, "\n");
		last = x->kind;
		add_depth(&out, x, true);
		if (x->kind == KSCAN_FUNCTION && kscan_declares(x, adoption.kernel))
			add_kernel(&out, f, x, is_last(b, p));
		else if (x->kind == KSCAN_GROUP)
			add_group(&out, b, f, x);
		else if (x->kind == KSCAN_INCLUDE)
			kbuf_slice(&out, f->text, x->from, x->to);
		else
			kbuf_slice(&out, f->text, x->lead, x->to);
		if (out.data[out.len - 1] != '\n')
			kbuf_puts(&out, "\n");
		/* A kernel inside a condition, or in a class, is called from outside it. */
		if ((x->kind == KSCAN_GROUP && kscan_declares(x, adoption.kernel)) ||
		    holds(x, adoption.kernel))
			kbuf_printf(&out, "\n%s", kjson_str(adoption.unit, "text"));
		add_depth(&out, x, false);
	}
	note_variables(b);
	return rules_replace("cleanup", adoption.language, out.data);
}
