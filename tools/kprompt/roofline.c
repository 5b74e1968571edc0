/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: the roofline of the campaign: facts about the device with their sources, and what bounds
 * each workload.
 */
#include "kprompt.h"

#include "kfence.h"
#include "kroof.h"

enum { MAX_LINE = 300 };

/* Facts that help to plan a kernel; a rate is shown if the task's arithmetic runs at it. */
static const char *const shown[] = { "compute_capability", "arch", "units", "warp_width",
	"memory_bandwidth", "memory_size", "l2_size", "l3_size", "l1_per_unit",
	"shared_memory_per_unit", "shared_memory_per_block", "registers_per_unit",
	"max_registers_per_thread", "max_threads_per_unit", "max_blocks_per_unit" };

static void add_line(json_t *list, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void
add_line(json_t *list, const char *fmt, ...)
{
	char text[MAX_LINE + 1], *line;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	line = kfence_line(text, MAX_LINE);
	json_array_append_new(list, json_string(line));
	free(line);
}

static void
add_fact(json_t *list, const json_t *facts, const char *metric)
{
	const json_t *f = kjson_find(facts, "metric", metric);
	const char *word = json_string_value(json_object_get(f, "value"));
	char number[32];

	snprintf(number, sizeof number, "%.15g", kjson_num_or(f, "value", 0));
	if (f)
		add_line(list, "%s: %s %s <- %s:L%ld", metric, word ? word : number,
		    kjson_str_or(f, "unit", ""), kjson_str_or(f, "file", ""),
		    (long)kjson_int_or(f, "line", 0));
}

static void
add_bound(json_t *list, const json_t *row, double ridge)
{
	const char *bound = kjson_str_or(row, "bound", "unknown"),
	           *by = kjson_str_or(row, "floor_by", "");
	char *why;

	if (!strcmp(bound, "unknown"))
		return;
	/* A copy has no arithmetic rate, and so perhaps no ridge. */
	why = ridge > 0 ? kasprintf(": the ridge is at %.4g", ridge) : kstrdup("");
	add_line(list,
	    "%s: %.4g operations, %.4g bytes read and written, %.4g operations a byte "
	    "(%s-bound%s); %.4g us at "
	    "the %s; %s (0.90 x %s)",
	    kjson_str_or(row, "workload", ""), kjson_num_or(row, "flops", 0),
	    kjson_num_or(row, "bytes", 0), kjson_num_or(row, "intensity", 0), bound, why,
	    kjson_num_or(row, "floor_ns", 0) / 1e3, by, kjson_str_or(row, "target.text", ""),
	    kjson_str_or(row, "target.by", ""));
	free(why);
}

void
roofline_facts(json_t *stable, const struct kcamp *camp)
{
	json_auto_t *roofline = kroof_load(camp->dir);
	json_t *facts = json_array(), *bounds = json_array(), *row;
	const json_t *known = json_object_get(roofline, "facts");
	size_t i;

	add_fact(facts, known, kjson_str_or(roofline, "compute", ""));
	for (i = 0; i < LEN(shown); i++)
		add_fact(facts, known, shown[i]);
	json_array_foreach(json_object_get(roofline, "workloads"), i, row)
		add_bound(bounds, row, kjson_num_or(roofline, "ridge", 0));
	json_object_set_new(stable, "facts", facts);
	json_object_set_new(stable, "bounds", bounds);
	json_object_set_new(stable, "has_facts", json_boolean(json_array_size(facts)));
	json_object_set_new(stable, "has_bounds", json_boolean(json_array_size(bounds)));
}
