/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch: run an application and observe the calls of one function. The project is copied; in the
 * copy the function is renamed, and a wrapper with its name records arguments and times and calls
 * it. The project itself is only read.
 */
#pragma once

#include "kadopt.h"
#include "signature.h"

struct watch {
	const struct adoption *a;
	/* folder for the copy and raw records; absolute, made by watch_copy */
	const char *folder;
	/* a folder with files that replace the project's; or NULL */
	const char *overlay;
	/* observe launches of the kernel itself, a __global__ function: the copy is not changed */
	bool launches;
	bool cuda; /* the file is .cu */
	/* file that selects the calls whose arrays are saved, for kwatch; or NULL */
	const char *save;
};

enum watch_mode { WATCH_ARGS, WATCH_TIME };

/*
 * Copy the project, insert the wrapper, build. Dies with K_MISSING or K_USAGE when that is
 * impossible. S may be NULL with LAUNCHES.
 */
void watch_prepare(const struct watch *w, const struct signature *s);
/* The parts of watch_prepare, for other changes of the copy. */
void watch_copy(const struct watch *w);
void watch_build(const struct watch *w);

/*
 * Run the application once, watched. New reference: an array of calls in order, as kwatch writes
 * them. Dies with K_MISSING, saying why, when no call was seen. *DROPPED is the number of calls
 * that were not recorded.
 */
json_t *watch_run(const struct watch *w, enum watch_mode mode, json_int_t *dropped);

/* Run without watching; returns its output, which the caller frees. */
char *watch_log(const struct watch *w, size_t *len);

/* instrument.c: have the model add lines for log.h to the copy's file. */
void instrument(const struct watch *w);

/*
 * The copy of the project, and the program in it that the run command names ("" if it names none).
 */
char *watch_copy_path(const struct watch *w);
char *watch_program(const struct watch *w);

/* Text of the file; dies when there is none. The caller frees. */
char *watch_source(const struct watch *w, size_t *len);
/* The watched function in it; dies if it is not there. Free S with signature_free. */
void watch_find(const struct watch *w, struct signature *s);
