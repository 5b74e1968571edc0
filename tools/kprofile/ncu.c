/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: Nsight Compute, pages "raw" (a column per metric, a row per launch, units in a row of
 * their own) and "details" (a row per metric, and a row per recommendation) as CSV.
 */
#include "kprofile.h"

#include "kregex.h"

struct reader {
	struct csv c;
	struct row units;
	size_t metrics; /* first column that is not one of the base */
	bool details;
};

/* A column before the metrics. Those of NVTX ranges have a colon in their names. */
static bool
is_base(const char *name)
{
	return strchr(name, ':') || kjson_has(json_object_get(profile.table, "columns"), name);
}

static void
read_head(struct reader *r)
{
	struct csv *c = &r->c;
	const json_t *details = json_object_get(profile.table, "details");

	csv_take(c, &c->head);
	row_free(&r->units);
	csv_need(c, "ID");
	csv_need(c, "Kernel Name");
	r->details = csv_cell(c, "Metric Name") != NULL;
	for (r->metrics = 0; r->metrics < c->head.width && is_base(c->head.cell[r->metrics]);)
		r->metrics++;
	if (!r->details && r->metrics == c->head.width)
		text_fault(c->text, c->line, "ncu's table has no metrics");
	for (size_t i = r->metrics; i < c->head.width; i++) {
		const char *name = c->head.cell[i];

		if (r->details ? !is_base(name) && !kjson_has(details, name)
		               : strchr(name, ' ') != NULL)
			text_fault(c->text, c->line,
			    "unknown layout: ncu's %s page has a column \"%.60s\"",
			    r->details ? "details" : "raw", name);
	}
	for (size_t i = 0; r->details && i < 4; i++)
		csv_need(c, json_string_value(json_array_get(details, i)));
}

static const char *
cell(const struct reader *r, const char *name)
{
	const char *s = csv_cell(&r->c, name);

	return s ? s : "";
}

static void
set_fact(struct launch *l, const char *key, const char *value)
{
	if (*value && !json_object_get(l->facts, key))
		json_object_set_new(l->facts, key, kjson_string(value));
}

static struct launch *
launch_of(const struct reader *r)
{
	const struct csv *c = &r->c;
	struct launch *l;

	if (c->row.width < r->metrics)
		text_fault(c->text, c->line,
		    "a row of %zu cells, fewer than the %zu that identify the launch", c->row.width,
		    r->metrics);
	l = profile_launch(cell(r, "Process ID"), cell(r, "ID"), "");
	launch_name(l, cell(r, "Kernel Name"), c->text, c->line);
	set_fact(l, "grid", cell(r, "Grid Size"));
	set_fact(l, "block", cell(r, "Block Size"));
	set_fact(l, "compute_capability", cell(r, "CC"));
	return l;
}

/*
 * The first row after the header of a raw page has the units: it is not a launch, so it has no id.
 */
static void
read_units(struct reader *r)
{
	const struct csv *c = &r->c;

	if (c->row.width != c->head.width || *cell(r, "ID") || *cell(r, "Kernel Name"))
		text_fault(c->text, c->line, "unknown layout: ncu's raw page has no row of units");
	csv_take(&r->c, &r->units);
}

static void
read_raw(struct reader *r)
{
	const struct csv *c = &r->c;
	size_t width = c->row.width, full = c->head.width;
	struct launch *l = launch_of(r);

	if (width > full)
		text_fault(
		    c->text, c->line, "a row of %zu cells, but the header has %zu", width, full);
	if (width < full)
		profile_note("%s:%ld: %zu of %zu metrics are missing at the end of the row",
		    c->text->name, c->line, full - width, full - r->metrics);
	for (size_t i = r->metrics; i < width; i++)
		launch_metric(
		    l, c->head.cell[i], c->row.cell[i], r->units.cell[i], c->text, c->line);
	set_fact(l, "device", cell(r, "device__attribute_display_name"));
}

const char *
ncu_metric(const char *section, const char *label)
{
	auto_free char *key = kasprintf("%s|%s", section, label);
	const char *name =
	    json_string_value(json_object_get(json_object_get(profile.table, "labels"), key));

	return strcmp(section, "Command line profiler metrics") ? name : label;
}

/*
 * Metric rows end at the value, or one empty cell later; rows of recommendations are complete and
 * have no metric.
 */
static void
read_details(struct reader *r)
{
	const struct csv *c = &r->c;
	struct launch *l = launch_of(r);
	const char *section = cell(r, "Section Name"), *metric = cell(r, "Metric Name"),
	           *rule = cell(r, "Rule Name"), *name;

	if (*rule) {
		vendor_add(l, rule, section, cell(r, "Rule Type"), cell(r, "Rule Description"),
		    cell(r, "Estimated Speedup Type"), cell(r, "Estimated Speedup"));
	} else if (*metric) {
		name = ncu_metric(section, metric);
		if (c->row.width <=
		    kindex_of("Metric Value", (const char *const *)c->head.cell, c->head.width))
			text_fault(c->text, c->line,
			    "a row of %zu cells that ends before its \"Metric Value\"",
			    c->row.width);
		if (name)
			launch_metric(l, name, cell(r, "Metric Value"), cell(r, "Metric Unit"),
			    c->text, c->line);
	}
}

static void
preface_line(void *arg, char *line, long number)
{
	const struct reader *r = arg;
	const json_t *versions = json_object_get(profile.table, "versions");
	struct kregex_span at[2];
	bool known = false;

	if (*line == '"' || *line == ' ')
		return;
	if (strstr(line, "ERR_NVGPUCTRPERM"))
		kdie(K_MISSING,
		    "%s:%ld: ncu has no permission to read performance counters "
		    "(ERR_NVGPUCTRPERM)",
		    r->c.text->file, number);
	if (!kregex_find("\\A(?=Version .*\\(build |.*(?:ncu|Nsight)).*?Version (\\S*)", line,
	        strlen(line), at, LEN(at)))
		return;
	line[at[1].to] = '\0';
	line += at[1].from;
	kjson_foreach(v, versions)
		known |= !strncmp(line, json_string_value(v), json_string_length(v));
	if (!known)
		text_fault(r->c.text, number, "ncu %s: this version is not supported", line);
	profile_note("ncu %s", line);
}

/*
 * Lines of the tool itself, which begin with neither a quote nor a blank: the version, if given,
 * and the reason if nothing could be measured.
 */
void
ncu_preface(const struct text *t)
{
	struct reader r = { .c = { .text = t } };

	text_lines(t, preface_line, &r);
}

void
ncu_csv(const struct text *t)
{
	struct reader r = { .c = { .text = t } };
	size_t rows = 0;

	ncu_preface(t);
	while (csv_next(&r.c, true)) {
		if (!strcmp(r.c.row.cell[0], "ID")) {
			read_head(&r);
			if (r.details != !strcmp(t->format, "ncu-details"))
				text_fault(t, r.c.line, "this is the %s page of ncu, not %s",
				    r.details ? "details" : "raw", t->format);
		} else if (!r.c.head.width) {
			continue; /* a quoted word printed by the profiled program */
		} else if (!r.details && !r.units.width) {
			read_units(&r);
		} else {
			(r.details ? read_details : read_raw)(&r);
			rows++;
		}
	}
	if (!rows)
		text_fault(
		    t, r.c.next, "this file of ncu contains no launch; was no kernel profiled?");
	row_free(&r.units);
	csv_close(&r.c);
}
