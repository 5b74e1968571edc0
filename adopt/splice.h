/* SPDX-License-Identifier: Apache-2.0 */
/*
 * splice: the winner's text into the project's file, in place of the function and of helpers that
 * nothing else uses.
 */
#ifndef SPLICE_H
#define SPLICE_H

#include "adopt.h"
#include "patch.h"

/*
 * The project's files with WINNER in them, a program that stands alone; what it has as the project
 * has it comes from the project again. A function is replaced by the winner's. Where the winner's
 * entry is another than the unit's, launches or the function's body become a call of it. False with
 * the reason in *FAULT (to be freed). NOTES: what was renamed and taken out, a line each.
 */
bool splice(const struct adoption *a, const char *winner, struct patch *p, struct kbuf *notes,
    char **fault);

/*
 * What must not go back into an application, by the winner's text and the reference's: a line each
 * in FAULTS; their number. ARRAYS: names that the kernel has to write.
 */
size_t splice_scan(const struct adoption *a, const char *reference, const char *winner,
    const json_t *arrays, struct kbuf *faults);

#endif
