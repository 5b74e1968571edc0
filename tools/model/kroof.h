/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kroof: times against the roofline of a campaign, trials/000/roofline.json (schema roofline/1,
 * made by kspec).
 */
#pragma once

#include "kio.h"

/* trials/000/roofline.json, or NULL when there is none. New reference. */
json_t *kroof_load(void);

/*
 * What TIMING (rows of eval.timing, by STATISTIC) means on ROOFLINE: a new array of {"workload",
 * "tflops", "gbps", "compute_pct", "memory_pct"}, with the members that can be computed; NULL when
 * there are none. *EFFICIENCY is the geometric mean, over all rows, of the percentage that counts;
 * NAN when a row has none. *ALARM is the workload whose time is below what the device's sourced
 * peaks allow, or NULL; borrowed from TIMING.
 */
json_t *kroof_utilization(
    const json_t *roofline, const json_t *timing, double *efficiency, const char **alarm);

/*
 * What bounds a program that nobody profiled, judged by how the times of TIMING grow with the work
 * of the workloads on ROOFLINE: {"class", "why"}, a new reference. The class is "overhead"
 * (launches, or too little work to fill the device), "memory" or "compute". NULL when there are
 * fewer than three workloads, or their sizes are too similar.
 */
json_t *kroof_growth(const json_t *roofline, const json_t *timing);

/*
 * Whether a measured copy (a row of ceilings/1) can be right, compared with the device's fastest
 * copy of BEST bytes per nanosecond: a smaller copy is slower because of its start, but only by a
 * limited factor.
 */
bool kroof_copy_plausible(const json_t *row, double best);
/*
 * Why EFFICIENCY of the best kernel, in percent of the ceilings on ROOFLINE, does not end a search:
 * a measured ceiling is not plausible, or the kernel has exceeded it. NULL: it may. The caller
 * frees.
 */
char *kroof_doubt(const json_t *roofline, double efficiency);
/* The fastest copy in the list that no cache could hold; if there is none, the fastest of all. */
double kroof_best_copy(const json_t *copies);
