/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgroups: how the rows of a grouped operation (a layer of experts, a batch of different problems)
 * are divided among its groups, and whether a task's workloads look like real routing, which is
 * skewed, changes from call to call and leaves groups empty.
 */
#pragma once

#include "ktask.h"

struct kgroups {
	size_t count, empty;   /* groups, and empty groups */
	int64_t rows, largest; /* in all groups, in the largest */
	bool uniform;          /* two groups or more, which differ by at most one row */
	/* three groups or more, one of which has half of the rows or more */
	bool dominated;
	/* three groups or more, and the largest has at least twice the average */
	bool skewed;
};

/*
 * Is this a grouped operation, according to the task or, unless its workloads have recorded
 * contents, to the name of its op?
 */
bool kgroups_expected(const struct ktask *t);

/*
 * The groups of a workload; false when the task has none, or the workload does not determine them.
 */
bool kgroups_of(const struct ktask *t, const struct ktask_workload *w, struct kgroups *g);

/*
 * What keeps a grouped operation's workloads from being a fair test: one line each appended to TEXT
 * (the caller frees *TEXT); returns how many. None for a task that is not a grouped operation.
 */
size_t kgroups_faults(const struct ktask *t, char **text);
