/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktext: a text expressed by what it repeats of other texts. Its parts, in order, are texts of its
 * own and runs of whole lines of SOURCES: "own text" or [source, first line, lines], all counted
 * from 0.
 */
#pragma once

#include "kio.h"

struct ktext_source {
	const char *text;
	size_t len;
};

/* The parts of a text. New reference; they always give the text again. */
json_t *ktext_parts(const char *text, size_t len, const struct ktext_source *sources, size_t count);
/* The text of PARTS, or NULL when they do not fit the sources. The caller frees. */
char *ktext_whole(
    const json_t *parts, const struct ktext_source *sources, size_t count, size_t *len);
