/* SPDX-License-Identifier: Apache-2.0 */
/* splice: see splice.h. */
#include "splice.h"

#include "call.h"
#include "ktoken.h"
#include "unit.h"

/* The winner that is put in: one a process. */
static struct {
	struct bundle b; /* the original file and its headers */
	const struct source *file;
	const struct kscan_item *kernel;
	struct kscan w;         /* the winner */
	struct kscan reference; /* the program extracted from the application */
	const struct kscan_item *new_kernel;
	const struct kscan_item *holder, *new_holder; /* they, or the classes that they are in */
	const struct kscan_item *entry;               /* for a unit: the winner's entry */
	json_t *called;      /* the application will call that entry; or NULL */
	bool launched;       /* the function is a kernel, identified by its launches */
	bool kept;           /* the old kernel stays next to the winner's */
	const char *linkage; /* linkage of the entry in the application */
	struct edits edits;  /* edits in other places of the project */
	json_t *renamed;     /* old name: new name */
	bool pragma;         /* compiler options change within the file */
	struct patch *patch; /* the changed files */
	struct kbuf *notes;  /* what was renamed and removed */
	char *fault;         /* why the winner does not go in, or NULL */
} change;

/*
 * The ktoken_hash of an item; of a class with the kernel in it, without the kernel. With LANGUAGE,
 * unless it is NULL, after the cleanup of extraction.
 */
static void
item_hash(
    const struct kscan_item *x, const struct kscan_item *kernel, const char *language, char hex[17])
{
	const char *text = x->in->text;
	auto_buf struct kbuf b = { 0 };
	bool in = kernel && x->from < kernel->from && kernel->to < x->to;
	auto_free char *clean = NULL;

	kbuf_slice(&b, text, x->from, in ? kernel->from : x->to);
	if (in)
		kbuf_slice(&b, text, kernel->to, x->to);
	clean = language ? rules_replace("cleanup", language, b.data) : kstrdup(b.data);
	ktoken_hash(clean, strlen(clean), hex);
}

/* Does the item X of the project's file, apart from the old kernel, use NAME? */
static bool
item_uses(const struct kscan_item *x, const char *name)
{
	return x == change.holder && x != change.kernel
	    ? kscan_uses(x->in, x->from, change.kernel->from, name) ||
	        kscan_uses(x->in, change.kernel->to, x->to, name)
	    : kscan_mentions(x, name);
}

/*
 * Does the item Y have the same kind and HASH as X of the winner? Perhaps only after the cleanup of
 * extraction ("__constant__"), if it has the same name.
 */
static bool
is_same(const struct kscan_item *x, const char *hash, const struct kscan_item *y)
{
	const struct kscan_item *kernel = y->in == &change.file->scan ? change.kernel : NULL;
	char other[17];

	if (y->kind != x->kind)
		return false;
	item_hash(y, kernel, NULL, other);
	if (strcmp(hash, other) && y->name_count && x->name_count &&
	    !strcmp(y->names[0], x->names[0]))
		item_hash(y, kernel, adoption.language, other);
	return !strcmp(hash, other);
}

/*
 * Does the project have it, in the file or in a header that it includes? A macro of the reference
 * came from there too: from a header (for example its guard), or from a build flag.
 */
static bool
is_known(const struct kscan_item *x)
{
	char hash[17];

	item_hash(x, change.new_kernel, NULL, hash);
	return kany(bundle_items(&change.b, f, y), is_same(x, hash, y)) ||
	    (x->kind == KSCAN_MACRO &&
	        kany(kscan_items(y, &change.reference), is_same(x, hash, y)));
}

/* An item extracted from another source of the project is still there: the linker finds it. */
static bool
is_elsewhere(const struct kscan_item *x)
{
	char hash[17];

	if ((x->kind != KSCAN_FUNCTION && x->kind != KSCAN_DECLARATION) || !x->name_count)
		return false;
	item_hash(x, NULL, NULL, hash);
	bundle_items(&change.b, f, y)
		if (y->kind == KSCAN_DECLARATION && kscan_declares(y, x->names[0]))
			return bundle_has_elsewhere(&change.b, x->names[0], hash);
	return false;
}

/* An item that is placed separately, or not at all. */
static bool
is_placed(const struct kscan_item *x)
{
	if (change.called)
		return x->kind == KSCAN_DECLARATION && kscan_declares(x, adoption.entry);
	return kscan_declares(x, adoption.kernel) || kscan_declares(x, adoption.entry);
}

static void
choose_own(void)
{
	kscan_items(x, &change.w)
		if (x->kind != KSCAN_INCLUDE && x->kind != KSCAN_OPEN && x->kind != KSCAN_CLOSE &&
		    !is_placed(x))
			/* The application's own function will call the entry. */
			x->own = (change.called && !change.launched && x == change.new_kernel) ||
			    (!is_known(x) && !is_elsewhere(x));
}

/* Does the winner's own text use the project's NAME? */
static bool
needed_as_it_is(const char *name)
{
	bool needed = false;

	kscan_items(x, &change.w) {
		if (x->own && kscan_declares(x, name))
			return false;
		needed |= (x->own || x == change.new_holder) && kscan_mentions(x, name);
		/* Through a helper that stays. */
		needed |= !x->own && x != change.new_kernel && kscan_declares(x, name);
	}
	return needed;
}

/* Is it a kernel of the adopted sequence that no other file of the project names? */
static bool
is_private(const struct kscan_item *x)
{
	char *copy = project_copy();
	bool found =
	    kany(kjson_foreach_text(name, adoption.unit, "sequence"), kscan_declares(x, name));
	json_auto_t *files = found ? unit_files(copy) : NULL;
	kjson_foreach_text(file, files) {
		auto_free char *text = text_in(copy, file);

		/* A file that cannot be read may name it. */
		found &= !strcmp(file, adoption.file) || (text && !strstr(text, x->names[0]));
	}
	return found;
}

/* May other files use the item X of the project's file? Then it stays. */
static bool
is_public(const struct kscan_item *x)
{
	return (x->kind == KSCAN_FUNCTION || x->kind == KSCAN_DECLARATION) &&
	    !kscan_has_word(x, "static") &&
	    !(x->kind == KSCAN_DECLARATION && kscan_has_word(x, "typedef constexpr")) &&
	    !is_private(x);
}

/* Does anything that stays use a name of the item X of the file? */
static bool
is_used(const struct kscan_item *x)
{
	const struct kscan *s = &change.file->scan;

	kforeach_of(name, x->names, x->name_count) {
		/* The head of a function that calls the entry stays. */
		if ((change.called &&
		        kscan_uses(s, change.kernel->from, change.kernel->body, *name)) ||
		    needed_as_it_is(*name))
			return true;
		if (kany(kscan_items(y, s),
		        y != x && !y->dead && (y != change.kernel || change.kept) &&
		            y->kind != KSCAN_INCLUDE && item_uses(y, *name)))
			return true;
	}
	return false;
}

/* Static helpers in the file that only the old kernel, or other such helpers, used. */
static void
choose_dead(void)
{
	const struct kscan *s = &change.file->scan;
	bool changed = true;

	while (changed) {
		changed = false;
		kscan_items(x, s) {
			if (!x->dead && x->kept && x != change.holder && x->name_count &&
			    x->kind != KSCAN_GROUP && !is_public(x) && !is_used(x))
				changed = x->dead = true;
		}
	}
}

/* Does the kernel's name still belong to something other than the winner's kernel? */
static bool
stays(void)
{
	return change.kept || (change.called && !change.launched);
}

/* Is NAME used in the project's text, apart from the items that are removed? */
static bool
is_taken(const char *name, bool macro)
{
	bundle_items(&change.b, f, x) {
		if (x->kind == KSCAN_INCLUDE || x->dead ||
		    (!stays() && kscan_declares(x, adoption.kernel)))
			continue;
		if (kscan_declares(x, name) ||
		    (macro && f == change.file && kscan_mentions(x, name)))
			return true;
	}
	return false;
}

static void
choose_names(void)
{
	const char *plain = kscan_plain(adoption.kernel);

	change.renamed = json_object();
	kscan_items(x, &change.w)
		kforeach_of(name, x->names, x->own ? x->name_count : 0) {
			auto_buf struct kbuf fresh = { 0 };

			if (!is_taken(*name, x->kind == KSCAN_MACRO) ||
			    json_object_get(change.renamed, *name))
				continue;
			kbuf_printf(&fresh, "%s_%s", plain, strcmp(*name, plain) ? *name : "fast");
			while (is_taken(fresh.data, true))
				kbuf_puts(&fresh, "_");
			kjson_put(change.renamed, *name, fresh.data);
			kbuf_printf(change.notes,
			    "%s is renamed to %s, "
			    "because the project has another function of that name\n",
			    *name, fresh.data);
		}
}

/* Appends the winner's text with the new names. */
static void
add_text(struct kbuf *b, size_t from, size_t to)
{
	const struct kscan *s = &change.w;

	kscan_words(p, end, s, from, to) {
		auto_free char *word = kscan_copy(s, p, end);
		const char *fresh = kscan_is_member(s, kscan_back(s, p, 0))
		    ? NULL
		    : kjson_maybe(change.renamed, word);

		if (fresh) {
			kbuf_slice(b, s->text, from, p);
			kbuf_puts(b, fresh);
			from = end;
		}
	}
	kbuf_slice(b, s->text, from, to);
}

/* Is it a prototype of one of the winner's own functions? */
static bool
is_prototype(const struct kscan_item *x)
{
	const struct kscan_item *f = x->kind == KSCAN_DECLARATION && x->name_count == 1
	    ? kscan_function(&change.w, x->names[0])
	    : NULL;

	return f && f->own;
}

static bool
is_variable(const struct kscan_item *x)
{
	return x->kind == KSCAN_DECLARATION && x->name_count && !kscan_looks(x, "\\(") &&
	    !kscan_has_word(x,
	        "typedef using extern struct union enum class template static_assert "
	        "_Static_assert constexpr __device__ __constant__");
}

/* Where the text of an item begins after 'extern "C"'. */
static size_t
after_extern(const struct kscan_item *x)
{
	struct kregex_span at = { 0 };

	kregex_find("\\Aextern\\s*\"[^\"]*\"\\s*", x->in->code + x->from, x->to - x->from, &at, 1);
	return x->from + at.to;
}

static void
add_item(struct kbuf *b, const struct kscan_item *x)
{
	const struct kscan *s = &change.w;
	bool template = kscan_stands(s, x->from, "template"), hidden = kscan_has_word(x, "static");
	size_t from = after_extern(x);

	/* A kernel that keeps the name of the old one is as visible as that was. */
	hidden |= x == change.new_kernel && !json_object_get(change.renamed, adoption.kernel) &&
	    !kscan_has_word(change.kernel, "static");

	if (!hidden && !template &&
	    (x->kind == KSCAN_FUNCTION || is_prototype(x) || is_variable(x)))
		kbuf_puts(b, "static ");
	add_text(b, from, x->to);
	if (b->data[b->len - 1] != '\n')
		kbuf_puts(b, "\n");
}

/* Like 'extern "C"' it makes a function visible from outside. Lists with more are not changed. */
#define VISIBILITY "__attribute__\\s*\\(\\s*\\(\\s*visibility\\s*\\([^,()]*\\)\\s*\\)\\s*\\)"

/*
 * The text before a function's name, in the form of kscan_tidy, without linkage: 'extern "C"',
 * static, visibility. The caller frees.
 */
static char *
plain_head(const struct kscan_item *f)
{
	auto_free char *head = kscan_tidy(f->in, after_extern(f), f->name_at);

	return kregex_sub(VISIBILITY "|\\bstatic\\b ?", head, "");
}

/* Compares texts without carriage returns, which a file may have but an answer does not. */
static bool
same_lines(const char *x, size_t n, const char *y, size_t m)
{
	auto_free char *a = kstrndup(x, n), *b = kstrndup(y, m), *was = kregex_sub("\r", a, ""),
	               *now = kregex_sub("\r", b, "");

	return !strcmp(was, now);
}

/*
 * The winner's attributes that the project's function lacks: without "target" some of its
 * intrinsics do not compile.
 */
static void
add_attributes(struct kbuf *b)
{
	const struct kscan *s = &change.w;
	const struct kscan_item *k = change.kernel, *n = change.new_kernel;
	auto_free char *head = kstrndup(change.file->text + k->from, k->name_at - k->from);

	kscan_each(p, s, n->from, n->name_at, "__attribute__") {
		auto_free char *text = kstrndup(
		    s->text + p, kscan_after(s, kscan_next(s, p, n->name_at), n->name_at) - p);

		if (!kregex_is("\\A" VISIBILITY, text) && !strstr(head, text))
			kbuf_printf(b, "%s\n", text);
	}
}

/*
 * The project's parameter X, with this TEXT, unchanged, with its default value and its const; but
 * with the winner's name for it, Y, and with restrict if the winner has it.
 */
static void
add_parameter(
    struct kbuf *b, const char *text, const struct kscan_param *x, const struct kscan_param *y)
{
	static const char restricting[] = "\\b(__restrict__|__restrict|restrict)\\b";
	auto_free char *promise = kregex_is(restricting, x->text)
	    ? NULL
	    : kregex_part(restricting, y->text),
	               *kept = !promise
	    ? kstrdup(text)
	    : kregex_sub(kshown("\\A([^=]*\\*) *([^=]*\\b%s\\b)", x->name), text,
	          kshown("${1}%s $2", promise)),
	               *named = kregex_sub(
	                   kshown("\\A([^=]*)\\b%s\\b", x->name), kept, kshown("${1}%s", y->name));

	kbuf_puts(b, named);
}

/*
 * The kernel before its name: the project's, with the winner's attributes; but of a kernel that is
 * launched, the winner's if it differs, with the project's linkage.
 */
static void
add_beginning(struct kbuf *b)
{
	const struct kscan_item *k = change.kernel, *n = change.new_kernel;
	auto_free char *was = plain_head(k), *now = plain_head(n);

	if (change.launched && strcmp(was, now)) {
		if (kscan_has_word(k, "static") && !kscan_has_word(n, "static"))
			kbuf_puts(b, "static ");
		add_text(b, after_extern(n), n->name_at);
		return;
	}
	if (!change.launched)
		add_attributes(b);
	kbuf_slice(b, change.file->text, k->from, k->name_at);
}

/* From the name up to the body, from the project; false if the two do not correspond. */
static bool
add_parameters(struct kbuf *b)
{
	const struct kscan *old = &change.file->scan;
	const struct kscan_item *k = change.kernel;
	auto_signature struct kscan_signature was = kscan_signature(k),
	                                      now = kscan_signature(change.new_kernel);
	size_t p = k->open + 1;

	/* Nor with parameters declared after the parentheses, in K&R style. */
	if (was.count != now.count || kscan_matches(old, was.close, k->body, ";"))
		return false;
	for (size_t i = 0; i < was.count; i++)
		if (!*was.params[i].name || !*now.params[i].name ||
		    was.params[i].stars != now.params[i].stars)
			return false;
	kbuf_slice(b, old->text, k->name_at, p);
	for (size_t i = 0, end; i < was.count; i++, p = end) {
		auto_free char *text = NULL;

		end = kscan_part(old, p, was.close, true);
		text = kstrndup(old->text + p, end - p);
		add_parameter(b, text, &was.params[i], &now.params[i]);
		kbuf_add(b, old->text + end, end < was.close);
		end += end < was.close;
	}
	kbuf_slice(b, old->text, p, k->body);
	return true;
}

/* The project's comment is kept, and that of the winner's X is added if it differs. */
static void
add_comments(struct kbuf *b, const struct kscan_item *x)
{
	const char *old = change.file->text + change.kernel->lead;
	size_t n = change.kernel->from - change.kernel->lead;

	kbuf_add(b, old, n);
	if (!same_lines(old, n, change.w.text + x->lead, x->from - x->lead))
		kbuf_slice(b, change.w.text, x->lead, x->from);
}

static void
add_kernel(struct kbuf *b)
{
	const struct kscan_item *n = change.new_kernel;

	add_comments(b, n);
	add_beginning(b);
	add_text(b, add_parameters(b) ? n->body : n->name_at, n->to);
}

/* The winner's entry up to its body, with the parameters that the application passes. */
static void
add_entry_head(struct kbuf *b)
{
	const struct kscan *s = &change.w;
	const json_t *names = json_object_get(change.called, "names");
	json_auto_t *list = json_array();
	auto_signature struct kscan_signature g = kscan_signature(change.entry);
	size_t from = after_extern(change.entry);
	auto_free char *call = NULL;

	from += kscan_stands(s, from, "static ") ? strlen("static ") : 0;
	kbuf_puts(b, change.linkage);
	add_text(b, from, change.entry->name_at);
	for (size_t i = 0, p = change.entry->open + 1, end; i < g.count; i++, p = end + 1) {
		const char *name = kjson_item(names, json_array_size(list));
		auto_buf struct kbuf one = { 0 };

		end = kscan_part(s, p, g.close, true);
		if (name && !strcmp(name, g.params[i].name)) {
			add_text(&one, kscan_blank(s, p, end), end);
			json_array_append_new(list, kjson_text(one.data, one.len));
		}
	}
	call = call_text("", list, "");
	kbuf_puts(b, call);
}

/* The application's function, which now calls the entry. */
static void
add_caller(struct kbuf *b, const char *body)
{
	const struct kscan_item *k = change.kernel;

	kbuf_slice(b, change.file->text, k->lead, k->body);
	kbuf_puts(b, body);
}

/* An item of the winner's own; the project's comment is moved to what follows the kernel. */
static void
add_own(struct kbuf *b, const struct kscan_item *x)
{
	const struct kscan_item *heir = change.new_kernel ?: change.entry;

	if (change.called && change.launched && !change.kept && x == heir)
		add_comments(b, x);
	else
		kbuf_slice(b, change.w.text, x->lead, x->from);
	if (change.called && x == change.entry) {
		add_entry_head(b);
		kbuf_puts(b, "\n");
		add_text(b, x->body, x->to);
		kbuf_puts(b, "\n");
	} else {
		add_item(b, x);
	}
}

/* The winner's own items before its kernel, the kernel, and those after it. */
static void
add_items(struct kbuf *b)
{
	bool line = false; /* the last item was a preprocessor line */

	kscan_items(x, &change.w) {
		if (x == change.new_holder && !change.called) {
			kbuf_puts(b, line ? "\n" : "");
			/* The project's class around it, if it is in one. */
			kbuf_slice(b, change.file->text, change.holder->lead, change.kernel->lead);
			add_kernel(b);
			kbuf_slice(b, change.file->text, change.kernel->to, change.holder->to);
			kbuf_puts(b, "\n\n");
			line = false;
		} else if (x->own && !(x->kind == KSCAN_MACRO && x->names[0][0] == '_')) {
			bool one = x->kind == KSCAN_MACRO || x->kind == KSCAN_DIRECTIVE;

			kbuf_puts(b, line && !one ? "\n" : "");
			add_own(b, x);
			kbuf_puts(b, one ? "" : "\n");
			line = one;
		}
	}
}

static void
add_winner(struct kbuf *b, const char *body)
{
	const struct kscan_item *k = change.kernel;

	if (change.kept) {
		edits_apply(&change.edits, adoption.file, change.file->text, k->lead, k->to, b);
		kbuf_puts(b, "\n\n");
	}
	if (change.pragma)
		kbuf_puts(b, "#pragma GCC push_options\n");
	add_items(b);
	if (body)
		add_caller(b, body);
	while (b->len && b->data[b->len - 1] == '\n')
		b->data[--b->len] = '\0';
	if (change.pragma)
		kbuf_puts(b, "\n#pragma GCC pop_options");
}

/* Includes, and macros that they depend on, which the file does not have yet. */
static void
add_includes(struct kbuf *b, bool macros)
{
	kscan_items(x, &change.w) {
		bool there;

		if (x->kind != (macros ? KSCAN_MACRO : KSCAN_INCLUDE))
			continue;
		/* Only these kinds of items surely have a name. */
		there = macros ? !x->own || x->names[0][0] != '_'
		               : kany(bundle_items(&change.b, f, y),
		                     y->kind == KSCAN_INCLUDE && !strcmp(y->names[0], x->names[0]));
		if (!there)
			kbuf_slice(b, change.w.text, x->from, x->to);
	}
}

/* Where new includes go: after the last one before the kernel; or TOP, before the first item. */
static size_t
include_place(bool top)
{
	const struct kscan *s = &change.file->scan;
	size_t at = !s->count ? 0 : s->items == change.holder ? s->items->lead : s->items->from;

	kscan_items(x, s)
		if (!top && x->from < change.kernel->from && x->kind == KSCAN_INCLUDE && !x->depth)
			at = x->to;
	return at;
}

/* If all lines of a file end in CR LF, keep that. TEXT is taken over. */
static char *
with_line_ends(char *text, const char *original)
{
	static const char alone[] = "(?<!\\r)\\n";
	char *lines;

	if (!strchr(original, '\n') || kregex_is(alone, original))
		return text;
	lines = kregex_sub(alone, text, "\r\n");
	free(text);
	return lines;
}

/* B takes the place of the project's text from FROM to TO. */
static void
put(size_t from, size_t to, struct kbuf b)
{
	edits_add(&change.edits, adoption.file, from, to, b.data ?: kstrdup(""));
}

/*
 * Removes an item, and the blank lines after it if it begins a line. What is above the first one is
 * about the file.
 */
static void
remove_item(const struct kscan_item *x)
{
	const char *text = change.file->text;
	size_t from = x == change.file->scan.items ? x->from : x->lead;
	struct kregex_span at = { 0 };

	if (from && text[from - 1] == '\n')
		kregex_find("\\A(?:\\r?\\n)*", text + x->to, strlen(text + x->to), &at, 1);
	put(from, x->to + at.to, (struct kbuf){ 0 });
	kbuf_printf(change.notes, "%s is removed: nothing uses it any more\n", x->names[0]);
}

/* The whole file. */
static char *
compose(const char *body)
{
	const struct kscan *s = &change.file->scan;
	struct kbuf b = { 0 }, macros = { 0 }, includes = { 0 }, winner = { 0 };

	change.pragma = kany(kscan_items(x, &change.w),
	    x->own && x->kind == KSCAN_DIRECTIVE && kscan_mentions(x, "pragma") &&
	        kscan_mentions(x, "optimize target"));
	add_winner(&winner, body);
	add_includes(&macros, true);
	add_includes(&includes, false);
	put(include_place(true), include_place(true), macros);
	put(include_place(false), include_place(false), includes);
	put(change.holder->lead, change.holder->to, winner);
	kscan_items(x, s)
		if (x->dead)
			remove_item(x);
	edits_apply(&change.edits, adoption.file, s->text, 0, s->len, &b);
	return b.data;
}

/*
 * Resolves the application's typedefs: a model may write float where the file says real_t, with the
 * same meaning.
 */
static void
see_through(struct kscan_signature *g)
{
	kscan_params(x, g)
		for (const struct source *f = change.b.first; f && !x->strange;) {
			int more;
			char *next = kscan_typedef(&f->scan, x->type, &more);

			f = next && strcmp(next, x->type) ? change.b.first : f->next;
			if (!next)
				continue;
			free(x->type);
			x->type = next;
			x->stars += more;
		}
}

/* The types of a function's parameters, in normalised form; the caller frees. */
static char *
types_of(const struct kscan_item *f)
{
	auto_signature struct kscan_signature g = kscan_signature(f);
	auto_free char *text = NULL;

	see_through(&g);
	text = kscan_signature_text(&g);
	return kstrdup(strchr(text, '('));
}

/* Do F and G take the same parameters? Otherwise *FAULT says what they take. */
static bool
same_types(const struct kscan_item *f, const struct kscan_item *g, bool tell)
{
	auto_free char *was = types_of(f), *now = types_of(g);
	bool same = !strcmp(was, now);

	if (!same && tell)
		change.fault = kasprintf("signature: %s, but it was %s", now, was);
	return same;
}

/* The head in the file is the project's, so the winner's own head is checked, too. */
static bool
same_signature(const char *text)
{
	const struct kscan *old = &change.file->scan;
	const struct kscan_item *f;
	auto_scan struct kscan s;

	kscan_bytes(text, strlen(text), old->through, &s);
	f = kscan_function(&s, change.called && change.launched ? adoption.entry : adoption.kernel);
	if (!f || s.unclosed)
		change.fault = kasprintf("%s: the changed file is not well-formed", adoption.file);
	return !change.fault &&
	    (change.called ||
	        (same_types(change.kernel, f, true) &&
	            same_types(change.kernel, change.new_kernel, true)));
}

/* "template<…>" of a function, or "". The caller frees. */
static char *
template_of(const struct kscan_item *f)
{
	auto_signature struct kscan_signature g = kscan_signature(f);

	return kstrndup(g.result, kscan_template(&g));
}

/* Are the parameters, with their names, and the bodies of F and G the same text? */
static bool
same_code(const struct kscan_item *f, const struct kscan_item *g)
{
	char was[17], now[17];

	ktoken_hash(f->in->text + f->open, f->to - f->open, was);
	ktoken_hash(g->in->text + g->open, g->to - g->open, now);
	return !strcmp(was, now);
}

/*
 * Is the winner's entry the same as the unit's, calling the same function with a different body?
 * Then the application only needs that body. False, with *FAULT: it does not fit the task.
 */
static bool
is_body_alone(void)
{
	const char *text = kjson_str(adoption.unit, "text");
	const struct kscan_item *f, *n = change.new_kernel;
	auto_free char *was = template_of(change.kernel), *now = n ? template_of(n) : NULL;
	auto_scan struct kscan s;

	kscan(text, &s);
	f = kscan_function(&s, adoption.entry);
	return f && same_types(f, change.entry, true) && n && !unit_has_other(adoption.unit) &&
	    !json_object_get(adoption.unit, "sequence") && same_types(change.kernel, n, false) &&
	    same_code(f, change.entry) && !strcmp(was, now);
}

/* The application must call the winner's entry. False: *FAULT says why it cannot. */
static bool
call_entry(void)
{
	const struct kscan_item *n = change.new_kernel;
	struct call_sites sites = { 0 };
	auto_buf struct kbuf head = { 0 };

	if (kscan_has_path(adoption.kernel)) {
		change.fault = kasprintf("the text of %s and the parameters of %s must stay as "
		                         "they are",
		    adoption.entry, adoption.kernel);
		return false;
	}
	change.called = call_unit(change.entry);
	change.linkage = rules_is_header(adoption.file) ? "static inline " : "static ";
	if (!change.launched)
		return true;
	call_find(project_copy(), change.called, &sites);
	change.linkage = sites.external ? "" : change.linkage;
	change.kept = unit_has_other(adoption.unit) || (n && is_known(n)) ||
	    (sites.others && !(n && same_types(change.kernel, n, false)));
	add_entry_head(&head);
	kforeach_list(x, &sites.edits) {
		if (!x->text && (change.kept || sites.others))
			x->from = x->to;
		if (!x->text)
			x->text = kasprintf("%s%s;", x->from == x->to ? "\n" : "", head.data);
		if (kbegins(x->file, "../") && !sites.fault)
			sites.fault = kasprintf("%s is outside the project; "
			                        "adopt from the folder that contains both",
			    x->file);
	}
	change.edits = sites.edits;
	change.fault = sites.fault;
	return !change.fault;
}

/* Adds all files that change. */
static void
add_files(char *text)
{
	struct patch *p = change.patch;

	patch_add(p, adoption.file, kstrdup(change.file->text), text);
	kforeach_list(x, &change.edits) {
		struct kbuf b = { 0 };
		char *was = kany(kforeach_of(f, p->files, p->count), !strcmp(f->name, x->file))
		    ? NULL
		    : text_in(project_copy(), x->file);

		if (!was)
			continue;
		edits_apply(&change.edits, x->file, was, 0, strlen(was), &b);
		patch_add(p, x->file, was, with_line_ends(b.data, was));
	}
	p->called = change.launched ? json_incref(change.called) : NULL;
}

/* The body that calls the entry. NULL: *FAULT says why there is none. The caller frees. */
static char *
caller_body(void)
{
	auto_free char *template = template_of(change.kernel);
	bool assumed = json_object_get(adoption.unit, "assumed");

	if (!*template && !assumed)
		return call_body(change.called, &change.fault);
	change.fault = kasprintf("%s works outside of %s, which %s", adoption.entry,
	    adoption.kernel, assumed ? "may also be called with other pointers" : "is a template");
	return NULL;
}

/* Does the winner change another member of the class, or the class? Others rely on those. */
static bool
changes_class(void)
{
	auto_free char *class = kscan_path(adoption.kernel);

	kscan_items(x, &change.w) {
		const char *whole = kscan_whole(x);

		if (!*class || !x->own ||
		    (!kscan_declares(x, kscan_plain(class)) && !kscan_has_path(whole)))
			continue;
		change.fault = kasprintf("the winner changes %s; only %s may change, and new "
		                         "functions "
		                         "outside of %s may be added",
		    whole, adoption.kernel, class);
		return true;
	}
	return false;
}

/* Assemble the file, once all parts are available. */
static void
put_together(void)
{
	auto_free char *body = NULL;
	char *text;

	if (change.entry && !is_body_alone() && (change.fault || !call_entry()))
		return;
	if (change.called && !change.launched && !(body = caller_body()))
		return;
	choose_own();
	if (changes_class())
		return;
	choose_dead();
	choose_names();
	text = with_line_ends(compose(body), change.file->text);
	if (same_signature(text))
		add_files(text);
	else
		free(text);
}

/*
 * If the function NAME of X, the application's file, is inside #if, and only there, the contents of
 * all conditions' branches are treated as if they were outside: the winner goes into the same
 * branch.
 */
static void
look_inside(struct source *x, const char *name)
{
	auto_scan struct kscan through = { 0 };
	size_t count = 0;

	if (kscan_function(&x->scan, name))
		return;
	kscan_through(x->text, &through);
	kscan_items(f, &through)
		count += f->kind == KSCAN_FUNCTION && kscan_declares(f, name);
	if (count != 1 || through.unclosed)
		return;
	kscan_free(&x->scan);
	kscan_through(x->text, &x->scan);
}

bool
splice_winner(const char *winner, struct patch *p, struct kbuf *notes, char **fault)
{
	bool unit = strcmp(adoption.entry, adoption.kernel) != 0;
	auto_free char *reference = file_text(campaign_path("reference.%s", adoption.suffix), NULL);
	json_auto_t *settings = compile_settings();

	*p = (struct patch){ 0 };
	change.launched = kjson_bool(adoption.unit, "kernel");
	change.patch = p;
	change.notes = notes;
	bundle_open(&change.b, adoption.file, project_copy(), settings);
	look_inside(change.b.first, adoption.kernel);
	bundle_keep(&change.b, adoption.kernel);
	change.file = change.b.first;
	change.kernel = kscan_function(&change.file->scan, adoption.kernel);
	kscan(winner, &change.w);
	if (reference)
		kscan(reference, &change.reference);
	change.new_kernel = kscan_function(&change.w, adoption.kernel);
	change.holder = change.kernel ? kscan_at(&change.file->scan, change.kernel->from) : NULL;
	change.new_holder = change.new_kernel ? kscan_at(&change.w, change.new_kernel->from) : NULL;
	change.entry = unit ? kscan_function(&change.w, adoption.entry) : NULL;
	if (!change.kernel)
		change.fault = kasprintf("%s is inside #if in %s, "
		                         "in several versions or between parts of braces",
		    adoption.kernel, adoption.file);
	else if (!(unit ? change.entry : change.new_kernel) || change.w.unclosed)
		change.fault =
		    kasprintf("the winner does not define %s outside #if", adoption.entry);
	else
		put_together();
	*fault = change.fault;
	return p->count > 0;
}

/* ---- what must not go into the application ---- */

static bool
is_stub(const struct kscan_item *f)
{
	return kscan_matches(f->in, f->body, f->to, "\\A\\{\\s*(?:return.{0,2})?[;}\\s]*\\z");
}

void
splice_scan(const char *reference, const char *winner, const json_t *arrays, struct kbuf *faults)
{
	auto_signature struct kscan_signature g = { 0 };
	const struct kscan_item *f;
	struct kregex_span foreign;
	auto_scan struct kscan s;

	rules_scan("winner", adoption.language, winner, adoption.entry, reference, faults);
	rules_scan("reply", adoption.language, winner, adoption.entry, reference, faults);
	kscan(winner, &s);
	f = kscan_function(&s, adoption.entry);
	if (!f)
		kbuf_printf(faults, "signature: the winner does not define %s\n", adoption.entry);
	kscan_items(x, &s)
		if (x->kind == KSCAN_FUNCTION && (x == f || kscan_declares(x, adoption.kernel)) &&
		    is_stub(x))
			kbuf_printf(faults, "stub: %s does nothing\n", x->names[0]);
	g = f ? kscan_signature(f) : g;
	kjson_foreach(p, f ? adoption.unit : NULL, "parameters") {
		const char *name =
		    kjson_at(p) < g.count ? g.params[kjson_at(p)].name : kjson_str(p, "name");

		if (kjson_has(arrays, kjson_str(p, "name")) &&
		    !kscan_uses(&s, f->body, f->to, name))
			kbuf_printf(faults, "no_work: %s does not use %s, which it must write\n",
			    adoption.entry, name);
	}
	if (kregex_find("[\\x80-\\xff]", s.code, s.len, &foreign, 1))
		kbuf_printf(faults,
		    "prose: line %zu: a non-ASCII character outside comments and strings\n",
		    kline_at(s.text, foreign.from));
}
