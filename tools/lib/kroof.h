/* SPDX-License-Identifier: Apache-2.0 */
/* kroof: times against the roofline of a campaign, trials/000/roofline.json (schema roofline/1, made by kspec). */
#ifndef KROOF_H
#define KROOF_H

#include <jansson.h>
#include <stdbool.h>

/* DIR/trials/000/roofline.json, or NULL when there is none. New reference. */
json_t *kroof_load(const char *dir);

/*
 * What TIMING (rows of eval.timing, by STATISTIC) means on ROOFLINE: a new array of {"workload", "tflops", "gbps",
 * "compute_pct", "memory_pct"}, with what can be told; NULL when nothing can. *EFFICIENCY is the geometric mean, over
 * all rows, of the percentage that binds; NAN when a row has none. *ALARM is the workload whose time lies below what
 * the sourced peaks of the device allow, or NULL; borrowed from TIMING.
 */
json_t *kroof_utilization(const json_t *roofline, const json_t *timing, const char *statistic, double *efficiency,
    const char **alarm);

#endif
