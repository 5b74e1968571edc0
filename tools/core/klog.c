/* SPDX-License-Identifier: Apache-2.0 */
/* klog: see klog.h. */
#include "klog.h"

#include "kfence.h"
#include "kregex.h"

enum { LINE_MAX_BYTES = 400 };

#define ERROR \
	"(?:[Ee]rror:|ERROR:|undefined reference|multiple definition|ld returned|fatal error|" \
	"nvcc fatal|: undefined symbol|ptxas fatal|cannot find -l)"
/* "file.c: In function 'f':" and "file.c: At top level:" introduce what follows. */
#define CONTEXT "(?:.*: (?:In |At |in function).*:$)"
#define STACK "(?:[ \\t]*In file included from|[ \\t]+from |.*required from|.*in instantiation of)"
#define COMMAND "(?:[^ \n]*/)?(?:gcc|g\\+\\+|cc|c\\+\\+|clang|clang\\+\\+|nvcc|hipcc|icpx)(?= )"
#define PATH "[\\w/.+-]"

/* Applied one after the other. */
static const struct {
	const char *pattern, *with;
} changes[] = {
	/*
	 * Remarks about a file outside the candidate are dropped, with the source lines under them.
	 */
	{ "(?m)^/(?!.*" ERROR ").*(?: warning: | note: ).*\n(?:[ \\t0-9]+\\|.*\n)*", "" },
	/* Of a stack of more than two lines only the first and the last stay. */
	{ "(?m)^(" STACK ".*\n)(?:" STACK ".*\n)+(?=" STACK ")", "$1" },
	/* A command line keeps the compiler, the sources and the output. */
	{ "(?m)(^" COMMAND "|\\G(?!\\A)(?: +-o +[^ \n]+| +[^ \n]+\\.(?:c|cc|cpp|cxx|cu|hip|cl|o|s)"
	  "(?![^ \n])))|\\G(?!\\A) +[^ \n]*",
	    "$1" },
	/* Paths lose all but the last part: they say where this machine keeps its files. */
	{ "(?<!" PATH ")/(?!/)" PATH "*/(?=[\\w.+-])", "" },
	{ "(?m)^(.*\n)\\1+", "$1" },
	{ "(?m)^(?=.{401})(.{1,400})(?![\\x80-\\xbf]).*", "$1..." },
};

char *
klog_clip(const char *text, size_t max)
{
	size_t len = strlen(text), keep = kutf8_prefix(text, len, max);

	if (keep == len)
		return kstrdup(text);
	return kasprintf("%.*s\n[... %zu bytes cut ...]\n", (int)keep, text, len - keep);
}

/* Error lines that are not in the kept part, up to MAX bytes of them. */
static void
append_lost(struct kbuf *out, const char *cut, size_t max)
{
	size_t start = out->len;
	struct kregex_span at;

	for (; kregex_find("(?m)^.*" ERROR ".*\n", cut, strlen(cut), &at, 1); cut += at.to)
		if (out->len - start + at.to - at.from <= max)
			kbuf_slice(out, cut, at.from, at.to);
}

/* Skips the text before the first error, except the context right above it. */
static size_t
first_error(const char *text)
{
	struct kregex_span at = { 0 };

	kregex_find("(?m)^(?:(?:" CONTEXT "|" STACK "|" COMMAND ").*\n)*.*" ERROR, text,
	    strlen(text), &at, 1);
	return at.from;
}

char *
klog_compiler(const char *log, size_t len, size_t max, size_t lost)
{
	auto_free char *text = kfence_log(log, len), *all = NULL;
	char *next;
	struct kbuf out = { 0 };
	size_t keep;

	len = strlen(text);
	all = kasprintf("%s%s", text + first_error(text), len && text[len - 1] != '\n' ? "\n" : "");
	kforeach(change, changes) {
		next = kregex_sub(change->pattern, all, change->with);
		free(all);
		all = next;
	}
	len = strlen(all);
	keep = kutf8_prefix(all, len, max);
	/* Cut between lines rather than within one, when that costs little. */
	if (keep < len) {
		const char *nl = memrchr(all, '\n', keep);

		if (nl && keep - (size_t)(nl - all) < LINE_MAX_BYTES + 8)
			keep = (size_t)(nl - all) + 1;
	}
	kbuf_add(&out, all, keep);
	if (keep < len) {
		kbuf_printf(&out, "[... %zu bytes cut ...]\n", len - keep);
		append_lost(&out, all + keep, lost);
	}
	return out.data;
}
