/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kregex: the regular expressions of the tables in patterns/, over texts that somebody hostile may
 * have written. PCRE2 syntax, bytes, line feeds end lines. A search that takes too many steps gives
 * up and says so; whether that speaks for or against the text is the caller's to decide. An
 * expression that searches much is compiled to machine code; KILN_NO_JIT in the environment
 * prevents that.
 */
#ifndef KREGEX_H
#define KREGEX_H

#include "kutil.h"

struct kregex;

/* (?i), (?m), (?s); and one that tries so much that machine code pays at once. */
enum { KREGEX_NOCASE = 1, KREGEX_LINES = 2, KREGEX_DOTALL = 4, KREGEX_SLOW = 8 };

enum kregex_found {
	KREGEX_NONE,
	KREGEX_FOUND,
	KREGEX_LOST /* the text defeats the expression */
};

struct kregex_span {
	size_t from, to;
};

/*
 * Compile PATTERN behind DEFINED, definitions for (?&name) (NULL: none). What is wrong in PATTERN
 * ends the program with K_USAGE: "WHERE, offset N: reason: PATTERN".
 */
struct kregex *kregex_new(const char *where, const char *defined, const char *pattern, int flags);
void kregex_free(struct kregex *re);

/*
 * The first match at or after FROM of LEN bytes of TEXT; where it is goes into AT unless that is
 * NULL.
 */
enum kregex_found kregex_search(
    struct kregex *re, const char *text, size_t len, size_t from, struct kregex_span *at);
/*
 * What the group NAME took in the last search of any expression, the first of that name that took
 * part; false: none did.
 */
bool kregex_group(const struct kregex *re, const char *name, struct kregex_span *at);

/*
 * TEXT with every match replaced by WITH, in which $1 is a group. The caller frees; NULL: there was
 * no match.
 */
char *kregex_replace(struct kregex *re, const char *text, const char *with);

/*
 * The same with PATTERN, a literal of the program, which is compiled when it is first used and then
 * kept. Spans of the match and of its groups go into AT, COUNT of them; one that took no part is
 * KREGEX_UNSET. A text that defeats the pattern does not match.
 */
#define KREGEX_UNSET SIZE_MAX
bool kregex_find(
    const char *pattern, const char *text, size_t len, struct kregex_span *at, size_t count);
bool kregex_is(const char *pattern, const char *text);
/* TEXT, or a copy of it where there is no match. The caller frees. */
char *kregex_sub(const char *pattern, const char *text, const char *with);
/* What stands there; NULL: it took no part. The caller frees. */
char *kregex_text(const char *text, struct kregex_span at);

#endif
