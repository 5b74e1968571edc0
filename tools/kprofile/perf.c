/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: perf stat -x, (value,unit,event,[variance,]run_time,percent[,metric,unit]) and perf
 * stat -j.
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

static void
csv_row(struct profile *p, struct launch *l, const struct csv *c)
{
	double v;
	size_t at = 3;

	if (c->width < 5)
		text_fault(c->text, c->line,
		    "a row of %zu cells, but perf stat -x, prints 5 or more", c->width);
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
	if (at + 3 < c->width && !strcmp(c->cell[at + 3], "CPUs utilized"))
		launch_metric(l, "cpus_utilized", c->cell[at + 2], "", c->text, c->line);
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

	if (!event || !value || !is_event(event))
		text_fault(t, number, "not a line of perf stat -j");
	add_event(p, l, event, value, kjson_str_or(o, "unit", ""), t, number);
	add_share(p, event, percent);
	if (!strcmp(kjson_str_or(o, "metric-unit", ""), "CPUs utilized"))
		launch_metric(l, "cpus_utilized", metric, "", t, number);
	free(metric);
	free(percent);
	json_decref(o);
}

void
perf_text(struct profile *p, const struct text *t)
{
	struct launch *l = profile_launch(p, t->name, "0", "(program)");
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
