/* SPDX-License-Identifier: Apache-2.0 */
/* kgrad: transitions from scored records, and the counts of the cells that they leave and reach. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kgrad.h"
#include "kio.h"
#include "status.h"

/* Score differences smaller than this are no difference. */
static const double threshold = 0.01;
/* Old transitions tell of programs that have been left: after 14 trials one counts half. */
static const double decay = 0.95;
/* More than a long campaign makes, and a file of a few megabytes. */
enum { TRANSITIONS = 10000 };

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
	if (cell->count == cell->capacity) {
		cell->capacity = cell->capacity ? 2 * cell->capacity : 8;
		cell->directions =
		    krealloc(cell->directions, cell->capacity * sizeof *cell->directions);
	}
	memmove(cell->directions + i + 1, cell->directions + i,
	    (cell->count - i) * sizeof *cell->directions);
	cell->count++;
	cell->directions[i] = (struct direction){ 0 };
	memcpy(cell->directions[i].step, step, sizeof cell->directions[i].step);
	return &cell->directions[i];
}

static struct cell *
touch(struct gradient *g, int cell, long trial)
{
	g->cells[cell].used = true;
	cell_open(&g->cells[cell]);
	g->cells[cell].updated = trial;
	return &g->cells[cell];
}

/* A transition more, or (BY -1) the oldest one less. */
static void
count_delta(struct direction *v, const struct transition *t, int by)
{
	if (!t->timed)
		return;
	if (by < 0) {
		memmove(v->deltas, v->deltas + 1, --v->timed * sizeof *v->deltas);
		return;
	}
	if (v->timed == v->capacity) {
		v->capacity = v->capacity ? 2 * v->capacity : 4;
		v->deltas = krealloc(v->deltas, v->capacity * sizeof *v->deltas);
	}
	v->deltas[v->timed++] = t->delta;
}

static void
drop_direction(struct cell *cell, struct direction *v)
{
	size_t behind = cell->count - (size_t)(v - cell->directions) - 1;

	free(v->deltas);
	memmove(v, v + 1, behind * sizeof *v);
	cell->count--;
}

/* Count (BY 1) or discount (BY -1) a transition in the cell that it left. */
static void
count_departure(struct cell *cell, const struct transition *t, int by)
{
	double aged = pow(decay, (double)(cell->base - t->trial));
	int step[KARCH_DIMS];
	struct direction *direction;

	for (int d = 0; d < KARCH_DIMS; d++) {
		step[d] = karch_level(t->to, d) - karch_level(t->from, d);
		if (!step[d] || !t->timed)
			continue;
		cell->sum[d] += by * (step[d] > 0 ? 1 : -1) * t->delta * aged;
		cell->weight[d] += by * aged;
	}
	direction = direction_of(cell, step);
	direction->samples += by;
	direction->successes += by * t->success;
	direction->failures += by * t->failed;
	count_delta(direction, t, by);
	if (!direction->samples)
		drop_direction(cell, direction);
	cell->departures += by;
	cell->improvements += by * t->success;
	cell->discoveries += by * !strcmp(t->outcome, "discovery");
	cell->replacements += by * !strcmp(t->outcome, "replacement");
	if (!cell->departures) {
		/* Rounding must not leave a ghost. */
		memset(cell->sum, 0, sizeof cell->sum);
		memset(cell->weight, 0, sizeof cell->weight);
	}
}

/*
 * Sums are kept as of the last departure, so that a cell that nothing leaves need not be touched
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
count_transition(struct gradient *g, const struct transition *t)
{
	int distance = karch_distance(t->from, t->to);
	struct length *length =
	    &g->lengths[distance < KARCH_LENGTHS ? distance : KARCH_LENGTHS - 1];
	struct cell *from;

	if (t->repair)
		return;
	length->tries++;
	length->correct += t->correct;
	length->gain += t->success ? t->delta : 0;
	from = touch(g, t->from, t->trial);
	rebase(from, t->trial);
	count_departure(from, t, 1);
	touch(g, t->to, t->trial)->arrivals++;
}

static void
append_line(struct gradient *g, const struct transition *t)
{
	char from[KARCH_DIMS + 1], to[KARCH_DIMS + 1], delta[32];

	karch_cell_text(t->from, from);
	karch_cell_text(t->to, to);
	kbuf_printf(&g->added,
	    "{\"kind\":\"transition\",\"id\":\"%s\",\"parent\":\"%s\",\"from\":\"%s\",\"to\":\"%"
	    "s\",\"outcome\":\"%s\"",
	    t->id, t->parent, from, to, t->outcome);
	if (t->timed)
		kbuf_printf(&g->added, ",\"delta\":%s", karch_real(t->delta, delta));
	kbuf_printf(&g->added, "%s%s%s}\n", t->success ? ",\"success\":true" : "",
	    t->failed ? ",\"failed\":true" : "", t->repair ? ",\"repair\":true" : "");
}

static bool
parse_line(struct span line, struct transition *t, char outcome[KARCH_WORD])
{
	json_t *o = json_loadb(line.s, line.len, 0, NULL);
	long branch;

	snprintf(t->id, sizeof t->id, "%s", kjson_str_or(o, "id", ""));
	snprintf(outcome, KARCH_WORD, "%s", kjson_str_or(o, "outcome", ""));
	t->from = karch_cell(kjson_str_or(o, "from", ""));
	t->to = karch_cell(kjson_str_or(o, "to", ""));
	t->delta = kjson_num_or(o, "delta", 0);
	t->timed = json_object_get(o, "delta");
	t->failed = kjson_bool_or(o, "failed", false);
	t->success = kjson_bool_or(o, "success", false);
	t->repair = kjson_bool_or(o, "repair", false);
	t->outcome = outcome;
	json_decref(o);
	return karch_id(t->id, &t->trial, &branch) && *outcome && t->from >= 0 && t->to >= 0;
}

/*
 * Take the oldest transition's line off the file's or, when none is left of those, off this run's.
 */
static struct span
shift_line(struct gradient *g)
{
	bool old = g->old.len;
	const char *line = old ? g->old.s : g->added.data + g->start;
	const char *end = memchr(line, '\n', old ? g->old.len : g->added.len - g->start);
	size_t len = (size_t)(end - line);

	if (old)
		g->old = (struct span){ end + 1, g->old.len - len - 1 };
	else
		g->start += len + 1;
	return (struct span){ line, len };
}

/* The oldest transition goes, and with it what the cells have counted of it. */
static void
forget_oldest(struct gradient *g)
{
	struct transition t = { 0 };
	char outcome[KARCH_WORD];

	if (!parse_line(shift_line(g), &t, outcome))
		kdie(K_USAGE, "the gradient's oldest transition is malformed");
	g->kept--;
	if (t.repair)
		return;
	cell_open(&g->cells[t.to]);
	g->cells[t.to].arrivals--;
	cell_open(&g->cells[t.from]);
	count_departure(&g->cells[t.from], &t, -1);
}

/*
 * How much faster a candidate is than its parent, as the logarithm of the ratio: by their race,
 * where the parent is the incumbent, else by what both were measured against. Without times the
 * scores stand for them. Returns 1 or -1 when the difference is beyond the noise.
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
note(struct gradient *g, const struct kcandidate *s, const struct karch *archive)
{
	const struct karch_row *elite = archive->elite[s->cell];
	struct karch_row *row = kcandidate_row(s, s->score);
	struct transition t = {
		.trial = s->trial,
		.from = s->parent_cell,
		.to = s->cell,
		.repair = s->parent_status && s->parent_status != STATUS_CORRECT,
	};
	int better = compare(s, &t);

	strcpy(t.id, s->id);
	strcpy(t.parent, s->parent);
	t.outcome = outcome_of(kcandidate_takes(s, elite, row, best_id(archive)), elite, better);
	/* A cell that is found is worth keeping, but only a faster program is a success. */
	t.success = better > 0 && t.timed && t.delta > 0;
	t.failed = s->standing == STATUS_COMPILE_ERROR || s->standing == STATUS_RUN_ERROR;
	free(row);
	count_transition(g, &t);
	append_line(g, &t);
	g->total++;
	g->kept++;
	while (g->kept > TRANSITIONS)
		forget_oldest(g);
}

/* The elite rule as the archive will apply it. */
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

/* What was learned of lengths ages with the trials. */
static void
age_lengths(struct gradient *g, long trial)
{
	double factor = g->trial < 0 ? 1 : pow(decay, (double)(trial - g->trial));

	for (size_t i = 0; i < KARCH_LENGTHS; i++)
		g->lengths[i] = (struct length){ g->lengths[i].tries * factor,
			g->lengths[i].correct * factor, g->lengths[i].gain * factor };
}

void
gradient_update(struct gradient *g, const struct kcamp *camp, struct karch *archive,
    char *const *files, size_t count)
{
	struct kcandidates in = { .dir = camp->dir, .files = files, .count = count };
	bool enabled = kcamp_bool(camp, "gradient.enabled");
	const struct kcandidate *list;
	size_t n;

	if (!archive->header)
		archive->header = json_object();
	while ((n = kcandidates_trial(&in, &list))) {
		long trial = list[0].trial;

		if (trial <= g->trial)
			kdie(K_USAGE,
			    "the gradient already contains trial %ld, but these records are of "
			    "trial %ld",
			    g->trial, trial);
		if (trial <= archive->trial && trial)
			kdie(K_USAGE,
			    "the archive already contains trial %ld; give the archive from before "
			    "these records",
			    archive->trial);
		age_lengths(g, trial);
		for (size_t i = 0; i < n && enabled; i++) {
			if (*list[i].parent && list[i].parent_cell >= 0 && list[i].cell >= 0 &&
			    !list[i].duplicate && list[i].status != STATUS_NO_CODE &&
			    list[i].status != STATUS_NO_PLAN)
				note(g, &list[i], archive);
			advance(archive, &list[i], kcamp_linear(camp));
		}
		g->trial = trial;
	}
	kcandidates_close(&in);
	if (g->trial < 0)
		kdie(K_USAGE, "there are no records and no gradient to start from");
}
