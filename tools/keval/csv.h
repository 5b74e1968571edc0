/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv: output of a campaign's own command as a table: a header row, then one row per measurement.
 * The campaign's "columns" say which column is what: {"workload": NAME or [NAMES], "time": NAME,
 * "unit": "ms|us|ns|s", "ok": NAME}. Faults end the program with K_USAGE, naming the tier and the
 * column.
 */
#ifndef CSV_H
#define CSV_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct csv {
	const char *tier; /* for messages */
	const json_t *columns;
	char ***cell; /* [row][column], row 0 the header; owned */
	size_t *width;
	size_t rows;
	double unit_ns; /* of the time column */
};

/* Parse TEXT; NEEDED is the column that must be declared and present. */
void csv_open(
    struct csv *csv, const char *tier, const char *text, const json_t *columns, const char *needed);
void csv_close(struct csv *csv);
/* Is this column declared? */
bool csv_has(const struct csv *csv, const char *column);
/*
 * Name of the row's workload: its columns joined by 'x'; "all" when none is declared. The caller
 * frees.
 */
char *csv_workload(const struct csv *csv, size_t row);
/*
 * The number in a declared column; false when the column is not declared or the cell is no number.
 */
bool csv_number(const struct csv *csv, size_t row, const char *column, double *value);
/*
 * The row's verdict: pass, ok, true, yes, 1 or correct against fail, error, false, no, 0 or wrong.
 */
bool csv_ok(const struct csv *csv, size_t row);

#endif
