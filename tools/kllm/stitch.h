/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stitch: answers that were cut off at the token cap: is the code whole all the same, and how are
 * two halves joined.
 */
#ifndef KLLM_STITCH_H
#define KLLM_STITCH_H

#include "kutil.h"

/* The text holds a fenced program that is closed, and no fence is open at its end. */
bool stitch_has_code(const char *text);

/*
 * Append MORE to TEXT without what it repeats of TEXT's end (200 bytes at most), or a fence that it
 * opens anew.
 */
void stitch_join(struct kbuf *text, const char *more);

#endif
