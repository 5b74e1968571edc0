/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: perf stat -x, (value,unit,event,[variance,]run_time,percent[,metric,unit]) and perf
 * stat -j; from perf report --stdio the time in barriers and locks; and the counts at the head of
 * perf c2c report --stdio. All files are about the same program, so each may count events for which
 * the others had no counters left.
 */
#include "kprofile.h"

static json_t *program;
static struct kbuf rows; /* of perf stat -x */

static bool
is_event(const char *s)
{
	return kregex_is("\\A[A-Za-z][-\\w:./,=@%]*\\z", s);
}

/*
 * One event. Modifiers such as ":u" only say where it was counted, and a hybrid processor writes
 * "cpu_core/cycles/".
 */
static void
add_event(const char *event, const char *value, const char *unit)
{
	auto_free char *plain = kregex_sub(":[ukhGHpPSDWe]*\\z", event, ""),
	               *name = kregex_sub("\\A[^/]*/(.+)/\\z", plain, "$1");

	if (json_object_get(json_object_get(program, "raw"), name))
		profile_note("%s: occurs more than once; the first value is used", name);
	else if (number_absent(value))
		profile_note("%s: %s", name, *value ? value : "no value");
	else
		launch_metric(program, name, value, unit);
}

static void
add_share(const char *event, const char *percent)
{
	double v;

	if (number_read(percent, &v) && v < 99.5)
		profile_note("%s: counted %s %% of the time, scaled", event, percent);
}

/* What perf computed from one event or several: "CPUs utilized", "%  tma_retiring". */
static void
add_ratio(const char *value, const char *unit)
{
	unit += strspn(unit, "% ");
	if (*unit)
		launch_metric(
		    program, strcmp(unit, "CPUs utilized") ? unit : "cpus_utilized", value, "");
}

static const char *
cell(size_t i)
{
	return kjson_item(csv.row, i);
}

static void
csv_row(void)
{
	double v;
	size_t at = 3, width = json_array_size(csv.row);

	if (width < 5)
		input_fault("a row of %zu cells, but perf stat -x, prints 5 or more", width);
	/* If an event has several ratios, each additional one is in a row after it. */
	if (!*cell(0) && !*cell(2) && width > at + 3) {
		add_ratio(cell(at + 2), cell(at + 3));
		return;
	}
	if (!number_absent(cell(0)) && !number_read(cell(0), &v))
		input_fault("'%.40s' is not a count; output of perf stat -A or -I is not supported",
		    cell(0));
	if (number_read(cell(1), &v) || !is_event(cell(2)))
		input_fault(
		    "'%.40s' is not an event; these columns of perf are not supported", cell(2));
	add_event(cell(2), cell(0), cell(1));
	/* With -r the variance, "1.07%", comes after the name. */
	at += strchr(cell(3), '%') != NULL;
	if (at + 1 < width)
		add_share(cell(2), cell(at + 1));
	if (at + 3 < width)
		add_ratio(cell(at + 2), cell(at + 3));
}

/* A member that is a number in some releases of perf, and text in others. The caller frees. */
static char *
member_text(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? kasprintf("%.10g", json_number_value(v))
	                         : kstrdup(kjson_str(o, key));
}

static void
json_row(const char *line)
{
	json_auto_t *o = json_loads(line, 0, NULL);
	const char *event = kjson_maybe(o, "event"), *value = kjson_maybe(o, "counter-value");
	auto_free char *metric = member_text(o, "metric-value"),
	               *percent = member_text(o, "pcnt-running");

	if (event && value && is_event(event)) {
		add_event(event, value, kjson_str(o, "unit"));
		add_share(event, percent);
	} else if (event || value || !*metric) {
		input_fault("not a line of perf stat -j");
	}
	add_ratio(metric, kjson_str(o, "metric-unit"));
}

/*
 * Comments and lines of JSON are removed from the table, and leave empty lines so that line numbers
 * stay right.
 */
static void
stat_line(char *line)
{
	if (*line == '{')
		json_row(line);
	kbuf_printf(&rows, "%s\n", strchr("{#", *line) ? "" : line);
}

static void
stat_text(void)
{
	rows = kbuf_empty();
	input_lines(stat_line);
	free(input.data);
	input.data = rows.data;
	input.len = rows.len;
	while (csv_next(false))
		csv_row();
	csv_close();
}

/*
 * "    12.34%  program  libgomp.so.1.0.0  [.] gomp_team_barrier_wait_end", with parts of the names
 * of symbols in which a thread waits for others.
 */
static void
report_line(char *line)
{
	static const char *const samples = "samples in barriers",
	                         waits[] = "\\[[.k]\\] "
	                                   ".*(?:barrier|mutex_lock|spin_lock|rwlock|futex_wait|"
	                                   "lll_lock|do_spin|gomp_team_end|kmp_wait|kmp_flag)";

	if (kregex_is("\\A *[\\d.]+%", line))
		launch_count(program, samples, kregex_is(waits, line) ? atof(line) : 0);
}

/* "  Load Local HITM                   :       3402" */
static void
c2c_line(char *line)
{
	auto_free char *key = NULL, *value = NULL;

	if (kregex_scan("\\A *([^ :][^:]*?) *: *([-+.\\deE]+) *\\z", line, &key, &value) &&
	    !json_object_get(json_object_get(program, "raw"), key))
		launch_count(program, key, atof(value));
}

void
perf_text(void)
{
	bool report = kregex_is("(?m)^# Overhead", input.data);

	program = profile_launch("", "0");
	launch_name(program, "(program)");
	if (!kregex_is(PERF_REPORT, input.data)) {
		stat_text();
		return;
	}
	input_lines(report ? report_line : c2c_line);
	if (!json_object_size(json_object_get(program, "raw")))
		input_fault("perf's report has no rows");
}
