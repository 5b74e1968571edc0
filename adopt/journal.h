/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal: the project's sources are changed under entries of adopt/journal.ndjson alone, each on
 * the disk before what it announces. Whatever a kadopt was killed at, the journal and the copies in
 * adopt/original tell the next one how to get back.
 *
 *   change     each of FILES is about to become TO (digest), and was FROM
 *   verified   the program with them was built, ran in the project, and was better: it stays
 *   accepted   all is done
 *   restore    FILES are about to become FROM again
 *   restored   they are
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include "adopt.h"
#include "patch.h"

/*
 * Keep the file as it is in adopt/original, with its digest in adopt.json ("originals"); dies when
 * a change is pending.
 */
void journal_backup(const struct adoption *a);
/* The path of the kept FILE. */
char *journal_original(const struct adoption *a, const char *file);

/* Is the project's file the kept one, byte by byte? */
bool journal_is_original(const struct adoption *a);

/* Dies when the folder of the project's FILE cannot be written. */
void journal_require_writable(const struct adoption *a, const char *file);

/* Are the project's files those of the winner ID, verified and accepted before? */
bool journal_is_accepted(const struct adoption *a, const char *id);

/*
 * Write the files of P in place of the project's: copies, entry, new files, renames. RUN names the
 * run folder, ID the winner.
 */
void journal_change(
    const struct adoption *a, const struct patch *p, const char *run, const char *id);
void journal_verified(const struct adoption *a);
void journal_accepted(const struct adoption *a);
/* The kept files again, and the outputs as they were before the change; the caller builds. */
void journal_restore(const struct adoption *a);

/*
 * Finish what a killed kadopt left: end its processes; bring the file to what it was, or leave the
 * winner that was verified; build the project when the file changed. K_OK; K_USAGE when the file is
 * neither (somebody edited it), which is left alone.
 */
int journal_repair(const struct adoption *a);
/* A line or two on where it stands. */
void journal_status(const struct adoption *a, struct kbuf *b);

#endif
