/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmark: foreign text in pages. The output is text that contains no HTML and no Markdown markup,
 * whatever the input bytes: bytes that are not UTF-8, control characters and characters that change
 * the direction of text become U+FFFD.
 */
#pragma once

#include "kutil.h"

/* Appends TEXT for a place between tags or in an attribute. */
void kmark_html(struct kbuf *out, const char *text, size_t len);
/*
 * For a place in a line of Markdown, or in a cell of a table: the text stays on its line, and opens
 * no tag, link or emphasis.
 */
void kmark_md(struct kbuf *out, const char *text, size_t len);
/* The text unchanged, except for bytes that are not text. */
void kmark_clean(struct kbuf *out, const char *text, size_t len);
