/* SPDX-License-Identifier: Apache-2.0 */
/* kgroups: see kgroups.h. */
#include "kgroups.h"

/* Beginnings of op names that indicate groups. */
static const char *const grouped_ops[] = { "grouped", "moe", "group_gemm", "expert" };

/* A call of a real program has the groups of that program, whatever it calls its function. */
static bool
has_recording(const struct ktask *t)
{
	bool fresh;

	kforeach_of(workload, t->workloads, t->workload_count)
		kforeach_of(tensor, t->tensors, t->tensor_count)
			if (ktask_recorded(workload, tensor, &fresh))
				return true;
	return false;
}

bool
kgroups_expected(const struct ktask *t)
{
	kforeach(op, grouped_ops)
		if (kbegins(t->op, *op))
			return t->groups >= 0 || !has_recording(t);
	return t->groups >= 0;
}

bool
kgroups_of(const struct ktask *t, const struct ktask_workload *w, struct kgroups *g)
{
	const json_t *list =
	    t->groups < 0 ? NULL : json_object_get(w->values, t->tensors[t->groups].name);
	size_t n = json_array_size(list);
	int64_t least = INT64_MAX;

	*g = (struct kgroups){ .count = n - (n && t->group_offsets) };
	if (!g->count)
		return false;
	for (size_t i = 0; i < g->count; i++) {
		int64_t rows = json_integer_value(json_array_get(list, i));

		if (t->group_offsets)
			rows = json_integer_value(json_array_get(list, i + 1)) - rows;
		g->rows += rows;
		g->empty += rows < 1;
		g->largest = rows > g->largest ? rows : g->largest;
		least = rows < least ? rows : least;
	}
	g->uniform = g->count > 1 && g->largest - least <= 1;
	g->dominated = g->count > 2 && 2 * g->largest >= g->rows;
	g->skewed = g->count > 2 && g->largest * (int64_t)g->count >= 2 * g->rows;
	return true;
}

/*
 * A generator that gives every group between 0.2 and 1.2 of its share is called unbalanced but is
 * nearly uniform: no group is empty and none has half of the rows.
 */
static void
check_skew(struct kfaults *f, const struct ktask_workload *w, const struct kgroups *g)
{
	if (w->skew && !g->empty && !g->dominated)
		kfault(f,
		    "workload %s is marked as skewed, but none of its %zu groups is empty and none "
		    "has half of the rows (the largest has %.2f times its share); leave a group "
		    "empty, or give one half of the rows",
		    w->name, g->count,
		    (double)g->largest * (double)g->count / (double)(g->rows ?: 1));
}

size_t
kgroups_faults(const struct ktask *t, char **text)
{
	enum { UNIFORM, SKEWED, DOMINATED, EMPTY, TIMED, KINDS };
	static const char *const missing[KINDS] = {
		"no workload has groups of equal size",
		"no workload is skewed "
		"(the largest group at least twice the average)",
		"no workload has a group with half of the rows or more",
		"no workload has an empty group",
		"no timed workload has \"skew\": true, so nothing shows that a gain holds there",
	};
	bool found[KINDS] = { false };
	struct kfaults f = { 0 };
	size_t known = 0;

	kbuf_add(&f.text, "", 0);
	kforeach_of(w, t->workloads, t->groups >= 0 ? t->workload_count : 0) {
		struct kgroups g;

		if (!kgroups_of(t, w, &g)) {
			kfault(&f,
			    "workload %s gives no values for %s: "
			    "the sizes of its groups must be known",
			    w->name, t->tensors[t->groups].name);
			continue;
		}
		known++;
		found[UNIFORM] |= g.uniform;
		found[SKEWED] |= g.skewed;
		found[DOMINATED] |= g.dominated;
		found[EMPTY] |= g.empty > 0;
		found[TIMED] |= w->skew && w->timed;
		check_skew(&f, w, &g);
	}
	if (t->groups < 0 && kgroups_expected(t))
		kfault(&f,
		    "op %s is a grouped operation: \"groups\" must say which input holds the sizes "
		    "of its groups, as in {\"tensor\": \"offsets\", \"form\": \"offsets\"}",
		    t->op);
	for (size_t k = 0; k < KINDS && known; k++)
		if (!found[k])
			kfault(&f, "%s", missing[k]);
	*text = f.text.data;
	return f.count;
}
