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
	if (!g->cells[cell].used) {
		g->cells[cell].used = true;
		g->cells[cell].since = g->total;
	}
	cell_open(&g->cells[cell]);
	g->cells[cell].updated = trial;
	return &g->cells[cell];
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
		if (!step[d])
			continue;
		cell->sum[d] += by * (step[d] > 0 ? 1 : -1) * t->delta * aged;
		cell->weight[d] += by * aged;
	}
	direction = direction_of(cell, step);
	direction->samples += by;
	direction->successes += by * t->success;
	direction->delta += by * t->delta;
	if (!direction->samples) {
		size_t behind = cell->count - (size_t)(direction - cell->directions) - 1;

		memmove(direction, direction + 1, behind * sizeof *direction);
		cell->count--;
	}
	cell->departures += by;
	cell->improvements += by * t->success;
	cell->discoveries += by * !strcmp(t->outcome, "discovery");
	cell->replacements += by * !strcmp(t->outcome, "replacement");
	cell->delta += by * t->delta;
	if (!cell->departures) {
		/* Rounding must not leave a ghost. */
		memset(cell->sum, 0, sizeof cell->sum);
		memset(cell->weight, 0, sizeof cell->weight);
		cell->delta = 0;
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
	struct cell *from;

	if (t->repair)
		return;
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
	    "s\","
	    "\"delta\":%s,\"outcome\":\"%s\"%s%s}\n",
	    t->id, t->parent, from, to, karch_real(t->delta, delta), t->outcome,
	    t->success ? ",\"success\":true" : "", t->repair ? ",\"repair\":true" : "");
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
	long long number = g->total - (long long)g->kept;
	struct transition t = { 0 };
	char outcome[KARCH_WORD];

	if (!parse_line(shift_line(g), &t, outcome))
		kdie(K_USAGE, "the gradient's oldest transition is malformed");
	g->kept--;
	if (t.repair)
		return;
	if (g->cells[t.to].used && g->cells[t.to].since <= number) {
		cell_open(&g->cells[t.to]);
		g->cells[t.to].arrivals--;
	}
	if (g->cells[t.from].used && g->cells[t.from].since <= number) {
		cell_open(&g->cells[t.from]);
		count_departure(&g->cells[t.from], &t, -1);
	}
}

/*
 * How much better a candidate is than its parent. Of two that were timed a difference counts when
 * it is beyond the noise of both; where the parent is the incumbent, their race decides.
 */
static double
delta_of(const struct kcandidate *s)
{
	double delta = s->score - s->parent_score;
	bool faster, slower;

	if (!s->speedup.n || !s->parent_speedup.n)
		return fabs(delta) > threshold ? delta : 0;
	if (!strcmp(s->parent, s->incumbent)) {
		faster = s->gain;
		slower = s->loss;
	} else {
		faster = kgain_beyond(&s->speedup, &s->parent_speedup);
		slower = kgain_beyond(&s->parent_speedup, &s->speedup);
	}
	return faster ? fabs(delta) : slower ? -fabs(delta) : 0;
}

static const char *
outcome_of(bool takes, const struct karch_row *elite, double delta)
{
	if (takes)
		return elite ? "replacement" : "discovery";
	return delta > 0 ? "improvement" : delta < 0 ? "regression" : "neutral";
}

static void
note(struct gradient *g, const struct kcandidate *s, const struct karch *archive)
{
	const struct karch_row *elite = archive->elite[s->cell];
	struct karch_row *row = kcandidate_row(s, s->score);
	bool takes = kcandidate_takes(s, elite, row);
	struct transition t = {
		.trial = s->trial,
		.from = s->parent_cell,
		.to = s->cell,
		.delta = delta_of(s),
		.repair = s->parent_status && s->parent_status != STATUS_CORRECT,
	};

	strcpy(t.id, s->id);
	strcpy(t.parent, s->parent);
	t.outcome = outcome_of(takes, elite, t.delta);
	/* A broken kernel that lands in an empty cell has found nothing. */
	t.success = t.delta > 0 || (takes && s->standing == STATUS_CORRECT);
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
advance(struct karch *archive, const struct kcandidate *s)
{
	struct karch_row *row = kcandidate_row(s, KCANDIDATE_REFERENCE_SCORE);

	if (!kcandidate_enters(s) || !kcandidate_takes(s, archive->elite[s->cell], row)) {
		karch_row_free(row);
		return;
	}
	karch_row_free(archive->elite[s->cell]);
	archive->elite[s->cell] = row;
}

void
gradient_update(struct gradient *g, const struct kcamp *camp, struct karch *archive,
    char *const *files, size_t count)
{
	struct kcandidates in = { .dir = camp->dir, .files = files, .count = count };
	bool enabled = kcamp_bool(camp, "gradient.enabled");
	const struct kcandidate *list;
	size_t n;

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
		for (size_t i = 0; i < n && enabled; i++) {
			if (*list[i].parent && list[i].parent_cell >= 0 && list[i].cell >= 0 &&
			    !list[i].duplicate && list[i].status != STATUS_NO_CODE &&
			    list[i].status != STATUS_NO_PLAN)
				note(g, &list[i], archive);
			advance(archive, &list[i]);
		}
		g->trial = trial;
	}
	kcandidates_close(&in);
	if (g->trial < 0)
		kdie(K_USAGE, "there are no records and no gradient to start from");
	for (int c = 0; c < KARCH_CELLS; c++)
		if (g->cells[c].used && !g->cells[c].rest.s) {
			fitness_part(&g->cells[c]);
			rate_part(&g->cells[c]);
		}
}
