/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krecord: the record of a candidate in a trial's folder, which stands there in parts. A part has
 * the place of the record, one member, and "from", the digest of the line of the file that the
 * member was made from; a long text in it that stands elsewhere already is named in "texts"
 * instead. Here parts become whole records again, and whole records parts. In pipes records are
 * whole.
 */
#ifndef KRECORD_H
#define KRECORD_H

#include "kio.h"
#include "kplace.h"

#define KRECORD_SCHEMA "candidate/1"
#define KPART_SCHEMA "part/1"

/* How much of a record is put together: each has all that stands before it. */
enum kjoin {
	KJOIN_FIGURES,  /* views, sample, reply and eval; of the sample not the programs */
	KJOIN_PARENT,   /* of these the parent */
	KJOIN_PROGRAMS, /* all programs of the sample */
	KJOIN_WHOLE,    /* the prompt */
	/* With one of them: a text that is lost is left out, and is no fault of this record. */
	KJOIN_LENIENT = 4
};

/* Called with each file that is read to put a record together; NULL: nobody asks. */
extern void (*krecord_reads)(const char *path);

/*
 * Give RECORD the members that it lacks, from the trials of the campaign DIR. Returns NULL, or
 * what is wrong and what to do, which the caller frees.
 */
char *krecord_join(const char *dir, json_t *record, enum kjoin join);
/* Whether that looks possible, by the end of its evaluation alone; the same results. */
char *krecord_glance(const char *dir, const json_t *record);
/* As kin_next, and joined. */
bool krecord_next(struct kin *in, const char *dir, struct krec *rec, enum kjoin join);
/*
 * The record of candidate ID up to the fact LAST; NULL with *FAULT NULL: there is no such file. New
 * reference; the caller frees *FAULT.
 */
json_t *krecord_fact(
    const char *dir, const char *id, enum kfact last, enum kjoin join, char **fault);

/*
 * Dies with K_USAGE when the records of the campaign DIR are of an older version, naming what
 * converts them.
 */
void krecord_check(const char *dir);

/*
 * Write REC with the member NAME; or, THIN, as a part. Of a prompt, SHARED is text that other
 * prompts have too, which is kept once; else NULL.
 */
void krecord_put(struct krec *rec, const char *dir, bool thin, const char *name,
    const json_t *value, const char *shared);
/* The part NAME of the whole RECORD, as krecord_put writes it. New reference. */
json_t *krecord_part(const char *dir, const json_t *record, const char *name, const char *shared);

#endif
