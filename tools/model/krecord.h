/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krecord: thin records. In a trial's folder a view is not the whole record: it holds where the
 * record belongs, what it was made from, as a digest of the line in eval.ndjson, and its own
 * member. Here the rest is put to it again. A record that is whole already stays as it is, so
 * what older versions wrote is read like anything else.
 */
#ifndef KRECORD_H
#define KRECORD_H

#include <stdbool.h>

#include "kio.h"

/*
 * Give RECORD the members that it lacks, from the trials of the campaign DIR. Returns NULL, or
 * what is wrong and what to do, which the caller frees.
 */
char *krecord_join(const char *dir, json_t *record);
/* Whether that looks possible, by the end of its evaluation alone; the same results. */
char *krecord_glance(const char *dir, const json_t *record);
/* As kin_next, and whole. */
bool krecord_next(struct kin *in, const char *dir, struct krec *rec);
/* Write REC with the member NAME, or, THIN, that member and where it belongs. */
void krecord_put(
    struct krec *rec, const char *dir, bool thin, const char *name, const json_t *value);

#endif
