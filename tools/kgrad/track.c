/* SPDX-License-Identifier: Apache-2.0 */
/* kgrad: transitions from scored records, and the counts of the cells that they leave and reach. */

#include "kgrad.h"

/* Smaller differences of scores do not count. */
static const double threshold = 0.01;
/* Old transitions describe programs that the search has left: after 14 trials one counts half. */
static const double decay = 0.95;

/*
 * Number of changes kept for each direction: more would not make their mean or median more certain.
 */
enum { DELTAS = 50 };

static int
compare_steps(const json_t *a, const json_t *b)
{
	json_int_t difference = 0;

	for (size_t d = 0; d < KARCH_DIMS && !difference; d++)
		difference = json_integer_value(json_array_get(a, d)) -
		    json_integer_value(json_array_get(b, d));
	return (difference > 0) - (difference < 0);
}

/* The results of STEP from a cell; borrowed. They are in order of their steps. */
static json_t *
direction_of(json_t *cell, json_t *step)
{
	json_t *list = json_object_get(cell, "directions"), *one;
	size_t i;
	int order = 1;

	json_array_foreach(list, i, one) {
		order = compare_steps(json_object_get(one, "direction"), step);
		if (order >= 0)
			break;
	}
	if (order)
		json_array_insert_new(
		    list, i, json_pack("{s:O,s:[]}", "direction", step, "deltas"));
	return json_array_get(list, i);
}

/* Count a transition in the cell where it began. */
static void
count_departure(json_t *cell, const struct transition *t)
{
	json_auto_t *step = json_array();
	json_t *direction, *deltas;

	for (int d = 0; d < KARCH_DIMS; d++)
		json_array_append_new(
		    step, json_integer(karch_level(t->to, d) - karch_level(t->from, d)));
	direction = direction_of(cell, step);
	kjson_count(direction, "samples", 1);
	kjson_count(direction, "successes", t->success);
	kjson_count(direction, "failures", t->failed);
	deltas = json_object_get(direction, "deltas");
	if (t->timed)
		json_array_append_new(deltas, json_real(t->delta));
	if (json_array_size(deltas) > DELTAS)
		json_array_remove(deltas, 0);
	kjson_count(cell, "departures", 1);
	kjson_count(cell, "improvements", t->success);
}

static void
count_transition(const struct transition *t)
{
	int distance = karch_distance(t->from, t->to);
	struct karch_length *length =
	    &gradient.old.lengths[distance < KARCH_LENGTHS ? distance : KARCH_LENGTHS - 1];

	if (t->repair)
		return;
	length->tries++;
	length->correct += t->correct;
	length->gain += t->success ? t->delta : 0;
	count_departure(cell_open(t->from), t);
}

static void
append_line(const struct transition *t)
{
	kbuf_printf(&gradient.added,
	    "{\"kind\":\"transition\",\"id\":\"%s\",\"parent\":\"%s\",\"from\":\"%s\",\"to\":\"%"
	    "s\",\"outcome\":\"%s\"",
	    t->id, t->parent, karch_cell_text(t->from), karch_cell_text(t->to), t->outcome);
	if (t->timed)
		kbuf_printf(&gradient.added, ",\"delta\":%s", karch_real(t->delta));
	kbuf_printf(&gradient.added, "%s%s%s}\n", t->success ? ",\"success\":true" : "",
	    t->failed ? ",\"failed\":true" : "", t->repair ? ",\"repair\":true" : "");
}

/*
 * How much faster a candidate is than its parent, as the logarithm of the ratio: from their race if
 * the parent is the incumbent, else from what both were measured against. Without times the scores
 * are used instead. Returns 1 or -1 when the difference exceeds the noise.
 */
static int
compare(const struct kcandidate *s, struct transition *t)
{
	bool raced = !strcmp(s->parent, s->incumbent);
	double difference = s->score - s->parent_score;

	t->correct = s->standing == STATUS_CORRECT;
	t->timed = t->correct && !t->repair && s->parent_score > 0 && s->score > 0;
	if (!t->timed)
		return difference < -threshold ? -1 : 0;
	if (!s->speedup.n || !s->parent_speedup.n) {
		t->delta = log(s->score / s->parent_score);
		return difference > threshold ? 1 : difference < -threshold ? -1 : 0;
	}
	t->delta = raced && s->gained.n ? log(s->gained.mean)
	                                : log(s->speedup.mean / s->parent_speedup.mean);
	if (raced)
		return s->gain ? 1 : s->loss ? -1 : 0;
	return kgain_beyond(&s->speedup, &s->parent_speedup) ? 1
	    : kgain_beyond(&s->parent_speedup, &s->speedup)  ? -1
	                                                     : 0;
}

static const char *
outcome_of(bool takes, const struct karch_row *elite, int better)
{
	if (takes)
		return elite ? "replacement" : "discovery";
	return better > 0 ? "improvement" : better < 0 ? "regression" : "neutral";
}

static const char *
best_id(void)
{
	return kjson_str(karch.header, "best.id");
}

static void
note(const struct kcandidate *s)
{
	const struct karch_row *elite = karch.elite[s->cell];
	auto_free struct karch_row *row = kcandidate_row(s, s->score);
	struct transition t = {
		.trial = s->trial,
		.from = s->parent_cell,
		.to = s->cell,
		.repair = s->parent_status && s->parent_status != STATUS_CORRECT,
	};
	int better = compare(s, &t);

	/* No race is more precise than that, and every digit is stored in the file many times. */
	t.delta = rint(t.delta * 1e6) / 1e6;

	strcpy(t.id, s->id);
	strcpy(t.parent, s->parent);
	t.outcome = outcome_of(kcandidate_takes(s, elite, row, best_id()), elite, better);
	/* Finding a new cell is worth keeping, but only a faster program is a success. */
	t.success = better > 0 && t.timed && t.delta > 0;
	t.failed = s->standing == STATUS_COMPILE_ERROR || s->standing == STATUS_RUN_ERROR;
	count_transition(&t);
	append_line(&t);
	gradient.total++;
	gradient.added_count++;
}

/* The elite rule, as the archive will apply it. */
static void
advance(const struct kcandidate *s)
{
	struct karch_row *row = kcandidate_row(s, KCANDIDATE_REFERENCE_SCORE);
	bool enters = kcandidate_enters(s),
	     best = enters && kcandidate_is_best(s, row, kcamp_linear());

	if (!enters || !(best || kcandidate_takes(s, karch.elite[s->cell], row, best_id()))) {
		karch_row_free(row);
		return;
	}
	karch_row_free(karch.elite[s->cell]);
	karch.elite[s->cell] = row;
	if (best)
		karch_set_best(row);
}

/* What was learned about lengths ages with the trials. */
static void
age_lengths(long trial)
{
	double factor = gradient.trial < 0 ? 1 : pow(decay, (double)(trial - gradient.trial));

	kforeach_of(l, gradient.old.lengths, KARCH_LENGTHS) {
		l->tries *= factor;
		l->correct *= factor;
		l->gain *= factor;
	}
}

static void
add_trial(const struct kcandidate *list, size_t n)
{
	long trial = list[0].trial;

	if (trial <= gradient.trial)
		kdie_usage("the gradient already contains trial %ld, "
		           "but these records are of trial %ld",
		    gradient.trial, trial);
	if (trial <= karch.trial && trial)
		kdie_usage("the archive already contains trial %ld; "
		           "give the archive from before these records",
		    karch.trial);
	age_lengths(trial);
	/* Transitions of earlier trials are in those trials' files. */
	kbuf_free(&gradient.added);
	gradient.added_count = 0;
	for (size_t i = 0; i < n && kcamp_bool("gradient.enabled"); i++) {
		if (*list[i].parent && list[i].parent_cell >= 0 && list[i].cell >= 0 &&
		    !list[i].duplicate && list[i].status != STATUS_NO_CODE &&
		    list[i].status != STATUS_NO_PLAN)
			note(&list[i]);
		advance(&list[i]);
	}
	gradient.trial = trial;
}

void
gradient_update(char *const *files, size_t count)
{
	if (!karch.header)
		karch.header = json_object();
	kcandidate_trials(files, count, add_trial);
	if (gradient.trial < 0)
		kdie_usage("there are no records and no gradient to start from");
}
