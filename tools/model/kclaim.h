/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kclaim: what the form of a claim tells without understanding it: does it hedge a figure, and does
 * the figure that it cites stand where it says that it saw it.
 */
#ifndef KCLAIM_H
#define KCLAIM_H

#include "kutil.h"

/*
 * The words of TEXT that hedge a rate, a bandwidth or a clock of a device ("about 4.8 TB/s"), or
 * NULL. The caller frees. Such a figure is known, and then it has a source, or it is not, and then
 * it is no figure. A result of who writes may be rounded, where its clause says that it is one:
 * "about 989/6 = 165 TFLOPS", "about 160 TFLOPS by my estimate", "a copy reaches about 22 GB/s".
 */
char *kclaim_hedged(const char *text);

/*
 * Whether CLAIM cites a metric and its value as they stand together in SHOWN: a number of the claim
 * equals one there as far as it was written out, and a word of the claim stands on the same line,
 * with no comma, semicolon or bar between. Fenced code in SHOWN does not count.
 */
bool kclaim_cites(const char *claim, const char *shown);

#endif
