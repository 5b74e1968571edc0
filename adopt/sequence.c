/* SPDX-License-Identifier: Apache-2.0 */
/* sequence: see sequence.h. patterns/adopt.json has the calls that are replaced, or refused. */
#include "sequence.h"

#include "adopt.h"
#include "signature.h"

static bool
is_kernel(const struct unit_source *own, const char *name)
{
	return kany(unit_items(x, own, name), kscan_has_word(x, "__global__"));
}

static void
see_launch(struct adopted_unit *u, const struct kscan_launch *l, struct kbuf *why)
{
	static const char standard[] = "0 NULL nullptr cudaStreamDefault cudaStreamLegacy";
	const char *name = kscan_plain(l->kernel);

	if (!is_kernel(u->source, name))
		kbuf_printf(why, "it launches %s, which is not a kernel of the project\n", name);
	if (*l->stream && !kis_one_of(standard, l->stream))
		kbuf_printf(why, "it launches %s on the stream %s, which is not a parameter\n",
		    name, l->stream);
	if (!kjson_has(u->sequence, name))
		kjson_add(u->sequence, name);
}

/*
 * Where the host itself would read P's array, "p[i]", "*p" or "*(p", which is in the GPU's memory;
 * but not the operand of sizeof, the member of something, or an address, "&p[i]".
 */
static void
see_reads(const struct kscan_item *f, const struct kscan_param *p, struct kbuf *why)
{
	const struct kscan *s = f->in;
	auto_free char *reads = kasprintf("(?x) (?(DEFINE) (?<p> \\b%s\\b ))"
	                                  "(?: \\bsizeof [\\s(*]* (?&p) | (?:\\.|->) \\s* (?&p) |"
	                                  "	[^\\w)\\]&\\s] \\s* & \\s* (?&p) \\s* \\[ ) "
	                                  "(*SKIP)(*FAIL) |"
	                                  "\\* [\\s(]* (?&p) | (?&p) \\s* \\[",
	    p->name);
	struct kregex_span at;

	if (p->stars && kregex_find(reads, s->code + f->body, f->to - f->body, &at, 1))
		kbuf_printf(why, "the host reads or writes %s itself, in line %zu\n", p->name,
		    kline_at(s->text, f->body + at.from));
}

/* What an entry with one more parameter cannot replace. */
static void
see_form(const struct kscan_item *f, const struct kscan_signature *g, struct kbuf *why)
{
	if (kscan_template(g))
		kbuf_puts(why, "it launches kernels and is a template: adopt its kernels\n");
	else if (!kregex_is("void\\z", g->result))
		kbuf_puts(why, "it launches kernels and returns a value: adopt its kernels\n");
	if (!unit_is_plain(f))
		kbuf_puts(why, "it launches kernels, and its head comes from a macro or an #if\n");
	if (kscan_uses(f->in, f->open, f->to, "stream"))
		kbuf_puts(why, "it launches kernels and already uses the name stream\n");
	kscan_params(p, g)
		see_reads(f, p, why);
}

void
sequence_find(struct adopted_unit *u, struct kbuf *why)
{
	const struct kscan_item *f = u->f;
	auto_signature struct kscan_signature g = { 0 };
	const struct kscan_launch *list;
	bool stream;
	size_t n;

	if (u->kernel || !kjson_bool(rules_language(u->source->name), "device"))
		return;
	g = kscan_signature(f);
	stream = kany(kscan_params(p, &g), signature_is_stream(p));
	list = kscan_launches(f, &n);
	if (stream && !signature_is_stream(&g.params[g.count - 1]))
		kbuf_puts(why, "its stream is not its last parameter\n");
	else if (!stream && !n)
		kbuf_puts(why,
		    "it launches no kernel itself, and its last parameter is not a stream: adopt a "
		    "kernel, or the function that launches it\n");
	else if (!stream) {
		u->sequence = json_array();
		see_form(f, &g, why);
		kforeach_of(l, list, n)
			see_launch(u, l, why);
	}
}

char *
sequence_body(const struct kscan_item *f)
{
	const char *text = f->in->text;
	auto_buf struct kbuf b = { 0 };
	size_t n, at = f->body;
	const struct kscan_launch *list = kscan_launches(f, &n);

	kforeach_of(l, list, n) {
		kbuf_slice(&b, text, at, *l->stream ? l->config : l->config_to);
		if (*l->stream)
			kbuf_printf(&b, "<<<%s, %s, %s, stream", l->grid, l->block, l->shared);
		else
			kbuf_puts(&b, *l->shared ? ", stream" : ", 0, stream");
		at = l->config_to;
	}
	kbuf_slice(&b, text, at, f->to);
	return rules_replace("stream",
	    kjson_str_or(rules_language(unit_source_of(f)->name), "language", "c"), b.data);
}
