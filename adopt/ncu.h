/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ncu: launches in the form that Nsight Compute lists them: `ncu --csv --page raw --print-units
 * base`.
 */
#ifndef NCU_H
#define NCU_H

#include "kconfigs.h"

/*
 * All launches of these KERNELS (names) in FILE, *N of them, in order. Counters:
 * gpu__time_duration.sum and, if present, smsp__thread_inst_executed.sum, dram__bytes_read.sum,
 * dram__bytes_write.sum, and the operations of single and double precision and of the matrix units.
 * Dies when there is none. The caller frees.
 */
struct kconfigs_call *ncu_calls(const char *file, const json_t *kernels, size_t *n);

/* How the line with the titles of the columns begins; before it are remarks. */
#define NCU_TITLES "\"ID\""

/*
 * "ncu" with the options for such a file with all these counters, of the launches of these KERNELS
 * by a program and its children, to be followed by --log-file and the program. The caller frees.
 */
char *ncu_command(const json_t *kernels);

#endif
