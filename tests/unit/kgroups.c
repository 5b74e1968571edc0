/* SPDX-License-Identifier: Apache-2.0 */
/* kgroups: how rows fall to groups. */
#include "kgroups.h"

#include <stdlib.h>

#include "kutil.h"
#include "tap.h"

/* A task with one integer input and one workload that gives its values. */
static bool
groups(bool offsets, const char *values, struct kgroups *g)
{
	json_t *all = json_object();
	struct ktask *t = kcalloc(1, sizeof *t);
	struct ktask_workload w = { .name = "w", .values = all };
	bool known;

	json_object_set_new(all, "sizes", json_loads(values, 0, NULL));
	t->tensors[0].name = "sizes";
	t->tensor_count = 1;
	t->op = "matmul";
	t->group_offsets = offsets;
	known = kgroups_of(t, &w, g);
	json_decref(all);
	free(t);
	return known;
}

/* Faults of a task of that op which does not say what its groups are, with VALUES of its input. */
static size_t
faults(const char *op, const char *values)
{
	json_t *all = json_pack("{s:o}", "x", json_loads(values, 0, NULL));
	struct ktask *t = kcalloc(1, sizeof *t);
	struct ktask_workload w = { .name = "w", .values = all };
	char *text;
	size_t n;

	t->tensors[0].name = "x";
	t->tensor_count = t->workload_count = 1;
	t->workloads = &w;
	t->op = op;
	t->groups = -1;
	n = kgroups_faults(t, &text);
	free(text);
	json_decref(all);
	free(t);
	return n;
}

int
main(void)
{
	struct kgroups g;

	kutil_init("kgroups");
	CHECK(faults("moeSoftmax", "[1, 2]") == 1 && faults("softmax", "[1, 2]") == 0);
	/* A kernel of a real program, with the data of its calls. */
	CHECK(faults("moeSoftmax", "{\"file\": \"recorded/top1.x.npy\"}") == 0);
	CHECK(groups(true, "[0, 4, 4, 20]", &g) && g.count == 3 && g.empty == 1 && g.rows == 20 &&
	    g.largest == 16);
	CHECK(g.dominated && g.skewed && !g.uniform);
	CHECK(groups(false, "[4, 0, 16]", &g) && g.count == 3 && g.empty == 1 && g.rows == 20 &&
	    g.largest == 16);
	CHECK(groups(false, "[5, 5, 4, 5]", &g) && g.uniform && !g.skewed && !g.dominated &&
	    !g.empty);
	CHECK(groups(false, "[20, 60, 70, 106]", &g) && !g.uniform && !g.skewed && !g.dominated);
	CHECK(groups(false, "[10, 10]", &g) && g.uniform && !g.dominated);
	CHECK(!groups(true, "[]", &g));
	CHECK(!groups(true, "[0]", &g));
	return tap_done();
}
