/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: Nsight Compute, pages "raw" (a column per metric, a row per launch, units in a row of
 * their own) and "details" (a row per metric, and a row per recommendation) as CSV.
 */
#include "kprofile.h"

static struct reader {
	json_t *units;
	size_t metrics; /* first column that is not one of the base */
	bool details;
} reader;

/* A column before the metrics. Those of NVTX ranges have a colon in their names. */
static bool
is_base(const char *name)
{
	return strchr(name, ':') || kjson_has(json_object_get(profile.table, "columns"), name);
}

static void
read_head(void)
{
	const json_t *details = json_object_get(profile.table, "details");
	size_t width = json_array_size(csv.row);

	csv_take(&csv.head);
	json_decref(reader.units);
	reader.units = NULL;
	csv_need("ID");
	csv_need("Kernel Name");
	reader.details = csv_cell("Metric Name") != NULL;
	reader.metrics = 0;
	while (reader.metrics < width && is_base(kjson_item(csv.head, reader.metrics)))
		reader.metrics++;
	if (!reader.details && reader.metrics == width)
		input_fault("ncu's table has no metrics");
	for (size_t i = reader.metrics; i < width; i++) {
		const char *name = kjson_item(csv.head, i);

		if (reader.details ? !is_base(name) && !kjson_has(details, name)
		                   : strchr(name, ' ') != NULL)
			input_fault("unknown layout: ncu's %s page has a column \"%.60s\"",
			    reader.details ? "details" : "raw", name);
	}
	for (size_t i = 0; reader.details && i < 4; i++)
		csv_need(kjson_item(details, i));
}

static const char *
cell(const char *name)
{
	return csv_cell(name) ?: "";
}

static void
set_fact(json_t *launch, const char *key, const char *value)
{
	if (*value)
		kjson_ensure(json_object_get(launch, "facts"), key, kjson_string(value));
}

static json_t *
launch_of(void)
{
	size_t width = json_array_size(csv.row);
	json_t *l = profile_launch(cell("Process ID"), cell("ID"));

	if (width < reader.metrics)
		input_fault("a row of %zu cells, fewer than the %zu that identify the launch",
		    width, reader.metrics);
	launch_name(l, cell("Kernel Name"));
	set_fact(l, "grid", cell("Grid Size"));
	set_fact(l, "block", cell("Block Size"));
	set_fact(l, "compute_capability", cell("CC"));
	return l;
}

/*
 * The first row after the header of a raw page has the units: it is not a launch, so it has no id.
 */
static void
read_units(void)
{
	if (json_array_size(csv.row) != json_array_size(csv.head) || *cell("ID") ||
	    *cell("Kernel Name"))
		input_fault("unknown layout: ncu's raw page has no row of units");
	csv_take(&reader.units);
}

static void
read_raw(void)
{
	size_t width = json_array_size(csv.row), full = json_array_size(csv.head);
	json_t *l = launch_of();

	if (width > full)
		input_fault("a row of %zu cells, but the header has %zu", width, full);
	if (width < full)
		profile_note("%s:%ld: %zu of %zu metrics are missing at the end of the row",
		    input.name, input.line, full - width, full - reader.metrics);
	for (size_t i = reader.metrics; i < width; i++)
		launch_metric(l, kjson_item(csv.head, i), kjson_item(csv.row, i),
		    kjson_item(reader.units, i));
	set_fact(l, "device", cell("device__attribute_display_name"));
}

const char *
ncu_metric(const char *section, const char *label)
{
	return strcmp(section, "Command line profiler metrics")
	    ? json_string_value(json_object_get(
	          json_object_get(profile.table, "labels"), kshown("%s|%s", section, label)))
	    : label;
}

/*
 * Metric rows end at the value, or one empty cell later; rows of recommendations are complete and
 * have no metric.
 */
static void
read_details(void)
{
	json_t *l = launch_of();
	const char *section = cell("Section Name"), *metric = cell("Metric Name"),
	           *rule = cell("Rule Name"), *name;

	if (*rule) {
		launch_advice(l, rule, section, cell("Rule Type"), cell("Rule Description"),
		    cell("Estimated Speedup Type"), cell("Estimated Speedup"));
	} else if (*metric) {
		name = ncu_metric(section, metric);
		if (json_array_size(csv.row) <= csv_column("Metric Value"))
			input_fault("a row of %zu cells that ends before its \"Metric Value\"",
			    json_array_size(csv.row));
		if (name)
			launch_metric(l, name, cell("Metric Value"), cell("Metric Unit"));
	}
}

static void
preface_line(char *line)
{
	const json_t *versions = json_object_get(profile.table, "versions");
	struct kregex_span at[2];

	if (*line == '"' || *line == ' ')
		return;
	if (strstr(line, "ERR_NVGPUCTRPERM"))
		kdie(K_MISSING,
		    "%s:%ld: ncu has no permission to read performance counters "
		    "(ERR_NVGPUCTRPERM)",
		    input.file, input.line);
	if (!kregex_match("\\A(?=Version .*\\(build |.*(?:ncu|Nsight)).*?Version (\\S*)", line, at))
		return;
	line[at[1].to] = '\0';
	line += at[1].from;
	if (!kany(kjson_foreach(v, versions),
	        !strncmp(line, json_string_value(v), json_string_length(v))))
		input_fault("ncu %s: this version is not supported", line);
	profile_note("ncu %s", line);
}

/*
 * Lines of the tool itself, which begin with neither a quote nor a blank: the version, if given,
 * and the reason if nothing could be measured.
 */
void
ncu_preface(void)
{
	input_lines(preface_line);
}

void
ncu_csv(void)
{
	size_t rows = 0;

	reader = (struct reader){ 0 };
	ncu_preface();
	while (csv_next(true)) {
		if (!strcmp(kjson_item(csv.row, 0), "ID")) {
			read_head();
		} else if (!csv.head) {
			continue; /* a quoted word printed by the profiled program */
		} else if (!reader.details && !reader.units) {
			read_units();
		} else {
			(reader.details ? read_details : read_raw)();
			rows++;
		}
	}
	input.line = csv.next;
	if (!rows)
		input_fault("ncu's file contains no launch; was no kernel profiled?");
	json_decref(reader.units);
	csv_close();
}
