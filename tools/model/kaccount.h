/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kaccount: how much of a campaign's gain is real. Gains from kernel work (buckets K) count as
 * measured; those from a cache of weights up to its bound; all others not at all. Gains compound,
 * so parts and whole are products here: sums of per cents would leave a gap of their own.
 */
#pragma once

#include "ktrials.h"

/* Adds the trials of the program's campaign, one after the other, from trial 0 on. */
void kaccount_add(const struct ktrial *trial);
/* After the last one, the account: schema audit-report/1. New reference. */
json_t *kaccount_report(void);
