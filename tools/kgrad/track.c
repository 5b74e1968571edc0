/* SPDX-License-Identifier: Apache-2.0 */
/* kgrad: transitions from scored records, and the counts of the cells that they leave and reach. */

#include "kgrad.h"
#include "status.h"

/* Smaller differences of scores do not count. */
static const double threshold = 0.01;
/* Old transitions describe programs that the search has left: after 14 trials one counts half. */
static const double decay = 0.95;

static int
compare_steps(const int *a, const int *b)
{
	for (int d = 0; d < KARCH_DIMS; d++)
		if (a[d] != b[d])
			return a[d] < b[d] ? -1 : 1;
	return 0;
}

static struct direction *
direction_of(struct cell *cell, const int *step)
{
	size_t i = 0;

	while (i < cell->count && compare_steps(cell->directions[i].step, step) < 0)
		i++;
	if (i < cell->count && !compare_steps(cell->directions[i].step, step))
		return &cell->directions[i];
	kgrow(cell->directions, cell->count);
	memmove(cell->directions + i + 1, cell->directions + i,
	    (cell->count - i) * sizeof *cell->directions);
	cell->count++;
	cell->directions[i] = (struct direction){ 0 };
	memcpy(cell->directions[i].step, step, sizeof cell->directions[i].step);
	return &cell->directions[i];
}

static struct cell *
touch(int number, long trial)
{
	struct cell *cell = &gradient.cells[number];

	cell->used = true;
	cell_open(cell);
	cell->updated = trial;
	return cell;
}

/* Count a transition in the cell where it began. */
static void
count_departure(struct cell *cell, const struct transition *t)
{
	int step[KARCH_DIMS];
	struct direction *direction;

	for (int d = 0; d < KARCH_DIMS; d++) {
		step[d] = karch_level(t->to, d) - karch_level(t->from, d);
		if (!step[d] || !t->timed)
			continue;
		cell->sum[d] += (step[d] > 0 ? 1 : -1) * t->delta;
		cell->weight[d]++;
	}
	direction = direction_of(cell, step);
	direction->samples++;
	direction->successes += t->success;
	direction->failures += t->failed;
	if (t->timed)
		add_delta(direction, t->delta);
	cell->departures++;
	cell->improvements += t->success;
	cell->discoveries += !strcmp(t->outcome, "discovery");
	cell->replacements += !strcmp(t->outcome, "replacement");
}

/*
 * Sums are kept as of the last departure, so that a cell without departures need not be touched
 * every trial.
 */
static void
rebase(struct cell *cell, long trial)
{
	double factor = pow(decay, (double)(trial - cell->base));

	for (int d = 0; d < KARCH_DIMS; d++) {
		cell->sum[d] *= factor;
		cell->weight[d] *= factor;
	}
	cell->base = trial;
}

static void
count_transition(const struct transition *t)
{
	int distance = karch_distance(t->from, t->to);
	struct length *length =
	    &gradient.lengths[distance < KARCH_LENGTHS ? distance : KARCH_LENGTHS - 1];
	struct cell *from;

	if (t->repair)
		return;
	length->tries++;
	length->correct += t->correct;
	length->gain += t->success ? t->delta : 0;
	from = touch(t->from, t->trial);
	rebase(from, t->trial);
	count_departure(from, t);
	touch(t->to, t->trial)->arrivals++;
}

static void
append_line(const struct transition *t)
{
	char from[KARCH_DIMS + 1], to[KARCH_DIMS + 1], delta[32];

	karch_cell_text(t->from, from);
	karch_cell_text(t->to, to);
	kbuf_printf(&gradient.added,
	    "{\"kind\":\"transition\",\"id\":\"%s\",\"parent\":\"%s\",\"from\":\"%s\",\"to\":\"%"
	    "s\",\"outcome\":\"%s\"",
	    t->id, t->parent, from, to, t->outcome);
	if (t->timed)
		kbuf_printf(&gradient.added, ",\"delta\":%s", karch_real(t->delta, delta));
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
best_id(const struct karch *archive)
{
	return kjson_str_or(archive->header, "best.id", "");
}

static void
note(const struct kcandidate *s, const struct karch *archive)
{
	const struct karch_row *elite = archive->elite[s->cell];
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
	t.outcome = outcome_of(kcandidate_takes(s, elite, row, best_id(archive)), elite, better);
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
advance(struct karch *archive, const struct kcandidate *s, bool linear)
{
	struct karch_row *row = kcandidate_row(s, KCANDIDATE_REFERENCE_SCORE);
	bool enters = kcandidate_enters(s),
	     best = enters && kcandidate_is_best(s, archive, row, linear);

	if (!enters ||
	    !(best || kcandidate_takes(s, archive->elite[s->cell], row, best_id(archive)))) {
		karch_row_free(row);
		return;
	}
	karch_row_free(archive->elite[s->cell]);
	archive->elite[s->cell] = row;
	if (best)
		karch_set_best(archive, row);
}

/* What was learned about lengths ages with the trials. */
static void
age_lengths(long trial)
{
	double factor = gradient.trial < 0 ? 1 : pow(decay, (double)(trial - gradient.trial));

	for (size_t i = 0; i < KARCH_LENGTHS; i++)
		gradient.lengths[i] = (struct length){ gradient.lengths[i].tries * factor,
			gradient.lengths[i].correct * factor, gradient.lengths[i].gain * factor };
}

void
gradient_update(const struct kcamp *camp, struct karch *archive, char *const *files, size_t count)
{
	struct kcandidates in = { .dir = camp->dir, .files = files, .count = count };
	bool enabled = kcamp_bool(camp, "gradient.enabled");
	const struct kcandidate *list;
	size_t n;

	if (!archive->header)
		archive->header = json_object();
	while ((n = kcandidates_trial(&in, &list))) {
		long trial = list[0].trial;

		if (trial <= gradient.trial)
			kdie(K_USAGE,
			    "the gradient already contains trial %ld, but these records are of "
			    "trial %ld",
			    gradient.trial, trial);
		if (trial <= archive->trial && trial)
			kdie(K_USAGE,
			    "the archive already contains trial %ld; give the archive from before "
			    "these records",
			    archive->trial);
		age_lengths(trial);
		/* Transitions of earlier trials are in those trials' files. */
		kbuf_free(&gradient.added);
		gradient.added_count = 0;
		for (size_t i = 0; i < n && enabled; i++) {
			if (*list[i].parent && list[i].parent_cell >= 0 && list[i].cell >= 0 &&
			    !list[i].duplicate && list[i].status != STATUS_NO_CODE &&
			    list[i].status != STATUS_NO_PLAN)
				note(&list[i], archive);
			advance(archive, &list[i], kcamp_linear(camp));
		}
		gradient.trial = trial;
	}
	kcandidates_close(&in);
	if (gradient.trial < 0)
		kdie(K_USAGE, "there are no records and no gradient to start from");
}
