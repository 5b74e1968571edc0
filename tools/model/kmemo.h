/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmemo: the memory of a campaign, for its readers: memory/vN.json, a view of trial N;
 * memory/compact-NNN.ndjson, a model's summary of older records; and the seal, which says what is
 * masked. krecords(1) writes them. A masked record is hidden from prompts and plans; it is never
 * deleted.
 */
#pragma once

#include "kcamp.h"
#include "kseal.h"

enum { KMEMO_ALL = 999999 }; /* as a trial number: later than all */

/*
 * "v7" to 7; false unless NAME is v and a number in its printed form ("v07" and "v7.bak" are not).
 */
bool kmemo_version(const char *name, long *version);
/* Numbers of the versions in memory, ascending; the caller frees. NULL: none. */
long *kmemo_versions(size_t *count);

/* Does the campaign keep a memory and exchange tips (memory.enabled; auto: in linear mode)? */
bool kmemo_enabled(void);

/* The kind of the seal's lines (kseal.h) about records of memory, and about what is masked. */
#define KMEMO_SEAL "memory"

/* What is masked in the campaign of this process. */
extern struct kmemo_masks {
	json_t *events;    /* array: the lines of the seal that mask and unmask, in order */
	char head[65];     /* digest of the last event; empty: none */
	struct kseal seal; /* its lines of kind memory */
} kmemo_masks;
/* Picks the events from LINES of a seal. */
void kmemo_masks_take(const json_t *lines);
/* Reads them from the seal; a fault dies with K_USAGE. */
void kmemo_masks_load(void);
void kmemo_masks_free(void);
/*
 * Load version VERSION. A record that is not in the seal dies with K_USAGE. New reference;
 * NULL: there is none.
 */
json_t *kmemo_load(long version);
/* Do the events from before TRIAL mask VERSION? */
bool kmemo_masked(long version, long trial);

/*
 * Append what a reader in TRIAL has to know about a record, on a few lines; each text is one line.
 */
void kmemo_entry(struct kbuf *out, const json_t *version, long trial);

/*
 * The newest compaction that a prompt of TRIAL may show: it covers nothing masked, and
 * nothing of TRIAL or later. New reference; NULL: none. NAME, which the caller frees, is set to its
 * file.
 */
json_t *kmemo_compaction(long trial, char **name);
/*
 * The sections of a compaction's text: {"resolved": [...], "pending": [...], "avoid": [...]}, each
 * item one line, into the object SECTIONS. NULL, or what is wrong: a section is missing, duplicate
 * or out of order, or the text is too long.
 */
const char *kmemo_sections(const char *text, json_t *sections);
