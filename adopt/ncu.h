/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ncu: launches in the form that Nsight Compute lists them: `ncu --csv --page raw --print-units
 * base`.
 */
#pragma once

#include <jansson.h>

/*
 * All launches of these KERNELS (names, or symbols of C++) in FILE, in order: {"grid", "block",
 * "ns"} and, where they were counted, "thread_inst" (instructions of all threads), "dram_bytes" and
 * "dram_read" (bytes of device memory, in all and read), and "flops" (operations of single and
 * double precision and of the matrix units). Dies when there is none. New reference.
 */
json_t *ncu_calls(const char *file, const json_t *kernels);

/* How the line with the titles of the columns begins; before it are remarks. */
#define NCU_TITLES "\"ID\""

/*
 * "ncu" with the options for such a file with all these counters, of the launches of these KERNELS
 * by a program and its children, to be followed by --log-file and the program. The caller frees.
 */
char *ncu_command(const json_t *kernels);
