/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel and everything from the project that it needs, in one text that compiles alone: items
 * of its file and of the project's headers that it names, those that they name, and so on; includes
 * of the system are unchanged. See adopt.h.
 */

#include "adopt.h"
#include "kio.h"
#include "kregex.h"
#include "ktoken.h"

enum { LIST_MAX = 1 << 20 };

/* Files that grep treats as code of the project. */
#define CODE \
	"--include='*.[chC]' --include='*.cc' --include='*.cpp' --include='*.cxx' " \
	"--include='*.cu' --include='*.cuh' " \
	"--include='*.hh' --include='*.hpp' --include='*.hxx' --exclude-dir=.git "

/* Context of bundle_open while it follows includes. */
struct search {
	struct bundle *b;
	const char *folder; /* the copy */
	const json_t *include;
};

static bool
is_inside(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return !strncmp(path, folder, n) && path[n] == '/';
}

/* NAME in a folder of headers, which is relative to the copy unless it is absolute. */
static char *
header_path(const struct search *s, const char *folder, const char *name)
{
	return *folder == '/' ? kasprintf("%s/%s", folder, name)
	                      : kasprintf("%s/%s/%s", s->folder, folder, name);
}

/*
 * The project's file that an include in FROM names; NULL: not a file of the project. The caller
 * frees.
 */
static char *
find_header(const struct search *s, const char *from, const char *name, bool system)
{
	const char *slash = strrchr(from, '/');
	char full[PATH_MAX],
	    *path = system ? NULL : kasprintf("%.*s/%s", (int)(slash - from), from, name);

	for (size_t i = 0; i <= json_array_size(s->include); i++) {
		if (path && realpath(path, full) &&
		    (is_inside(full, s->folder) || siblings_name(s->folder, full))) {
			free(path);
			return kstrdup(full);
		}
		free(path);
		path = i < json_array_size(s->include)
		    ? header_path(s, json_string_value(json_array_get(s->include, i)), name)
		    : NULL;
	}
	return NULL;
}

/* The project's copy; the caller frees. */
static char *
folder_of(const struct bundle *b)
{
	const struct source *x = &b->sources[0];

	return kstrndup(x->path, strlen(x->path) - strlen(x->name) - 1);
}

static bool
is_open(const struct bundle *b, const char *path)
{
	for (size_t i = 0; i < b->count; i++)
		if (!strcmp(b->sources[i].path, path))
			return true;
	return false;
}

static void
add_order(struct bundle *b, size_t source, size_t item)
{
	kgrow(b->order, b->order_count);
	b->order[b->order_count].source = source;
	b->order[b->order_count++].item = item;
}

/*
 * The next line "#include" in the code of X from *P on: its file, to be freed, and whether it is a
 * system header; NULL: none.
 */
static char *
next_include(const struct kscan *x, size_t *p, size_t to, bool *system)
{
	static const char line[] = "(?m)^[ \\t]*(#)[ \\t]*include[ \\t]*([<\"])([^>\"\\n]*)";
	struct kregex_span at[4];

	while (*p < to && kregex_find(line, x->text + *p, to - *p, at, LEN(at))) {
		const char *text = x->text + *p;

		*p += at[0].to;
		*system = text[at[2].from] == '<';
		/* Not in a comment. */
		if (x->code[text + at[1].from - x->text] == '#')
			return kregex_text(text, at[3]);
	}
	return NULL;
}

static void add_source(struct search *s, const char *path, bool root);

/*
 * "#ifdef HAVE_CONFIG_H" and the like: for a condition without other branches, assume that the
 * project's headers in it are included.
 */
static void
add_group_headers(struct search *s, const char *path, size_t index, size_t item)
{
	const struct kscan_item *x = &s->b->sources[index].scan.items[item];
	size_t p = x->from;
	bool system;
	char *name;

	if (kregex_find(
	        "(?m)^[ \\t]*#[ \\t]*el", s->b->sources[index].text + p, x->to - p, NULL, 0))
		return;
	/* The array of sources may move. */
	while ((name = next_include(&s->b->sources[index].scan, &p,
	            s->b->sources[index].scan.items[item].to, &system))) {
		char *header = find_header(s, path, name, system);

		if (header && !is_open(s->b, header))
			add_source(s, header, false);
		free(header);
		free(name);
	}
}

/*
 * Does the group only include something of the system? Then it stays unchanged, like such an
 * include outside a group.
 */
static bool
is_system_group(
    struct search *s, const char *path, const struct kscan *x, const struct kscan_item *item)
{
	size_t p = item->from, found = 0;
	bool good = item->kind == KSCAN_GROUP && !item->name_count, system;
	char *name;

	while (good && (name = next_include(x, &p, item->to, &system))) {
		char *header = find_header(s, path, name, system);

		good = system && !header;
		found++;
		free(header);
		free(name);
	}
	return good && found;
}

/* Adds a source; before each of its items it adds the headers that are included up to there. */
static void
add_source(struct search *s, const char *path, bool root)
{
	struct bundle *b = s->b;
	size_t index = b->count, len, count;
	const char *name = is_inside(path, s->folder) ? path + strlen(s->folder) + 1
	                                              : siblings_name(s->folder, path);
	struct source *x;

	kgrow(b->sources, b->count);
	x = &b->sources[b->count++];
	*x = (struct source){ .path = kstrdup(path),
		/* In a folder that is only linked to the copies. */
		.name = kstrdup(name ? name : path),
		.text = file_text(path, &len),
		.root = root };
	if (!x->text)
		kdie_errno(K_IO, "%s", path);
	kscan(x->text, len, &x->scan);
	x->kept = kcalloc(x->scan.count + 1, sizeof *x->kept);
	count = x->scan.count;
	for (size_t i = 0; i < count; i++) {
		/* The array of sources may move below. */
		const struct kscan_item *item = &b->sources[index].scan.items[i];
		char *header = item->kind == KSCAN_INCLUDE
		    ? find_header(s, path, item->names[0], item->system)
		    : NULL;

		b->sources[index].kept[i] = is_system_group(s, path, &b->sources[index].scan, item);
		if (item->kind == KSCAN_GROUP)
			add_group_headers(s, path, index, i);
		if (header && !is_open(b, header))
			add_source(s, header, false);
		if (!header)
			add_order(b, index, i);
		free(header);
	}
}

static void prepend_source(struct bundle *b, const char *path);

void
bundle_open(struct bundle *b, const struct adoption *a, const char *folder, const json_t *settings)
{
	char full[PATH_MAX], *path = kasprintf("%s/%s", folder, a->file), real[PATH_MAX];
	const json_t *include = json_object_get(settings, "include"),
	             *forced = json_object_get(settings, "forced");
	struct search s = { .b = b, .folder = full, .include = include };

	*b = (struct bundle){ .entry = kjson_str(a->unit, "text"),
		.notes = json_array(),
		.include = json_incref((json_t *)include) };
	if (!realpath(folder, full) || !realpath(path, real))
		kdie_errno(K_IO, "%s", path);
	add_source(&s, real, true);
	free(path);
	for (size_t i = json_array_size(forced); i-- > 0;) {
		path = header_path(&s, ".", json_string_value(json_array_get(forced, i)));
		if (realpath(path, real) && is_inside(real, full) && !is_open(b, real))
			prepend_source(b, real);
		free(path);
	}
}

void
bundle_close(struct bundle *b)
{
	for (size_t i = 0; i < b->count; i++) {
		struct source *x = &b->sources[i];

		kscan_free(&x->scan);
		free(x->path);
		free(x->name);
		free(x->text);
		free(x->kept);
	}
	free(b->sources);
	free(b->order);
	json_decref(b->include);
	json_decref(b->notes);
	*b = (struct bundle){ 0 };
}

/* ---- what is needed ---- */

struct need {
	struct bundle *b;
	const struct kscan *s; /* the names are those of this item in it */
	const struct kscan_item *of;
	bool changed;
};

/*
 * Is the member X of another class meant at AT, or none? A class that declares its members needs
 * none of them.
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
			kept |= *bundle_kept(f, y);
		}
	for (size_t p = n->of->from; p < at; p++)
		depth += (n->s->code[p] == '{') - (n->s->code[p] == '}');
	return known && (!kept || (n->of->kind == KSCAN_DECLARATION && depth == 1));
}

/* Keeps what declares the name from AT to END in N's item. */
static void
keep_named(struct need *n, size_t at, size_t end)
{
	bundle_items(n->b, f, x) {
		bool *kept = bundle_kept(f, x);

		for (size_t m = 0; !*kept && m < x->name_count; m++)
			if (x->kind != KSCAN_INCLUDE && kscan_among(n->s, at, end, x->names[m]) &&
			    !is_other_member(n, x, at))
				n->changed = *kept = true;
	}
}

/* Items that are kept name other items: keep those too, until nothing new is named. */
static void
close_over(struct bundle *b)
{
	struct need n = { .b = b, .changed = true };
	json_auto_t *seen = json_object();

	while (n.changed) {
		n.changed = false;
		bundle_items(b, f, x) {
			char key[32];

			snprintf(key, sizeof key, "%p", (const void *)x);
			if (!*bundle_kept(f, x) || json_object_get(seen, key))
				continue;
			json_object_set_new(seen, key, json_true());
			n.s = &f->scan;
			n.of = x;
			for (size_t at = x->from, end; kscan_identifier(n.s, &at, x->to, &end);
			     at = end)
				keep_named(&n, at, end);
		}
	}
}

/* Does a kept function itself copy to the device's variable NAME before it launches the kernel? */
static bool
sets_itself(const struct bundle *b, const char *name)
{
	auto_free char *copy = kasprintf("cudaMemcpyToSymbolAsync(%s,", name);
	bool found = strstr(b->entry, copy) != NULL;

	bundle_items(b, f, x)
		found |= *bundle_kept(f, x) && x->kind == KSCAN_FUNCTION &&
		    kscan_uses(
		        &f->scan, x->from, x->to, "cudaMemcpyToSymbol cudaMemcpyToSymbolAsync") &&
		    kscan_uses(&f->scan, x->from, x->to, name);
	return found;
}

/* The output of the shell's SCRIPT, with NAME as $1 and the folder of the project as $2. */
static void
search_project(const char *script, const char *name, const struct bundle *b, struct kproc_result *r)
{
	char *folder = folder_of(b);
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, (char *)"sh", (char *)name,
		folder, NULL };
	struct kproc p = { .argv = argv, .max_output = LIST_MAX };

	if (kproc_run(&p, r) < 0)
		kdie_errno(K_MISSING, "grep");
	free(folder);
}

/* In a standalone program nobody would set it, so the reference would compute something else. */
static void
refuse_symbol(const struct bundle *b, const struct source *x, const char *name)
{
	static const char script[] =
	    "cd \"$2\" && grep -rnE " CODE
	    "-e \"cudaMemcpyToSymbol(Async)?[[:space:]]*\\([^,]*\\<$1\\>\" . | "
	    "LC_ALL=C sort | head -1";
	struct kproc_result r;

	search_project(script, name, b, &r);
	if (*r.out && !sets_itself(b, name))
		kdie(K_USAGE,
		    "%s: the kernel reads %s, which other code sets on the device (%.*s), so it "
		    "would not be set when the kernel runs alone; pass it to the function as an "
		    "array, or copy it there before the launch with cudaMemcpyToSymbolAsync",
		    x->name, name, (int)strcspn(r.out, "\n"), r.out);
	kproc_result_free(&r);
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
		if (!*bundle_kept(f, x) || x->kind != KSCAN_DECLARATION || !x->name_count ||
		    memchr(f->scan.code + x->from, '(', x->to - x->from) ||
		    kscan_has_word(&f->scan, x,
		        "const constexpr typedef using struct union enum class template"))
			continue;
		if (kscan_has_word(&f->scan, x, "__constant__ __device__"))
			refuse_symbol(b, f, x->names[0]);
		/* If nothing copies to it, it keeps its initializer. */
		if (!kscan_has_word(&f->scan, x, "__constant__"))
			json_array_append_new(b->notes,
			    json_sprintf("%s: the kernel uses the variable %s, which other code "
			                 "may "
			                 "change; in the extracted file it keeps its first value",
			        f->name, x->names[0]));
	}
}

/*
 * Does the linker find it under NAME: a function with its body, or a variable and not just a
 * declaration?
 */
static bool
is_definition(const struct kscan *s, const struct kscan_item *x, const char *name)
{
	if (!kscan_declares(x, name) || kscan_has_word(s, x, "static"))
		return false;
	return x->kind == KSCAN_FUNCTION ||
	    (x->kind == KSCAN_DECLARATION && !kscan_has_word(s, x, "extern typedef") &&
	        !memchr(s->code + x->from, '(', x->to - x->from));
}

static const struct kscan_item *
definition_in(const struct kscan *s, const char *name)
{
	kscan_items(x, s)
		if (is_definition(s, x, name))
			return x;
	return NULL;
}

/*
 * The source of the project that defines the function or variable NAME, found with grep: its path,
 * or NULL; to be freed. If it is another one than those that are open, HASH gets its ktoken_hash.
 */
static char *
find_definition(const struct bundle *b, const char *name, char hash[17])
{
	static const char script[] = "grep -rlwE " CODE "-e \"$1\" \"$2\" | LC_ALL=C sort";
	char *found = NULL;
	struct kproc_result r;

	search_project(script, name, b, &r);
	kpart_foreach(line, r.out, "\n") {
		auto_free char *text = found || is_open(b, line) ? NULL : file_text(line, NULL);
		const struct kscan_item *x;
		auto_scan struct kscan s = { 0 };

		if (!text)
			continue;
		kscan(text, strlen(text), &s);
		x = definition_in(&s, name);
		if (!x)
			continue;
		found = kstrdup(line);
		ktoken_hash(text + x->from, x->to - x->from, hash);
	}
	kproc_result_free(&r);
	return found;
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
holds(const struct kscan *s, const struct kscan_item *x, const char *name)
{
	const struct kscan_item *f = x->kind == KSCAN_DECLARATION ? kscan_function(s, name) : NULL;

	return f && x->from < f->from && f->to < x->to;
}

static bool
keep_function(struct bundle *b, const char *name)
{
	bundle_items(b, f, x)
		if (((x->kind == KSCAN_FUNCTION || x->kind == KSCAN_GROUP) &&
		        kscan_declares(x, name)) ||
		    is_definition(&f->scan, x, name) || holds(&f->scan, x, name))
			return *bundle_kept(f, x) = true;
	return false;
}

/* Marks the open headers that the source INDEX includes, and what they include. */
static void
mark_included(const struct search *s, size_t index, bool *marked)
{
	const struct source *f = &s->b->sources[index];

	kscan_items(x, &f->scan) {
		auto_free char *header = x->kind == KSCAN_INCLUDE
		    ? find_header(s, f->path, x->names[0], x->system)
		    : NULL;

		for (size_t k = 0; header && k < s->b->count; k++)
			if (!marked[k] && !strcmp(s->b->sources[k].path, header)) {
				marked[k] = true;
				mark_included(s, k, marked);
			}
	}
}

/*
 * Puts another source of the project before the kernel's own, which stays last, and before it the
 * headers that were there already.
 */
static void
prepend_source(struct bundle *b, const char *path)
{
	size_t n = b->order_count, own = b->count, first = 0;
	auto_free char *folder = folder_of(b);
	struct search s = { .b = b, .folder = folder, .include = b->include };
	bool *marked;

	add_source(&s, path, false);
	marked = kcalloc(b->count + 1, sizeof *marked);
	mark_included(&s, own, marked);
	for (size_t i = 0; i < b->order_count; i++) {
		size_t source = b->order[i].source, item = b->order[i].item;

		if (i < n && (!source || !marked[source]))
			continue;
		memmove(b->order + first + 1, b->order + first, (i - first) * sizeof *b->order);
		b->order[first].source = source;
		b->order[first++].item = item;
	}
	free(marked);
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

/* Does X make or end objects of the class whose member KERNEL is? A task makes none. */
static bool
is_maker(const struct kscan *s, const struct kscan_item *x, const char *kernel)
{
	auto_free char *class = kscan_path(kernel);

	return *class && x->kind == KSCAN_FUNCTION && !strcmp(x->names[0], kscan_plain(class)) &&
	    strchr(":~", s->code[x->name_at - 1]);
}

static bool
is_kept(const struct bundle *b, size_t i, const char *kernel)
{
	const struct source *x = &b->sources[b->order[i].source];
	size_t k = b->order[i].item;
	const struct kscan_item *item = &x->scan.items[k];

	switch (item->kind) {
	case KSCAN_INCLUDE:
		return true;
	case KSCAN_MACRO:
		/* Macros that system headers check (_GNU_SOURCE) are named nowhere else. */
		return x->kept[k] || (x->root && item->names[0][0] == '_');
	case KSCAN_DIRECTIVE:
		return x->root && !strstr(x->scan.code + item->from, "pragma once") &&
		    x->scan.code[item->from] == '#' &&
		    kscan_uses(&x->scan, item->from, item->to, "pragma");
	case KSCAN_OPEN:
	case KSCAN_CLOSE:
		return false;
	default:
		/* Its prototype would have different linkage from the entry of a task. */
		return x->kept[k] && !is_maker(&x->scan, item, kernel) &&
		    !(item->kind == KSCAN_DECLARATION && item->name_count == 1 &&
		        !strcmp(item->names[0], kernel));
	}
}

/*
 * The namespaces around an item must be opened before it and closed after it: one line each, if
 * something in them is kept.
 */
static void
add_depth(struct kbuf *out, const struct bundle *b, size_t i, bool open)
{
	const struct source *x = &b->sources[b->order[i].source];
	size_t k = b->order[i].item, depth = x->scan.items[k].depth;

	if (!depth)
		return;
	if (!open) {
		for (size_t d = 0; d < depth; d++)
			kbuf_puts(out, "}\n");
		return;
	}
	for (size_t d = 0; d < depth; d++)
		for (size_t m = k; m-- > 0;)
			if (x->scan.items[m].kind == KSCAN_OPEN && x->scan.items[m].depth == d) {
				kbuf_add(out, x->text + x->scan.items[m].from,
				    x->scan.items[m].to - x->scan.items[m].from);
				kbuf_puts(out, "\n");
				break;
			}
}

/* A group without its includes of the project, whose items are added separately. */
static void
add_group(
    struct kbuf *out, const struct bundle *b, const struct source *x, const struct kscan_item *item)
{
	auto_free char *folder = folder_of(b);
	struct search s = { .folder = folder, .include = b->include };

	for (size_t p = item->lead, next; p < item->to; p = next) {
		size_t at = p, end = p + strcspn(x->text + p, "\n") + 1;
		bool system;
		auto_free char *name = NULL, *header = NULL;

		next = end < item->to ? end : item->to;
		name = next_include(&x->scan, &at, next, &system);
		header = name ? find_header(&s, x->path, name, system) : NULL;
		if (!header)
			kbuf_add(out, x->text + p, next - p);
	}
}

/* The kernel's own definition: as the entry, visible from outside under its plain name. */
static void
add_kernel(struct kbuf *out, const struct adoption *a, const struct source *x,
    const struct kscan_item *item)
{
	bool replaced = json_object_get(a->unit, "sequence"), own = strcmp(a->entry, a->kernel);
	struct kregex_span specifiers = { 0 };

	/* Unchanged, followed by the entry that calls it for the task, or stands for it. */
	kbuf_add(
	    out, x->text + item->lead, (own && !replaced ? item->to : item->from) - item->lead);
	if (own) {
		kbuf_printf(out, "%s%s", replaced ? "" : "\n\n", kjson_str(a->unit, "text"));
		return;
	}
	if ((a->device || a->cxx) && !kscan_has_word(&x->scan, item, "extern"))
		kbuf_puts(out, "extern \"C\" ");
	/* In C, an inline function alone is not a definition. */
	kregex_find("\\A(?:(?:static|inline)\\s+)*", x->scan.code + item->from,
	    item->to - item->from, &specifiers, 1);
	kbuf_add(out, x->text + item->from + specifiers.to, item->to - item->from - specifiers.to);
}

static bool
seen_include(const struct bundle *b, size_t i)
{
	const struct kscan_item *item =
	    &b->sources[b->order[i].source].scan.items[b->order[i].item];

	for (size_t k = 0; k < i; k++) {
		const struct kscan_item *other =
		    &b->sources[b->order[k].source].scan.items[b->order[k].item];

		if (other->kind == KSCAN_INCLUDE && !strcmp(other->names[0], item->names[0]))
			return true;
	}
	return false;
}

char *
bundle_text(struct bundle *b, const struct adoption *a)
{
	enum kscan_kind last = KSCAN_INCLUDE;
	struct kbuf out = { 0 };
	char *text;

	kbuf_printf(&out, "/* %s of %s, and what it needs. */\n", a->kernel, a->file);
	for (size_t i = 0; i < b->order_count; i++) {
		const struct source *x = &b->sources[b->order[i].source];
		const struct kscan_item *item = &x->scan.items[b->order[i].item];

		if (!is_kept(b, i, a->kernel) ||
		    (item->kind == KSCAN_INCLUDE && seen_include(b, i)))
			continue;
		if (last != item->kind || item->kind == KSCAN_FUNCTION || item->lead < item->from)
			kbuf_puts(&out,
			    out.len && last == KSCAN_INCLUDE && item->kind == KSCAN_INCLUDE ? ""
			                                                                    : "\n");
		last = item->kind;
		add_depth(&out, b, i, true);
		if (item->kind == KSCAN_FUNCTION && kscan_declares(item, a->kernel))
			add_kernel(&out, a, x, item);
		else if (item->kind == KSCAN_GROUP)
			add_group(&out, b, x, item);
		else if (item->kind == KSCAN_INCLUDE)
			kbuf_add(&out, x->text + item->from, item->to - item->from);
		else
			kbuf_add(&out, x->text + item->lead, item->to - item->lead);
		if (out.data[out.len - 1] != '\n')
			kbuf_puts(&out, "\n");
		/* A kernel inside a condition, or in a class, is called from outside it. */
		if ((item->kind == KSCAN_GROUP && kscan_declares(item, a->kernel)) ||
		    holds(&x->scan, item, a->kernel))
			kbuf_printf(&out, "\n%s", kjson_str(a->unit, "text"));
		add_depth(&out, b, i, false);
	}
	note_variables(b);
	text = rules_replace("cleanup", a->language, out.data);
	kbuf_free(&out);
	return text;
}
