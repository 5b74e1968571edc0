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
#include <stdbool.h>
#include <stddef.h>

struct log_state {
	size_t lines;   /* lines with a tag that name the kernel, or cannot be parsed */
	size_t dropped; /* of these: torn, or without a required geometry */
	bool torn;      /* more than 1 % were dropped */
	/*
	 * lines of other tags that could not be matched, because their number differs from that of
	 * the calls
	 */
	size_t others;
};

/*
 * New reference: an array of calls, {"args", "grid", "block"}, in order. GEOMETRY: calls without
 * one are dropped.
 */
json_t *log_calls(
    const char *text, size_t len, const char *kernel, bool geometry, struct log_state *state);
