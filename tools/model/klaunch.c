/* SPDX-License-Identifier: Apache-2.0 */
/* klaunch: see klaunch.h. */
#include "klaunch.h"

#include <sys/resource.h>

#include "kregex.h"

enum { GRID_MAX = 0x7fffffff, GRID_YZ_MAX = 65535, BLOCK_MAX = 4096, SHARED_MAX = 1 << 20 };

static const char hint[] = "// kiln: launch kernel=NAME grid=EXPR[,EXPR[,EXPR]] "
                           "block=EXPR[,EXPR[,EXPR]] [shared=EXPR]";

/* What is asked, and where the reason goes if the answer is no; one question at a time. */
static struct {
	char *why;
	size_t why_len;
	const struct ktask *t;
	const struct ktask_workload *w;
} asked;

#define fault(line, fmt, ...) \
	(snprintf(asked.why, asked.why_len, "line %d: " fmt, line, ##__VA_ARGS__), false)

/* A group in parentheses, unless they are never closed. */
#define GROUP "(\\((?:[^()]++|(?-1))*+\\))|[()]"

/* One to COUNT expressions, separated by commas outside parentheses. */
static bool
split(const char *value, char (*to)[KLAUNCH_EXPRESSION], size_t count)
{
	struct kregex_span at[2];

	kforeach_of(one, to, count) {
		if (!kregex_match("\\A((?:[^(),]++|" GROUP ")+)(?:,(?!\\z)|\\z)", value, at) ||
		    at[1].to >= KLAUNCH_EXPRESSION)
			return false;
		snprintf(*one, KLAUNCH_EXPRESSION, "%.*s", (int)at[1].to, value);
		value += at[0].to;
		if (!*value)
			return true;
	}
	return false;
}

static bool
set_name(struct klaunch *l, const char *value)
{
	snprintf(l->kernel, sizeof l->kernel, "%s", value);
	return kregex_is("\\A[A-Za-z_]\\w{0,62}\\z", value);
}

/* A word KEY=VALUE. */
static bool
set_field(struct klaunch *l, const char *word)
{
	static const char *const keys[] = { "kernel", "grid", "block", "shared" };
	static const char *const forms[] = { "the name of a kernel", "one to three expressions",
		"one to three expressions", "one expression" };
	char *const seen[] = { l->kernel, l->grid[0], l->block[0], l->shared };
	const char *value = strchrnul(word, '=');
	auto_free char *key = kstrndup(word, (size_t)(value - word));
	size_t i = *value ? kindex_of(key, keys, LEN(keys)) : LEN(keys);

	if (i == LEN(keys))
		return fault(l->line, "'%s' must be one of kernel=, grid=, block=, shared=", word);
	if (*seen[i])
		return fault(l->line, "%s occurs twice", keys[i]);
	value++;
	return (i == 0 ? set_name(l, value)
	               : split(value,
	                     i == 1       ? l->grid
	                         : i == 2 ? l->block
	                                  : &l->shared,
	                     i == 3 ? 1 : 3)) ||
	    fault(l->line, "%s='%s' is not %s", keys[i], value, forms[i]);
}

/* Reads the words after "launch". */
static bool
read_line(struct klaunch *l, const char *p, size_t len)
{
	struct kregex_span at[2];

	for (; kregex_find("((?:[^\\s()]++|" GROUP ")+)", p, len, at, LEN(at));
	     p += at->to, len -= at->to) {
		auto_free char *word = kregex_text(p, at[1]);

		if (!set_field(l, word))
			return false;
	}
	if (!*l->kernel || !*l->grid[0] || !*l->block[0])
		return fault(l->line, "%s is missing: %s",
		    !*l->kernel        ? "kernel="
		        : !*l->grid[0] ? "grid="
		                       : "block=",
		    hint);
	return true;
}

bool
klaunch_parse(const char *source, struct klaunch_list *list, char *why, size_t why_len)
{
	static const char launch[] = "(?m)^[ \\t]*//[ \\t]*kiln:[ \\t]*launch(?!\\S)(.*)$";
	struct kregex_span at[2];

	asked.why = why;
	asked.why_len = why_len;
	*list = (struct klaunch_list){ .count = 0 };
	/* Some compilers skip it. */
	source += kbom(source, strlen(source));
	for (const char *p = source; kregex_match(launch, p, at); p += at->to) {
		struct klaunch *l = &list->at[list->count];
		int line = (int)kline_at(source, (size_t)(p - source) + at->from);

		if (list->count == KLAUNCH_MAX)
			return fault(line, "more than %d launches", KLAUNCH_MAX);
		l->line = line;
		list->count++;
		if (!read_line(l, p + at[1].from, at[1].to - at[1].from))
			return false;
	}
	if (!list->count)
		snprintf(why, why_len, "no line says how to launch it: %s", hint);
	return list->count > 0;
}

static bool
value_of(
    const struct klaunch *l, const char *what, const char *expression, int64_t max, uint32_t *to)
{
	char reason[256];
	int64_t v = 0;

	if (!ktask_eval(asked.t, asked.w, expression, &v, reason, sizeof reason))
		return fault(l->line, "%s=%s: %s", what, expression, reason);
	if (v < (strcmp(what, "shared") ? 1 : 0) || v > max)
		return fault(l->line, "%s=%s is %lld for workload %s: it must be %d to %lld", what,
		    expression, (long long)v, asked.w->name, strcmp(what, "shared") ? 1 : 0,
		    (long long)max);
	*to = (uint32_t)v;
	return true;
}

bool
klaunch_eval(const struct klaunch *l, const struct ktask *t, const struct ktask_workload *w,
    struct klaunch_size *size, char *why, size_t why_len)
{
	uint64_t threads = 1;

	asked.why = why;
	asked.why_len = why_len;
	asked.t = t;
	asked.w = w;
	*size = (struct klaunch_size){ { 1, 1, 1 }, { 1, 1, 1 }, 0 };
	for (size_t i = 0; i < 3; i++) {
		if (*l->grid[i] &&
		    !value_of(l, "grid", l->grid[i], i ? GRID_YZ_MAX : GRID_MAX, &size->grid[i]))
			return false;
		if (*l->block[i] && !value_of(l, "block", l->block[i], BLOCK_MAX, &size->block[i]))
			return false;
		threads *= size->block[i];
	}
	if (threads > BLOCK_MAX)
		return fault(l->line, "a block of %llu for workload %s: it must be at most %d",
		    (unsigned long long)threads, w->name, BLOCK_MAX);
	return !*l->shared || value_of(l, "shared", l->shared, SHARED_MAX, &size->shared);
}

bool
klaunch_check(const struct klaunch_list *list, const struct ktask *t, char *why, size_t why_len)
{
	struct klaunch_size size;

	kforeach_of(one, list->at, list->count)
		kforeach_of(workload, t->workloads, t->workload_count)
			if (!klaunch_eval(one, t, workload, &size, why, why_len))
				return false;
	return true;
}

static const char magic[] = "kiln device code 1 ";

char *
klaunch_pack(const char *source, size_t source_len, const void *code, size_t code_len, size_t *len)
{
	struct kbuf b = { 0 };

	kbuf_printf(&b, "%s%zu %zu\n", magic, source_len, code_len);
	kbuf_add(&b, source, source_len);
	kbuf_add(&b, code, code_len);
	*len = b.len;
	return b.data;
}

bool
klaunch_unpack(const char *data, size_t len, const char **source, size_t *source_len,
    const char **code, size_t *code_len)
{
	const char *newline = memchr(data, '\n', len < 80 ? len : 80);
	char head[80] = "";
	size_t left;

	if (!newline || !kbegins(data, magic))
		return false;
	memcpy(head, data, (size_t)(newline - data));
	if (sscanf(head + strlen(magic), "%zu %zu", source_len, code_len) != 2)
		return false;
	left = len - (size_t)(newline + 1 - data);
	if (*source_len > left || *code_len != left - *source_len)
		return false;
	*source = newline + 1;
	*code = *source + *source_len;
	return true;
}

void
klaunch_limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__ /* its shadow memory alone takes terabytes of address space */
	const char *mb = getenv("KILN_MEMORY_MB");
	rlim_t bytes =
	    mb ? (rlim_t)knum_long(mb, 1, 1L << 30, "KILN_MEMORY_MB") << 20 : RLIM_INFINITY;

	if (mb && setrlimit(RLIMIT_AS, &(struct rlimit){ bytes, bytes }) < 0)
		kdie_errno(K_MISSING, "setrlimit");
#endif
}
