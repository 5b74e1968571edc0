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

/*
 * The file of --ncu or, with --count, one that ncu makes of another run of the application now;
 * NULL: neither. The caller frees.
 */
static char *
counters_of(const json_t *kernels)
{
	const char *file = kjson_maybe(adoption.json, "ncu");
	auto_free char *ncu = NULL, *text = NULL;
	auto_buf struct kbuf b = { 0 };
	auto_result struct command_result r = { 0 };
	struct work_span w;
	char *made, *kept = NULL;

	if (file || !kjson_bool(adoption.json, "count"))
		return kstrdup(file);
	w = work_begin("count", "the work of a call, by ncu");
	made = adopt_path("ncu.csv");
	ncu = ncu_command(kernels);
	kbuf_printf(&b, "%s --log-file ", ncu);
	command_quote(&b, made);
	kbuf_puts(&b, " sh -c ");
	command_quote(&b, adoption.run);
	r = command_run(project_copy(), b.data, NULL, "ncu");
	text = file_text(made, NULL);
	/* It may go on without counters. */
	if (r.status || !text || !strstr(text, NCU_TITLES))
		kwarn("the work of a call was not counted: %s", r.said ?: text ?: "no file");
	else
		kept = kstrdup(made);
	work_end(&w);
	return kept;
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
