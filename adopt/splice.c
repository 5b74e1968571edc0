/* SPDX-License-Identifier: Apache-2.0 */
/* splice: see splice.h. */
#include "splice.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "ktoken.h"

struct state {
	const struct adoption *a;
	struct bundle b; /* the original file and its headers */
	const struct source *file;
	const struct kscan_item *kernel;
	struct kscan w; /* the winner */
	const struct kscan_item *new_kernel;
	bool *own;       /* by item of the winner: it goes into the file */
	bool *dead;      /* by item of the file: nothing uses it any more */
	json_t *renamed; /* old name: new name */
	bool pragma;     /* options of the compiler change along the way */
};

static void
item_hash(const struct kscan *s, const struct kscan_item *x, char hex[17])
{
	ktoken_hash(s->text + x->from, x->to - x->from, hex);
}

/* Does the project have the very same item, in the file or in a header that it includes? */
static bool
is_known(const struct state *t, const struct kscan_item *x)
{
	char hash[17], other[17];

	item_hash(&t->w, x, hash);
	for (size_t i = 0; i < t->b.count; i++)
		for (size_t k = 0; k < t->b.sources[i].scan.count; k++) {
			if (t->b.sources[i].scan.items[k].kind != x->kind)
				continue;
			item_hash(&t->b.sources[i].scan, &t->b.sources[i].scan.items[k], other);
			if (!strcmp(hash, other))
				return true;
		}
	return false;
}

/*
 * An item that was cleaned up on the way out ("__constant__") is known by its names and its kind.
 */
static bool
is_cleaned(const struct state *t, const struct kscan_item *x)
{
	for (size_t i = 0; i < t->b.count; i++)
		for (size_t k = 0; k < t->b.sources[i].scan.count; k++) {
			const struct kscan *s = &t->b.sources[i].scan;
			const struct kscan_item *y = &s->items[k];
			char *text, *clean, hash[17], other[17];

			if (y->kind != x->kind || !y->name_count || !x->name_count ||
			    strcmp(y->names[0], x->names[0]))
				continue;
			text = kstrndup(s->text + y->from, y->to - y->from);
			clean = rules_replace("cleanup", t->a->language, text);
			ktoken_hash(clean, strlen(clean), other);
			item_hash(&t->w, x, hash);
			free(text);
			free(clean);
			if (!strcmp(hash, other))
				return true;
		}
	return false;
}

/* What was taken out of another source of the project is there still: the linker finds it. */
static bool
is_elsewhere(const struct state *t, const struct kscan_item *x)
{
	char hash[17];

	if ((x->kind != KSCAN_FUNCTION && x->kind != KSCAN_DECLARATION) || !x->name_count)
		return false;
	for (size_t i = 0; i < t->b.count; i++)
		for (size_t k = 0; k < t->b.sources[i].scan.count; k++) {
			const struct kscan_item *y = &t->b.sources[i].scan.items[k];

			if (y->kind == KSCAN_DECLARATION && kscan_declares(y, x->names[0])) {
				item_hash(&t->w, x, hash);
				return bundle_has_elsewhere(&t->b, x->names[0], hash);
			}
		}
	return false;
}

static bool
declares_kernel(const struct state *t, const struct kscan_item *x)
{
	return x->kind != KSCAN_INCLUDE && kscan_declares(x, t->a->kernel);
}

static void
choose_own(struct state *t)
{
	t->own = kcalloc(t->w.count + 1, sizeof *t->own);
	for (size_t i = 0; i < t->w.count; i++) {
		const struct kscan_item *x = &t->w.items[i];

		if (x->kind == KSCAN_INCLUDE || x->kind == KSCAN_OPEN || x->kind == KSCAN_CLOSE ||
		    declares_kernel(t, x))
			continue;
		t->own[i] = !is_known(t, x) && !is_cleaned(t, x) && !is_elsewhere(t, x);
	}
}

/* Does the winner's own text use NAME as the project has it? */
static bool
needed_as_it_is(const struct state *t, const char *name)
{
	for (size_t i = 0; i < t->w.count; i++)
		if (t->own[i] && kscan_declares(&t->w.items[i], name))
			return false;
	for (size_t i = 0; i < t->w.count; i++)
		if ((t->own[i] || &t->w.items[i] == t->new_kernel) &&
		    kscan_uses(&t->w, t->w.items[i].from, t->w.items[i].to, name))
			return true;
	/* Through a helper that stays. */
	for (size_t i = 0; i < t->w.count; i++)
		if (!t->own[i] && &t->w.items[i] != t->new_kernel &&
		    kscan_declares(&t->w.items[i], name))
			return true;
	return false;
}

/*
 * Helpers of the file, seen by nothing outside it, that only the old kernel, or other such helpers,
 * used.
 */
static void
choose_dead(struct state *t)
{
	const struct kscan *s = &t->file->scan;
	bool changed = true;

	t->dead = kcalloc(s->count + 1, sizeof *t->dead);
	while (changed) {
		changed = false;
		for (size_t i = 0; i < s->count; i++) {
			const struct kscan_item *x = &s->items[i];
			bool used = false;

			if (t->dead[i] || !t->file->kept[i] || x == t->kernel || !x->name_count ||
			    x->kind == KSCAN_GROUP)
				continue;
			/* What other files might name stays. */
			if ((x->kind == KSCAN_FUNCTION || x->kind == KSCAN_DECLARATION) &&
			    !kscan_has_word(s, x, "static") &&
			    !(x->kind == KSCAN_DECLARATION &&
			        (kscan_has_word(s, x, "typedef") ||
			            kscan_has_word(s, x, "constexpr"))))
				continue;
			for (size_t n = 0; n < x->name_count && !used; n++) {
				for (size_t k = 0; k < s->count && !used; k++)
					used = k != i && !t->dead[k] && &s->items[k] != t->kernel &&
					    s->items[k].kind != KSCAN_INCLUDE &&
					    kscan_uses(
					        s, s->items[k].from, s->items[k].to, x->names[n]);
				used = used || needed_as_it_is(t, x->names[n]);
			}
			if (!used)
				changed = t->dead[i] = true;
		}
	}
}

/* Is NAME taken in the project's text, beside the items that go? */
static bool
is_taken(const struct state *t, const char *name, bool macro)
{
	for (size_t i = 0; i < t->b.count; i++)
		for (size_t k = 0; k < t->b.sources[i].scan.count; k++) {
			const struct source *src = &t->b.sources[i];
			const struct kscan_item *x = &src->scan.items[k];

			if (x->kind == KSCAN_INCLUDE ||
			    (src == t->file && (t->dead[k] || x == t->kernel)))
				continue;
			if (kscan_declares(x, name) ||
			    (macro && src == t->file &&
			        kscan_uses(&src->scan, x->from, x->to, name)))
				return true;
		}
	return false;
}

static void
choose_names(struct state *t, struct kbuf *notes)
{
	t->renamed = json_object();
	for (size_t i = 0; i < t->w.count; i++)
		for (size_t n = 0; t->own[i] && n < t->w.items[i].name_count; n++) {
			const char *name = t->w.items[i].names[n];
			char *fresh;

			if (!is_taken(t, name, t->w.items[i].kind == KSCAN_MACRO) ||
			    json_object_get(t->renamed, name))
				continue;
			fresh = kasprintf("%s_%s", t->a->kernel, name);
			while (is_taken(t, fresh, true)) {
				char *longer = kasprintf("%s_", fresh);

				free(fresh);
				fresh = longer;
			}
			json_object_set_new(t->renamed, name, json_string(fresh));
			kbuf_printf(notes,
			    "%s is renamed to %s, because the project has another function of that "
			    "name\n",
			    name, fresh);
			free(fresh);
		}
}

/* Is the word at P a member, behind '.' or "->"? */
static bool
is_member(const struct kscan *s, size_t p)
{
	while (p > 0 && isspace((unsigned char)s->code[p - 1]))
		p--;
	return p > 0 &&
	    (s->code[p - 1] == '.' || (p > 1 && s->code[p - 1] == '>' && s->code[p - 2] == '-'));
}

/* Text of the winner with new names. */
static void
add_text(struct kbuf *b, const struct state *t, size_t from, size_t to)
{
	const struct kscan *s = &t->w;

	for (size_t p = from; p < to;) {
		size_t end = p;
		const char *fresh;
		char *word;

		while (end < to && kis_word(s->code[end]))
			end++;
		if (end == p) {
			kbuf_add(b, s->text + p++, 1);
			continue;
		}
		word = kstrndup(s->code + p, end - p);
		fresh = isdigit((unsigned char)*word) || is_member(s, p)
		    ? NULL
		    : kjson_str_or(t->renamed, word, NULL);
		if (fresh)
			kbuf_puts(b, fresh);
		else
			kbuf_add(b, s->text + p, end - p);
		free(word);
		p = end;
	}
}

/* Is it a prototype of one of the winner's own functions? */
static bool
is_prototype(const struct state *t, const struct kscan_item *x)
{
	const struct kscan_item *f = x->kind == KSCAN_DECLARATION && x->name_count == 1
	    ? kscan_function(&t->w, x->names[0])
	    : NULL;

	return f && t->own[f - t->w.items];
}

static bool
is_variable(const struct kscan *s, const struct kscan_item *x)
{
	static const char *const others[] = { "typedef", "using", "extern", "struct", "union",
		"enum", "class", "template", "static_assert", "_Static_assert", "constexpr",
		"__device__", "__constant__" };

	if (x->kind != KSCAN_DECLARATION || !x->name_count ||
	    memchr(s->code + x->from, '(', x->to - x->from))
		return false;
	for (size_t i = 0; i < LEN(others); i++)
		if (kscan_has_word(s, x, others[i]))
			return false;
	return true;
}

/* Where the text of an item begins behind 'extern "C"'. */
static size_t
behind_extern(const struct kscan *s, const struct kscan_item *x)
{
	size_t p = x->from;

	if (strncmp(s->code + p, "extern", 6) || kis_word(s->code[p + 6]))
		return p;
	p += 6;
	while (p < x->to && isspace((unsigned char)s->code[p]))
		p++;
	if (s->code[p] != '"')
		return x->from;
	for (p++; p < x->to && s->code[p] != '"';)
		p++;
	for (p++; p < x->to && isspace((unsigned char)s->code[p]);)
		p++;
	return p;
}

static void
add_item(struct kbuf *b, const struct state *t, const struct kscan_item *x)
{
	const struct kscan *s = &t->w;
	bool template = !strncmp(s->code + x->from, "template", 8),
	     hidden = kscan_has_word(s, x, "static");
	size_t from = behind_extern(s, x);

	kbuf_add(b, s->text + x->lead, x->from - x->lead);
	if (!hidden && !template &&
	    (x->kind == KSCAN_FUNCTION || is_prototype(t, x) || is_variable(s, x)))
		kbuf_puts(b, "static ");
	add_text(b, t, from, x->to);
	if (b->data[b->len - 1] != '\n')
		kbuf_puts(b, "\n");
}

/*
 * Past '__attribute__((visibility("default")))' at P, which says what 'extern "C"' says: see me
 * from outside; else P.
 */
static size_t
behind_visibility(const struct kscan *s, size_t p, size_t to)
{
	static const char *const words[] = { "__attribute__", "(", "(", "visibility", "(" };
	size_t from = p;

	for (size_t i = 0; i < LEN(words); i++) {
		size_t n = strlen(words[i]);

		while (p < to && isspace((unsigned char)s->code[p]))
			p++;
		if (to - p < n || memcmp(s->code + p, words[i], n))
			return from;
		p += n;
	}
	/* A list of more than this one is left alone. */
	for (int open = 3; p < to && open; p++) {
		if (s->code[p] == ',')
			return from;
		open += (s->code[p] == '(') - (s->code[p] == ')');
	}
	return p;
}

/*
 * What stands before a function's name, blanks made one, without linkage: 'extern "C"', static,
 * visibility. The caller frees.
 */
static char *
plain_head(const struct kscan *s, const struct kscan_item *f)
{
	struct kbuf b = { 0 };
	size_t p = behind_extern(s, f);

	kbuf_add(&b, "", 0);
	while (p < f->name_at) {
		size_t end = p = behind_visibility(s, p, f->name_at);

		if (p == f->name_at)
			break;
		while (end < f->name_at && kis_word(s->code[end]))
			end++;
		if (end > p && !(end - p == 6 && !memcmp(s->code + p, "static", 6)))
			kbuf_printf(&b, "%.*s ", (int)(end - p), s->code + p);
		else if (end == p && !isspace((unsigned char)s->code[p]))
			kbuf_add(&b, s->text + p, 1);
		p = end > p ? end : p + 1;
	}
	return b.data;
}

/* Texts without carriage returns, which a file may have and an answer has not. */
static bool
same_lines(const char *x, size_t n, const char *y, size_t m)
{
	while (n && m) {
		if (*x == '\r' || *y == '\r') {
			n -= *x == '\r';
			m -= *y == '\r';
			x += *x == '\r';
			y += *y == '\r';
		} else if (*x++ != *y++) {
			return false;
		} else {
			n--;
			m--;
		}
	}
	return !n && !m;
}

/*
 * Attributes of the winner's that the project's function lacks: without "target" some of its words
 * do not compile.
 */
static void
add_attributes(struct kbuf *b, const struct state *t)
{
	static const char word[] = "__attribute__";
	const struct kscan *old = &t->file->scan, *s = &t->w;
	const struct kscan_item *k = t->kernel, *n = t->new_kernel;

	for (size_t p = n->from; p + sizeof word < n->name_at; p++) {
		size_t end = p + sizeof word - 1;
		int depth = 0;

		if (strncmp(s->code + p, word, sizeof word - 1) ||
		    behind_visibility(s, p, n->name_at) > p)
			continue;
		for (; end < n->name_at && (depth || s->code[end] != ')'); end++) {
			depth += (s->code[end] == '(') - (s->code[end] == ')');
			if (!depth && s->code[end] == ')')
				break;
		}
		end += end < n->name_at;
		if (!memmem(old->text + k->from, k->name_at - k->from, s->text + p, end - p))
			kbuf_printf(b, "%.*s\n", (int)(end - p), s->text + p);
		p = end - 1;
	}
}

static const char *
restricting(const char *text)
{
	static const char *const words[] = { "__restrict__", "__restrict", "restrict" };

	for (size_t i = 0; i < LEN(words); i++)
		if (strstr(text, words[i]))
			return words[i];
	return NULL;
}

/* Is the word NAME at P of the code? */
static bool
is_word_at(const struct kscan *s, size_t p, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(s->code + p, name, n) && !kis_word(s->code[p + n]) &&
	    !kis_word(s->code[p - 1]);
}

/*
 * The project's parameter X, FROM to TO of its text, as it stands there, with its default value and
 * its const; by the name that the winner has for it, Y, and with the promise that nothing overlaps,
 * where the winner makes it.
 */
static void
add_parameter(struct kbuf *b, const struct kscan *s, size_t from, size_t to,
    const struct kscan_param *x, const struct kscan_param *y)
{
	const char *promise = restricting(x->text) ? NULL : restricting(y->text);
	size_t star = 0, name = 0;

	for (size_t p = from; p < to && s->code[p] != '='; p++) {
		star = s->code[p] == '*' && !name ? p + 1 : star;
		name = is_word_at(s, p, x->name) ? p : name;
	}
	if (!name) {
		kbuf_add(b, s->text + from, to - from);
		return;
	}
	if (promise && star && star <= name) {
		kbuf_add(b, s->text + from, star - from);
		kbuf_printf(b, "%s ", promise);
		from = star + strspn(s->text + star, " ");
	}
	kbuf_add(b, s->text + from, name - from);
	kbuf_puts(b, y->name);
	name += strlen(x->name);
	kbuf_add(b, s->text + name, to - name);
}

/* Where the parameter that begins at P ends: at the comma, or at CLOSE. */
static size_t
parameter_end(const struct kscan *s, size_t p, size_t close)
{
	int depth = 0;

	for (; p < close && (depth || s->code[p] != ','); p++)
		depth +=
		    (strchr("([{<", s->code[p]) != NULL) - (strchr(")]}>", s->code[p]) != NULL);
	return p;
}

/* All that stands before the body, as the project has it; false where the two do not correspond. */
static bool
add_head(struct kbuf *b, const struct state *t)
{
	const struct kscan *old = &t->file->scan;
	const struct kscan_item *k = t->kernel;
	struct kscan_signature was, now;
	size_t close = k->body;
	bool same;

	kscan_signature(old, k, &was);
	kscan_signature(&t->w, t->new_kernel, &now);
	same = was.count == now.count && !was.too_many;
	for (size_t i = 0; same && i < was.count; i++)
		same = *was.params[i].name && *now.params[i].name &&
		    was.params[i].stars == now.params[i].stars;
	while (close > k->open && old->code[close] != ')')
		close--;
	/* Parameters declared behind the parenthesis, as in the first C. */
	same = same && !memchr(old->code + close, ';', k->body - close);
	if (same) {
		add_attributes(b, t);
		kbuf_add(b, old->text + k->from, k->open + 1 - k->from);
		for (size_t i = 0, p = k->open + 1; i < was.count; i++) {
			size_t end = parameter_end(old, p, close);

			add_parameter(b, old, p, end, &was.params[i], &now.params[i]);
			kbuf_add(b, old->text + end, end < close);
			p = end + (end < close);
		}
		if (!was.count)
			kbuf_add(b, old->text + k->open + 1, close - k->open - 1);
		kbuf_add(b, old->text + close, k->body - close);
	}
	kscan_signature_free(&was);
	kscan_signature_free(&now);
	return same;
}

/* The winner's head, with the linkage of the project's. */
static void
add_own_head(struct kbuf *b, const struct state *t)
{
	const struct kscan *old = &t->file->scan;
	const struct kscan_item *k = t->kernel, *n = t->new_kernel;
	char *was = plain_head(old, k), *now = plain_head(&t->w, n);

	if (!strcmp(was, now)) {
		kbuf_add(b, old->text + k->from, k->name_at - k->from);
	} else {
		if (kscan_has_word(old, k, "static"))
			kbuf_puts(b, "static ");
		add_text(b, t, behind_extern(&t->w, n), n->name_at);
	}
	add_text(b, t, n->name_at, n->body);
	free(was);
	free(now);
}

static void
add_kernel(struct kbuf *b, const struct state *t)
{
	const struct kscan *old = &t->file->scan;
	const struct kscan_item *k = t->kernel, *n = t->new_kernel;

	/*
	 * The comment of the project stays, and the winner's joins it when it says something else.
	 */
	kbuf_add(b, old->text + k->lead, k->from - k->lead);
	if (!same_lines(
	        old->text + k->lead, k->from - k->lead, t->w.text + n->lead, n->from - n->lead))
		kbuf_add(b, t->w.text + n->lead, n->from - n->lead);
	if (!add_head(b, t))
		add_own_head(b, t);
	add_text(b, t, n->body, n->to);
}

/* The winner's own items before its kernel, the kernel, those behind. */
static void
add_winner(struct kbuf *b, struct state *t)
{
	size_t at = (size_t)(t->new_kernel - t->w.items);
	bool line = false; /* the last one was a line of the preprocessor */

	if (t->pragma)
		kbuf_puts(b, "#pragma GCC push_options\n");
	for (size_t i = 0; i < t->w.count; i++) {
		const struct kscan_item *x = &t->w.items[i];

		if (i == at) {
			kbuf_puts(b, line ? "\n" : "");
			add_kernel(b, t);
			kbuf_puts(b, i + 1 < t->w.count ? "\n" : "");
			line = false;
		} else if (t->own[i] && !(x->kind == KSCAN_MACRO && x->names[0][0] == '_')) {
			bool one = x->kind == KSCAN_MACRO || x->kind == KSCAN_DIRECTIVE;

			kbuf_puts(b, line && !one ? "\n" : "");
			add_item(b, t, x);
			kbuf_puts(b, one ? "" : "\n");
			line = one;
		}
	}
	while (b->len && b->data[b->len - 1] == '\n')
		b->data[--b->len] = '\0';
	if (t->pragma)
		kbuf_puts(b, "\n#pragma GCC pop_options");
}

/* Includes, and macros that includes look at, which the file does not have yet. */
static void
add_includes(struct kbuf *b, const struct state *t, bool macros)
{
	for (size_t i = 0; i < t->w.count; i++) {
		const struct kscan_item *x = &t->w.items[i];
		bool there = false;

		if (x->kind != (macros ? KSCAN_MACRO : KSCAN_INCLUDE) ||
		    (macros && (!t->own[i] || x->names[0][0] != '_')))
			continue;
		for (size_t k = 0; k < t->b.count && !there && !macros; k++)
			for (size_t m = 0; m < t->b.sources[k].scan.count; m++)
				there |= t->b.sources[k].scan.items[m].kind == KSCAN_INCLUDE &&
				    !strcmp(t->b.sources[k].scan.items[m].names[0], x->names[0]);
		if (!there)
			kbuf_add(b, t->w.text + x->from, x->to - x->from);
	}
}

/* Byte of the file behind which new includes go: the last include before the kernel. */
static size_t
include_place(const struct state *t)
{
	const struct kscan *s = &t->file->scan;
	size_t at = s->count ? s->items[0].from : 0;

	for (size_t i = 0; i < s->count && s->items[i].from < t->kernel->from; i++)
		if (s->items[i].kind == KSCAN_INCLUDE && !s->items[i].depth)
			at = s->items[i].to;
	return at;
}

/* Bytes of the end of a line that stands at P: 0, 1, or 2. */
static size_t
line_break(const char *p)
{
	return *p == '\n' ? 1 : *p == '\r' && p[1] == '\n' ? 2 : 0;
}

/* A file whose lines all end in CR LF stays one. TEXT is taken over. */
static char *
with_line_ends(char *text, const char *original)
{
	struct kbuf b = { 0 };

	for (const char *p = strchr(original, '\n'); p; p = strchr(p + 1, '\n'))
		if (p == original || p[-1] != '\r')
			return text;
	if (!strchr(original, '\n'))
		return text;
	for (const char *p = text; *p; p++) {
		if (*p == '\n' && (p == text || p[-1] != '\r'))
			kbuf_puts(&b, "\r");
		kbuf_add(&b, p, 1);
	}
	free(text);
	return b.data;
}

static char *
compose(struct state *t, struct kbuf *notes)
{
	const struct kscan *s = &t->file->scan;
	size_t place = include_place(t), first = s->count ? s->items[0].from : 0, p = 0;
	struct kbuf b = { 0 };

	for (size_t i = 0; i < t->w.count; i++)
		t->pragma |= t->own[i] && t->w.items[i].kind == KSCAN_DIRECTIVE &&
		    strstr(t->w.code + t->w.items[i].from, "pragma") &&
		    (kscan_uses(&t->w, t->w.items[i].from, t->w.items[i].to, "optimize") ||
		        kscan_uses(&t->w, t->w.items[i].from, t->w.items[i].to, "target"));
	kbuf_add(&b, s->text, first);
	add_includes(&b, t, true);
	p = first;
	if (place == first)
		add_includes(&b, t, false);
	for (size_t i = 0; i < s->count; i++) {
		const struct kscan_item *x = &s->items[i];

		if (x == t->kernel) {
			kbuf_add(&b, s->text + p, x->lead > p ? x->lead - p : 0);
			add_winner(&b, t);
			p = x->to;
		} else if (t->dead[i]) {
			kbuf_add(&b, s->text + p, x->lead > p ? x->lead - p : 0);
			p = x->to;
			/* The blank line behind goes too. */
			while (line_break(s->text + p) && b.len && b.data[b.len - 1] == '\n')
				p += line_break(s->text + p);
			kbuf_printf(
			    notes, "%s is removed: nothing uses it any more\n", x->names[0]);
		} else if (x->kind == KSCAN_INCLUDE && x->to == place && place != first) {
			kbuf_add(&b, s->text + p, x->to - p);
			add_includes(&b, t, false);
			p = x->to;
		}
	}
	kbuf_add(&b, s->text + p, s->len - p);
	return b.data;
}

/*
 * Types as the typedefs of the application make them: a model writes float where the file says
 * real_t, and means the same.
 */
static void
see_through(const struct state *t, struct kscan_signature *g)
{
	for (size_t i = 0; i < g->count; i++) {
		struct kscan_param *x = &g->params[i];

		for (size_t n = 0; n < t->b.count && !x->strange;) {
			int more;
			char *next = kscan_typedef(&t->b.sources[n].scan, x->type, &more);

			n = next && strcmp(next, x->type) ? 0 : n + 1;
			if (!next)
				continue;
			free(x->type);
			x->type = next;
			x->stars += more;
		}
	}
}

/* The types of a function's parameters, in one spelling; the caller frees. */
static char *
types_of(const struct state *t, const struct kscan *s, const struct kscan_item *f)
{
	struct kscan_signature g;
	char *text, *types;

	kscan_signature(s, f, &g);
	see_through(t, &g);
	text = kscan_signature_text(&g);
	types = kstrdup(strchr(text, '('));
	free(text);
	kscan_signature_free(&g);
	return types;
}

static bool
same_types(const struct state *t, const struct kscan *s, const struct kscan_item *f, char **fault)
{
	char *was = types_of(t, &t->file->scan, t->kernel), *now = types_of(t, s, f);
	bool same = !strcmp(was, now);

	if (!same)
		*fault = kasprintf("signature: %s, but it was %s", now, was);
	free(was);
	free(now);
	return same;
}

/* The head in the file is the project's: the winner's own is asked, too. */
static bool
same_signature(const struct state *t, const char *text, char **fault)
{
	struct kscan s;
	const struct kscan_item *f;
	bool same = false;

	kscan(text, strlen(text), &s);
	f = kscan_function(&s, t->a->kernel);
	if (!f || s.unclosed)
		*fault = kasprintf("%s: the changed file is not well-formed", t->a->file);
	else
		same = same_types(t, &s, f, fault) && same_types(t, &t->w, t->new_kernel, fault);
	kscan_free(&s);
	return same;
}

char *
splice(const struct adoption *a, const char *original, const char *winner, struct kbuf *notes,
    char **fault)
{
	struct state t = { .a = a };
	char *copy = adopt_path(a, "copy"), *text = NULL;
	json_t *settings = compile_settings(a);

	*fault = NULL;
	bundle_open(&t.b, a, copy, settings);
	bundle_keep(&t.b, a->kernel);
	t.file = &t.b.sources[0];
	t.kernel = kscan_function(&t.file->scan, a->kernel);
	kscan(winner, strlen(winner), &t.w);
	t.new_kernel = kscan_function(&t.w, a->kernel);
	if (strcmp(t.file->text, original)) {
		*fault = kasprintf("%s/%s has changed since it was adopted", copy, a->file);
	} else if (!t.kernel) {
		*fault = kasprintf("%s is inside #if in %s", a->kernel, a->file);
	} else if (!t.new_kernel || t.w.unclosed) {
		*fault = kasprintf("the winner does not define %s outside #if", a->kernel);
	} else {
		choose_own(&t);
		choose_dead(&t);
		choose_names(&t, notes);
		text = with_line_ends(compose(&t, notes), original);
		if (!same_signature(&t, text, fault)) {
			free(text);
			text = NULL;
		}
	}
	json_decref(t.renamed);
	free(t.own);
	free(t.dead);
	kscan_free(&t.w);
	bundle_close(&t.b);
	json_decref(settings);
	return text;
}

/* ---- what must not go back ---- */

static bool
is_stub(const struct kscan *s, const struct kscan_item *f)
{
	size_t p = f->body + 1, end = f->to;

	while (end > p &&
	    (isspace((unsigned char)s->code[end - 1]) || s->code[end - 1] == '}' ||
	        s->code[end - 1] == ';'))
		end--;
	while (p < end && isspace((unsigned char)s->code[p]))
		p++;
	return p >= end || (end - p <= 8 && !strncmp(s->code + p, "return", 6));
}

/* What the winner calls the parameter that the reference calls NAME; the caller frees. */
static char *
name_in_winner(
    const char *reference, const struct kscan *winner, const struct kscan_item *f, const char *name)
{
	struct kscan s;
	struct kscan_signature was = { 0 }, now;
	const struct kscan_item *r;
	char *found = NULL;

	kscan(reference, strlen(reference), &s);
	kscan_signature(winner, f, &now);
	r = kscan_function(&s, f->names[0]);
	if (r)
		kscan_signature(&s, r, &was);
	for (size_t i = 0; i < was.count && i < now.count && !found; i++)
		if (!strcmp(was.params[i].name, name))
			found = kstrdup(now.params[i].name);
	kscan_signature_free(&was);
	kscan_signature_free(&now);
	kscan_free(&s);
	return found ? found : kstrdup(name);
}

size_t
splice_scan(const struct adoption *a, const char *reference, const char *winner,
    const json_t *arrays, struct kbuf *faults)
{
	size_t count = rules_scan("winner", a->language, winner, a->kernel, reference, faults);
	const struct kscan_item *f;
	struct kscan s;

	count += rules_scan("reply", a->language, winner, a->kernel, reference, faults);
	kscan(winner, strlen(winner), &s);
	f = kscan_function(&s, a->kernel);
	if (!f) {
		kbuf_printf(faults, "signature: the winner does not define %s\n", a->kernel);
		count++;
	}
	if (f && is_stub(&s, f)) {
		kbuf_printf(faults, "stub: %s does nothing\n", a->kernel);
		count++;
	}
	for (size_t i = 0; f && i < json_array_size(arrays); i++) {
		char *name =
		    name_in_winner(reference, &s, f, json_string_value(json_array_get(arrays, i)));

		if (!kscan_uses(&s, f->body, f->to, name)) {
			kbuf_printf(faults, "no_work: %s does not use %s, which it must write\n",
			    a->kernel, name);
			count++;
		}
		free(name);
	}
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.code[i] > 127) {
			kbuf_printf(faults,
			    "prose: line %zu: a non-ASCII character outside comments and strings\n",
			    kline_at(s.text, i));
			count++;
			break;
		}
	kscan_free(&s);
	return count;
}
