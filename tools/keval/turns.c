/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns: runs the campaign's own timing command on several programs in turns, so that anything that
 * slows the machine down affects all of them. Each turn of each opponent with the candidate is a
 * pair.
 */

#include "keval.h"

enum {
	RACERS_MAX = 16,
	LOOK = 6,  /* turns after which a clear result ends a race */
	ALONE = 3, /* runs of a program that has no opponent */
};

/* An interval this narrow, as a share, is enough for any decision. */
static const double narrow = 0.002;

struct racer {
	const char *name, *id; /* id: of a recorded program, or NULL */
	struct trial t;
	struct subject s;
	char *code;     /* s.code, if it comes from a file of the task */
	json_t *record; /* or the record that it comes from */
	char *work;
	json_t *turns; /* for each turn the rows that its run printed */
	bool out;
};

static struct turns {
	size_t count, need;
	struct racer racer[RACERS_MAX]; /* the first is the candidate */
} turns;                                /* one race at a time */

/* Builds an opponent; leaves it out if it does not build. */
static void
enter(struct racer *x)
{
	x->work = ksandbox_work_new();
	x->t = trial_of(&x->s, x->work);
	x->turns = json_array();
	custom_build_known(&x->t);
	x->out = !x->t.b.ok;
	if (x->out)
		kwarn("%s is left out of the race: it does not build", x->name);
	turns.count++;
}

static struct racer *
next_racer(const char *name, const char *id)
{
	struct racer *x = &turns.racer[turns.count];

	if (turns.count == RACERS_MAX)
		kdie_usage("too many baselines");
	*x = (struct racer){ .name = name, .id = id };
	return x;
}

static bool
enter_past(const char *id)
{
	struct racer *x = next_racer("incumbent", id);

	x->record = past_eval(id);
	x->s.name = x->name;
	if (x->record && subject_of_past(x->record, &x->s)) {
		enter(x);
		return true;
	}
	json_decref(x->record);
	return false;
}

/* BASELINE: one of the task's; NULL: the reference. */
static void
enter_known(const json_t *baseline)
{
	struct racer *x = next_racer(kjson_str_or(baseline, "name", "reference"), NULL);

	x->code = task_source(kjson_str_or(baseline, "file", task_reference()));
	x->s = (struct subject){
		.name = x->name, .code = x->code, .flags = json_object_get(baseline, "flags")
	};
	enter(x);
}

static void
enter_all(void)
{
	enter_known(NULL);
	kjson_foreach(b, keval.task, "baselines")
		enter_known(b);
}

static void
open_turns(const struct trial *trial)
{
	long most = kjson_int_or(kcamp_json("eval.timing"), "turns", CUSTOM_TURNS);

	turns = (struct turns){ .count = 1, .need = (size_t)most };
	turns.racer[0] = (struct racer){ .name = "candidate", .t = *trial, .turns = json_array() };
}

static void
close_turns(void)
{
	kforeach_of(x, turns.racer, turns.count) {
		json_decref(x->turns);
		json_decref(x->record);
		free(x->code);
		if (!x->work)
			continue;
		build_free(&x->t.b);
		ksandbox_work_free(x->work);
	}
}

/*
 * The pairs of an opponent with the candidate on a workload: returns their number, and the
 * logarithms.
 */
static size_t
compare(
    const struct racer *own, const struct racer *x, const char *workload, struct kstat_interval *m)
{
	size_t rounds = json_array_size(x->turns), n = 0;
	auto_free double *logs = kcalloc(rounds + 1, sizeof *logs);

	for (size_t i = 0; i < rounds; i++) {
		double a = kgain_time_ns(kgain_row(json_array_get(own->turns, i), workload)),
		       b = kgain_time_ns(kgain_row(json_array_get(x->turns, i), workload));

		if (a > 0 && b > 0)
			logs[n++] = log(b / a);
	}
	if (n)
		kstat_pairs(logs, n, m);
	return n;
}

static bool
is_settled(void)
{
	struct kstat_interval m;

	kforeach_of(x, turns.racer + 1, turns.count - 1)
		kjson_foreach(row, json_array_get(turns.racer[0].turns, 0)) {
			if (x->out || !compare(turns.racer, x, kjson_str(row, "workload"), &m))
				continue;
			if (m.high - m.low > narrow && m.high >= 0 &&
			    exp(m.low) <= 1 + KLINEAR_BORDERLINE)
				return false;
		}
	return true;
}

/*
 * Runs every program once, in the order of the turn. False when the candidate failed, as EVAL says.
 */
static bool
take_turn(size_t turn)
{
	for (size_t i = 0; i < turns.count; i++) {
		struct racer *x = &turns.racer[turn % 2 ? turns.count - 1 - i : i];
		json_t *own = eval, *rows;

		/* An opponent's results are not the candidate's. */
		eval = x == turns.racer ? own : json_object();
		rows = x->out ? NULL : custom_time(&x->t);
		if (rows)
			json_array_append_new(x->turns, rows);
		else if (x != turns.racer && !x->out)
			kwarn("%s is left out of the race: %s", x->name, kjson_str(eval, "status"));
		x->out |= !rows;
		if (eval != own)
			json_decref(eval);
		eval = own;
	}
	return !turns.racer[0].out;
}

static bool
race(bool whole)
{
	size_t need = turns.count > 1 || turns.need < ALONE ? turns.need : ALONE;

	for (size_t turn = 0; turn < need; turn++) {
		if (!take_turn(turn))
			return false;
		if (!whole && turn + 1 == LOOK && is_settled())
			break;
	}
	return true;
}

static json_t *
pairs_of_turns(const json_t *timing)
{
	json_t *pairs = json_array();
	struct kstat_interval m;
	size_t n;

	kjson_foreach(row, timing)
		kforeach_of(x, turns.racer + 1, turns.count - 1) {
			const char *workload = kjson_str(row, "workload");

			n = x->out ? 0 : compare(turns.racer, x, workload, &m);
			if (!n)
				continue;
			kjson_append(pairs, "{s:s,s:s,s:s,s:f,s:f,s:f,s:I,s:s,s:s*}", "name",
			    x->name, "of", turns.racer[0].name, "workload", workload, "ratio",
			    exp(m.median), "low", exp(m.low), "high", fmin(exp(m.high), 1e9),
			    "pairs", (json_int_t)n, "verdict", kstat_verdicts[kstat_verdict(&m)],
			    "id", x->id);
		}
	return pairs;
}

/* Times of the other programs in a verification. */
static json_t *
times_of_others(void)
{
	json_t *list = json_array();

	kforeach_of(x, turns.racer + 1, turns.count - 1)
		if (!x->out)
			kjson_append(list, "{s:s,s:o}", "name", x->name, "timing",
			    custom_together(x->turns));
	return list;
}

void
turns_time(const struct trial *trial)
{
	json_t *timing;

	open_turns(trial);
	if (keval.verifies)
		enter_all();
	else if (trial->s->known)
		enter_known(NULL);
	/* The opponent that choose_anchor would take. */
	else if (!trial->s->trusted && !(prefers_incumbent() && enter_past(subject->incumbent)))
		enter_known(fastest_baseline());
	kjson_put(eval, "tier", 3);
	if (race(keval.verifies)) {
		timing = custom_together(turns.racer[0].turns);
		kjson_set(eval, "timing", timing);
		if (turns.count > 1)
			kjson_set(eval, "pairs", pairs_of_turns(timing));
		if (keval.verifies)
			kjson_set(eval, "baselines", times_of_others());
		else if (turns.count > 1 && !turns.racer[1].out)
			kjson_put(eval, "anchor", turns.racer[1].name);
	}
	close_turns();
}

json_t *
turns_again(const struct trial *trial)
{
	json_auto_t *timing = NULL, *pairs = NULL;

	open_turns(trial);
	if (trial->s->incumbent && enter_past(trial->s->incumbent) && race(true)) {
		timing = custom_together(turns.racer[0].turns);
		pairs = pairs_of_turns(timing);
	}
	close_turns();
	return json_array_size(pairs) ? json_incref(pairs) : NULL;
}
