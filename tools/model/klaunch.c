/* SPDX-License-Identifier: Apache-2.0 */
/* klaunch: see klaunch.h. */
#include "klaunch.h"

#include <ctype.h>
#include <sys/resource.h>

enum { GRID_MAX = 0x7fffffff, GRID_YZ_MAX = 65535, BLOCK_MAX = 4096, SHARED_MAX = 1 << 20 };

static const char hint[] = "// kiln: launch kernel=NAME grid=EXPR[,EXPR[,EXPR]] "
                           "block=EXPR[,EXPR[,EXPR]] [shared=EXPR]";

static bool __attribute__((format(printf, 4, 5)))
fault(char *why, size_t why_len, int line, const char *fmt, ...)
{
	int n = snprintf(why, why_len, "line %d: ", line);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why + n, why_len - (size_t)n, fmt, ap);
	va_end(ap);
	return false;
}

/* One to COUNT expressions, apart by commas outside parentheses. */
static bool
split(const char *value, size_t len, char (*to)[KLAUNCH_EXPRESSION], size_t count)
{
	size_t n = 0, from = 0;
	int depth = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && value[i] == '(')
			depth++;
		else if (i < len && value[i] == ')')
			depth--;
		else if (i == len || (value[i] == ',' && depth == 0)) {
			if (n == count || i == from || i - from >= KLAUNCH_EXPRESSION)
				return false;
			memcpy(to[n], value + from, i - from);
			to[n++][i - from] = '\0';
			from = i + 1;
		}
	}
	return true;
}

static bool
set_name(struct klaunch *l, const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)value[i]) && value[i] != '_')
			return false;
	if (!len || len >= KLAUNCH_NAME || isdigit((unsigned char)*value))
		return false;
	memcpy(l->kernel, value, len);
	l->kernel[len] = '\0';
	return true;
}

/* A word KEY=VALUE of LEN characters. */
static bool
set_field(struct klaunch *l, const char *word, size_t len, char *why, size_t why_len)
{
	static const char *const keys[] = { "kernel=", "grid=", "block=", "shared=" };
	char *const seen[] = { l->kernel, l->grid[0], l->block[0], l->shared };
	bool good;

	for (size_t i = 0; i < LEN(keys); i++) {
		size_t n = strlen(keys[i]);

		if (len < n || strncmp(word, keys[i], n))
			continue;
		if (*seen[i])
			return fault(
			    why, why_len, l->line, "%.*s occurs twice", (int)n - 1, keys[i]);
		word += n;
		len -= n;
		good = i == 0 ? set_name(l, word, len)
		    : i == 1  ? split(word, len, l->grid, 3)
		    : i == 2  ? split(word, len, l->block, 3)
		              : split(word, len, &l->shared, 1);
		return good
		    ? true
		    : fault(why, why_len, l->line, "%s'%.*s' is not %s", keys[i], (int)len, word,
		          i == 0       ? "the name of a kernel"
		              : i == 3 ? "one expression"
		                       : "one to three expressions");
	}
	return fault(why, why_len, l->line,
	    "'%.*s' must be one of kernel=, grid=, block=, shared=", (int)len, word);
}

/*
 * The length of a word: white space inside parentheses belongs to it, unless they are never closed.
 */
static size_t
word_length(const char *p, const char *end)
{
	size_t n = 0, first = 0;
	int depth = 0;

	for (; p + n < end && (depth > 0 || !isspace((unsigned char)p[n])); n++) {
		depth += (p[n] == '(') - (p[n] == ')');
		if (!first && isspace((unsigned char)p[n]))
			first = n;
	}
	return depth > 0 && first ? first : n;
}

/* The words behind "launch". */
static bool
read_line(struct klaunch *l, const char *p, const char *end, char *why, size_t why_len)
{
	while (p < end) {
		size_t n;

		while (p < end && isspace((unsigned char)*p))
			p++;
		n = word_length(p, end);
		if (n && !set_field(l, p, n, why, why_len))
			return false;
		p += n;
	}
	if (!*l->kernel || !*l->grid[0] || !*l->block[0])
		return fault(why, why_len, l->line, "%s is missing: %s",
		    !*l->kernel        ? "kernel="
		        : !*l->grid[0] ? "grid="
		                       : "block=",
		    hint);
	return true;
}

/* Where the words of a launch line begin; NULL when the line is none. */
static const char *
match(const char *p, const char *end)
{
	static const char *const words[] = { "//", "kiln:", "launch" };

	for (size_t i = 0; i < LEN(words); i++) {
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		if ((size_t)(end - p) < strlen(words[i]) || strncmp(p, words[i], strlen(words[i])))
			return NULL;
		p += strlen(words[i]);
	}
	return p == end || isspace((unsigned char)*p) ? p : NULL;
}

bool
klaunch_parse(const char *source, struct klaunch_list *list, char *why, size_t why_len)
{
	int line = 1;

	*list = (struct klaunch_list){ .count = 0 };
	/* Some compilers pass over it. */
	source += kbom(source, strlen(source));
	for (const char *p = source; *p; line++) {
		const char *end = p + strcspn(p, "\n"), *words = match(p, end);

		if (words && list->count == KLAUNCH_MAX)
			return fault(why, why_len, line, "more than %d launches", KLAUNCH_MAX);
		if (words) {
			struct klaunch *l = &list->at[list->count++];

			l->line = line;
			if (!read_line(l, words, end, why, why_len))
				return false;
		}
		p = *end ? end + 1 : end;
	}
	if (!list->count)
		snprintf(why, why_len, "no line says how to launch it: %s", hint);
	return list->count > 0;
}

static bool
value_of(const struct klaunch *l, const char *what, const char *expression, int64_t max,
    const struct ktask *t, const struct ktask_workload *w, uint32_t *to, char *why, size_t why_len)
{
	char reason[256];
	int64_t v = 0;

	if (!ktask_eval(t, w, expression, &v, reason, sizeof reason))
		return fault(why, why_len, l->line, "%s=%s: %s", what, expression, reason);
	if (v < (strcmp(what, "shared") ? 1 : 0) || v > max)
		return fault(why, why_len, l->line,
		    "%s=%s is %lld for workload %s: it must be %d to %lld", what, expression,
		    (long long)v, w->name, strcmp(what, "shared") ? 1 : 0, (long long)max);
	*to = (uint32_t)v;
	return true;
}

bool
klaunch_eval(const struct klaunch *l, const struct ktask *t, const struct ktask_workload *w,
    struct klaunch_size *size, char *why, size_t why_len)
{
	uint64_t threads = 1;

	*size = (struct klaunch_size){ { 1, 1, 1 }, { 1, 1, 1 }, 0 };
	for (size_t i = 0; i < 3; i++) {
		if (*l->grid[i] &&
		    !value_of(l, "grid", l->grid[i], i ? GRID_YZ_MAX : GRID_MAX, t, w,
		        &size->grid[i], why, why_len))
			return false;
		if (*l->block[i] &&
		    !value_of(
		        l, "block", l->block[i], BLOCK_MAX, t, w, &size->block[i], why, why_len))
			return false;
		threads *= size->block[i];
	}
	if (threads > BLOCK_MAX)
		return fault(why, why_len, l->line,
		    "a block of %llu for workload %s: it must be at most %d",
		    (unsigned long long)threads, w->name, BLOCK_MAX);
	return !*l->shared ||
	    value_of(l, "shared", l->shared, SHARED_MAX, t, w, &size->shared, why, why_len);
}

bool
klaunch_check(const struct klaunch_list *list, const struct ktask *t, char *why, size_t why_len)
{
	struct klaunch_size size;

	for (size_t i = 0; i < list->count; i++)
		for (size_t k = 0; k < t->workload_count; k++)
			if (!klaunch_eval(&list->at[i], t, &t->workloads[k], &size, why, why_len))
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

	if (!newline || strncmp(data, magic, strlen(magic)))
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
#ifndef __SANITIZE_ADDRESS__ /* whose shadow memory alone is terabytes of address space */
	const char *mb = getenv("KILN_MEMORY_MB");
	rlim_t bytes =
	    mb ? (rlim_t)knum_long(mb, 1, 1L << 30, "KILN_MEMORY_MB") << 20 : RLIM_INFINITY;

	if (mb && setrlimit(RLIMIT_AS, &(struct rlimit){ bytes, bytes }) < 0)
		kdie_errno(K_MISSING, "setrlimit");
#endif
}
