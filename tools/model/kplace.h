/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kplace: where the files of a campaign are. Every path of a record is made here. DIR is the
 * campaign's folder (kcamp.dir); "." is left out of paths, because messages name files relative to
 * it. Paths are texts of kshown.
 */
#pragma once

#include "kutil.h"

/* Facts of a candidate, in order: each is made from the one before. */
enum kfact { KFACT_SAMPLE, KFACT_PROMPT, KFACT_REPLY, KFACT_EVAL, KFACTS };
extern const char *const kfact_names[KFACTS];

/* "DIR/NAME" */
const char *kplace_in(const char *dir, const char *name);
/* "DIR/trials/007/NAME" */
const char *kplace_trial(long trial, const char *name);
/* "DIR/trials/007/02", and a file in it: "DIR/trials/007/02/NAME.ndjson" */
const char *kplace_folder(long trial, long branch);
const char *kplace_cell(long trial, long branch, const char *name);
/*
 * The same for the candidate ID. An id becomes a path here and nowhere else: anything that is not
 * an id dies with K_USAGE.
 */
const char *kplace_id(const char *id, const char *name);
