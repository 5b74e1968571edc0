/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kverdict: what the application that a kernel was adopted from said about programs that were put
 * into it, adopt/verdicts.ndjson (schema verdict/1). A program that failed there cannot be the
 * incumbent.
 */
#pragma once

#include "kio.h"

/* The file, a text of kshown. */
const char *kverdict_path(void);
/*
 * "DEPLOYED", "ROLLED_BACK", or "SHORT_CIRCUIT": below the gate, and therefore not tried. Borrowed.
 */
const char *kverdict_outcome(const json_t *verdict);
/*
 * The verdicts on the current version of program ID of the campaign, in order. New
 * reference.
 */
json_t *kverdict_on(const char *id);
/*
 * Programs of the campaign that failed in the application, according to the last verdict on
 * each: {"id", "why", …}, in the order of the verdicts. New reference; empty if nothing was
 * adopted.
 */
json_t *kverdict_failures(void);
bool kverdict_failed(const json_t *failures, const char *id);
/*
 * The last accepted program of a linear search that the application did not reject, from "linear"
 * in the archive's header; the caller frees.
 */
char *kverdict_incumbent(const json_t *linear);
