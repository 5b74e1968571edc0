/* SPDX-License-Identifier: Apache-2.0 */
/* entry: the function through which a task calls a unit; see unit.h. */
#ifndef ENTRY_H
#define ENTRY_H

#include "unit.h"

/*
 * Set U's entry, its text and its parameters, for the function F of the source WHICH; a line in WHY
 * for everything that stands in the way. SEEN: the names that F and what it calls use. SYMBOLS:
 * variables of constants among them that are filled elsewhere, by name, as they are declared.
 */
void entry_make(struct unit *u, const struct unit_sources *sources, size_t which,
    const struct kscan_item *f, const json_t *seen, const json_t *symbols, struct kbuf *why);

#endif
