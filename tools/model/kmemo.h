/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmemo: the memory of a campaign, as its readers see it: memory/vN.json, a view of trial N;
 * memory/masks.ndjson, the append-only log of what is masked; memory/compact-NNN.ndjson, what a
 * model made of older records. kmemory(1) writes them. A masked record is hidden from prompts and
 * plans; it is never deleted.
 */
#ifndef KMEMO_H
#define KMEMO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kcamp.h"
#include "kutil.h"

enum { KMEMO_ALL = 999999 }; /* as a trial: after all of them */

/* "v7" to 7; false unless NAME is v and a number as it is printed ("v07" and "v7.bak" are not). */
bool kmemo_version(const char *name, long *version);
/* Numbers of the versions in DIR/memory, ascending; the caller frees. NULL: none. */
long *kmemo_versions(const char *dir, size_t *count);
char *kmemo_path(const char *dir, long version);

/* The digest of a JSON object without its members "sha256" and (a view of the masks) "masked". */
void kmemo_seal(const json_t *object, char hex[65]);
/*
 * What is wrong with the seal of a record read from PATH, as text that the caller frees; NULL:
 * nothing.
 */
char *kmemo_seal_fault(const json_t *object, const char *path);
/*
 * Load version VERSION of DIR. A record whose seal is broken dies with K_USAGE. New reference;
 * NULL: there is none.
 */
json_t *kmemo_load(const char *dir, long version);

/* Does the campaign keep a memory and exchange tips (memory.enabled; auto: in linear mode)? */
bool kmemo_enabled(const struct kcamp *c);

/* The log of masks. Zero-initialise; free with kmemo_masks_free. */
struct kmemo_masks {
	json_t *events; /* array; each event names the one before it by digest */
	char head[65];  /* digest of the last event; empty: none */
};
/*
 * Read DIR/memory/masks.ndjson (absent: no events) and check its chain. Returns NULL, or what is
 * wrong as text that names file and line; the caller frees.
 */
char *kmemo_masks_read(struct kmemo_masks *m, const char *dir);
/* The same; a fault dies with K_USAGE. */
void kmemo_masks_load(struct kmemo_masks *m, const char *dir);
void kmemo_masks_free(struct kmemo_masks *m);
/* Is VERSION masked by the events that were there when TRIAL began? */
bool kmemo_masked(const struct kmemo_masks *m, long version, long trial);

/* Append what a reader has to know of a record, on a few lines; all of it is one-line text. */
void kmemo_entry(struct kbuf *out, const json_t *version);

/*
 * The newest compaction of DIR that a prompt of TRIAL may show: it covers nothing that is masked,
 * and nothing of TRIAL or later. New reference; NULL: none. NAME, which the caller frees, is set to
 * its file.
 */
json_t *kmemo_compaction(const char *dir, const struct kmemo_masks *m, long trial, char **name);
/*
 * The sections of a compaction's text: {"resolved": [...], "pending": [...], "avoid": [...]}, each
 * item one line. New reference; NULL with the reason in WHY when a section is missing, doubled or
 * out of order, or the text is too long.
 */
json_t *kmemo_sections(const char *text, char *why, size_t why_len);

#endif
