/* SPDX-License-Identifier: Apache-2.0 */
/* kprofile: Nsight Compute, page "details" in its text form. */
#include "kprofile.h"

#include "kregex.h"

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

struct reader {
	const struct text *t;
	long line;
	char process[24];
	long launches;
	struct launch *launch;
	char section[120];
	/* The recommendation being read. */
	const char *scope;
	char type[4], percent[16];
	struct kbuf advice;
};

/* Rules have no names on this page; the section is used instead. */
static void
close_advice(struct reader *r)
{
	if (*r->type && r->launch)
		vendor_add(r->launch, "", r->section, r->type, r->advice.data ? r->advice.data : "",
		    r->scope, r->percent);
	*r->type = '\0';
	kbuf_free(&r->advice);
}

static void
launch_line(struct reader *r, const char *line, const struct kregex_span *at)
{
	static const char *const facts[] = { "grid", "block", "compute_capability" };
	auto_free char *name = kregex_text(line, at[1]), *id = kasprintf("%ld", r->launches++);

	r->launch = profile_launch(r->process, id, "");
	for (size_t i = 0; i < LEN(facts); i++) {
		auto_free char *text = kregex_text(line, at[i + 2]);

		json_object_set_new(r->launch->facts, facts[i], kjson_string(text));
	}
	launch_name(r->launch, name, r->t, r->line);
	*r->section = '\0';
}

static void
metric_line(struct reader *r, const char *line, const struct kregex_span *at)
{
	auto_free char *label = kregex_text(line, at[1]), *unit = kregex_text(line, at[2]),
	               *value = kregex_text(line, at[3]);
	const char *name = ncu_metric(r->section, label);

	if (name)
		launch_metric(r->launch, name, value, unit ? unit : "", r->t, r->line);
}

static void
advice_line(struct reader *r, const char *line, const struct kregex_span *at)
{
	auto_free char *percent = kregex_text(line, at[3]), *text = kregex_text(line, at[4]);

	close_advice(r);
	snprintf(r->type, sizeof r->type, "%.3s", line + at[1].from);
	r->scope = at[2].from < at[2].to ? "local" : "global";
	snprintf(r->percent, sizeof r->percent, "%s", percent ? percent : "");
	kbuf_puts(&r->advice, text);
}

static void
read_line(void *arg, char *line, long number)
{
	struct reader *r = arg;
	size_t len = strlen(line);
	struct kregex_span at[5];

	r->line = number;
	if (kregex_find("\\A\\[(\\d+)", line, len, at, 2)) {
		snprintf(r->process, sizeof r->process, "%.*s", (int)(at[1].to - at[1].from),
		    line + at[1].from);
	} else if (kregex_find(launch, line, len, at, LEN(at))) {
		launch_line(r, line, at);
	} else if (r->launch && kregex_find("\\A\\s*Section: (.*?)\\s*\\z", line, len, at, 2)) {
		close_advice(r);
		snprintf(r->section, sizeof r->section, "%.*s", (int)(at[1].to - at[1].from),
		    line + at[1].from);
	} else if (kregex_is("\\A\\s*(?:\\z|---|Metric Name )", line)) {
		close_advice(r);
	} else if (!*r->section) {
		return;
	} else if (kregex_find(advice, line, len, at, LEN(at))) {
		advice_line(r, line, at);
	} else if (*r->type && kregex_find("\\A {10,}(.*?)\\s*\\z", line, len, at, 2)) {
		auto_free char *more = kregex_text(line, at[1]);

		kbuf_printf(&r->advice, "%s%s", r->advice.len ? " " : "", more);
	} else if (kregex_find(metric, line, len, at, 4)) {
		close_advice(r);
		metric_line(r, line, at);
	}
}

void
ncu_text(const struct text *t)
{
	struct reader r = { .t = t };

	ncu_preface(t);
	text_lines(t, read_line, &r);
	close_advice(&r);
	if (!r.launches)
		text_fault(
		    t, r.line, "this text of ncu contains no launch; was no kernel profiled?");
}
