/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktemplate: every form of tag, blank lines, look-up, partials, and a message with file and line
 * for every fault.
 */
#include "ktemplate.h"

#include <stdlib.h>

#include "tap.h"

/* The partials of these tests. */
static const char *const parts[][2] = {
	{ "part", "<{{name}}>\n" },
	{ "empty", "{{#no}}\nnothing\n{{/no}}\n" },
	{ "dir/c", "for c\n" },
	{ "loop", "{{>loop}}" },
	{ "bad", "one\n{{oops}}\n" },
	{ "dir/inner", "{{>part}}\n" },
};

static const char *
load(void *arg, const char *name, const char **file)
{
	(void)arg;
	for (size_t i = 0; i < LEN(parts); i++)
		if (!strcmp(parts[i][0], name)) {
			*file = parts[i][0];
			return parts[i][1];
		}
	return NULL;
}

static json_t *
context(void)
{
	return json_loads("{\"name\":\"kiln\",\"n\":7,\"r\":0.5,\"yes\":true,\"no\":false,\"none\":"
	                  "\"\",\"zero\":0,"
	                  "\"empty\":[],\"list\":[\"a\",\"b\"],\"rows\":[{\"x\":1,\"name\":\"one\"}"
	                  ",{\"x\":2}],"
	                  "\"o\":{\"p\":{\"q\":\"deep\"},\"x\":9},"
	                  "\"tag\":\"{{name}}\",\"lang\":\"c\",\"evil\":\"../"
	                  "x\",\"lines\":\"1\\n\\n\\n2\"}",
	    0, NULL);
}

/* A test is named after its template. */
static const char *
one_line(const char *text, char *name, size_t size)
{
	snprintf(name, size, "%.60s", text);
	for (char *p = name; *p; p++)
		if (*p == '\n' || *p == '#')
			*p = '|';
	return name;
}

static void
gives(const char *text, const char *want)
{
	struct ktemplate t = { .load = load };
	struct kbuf b = { 0 };
	char name[80];
	json_t *c = context();
	const char *why = ktemplate_render(&t, &b, text, "t", c);

	tap_str(why ?: b.data, want, one_line(text, name, sizeof name), __FILE__, __LINE__);
	kbuf_free(&b);
	json_decref(c);
}

static void
fails(const char *text, const char *want)
{
	struct ktemplate t = { .load = load };
	struct kbuf b = { 0 };
	char name[80];
	json_t *c = context();
	const char *why = ktemplate_render(&t, &b, text, "t", c);

	tap_str(why ?: "", want, one_line(text, name, sizeof name), __FILE__, __LINE__);
	kbuf_free(&b);
	json_decref(c);
}

static void
test_values(void)
{
	gives("plain", "plain");
	gives("", "");
	gives("{{name}} {{ n }} {{r}} {{o.p.q}}", "kiln 7 0.5 deep");
	gives("{{none}}|", "|");
	gives("{{tag}}", "{{name}}");
	gives("a{{! a comment }}b", "ab");
	fails("\n\n{{nmae}}", "t:3: unknown name nmae");
	fails("{{o.p.z}}", "t:1: unknown name o.p.z");
	fails("{{yes}}", "t:1: not a string or number: yes");
	fails("{{list}}", "t:1: not a string or number: list");
	fails("{{name", "t:1: '{{' without '}}'");
	fails("{{ }}", "t:1: a tag needs a short name");
	fails("{{"
	      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	      "aaaaaaaaaaaaaaa}}",
	    "t:1: a tag needs a short name");
}

static void
test_sections(void)
{
	gives("{{#yes}}y{{/yes}}{{#no}}n{{/no}}{{#absent}}a{{/absent}}{{#none}}e{{/"
	      "none}}{{#zero}}0{{/zero}}",
	    "y");
	gives(
	    "{{^yes}}y{{/yes}}{{^no}}n{{/no}}{{^absent}}a{{/absent}}{{^empty}}e{{/empty}}", "nae");
	gives("{{#n}}{{name}}{{/n}}{{#name}}!{{/name}}", "kiln!");
	gives("{{#list}}[{{.}}]{{/list}}", "[a][b]");
	gives("{{#rows}}{{x}}={{name}} {{/rows}}", "1=one 2=kiln ");
	gives("{{#o}}{{x}}{{p.q}}{{/o}}", "9deep");
	gives("{{#o.p}}{{q}}{{/o.p}}", "deep");
	gives("{{#no}}{{unknown}}{{>missing}}{{#deeper}}x{{/deeper}}{{/no}}.", ".");
	gives("{{#rows}}{{#list}}{{x}}{{.}}{{/list}}{{/rows}}", "1a1b2a2b");
	fails("a{{/name}}", "t:1: closes no open section: name");
	fails("{{#yes}}a{{/no}}", "t:1: closes no open section: no");
	fails("{{#yes}}a\n", "t:1: section is not closed: yes");
	fails("{{#no}}a", "t:1: section is not closed: no");
}

static void
test_lines(void)
{
	gives("a\n{{#yes}}\nb\n{{/yes}}\nc\n", "a\nb\nc\n");
	gives("a\n  {{! alone }}  \nc\n", "a\nc\n");
	gives("a {{#yes}}\nb{{/yes}}\n", "a \nb\n");
	gives("\n\na\n\n\n\nb\n\n\n", "a\n\nb\n\n");
	gives("a\n\n{{#no}}\nx\n{{/no}}\n\nb", "a\n\nb");
	gives("[{{lines}}]", "[1\n\n\n2]");
}

static void
test_partials(void)
{
	gives("a\n{{>part}}\nb", "a\n<kiln>\nb");
	gives("{{#rows}}\n{{>part}}\n{{/rows}}\n", "<one>\n<kiln>\n");
	gives("{{>dir/@lang}}", "for c\n");
	gives("{{>dir/inner}}", "<kiln>\n");
	fails("x\n{{>missing}}", "t:2: template not found: missing");
	fails("{{>dir/@evil}}", "t:1: no plain word exists for @evil");
	fails("{{>dir/@none}}", "t:1: no plain word exists for @none");
	fails("{{>dir/@absent}}", "t:1: no plain word exists for @absent");
	fails("{{>bad}}", "bad:2: unknown name oops");
	fails("{{>loop}}", "loop:1: templates nested too deep");
}

/* Doubles, and a dash for what there is not. */
static bool
show(struct kbuf *out, const char *how, const json_t *value)
{
	if (strcmp(how, "twice"))
		return false;
	kbuf_printf(out, "%g", value ? 2 * json_number_value(value) : -1);
	return true;
}

static void
test_show(void)
{
	struct ktemplate t = { .show = show };
	json_t *c = json_pack("{s:i,s:s}", "n", 21, "a:b", "c");
	struct kbuf b = { 0 };

	CHECK(!ktemplate_render(&t, &b, "{{twice:n}} {{twice:no}} {{n}}", "t", c));
	CHECK_STR(b.data, "42 -1 21");
	CHECK_STR(ktemplate_render(&t, &b, "{{thrice:n}}", "t", c),
	    "t:1: cannot be written in this format: thrice:n");
	t.show = NULL;
	b.len = 0;
	CHECK(!ktemplate_render(&t, &b, "{{a:b}}", "t", c));
	CHECK_STR(b.data, "c");
	kbuf_free(&b);
	json_decref(c);
}

static void
test_section_list(void)
{
	json_t *c = context();
	struct ktemplate t = { .load = load, .sections = json_array() };
	struct kbuf b = { 0 };
	char *list;

	ktemplate_render(
	    &t, &b, "{{>part}}{{>empty}}{{>dir/@lang}}{{>dir/inner}}{{>part}}", "t", c);
	list = json_dumps(t.sections, JSON_COMPACT);
	CHECK_STR(list, "[\"part\",\"dir\",\"part\",\"dir\",\"part\"]");
	free(list);
	json_decref(t.sections);
	json_decref(c);
	kbuf_free(&b);
}

static void
test_lists(void)
{
	gives("{{#list}}{{.}}{{#more}}, {{/more}}{{/list}}", "a, b");
	gives("{{#rows}}{{x}}{{#more}} {{/more}}{{/rows}}", "1 2");
	gives("{{#has_list}}of {{name}}: {{#list}}{{.}}{{/list}}{{/has_list}}", "of kiln: ab");
	gives("{{#has_empty}}no{{/has_empty}}{{^has_empty}}none{{/has_empty}}", "none");
	gives("{{^has_nothing}}none{{/has_nothing}}", "none");
}

static void
test_depth(void)
{
	struct kbuf text = { 0 };

	for (int i = 0; i < 70; i++)
		kbuf_puts(&text, "{{#yes}}");
	fails(text.data, "t:1: templates nested too deep");
	text.len = 0;
	for (int i = 0; i < 70; i++)
		kbuf_puts(&text, "{{^no}}");
	fails(text.data, "t:1: templates nested too deep");
	kbuf_free(&text);
}

int
main(void)
{
	test_values();
	test_sections();
	test_lines();
	test_partials();
	test_show();
	test_section_list();
	test_lists();
	test_depth();
	return tap_done();
}
