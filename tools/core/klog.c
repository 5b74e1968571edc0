/* SPDX-License-Identifier: Apache-2.0 */
/* klog: see klog.h. */
#include "klog.h"

#include "kfence.h"
#include "kregex.h"

enum { LOST = 2000 }; /* bytes of error lines that were cut off and are appended again */

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

/* Error lines that are not in the kept part. */
static void
append_lost(struct kbuf *out, const char *cut)
{
	size_t start = out->len;
	struct kregex_span at;

	for (; kregex_find("(?m)^.*" ERROR ".*\n", cut, strlen(cut), &at, 1); cut += at.to)
		if (out->len - start + at.to - at.from <= LOST)
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
klog_compiler(const char *log, size_t len)
{
	auto_free char *text = kfence_log(log, len), *all = NULL;
	const char *rest;
	struct kbuf out = { 0 };

	len = strlen(text);
	all = kasprintf("%s%s", text + first_error(text), len && text[len - 1] != '\n' ? "\n" : "");
	kforeach(change, changes) {
		char *next = kregex_sub(change->pattern, all, change->with);

		free(all);
		all = next;
	}
	len = strlen(all);
	/* Lines are short by now, so that a cut between two of them costs little. */
	rest = len > KLOG_MAX ? memrchr(all, '\n', KLOG_MAX) : all + len;
	rest = rest ? rest + (*rest == '\n') : all;
	kbuf_add(&out, all, (size_t)(rest - all));
	if (*rest) {
		kbuf_printf(&out, "[... %zu bytes cut ...]\n", strlen(rest));
		append_lost(&out, rest);
	}
	return out.data;
}
