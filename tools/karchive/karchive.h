/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karchive: the two halves of the tool: making an archive from the previous one and a trial's
 * records, and checking one.
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

/*
 * chain.c: does the chain in the loaded archive, of the file PATH, agree with the scored records?
 * Returns K_OK, or K_NO after messages that name rounds.
 */
int check_chain(const char *path);
