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

static bool
describe(const struct kscan *k, const struct kscan_item *f, struct signature *s, char *why,
    size_t why_len)
{
	s->from = f->from;
	s->name = f->name_at;
	s->body = f->body;
	s->end = f->to;
	s->line = (int)kline_at(k->text, f->name_at);
	s->kernel = kscan_has_word(k, f, "__global__");
	s->of = kscan_signature(k, f);
	/* "void *f()" returns something, and so does everything that is not void. */
	s->returns = !strstr(s->of.result, "void") || strchr(s->of.result, '*');
	kscan_items(x, k)
		if (x->from < f->from && x->kind == KSCAN_INCLUDE && !x->depth &&
		    compiled_with(k, x->from, f->from)) {
			s->include = x->to;
			s->include += k->text[x->to] == '\n';
		}
	kforeach_of(p, s->of.params, s->of.count)
		if (!*p->name) {
			snprintf(why, why_len, "line %d: parameter %zu has no name: '%s'", s->line,
			    p - s->of.params + 1, p->text);
			return false;
		}
	if (s->of.too_many)
		snprintf(why, why_len, "line %d: more than %d parameters", s->line, KSCAN_PARAMS);
	return !s->of.too_many;
}

bool
signature_find(const char *text, size_t len, const char *name, size_t line, struct signature *s,
    char *why, size_t why_len)
{
	const struct kscan_item *found = NULL;
	auto_scan struct kscan k;

	*s = (struct signature){ 0 };
	kscan(text, len, &k);
	if (!kscan_function(&k, name)) {
		kscan_free(&k);
		kscan_through(text, len, &k);
	}
	kscan_items(x, &k) {
		if (x->kind != KSCAN_FUNCTION || !kscan_declares(x, name))
			continue;
		if (found && !line) {
			snprintf(why, why_len,
			    "it is defined in line %zu and again in line %zu; remove one",
			    kline_at(text, found->name_at), kline_at(text, x->name_at));
			return false;
		}
		/* Alternatives: the compiler sees only one of them. */
		if (!found || kline_at(text, x->name_at) == line)
			found = x;
	}
	found = found ? found : kscan_function(&k, name);
	if (!found)
		snprintf(why, why_len, "it is not defined there, or only by a macro");
	else if (strcmp(kscan_whole(found), name) != 0)
		snprintf(why, why_len, "line %zu: its whole name is %s; use that name",
		    kline_at(text, found->name_at), kscan_whole(found));
	else if (found->name_count == 1 && found->name_at > 1 && text[found->name_at - 1] == ':')
		snprintf(why, why_len,
		    "line %zu: it is a member of a template; write a plain function around it, "
		    "with named types, and adopt that function",
		    kline_at(text, found->name_at));
	else if (describe(&k, found, s, why, why_len))
		return true;
	signature_free(s);
	return false;
}

void
signature_free(struct signature *s)
{
	kscan_signature_free(&s->of);
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

	return p->stars ? "p" : n ? n->layout : "?";
}

void
signature_layout(const char *text, size_t len, struct kbuf *out)
{
	auto_scan struct kscan k;

	kscan(text, len, &k);
	kscan_items(x, &k) {
		auto_signature struct kscan_signature s = { 0 };

		if (x->kind != KSCAN_FUNCTION || !kscan_has_word(&k, x, "__global__"))
			continue;
		s = kscan_signature(&k, x);
		kbuf_puts(out, x->names[0]);
		kforeach_of(p, s.params, s.count)
			kbuf_printf(out, " %s:%s", kind_of(p), *p->name ? p->name : "-");
		kbuf_puts(out, "\n");
	}
}
