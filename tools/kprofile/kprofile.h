/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile, inside. A reader turns a profiler's file into launches: raw metrics, as text, with unit
 * and line. A table of patterns/profile says which values follow from them, and which rules look at
 * the values. A metric that is absent stays absent: NAN in arithmetic, never 0.
 */
#ifndef KPROFILE_H
#define KPROFILE_H

#include "kio.h"

/* A file in memory, and where a reader stands in it. */
struct text {
	const char *file; /* as given, for messages */
	const char *name; /* without folders, for the output */
	char *data;       /* owned */
	size_t len;
};

/* launch.c: one run of one kernel (for a CPU: the whole program or one function). */
struct launch {
	char *process;  /* "" where the format has none */
	char *id;       /* unique within the process */
	char *kernel;   /* "" until known */
	json_t *facts;  /* grid, block, device, compute_capability; text */
	json_t *raw;    /* {"METRIC": ["value", "unit", "file", line]} */
	json_t *advice; /* what the vendor's tool recommends, see vendor.c */
};

struct profile {
	const char *source; /* ncu, rocprofv3, callgrind, perf */
	struct launch *launch;
	size_t count;
	json_t *formats, *files, *notes; /* arrays of texts */
};

void profile_open(struct profile *p);
void profile_close(struct profile *p);
/* The launch of this process and id, made when there is none. KERNEL "" fits every kernel. */
struct launch *profile_launch(
    struct profile *p, const char *process, const char *id, const char *kernel);
/*
 * Dies with file:line when the name of the kernel contradicts what another file said of the same
 * launch.
 */
void launch_name(struct launch *l, const char *kernel, const struct text *t, long line);
/* Set a metric that is not there yet. */
void launch_metric(struct launch *l, const char *name, const char *value, const char *unit,
    const struct text *t, long line);
/* Add to a metric that is a plain number. */
void launch_count(
    struct launch *l, const char *name, double value, const struct text *t, long line);
void profile_note(struct profile *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* EACH for every line, which it may change, without its end, and its number. */
void text_lines(const struct text *t, void (*each)(void *arg, char *line, long number), void *arg);
/* Says that a file is not what it should be, as "FILE:LINE: why", and ends the program. */
_Noreturn void text_fault(const struct text *t, long line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* number.c: "1,006,632,960", "0,58", "3.199.462,02" and plain numbers; false for anything else. */
bool number_read(const char *s, double *value);
/* "n/a", nothing, "nan", "inf" and values marked "(!)": there is no such metric. */
bool number_absent(const char *s);
/* What the unit must be multiplied with for ns, bytes, hertz; 0 when it is not known. */
double number_scale(const json_t *units, const char *unit);

/* csv.c: RFC 4180 in memory. */
struct row {
	char **cell;
	size_t width;
};
struct csv {
	const struct text *text;
	const char *p;
	long line; /* of the row last read */
	long next; /* of what comes next */
	struct row row, head;
};
/* The next row that begins with a quote (when QUOTED) or is not blank; false at the end. */
bool csv_next(struct csv *c, bool quoted);
/* The row last read becomes that in TO, such as the head of the table. */
void csv_take(struct csv *c, struct row *to);
void row_free(struct row *r);
/* The row's cell in the column NAME; NULL: no such column; "": the row ends before it. Borrowed. */
const char *csv_cell(const struct csv *c, const char *name);
void csv_close(struct csv *c);

/* Readers. */
void ncu_csv(struct profile *p, const struct text *t, const json_t *table, const char *format);
void ncu_text(struct profile *p, const struct text *t, const json_t *table);
void ncu_preface(struct profile *p, const struct text *t, const json_t *table);
/* The metric that LABEL of SECTION stands for: the same label means other things elsewhere. */
const char *ncu_metric(const json_t *table, const char *section, const char *label);
void rocprof_csv(struct profile *p, const struct text *t);
void callgrind_text(struct profile *p, const struct text *t, const char *kernel);
void perf_text(struct profile *p, const struct text *t);
/* Is it a report of samples, and no table of counters? */
bool perf_is_report(const struct text *t);
/* The format of a text: "ncu-raw" and so on. Dies when it is none that is known. */
const char *detect(const struct text *t);
bool text_has_line(const struct text *t, const char *with);

/* values.c: values of a launch by the table. */
struct values {
	const json_t *table;
	const char *where; /* file of the table, for messages */
	const struct launch *launch;
	const json_t *peaks;
	json_t *memo;       /* values that were worked out; null: absent */
	json_t *unreliable; /* raw metrics that the profiler itself marks as doubtful */
	/* raw metrics that were looked for in vain; an array, may be NULL */
	json_t *missing;
	int depth;
};
void values_open(struct values *v, const json_t *table, const char *where, const struct launch *l,
    const json_t *peaks);
void values_close(struct values *v);
/* The value of an expression, NAN when a metric that it needs is absent. */
double values_eval(struct values *v, const char *expression);
double values_get(struct values *v, const char *name);
enum truth { NO, YES, UNKNOWN };
/* A comparison; MARGIN: how far past the bound, as a share of it. */
enum truth values_test(struct values *v, const char *condition, double *margin);
/* All conditions of an array of texts. */
enum truth values_all(struct values *v, const json_t *conditions, double *margin);
/* TEXT with every {expression} replaced by its value. The caller frees. */
char *values_fill(struct values *v, const char *text);
/*
 * Names of the table's values that an expression or a text uses, and what they are, added to OUT.
 */
void values_used(struct values *v, const char *text, bool braces, json_t *out);
/* 3 digits, or a whole number. */
void number_text(double v, char *out, size_t len);

/* vendor.c */
void vendor_add(struct launch *l, const char *rule, const char *section, const char *type,
    const char *text, const char *scope, const char *percent);
/* The best of them, each with the verdict on it; CROSS gets the summary. New reference. */
json_t *vendor_report(
    const struct launch *l, const json_t *table, const json_t *findings, json_t **cross);

/* report.c: the object profile/1. New reference. */
json_t *report(const struct profile *p, const struct launch *l, const json_t *table,
    const char *where, const json_t *peaks, const json_t *kernels);

#endif
