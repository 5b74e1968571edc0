/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: perf stat -x, (value,unit,event,[variance,]run_time,percent[,metric,unit]) and perf
 * stat -j; from perf report --stdio the time in barriers and locks; and the counts at the head of
 * perf c2c report --stdio. All files are about the same program, so each may count events for which
 * the others had no counters left.
 */
#include "kprofile.h"

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
	auto_free char *name = kstrdup(event);
	char *colon = strrchr(name, ':'), *slash;

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
}

static void
add_share(struct profile *p, const char *event, const char *percent)
{
	double v;

	if (number_read(percent, &v) && v < 99.5)
		profile_note(p, "%s: counted %s %% of the time, scaled", event, percent);
}

/* What perf computed from one event or several: "CPUs utilized", "%  tma_retiring". */
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

	if (c->row.width < 5)
		text_fault(c->text, c->line,
		    "a row of %zu cells, but perf stat -x, prints 5 or more", c->row.width);
	/* If an event has several ratios, each additional one is in a row after it. */
	if (!*c->row.cell[0] && !*c->row.cell[2] && c->row.width > at + 3) {
		add_ratio(l, c->row.cell[at + 2], c->row.cell[at + 3], c->text, c->line);
		return;
	}
	if (!number_absent(c->row.cell[0]) && !number_read(c->row.cell[0], &v))
		text_fault(c->text, c->line,
		    "'%.40s' is not a count; output of perf stat -A or -I is not supported",
		    c->row.cell[0]);
	if (number_read(c->row.cell[1], &v) || !is_event(c->row.cell[2]))
		text_fault(c->text, c->line,
		    "'%.40s' is not an event; these columns of perf are not supported",
		    c->row.cell[2]);
	add_event(p, l, c->row.cell[2], c->row.cell[0], c->row.cell[1], c->text, c->line);
	/* With -r the variance, "1.07%", comes after the name. */
	at += strchr(c->row.cell[3], '%') != NULL;
	if (at + 1 < c->row.width)
		add_share(p, c->row.cell[2], c->row.cell[at + 1]);
	if (at + 3 < c->row.width)
		add_ratio(l, c->row.cell[at + 2], c->row.cell[at + 3], c->text, c->line);
}

/* A member that is a number in some releases of perf, and text in others. The caller frees. */
static char *
member_text(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? kasprintf("%.10g", json_number_value(v))
	                         : kstrdup(kjson_str_or(o, key, ""));
}

static void
json_row(struct profile *p, struct launch *l, const char *line, const struct text *t, long number)
{
	json_auto_t *o = json_loads(line, 0, NULL);
	const char *event = kjson_str_or(o, "event", NULL),
	           *value = kjson_str_or(o, "counter-value", NULL);
	auto_free char *metric = member_text(o, "metric-value"),
	               *percent = member_text(o, "pcnt-running");

	if (event && value && is_event(event)) {
		add_event(p, l, event, value, kjson_str_or(o, "unit", ""), t, number);
		add_share(p, event, percent);
	} else if (event || value || !*metric) {
		text_fault(t, number, "not a line of perf stat -j");
	}
	add_ratio(l, metric, kjson_str_or(o, "metric-unit", ""), t, number);
}

struct reader {
	struct profile *p;
	struct launch *l;
	const struct text *t;
	struct kbuf rows; /* of perf stat -x */
};

/*
 * Comments and lines of JSON are removed from the table, and leave empty lines so that line numbers
 * stay right.
 */
static void
stat_line(void *arg, char *line, long number)
{
	struct reader *r = arg;

	if (*line == '{')
		json_row(r->p, r->l, line, r->t, number);
	kbuf_printf(&r->rows, "%s\n", strchr("{#", *line) ? "" : line);
}

static void
stat_text(struct reader *r)
{
	struct text lines = *r->t;
	struct csv c = { .text = &lines };

	text_lines(r->t, stat_line, r);
	lines.data = r->rows.data;
	while (csv_next(&c, false))
		csv_row(r->p, r->l, &c);
	csv_close(&c);
	kbuf_free(&r->rows);
}

/* Parts of the names of symbols in which a thread waits for others. */
static const char *const waits[] = { "barrier", "mutex_lock", "spin_lock", "rwlock", "futex_wait",
	"lll_lock", "do_spin", "gomp_team_end", "kmp_wait", "kmp_flag" };

/* "    12.34%  program  libgomp.so.1.0.0  [.] gomp_team_barrier_wait_end" */
static void
report_line(void *arg, char *line, long number)
{
	const struct reader *r = arg;
	char *end, *symbol;
	double percent = strtod(line, &end);

	if (end == line || *end != '%')
		return;
	launch_count(r->l, "samples in barriers", 0, r->t, number);
	symbol = strstr(end, "[.] ") ? strstr(end, "[.] ") : strstr(end, "[k] ");
	for (size_t i = 0; symbol && i < LEN(waits); i++)
		if (strstr(symbol, waits[i])) {
			launch_count(r->l, "samples in barriers", percent, r->t, number);
			break;
		}
}

/* "  Load Local HITM                   :       3402" */
static void
c2c_line(void *arg, char *line, long number)
{
	const struct reader *r = arg;
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
	if (end > colon + 1 && !end[strspn(end, " ")] && !json_object_get(r->l->raw, key))
		launch_count(r->l, key, v, r->t, number);
	free(key);
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
	struct reader r = { p, profile_launch(p, "", "0", "(program)"), t, { 0 } };
	bool report = text_has_line(t, report_head);

	if (!perf_is_report(t)) {
		stat_text(&r);
		return;
	}
	text_lines(t, report ? report_line : c2c_line, &r);
	if (!json_object_size(r.l->raw))
		text_fault(t, (long)kline_at(t->data, t->len), "this report of perf has no row");
}
