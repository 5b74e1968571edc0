/* SPDX-License-Identifier: Apache-2.0 */
/* The linear search as a person sees it: when it ends, where it stands, and that a round is closed before the next. */
#include "kcampaign.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "karch.h"
#include "kgain.h"
#include "kio.h"
#include "klinear.h"
#include "ktask.h"

#define REQUEST "stop.request"

enum { COLUMNS = 80 };

/* The scored record of a round; NULL when there is none. New reference. */
static json_t *
load_round(long trial)
{
	char *path = trial_path(trial, "score.ndjson");
	struct krec rec;
	struct kin in;
	json_t *json = NULL;

	if (exists(path)) {
		kin_open(&in, path);
		if (kin_next(&in, &rec)) {
			json = json_incref(rec.json);
			krec_free(&rec);
		}
		kin_close(&in);
	}
	free(path);
	return json;
}

static json_t *
load_accepted(const struct standing *s)
{
	long trial, branch;

	return karch_id(kjson_str_or(s->linear, "accepted", ""), &trial, &branch) ? load_round(trial) : NULL;
}

/*
 * Rate of a record in the target's unit: geometric mean over its timed workloads, the two passes of a step as one; 0
 * when the task has no formula for it.
 */
static double
rate_of(const struct kcamp *c, const json_t *record, int kind)
{
	char *file = kcamp_path(c, kcamp_str(c, "task"));
	struct ktask *task = ktask_load(file);
	const char *formula = kind == KLINEAR_FLOPS ? task->flops : task->bytes;
	const json_t *timing = kjson_path(record, "eval.timing");
	double rate[KLINEAR_UNITS];
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(timing) && formula && n < LEN(rate); i++) {
		const json_t *row = json_array_get(timing, i), *other;
		const struct ktask_workload *w = ktask_workload(task, kjson_str_or(row, "workload", ""));
		double work = w ? (double)ktask_value(task, w, formula) : 0, ns = kgain_time_ns(row,
		    kcamp_str(c, "score.statistic"));
		bool counted = false;

		for (size_t k = 0; w && w->pair && k < json_array_size(timing); k++) {
			const struct ktask_workload *p;

			other = json_array_get(timing, k);
			p = ktask_workload(task, kjson_str_or(other, "workload", ""));
			if (k == i || !p || !p->pair || strcmp(p->pair, w->pair))
				continue;
			work += (double)ktask_value(task, p, formula);
			ns += kgain_time_ns(other, kcamp_str(c, "score.statistic"));
			counted = k < i;
		}
		if (!counted && work > 0 && ns > 0)
			rate[n++] = work / ns * 1e9;
	}
	ktask_free(task);
	free(file);
	return n ? klinear_geomean(rate, n) : 0;
}

/* T1 to T4: the four conditions that may end a linear search, each with its reason when it holds. */
struct ends {
	bool holds[4];
	char *reason;		/* of the first that holds; owned */
};

static void
hold(struct ends *e, int which, char *reason)
{
	e->holds[which - 1] = true;
	if (e->reason)
		free(reason);
	else
		e->reason = reason;
}

static void
check_target(const struct kcamp *c, const struct standing *s, const json_t *accepted, struct ends *e)
{
	const char *text = kcamp_str(c, "linear.target");
	double goal = kcamp_num(c, "stop.speedup"), reached;
	struct klinear_target target;

	if (s->best && *text && klinear_target(text, &target)) {
		reached = target.kind == KLINEAR_SPEEDUP ? s->speedup : rate_of(c, accepted, target.kind);
		if (reached >= target.value)
			hold(e, 1, kasprintf("over: the target of %s is reached (T1, linear.target)", text));
	}
	if (s->best && goal > 0 && s->speedup >= goal)
		hold(e, 1, kasprintf("over: %.4gx reaches the goal of %.4gx (T1, stop.speedup)", s->speedup, goal));
}

static struct ends
find_ends(const struct kcamp *c, long last, const struct standing *s)
{
	long rounds = kcamp_int(c, "linear.max_rounds"), trials = kcamp_int(c, "stop.trials");
	double least = kjson_num_or(c->json, "stop.efficiency", 0), efficiency;
	json_t *accepted = load_accepted(s);
	struct ends e = { 0 };

	check_target(c, s, accepted, &e);
	efficiency = kjson_num_or(accepted, "score.efficiency_pct", 0);
	if (least > 0 && efficiency >= least)
		hold(&e, 2, kasprintf("over: %.1f %% of the ceiling are reached, and %.1f %% were asked for "
		    "(T2, stop.efficiency)", efficiency, least));
	if (rounds && last + 1 >= rounds)
		hold(&e, 3, kasprintf("over: %ld of %ld rounds are done (T3, linear.max_rounds)", last + 1, rounds));
	if (last >= trials)
		hold(&e, 3, kasprintf("over: %ld of %ld trials are done (T3, stop.trials)", last, trials));
	if (exists(REQUEST))
		hold(&e, 4, kstrdup("over: a stop was asked for (T4, the file " REQUEST ")"));
	json_decref(accepted);
	return e;
}

char *
linear_stop(const struct kcamp *c, long last, const struct standing *s)
{
	/* Stagnation alone ends nothing: only a patience that somebody wrote down does. */
	long patience = kjson_path(c->json, "stop.patience") ? kcamp_int(c, "stop.patience") : 0;
	struct ends e = find_ends(c, last, s);

	if (!e.reason && patience && s->stale >= patience && last >= kcamp_int(c, "stop.min_trials"))
		e.reason = kasprintf("over: no round was kept in %ld (stop.patience)", s->stale);
	return e.reason;
}

/* Text in lines of at most 80 bytes, those after the first indented. */
static void
add_wrapped(struct kbuf *out, const char *text, size_t indent)
{
	size_t column = indent;

	while (*text) {
		size_t n = strcspn(text, " "), gap = column > indent;

		if (gap && column + 1 + n > COLUMNS) {
			kbuf_printf(out, "\n%*s", (int)indent, "");
			column = indent;
			gap = 0;
		}
		kbuf_printf(out, "%s%.*s", gap ? " " : "", (int)n, text);
		column += gap + n;
		text += n;
		text += strspn(text, " ");
	}
	kbuf_puts(out, "\n");
}

static void
add_record_line(struct kbuf *out, long trial, size_t indent)
{
	json_t *record = load_round(trial);

	add_wrapped(out, kjson_str_or(record, "score.decision.line", "no decision"), indent);
	json_decref(record);
}

void
linear_trial(const struct kcamp *c, long trial, struct kbuf *text)
{
	json_t *header = archive_header(trial);
	struct standing s = standing(header);

	(void)c;
	add_record_line(text, trial, 0);
	kbuf_printf(text, "  last accepted %s", kjson_str_or(s.linear, "accepted", "?"));
	if (s.best)
		kbuf_printf(text, ": %.3gx the baseline, %.4g ms", s.speedup, s.runtime_ms);
	kbuf_printf(text, "; %zu of %ld rounds kept\n", json_array_size(json_object_get(s.linear, "chain")), trial + 1);
	json_decref(header);
}

/* "000/00 > 002/01 > 003/01", the oldest left out when there are many. */
static void
add_chain(struct kbuf *out, const json_t *chain)
{
	enum { SHOWN = 5 };
	size_t n = json_array_size(chain);

	for (size_t i = n > SHOWN ? n - SHOWN : 0; i < n; i++)
		kbuf_printf(out, "%s%s", i == 0 ? "" : i == n - SHOWN ? "... > " : " > ",
		    json_string_value(json_array_get(chain, i)));
}

void
linear_status(const struct kcamp *c, long last, const struct standing *s, struct kbuf *text)
{
	static const char *const names[] = { "target", "efficiency", "rounds", "request" };
	long streak = (long)kjson_int_or(s->linear, "streak", 0);
	struct ends e = find_ends(c, last, s);

	if (s->linear) {
		kbuf_puts(text, "chain    ");
		add_chain(text, json_object_get(s->linear, "chain"));
		kbuf_printf(text, "\nstreak   %ld rollback%s in a row; next: %s%s\n", streak, streak == 1 ? "" : "s",
		    streak ? klinear_escalation(streak) : "go on",
		    streak >= KLINEAR_STAGNATION ? ", with a review" : "");
		kbuf_puts(text, "last     ");
		add_record_line(text, last, 9);
	}
	kbuf_puts(text, "stop    ");
	for (size_t i = 0; i < LEN(names); i++)
		kbuf_printf(text, " T%zu %s %s%s", i + 1, names[i], e.holds[i] ? "true" : "false",
		    i + 1 < LEN(names) ? "," : "\n");
	free(e.reason);
}

/* A round is closed when its views stand; nothing of a later one may exist before. */
static void
need_file(long trial, const char *name)
{
	char *path = trial_path(trial, name);

	if (!exists(path))
		kdie(K_USAGE, "round %ld is not closed: %s is missing; `kcampaign views` makes it, and only then comes "
		    "round %ld", trial + 1, path, trial + 2);
	free(path);
}

void
linear_closed(long last)
{
	char *path = cell_path(last + 2, 1, stages[STAGE_SAMPLE]);

	for (long t = 0; t <= last; t++) {
		need_file(t, "score.ndjson");
		need_file(t, "archive.ndjson");
	}
	if (exists(path))
		kdie(K_USAGE, "round %ld was begun before round %ld was closed: %s; remove trials/%03ld and those "
		    "behind it", last + 3, last + 2, path, last + 2);
	free(path);
}
