/* SPDX-License-Identifier: Apache-2.0 */
/* ktemplate: see ktemplate.h. */
#include "ktemplate.h"

enum { MAX_CONTEXTS = 64, MAX_DEPTH = 64, MAX_NAME = 96, FILE_MAX = 1 << 20 };

struct scope {
	const json_t *stack[MAX_CONTEXTS];
	size_t depth;
};

/* The rendering that is under way; one at a time. */
static struct render {
	const struct ktemplate *t;
	struct kbuf *out;
	size_t start; /* where the output of this rendering begins in out */
	struct scope scope;
	int depth; /* open partials and sections */
	const char *fault;
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

static bool
fail(const char *at, const char *what, const char *name)
{
	render.fault = kshown("%s:%zu: %s%s%s", source.file,
	    kline_at(source.text, (size_t)(at - source.text)), what, *name ? " " : "", name);
	return false;
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

/* The value of a dotted name, from the innermost context outwards; NULL if there is none. */
static const json_t *
look_up(const struct scope *scope, const char *name)
{
	size_t n = strcspn(name, ".");

	if (!strcmp(name, "."))
		return scope->stack[scope->depth - 1];
	for (size_t i = scope->depth; i-- > 0;) {
		const json_t *v = json_object_getn(scope->stack[i], name, n);

		if (v)
			return kjson_path(v, name + n + (name[n] == '.'));
	}
	return kbegins(name, "has_") ? look_up(scope, name + 4) : NULL;
}

static bool
is_true(const json_t *v)
{
	switch (v ? json_typeof(v) : JSON_NULL) {
	case JSON_NULL:
	case JSON_FALSE:
		return false;
	case JSON_STRING:
		return json_string_length(v) > 0;
	case JSON_INTEGER:
	case JSON_REAL:
		return json_number_value(v) < 0 || json_number_value(v) > 0;
	case JSON_ARRAY:
		return json_array_size(v) > 0;
	case JSON_TRUE:
	case JSON_OBJECT:
		return true;
	}
	return false;
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

/*
 * Find the next tag from where reading continues. Returns 0 at the end of the text, 1 with the tag,
 * -1 on a fault.
 */
static int
next_tag(struct tag *tag)
{
	const char *open = strstr(source.p, "{{"), *close, *b, *e;

	if (!open)
		return 0;
	close = strstr(open, "}}");
	if (!close) {
		fail(open, "'{{' without '}}'", "");
		return -1;
	}
	b = open + 2;
	tag->kind = *b && strchr("#^/>!", *b) ? *b++ : 0;
	tag->begin = open;
	tag->end = close + 2;
	for (e = close; e > b && kis_space(e[-1]); e--)
		;
	while (b < e && kis_space(*b))
		b++;
	if (tag->kind != '!' && (b == e || (size_t)(e - b) >= MAX_NAME)) {
		fail(open, "a tag needs a short name", "");
		return -1;
	}
	snprintf(tag->name, sizeof tag->name, "%.*s", tag->kind == '!' ? 0 : (int)(e - b), b);
	widen(tag);
	return 1;
}

static bool
put_value(const struct tag *tag)
{
	const char *colon = render.t->show ? strchr(tag->name, ':') : NULL;
	const json_t *v = look_up(&render.scope, colon ? colon + 1 : tag->name);
	char how[MAX_NAME];

	snprintf(how, sizeof how, "%.*s", colon ? (int)(colon - tag->name) : 0, tag->name);
	if (render.t->show && render.t->show(render.out, how, v))
		return true;
	if (*how)
		return fail(tag->begin, "cannot be written in this format:", tag->name);
	if (json_is_string(v))
		kbuf_add(render.out, json_string_value(v), json_string_length(v));
	else if (json_is_integer(v))
		kbuf_printf(render.out, "%lld", json_integer_value(v));
	else if (json_is_real(v))
		kbuf_printf(render.out, "%.6g", json_real_value(v));
	else
		return fail(tag->begin, v ? "not a string or number:" : "unknown name", tag->name);
	return true;
}

/*
 * The tag's name with every "@key" replaced by that value, which must be a plain word: it becomes
 * part of a path.
 */
static bool
expand_name(const struct tag *tag, char name[MAX_NAME])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t n = 0;

	for (const char *p = tag->name; *p;) {
		size_t len = strcspn(p + 1, "@/.") + 1;
		char key[MAX_NAME];
		const char *value = key;

		snprintf(
		    key, sizeof key, "%.*s", (int)(*p == '@' ? len - 1 : len), p + (*p == '@'));
		if (*p == '@')
			value = json_string_value(look_up(&render.scope, key));
		if (!value || (*p == '@' && (!*value || value[strspn(value, plain)])))
			return fail(tag->begin, "no plain word exists for", p);
		n += (size_t)snprintf(name + n, MAX_NAME - n, "%s", value);
		if (n >= MAX_NAME)
			return fail(tag->begin, "a tag needs a short name", "");
		p += len;
	}
	return true;
}

static void
note_section(const char *name, size_t before)
{
	json_t *list = render.t->sections;
	size_t count = json_array_size(list), n = strcspn(name, "/");
	const char *last = count ? kjson_item(list, count - 1) : "";

	if (!list || render.out->len == before || (strlen(last) == n && !strncmp(last, name, n)))
		return;
	json_array_append_new(list, json_stringn(name, n));
}

static bool render_text(const char *until, bool show);

static bool
put_partial(const struct tag *tag)
{
	struct source outer = source, part = { 0 };
	char name[MAX_NAME] = "";
	size_t before = render.out->len;

	if (!expand_name(tag, name))
		return false;
	part.text = render.t->load ? render.t->load(render.t->arg, name, &part.file) : NULL;
	if (!part.text)
		return fail(tag->begin, "template not found:", name);
	part.p = part.text;
	source = part;
	if (!render_text(NULL, true))
		return false;
	source = outer;
	note_section(name, before);
	return true;
}

/*
 * The section that TAG opens, with the value V; reading continues after the tag, and after the
 * closing tag on return.
 */
static bool
put_section(const struct tag *tag, const json_t *v, bool show)
{
	const char *body = source.p;
	size_t count = json_is_array(v) ? json_array_size(v) : 1;
	json_auto_t *more = json_is_array(v) ? json_pack("{s:b}", "more", 1) : NULL;
	bool positive = tag->kind == '#', yes = show && positive == is_true(v);

	if (!yes || !positive)
		return render_text(tag->name, yes);
	if (render.scope.depth + 1 >= MAX_CONTEXTS)
		return fail(tag->begin, "sections too deep at", tag->name);
	if (kbegins(tag->name, "has_"))
		return render_text(tag->name, true);
	for (size_t i = 0; i < count; i++) {
		bool ok;

		source.p = body;
		if (i + 1 == count)
			json_object_set_new(more, "more", json_false());
		render.scope.stack[render.scope.depth++] = more;
		render.scope.stack[render.scope.depth++] =
		    json_is_array(v) ? json_array_get(v, i) : v;
		ok = render_text(tag->name, true);
		render.scope.depth -= 2;
		if (!ok)
			return false;
	}
	return true;
}

static bool
put_tag(const struct tag *tag, bool show)
{
	switch (tag->kind) {
	case '#':
	case '^':
		return put_section(tag, show ? look_up(&render.scope, tag->name) : NULL, show);
	case '>':
		return !show || put_partial(tag);
	case '!':
		return true;
	default:
		return !show || put_value(tag);
	}
}

/*
 * Render up to {{/UNTIL}}, or to the end of the text when UNTIL is NULL. If SHOW is false, only
 * skip.
 */
static bool
render_text(const char *until, bool show)
{
	const char *begin = source.p;
	struct tag tag;
	int got;

	if (++render.depth > MAX_DEPTH)
		return fail(source.p, "templates nested too deep", "");
	while ((got = next_tag(&tag)) > 0) {
		if (show)
			put_literal(source.p, tag.begin);
		source.p = tag.end;
		if (tag.kind == '/') {
			if (!until || strcmp(until, tag.name))
				return fail(tag.begin, "closes no open section:", tag.name);
			render.depth--;
			return true;
		}
		if (!put_tag(&tag, show))
			return false;
	}
	if (got < 0)
		return false;
	if (until)
		return fail(begin, "section is not closed:", until);
	if (show)
		put_literal(source.p, source.p + strlen(source.p));
	render.depth--;
	return true;
}

const char *
ktemplate_render(const struct ktemplate *t, struct kbuf *out, const char *text, const char *file,
    const json_t *context)
{
	source = (struct source){ text, file, text };
	render = (struct render){ .t = t, .out = out, .start = out->len };
	render.scope.stack[render.scope.depth++] = context;
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
