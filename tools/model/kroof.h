/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kroof: times against the roofline of a campaign, trials/000/roofline.json (schema roofline/1,
 * made by kspec).
 */
#ifndef KROOF_H
#define KROOF_H

#include "kio.h"

/* DIR/trials/000/roofline.json, or NULL when there is none. New reference. */
json_t *kroof_load(const char *dir);

/*
 * What TIMING (rows of eval.timing, by STATISTIC) means on ROOFLINE: a new array of {"workload",
 * "tflops", "gbps", "compute_pct", "memory_pct"}, with what can be told; NULL when nothing can.
 * *EFFICIENCY is the geometric mean, over all rows, of the percentage that binds; NAN when a row
 * has none. *ALARM is the workload whose time lies below what the sourced peaks of the device
 * allow, or NULL; borrowed from TIMING.
 */
json_t *kroof_utilization(
    const json_t *roofline, const json_t *timing, double *efficiency, const char **alarm);

/*
 * What bounds a program, from how the times of TIMING grow with the work of the workloads on
 * ROOFLINE, where nobody profiled it: {"class", "why"}, a new reference. The class is "overhead"
 * (launches, or too little work to fill the device), "memory" or "compute". NULL when fewer than
 * three workloads, or sizes too much alike, say nothing.
 */
json_t *kroof_growth(const json_t *roofline, const json_t *timing);

/*
 * Whether a measured copy (a row of ceilings/1) is what the device can do, beside its fastest copy
 * of BEST bytes a nanosecond: a smaller one pays for its start and is slower, but not so many
 * times.
 */
bool kroof_copy_plausible(const json_t *row, double best);
/*
 * Why EFFICIENCY of the best kernel, in percent of ceilings on ROOFLINE, ends no search: a measured
 * ceiling that is not plausible, or one that the kernel has passed. NULL: it may. The caller frees.
 */
char *kroof_doubt(const json_t *roofline, double efficiency);
/* The fastest copy of the list that no cache could hold; of all, when there is none. */
double kroof_best_copy(const json_t *copies);

#endif
