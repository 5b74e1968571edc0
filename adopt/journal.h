/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal: before the project's sources change, an entry in adopt/journal.ndjson says how. Wherever
 * a kadopt is killed, the next one can undo the change with the journal and the copies in
 * adopt/original.
 *
 *   change     each of FILES is about to become TO (digest), and was FROM
 *   accepted   the program with them was built, ran in the project, and was better: it stays
 *   restored   FILES are FROM again
 */
#pragma once

#include "adopt.h"
#include "patch.h"

/*
 * Save the file in adopt/original, with its digest in adopt.json ("originals"); dies when a change
 * is pending.
 */
void journal_backup(void);
/* The path of the saved FILE. */
char *journal_original(const char *file);

/* Is the project's file equal to the saved one, byte by byte? */
bool journal_is_original(void);

/* Dies when the folder of the project's FILE cannot be written. */
void journal_require_writable(const char *file);

/* Do the project's files contain the winner ID, which was accepted before? */
bool journal_is_accepted(const char *id);

/*
 * Replace the project's files by those of P: saved copies, journal entry, new files, renames. RUN
 * names the run folder, ID the winner.
 */
void journal_change(const struct patch *p, const char *run, const char *id);
void journal_accepted(void);
/* Restores the saved files, and the outputs as they were before the change, and builds. */
void journal_restore(void);

/*
 * Clean up after a killed kadopt: end its processes, undo a change that was not accepted, and build
 * the project again. Returns K_OK; K_USAGE if somebody has edited a changed file since, which is
 * then left alone.
 */
int journal_repair(void);
/* A line or two about the current state. */
void journal_status(struct kbuf *b);
