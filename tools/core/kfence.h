/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfence: put text that a model, a candidate or a compiler wrote into a prompt as data. The text is
 * cleaned of everything that a reader would not see, and enclosed between marks that it cannot
 * contain.
 */
#pragma once

#include "kutil.h"

/*
 * A copy of LEN bytes of S without terminal escape sequences, control characters (line feed and tab
 * stay), zero-width, bidirectional and other invisible characters. CR, CR LF, NEL and the Unicode
 * line and paragraph separators become line feeds; a byte that is not UTF-8 becomes U+FFFD. The
 * caller frees.
 */
char *kfence_clean(const char *s, size_t len);
/* The same for pages: what a reader would not see becomes U+FFFD. */
char *kfence_marked(const char *s, size_t len);
/* The same for logs: a carriage return begins its line again. */
char *kfence_log(const char *s, size_t len);
/*
 * The next character of LEFT bytes (1 or more), and the number of bytes that it takes:
 * KFENCE_INVALID for a byte that begins no character, KFENCE_ESCAPE for a whole terminal escape
 * sequence.
 */
enum { KFENCE_INVALID = 0xfffd, KFENCE_ESCAPE = 0x110000 };
size_t kfence_next(const char *text, size_t left, uint32_t *c);

/*
 * The same on one line (white space becomes single blanks, none at the ends), at most MAX
 * characters. The caller frees.
 */
char *kfence_line(const char *s, size_t max);

/* Bytes of the first N characters of the UTF-8 text S; strlen(S) when it is no longer than that. */
size_t kfence_chars(const char *s, size_t n);

/*
 * Shorten S to about MAX characters at line ends where possible: the beginning (two thirds) and the
 * end stay, with a line between them that says how many characters were cut. The caller frees; a
 * short text is copied.
 */
char *kfence_shorten(const char *s, size_t max);

/*
 * Append S, cleaned, in a Markdown code fence labelled LABEL. The fence is longer than every run of
 * backticks inside. Ends in a line feed. Characters of LABEL that are not letters, digits, '+',
 * '-', '_', '.', '/', ':' or '#' are dropped.
 */
void kfence_code(struct kbuf *out, const char *s, const char *label);

/*
 * Append S, cleaned, between two lines that name WHAT ("evaluation log") and carry a tag of 16 hex
 * digits: the start of a SHA-256 over SALT and the text, drawn again until the text does not
 * contain it. Whoever wrote the text does not know SALT, so the closing line cannot be forged; and
 * the same input gives the same tag. Ends in a line feed.
 */
void kfence_data(struct kbuf *out, const char *s, const char *what, const char *salt);
