/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karch: archives. An archive is a header line, one line of kind "elite" per occupied cell and one
 * of kind "program" per other remembered candidate, both by falling score. It contains no code:
 * karch_program fetches code by id from the trial folders.
 */
#pragma once

#include "kgain.h"
#include "status.h"

enum {
	KARCH_DIMS = 4,          /* memory, compute, parallelism, esimd */
	KARCH_LEVEL = 3,         /* highest level of each; the lowest is 0 */
	KARCH_CELLS = 256,       /* a cell is a number in base 4, memory being the first digit */
	KARCH_ISLANDS = 64,      /* most islands */
	KARCH_CONTENDERS = 4,    /* programs next to the elites that may also be parents */
	KARCH_LENGTHS = 4,       /* kinds of steps: in place, by one level, by two, by more */
	KARCH_TABU_TRIALS = 3,   /* a target is not used again this soon, unless there is no
                                  * other */
	KARCH_ID = 24,           /* size of a buffer for any id */
	KARCH_ERRORS = 3,        /* errors that prompts show: the most recent */
	KARCH_ERROR_CHARS = 500, /* of each error: the message and its first notes */
	KARCH_WORD = 32,         /* size of a buffer for a strategy */
	KARCH_WHOLE = 64,        /* an archive is complete after every this many candidates */
	KARCH_WHOLE_TRIALS = 16  /* a gradient, after every this many trials */
};

extern const char *const karch_dims[KARCH_DIMS];

/* Id of the evaluated reference, the root of every lineage. */
#define KARCH_REFERENCE "000/00"

/*
 * In a long search, the archive and the gradient of most trials hold only the lines that are new
 * since the trial that the header names as "after". All other lines are in the file of that trial,
 * which may in turn build on an earlier one, and so on down to a complete file. An archive also
 * lists the programs that are "gone". For PATH with HEADER as its first line, this returns the file
 * of that earlier trial; NULL: PATH is complete. Dies with K_USAGE unless PATH is in the folder of
 * its trial. The caller frees.
 */
char *karch_before(const char *path, const json_t *header);
/*
 * Whether a file is written without the lines of earlier ones. From the last file to this one the
 * number of trials or candidates went from BEFORE to NOW, and EACH of them there is a complete one;
 * all are as long as there are few CANDIDATES.
 */
bool karch_is_thin(long before, long now, long each, long candidates);

/* A gradient: the header of the newest file, and the newest line of each cell, unchanged. */
#define KARCH_GRADIENT "gradient/2"
/* Results of steps by their length, whatever the cell: recent ones count more. */
struct karch_length {
	double tries, correct;
	double gain; /* sum of the logarithms of speed-ups that exceed the noise */
};
struct karch_gradient {
	json_t *header;                             /* NULL: a new one */
	struct karch_length lengths[KARCH_LENGTHS]; /* 0, 1, 2, more */
	struct {
		const char *s; /* NULL: nothing is known about the cell */
		size_t len;
	} cell[KARCH_CELLS];
	/* Private: the texts of the files. */
	char **texts;
	size_t count;
};
/* PATH NULL: an empty one. A file that is not a gradient ends the program with K_USAGE. */
void karch_gradient_load(struct karch_gradient *g, const char *path);
void karch_gradient_free(struct karch_gradient *g);

/* One line of an archive. */
struct karch_row {
	char id[KARCH_ID];
	long trial, branch; /* the id as numbers */
	int cell;
	double score;                     /* combined score */
	double speedup, runtime_ms;       /* 0: not timed */
	double speedup_low, speedup_high; /* its interval; HIGH 0: not in the records */
	bool provisional;                 /* measured on a busy machine, or not in turns */
	enum status status;
	char tokens[17];           /* token hash; empty: none */
	char object[17];           /* hash of the object code; empty: none */
	char parent[KARCH_ID];     /* empty: none */
	char strategy[KARCH_WORD]; /* empty: none */
	uint64_t islands;          /* bit i: member of island i */
	bool elite;
	/* as read, without newline; NULL after a change */
	char *line;
	size_t len;
};

/* The archive that a process works with. */
extern struct karch {
	json_t *header; /* NULL: no archive yet */
	long trial;     /* last trial in it; -1: none */
	struct karch_row *elite[KARCH_CELLS];
	struct karch_row **program; /* all other programs, best first */
	size_t programs;
} karch;

/*
 * Read an archive in place of the last one; PATH NULL gives an empty one. A file that is not an
 * archive, or breaks a rule of its format, ends the program with K_USAGE.
 */
void karch_load(const char *path);
/* The same, but a fault is returned as text, which the caller frees; then the archive is empty. */
char *karch_try(const char *path);
/* Leaves an empty one. */
void karch_free(void);
void karch_row_free(struct karch_row *row);
/* Writes a row as one line of the output (kout_line): as it was read, or formatted. */
void karch_put(const struct karch_row *row);
/* karch_keep adds a row to the other programs; the second function sorts them, best first. */
void karch_keep(struct karch_row *row);
void karch_sort(void);
/*
 * Puts the elites, best first (among equals the older first), into LIST of KARCH_CELLS; returns how
 * many.
 */
size_t karch_ranked(const struct karch_row **list);

/* "2103" to 0x93 and back; -1 when TEXT is not a cell. */
int karch_cell(const char *text);
const char *karch_cell_text(int cell);
/* [2,1,0,3] to a cell, -1 if it is not one; and back (new reference). */
int karch_cell_json(const json_t *coords);
json_t *karch_coords(int cell);
/*
 * The level is in bits 6 - 2 * DIM and 7 - 2 * DIM. Inline, because ksample asks millions of times.
 */
static inline int
karch_level(int cell, int dim)
{
	return cell >> (6 - 2 * dim) & 3;
}
/* The cell with LEVEL in dimension DIM instead of its own. */
int karch_with(int cell, int dim, int level);
/* Manhattan distance. */
int karch_distance(int a, int b);

/* "007/02" to 7 and 2; false when TEXT is not an id. */
bool karch_id(const char *text, long *trial, long *branch);
bool karch_is_id(const char *text);
/*
 * The elite rule: a program takes a cell that is empty (ELITE NULL) or whose elite got less far. If
 * both are timed, the new one must be faster by more than the noise of both; in a tie the elite
 * stays.
 */
bool karch_takes(const struct karch_row *elite, const struct karch_row *row);
/* The speed-up of a row with its interval; n 0: it was not timed. */
struct kgain_ratio karch_speedup(const struct karch_row *row);
void karch_set_speedup(struct karch_row *row, const struct kgain_ratio *r, bool provisional);
/*
 * The best program, as far as the header describes it, into ROW; false: there is none yet. It need
 * not be an elite.
 */
bool karch_best(struct karch_row *row);
void karch_set_best(const struct karch_row *row);
/* Adds what is known of its speed-up and its time to O. */
void karch_put_times(const struct karch_row *row, json_t *o);

/* Median score of the elites; 0 if there are none. */
double karch_median(void);

/* Counts one more candidate on the current island: CURRENT and FILLED advance. */
void karch_step(int islands, int *current, long *filled);

/*
 * Hints from the directions of a gradient's cell: those that were tried more than once, were faster
 * in most attempts, and faster in the median of the timed attempts. Best rate first, then the most
 * tried; only the first few. New reference: [{"direction","samples","successes","gain"}], GAIN 0.06
 * for a median of 6 %.
 */
json_t *karch_hints(const json_t *directions);

/*
 * Program ID from trials/ID/eval.ndjson: {"id", "code", "files"?, "log"?}, with the log only on
 * request. New reference. Dies with K_USAGE when there is no such evaluation, or it has no code.
 */
json_t *karch_program(const char *id, bool log);
/* The first line of the archive IN: NULL and a new reference, or what is wrong with it. */
char *karch_header(struct kin *in, json_t **header);

/* Shortest decimal form that reads back as V, a text of kshown. */
const char *karch_real(double v);
