/* SPDX-License-Identifier: Apache-2.0 */
/* kprofile: Nsight Compute, page "details" in its text form. */
#include "kprofile.h"

struct reader {
	struct profile *p;
	const struct text *t;
	const json_t *table;
	long line;
	char process[24];
	long launches;
	struct launch *launch;
	char section[120];
	/* The recommendation being read. */
	char type[4], scope[8], percent[16];
	struct kbuf advice;
};

static char *
trim(char *s)
{
	char *end = s + strlen(s);

	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s + strspn(s, " \t");
}

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

/* "  name(args) (64, 256, 1)x(32, 8, 1), Context 1, Stream 7, Device 0, CC 9.0" */
static bool
launch_line(struct reader *r, char *s)
{
	char *context = strstr(s, ", Context "), *x, *grid, id[24];

	if (!context || !strstr(context, ", CC "))
		return false;
	*context = '\0';
	x = strstr(s, ")x(");
	for (char *next; x && (next = strstr(x + 1, ")x("));)
		x = next;
	if (!x)
		return false;
	for (grid = x; grid > s && *grid != '('; grid--)
		;
	if (grid == s)
		return false;
	x[1] = '\0';
	snprintf(id, sizeof id, "%ld", r->launches++);
	r->launch = profile_launch(r->p, r->process, id, "");
	json_object_set_new(r->launch->facts, "block", kjson_string(x + 2));
	json_object_set_new(r->launch->facts, "grid", kjson_string(grid));
	x = strstr(context + 1, ", CC ") + 5;
	json_object_set_new(r->launch->facts, "compute_capability", kjson_string(x));
	*grid = '\0';
	launch_name(r->launch, trim(s), r->t, r->line);
	return true;
}

/*
 * "Duration                         ms         4.20": the value is the last word; the unit, if
 * any, is the one before.
 */
static void
metric_line(struct reader *r, char *s)
{
	char *value, *unit = NULL, *gap;
	const char *name;

	value = strrchr(s, ' ');
	if (!value)
		return;
	*value++ = '\0';
	trim(s);
	/* Columns are separated by at least two blanks, words of a label by one. */
	gap = strrchr(s, ' ');
	if (gap && gap > s && gap[-1] == ' ') {
		unit = gap + 1;
		*gap = '\0';
		trim(s);
	}
	name = ncu_metric(r->table, r->section, s);
	if (name)
		launch_metric(r->launch, name, value, unit ? unit : "", r->t, r->line);
}

/* "OPT   Est. Local Speedup: 38.78%", with the text after it or on the lines below. */
static bool
advice_line(struct reader *r, char *s)
{
	static const char *const types[] = { "OPT", "INF", "WRN", "ERR" };
	char *p = s + 3, *end;

	for (size_t i = 0; i < LEN(types); i++) {
		if (strncmp(s, types[i], 3) || strncmp(p, "  ", 2))
			continue;
		close_advice(r);
		snprintf(r->type, sizeof r->type, "%s", types[i]);
		*r->scope = *r->percent = '\0';
		p += strspn(p, " ");
		if (!strncmp(p, "Est. Speedup: ", 14) || !strncmp(p, "Est. Local Speedup: ", 20)) {
			snprintf(r->scope, sizeof r->scope, "%s", p[5] == 'L' ? "local" : "global");
			p = strchr(p, ':') + 2;
			end = p + strcspn(p, "%");
			snprintf(r->percent, sizeof r->percent, "%.*s", (int)(end - p), p);
			p = end + (*end == '%');
		}
		kbuf_puts(&r->advice, trim(p));
		return true;
	}
	return false;
}

static void
read_line(void *arg, char *raw, long number)
{
	struct reader *r = arg;
	size_t indent = strspn(raw, " ");
	char *s = trim(raw);

	r->line = number;
	if (*raw == '[' && isdigit((unsigned char)raw[1])) {
		snprintf(r->process, sizeof r->process, "%.*s", (int)strspn(raw + 1, "0123456789"),
		    raw + 1);
	} else if (indent == 2 && launch_line(r, s)) {
		*r->section = '\0';
	} else if (!strncmp(s, "Section: ", 9) && r->launch) {
		close_advice(r);
		snprintf(r->section, sizeof r->section, "%s", s + 9);
	} else if (!*s || !strncmp(s, "---", 3) || !strncmp(s, "Metric Name ", 12)) {
		close_advice(r);
	} else if (!*r->section || advice_line(r, s)) {
		return;
	} else if (*r->type && indent >= 10) {
		kbuf_printf(&r->advice, "%s%s", r->advice.len ? " " : "", s);
	} else if (indent == 4) {
		close_advice(r);
		metric_line(r, s);
	}
}

void
ncu_text(struct profile *p, const struct text *t, const json_t *table)
{
	struct reader r = { .p = p, .t = t, .table = table };

	ncu_preface(p, t, table);
	text_lines(t, read_line, &r);
	close_advice(&r);
	if (!r.launches)
		text_fault(
		    t, r.line, "this text of ncu contains no launch; was no kernel profiled?");
}
