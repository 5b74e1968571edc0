/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instance: what launches and calls say about a function: the arguments of a template, and the
 * parts of a launch that are the same wherever it is launched.
 */
#ifndef INSTANCE_H
#define INSTANCE_H

#include "unit.h"

/*
 * What the parameters of U's template stand for in the first launch (of a kernel) or call that
 * shows them, an object, and "<float, 256>" in ARGUMENTS; a line in WHY when none does. NULL: it is
 * no template. New reference.
 */
json_t *instance_bind(const struct unit *u, const struct unit_sources *sources,
    const struct kscan_signature *g, struct kbuf *arguments, struct kbuf *why);

/* "<T, N>" for a function whose result begins with "template<typename T, int N>"; "" for others. */
char *instance_formals(const char *result);
/*
 * A text for the PART that all launches have, when it is the same number, or three, in each; NULL:
 * it is not. The caller frees.
 */
char *instance_constant(const struct unit *u, const struct unit_sources *sources,
    const char *(*part)(const struct unit_launch *));
/* Is argument I of the kernel U a null pointer, said as such, wherever it is launched? */
bool instance_is_null(const struct unit *u, size_t i);
/* Of how many dimensions the grid or block EXPRESSION may be: 1 to 3. */
size_t instance_dimensions(const struct unit_launch *l, const char *expression);

#endif
