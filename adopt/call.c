/* SPDX-License-Identifier: Apache-2.0 */
/* call: see call.h. */
#include "call.h"

#include "adopt.h"
#include "unit.h"

enum { WIDTH = 100, TAB = 8 };

/* ---- the arguments of the entry ---- */

/* Launch geometry that the winner does not use is not passed in the application. */
static bool
is_unused(const json_t *p, const struct kscan_item *entry, const char *name)
{
	return kjson_bool(p, "launch") && !strstr(kjson_str(p, "type"), "tream") &&
	    !kscan_uses(entry->in, entry->body, entry->to, name);
}

json_t *
call_unit(const struct kscan_item *entry)
{
	json_t *list = json_array(), *names = json_array();
	auto_signature struct kscan_signature g = kscan_signature(entry);

	kjson_foreach(p, adoption.unit, "parameters") {
		const char *name = kjson_at(p) < g.count ? g.params[kjson_at(p)].name : NULL;
		json_t *x = name && !is_unused(p, entry, name) ? json_deep_copy(p) : NULL;

		if (!x)
			continue;
		json_object_set(x, "of", json_object_get(p, "value"));
		kjson_put(x, "value", name);
		json_array_append_new(list, x);
		kjson_add(names, name);
	}
	return json_pack(
	    "{s:s,s:o,s:o}", "function", adoption.entry, "parameters", list, "names", names);
}

/* ---- the text of a call ---- */

char *
call_text(const char *path, const json_t *arguments, size_t column)
{
	struct kbuf b = { 0 };
	size_t at;

	kbuf_printf(&b, "%s%s(", path, adoption.entry);
	at = column + b.len;
	kjson_foreach_text(x, arguments) {
		bool first = !kjson_at(x);

		if (!first && at + strlen(x) + 3 > WIDTH) {
			kbuf_puts(&b, ",\n");
			for (at = 0; at + TAB <= column; at += TAB)
				kbuf_puts(&b, "\t");
			kbuf_puts(&b, "    ");
			at += 4;
		} else {
			kbuf_puts(&b, first ? "" : ", ");
			at += 2;
		}
		kbuf_puts(&b, x);
		at += strlen(x);
	}
	kbuf_puts(&b, ")");
	return b.data;
}

/* Is it an expression that needs no parentheses? */
static bool
is_simple(const char *x)
{
	while (*x && (kis_word(*x) || *x == '.' || kbegins(x, "->")))
		x += *x == '-' ? 2 : 1;
	return !*x;
}

/*
 * VALUE of the parameter P, with the arguments of a launch substituted for the words in NAMES.
 * NULL: there is none.
 */
static char *
argument_of(const json_t *p, const json_t *names, const json_t *arguments)
{
	const char *value = kjson_str(p, "of"), *given = NULL;
	bool cast = kjson_bool(p, "cast"), pointer = kjson_bool(p, "pointer");
	auto_free char *type = !cast
	    ? kstrdup("")
	    : kasprintf("(%s%s%s)", pointer && kjson_bool(p, "constant") ? "const " : "",
	          kjson_str(p, "type"), pointer ? " *" : ""),
	               *name = NULL;
	struct kregex_span at[2];

	/* The address of a variable. */
	if (kregex_is("\\A\\(\\{", value))
		return kasprintf("(const %s *)%s", kjson_str(p, "type"), value);
	/* In the function itself, the value stays as it is. */
	if (!arguments)
		return kasprintf("%s%s", type, value);
	kregex_match("\\A[&*(]*(\\w*)", value, at);
	name = kregex_text(value, at[1]);
	kjson_foreach_text(own, names)
		if (!strcmp(own, name))
			given = kjson_item(arguments, kjson_at(own));
	return !given ? NULL
	              : kasprintf(is_simple(given) || (!cast && !strcmp(value, name)) ? "%s%.*s%s%s"
	                                                                              : "%s%.*s(%s)"
	                                                                                "%s",
	                    type, (int)at[1].from, value, given, value + at[1].to);
}

/* The name for the entry's RESULT in the function: one that no parameter has. */
static char *
result_name(const json_t *names)
{
	struct kbuf name = { 0 };

	kbuf_puts(&name, "result");
	while (kjson_has(names, name.data))
		kbuf_puts(&name, "_");
	return name.data;
}

char *
call_body(const json_t *called, char **fault)
{
	const json_t *names = json_object_get(adoption.unit, "names");
	json_auto_t *list = json_array();
	auto_free char *result = result_name(names), *call = NULL;
	const char *type = NULL;
	struct kbuf b = { 0 };

	kjson_foreach(p, called, "parameters") {
		auto_free char *text = kjson_bool(p, "result") ? kasprintf("&%s", result)
		    : kjson_bool(p, "launch")                  ? kstrdup(kjson_str(p, "of"))
		                                               : argument_of(p, names, NULL);

		if (kjson_bool(p, "result"))
			type = kjson_bool(p, "bytes") ? "" : kjson_str(p, "type");
		kjson_add(list, text ?: "");
	}
	if (type && !*type) {
		*fault = kasprintf("%s does its work outside of %s, which returns a structure",
		    adoption.entry, adoption.kernel);
		return NULL;
	}
	call = call_text("", list, TAB);
	kbuf_puts(&b, "{\n");
	if (type)
		kbuf_printf(&b, "\t%s %s;\n\n", type, result);
	kbuf_printf(&b, "\t%s;\n", call);
	if (kjson_bool(adoption.unit, "waits"))
		kbuf_puts(&b, "\tcudaDeviceSynchronize();\n");
	if (type)
		kbuf_printf(&b, "\treturn %s;\n", result);
	kbuf_puts(&b, "}");
	return b.data;
}

/* ---- places that refer to the kernel ---- */

/* Is NAME declared as a dim3 before AT: "dim3 a(1), NAME(2)", "auto NAME = dim3(1)"? */
static bool
is_dim3(const struct kscan *s, const char *name, size_t at)
{
	kscan_each(p, s, 0, at, "dim3")
		for (size_t q = p; q < at && !strchr(";)}", s->code[q]); q = kscan_after(s, q, at))
			if (kscan_among(s, q, kscan_word(s, q, at), name))
				return true;
	return kany(kscan_each(p, s, 0, at, name),
	    kscan_matches(s, kscan_next(s, p, at), at, "\\A=\\s*dim3\\b"));
}

/* The three numbers of a grid or block as expressions: WHAT_x, WHAT_y, WHAT_z in PARTS. */
static void
add_triple(json_t *parts, const char *what, const char *x, const struct kscan *s, size_t at)
{
	auto_free char *inside = kregex_part("\\Adim3\\s*[({]((?s).*).\\z", x);
	json_auto_t *list = inside ? kscan_list(inside, false) : NULL;
	bool plain = is_simple(x), triple = plain && is_dim3(s, x, at);

	for (size_t i = 0; i < 3; i++) {
		const char *part = kjson_item(list, i);

		json_object_set_new(parts, kshown("%s_%c", what, "xyz"[i]),
		    list || (!plain && i)            ? json_string(part ?: "1")
		        : triple                     ? json_sprintf("%s.%c", x, "xyz"[i])
		        : !i                         ? json_string(x)
		        : x[strspn(x, "0123456789")] ? json_sprintf("dim3(%s).%c", x, "xyz"[i])
		                                     : json_string("1"));
	}
}

static size_t
column_of(const char *text, size_t at)
{
	size_t from = at, column = 0;

	while (from && text[from - 1] != '\n')
		from--;
	for (; from < at && kis_space(text[from]); from++)
		column = text[from] == '\t' ? (column / TAB + 1) * TAB : column + 1;
	return column;
}

/* The file that is searched. */
static struct finding {
	const char *file;
	struct kscan s;
	bool hidden; /* the file does not include the kernel's file */
	struct call_sites *sites;
} finding;

static struct call_site *
add_site(enum call_kind kind, size_t from, size_t to)
{
	struct call_site *x = kadded(finding.sites->list, finding.sites->count);

	*x = (struct call_site){ .kind = kind,
		.file = kstrdup(finding.file),
		.from = from,
		.to = to,
		.column = column_of(finding.s.text, from),
		.path = kstrdup("") };
	return x;
}

/* Does the launch at AT use the same template arguments as the entry? */
static bool
is_same_instance(size_t at)
{
	kjson_foreach(l, adoption.unit, "launches") {
		if (kjson_is(l, "file", finding.file) &&
		    json_integer_value(json_array_get(json_object_get(l, "bytes"), 0)) ==
		        (json_int_t)at)
			return !kjson_bool(l, "other");
	}
	return false;
}

static void
add_launch(const struct kscan_launch *l)
{
	const struct kscan *s = &finding.s;
	size_t open = kscan_blank(s, l->config_to + 3, l->to);
	json_auto_t *config = NULL;
	struct call_site *x;

	if (!is_same_instance(l->at)) {
		finding.sites->others = true;
		return;
	}
	config = kscan_parts(s, l->config + 3, l->config_to, false);
	x = add_site(CALL_LAUNCH, l->at, l->to);
	free(x->path);
	x->path = kstrndup(l->kernel, (size_t)(kscan_plain(l->kernel) - l->kernel));
	x->parts = json_object();
	add_triple(x->parts, "grid", kjson_item(config, 0), s, l->at);
	add_triple(x->parts, "block", kjson_item(config, 1), s, l->at);
	for (size_t i = 2; i < 4; i++)
		json_object_set_new(x->parts, i == 2 ? "shared_bytes" : "stream",
		    i < json_array_size(config) ? json_incref(json_array_get(config, i))
		                                : json_string("0"));
	x->arguments = kscan_parts(s, open + 1, l->to - 1, false);
	finding.sites->external |= finding.hidden;
}

/* Handles a place AT that names the kernel. */
static void
see_name(size_t at)
{
	const struct kscan_item *x = kscan_at(&finding.s, at);

	kforeach_of(l, finding.s.launches, finding.s.launch_count)
		if (l->at <= at && at < l->to) {
			if (at < l->config)
				add_launch(l);
			return;
		}
	if (!x || !(x->kind == KSCAN_INCLUDE || kscan_declares(x, adoption.kernel)))
		finding.sites->others = true;
	else if (x->kind == KSCAN_DECLARATION) {
		add_site(CALL_PROTOTYPE, x->from, x->to);
		finding.sites->external |= strcmp(finding.file, adoption.file) != 0;
	}
}

/* Does FILE include the kernel's file, directly or through headers? */
static bool
includes_kernel(const char *folder, const char *file)
{
	/* Before preflight the include folders are unknown. */
	json_auto_t *settings = kis_there(adopt_path("compile.json")) ? compile_settings() : NULL;
	struct bundle b;
	bool found;

	bundle_open(&b, file, folder, settings);
	found = kany(for (const struct source *f = b.first; f; f = f->next),
	    !strcmp(f->name, adoption.file));
	bundle_close(&b);
	return found;
}

void
call_find(const char *folder, struct call_sites *s)
{
	json_auto_t *files = unit_files(folder);

	*s = (struct call_sites){ 0 };
	kjson_foreach_text(name, files) {
		auto_free char *text = text_in(folder, name);

		if (!text || !strstr(text, adoption.kernel))
			continue;
		finding = (struct finding){
			.file = name, .hidden = !includes_kernel(folder, name), .sites = s
		};
		kscan_through(text, &finding.s);
		kscan_each(at, &finding.s, 0, finding.s.len, adoption.kernel)
			see_name(at);
		kscan_free(&finding.s);
	}
}

void
call_sites_free(struct call_sites *s)
{
	kforeach_list(x, s) {
		free(x->file);
		free(x->path);
		json_decref(x->parts);
		json_decref(x->arguments);
	}
	free(s->list);
	*s = (struct call_sites){ 0 };
}

/* ---- the replacements ---- */

/* The call that replaces a launch; NULL: the reason is in *FAULT. The caller frees. */
static char *
launch_call(const struct call_site *x, const json_t *called, char **fault)
{
	const json_t *names = json_object_get(adoption.unit, "names");
	json_auto_t *list = json_array();
	char *text = NULL;

	kjson_foreach(p, called, "parameters") {
		const char *part =
		    kjson_bool(p, "launch") ? kjson_maybe(x->parts, kjson_str(p, "of")) : NULL;
		auto_free char *value = part ? kstrdup(part) : argument_of(p, names, x->arguments);

		if (!value && !*fault)
			*fault = kasprintf("%s: a launch of %s does not give its parameter %s",
			    x->file, adoption.kernel, kjson_str(p, "of"));
		json_array_append_new(list, kjson_string(value ?: ""));
	}
	if (!*fault)
		text = call_text(x->path, list, x->column);
	return text;
}

bool
call_edit(const struct call_sites *s, const json_t *called, const char *prototype, bool kept,
    struct edits *edits, char **fault)
{
	kforeach_list(x, s) {
		char *text = x->kind == CALL_LAUNCH
		    ? launch_call(x, called, fault)
		    : kasprintf("%s%s;", kept ? "\n" : "", prototype);

		if (text && kbegins(x->file, "../") && !*fault)
			*fault = kasprintf("%s is outside the project; "
			                   "adopt from the folder that contains both",
			    x->file);
		if (text)
			edits_add(edits, x->file,
			    x->kind == CALL_PROTOTYPE && kept ? x->to : x->from, x->to, text);
	}
	return !*fault;
}
