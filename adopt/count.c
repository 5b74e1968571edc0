/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a call, by hardware counters: formulas for a task's roofline, which views/work.jq
 * finds. See task_count in adopt.h.
 */

#include "adopt.h"
#include "ncu.h"

/* Adds the formula for MEMBER, the number of WHAT, or says why there is none. */
static void
add_formula(json_t *formulas, const char *member, const char *what, const json_t *found)
{
	const json_t *formula = json_object_get(found, member);

	if (json_is_string(formula)) {
		ksay("work       %s %s a call, by hardware counters\n", json_string_value(formula),
		    what);
		json_object_set(formulas, member, (json_t *)formula);
	} else if (formula) {
		kwarn(json_is_null(formula) ? "the file does not show the "
		                              "%s of each configuration: "
		                              "give a formula with --%s"
		                            : "the counted %s are not in proportion to a product "
		                              "of sizes: give a formula with --%s",
		    what, member);
	}
}

json_t *
task_count(const json_t *task)
{
	json_t *sequence = json_object_get(adoption.unit, "sequence"), *formulas = json_object();
	json_auto_t *kernels = sequence ? json_incref(sequence) : json_pack("[s]", adoption.kernel),
	            *configs = NULL, *input = NULL, *found = NULL;
	auto_free char *file = counters_of(kernels);

	if (!file)
		return formulas;
	if (!sequence && !kjson_bool(adoption.unit, "kernel"))
		kdie_usage("ncu does not show which launches belong to a call of %s; give formulas "
		           "with --flops and --bytes",
		    adoption.kernel);
	configs = kjson_load(adopt_path("configs.json"));
	input = json_pack("{s:o,s:O,s:O}", "launches", ncu_calls(file, kernels), "configs",
	    json_object_get(configs, "configs"), "workloads", json_object_get(task, "workloads"));
	if (sequence)
		kjson_put(input, "calls", kjson_int_or(configs, "calls", 1));
	found = kjq("views/work.jq", input);
	add_formula(formulas, "flops", "operations", found);
	add_formula(formulas, "bytes", "bytes", found);
	return formulas;
}
