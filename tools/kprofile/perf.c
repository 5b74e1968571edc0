/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: perf stat -x, (value,unit,event,[variance,]run_time,percent[,metric,unit]) and perf
 * stat -j; from perf report --stdio the time in barriers and locks; and the counts at the head of
 * perf c2c report --stdio. All files are of one program, so that each may count what the others
 * had no counters left for.
 */
#include "kprofile.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"

static bool
is_event(const char *s)
{
	if (!isalpha((unsigned char)*s))
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("-_:./,=@%", *s))
			return false;
	return true;
}

/* One event. Modifiers such as ":u" only say where it was counted. */
static void
add_event(struct profile *p, struct launch *l, const char *event, const char *value,
    const char *unit, const struct text *t, long line)
{
	char *name = kstrdup(event), *colon = strrchr(name, ':'), *slash;

	if (colon && strspn(colon + 1, "ukhGHpPSDWe") == strlen(colon + 1))
		*colon = '\0';
	/* "cpu_core/cycles/" of a hybrid processor */
	slash = strchr(name, '/');
	if (slash && slash[1] && slash[strlen(slash) - 1] == '/') {
		memmove(name, slash + 1, strlen(slash));
		name[strlen(name) - 1] = '\0';
	}
	if (json_object_get(l->raw, name))
		profile_note(p, "%s: occurs more than once; the first value is used", name);
	else if (number_absent(value))
		profile_note(p, "%s: %s", name, *value ? value : "no value");
	else
		launch_metric(l, name, value, unit, t, line);
	free(name);
}

static void
add_share(struct profile *p, const char *event, const char *percent)
{
	double v;

	if (number_read(percent, &v) && v < 99.5)
		profile_note(p, "%s: counted %s %% of the time, scaled", event, percent);
}

/* What perf made of an event, or of several: "CPUs utilized", "%  tma_retiring". */
static void
add_ratio(struct launch *l, const char *value, const char *unit, const struct text *t, long line)
{
	unit += strspn(unit, "% ");
	if (*unit)
		launch_metric(
		    l, strcmp(unit, "CPUs utilized") ? unit : "cpus_utilized", value, "", t, line);
}

static void
csv_row(struct profile *p, struct launch *l, const struct csv *c)
{
	double v;
	size_t at = 3;

	if (c->width < 5)
		text_fault(c->text, c->line,
		    "a row of %zu cells, but perf stat -x, prints 5 or more", c->width);
	/* Behind an event with several ratios are rows with one more each. */
	if (!*c->cell[0] && !*c->cell[2] && c->width > at + 3) {
		add_ratio(l, c->cell[at + 2], c->cell[at + 3], c->text, c->line);
		return;
	}
	if (!number_absent(c->cell[0]) && !number_read(c->cell[0], &v))
		text_fault(c->text, c->line,
		    "'%.40s' is not a count; output of perf stat -A or -I is not supported",
		    c->cell[0]);
	if (number_read(c->cell[1], &v) || !is_event(c->cell[2]))
		text_fault(c->text, c->line,
		    "'%.40s' is not an event; these columns of perf are not supported", c->cell[2]);
	add_event(p, l, c->cell[2], c->cell[0], c->cell[1], c->text, c->line);
	/* With -r the variance, "1.07%", stands behind the name. */
	at += strchr(c->cell[3], '%') != NULL;
	if (at + 1 < c->width)
		add_share(p, c->cell[2], c->cell[at + 1]);
	if (at + 3 < c->width)
		add_ratio(l, c->cell[at + 2], c->cell[at + 3], c->text, c->line);
}

/* A member that some releases of perf write as a number, others as text. The caller frees. */
static char *
member_text(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? kasprintf("%.10g", json_number_value(v))
	                         : kstrdup(kjson_str_or(o, key, ""));
}

static void
json_row(struct profile *p, struct launch *l, const char *line, size_t len, const struct text *t,
    long number)
{
	json_error_t error;
	json_t *o = json_loadb(line, len, 0, &error);
	const char *event = kjson_str_or(o, "event", NULL),
	           *value = kjson_str_or(o, "counter-value", NULL);
	char *metric = member_text(o, "metric-value"), *percent = member_text(o, "pcnt-running");

	if (event && value && is_event(event)) {
		add_event(p, l, event, value, kjson_str_or(o, "unit", ""), t, number);
		add_share(p, event, percent);
	} else if (event || value || !*metric) {
		text_fault(t, number, "not a line of perf stat -j");
	}
	add_ratio(l, metric, kjson_str_or(o, "metric-unit", ""), t, number);
	free(metric);
	free(percent);
	json_decref(o);
}

static void
stat_text(struct profile *p, struct launch *l, const struct text *t)
{
	struct kbuf rows = { 0 };
	struct text lines = *t;
	struct csv c = { .text = &lines };
	long number = 0;

	/*
	 * Comments and lines of JSON are taken out of the table, and leave empty lines so that
	 * numbers stay right.
	 */
	for (const char *s = t->data; *s;) {
		size_t n = strcspn(s, "\n");

		number++;
		if (*s == '{')
			json_row(p, l, s, n, t, number);
		else if (*s != '#')
			kbuf_add(&rows, s, n);
		kbuf_add(&rows, "\n", 1);
		s += n + (s[n] == '\n');
	}
	lines.data = rows.data;
	while (csv_next(&c, false))
		csv_row(p, l, &c);
	csv_close(&c);
	kbuf_free(&rows);
}

/* Where a thread waits for others: part of a symbol's name. */
static const char *const waits[] = { "barrier", "mutex_lock", "spin_lock", "rwlock", "futex_wait",
	"lll_lock", "do_spin", "gomp_team_end", "kmp_wait", "kmp_flag" };

/* "    12.34%  program  libgomp.so.1.0.0  [.] gomp_team_barrier_wait_end" */
static void
report_line(struct launch *l, const char *line, const struct text *t, long number)
{
	char *end, *symbol;
	double percent = strtod(line, &end);

	if (end == line || *end != '%')
		return;
	launch_count(l, "samples in barriers", 0, t, number);
	symbol = strstr(end, "[.] ") ? strstr(end, "[.] ") : strstr(end, "[k] ");
	for (size_t i = 0; symbol && i < LEN(waits); i++)
		if (strstr(symbol, waits[i])) {
			launch_count(l, "samples in barriers", percent, t, number);
			break;
		}
}

/* "  Load Local HITM                   :       3402" */
static void
c2c_line(struct launch *l, const char *line, const struct text *t, long number)
{
	const char *name = line + strspn(line, " "), *colon = strchr(name, ':');
	size_t len = colon ? (size_t)(colon - name) : 0;
	char *key, *end;
	double v;

	while (len && name[len - 1] == ' ')
		len--;
	if (!len)
		return;
	v = strtod(colon + 1, &end);
	key = kstrndup(name, len);
	if (end > colon + 1 && !end[strspn(end, " ")] && !json_object_get(l->raw, key))
		launch_count(l, key, v, t, number);
	free(key);
}

static void
each_line(struct launch *l, const struct text *t,
    void (*read)(struct launch *, const char *, const struct text *, long))
{
	long number = 0;

	for (const char *s = t->data; *s;) {
		size_t n = strcspn(s, "\n");
		char *line = kstrndup(s, n);

		if (*s != '#')
			read(l, line, t, number + 1);
		number++;
		free(line);
		s += n + (s[n] == '\n');
	}
	if (!json_object_size(l->raw))
		text_fault(t, number, "this report of perf has no row");
}

static const char report_head[] = "# Overhead", c2c_head[] = "            Trace Event Information";

bool
perf_is_report(const struct text *t)
{
	return text_has_line(t, report_head) || text_has_line(t, c2c_head);
}

void
perf_text(struct profile *p, const struct text *t)
{
	struct launch *l = profile_launch(p, "", "0", "(program)");

	if (text_has_line(t, report_head))
		each_line(l, t, report_line);
	else if (text_has_line(t, c2c_head))
		each_line(l, t, c2c_line);
	else
		stat_text(p, l, t);
}
