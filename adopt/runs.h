/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs: a folder for every integration, runs/KERNEL/TIME in the campaign, never overwritten:
 * report.md, the winner, the new file and its patch, times; iterations/TTT with program, answer and
 * patch of every trial; prompts only on request.
 */
#pragma once

#include "adopt.h"

/* That of this process. */
extern struct run_folder {
	char *path, *name; /* absolute path; name relative to the campaign */
	struct kbuf report;
} run_folder;

/* Opens a run folder for the winner, candidate ID. */
void run_open(const char *id, const char *code, double speedup, bool prompts);
/* Path of NAME, with the suffix of the language, in the folder. */
char *run_path(const char *name);
void run_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Append to the file NAME. */
void run_diff(const char *name, const char *file, const char *was, const char *now);
/* Write the report. */
void run_close(int code);
