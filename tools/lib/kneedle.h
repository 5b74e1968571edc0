/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kneedle: strings without which a regular expression cannot match, to pass over most expressions without searching. A
 * text is summed up once as the set of its three-byte sequences; an expression that needs a string whose sequences are
 * not all there cannot match it. Letters count without case (ASCII). A pure filter: it may say yes in vain, never no.
 */
#ifndef KNEEDLE_H
#define KNEEDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which three-byte sequences occur in a text, hashed. */
struct kneedle_text {
	uint64_t bits[1024];
};
void kneedle_text(struct kneedle_text *t, const char *text, size_t len);

/*
 * Strings one of which occurs in everything that PATTERN (PCRE2 syntax, caseless or not) matches, as the hashes of
 * their sequences, each string behind its number of hashes. NULL: none is known, search always. The caller frees.
 */
uint16_t *kneedle_new(const char *pattern);
/* The strings themselves, joined by '|', for tests and people; NULL: none is known. The caller frees. */
char *kneedle_strings(const char *pattern);

/* May an expression with these needles match the text? */
bool kneedle_may_match(const uint16_t *needles, const struct kneedle_text *t);

#endif
