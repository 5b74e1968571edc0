/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kjq: programs of jq that ship with kiln (views/), for what is easier to say there than in C:
 * choices from records, sorted and grouped. One takes 20 ms, so they are not for every candidate.
 */
#pragma once

#include "kio.h"

/*
 * The value that the program NAME ("views/library.jq") makes of INPUT. New reference. Dies with
 * K_MISSING when there is no jq, with K_IO when the program fails.
 */
json_t *kjq(const char *name, const json_t *input);
