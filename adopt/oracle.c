/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is right: the reference with every float replaced by double; if replacing words is not
 * enough, the reference itself in a wrapper, which then includes the rounding of the reference. See
 * adopt.h.
 */

#include "adopt.h"
#include "kscan.h"
#include "ktoken.h"
#include "numbers.h"

/* Copies TEXT with words replaced. Lines with an include are copied unchanged. */
char *
oracle_swap(const char *text, char **why)
{
	auto_free char *code = ktoken_strip(text, strlen(text), KTOKEN_C);
	const struct kscan s = kscan_code(code);
	auto_buf struct kbuf faults = { 0 };
	const json_t *words = rules_words("double");
	struct kbuf out = kbuf_empty();
	size_t done = 0;

	if (rules_scan("no_double", adoption.language, text, "\\w+", NULL, &faults)) {
		*why = kuntil(faults.data, "\n");
		kbuf_free(&out);
		return NULL;
	}
	kscan_words(p, end, &s, 0, s.len) {
		auto_free char *word = kscan_copy(&s, p, end);
		const char *wide = kjson_maybe(words, word);

		if (!wide || bundle_in_include(&s, p))
			continue;
		kbuf_slice(&out, text, done, p);
		kbuf_puts(&out, wide);
		done = end;
	}
	kbuf_puts(&out, text + done);
	return out.data;
}

/* ---- the wrapper ---- */

/* If the function NAME is in namespaces: "using namespace a;" for each. */
static void
add_using(struct kbuf *b, const char *text, const char *name)
{
	auto_scan struct kscan s;
	const struct kscan_item *f;

	kscan(text, &s);
	f = kscan_function(&s, name);
	for (size_t depth = 0; f && depth < f->depth; depth++) {
		auto_free char *path = kregex_part("\\A(?:inline\\s+)?namespace\\s*([^\\s{]+)",
		    s.code + bundle_around(f, depth)->from);

		if (path)
			kbuf_printf(b, "using namespace %s;\n", path);
	}
}

char *
oracle_wrap(const char *text, const json_t *task)
{
	const char *entry = kjson_str_or(task, "entry.name", "kernel");
	bool cxx = adoption.device || adoption.cxx;
	json_auto_t *input = json_pack("{s:O,s:o,s:b,s:b}", "task", task, "types", number_types(),
	                "device", adoption.device, "cxx", cxx),
	            *wrapper = kjq("views/oracle.jq", input);
	struct kbuf b = { 0 };

	kbuf_printf(&b,
	    "/* The reference, called through a function that takes doubles: the expected results "
	    "have its rounding. */\n"
	    "#include <stdbool.h>\n"
	    "#include <stdlib.h>\n"
	    "#define %s kiln_reference\n"
	    "%s\n"
	    "#undef %s\n"
	    "\n",
	    entry, text, entry);
	if (cxx)
		add_using(&b, text, entry);
	kbuf_puts(&b, kjson_item(wrapper, 0));
	return b.data;
}
