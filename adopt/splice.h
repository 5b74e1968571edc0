/* SPDX-License-Identifier: Apache-2.0 */
/*
 * splice: puts the winner's text into the project's file, in place of the function and of helpers
 * that nothing else uses.
 */
#pragma once

#include "adopt.h"
#include "patch.h"

/*
 * The project's files with WINNER, a standalone program, put in; anything that the project already
 * has is left out. The function is replaced by the winner's. If the winner's entry differs from the
 * unit's, launches or the function's body become a call of it. False with the reason in *FAULT (to
 * be freed). NOTES: what was renamed and removed, one per line.
 */
bool splice_winner(const char *winner, struct patch *p, struct kbuf *notes, char **fault);

/*
 * What must not go into an application, found in the winner's text by comparison with the
 * reference's: one line each in FAULTS. ARRAYS: names that the kernel has to write.
 */
void splice_scan(
    const char *reference, const char *winner, const json_t *arrays, struct kbuf *faults);
