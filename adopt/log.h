/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log: calls that the application itself tells of, on its standard error among other things, one a
 * line:
 *   [KKLOG_CPP] kernel=NAME KEY=VALUE…
 * Grid and block are grid_x, grid_y, grid_z, block_x, …, or grid and block; the time it took, if
 * told, is ns. Another tag, [KKLOG_RUST] and the like, adds what the code that is written in that
 * language knows of the same calls.
 */
#ifndef LOG_H
#define LOG_H

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

#endif
