/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: the roofline of the campaign: facts about the device with their sources, and what bounds
 * each workload.
 */
#include "kprompt.h"

#include "kroof.h"

/* Facts that help to plan a kernel; a rate is shown if the task's arithmetic runs at it. */
static const char *const shown[] = { "compute_capability", "arch", "units", "warp_width",
	"memory_bandwidth", "memory_size", "l2_size", "l3_size", "l1_per_unit",
	"shared_memory_per_unit", "shared_memory_per_block", "registers_per_unit",
	"max_registers_per_thread", "max_threads_per_unit", "max_blocks_per_unit" };

static void
add_line(json_t *list, const char *form, const json_t *row)
{
	if (row)
		json_array_append_new(list, data_line(form, row));
}

void
roofline_facts(void)
{
	json_auto_t *roofline = kroof_load();
	json_t *list = json_array(), *bounds = json_array();
	const json_t *known = json_object_get(roofline, "facts");
	size_t i;

	add_line(list, "fact", kjson_find(known, "metric", kjson_str(roofline, "compute")));
	for (i = 0; i < LEN(shown); i++)
		add_line(list, "fact", kjson_find(known, "metric", shown[i]));
	kjson_foreach(row, roofline, "workloads") {
		/* A copy has no arithmetic rate, and so perhaps no ridge. */
		json_object_set(row, "ridge", json_object_get(roofline, "ridge"));
		add_line(bounds, "bound", kjson_is(row, "bound", "unknown") ? NULL : row);
	}
	put("facts", list);
	put("bounds", bounds);
}
