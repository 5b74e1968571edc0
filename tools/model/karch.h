/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karch: archives. An archive is a header line, one line of kind "elite" per occupied cell and one
 * of kind "program" per other candidate remembered, both by falling score. No code stands in it:
 * karch_program fetches that by id from the trial folders.
 */
#ifndef KARCH_H
#define KARCH_H

#include "kgain.h"
#include "status.h"

enum {
	KARCH_DIMS = 4,          /* memory, compute, parallelism, esimd */
	KARCH_LEVEL = 3,         /* highest level of each; the lowest is 0 */
	KARCH_CELLS = 256,       /* a cell is a number in base 4, memory first */
	KARCH_ISLANDS = 64,      /* most islands */
	KARCH_CONTENDERS = 4,    /* programs next to the elites that may be parents, too */
	KARCH_LENGTHS = 4,       /* steps in place, of one level, of two, of more */
	KARCH_TABU_TRIALS = 3,   /* a target is not repeated so soon, unless nothing else is left */
	KARCH_ID = 24,           /* bytes that hold any id */
	KARCH_ERRORS = 3,        /* errors that prompts show: the last ones */
	KARCH_ERROR_CHARS = 500, /* of each: the message and its first notes */
	KARCH_WORD = 32,         /* bytes that hold a strategy */
	KARCH_WHOLE = 16         /* every so many trials archive and gradient are whole */
};

extern const char *const karch_dims[KARCH_DIMS];

/* Id of the reference evaluated, the root of every lineage. */
#define KARCH_REFERENCE "000/00"

/*
 * In a long search, the archive and the gradient of most trials hold only the lines that are new
 * since the trial named in the header as "after"; all others are in the file of that trial, which
 * may rest on an earlier one, and so on to one that is whole. An archive also lists the programs
 * that are "gone". This is that file of the same name for PATH, with HEADER as its first line;
 * NULL: PATH is whole. Dies with K_USAGE unless PATH is in the folder of its trial. The caller
 * frees.
 */
char *karch_before(const char *path, const json_t *header);
/* Whether the file of TRIAL with COUNT things in it is not to be whole. */
bool karch_is_thin(long trial, size_t count);

/* A gradient: the header of the newest file, and the newest line of each cell as it stands. */
#define KARCH_GRADIENT "gradient/2"
struct karch_gradient {
	json_t *header; /* NULL: a new one */
	struct {
		const char *s; /* NULL: nothing is known of the cell */
		size_t len;
	} cell[KARCH_CELLS];
	/* Private: of the files read. */
	char **texts;
	size_t count;
};
/* PATH NULL: a new one. What is no gradient ends the program with K_USAGE. */
void karch_gradient_load(struct karch_gradient *g, const char *path);
void karch_gradient_free(struct karch_gradient *g);

/* One line of an archive. */
struct karch_row {
	char id[KARCH_ID];
	long trial, branch; /* the id as numbers */
	int cell;
	double score;                     /* combined score */
	double speedup, runtime_ms;       /* 0: not timed */
	double speedup_low, speedup_high; /* its interval; HIGH 0: the records have none */
	bool provisional;                 /* measured on a busy machine, or apart */
	enum status status;
	char tokens[17];           /* token hash; empty: none */
	char object[17];           /* hash of the object code; empty: none */
	char parent[KARCH_ID];     /* empty: none */
	char strategy[KARCH_WORD]; /* empty: none */
	uint64_t islands;          /* bit i: member of island i */
	bool elite;
	/* as read, without newline; NULL once something has changed */
	char *line;
	size_t len;
};

struct karch {
	json_t *header; /* NULL: no archive yet */
	long trial;     /* last trial in it; -1: none */
	struct karch_row *elite[KARCH_CELLS];
	struct karch_row **program; /* the others, best first */
	size_t programs, capacity;
};

/*
 * Read an archive; PATH NULL gives an empty one. With PROGRAMS false only KARCH_CONTENDERS of the
 * others are read. A file that is no archive, or breaks a rule of its format, ends the program with
 * K_USAGE. Free with karch_free.
 */
void karch_load(struct karch *a, const char *path, bool programs);
/* The same, but a fault is returned as text, which the caller frees, and leaves A empty. */
char *karch_try(struct karch *a, const char *path, bool programs);
void karch_free(struct karch *a);
void karch_row_free(struct karch_row *row);
/* A row on one line of the output (kout_line): as it was read, or formatted. */
void karch_put(const struct karch_row *row);
/* Add one to the other programs; and put them in order, best first. */
void karch_keep(struct karch *a, struct karch_row *row);
void karch_sort(struct karch *a);
/* Elites, best first (of equals the older first), into LIST of KARCH_CELLS; how many. */
size_t karch_ranked(const struct karch *a, const struct karch_row **list);

/* "2103" to 0x93 and back; -1 when TEXT is no cell. */
int karch_cell(const char *text);
void karch_cell_text(int cell, char text[KARCH_DIMS + 1]);
/* [2,1,0,3] to a cell, -1 when it is none; and back (new reference). */
int karch_cell_json(const json_t *coords);
json_t *karch_coords(int cell);
/* It stands in bits 6 - 2 * DIM and 7 - 2 * DIM; ksample asks for millions. */
static inline int
karch_level(int cell, int dim)
{
	return cell >> (6 - 2 * dim) & 3;
}
/* The cell with LEVEL in dimension DIM. */
int karch_with(int cell, int dim, int level);
/* Manhattan distance. */
int karch_distance(int a, int b);

/* "007/02" to 7 and 2; false when TEXT is no id. */
bool karch_id(const char *text, long *trial, long *branch);
/*
 * The elite rule: a program takes a cell that is empty (ELITE NULL) or whose elite has come less
 * far. Of two that are timed the new one must be faster beyond the noise of both; a tie keeps the
 * elite.
 */
bool karch_takes(const struct karch_row *elite, const struct karch_row *row);
/* The speed-up of a row with its interval; n 0: it was not timed. */
struct kgain_ratio karch_speedup(const struct karch_row *row);
void karch_set_speedup(struct karch_row *row, const struct kgain_ratio *r, bool provisional);
/*
 * The header's best, as far as the header tells, into ROW; false: there is none yet. It need not be
 * an elite.
 */
bool karch_best(const struct karch *a, struct karch_row *row);
void karch_set_best(struct karch *a, const struct karch_row *row);

/* Median score of the elites; 0 without any. */
double karch_median(const struct karch *a);

/* One candidate more on the current island: CURRENT and FILLED step on. */
void karch_step(int islands, int *current, long *filled);

/*
 * Hints from the directions of a gradient's cell: those that were tried more than once, were mostly
 * faster, and faster in the median of the tries that were timed; best rate first, then the most
 * tried; a few at most. New reference: [{"direction","samples","successes","gain"}], GAIN 0.06 for
 * a median of 6 %.
 */
json_t *karch_hints(const json_t *directions);

/*
 * Program ID from DIR/trials/ID/eval.ndjson: {"id", "code", "files"?, "log"?} with the log only
 * when wanted. New reference. Dies with K_USAGE when there is no such evaluation, or no code in it.
 */
json_t *karch_program(const char *dir, const char *id, bool log);
/*
 * The first line of a record file that somebody else may have removed: the text (the caller frees)
 * or NULL.
 */
char *karch_record(const char *dir, const char *id, const char *stage, size_t *len);

/* Shortest decimal form that reads back as V. BUF holds 32 bytes. */
const char *karch_real(double v, char *buf);

#endif
