/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kverdict: what the application that a kernel was adopted from said about programs that were put
 * into it, adopt/verdicts.ndjson (schema verdict/1). A program that failed there is no incumbent.
 */
#ifndef KVERDICT_H
#define KVERDICT_H

#include "kio.h"

/* The file; the caller frees. */
char *kverdict_path(const char *dir);
/* "DEPLOYED", "ROLLED_BACK", or "SHORT_CIRCUIT": below the gate, and so not tried. Borrowed. */
const char *kverdict_outcome(const json_t *verdict);
/* The verdicts on the program ID of the campaign in DIR, as it is now, in order. New reference. */
json_t *kverdict_on(const char *dir, const char *id);
/*
 * Programs of the campaign in DIR that failed in the application, as the last verdict on each has
 * it: {"id", "why", …}, in the order of the verdicts. New reference; empty where nothing was
 * adopted.
 */
json_t *kverdict_failures(const char *dir);
bool kverdict_failed(const json_t *failures, const char *id);
/*
 * The last accepted program of a linear search that the application did not refuse, from "linear"
 * of the archive's header; the caller frees.
 */
char *kverdict_incumbent(const char *dir, const json_t *linear);

#endif
