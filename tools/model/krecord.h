/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krecord: the record of a candidate, which is stored in parts in a trial's folder. A part has the
 * place of the record, one member (a view also those of the views before it), and "from", the
 * digest of the line in the file that the member was made from; a long text that is already stored
 * elsewhere is only named, in "texts". Here parts become whole records again, and whole records
 * parts. In pipes records are whole.
 */
#pragma once

#include "kio.h"
#include "kplace.h"

#define KRECORD_SCHEMA "candidate/1"
#define KPART_SCHEMA "part/1"

/* How much of a record is put together: each value includes those before it. */
enum kjoin {
	KJOIN_FIGURES,  /* views, sample, reply and eval; the sample without its programs */
	KJOIN_PARENT,   /* the parent in the sample */
	KJOIN_PROGRAMS, /* all programs of the sample */
	KJOIN_WHOLE,    /* the prompt */
	/* A flag: leave out a text that is lost, and do not count it as a fault of this record. */
	KJOIN_LENIENT = 4
};

/* Called with each file that is read to put a record together; NULL: not wanted. */
extern void (*krecord_reads)(const char *path);

/*
 * Add the members that RECORD lacks, from the campaign's trials. Returns NULL, or what is
 * wrong and what to do, which the caller frees.
 */
char *krecord_join(json_t *record, enum kjoin join);
/* Like kin_next, then joins the record. */
bool krecord_next(struct kin *in, struct krec *rec, enum kjoin join);
/*
 * The record of candidate ID up to the fact LAST. If it returns NULL and *FAULT is NULL, there is
 * no such file. New reference; the caller frees *FAULT.
 */
json_t *krecord_fact(const char *id, enum kfact last, enum kjoin join, char **fault);

/*
 * Dies with K_USAGE when the records of the campaign are from an older version, naming the
 * command that converts them.
 */
void krecord_check(void);

/* Write REC with the member NAME; or, if THIN, as a part. */
void krecord_put(struct krec *rec, bool thin, const char *name, const json_t *value);
/*
 * The part NAME of the whole RECORD. For a prompt, SHARED is text that it has in common with other
 * prompts and that is stored once; else NULL. New reference.
 */
json_t *krecord_part(const json_t *record, const char *name, const char *shared);
/* Writes that part to its file in the trial's folder; dies with K_USAGE if that exists. */
void krecord_store(const json_t *record, const char *name, const char *shared);
