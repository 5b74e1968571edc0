/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktrials: the trials of a campaign, opened once: which there are, where the search stands, who
 * won, and what is damaged. Every tool that reads a campaign asks here, so all of them say the
 * same of the same folder.
 *
 * A damaged record never ends the program. It is named on stderr, once, as "file:line: what; what
 * to do", and the sound records are used. What a tool cannot do without, it asks for itself
 * (ktrials_need). All that is returned is borrowed: until ktrials_drop for a trial, else until
 * ktrials_close.
 */
#ifndef KTRIALS_H
#define KTRIALS_H

#include "kcamp.h"
#include "kcandidate.h"
#include "krecord.h"

struct ktrial {
	long number;
	bool whole;              /* every record of it is sound */
	struct kcandidate *list; /* the sound ones, by branch */
	size_t count;
	/*
	 * What later candidates are compared with, if this trial brought it: the round that was
	 * accepted, the reference, or in a search over cells the new best; else NULL.
	 */
	const struct kcandidate *kept;
	bool loaded; /* private */
};

struct ktrials {
	const struct kcamp *camp;
	enum kjoin join;    /* how much of each record is put together; FIGURES unless it is set */
	bool linear;        /* rounds with decisions, in place of a search over cells */
	long last;          /* the last complete trial (ktrials_last); -1: none */
	bool settled;       /* the link archive.ndjson names it: no view is being remade */
	json_t *header;     /* of the newest archive that is sound; NULL: none */
	struct kbuf faults; /* what is damaged, as far as it was read: a line each */
	size_t fault_count;
	/* Private. */
	struct ktrial *trial; /* LAST + 1 of them */
	char *reference_of;   /* the campaign that the reference says it is of */
	bool damaged;         /* a fault of what is being read */
	bool glancing;
};

/* The campaign of CAMP, which outlives T. Reads the reference and the header of the archive. */
void ktrials_open(struct ktrials *t, const struct kcamp *camp);
void ktrials_close(struct ktrials *t);
/* Trial NUMBER, 0 to LAST; its records are read when first asked for. */
const struct ktrial *ktrials_get(struct ktrials *t, long number);
/* The same, but its records become the caller's, in *LIST: how many. */
size_t ktrials_take(struct ktrials *t, long number, struct kcandidate **list);
/* Free the records of a trial, which is read again when it is asked for again. */
void ktrials_drop(struct ktrials *t, long number);
/* The sound record of candidate ID, or NULL. */
const struct kcandidate *ktrials_find(struct ktrials *t, const char *id);
/*
 * Look for what is wrong with any trial: how many faults there are. Of an evaluation that a thin
 * record was made from only the end is looked at, so that this is quick.
 */
size_t ktrials_check(struct ktrials *t);
/* Dies with K_USAGE, after naming what is wrong, unless every record of trial NUMBER is sound. */
void ktrials_need(struct ktrials *t, long number);

/*
 * What a run goes by: the trial that the link archive.ndjson names, or -1; and without that the
 * last trial that has an archive, or -1.
 */
long ktrials_linked(const struct kcamp *camp);
long ktrials_last(const struct kcamp *camp);
/*
 * The scored record of ID alone, where nothing else of the campaign is asked for; NULL: there is
 * none, or it lies behind a damaged one, which *FAULT names (the caller frees). New reference.
 */
json_t *ktrials_record(const struct kcamp *camp, const char *id, enum kjoin join, char **fault);

#endif
