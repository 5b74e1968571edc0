/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status: the result of a candidate, eval.status in its record. One row per status holds everything
 * that the tools ask about it; no tool spells the words. To add one: a row here, and the word in
 * docs/schemas/eval-1.json and kiln-record(5).
 */
#pragma once

#include "kio.h"

/* From the worst to the best, as reports stack them up. */
enum status {
	STATUS_NONE, /* not evaluated, or an unknown word */
	STATUS_REJECTED,
	STATUS_QUARANTINED,
	STATUS_NO_CODE,
	STATUS_NO_PLAN,
	STATUS_COMPILE_ERROR,
	STATUS_RUN_ERROR,
	STATUS_WRONG_SHAPE,
	STATUS_WRONG_VALUE,
	STATUS_PARTIAL,
	STATUS_CORRECT,
	STATUS_COUNT
};

/* What is to blame. */
enum status_fault {
	FAULT_NONE,
	FAULT_PLAN,
	FAULT_BUILD,
	FAULT_RUN,
	FAULT_RESULT,
	FAULT_RULES,
	FAULT_COUNT
};

struct status_row {
	const char *name;   /* "compile_error" */
	const char *phrase; /* "does not build": the phrase for people and models */
	int rung;           /* score.perf_score: 0 to STATUS_TOP_RUNG */
	bool built;         /* it was compiled */
	enum status_fault fault;
};
enum { STATUS_TOP_RUNG = 5 };
extern const struct status_row status_rows[STATUS_COUNT];

/* STATUS_NONE if NAME is NULL or not a status. */
enum status status_named(const char *name);
/* The status at PATH of a JSON object: "eval.status" of a record, "status" of a member. */
enum status status_at(const json_t *object, const char *path);
/* DEF if there is nothing at PATH. */
enum status status_or(const json_t *object, const char *path, enum status def);
/*
 * The status of a record's evaluation; if it has none, ends the program with K_USAGE and names the
 * place.
 */
enum status status_of_record(const struct krec *rec);
json_t *status_json(enum status status);

/* May it hold a cell? It has code, and it did not cheat. */
bool status_eligible(enum status status);
/* Broken, but worth a repair. */
bool status_repairable(enum status status);

/* sample.status: what a prompt starts from. */
enum start { START_INITIAL, START_ERROR, START_CORRECT, START_COUNT };
extern const char *const start_names[START_COUNT];
/* START_COUNT for any other NAME. */
enum start start_named(const char *name);
