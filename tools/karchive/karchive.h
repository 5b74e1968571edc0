/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karchive: the two halves of the tool: making an archive from the previous one and a trial's
 * records, and showing one.
 */
#pragma once

#include "klinear.h"
#include "ktrials.h"

/*
 * Put the scored records of FILES (COUNT 0: stdin) into A, trial by trial. A is empty or holds an
 * earlier trial.
 */
void update_archive(char *const *files, size_t count);
/*
 * Writes the archive: header, elites, programs; or, unless AFTER is -1, mostly only what is new
 * since the archive of that trial, which had BEFORE candidates.
 */
void put_archive(long after, long before);

enum view { VIEW_NONE, VIEW_TOP, VIEW_LINEAGE, VIEW_STATS, VIEW_CHECK };

struct view_options {
	int view;            /* enum view */
	long top;            /* VIEW_TOP: how many */
	const char *id;      /* VIEW_LINEAGE */
	const char *archive; /* the file, for messages */
};
/*
 * Print a view to the output, rows as the archive has them; returns K_OK, or K_NO when there is
 * nothing to show.
 */
int show_view(const struct view_options *o);

/* The row of a program, elite or not; NULL: it is not there, or was not loaded. */
struct karch_row *find_row(const char *id);

/*
 * chain.c: does the archive's chain agree with the scored records? Returns K_OK, or K_NO after
 * messages that name rounds.
 */
int check_chain(const struct view_options *o);
