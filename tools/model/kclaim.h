/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kclaim: checks of a claim's form, without understanding it: does it hedge a figure, and is the
 * figure that it cites in the place that it names.
 */
#pragma once

#include "kutil.h"

/*
 * The words of TEXT that hedge a device's rate, bandwidth or clock ("about 4.8 TB/s"), or NULL. The
 * caller frees. Such a figure is either known, and then has a source, or it must not be stated. The
 * author's own result may be rounded if its clause says that it is one: "about 989/6 = 165 TFLOPS",
 * "about 160 TFLOPS by my estimate", "a copy reaches about 22 GB/s".
 */
char *kclaim_hedged(const char *text);

/*
 * Whether CLAIM cites a metric and its value as they appear together in SHOWN: a number of the
 * claim equals one there to the digits that were written, and a word of the claim is on the same
 * line, with no comma, semicolon or bar between. Fenced code in SHOWN does not count.
 */
bool kclaim_cites(const char *claim, const char *shown);
