/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktrials: the trials of a campaign, opened once: which ones exist, where the search stands, who
 * won, and what is damaged. Every tool that reads a campaign asks here, so all of them report the
 * same about the same folder.
 *
 * A damaged record never ends the program. It is named on stderr, once, as "file:line: what; what
 * to do", and the sound records are used. A tool that cannot do without a record asks for it
 * explicitly (ktrials_need). Everything returned is borrowed: until ktrials_drop for a trial,
 * otherwise until ktrials_close.
 */
#pragma once

#include "kcamp.h"
#include "kcandidate.h"
#include "krecord.h"

struct ktrial {
	long number;
	bool whole;              /* every record of it is sound */
	struct kcandidate *list; /* the sound records, by branch */
	size_t count;
	/*
	 * What later candidates are compared with, if it comes from this trial: the round that was
	 * accepted, the reference, or in a search over cells the new best; else NULL.
	 */
	const struct kcandidate *kept;
	bool loaded; /* private */
};

/* The trials of the campaign of this process, once opened. */
extern struct ktrials {
	enum kjoin join;    /* how much of each record is put together; default FIGURES */
	bool linear;        /* rounds with decisions, instead of a search over cells */
	long last;          /* the last complete trial (ktrials_last); -1: none */
	bool settled;       /* the link archive.ndjson points to it: no view is being remade */
	json_t *header;     /* of the newest sound archive; NULL: none */
	struct kbuf faults; /* damage in what was read so far: a line each */
	size_t fault_count;
	/* Private. */
	struct ktrial *trial; /* LAST + 1 of them */
	char *reference_of;   /* the campaign that the reference belongs to, by its own account */
	bool damaged;         /* a fault in what is being read */
} ktrials;

/* The campaign of this process. Reads the reference and the header of the archive. */
void ktrials_open(void);
void ktrials_close(void);
/* Trial NUMBER, 0 to LAST; its records are read when first asked for. */
const struct ktrial *ktrials_get(long number);
/* Free the records of a trial; it is read again on the next request. */
void ktrials_drop(long number);
/* The sound record of candidate ID, or NULL. */
const struct kcandidate *ktrials_find(const char *id);
/* Checks all trials and returns the number of faults. */
size_t ktrials_check(void);
/* Dies with K_USAGE, after naming the faults, unless every record of trial NUMBER is sound. */
void ktrials_need(long number);

/*
 * Where a run continues: the trial that the link archive.ndjson points to, or -1; and, without that
 * link, the last trial that has an archive, or -1.
 */
long ktrials_linked(void);
long ktrials_last(void);
/*
 * Only the scored record of ID, if nothing else of the campaign is needed; NULL: there is none, or
 * it comes after a damaged one, which *FAULT names (the caller frees). New reference.
 */
json_t *ktrials_record(const char *id, enum kjoin join, char **fault);
