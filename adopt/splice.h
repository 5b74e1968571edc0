/* SPDX-License-Identifier: Apache-2.0 */
/*
 * splice: the winner's text into the project's file, in place of the function and of helpers that
 * nothing else uses.
 */
#ifndef SPLICE_H
#define SPLICE_H

#include "adopt.h"

/*
 * The new text of the file, to be freed; NULL with the reason in *FAULT (to be freed). WINNER is a
 * program that stands alone; what it has as the project has it comes from the project again. NOTES:
 * what was renamed and taken out, a line each.
 */
char *splice(const struct adoption *a, const char *original, const char *winner, struct kbuf *notes,
    char **fault);

/*
 * What must not go back into an application, by the winner's text and the reference's: a line each
 * in FAULTS; their number. ARRAYS: names that the kernel has to write.
 */
size_t splice_scan(const struct adoption *a, const char *reference, const char *winner,
    const json_t *arrays, struct kbuf *faults);

#endif
