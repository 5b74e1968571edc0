/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log: calls that the application itself reports, one a line, mixed with its other output:
 *   [KKLOG_CPP] kernel=NAME KEY=VALUE…
 * Grid and block are grid_x, grid_y, grid_z, block_x, …, or grid and block; ns is the time of the
 * call, if it is given. Another tag, such as [KKLOG_RUST], adds values from code in that language
 * for the same calls.
 */
#pragma once

#include <jansson.h>

/*
 * The calls of the adopted function in TEXT, from the file or stream NAME: an array of {"args",
 * "grid", "block"}, in order. On a device, those without a geometry are dropped, like torn lines.
 * Dies with K_MISSING if there is none, or if more than 1 % of the lines are dropped. New
 * reference.
 */
json_t *log_calls(const char *text, size_t len, const char *name);
