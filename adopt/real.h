/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real: is the application faster with the winner? Both programs run in turns, and every call of
 * the function is timed.
 */
#pragma once

#include "adopt.h"
#include "patch.h"

/*
 * Build the program with the new files of P, or with WAS its old ones, in a copy that is watched;
 * the log is watch-build. False: it does not build.
 */
bool real_build(const struct patch *p, bool was);
/*
 * Run both programs in turns, LEAST times each, and more often while it is unclear which is faster.
 * Returns the result in the form of schema real/1: why the new one is no better, or "". New
 * reference; NULL: they could not be run. The project itself is not changed.
 */
json_t *real_compare(const struct patch *p, size_t least, double gate);
