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
call_text(const char *path, const json_t *arguments, const char *indent)
{
	struct kbuf b = { 0 };
	size_t at, margin = 0;

	for (const char *c = indent; *c; c++)
		margin += *c == '\t' ? TAB : 1;
	kbuf_printf(&b, "%s%s(", path, adoption.entry);
	at = margin + b.len;
	kjson_foreach_text(x, arguments) {
		bool first = !kjson_at(x), wraps = !first && at + strlen(x) + 3 > WIDTH;

		if (wraps) {
			kbuf_printf(&b, ",\n%s    ", indent);
			at = margin + 4;
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
	return kregex_is("\\A(?:[\\w.]|->)*\\z", x);
}

/*
 * VALUE of the parameter P, with the arguments of a launch substituted for the words in NAMES.
 * NULL: there is none.
 */
static char *
argument_of(const json_t *p, const json_t *names, const json_t *arguments)
{
	const char *value = kjson_str(p, "of"), *type = kjson_str(p, "type"), *given = NULL;
	bool cast = kjson_bool(p, "cast"), pointer = kjson_bool(p, "pointer"), bare;
	auto_free char *as = !cast
	    ? kstrdup("")
	    : kasprintf("(%s%s%s)", pointer && kjson_bool(p, "constant") ? "const " : "", type,
	          pointer ? " *" : ""),
	               *name = NULL;
	struct kregex_span at[2];

	/* The address of a variable. */
	if (kbegins(value, "({"))
		return kasprintf("(const %s *)%s", type, value);
	/* In the function itself, the value stays as it is. */
	if (!arguments)
		return kasprintf("%s%s", as, value);
	kregex_match("\\A[&*(]*(\\w*)", value, at);
	name = kregex_text(value, at[1]);
	kjson_foreach_text(own, names)
		if (!strcmp(own, name))
			given = kjson_item(arguments, kjson_at(own));
	if (!given)
		return NULL;
	bare = is_simple(given) || (!cast && !strcmp(value, name));
	return kasprintf("%s%.*s%s%s%s%s", as, (int)at[1].from, value, bare ? "" : "(", given,
	    bare ? "" : ")", value + at[1].to);
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
	const json_t *names = json_object_get(adoption.unit, "names"),
	             *back = NULL; /* the parameter for what is returned */
	json_auto_t *list = json_array();
	auto_free char *result = result_name(names), *call = NULL;
	struct kbuf b = { 0 };

	kjson_foreach(p, called, "parameters") {
		auto_free char *text = kjson_bool(p, "result") ? kasprintf("&%s", result)
		    : kjson_bool(p, "launch")                  ? kstrdup(kjson_str(p, "of"))
		                                               : argument_of(p, names, NULL);

		back = kjson_bool(p, "result") ? p : back;
		kjson_add(list, text);
	}
	if (kjson_bool(back, "bytes")) {
		*fault = kasprintf("%s does its work outside of %s, which returns a structure",
		    adoption.entry, adoption.kernel);
		return NULL;
	}
	call = call_text("", list, "\t");
	kbuf_puts(&b, "{\n");
	if (back)
		kbuf_printf(&b, "\t%s %s;\n\n", kjson_str(back, "type"), result);
	kbuf_printf(&b, "\t%s;\n", call);
	if (kjson_bool(adoption.unit, "waits"))
		kbuf_puts(&b, "\tcudaDeviceSynchronize();\n");
	if (back)
		kbuf_printf(&b, "\treturn %s;\n", result);
	kbuf_puts(&b, "}");
	return b.data;
}

/* ---- places that refer to the kernel ---- */

/* The file that is searched. */
static struct finding {
	const char *file;
	struct kscan s;
	bool hidden; /* the file does not include the kernel's file */
	const json_t *called;
	struct call_sites *sites;
} finding;

/* Is NAME declared as a dim3 before AT: "dim3 a(1), NAME(2)", "auto NAME = dim3(1)"? */
static bool
is_dim3(const char *name, size_t at)
{
	static const char before[] = "\\bdim3\\b(?:[^;(){}]|(\\((?:[^()]|(?1))*\\)|\\{[^{}]*\\}))*"
	                             "\\z",
	                  after[] = "\\A=\\s*dim3\\b";
	const struct kscan *s = &finding.s;

	return kany(kscan_each(p, s, 0, at, name),
	    kscan_matches(s, 0, p, before) || kscan_matches(s, kscan_next(s, p, at), at, after));
}

/* The number I of the three of a grid or block X, as an expression at AT. */
static char *
component(const char *x, size_t i, size_t at)
{
	auto_free char *inside = kregex_part("\\Adim3\\s*[({]((?s).*).\\z", x);
	json_auto_t *list = inside ? kscan_list(inside, false) : NULL;
	bool plain = is_simple(x);

	return list                                ? kstrdup(kjson_item(list, i) ?: "1")
	    : plain && is_dim3(x, at)              ? kasprintf("%s.%c", x, "xyz"[i])
	    : !i                                   ? kstrdup(x)
	    : plain && !kregex_is("\\A\\d*\\z", x) ? kasprintf("dim3(%s).%c", x, "xyz"[i])
	                                           : kstrdup("1");
}

/* "grid_x" … "block_z", "shared_bytes" or "stream" of a launch at AT with this CONFIG. */
static char *
launch_part(const json_t *config, const char *what, size_t at)
{
	size_t i = *what == 'g' ? 0 : *what == 'b' ? 1 : strcmp(what, "stream") ? 2 : 3;
	const char *text = kjson_item(config, i) ?: "0";

	return i < 2 ? component(text, (size_t)(what[strlen(what) - 1] - 'x'), at) : kstrdup(text);
}

/* The call that replaces the launch L; without the argument for a parameter, that is a fault. */
static char *
launch_call(const struct kscan_launch *l)
{
	const struct kscan *s = &finding.s;
	const json_t *names = json_object_get(adoption.unit, "names");
	size_t open = kscan_blank(s, l->config_to + 3, l->to), line = l->at;
	json_auto_t *config = kscan_parts(s, l->config + 3, l->config_to, false),
	            *arguments = kscan_parts(s, open + 1, l->to - 1, false), *list = json_array();
	auto_free char *path = kstrndup(l->kernel, (size_t)(kscan_plain(l->kernel) - l->kernel)),
	               *indent = NULL;

	kjson_foreach(p, finding.called, "parameters") {
		const char *of = kjson_str(p, "of");
		auto_free char *value = kjson_bool(p, "launch") ? launch_part(config, of, l->at)
		                                                : argument_of(p, names, arguments);

		if (!value && !finding.sites->fault)
			finding.sites->fault = kasprintf("%s: a launch of %s does not give its "
			                                 "parameter %s",
			    finding.file, adoption.kernel, of);
		json_array_append_new(list, kjson_string(value ?: ""));
	}
	while (line && s->text[line - 1] != '\n')
		line--;
	indent = kstrndup(s->text + line, strspn(s->text + line, " \t"));
	return call_text(path, list, indent);
}

bool
call_is_other(const char *file, const struct kscan_launch *l)
{
	return kany(kjson_foreach(x, adoption.unit, "launches"),
	    kjson_bool(x, "other") && kjson_is(x, "file", file) &&
	        kjson_is(x, "templates", l->arguments) && kjson_is(x, "arguments", l->call));
}

static void
add_site(size_t from, size_t to, char *text)
{
	edits_add(&finding.sites->edits, finding.file, from, to, text);
}

/* Handles a place AT that names the kernel. */
static void
see_name(size_t at)
{
	const struct kscan_item *x = kscan_at(&finding.s, at);
	struct call_sites *sites = finding.sites;

	kforeach_of(l, finding.s.launches, finding.s.launch_count)
		if (l->at <= at && at < l->to) {
			bool other = at < l->config && call_is_other(finding.file, l);

			sites->others |= other;
			if (finding.called && at < l->config && !other) {
				add_site(l->at, l->to, launch_call(l));
				sites->external |= finding.hidden;
			}
			return;
		}
	if (!x || !(x->kind == KSCAN_INCLUDE || kscan_declares(x, adoption.kernel)))
		sites->others = true;
	else if (x->kind == KSCAN_DECLARATION) {
		add_site(x->from, x->to, NULL);
		sites->external |= strcmp(finding.file, adoption.file) != 0;
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
call_find(const char *folder, const json_t *called, struct call_sites *s)
{
	json_auto_t *files = unit_files(folder);

	*s = (struct call_sites){ 0 };
	kjson_foreach_text(name, files) {
		auto_free char *text = text_in(folder, name);

		if (!text || !strstr(text, adoption.kernel))
			continue;
		finding = (struct finding){ .file = name,
			.hidden = !includes_kernel(folder, name),
			.called = called,
			.sites = s };
		kscan_through(text, &finding.s);
		kscan_each(at, &finding.s, 0, finding.s.len, adoption.kernel)
			see_name(at);
		kscan_free(&finding.s);
	}
}
