/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keval: turns the output of sanitizers into rows of eval.sanitizers: {tool, status, detail,
 * workloads, of, wall_s}.
 */
#pragma once

#include "kio.h"

/* One run of a program under a tool: its output, and how many workloads it completed. */
struct tool_run {
	char *text; /* NULL: it could not be started */
	long done, count;
	bool timed_out, ended; /* ended: by itself, with success */
	double wall_s;
};

/* Adds a row of STATUS: clean, findings, unavailable or timeout; R, the run, may be NULL. */
void findings_row(json_t *rows, const char *tool, const char *status, const char *detail,
    const struct tool_run *r);
/* AddressSanitizer and UndefinedBehaviorSanitizer, which share a run. */
void findings_asan(json_t *rows, const struct tool_run *r);
void findings_ubsan(json_t *rows, const struct tool_run *r);
/* A tool of compute-sanitizer. */
void findings_device(json_t *rows, const char *tool, const struct tool_run *r);
