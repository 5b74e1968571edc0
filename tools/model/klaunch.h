/* SPDX-License-Identifier: Apache-2.0 */
/*
 * klaunch: how the kernels of a candidate that consists of device code only are launched. The
 * candidate says so in comment lines, in order,
 *   // kiln: launch kernel=NAME grid=EXPR[,EXPR[,EXPR]] block=EXPR[,EXPR[,EXPR]] [shared=EXPR]
 * GRID counts blocks (work-groups), BLOCK the threads (work-items) of one, SHARED the bytes of
 * memory that a block shares besides what the kernel declares. EXPR is ktask's language over the
 * axes of the task, without white space or commas outside parentheses.
 */
#pragma once

#include "ktask.h"

enum { KLAUNCH_MAX = 8, KLAUNCH_NAME = 64, KLAUNCH_EXPRESSION = 256 };

struct klaunch {
	char kernel[KLAUNCH_NAME];
	char grid[3][KLAUNCH_EXPRESSION], block[3][KLAUNCH_EXPRESSION],
	    shared[KLAUNCH_EXPRESSION]; /* "": not given */
	int line;
};

struct klaunch_list {
	struct klaunch at[KLAUNCH_MAX];
	size_t count;
};

/* The numbers of a launch for one workload. */
struct klaunch_size {
	uint32_t grid[3], block[3], shared;
};

/*
 * False with the reason in WHY, which names the line: a fault in a launch line, too many of them,
 * or none.
 */
bool klaunch_parse(const char *source, struct klaunch_list *list, char *why, size_t why_len);
/*
 * False with the reason in WHY when an expression is wrong, or its value is not a valid launch
 * size.
 */
bool klaunch_eval(const struct klaunch *l, const struct ktask *t, const struct ktask_workload *w,
    struct klaunch_size *size, char *why, size_t why_len);
/*
 * Evaluates all launches for all workloads of the task, which finds every fault before anything
 * runs.
 */
bool klaunch_check(
    const struct klaunch_list *list, const struct ktask *t, char *why, size_t why_len);

/*
 * Such a candidate after the build: its text, with the launch lines, and the device code made from
 * it, in one file. _pack returns the bytes (the caller frees); _unpack borrows from DATA and
 * returns false if it is not such a file. The text is not terminated.
 */
char *klaunch_pack(
    const char *source, size_t source_len, const void *code, size_t code_len, size_t *len);
bool klaunch_unpack(const char *data, size_t len, const char **source, size_t *source_len,
    const char **code, size_t *code_len);
/* For programs that compile: limit address space to KILN_MEMORY_MB (environment) from here on. */
void klaunch_limit_memory(void);
