/* SPDX-License-Identifier: Apache-2.0 */
/* signature: see signature.h. */
#include "signature.h"

#include "numbers.h"

/*
 * Is the code at FROM and at TO compiled together? It is if no condition that is open at FROM ends
 * before TO.
 */
static bool
compiled_with(const struct kscan *k, size_t from, size_t to)
{
	size_t depth = 0;
	enum kscan_branch b;

	while ((from = kscan_branch(k, from, to, &b)) < to) {
		if (!depth && b != KSCAN_IF)
			return false;
		depth += (size_t)(b == KSCAN_IF) - (b == KSCAN_ENDIF);
		from++;
	}
	return true;
}

/* Fills in the rest of S; returns what is wrong, or NULL. The caller frees. */
static char *
describe(struct signature *s)
{
	const struct kscan *k = &s->scan;
	const struct kscan_item *f = s->f;

	s->behind = f->name_at + strlen(f->names[0]);
	s->line = (int)kline_at(k->text, f->name_at);
	s->kernel = kscan_has_word(f, "__global__");
	s->of = kscan_signature(f);
	/* "void *f()" returns something, and so does everything that is not void. */
	s->returns = !strstr(s->of.result, "void") || strchr(s->of.result, '*');
	kscan_items(x, k)
		if (x->from < f->from && x->kind == KSCAN_INCLUDE && !x->depth &&
		    compiled_with(k, x->from, f->from)) {
			s->include = x->to;
			s->include += k->text[x->to] == '\n';
		}
	kscan_params(p, &s->of)
		if (!*p->name)
			return kasprintf("line %d: parameter %zu has no name: '%s'", s->line,
			    p - s->of.params + 1, p->text);
	return NULL;
}

char *
signature_find(struct signature *s, char *text, size_t len, const char *name, size_t line)
{
	const struct kscan_item *f = NULL, *last;

	*s = (struct signature){ .text = text };
	last = kscan_named(text, len, name, &s->scan);
	kscan_items(x, &s->scan) {
		if (x->kind != KSCAN_FUNCTION || !kscan_declares(x, name))
			continue;
		if (f && !line)
			return kasprintf("it is defined in line %zu and "
			                 "again in line %zu; remove one",
			    kline_at(text, f->name_at), kline_at(text, x->name_at));
		/* Alternatives: the compiler sees only one of them. */
		if (!f || kline_at(text, x->name_at) == line)
			f = x;
	}
	s->f = f = f ?: last;
	if (!f)
		return kstrdup("it is not defined there, or only by a macro");
	if (strcmp(kscan_whole(f), name) != 0)
		return kasprintf("line %zu: its whole name is %s; use that name",
		    kline_at(text, f->name_at), kscan_whole(f));
	if (f->name_count == 1 && f->name_at > 1 && text[f->name_at - 1] == ':')
		return kasprintf("line %zu: it is a member of a template; write a plain function "
		                 "around it, with named types, and adopt that function",
		    kline_at(text, f->name_at));
	return describe(s);
}

void
signature_free(struct signature *s)
{
	kscan_signature_free(&s->of);
	kscan_free(&s->scan);
	free(s->text);
	*s = (struct signature){ 0 };
}

bool
signature_is_stream(const struct kscan_param *p)
{
	return kis_one_of("cudaStream_t CUstream", p->type);
}

static const char *
kind_of(const struct kscan_param *p)
{
	const struct number_type *n = p->strange ? NULL : number_type(p->type);

	return p->stars ? "p8" : n ? n->layout : "?0";
}

void
signature_layout(const struct kscan *k, struct kbuf *out)
{
	kscan_items(x, k) {
		auto_signature struct kscan_signature s = { 0 };

		if (x->kind != KSCAN_FUNCTION || !kscan_has_word(x, "__global__"))
			continue;
		s = kscan_signature(x);
		kbuf_puts(out, x->names[0]);
		kscan_params(p, &s)
			kbuf_printf(out, " %s:%s", kind_of(p), *p->name ? p->name : "-");
		kbuf_puts(out, "\n");
	}
}
