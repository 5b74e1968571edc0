/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: rocprofv3 as CSV: counters (a row per dispatch and counter), the kernel trace, and PC
 * samples. Columns are found by name, because releases differ. Several files from several passes
 * make one profile, joined by dispatch.
 */
#include "kprofile.h"

/* Columns that are metrics of the dispatch itself. */
static const char *const facts[] = { "Grid_Size", "Workgroup_Size", "LDS_Block_Size",
	"Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count" };

/* Counters of this file, per dispatch: those of an earlier pass are not added to. */
static json_t *seen;
/* Of the current row. */
static json_t *launch;

static double
need_number(const char *name)
{
	const char *s = csv_need(name);
	char *end;
	double v = strtod(s, &end);

	if (end == s || *end)
		input_fault("%s: '%.60s' is not a number", name, s);
	return v;
}

static void
read_header(void)
{
	csv_take(&csv.head);
	kjson_foreach_text(one, csv.head)
		if (!kjson_has(json_object_get(profile.table, "columns"), one))
			input_fault(
			    "unknown layout: rocprofv3's table has a column \"%.60s\"", one);
}

/* A metric that is computed from several cells. */
static void
set_number(const char *name, double v, const char *unit)
{
	launch_metric(launch, name, kshown("%.17g", v), unit);
}

static void
duration(void)
{
	double ns;

	if (!csv_cell("Start_Timestamp") || !csv_cell("End_Timestamp"))
		return;
	ns = need_number("End_Timestamp") - need_number("Start_Timestamp");
	if (ns > 0)
		set_number("Duration", ns, "ns");
}

static void
counter(void)
{
	const char *name = csv_need("Counter_Name");
	auto_free char *key = kasprintf("%s %s", kjson_str(launch, "id"), name);
	double value = need_number("Counter_Value");
	const json_t *raw = json_object_get(launch, "raw");
	bool here = json_object_get(seen, key) != NULL;

	/*
	 * Twice in one file: instances of a unit. Again in another file: the same counter in
	 * another pass.
	 */
	if (here || !json_object_get(raw, name))
		launch_count(launch, name, value);
	if (!here)
		json_object_set_new(
		    seen, key, json_object_get(raw, name) ? json_true() : json_false());
}

/* One sample of a wave. A reason counts only if nothing was issued. */
static void
sample(void)
{
	static const char prefix[] = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
	const char *reason = csv_need("Stall_Reason"), *code = csv_need("Instruction");
	char *name;

	launch_count(launch, "pc_samples", 1);
	if (need_number("Wave_Issued_Instruction") > 0)
		return;
	if (kbegins(reason, prefix))
		reason += sizeof prefix - 1;
	if (kbegins(code, "buffer_wbl2") || kbegins(code, "buffer_inv"))
		launch_count(launch, "pc_fence", 1);
	name = kasprintf("pc_%s%s", reason,
	    strcmp(reason, "WAITCNT")     ? ""
	        : strstr(code, "vmcnt")   ? "_vmcnt"
	        : strstr(code, "lgkmcnt") ? "_lgkmcnt"
	                                  : "_other");
	launch_count(launch, name, 1);
	free(name);
}

static void
put_facts(void)
{
	static const char *const axes[] = { "X", "Y", "Z" };
	double grid = 1, block = 1;

	kforeach(fact, facts)
		if (csv_cell(*fact))
			launch_metric(launch, *fact, csv_cell(*fact), "");
	if (!csv_cell("Grid_Size_X"))
		return;
	kforeach(axis, axes) {
		grid *= need_number(kshown("Grid_Size_%s", *axis));
		block *= need_number(kshown("Workgroup_Size_%s", *axis));
	}
	set_number("Grid_Size", grid, "");
	set_number("Workgroup_Size", block, "");
}

static void
read_row(void)
{
	if (json_array_size(csv.row) != json_array_size(csv.head))
		input_fault("a row of %zu cells, but the header has %zu", json_array_size(csv.row),
		    json_array_size(csv.head));
	/* Each pass is a process of its own, and the same dispatch has the same number in each. */
	launch = profile_launch("", csv_need("Dispatch_Id"));
	if (csv_cell("Kernel_Name"))
		launch_name(launch, csv_cell("Kernel_Name"));
	if (csv_cell("Sample_Timestamp")) {
		sample();
		return;
	}
	put_facts();
	duration();
	if (csv_cell("Counter_Name"))
		counter();
	else if (!csv_cell("Start_Timestamp"))
		csv_need("Counter_Name");
}

void
rocprof_csv(void)
{
	size_t rows = 0;

	seen = json_object();
	for (; csv_next(false); rows++)
		if (rows)
			read_row();
		else
			read_header();
	input.line = csv.next;
	if (rows < 2)
		input_fault("rocprofv3's file contains no dispatch");
	json_decref(seen);
	csv_close();
}
