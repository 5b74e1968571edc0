/* SPDX-License-Identifier: Apache-2.0 */
/* kprofile: Nsight Compute, page "details" in its text form. */
#include "kprofile.h"

/* "  name(args) (64, 256, 1)x(32, 8, 1), Context 1, Stream 7, Device 0, CC 9.0" */
static const char launch[] = "\\A  (?! )(.*\\S) *(\\([^(]*\\))x(\\(.*?\\)), Context .*?, CC "
                             "(.*?)\\s*\\z";
/*
 * "    Duration                         ms         4.20": the value is the last word; the unit, if
 * any, is the one before. Columns are separated by at least two blanks, words of a label by one.
 */
static const char metric[] = "\\A {4}(?! )(\\S+(?: \\S+)*?)(?:\\s{2,}(\\S+))?\\s+(\\S+)\\s*\\z";
/* "OPT   Est. Local Speedup: 38.78%", with the text after it or on the lines below. */
static const char advice[] = "\\A\\s*(OPT|INF|WRN|ERR)  +"
                             "(?:Est\\. (Local )?Speedup: ([^%]*)%?)?\\s*(.*?)\\s*\\z";

static struct reader {
	char process[24];
	long launches;
	json_t *launch;
	char section[120];
	/* The recommendation being read. */
	const char *scope;
	char type[4], percent[16];
	struct kbuf advice;
} reader;

/* Rules have no names on this page; the section is used instead. */
static void
close_advice(void)
{
	if (*reader.type && reader.launch)
		launch_advice(reader.launch, "", reader.section, reader.type,
		    reader.advice.data ?: "", reader.scope, reader.percent);
	*reader.type = '\0';
	kbuf_free(&reader.advice);
}

static void
launch_line(const char *line, const struct kregex_span *at)
{
	static const char *const facts[] = { "grid", "block", "compute_capability" };
	auto_free char *name = kregex_text(line, at[1]);

	reader.launch = profile_launch(reader.process, kshown("%ld", reader.launches++));
	for (size_t i = 0; i < LEN(facts); i++) {
		auto_free char *text = kregex_text(line, at[i + 2]);

		json_object_set_new(
		    json_object_get(reader.launch, "facts"), facts[i], kjson_string(text));
	}
	launch_name(reader.launch, name);
	*reader.section = '\0';
}

static void
metric_line(const char *line, const struct kregex_span *at)
{
	auto_free char *label = kregex_text(line, at[1]), *unit = kregex_text(line, at[2]),
	               *value = kregex_text(line, at[3]);
	const char *name = ncu_metric(reader.section, label);

	if (name)
		launch_metric(reader.launch, name, value, unit ?: "");
}

static void
advice_line(const char *line, const struct kregex_span *at)
{
	auto_free char *percent = kregex_text(line, at[3]), *text = kregex_text(line, at[4]);

	close_advice();
	snprintf(reader.type, sizeof reader.type, "%.3s", line + at[1].from);
	reader.scope = at[2].from < at[2].to ? "local" : "global";
	snprintf(reader.percent, sizeof reader.percent, "%s", percent ?: "");
	kbuf_puts(&reader.advice, text);
}

static void
read_line(char *line)
{
	size_t len = strlen(line);
	struct kregex_span at[5];

	if (kregex_find("\\A\\[(\\d+)", line, len, at, 2)) {
		snprintf(reader.process, sizeof reader.process, "%.*s",
		    (int)(at[1].to - at[1].from), line + at[1].from);
	} else if (kregex_find(launch, line, len, at, LEN(at))) {
		launch_line(line, at);
	} else if (reader.launch && kregex_find("\\A\\s*Section: (.*?)\\s*\\z", line, len, at, 2)) {
		close_advice();
		snprintf(reader.section, sizeof reader.section, "%.*s",
		    (int)(at[1].to - at[1].from), line + at[1].from);
	} else if (kregex_is("\\A\\s*(?:\\z|---|Metric Name )", line)) {
		close_advice();
	} else if (!*reader.section) {
		return;
	} else if (kregex_find(advice, line, len, at, LEN(at))) {
		advice_line(line, at);
	} else if (*reader.type && kregex_find("\\A {10,}(.*?)\\s*\\z", line, len, at, 2)) {
		auto_free char *more = kregex_text(line, at[1]);

		kbuf_join(&reader.advice, " ", more);
	} else if (kregex_find(metric, line, len, at, 4)) {
		close_advice();
		metric_line(line, at);
	}
}

void
ncu_text(void)
{
	reader = (struct reader){ 0 };
	ncu_preface();
	input_lines(read_line);
	close_advice();
	if (!reader.launches)
		input_fault("ncu's text contains no launch; was no kernel profiled?");
}
