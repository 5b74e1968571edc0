/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: callgrind's own file: event counts per line of code, with names written as "(4) name"
 * once and "(4)" afterwards. The launch is the whole program or, with a pattern, the self cost of
 * the functions that match.
 */
#include "kprofile.h"

#include "kregex.h"

enum { MAX_EVENTS = 64 };

struct reader {
	const struct text *t;
	long line;
	char *event[MAX_EVENTS];
	size_t events, positions;
	double total[MAX_EVENTS];
	bool whole;        /* the last part has its totals, which end it */
	json_t *names;     /* "4" -> name */
	json_t *functions; /* name -> [costs] */
	char *function;    /* owned */
	bool skip;         /* the next line of costs is the inclusive cost of a call */
};

static void
read_events(struct reader *r, char *s)
{
	kpart_foreach(name, s, " \r") {
		if (r->events == MAX_EVENTS)
			text_fault(r->t, r->line, "more than %d events", MAX_EVENTS);
		r->event[r->events++] = kstrdup(name);
	}
}

/*
 * "(12) name" defines, "(12)" refers, and a name without a number stands for itself. UTF-8; the
 * caller frees.
 */
static char *
function_name(struct reader *r, const char *s)
{
	struct kregex_span at[3];
	auto_free char *id = NULL, *name = NULL;
	json_auto_t *known = NULL;

	kregex_find("\\A(?:\\((\\d+)\\)? *)?(.*)", s, strlen(s), at, LEN(at));
	id = kregex_text(s, at[1]);
	name = kregex_text(s, at[2]);
	known = *name ? kjson_string(name) : json_incref(json_object_get(r->names, id));
	if (!known)
		text_fault(r->t, r->line, "a function without a name: fn=%.40s", s);
	if (id)
		json_object_set(r->names, id, known);
	return kstrdup(json_string_value(known));
}

/* COUNT numbers; by the format, missing ones at the end are zero. */
static void
read_costs(struct reader *r, const char *s, double *cost)
{
	kforeach_of(one, cost, r->events) {
		char *end;

		*one = strtod(s, &end);
		if (end == s) {
			if (s[strspn(s, " \r")])
				text_fault(r->t, r->line, "'%.40s' is not a number", s);
			*one = 0;
		}
		s = end;
	}
}

static void
cost_line(struct reader *r, const char *s)
{
	double cost[MAX_EVENTS];
	json_t *sums;

	for (size_t i = 0; i < r->positions; i++) {
		s += strcspn(s, " ");
		s += strspn(s, " ");
	}
	if (r->skip) {
		r->skip = false;
		return;
	}
	if (!r->events)
		text_fault(r->t, r->line, "costs before the line \"events:\"");
	read_costs(r, s, cost);
	sums = json_object_get(r->functions, r->function);
	if (!sums) {
		sums = json_array();
		for (size_t i = 0; i < r->events; i++)
			json_array_append_new(sums, json_real(0));
		json_object_set_new(r->functions, r->function, sums);
	}
	for (size_t i = 0; i < r->events; i++)
		json_array_set_new(
		    sums, i, json_real(json_real_value(json_array_get(sums, i)) + cost[i]));
}

/* A file may hold several parts, dumped one after another: each has its own totals. */
static void
read_totals(struct reader *r, const char *s)
{
	double cost[MAX_EVENTS];

	read_costs(r, s, cost);
	for (size_t i = 0; i < r->events; i++)
		r->total[i] += cost[i];
	r->whole = true;
}

static void
read_line(void *arg, char *s, long number)
{
	struct reader *r = arg;

	r->line = number;
	if (!*s || *s == '#')
		return;
	if (!strncmp(s, "events:", 7) && !r->events) {
		read_events(r, s + 7);
	} else if (!strncmp(s, "positions:", 10)) {
		r->positions = strstr(s, "instr") && strstr(s, "line") ? 2 : 1;
	} else if (!strncmp(s, "version:", 8) && strtol(s + 8, NULL, 10) != 1) {
		text_fault(r->t, r->line, "callgrind's format %s is not supported", s);
	} else if (!strncmp(s, "part:", 5)) {
		r->whole = false;
	} else if (!strncmp(s, "totals:", 7)) {
		read_totals(r, s + 7);
	} else if (!strncmp(s, "fn=", 3)) {
		free(r->function);
		r->function = function_name(r, s + 3);
	} else if (!strncmp(s, "calls=", 6)) {
		r->skip = true;
	} else if (!strncmp(s, "cfn=", 4)) {
		/* This line may define a callee's name. */
		free(function_name(r, s + 4));
	} else if (isdigit((unsigned char)*s) || *s == '+' || *s == '-' || *s == '*') {
		cost_line(r, s);
	} else if (!strchr(s, '=') && !strchr(s, ':')) {
		text_fault(r->t, r->line, "not a line of a callgrind file: '%.40s'", s);
	}
}

static struct launch *
add_launch(const struct reader *r, const char *name, const double *cost)
{
	char id[24];
	struct launch *l;

	snprintf(id, sizeof id, "%zu", profile.count);
	l = profile_launch(r->t->name, id, name);
	for (size_t i = 0; i < r->events; i++)
		launch_count(l, r->event[i], cost[i], r->t, r->line);
	return l;
}

static void
add_functions(const struct reader *r)
{
	const char *name;
	json_t *sums;
	double cost[MAX_EVENTS];

	json_object_foreach(r->functions, name, sums) {
		for (size_t i = 0; i < r->events; i++)
			cost[i] = json_real_value(json_array_get(sums, i));
		add_launch(r, name, cost);
	}
}

void
callgrind_text(const struct text *t)
{
	struct reader r = { .t = t,
		.names = json_object(),
		.functions = json_object(),
		.positions = 1,
		.function = kstrdup("") };

	text_lines(t, read_line, &r);
	if (!r.whole)
		text_fault(t, r.line, "the totals at the end are missing: the file is truncated");
	if (profile.kernel)
		add_functions(&r);
	else
		add_launch(&r, "(program)", r.total);
	kforeach_of(one, r.event, r.events)
		free(*one);
	free(r.function);
	json_decref(r.names);
	json_decref(r.functions);
}
