/* SPDX-License-Identifier: Apache-2.0 */
/* ktemplate: see ktemplate.h. */
#include "ktemplate.h"

#include "kregex.h"

enum { MAX_DEPTH = 64, MAX_NAME = 96, FILE_MAX = 1 << 20 };

/* What names mean in a section, and if not there, then in the one around it. */
struct scope {
	const json_t *value;
	const json_t *more; /* in a list: whether this is not the last item; else NULL */
	const struct scope *outer;
};

/* The rendering that is under way; one at a time. */
static struct render {
	const struct ktemplate *t;
	struct kbuf *out;
	size_t start; /* where the output of this rendering begins in out */
	const struct scope *scope;
	int depth;         /* open partials and sections */
	const char *fault; /* once there is one, nothing more is read */
} render;

/* The template that is being read; one at a time. */
static struct source {
	const char *text, *file;
	const char *p; /* where reading continues */
} source;

struct tag {
	char kind; /* one of # ^ / > ! or 0 for a value */
	char name[MAX_NAME];
	const char *begin, *end; /* of the tag, or of its whole line if it stands alone */
};

static void
fail(const char *at, const char *what, const char *name)
{
	render.fault = kshown("%s:%zu: %s%s%s", source.file,
	    kline_at(source.text, (size_t)(at - source.text)), what, *name ? " " : "", name);
}

/*
 * Copies literal text, but drops a line feed that would make a second blank line, and a blank line
 * at the start.
 */
static void
put_literal(const char *s, const char *end)
{
	struct kbuf *b = render.out;

	while (s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s)), *stop = nl ?: end;
		size_t n;

		kbuf_add(b, s, (size_t)(stop - s));
		n = b->len - render.start;
		if (nl && n &&
		    !(n >= 2 && b->data[b->len - 1] == '\n' && b->data[b->len - 2] == '\n'))
			kbuf_add(b, "\n", 1);
		s = nl ? nl + 1 : end;
	}
}

/* The value of a dotted name, from the innermost section outwards; NULL if there is none. */
static const json_t *
look_up(const char *name)
{
	size_t n = strcspn(name, ".");

	if (!strcmp(name, "."))
		return render.scope->value;
	for (const struct scope *s = render.scope; s; s = s->outer) {
		const json_t *v = json_object_getn(s->value, name, n);

		if (v)
			return kjson_path(v, name + n + (name[n] == '.'));
		if (s->more && !strcmp(name, "more"))
			return s->more;
	}
	return kbegins(name, "has_") ? look_up(name + 4) : NULL;
}

static bool
is_true(const json_t *v)
{
	return json_is_string(v) ? json_string_length(v) > 0
	    : json_is_array(v)   ? json_array_size(v) > 0
	    : json_is_number(v)  ? fabs(json_number_value(v)) > 0
	                         : json_is_object(v) || json_is_true(v);
}

/* Widen a tag that stands alone on its line to the whole line. */
static void
widen(struct tag *tag)
{
	const char *b = tag->begin, *e = tag->end;

	if (!tag->kind)
		return;
	while (b > source.text && (b[-1] == ' ' || b[-1] == '\t'))
		b--;
	while (*e == ' ' || *e == '\t')
		e++;
	if ((b == source.text || b[-1] == '\n') && (*e == '\n' || !*e)) {
		tag->begin = b;
		tag->end = e + (*e == '\n');
	}
}

/* The next tag from where reading continues; false at the end of the text, and on a fault. */
static bool
next_tag(struct tag *tag)
{
	static const char form[] = "(?s)\\{\\{([#^/>!]?)\\s*+(.*?)\\s*\\}\\}";
	const char *open = strstr(source.p, "{{");
	struct kregex_span at[3];
	size_t len;

	if (!open)
		return false;
	if (!kregex_match(form, open, at)) {
		fail(open, "'{{' without '}}'", "");
		return false;
	}
	*tag = (struct tag){ .begin = open, .end = open + at->to };
	if (at[1].to > at[1].from)
		tag->kind = open[at[1].from];
	len = tag->kind == '!' ? 0 : at[2].to - at[2].from;
	if (tag->kind != '!' && (!len || len >= MAX_NAME)) {
		fail(open, "a tag needs a short name", "");
		return false;
	}
	memcpy(tag->name, open + at[2].from, len);
	widen(tag);
	return true;
}

static void
put_value(const struct tag *tag)
{
	const char *colon = render.t->show ? strchr(tag->name, ':') : NULL,
	           *how = kshown("%.*s", colon ? (int)(colon - tag->name) : 0, tag->name);
	const json_t *v = look_up(colon ? colon + 1 : tag->name);

	if (render.t->show && render.t->show(render.out, how, v))
		return;
	if (*how)
		fail(tag->begin, "cannot be written in this format:", tag->name);
	else if (json_is_string(v))
		kbuf_add(render.out, json_string_value(v), json_string_length(v));
	else if (json_is_integer(v))
		kbuf_printf(render.out, "%lld", json_integer_value(v));
	else if (json_is_real(v))
		kbuf_printf(render.out, "%.6g", json_real_value(v));
	else
		fail(tag->begin, v ? "not a string or number:" : "unknown name", tag->name);
}

/*
 * The tag's name with every "@key" replaced by that value, which must be a plain word: it becomes
 * part of a path. The caller frees.
 */
static char *
expand_name(const struct tag *tag)
{
	struct kbuf name = kbuf_empty();

	for (const char *p = tag->name; *p;) {
		size_t n = strcspn(p, "@"), key = p[n] ? strcspn(p + n + 1, "@/.") : 0;
		const char *value = "";

		kbuf_add(&name, p, n);
		if (p[n])
			value = json_string_value(look_up(kshown("%.*s", (int)key, p + n + 1)));
		if (!value || (p[n] && !kregex_is("\\A[a-z0-9_-]+\\z", value)))
			fail(tag->begin, "no plain word exists for", p + n);
		kbuf_puts(&name, value ?: "");
		p += n + (p[n] == '@') + key;
	}
	return name.data;
}

static void
note_section(const char *name, size_t before)
{
	json_t *list = render.t->sections;
	const char *first = kshown("%.*s", (int)strcspn(name, "/"), name),
	           *last = kjson_item(list, json_array_size(list) - 1) ?: "";

	if (list && render.out->len > before && strcmp(first, last))
		kjson_add(list, first);
}

static void render_text(const char *until, bool show);

static void
put_partial(const struct tag *tag)
{
	struct source outer = source, part = { 0 };
	auto_free char *name = expand_name(tag);
	size_t before = render.out->len;

	if (render.fault)
		return;
	part.text = part.p =
	    render.t->load ? render.t->load(render.t->arg, name, &part.file) : NULL;
	if (!part.text) {
		fail(tag->begin, "template not found:", name);
		return;
	}
	source = part;
	render_text(NULL, true);
	source = outer;
	note_section(name, before);
}

/* The section that TAG opens; reading continues after the closing tag on return. */
static void
put_section(const struct tag *tag, bool show)
{
	const json_t *v = show ? look_up(tag->name) : NULL;
	struct scope item = { .value = v, .outer = render.scope };
	const char *body = source.p;
	size_t count = json_is_array(v) ? json_array_size(v) : 1;

	show &= (tag->kind == '#') == is_true(v);
	if (!show || tag->kind == '^' || kbegins(tag->name, "has_")) {
		render_text(tag->name, show);
		return;
	}
	for (size_t i = 0; i < count && !render.fault; i++) {
		source.p = body;
		if (json_is_array(v)) {
			item.value = json_array_get(v, i);
			item.more = json_boolean(i + 1 < count);
		}
		render.scope = &item;
		render_text(tag->name, true);
		render.scope = item.outer;
	}
}

static void
put_tag(const struct tag *tag, bool show)
{
	if (tag->kind == '#' || tag->kind == '^')
		put_section(tag, show);
	else if (show && tag->kind == '>')
		put_partial(tag);
	else if (show && !tag->kind)
		put_value(tag);
}

/*
 * Render up to {{/UNTIL}}, or to the end of the text when UNTIL is NULL. If SHOW is false, only
 * skip.
 */
static void
render_text(const char *until, bool show)
{
	const char *begin = source.p;
	struct tag tag = { 0 };

	if (++render.depth > MAX_DEPTH)
		fail(begin, "templates nested too deep", "");
	while (!render.fault && tag.kind != '/' && next_tag(&tag)) {
		if (show)
			put_literal(source.p, tag.begin);
		source.p = tag.end;
		put_tag(&tag, show);
	}
	render.depth--;
	if (render.fault)
		return;
	if (tag.kind == '/' && (!until || strcmp(until, tag.name)))
		fail(tag.begin, "closes no open section:", tag.name);
	else if (tag.kind != '/' && until)
		fail(begin, "section is not closed:", until);
	else if (show && !until)
		put_literal(source.p, source.p + strlen(source.p));
}

const char *
ktemplate_render(const struct ktemplate *t, struct kbuf *out, const char *text, const char *file,
    const json_t *context)
{
	source = (struct source){ text, file, text };
	render = (struct render){
		.t = t, .out = out, .start = out->len, .scope = &(struct scope){ .value = context }
	};
	kbuf_add(out, "", 0);
	render_text(NULL, true);
	return render.fault;
}

void
ktemplate_fill(const struct ktemplate *t, struct kbuf *out, const char *text, const char *file,
    const json_t *context)
{
	const char *fault = ktemplate_render(t, out, text, file, context);

	if (fault)
		kdie_usage("%s", fault);
}

void
ktemplate_file(const struct ktemplate *t, struct kbuf *out, const char *path, const json_t *context)
{
	auto_free char *text = kread_text_or_die(path, FILE_MAX);

	ktemplate_fill(t, out, text, path, context);
}
