/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmark: foreign text in pages. Whatever bytes come in, text comes out that neither HTML nor
 * Markdown takes for its own: bytes that are not UTF-8, control characters and those that turn the
 * direction of text become U+FFFD.
 */
#ifndef KMARK_H
#define KMARK_H

#include "kutil.h"

/* Appends TEXT for a place between tags or in an attribute. */
void kmark_html(struct kbuf *out, const char *text, size_t len);
/*
 * For a place in a line of Markdown, in a cell of a table too: it stays on its line, and opens no
 * tag, link or emphasis.
 */
void kmark_md(struct kbuf *out, const char *text, size_t len);
/* The text as it is but for what is no text. */
void kmark_clean(struct kbuf *out, const char *text, size_t len);

#endif
