/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch: run an application and observe the calls of one function. The project is copied; in the
 * copy the function is renamed, and a wrapper with its name records arguments and times and calls
 * it. The project itself is only read.
 */
#pragma once

#include "kadopt.h"
#include "signature.h"

/* What is observed, and how: set by each command that observes. */
extern struct watch {
	/* folder for the copy and raw records; absolute, made by watch_copy */
	const char *folder;
	/* a folder with files that replace the project's; or NULL */
	const char *overlay;
	bool cuda; /* the file is .cu */
	/* file that selects the calls whose arrays are saved, for kwatch; or NULL */
	const char *save;
	json_int_t dropped; /* calls of the last run that were not recorded */
} watch;
/* The function in the project's file: watch_find sets it. */
extern struct signature watched;

enum watch_mode { WATCH_ARGS, WATCH_TIME };

/*
 * Copy the project, insert the wrapper, build. Dies with K_MISSING or K_USAGE when that is
 * impossible.
 */
void watch_prepare(void);
/* The parts of watch_prepare, for other changes of the copy. */
void watch_copy(void);
void watch_build(void);

/*
 * Run the application once, watched. New reference: an array of calls in order, as kwatch writes
 * them. Dies with K_MISSING, saying why, when no call was seen.
 */
json_t *watch_run(enum watch_mode mode);

/* Run without watching; returns its output, which the caller frees. */
char *watch_log(size_t *len);

/* instrument.c: have the model add lines for log.h to the copy's file. */
void instrument(void);

/*
 * The copy of the project, and the program in it that the run command names ("" if it names none).
 */
char *watch_copy_path(void);
char *watch_program(void);

/* Text of the file; dies when there is none. The caller frees. */
char *watch_source(size_t *len);
/* Find the watched function in it; dies if it is not there. */
void watch_find(void);
