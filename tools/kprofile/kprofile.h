/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile, inside. A reader turns a profiler's file into launches: raw metrics, as text, with unit
 * and line. A table in patterns/profile says which values are computed from them, and which rules
 * are applied to the values. A metric that is absent stays absent: NAN in arithmetic, never 0.
 */
#pragma once

#include "kio.h"
#include "kregex.h"

/* The file that is being read; one at a time. */
extern struct input {
	const char *file; /* as given on the command line, for messages */
	const char *name; /* without folders, for the output */
	const char *format;
	char *data; /* owned */
	size_t len;
	long line; /* where the reader is, for messages and metrics */
} input;

/*
 * launch.c: a launch is one run of one kernel (for a CPU: of the whole program or one function), as
 * an object: "id", unique within its process; "kernel", "" until known; "facts": grid, block,
 * device, compute_capability; "raw": {METRIC: ["value", "unit", "file", line]}; "advice", the
 * vendor tool's recommendations; and, once all files have been read and if its kernel is asked for,
 * "time", the value that decides.
 */
extern struct profile {
	const char *source; /* ncu, rocprofv3, callgrind, perf */
	const char *kernel; /* regular expression; NULL: all */
	char *where;        /* file of the table, for messages */
	json_t *table, *peaks;
	json_t *launches;                /* by their processes and ids */
	json_t *formats, *files, *notes; /* arrays of texts */
} profile;                               /* of this process; kept to the end */

void profile_open(const char *kernel);
/* The launch of this process ("" if the format has none) and id, made if there is none. */
json_t *profile_launch(const char *process, const char *id);
/*
 * Dies with file:line when the name of the kernel contradicts that in another file for the same
 * launch.
 */
void launch_name(json_t *launch, const char *kernel);
/* Set a metric unless it is set already. */
void launch_metric(json_t *launch, const char *name, const char *value, const char *unit);
/* Add to a metric that is a plain number. */
void launch_count(json_t *launch, const char *name, double value);
/* Adds a recommendation of the vendor's tool, with its estimate in PERCENT, if that is a number. */
void launch_advice(json_t *launch, const char *rule, const char *section, const char *type,
    const char *text, const char *scope, const char *percent);
void profile_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Calls EACH for every line without its end, which EACH may modify. */
void input_lines(void (*each)(char *line));
/* Reports a fault in the line as "FILE:LINE: why", and ends the program. */
#define input_fault(fmt, ...) kdie_usage("%s:%ld: " fmt, input.file, input.line, ##__VA_ARGS__)

/* number.c: "1,006,632,960", "0,58", "3.199.462,02" and plain numbers; false for anything else. */
bool number_read(const char *s, double *value);
/* "n/a", empty, "nan", "inf" and values marked "(!)": the metric is absent. */
bool number_absent(const char *s);
/* The factor from the unit to ns, bytes or hertz; 0 if the unit is unknown. */
double number_scale(const json_t *units, const char *unit);

/* csv.c: RFC 4180 in memory; the input as a table. */
extern struct csv {
	const char *p;
	long next;          /* line of the next row */
	json_t *row, *head; /* arrays of texts */
} csv;
/* Reads the next row that begins with a quote (if QUOTED) or is not blank; false at the end. */
bool csv_next(bool quoted);
/* Keeps the current row in TO, for example as the head of the table. */
void csv_take(json_t **to);
/* The index of the column NAME; SIZE_MAX: no such column. */
size_t csv_column(const char *name);
/*
 * The row's cell in the column NAME; NULL: no such column; "": the row has fewer cells. Borrowed.
 */
const char *csv_cell(const char *name);
/* The same, but dies when there is no such column. */
const char *csv_need(const char *name);
void csv_close(void);

/* Readers. */
void ncu_csv(void);
void ncu_text(void);
void ncu_preface(void);
/* The metric for LABEL in SECTION: the same label means other things elsewhere. */
const char *ncu_metric(const char *section, const char *label);
void rocprof_csv(void);
void callgrind_text(void);
void perf_text(void);
/* The head of a report of samples, which is not a table of counters. */
#define PERF_REPORT "(?m)^(?:# Overhead| {12}Trace Event Information)"

/* values.c: values of a launch, computed with the table; of one at a time. */
extern struct values {
	const json_t *launch;
	json_t *memo;       /* computed values; null: absent */
	json_t *unreliable; /* raw metrics that the profiler itself marks as unreliable */
	/* raw metrics that were needed but absent; an array, may be NULL */
	json_t *missing;
	int depth;
} values;
void values_open(const json_t *launch);
/* The value of a name, NAN when a metric that it needs is absent. */
double values_get(const char *name);
enum truth { NO, YES, UNKNOWN };
/*
 * All conditions of an array of texts; MARGIN: how far the first is beyond its bound, relative to
 * it.
 */
enum truth values_all(const json_t *conditions, double *margin);
/* TEXT with every {expression} replaced by its value. The caller frees. */
char *values_fill(const char *text);
/*
 * Adds the names of the table's values that an expression or a text uses, with their values, to
 * OUT.
 */
void values_used(const char *text, bool braces, json_t *out);
/* 3 digits, or an integer. */
const char *number_text(double v);

/* report.c: the object profile/1. New reference. */
json_t *report(const json_t *launch, const json_t *kernels);
