/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kregex: the regular expressions of the tables in patterns/, for texts that an attacker may have
 * written. PCRE2 syntax, bytes; line feeds end lines. A search that takes too many steps gives up
 * and says so; the caller decides what that means for the text. An expression that is used much is
 * compiled to machine code, unless KILN_NO_JIT is in the environment.
 */
#pragma once

#include "kutil.h"

struct kregex;

/* (?i), (?m), (?s); and one that tries so much that machine code pays at once. */
enum { KREGEX_NOCASE = 1, KREGEX_LINES = 2, KREGEX_DOTALL = 4, KREGEX_SLOW = 8 };

enum kregex_found {
	KREGEX_NONE,
	KREGEX_FOUND,
	KREGEX_LOST /* the text needs too many steps */
};

struct kregex_span {
	size_t from, to;
};

/*
 * Compile PATTERN after DEFINED, definitions for (?&name) (NULL: none). An error in PATTERN ends
 * the program with K_USAGE: "WHERE, offset N: reason: PATTERN".
 */
struct kregex *kregex_new(const char *where, const char *defined, const char *pattern, int flags);
void kregex_free(struct kregex *re);

/*
 * The first match at or after FROM in LEN bytes of TEXT; its position goes into AT unless that is
 * NULL.
 */
enum kregex_found kregex_search(
    struct kregex *re, const char *text, size_t len, size_t from, struct kregex_span *at);
/*
 * What the group NAME matched in the last search of any expression (the first group of that name
 * that took part); false: none did.
 */
bool kregex_group(const struct kregex *re, const char *name, struct kregex_span *at);

/*
 * TEXT with every match replaced by WITH, in which $1 is a group. The caller frees; NULL: there was
 * no match.
 */
char *kregex_replace(struct kregex *re, const char *text, const char *with);

/*
 * The same with PATTERN, usually a literal, which is compiled on first use and then kept.
 * The spans of the match and its groups go into AT, COUNT of them; a group that took no part is
 * KREGEX_UNSET. A search that takes too many steps counts as no match.
 */
#define KREGEX_UNSET SIZE_MAX
bool kregex_find(
    const char *pattern, const char *text, size_t len, struct kregex_span *at, size_t count);
/* The same in a whole text, for as many spans as the array AT has room for. */
#define kregex_match(pattern, text, at) kregex_find(pattern, text, strlen(text), at, LEN(at))
bool kregex_is(const char *pattern, const char *text);
/*
 * The same, like sscanf: what each group matched goes into the next of the char * whose addresses
 * follow (NULL: it took no part). The caller frees them. False: no match, and nothing is set.
 */
#define kregex_scan(pattern, text, ...) \
	kregex_texts(pattern, text, (char **const[]){ __VA_ARGS__, NULL })
bool kregex_texts(const char *pattern, const char *text, char **const *groups);
/* What the first group matched in TEXT (may be NULL). The caller frees; NULL: no match. */
char *kregex_part(const char *pattern, const char *text);
/* TEXT with replacements, or a copy of it if nothing matches. The caller frees. */
char *kregex_sub(const char *pattern, const char *text, const char *with);
/* The text of the span; NULL: it took no part. The caller frees. */
char *kregex_text(const char *text, struct kregex_span at);
