/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: callgrind's own file: event counts per line of code, with names written as "(4) name"
 * once and "(4)" afterwards. The launch is the whole program or, with a pattern, the self cost of
 * the functions that match.
 */
#include "kprofile.h"

enum { MAX_EVENTS = 64 };

static struct reader {
	char *event[MAX_EVENTS];
	size_t events, positions;
	double total[MAX_EVENTS];
	bool whole;        /* the last part has its totals, which end it */
	json_t *names;     /* "4" -> name */
	json_t *functions; /* name -> [costs] */
	char *function;    /* owned */
	bool skip;         /* the next line of costs is the inclusive cost of a call */
} reader;

static void
read_events(char *s)
{
	kpart_foreach(name, s, " \r") {
		if (reader.events == MAX_EVENTS)
			input_fault("more than %d events", MAX_EVENTS);
		reader.event[reader.events++] = kstrdup(name);
	}
}

/*
 * "(12) name" defines, "(12)" refers, and a name without a number stands for itself. UTF-8; the
 * caller frees.
 */
static char *
function_name(const char *s)
{
	auto_free char *id = NULL, *name = NULL;
	json_auto_t *known = NULL;

	kregex_scan("\\A(?:\\((\\d+)\\)? *)?(.*)", s, &id, &name);
	known = *name ? kjson_string(name) : json_incref(json_object_get(reader.names, id));
	if (!known)
		input_fault("a function without a name: fn=%.40s", s);
	if (id)
		json_object_set(reader.names, id, known);
	return kstrdup(json_string_value(known));
}

/* COUNT numbers; by the format, missing ones at the end are zero. */
static void
read_costs(const char *s, double *cost)
{
	kforeach_of(one, cost, reader.events) {
		char *end;

		*one = strtod(s, &end);
		if (end == s) {
			if (s[strspn(s, " \r")])
				input_fault("'%.40s' is not a number", s);
			*one = 0;
		}
		s = end;
	}
}

static void
cost_line(const char *s)
{
	double cost[MAX_EVENTS];
	json_t *sums;

	for (size_t i = 0; i < reader.positions; i++) {
		s += strcspn(s, " ");
		s += strspn(s, " ");
	}
	if (reader.skip) {
		reader.skip = false;
		return;
	}
	if (!reader.events)
		input_fault("costs before the line \"events:\"");
	read_costs(s, cost);
	sums = json_object_get(reader.functions, reader.function);
	if (!sums) {
		sums = json_array();
		for (size_t i = 0; i < reader.events; i++)
			json_array_append_new(sums, json_real(0));
		json_object_set_new(reader.functions, reader.function, sums);
	}
	for (size_t i = 0; i < reader.events; i++)
		json_array_set_new(
		    sums, i, json_real(json_real_value(json_array_get(sums, i)) + cost[i]));
}

/* A file may hold several parts, dumped one after another: each has its own totals. */
static void
read_totals(const char *s)
{
	double cost[MAX_EVENTS];

	read_costs(s, cost);
	for (size_t i = 0; i < reader.events; i++)
		reader.total[i] += cost[i];
	reader.whole = true;
}

static void
read_line(char *s)
{
	if (!*s || *s == '#')
		return;
	if (kbegins(s, "events:") && !reader.events) {
		read_events(s + 7);
	} else if (kbegins(s, "positions:")) {
		reader.positions = strstr(s, "instr") && strstr(s, "line") ? 2 : 1;
	} else if (kbegins(s, "version:") && atol(s + 8) != 1) {
		input_fault("callgrind's format %s is not supported", s);
	} else if (kbegins(s, "part:")) {
		reader.whole = false;
	} else if (kbegins(s, "totals:")) {
		read_totals(s + 7);
	} else if (kbegins(s, "fn=")) {
		free(reader.function);
		reader.function = function_name(s + 3);
	} else if (kbegins(s, "calls=")) {
		reader.skip = true;
	} else if (kbegins(s, "cfn=")) {
		/* This line may define a callee's name. */
		free(function_name(s + 4));
	} else if (kis_digit(*s) || *s == '+' || *s == '-' || *s == '*') {
		cost_line(s);
	} else if (!strchr(s, '=') && !strchr(s, ':')) {
		input_fault("not a line of a callgrind file: '%.40s'", s);
	}
}

static void
add_launch(const char *name, const double *cost)
{
	json_t *l = profile_launch(input.name, kshown("%zu", json_object_size(profile.launches)));

	launch_name(l, name);
	for (size_t i = 0; i < reader.events; i++)
		launch_count(l, reader.event[i], cost[i]);
}

static void
add_functions(void)
{
	double cost[MAX_EVENTS];

	kjson_foreach_member(name, sums, reader.functions) {
		for (size_t i = 0; i < reader.events; i++)
			cost[i] = json_real_value(json_array_get(sums, i));
		add_launch(name, cost);
	}
}

void
callgrind_text(void)
{
	reader = (struct reader){ .names = json_object(),
		.functions = json_object(),
		.positions = 1,
		.function = kstrdup("") };
	input_lines(read_line);
	if (!reader.whole)
		input_fault("the totals at the end are missing: the file is truncated");
	if (profile.kernel)
		add_functions();
	else
		add_launch("(program)", reader.total);
	kforeach_of(one, reader.event, reader.events)
		free(*one);
	free(reader.function);
	json_decref(reader.names);
	json_decref(reader.functions);
}
