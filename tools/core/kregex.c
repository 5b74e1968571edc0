/* SPDX-License-Identifier: Apache-2.0 */
/* kregex: see kregex.h. */
#include "kregex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
	STEPS_MAX = 2000000, /* backtracking steps in one search */
	JIT_STACK_MAX = 1 << 20,
	/* bytes searched; machine code pays off after a few kilobytes */
	JIT_AFTER = 6 << 10,
	GROUPS_MAX = 128,
	KEPT = 1024,  /* patterns of the program */
	GROWTH = 4096 /* initial room for replacements */
};

struct kregex {
	pcre2_code *code;
	size_t searched; /* bytes */
	bool compiled;   /* compiled to machine code, or that was tried */
};

static pcre2_code *
compile(const char *full, int flags, int *error, size_t *at)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	uint32_t options = PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C;
	pcre2_code *code;

	options |= flags & KREGEX_NOCASE ? PCRE2_CASELESS : 0;
	options |= flags & KREGEX_LINES ? PCRE2_MULTILINE : 0;
	options |= flags & KREGEX_DOTALL ? PCRE2_DOTALL : 0;
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	code = pcre2_compile((PCRE2_SPTR)full, PCRE2_ZERO_TERMINATED, options, error, at, context);
	pcre2_compile_context_free(context);
	return code;
}

struct kregex *
kregex_new(const char *where, const char *defined, const char *pattern, int flags)
{
	struct kregex made = { .searched = flags & KREGEX_SLOW ? JIT_AFTER : 0 }, *re;
	size_t before = defined ? strlen(defined) : 0, at;
	PCRE2_UCHAR why[128];
	int error;

	made.code = compile(kshown("%s%s", defined ?: "", pattern), flags, &error, &at);
	if (!made.code) {
		pcre2_get_error_message(error, why, sizeof why);
		kdie_usage("%s, offset %zu: %s: %s", where, at < before ? 0 : at - before,
		    (const char *)why, pattern);
	}
	re = kmalloc(sizeof *re);
	*re = made;
	return re;
}

void
kregex_free(struct kregex *re)
{
	if (!re)
		return;
	pcre2_code_free(re->code);
	free(re);
}

/* One for all searches, kept to the end: PCRE2 keeps its working memory in it. */
static pcre2_match_data *
match_data(void)
{
	static pcre2_match_data *match;

	if (!match)
		match = pcre2_match_data_create(GROUPS_MAX, NULL);
	return match;
}

static pcre2_match_context *
limits(void)
{
	static pcre2_match_context *context;

	if (context)
		return context;
	context = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(context, STEPS_MAX);
	pcre2_jit_stack_assign(
	    context, NULL, pcre2_jit_stack_create(32 << 10, JIT_STACK_MAX, NULL));
	return context;
}

/* If machine code is not available, the interpreter is used. */
static void
speed_up(struct kregex *re, size_t len)
{
	re->searched += len;
	if (re->compiled || re->searched < JIT_AFTER)
		return;
	re->compiled = true;
	if (!getenv("KILN_NO_JIT"))
		pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE);
}

enum kregex_found
kregex_search(struct kregex *re, const char *text, size_t len, size_t from, struct kregex_span *at)
{
	const PCRE2_SIZE *v = pcre2_get_ovector_pointer(match_data());
	int rc;

	speed_up(re, len);
	rc = pcre2_match(re->code, (PCRE2_SPTR)text, len, from, 0, match_data(), limits());
	switch (rc) {
	case PCRE2_ERROR_NOMATCH:
		return KREGEX_NONE;
	case PCRE2_ERROR_MATCHLIMIT:
	case PCRE2_ERROR_DEPTHLIMIT:
	case PCRE2_ERROR_HEAPLIMIT:
	case PCRE2_ERROR_JIT_STACKLIMIT:
		return KREGEX_LOST;
	default:
		break;
	}
	if (rc < 0)
		kdie(K_IO, "a search failed with PCRE2 error %d", rc);
	if (at)
		*at = (struct kregex_span){ v[0], v[1] };
	return KREGEX_FOUND;
}

bool
kregex_group(const struct kregex *re, const char *name, struct kregex_span *at)
{
	const PCRE2_SIZE *v = pcre2_get_ovector_pointer(match_data());
	PCRE2_SPTR first, last;
	int size = pcre2_substring_nametable_scan(re->code, (PCRE2_SPTR)name, &first, &last);

	for (PCRE2_SPTR p = first; size > 0 && p <= last; p += size) {
		unsigned group = (unsigned)(p[0] << 8 | p[1]);

		if (group < pcre2_get_ovector_count(match_data()) && v[2 * group] != PCRE2_UNSET) {
			*at = (struct kregex_span){ v[2 * group], v[2 * group + 1] };
			return true;
		}
	}
	return false;
}

char *
kregex_replace(struct kregex *re, const char *text, const char *with)
{
	const uint32_t options = PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_OVERFLOW_LENGTH |
	    PCRE2_SUBSTITUTE_UNSET_EMPTY;
	PCRE2_SIZE room = strlen(text) + GROWTH, len = room;
	char *out = kmalloc(room);
	int n;

	speed_up(re, room);
	while ((n = pcre2_substitute(re->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, options,
	            NULL, limits(), (PCRE2_SPTR)with, PCRE2_ZERO_TERMINATED, (PCRE2_UCHAR *)out,
	            &len)) == PCRE2_ERROR_NOMEMORY &&
	    len > room)
		out = krealloc(out, room = len);
	if (n > 0)
		return out;
	free(out);
	return NULL;
}

static struct kregex *
literal(const char *pattern)
{
	/* The last one used is first. One made at run time may be where another one was before. */
	static struct known {
		const char *at;
		char *pattern;
		struct kregex *re;
	} list[KEPT];
	struct known x;
	size_t i = 0;

	while (i < LEN(list) - 1 && list[i].at && list[i].at != pattern)
		i++;
	x = list[i];
	if (x.at != pattern || strcmp(x.pattern, pattern)) {
		kregex_free(x.re);
		free(x.pattern);
		x = (struct known){ pattern, kstrdup(pattern),
			kregex_new("a pattern of the program", NULL, pattern, 0) };
	}
	memmove(list + 1, list, i * sizeof *list);
	list[0] = x;
	return x.re;
}

bool
kregex_find(const char *pattern, const char *text, size_t len, struct kregex_span *at, size_t count)
{
	const PCRE2_SIZE *v = pcre2_get_ovector_pointer(match_data());

	if (kregex_search(literal(pattern), text, len, 0, NULL) != KREGEX_FOUND)
		return false;
	for (size_t i = 0; i < count; i++)
		at[i] = (struct kregex_span){ v[2 * i], v[2 * i + 1] };
	return true;
}

bool
kregex_is(const char *pattern, const char *text)
{
	return kregex_find(pattern, text, strlen(text), NULL, 0);
}

bool
kregex_texts(const char *pattern, const char *text, char **const *groups)
{
	struct kregex_span at[GROUPS_MAX];
	size_t n = 1;

	while (groups[n - 1])
		n++;
	if (!kregex_find(pattern, text, strlen(text), at, n))
		return false;
	while (--n > 0)
		*groups[n - 1] = kregex_text(text, at[n]);
	return true;
}

char *
kregex_part(const char *pattern, const char *text)
{
	char *part = NULL;

	if (text)
		kregex_scan(pattern, text, &part);
	return part;
}

char *
kregex_sub(const char *pattern, const char *text, const char *with)
{
	return kregex_replace(literal(pattern), text, with) ?: kstrdup(text);
}

char *
kregex_text(const char *text, struct kregex_span at)
{
	return at.from == KREGEX_UNSET ? NULL : kstrndup(text + at.from, at.to - at.from);
}
