/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kaudit: would a gain outlive the benchmark? The parts: rules for source text, what they find in a
 * candidate, the decision, and the re-attribution of a whole campaign.
 */
#pragma once

#include "backend.h"
#include "kcamp.h"
#include "kregex.h"
#include "ktask.h"

/* What is audited. */
extern struct audit {
	struct ktask *task;   /* NULL: there is none */
	const char *language; /* the backend's name */
	bool grouped;         /* rules for grouped operations apply, too */
} audit;

/* What a hit means: where the saved work comes from. In order of gravity. */
enum bucket { BUCKET_K, BUCKET_W1, BUCKET_UNIFORM, BUCKET_W2, BUCKET_W3 };
const char *bucket_name(enum bucket b); /* "K", "W1", "uniform", … */

/* ---- rules.c: patterns/audit.json ---- */

/* Load FILE; every fault ends the program with K_USAGE, naming file, rule and field. */
void rules_load(const char *file);
/*
 * Try every rule on its own examples; returns the number of failures, which are reported on stderr.
 */
size_t rules_check(void);

/* The source file that is being looked at. */
extern struct source {
	const char *file; /* NULL: the main one */
	const char *text;
	size_t len;
	/* how the parent's text became this one (kdiff.h); NULL: all lines are new */
	const char *script;
} source;

/* What the words of its program mean: names of parameters, as alternatives of a pattern ("A|B"). */
extern struct words {
	const char *entry;
	struct kbuf inputs, weights, outputs; /* "a|b"; owned */
} words;
/* Taken from the definition of the task's entry point in TEXT (stripped). */
void words_of(const char *text);

struct hit {
	const char *rule, *why; /* borrowed from the rules */
	enum bucket bucket;
	bool note;        /* worth a look, but does not decide */
	const char *file; /* borrowed from the source */
	size_t line;      /* from 1 */
	char text[96];
};

/* What was found since it was last emptied. */
extern struct hits {
	struct hit *at; /* owned */
	size_t count;
} hits;
/* Append what the rules find. */
void rules_apply(void);

/* ---- scan.c: the added lines of a candidate ---- */

/* Hits in a record's program, compared with its parent's if the record has one. */
void scan_record(const json_t *record);

/* ---- decide.c ---- */

/* The member "audit" of a record; new reference. */
json_t *audit_record(const struct krec *rec);

/*
 * waiver.c: rules that a person has waived for candidate ID, as an array of names; NULL: no waiver.
 * Faults are appended to REASONS.
 */
json_t *waiver_of(const char *id, char **file, json_t *reasons);
