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

struct reader {
	struct csv c;
	/* counters of this file, per dispatch: those of an earlier pass are not added to */
	json_t *seen;
};

static const char *
cell(const struct reader *r, const char *name)
{
	return csv_cell(&r->c, name);
}

static double
need_number(const struct reader *r, const char *name)
{
	const char *s = csv_need(&r->c, name);
	char *end;
	double v = strtod(s, &end);

	if (end == s || *end)
		text_fault(r->c.text, r->c.line, "%s: '%.60s' is not a number", name, s);
	return v;
}

static void
read_header(struct reader *r)
{
	struct csv *c = &r->c;

	csv_take(c, &c->head);
	kforeach_of(one, c->head.cell, c->head.width)
		if (!kjson_has(json_object_get(profile.table, "columns"), *one))
			text_fault(c->text, c->line,
			    "unknown layout: rocprofv3's table has a column \"%.60s\"", *one);
}

/* A metric that is computed from several cells. */
static void
set_number(const struct reader *r, struct launch *l, const char *name, double v, const char *unit)
{
	char text[40];

	snprintf(text, sizeof text, "%.17g", v);
	launch_metric(l, name, text, unit, r->c.text, r->c.line);
}

static void
duration(const struct reader *r, struct launch *l)
{
	double ns;

	if (!cell(r, "Start_Timestamp") || !cell(r, "End_Timestamp"))
		return;
	ns = need_number(r, "End_Timestamp") - need_number(r, "Start_Timestamp");
	if (ns > 0)
		set_number(r, l, "Duration", ns, "ns");
}

static void
counter(struct reader *r, struct launch *l)
{
	const char *name = csv_need(&r->c, "Counter_Name");
	auto_free char *key = kasprintf("%s %s", l->id, name);
	double value = need_number(r, "Counter_Value");
	bool here = json_object_get(r->seen, key) != NULL;

	/*
	 * Twice in one file: instances of a unit. Again in another file: the same counter in
	 * another pass.
	 */
	if (here || !json_object_get(l->raw, name))
		launch_count(l, name, value, r->c.text, r->c.line);
	if (!here)
		json_object_set_new(
		    r->seen, key, json_object_get(l->raw, name) ? json_true() : json_false());
}

/* One sample of a wave. A reason counts only if nothing was issued. */
static void
sample(struct reader *r, struct launch *l)
{
	static const char prefix[] = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
	const char *reason = csv_need(&r->c, "Stall_Reason"),
	           *code = csv_need(&r->c, "Instruction");
	char *name;

	launch_count(l, "pc_samples", 1, r->c.text, r->c.line);
	if (need_number(r, "Wave_Issued_Instruction") > 0)
		return;
	if (!strncmp(reason, prefix, sizeof prefix - 1))
		reason += sizeof prefix - 1;
	if (!strncmp(code, "buffer_wbl2", 11) || !strncmp(code, "buffer_inv", 10))
		launch_count(l, "pc_fence", 1, r->c.text, r->c.line);
	name = kasprintf("pc_%s%s", reason,
	    strcmp(reason, "WAITCNT")     ? ""
	        : strstr(code, "vmcnt")   ? "_vmcnt"
	        : strstr(code, "lgkmcnt") ? "_lgkmcnt"
	                                  : "_other");
	launch_count(l, name, 1, r->c.text, r->c.line);
	free(name);
}

static void
facts_of(struct reader *r, struct launch *l)
{
	static const char *const axes[] = { "X", "Y", "Z" };
	double grid = 1, block = 1;
	char text[40];

	kforeach(fact, facts)
		if (cell(r, *fact))
			launch_metric(l, *fact, cell(r, *fact), "", r->c.text, r->c.line);
	if (!cell(r, "Grid_Size_X"))
		return;
	kforeach(axis, axes) {
		snprintf(text, sizeof text, "Grid_Size_%s", *axis);
		grid *= need_number(r, text);
		snprintf(text, sizeof text, "Workgroup_Size_%s", *axis);
		block *= need_number(r, text);
	}
	set_number(r, l, "Grid_Size", grid, "");
	set_number(r, l, "Workgroup_Size", block, "");
}

static void
read_row(struct reader *r)
{
	struct launch *l;

	if (r->c.row.width != r->c.head.width)
		text_fault(r->c.text, r->c.line, "a row of %zu cells, but the header has %zu",
		    r->c.row.width, r->c.head.width);
	/* Each pass is a process of its own, and the same dispatch has the same number in each. */
	l = profile_launch("", csv_need(&r->c, "Dispatch_Id"), "");
	if (cell(r, "Kernel_Name"))
		launch_name(l, cell(r, "Kernel_Name"), r->c.text, r->c.line);
	if (cell(r, "Sample_Timestamp")) {
		sample(r, l);
		return;
	}
	facts_of(r, l);
	duration(r, l);
	if (cell(r, "Counter_Name"))
		counter(r, l);
	else if (!cell(r, "Start_Timestamp"))
		csv_need(&r->c, "Counter_Name");
}

void
rocprof_csv(const struct text *t)
{
	struct reader r = { .c = { .text = t }, .seen = json_object() };
	size_t rows = 0;

	for (; csv_next(&r.c, false); rows++)
		if (rows)
			read_row(&r);
		else
			read_header(&r);
	if (rows < 2)
		text_fault(t, r.c.next, "this file of rocprofv3 contains no dispatch");
	json_decref(r.seen);
	csv_close(&r.c);
}
