/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instance: what launches and calls tell about a function: the arguments of a template, and the
 * parts of a launch that are the same for all launches.
 */
#pragma once

#include "unit.h"

/*
 * The arguments of U's template in the first launch (of a kernel) or call that determines them, as
 * an object, with "<float, 256>" in ARGUMENTS; a line in WHY if none does. NULL: it is not a
 * template. New reference.
 */
json_t *instance_bind(const struct adopted_unit *u, const struct kscan_signature *g,
    struct kbuf *arguments, struct kbuf *why);

/* "<T, N>" for a function whose result begins with "template<typename T, int N>"; "" for others. */
char *instance_formals(const char *result);
/*
 * For such a function, a condition in C++ that is true if its template has the arguments with which
 * UNIT's entry calls it. Arguments that may be unknown at the function are not compared. "": it is
 * not a template. The caller frees.
 */
char *instance_condition(const char *result, const json_t *unit);
/* The "grid", "block" or "shared" memory of the launch. Borrowed. */
const char *instance_part(const struct unit_launch *l, const char *what);
/*
 * This part of all launches as text, if it is the same number, or triple of numbers, in each; NULL
 * otherwise. The caller frees.
 */
char *instance_constant(const struct adopted_unit *u, const char *what);
/* Is argument I of the kernel U literally a null pointer in every launch? */
bool instance_is_null(const struct adopted_unit *u, size_t i);
/* How many dimensions the grid or block EXPRESSION can have: 1 to 3. */
size_t instance_dimensions(const struct unit_launch *l, const char *expression);
