/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a campaign and its rounds from scored records and archives. See krecords.h. */

#include "klinear.h"
#include "krecords.h"

void
campaign_open(struct campaign *c, bool alone)
{
	char *path, *fault;

	*c = (struct campaign){ .lock = kseal_lock(".", alone), .camp = kcamp_load(".") };
	fault = kseal_read(&c->seal, ".", NULL);
	if (fault)
		kdie(K_NO, "%s", fault);
	kmemo_masks_take(&c->masks, c->seal.lines);
	c->commits = commits_of(c);
	ktrials_open(&c->trials, c->camp);
	c->trials.join = KJOIN_PARENT;
	path = kcamp_path(c->camp, kcamp_str(c->camp, "task"));
	c->task = ktask_load(path);
	free(path);
	c->linear = c->trials.linear;
	c->name = kcamp_str(c->camp, "name");
}

static void
rounds_free(struct campaign *c)
{
	for (size_t i = 0; i < c->count; i++) {
		for (size_t k = 0; k < c->round[i].count; k++)
			free(c->round[i].list[k].shape);
		free(c->round[i].list);
		json_decref(c->round[i].facts);
	}
	free(c->round);
}

int
campaign_close(struct campaign *c)
{
	int code = c->trials.fault_count ? K_USAGE : K_OK;

	rounds_free(c);
	kmemo_masks_free(&c->masks);
	json_decref(c->commits);
	kseal_close(&c->seal);
	ktrials_close(&c->trials);
	ktask_free(c->task);
	kcamp_free(c->camp);
	close(c->lock);
	*c = (struct campaign){ 0 };
	return code;
}

static void
take_candidate(const struct campaign *c, struct candidate *x, const struct kcandidate *scored)
{
	*x = (struct candidate){ .json = scored->json,
		.id = scored->id,
		.status = status_rows[scored->status].name,
		.trial = scored->trial,
		.branch = scored->branch,
		.eval = json_object_get(scored->json, "eval"),
		.score = json_object_get(scored->json, "score"),
		.audit = json_object_get(scored->json, "audit") };
	x->plan = json_object_get(x->eval, "plan");
	x->decision = json_object_get(x->score, "decision");
	x->code = kjson_str_or(x->eval, "code", NULL);
	x->level = kjson_str_or(x->decision, "level", kjson_str_or(x->eval, "level", "quick"));
	if (c->linear && !*scored->verdict)
		kdie(K_USAGE,
		    "trials/%03ld/score.ndjson: %s has no score.decision.verdict; run make views "
		    "to score it again",
		    x->trial, x->id);
}

static void
add_round(struct campaign *c, const struct ktrial *trial, const struct candidate *base,
    struct klinear_run *run)
{
	struct round *r = &c->round[c->count++];

	if (c->linear && trial->count > 1)
		kdie(K_USAGE,
		    "trials/%03ld/score.ndjson: contains %zu records, but in linear mode a trial "
		    "has one",
		    trial->number, trial->count);
	*r = (struct round){ .number = trial->number + 1,
		.trial = trial->number,
		.list = kcalloc(trial->count, sizeof *r->list),
		.count = trial->count };
	for (size_t i = 0; i < r->count; i++) {
		struct candidate *x = &r->list[i];

		take_candidate(c, x, &trial->list[i]);
		x->base = base;
		add_shapes(c, x);
		if (&trial->list[i] == trial->kept)
			r->accepted = x;
		if (strcmp(trial->list[i].time, r->time) > 0)
			strcpy(r->time, trial->list[i].time);
	}
	klinear_next(run, r->accepted != NULL, trial->list[0].status);
	r->streak = run->streak;
	r->drafts = run->drafts;
}

void
rounds_load(struct campaign *c, bool write)
{
	const struct candidate *base = NULL;
	struct klinear_run run = { 0 };
	const struct ktrial *trial;

	if (c->trials.last < 0)
		kdie(K_USAGE, "no trial is complete; run make trial");
	if (write && !c->trials.settled)
		kdie(K_USAGE,
		    "archive.ndjson: does not name the last trial, because views are being made "
		    "again or are unfinished; run make views");
	c->round = kcalloc((size_t)c->trials.last + 1, sizeof *c->round);
	for (long t = 0; t <= c->trials.last && (trial = ktrials_get(&c->trials, t))->whole; t++) {
		add_round(c, trial, base, &run);
		if (c->round[t].accepted)
			base = c->round[t].accepted;
	}
	if (!base || !c->round[0].accepted || !c->round[0].accepted->code)
		kdie(K_USAGE, "rounds need the reference and its code");
}

struct round *
last_accepted(const struct campaign *c)
{
	size_t i = c->count;

	while (i-- > 1)
		if (c->round[i].accepted)
			break;
	return &c->round[i < c->count ? i : 0];
}

const char *
verdict_word(const struct round *r, const struct candidate *x)
{
	if (!r->trial)
		return "BASELINE";
	if (r->accepted != x)
		return "ROLLED BACK";
	return kjson_bool_or(x->decision, "trade_off", false) ? "ACCEPTED (trade-off)" : "ACCEPTED";
}

/* A win comes before a correct candidate before any other, and of equals the better one. */
static bool
stands_before(const struct kcandidate *a, const struct kcandidate *b)
{
	int rank_a = 2 * a->won + a->correct, rank_b = 2 * b->won + b->correct;

	return rank_a != rank_b ? rank_a > rank_b : a->score > b->score;
}

const struct ktrial *
trial_of(const struct campaign *c, long number)
{
	/* Trials are read on request. */
	return ktrials_get((struct ktrials *)&c->trials, number);
}

const struct kcandidate *
trial_candidate(const struct campaign *c, long number)
{
	const struct ktrial *trial = number <= c->trials.last ? trial_of(c, number) : NULL;
	const struct kcandidate *best = NULL;

	if (trial && number > 1 && !c->count)
		ktrials_drop((struct ktrials *)&c->trials, number - 2);
	for (size_t i = 0; trial && trial->whole && i < trial->count; i++)
		if (!best || stands_before(&trial->list[i], best))
			best = &trial->list[i];
	return best;
}

char *
json_text(const json_t *object)
{
	auto_free char *text =
	    json_dumps(object, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
	char *lines = text ? kasprintf("%s\n", text) : NULL;

	if (!text)
		kdie(K_IO, "out of memory");
	return lines;
}

char *
json_line(const json_t *value)
{
	char *text = json_dumps(value, KIO_DUMP | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

	if (!text)
		kdie(K_IO, "out of memory");
	return text;
}

void
put_json(struct kbuf *out, const json_t *line)
{
	auto_free char *text = json_line(line);

	kbuf_printf(out, "%s\n", text);
}

void
put_file(const char *path, const void *data, size_t len)
{
	auto_free char *folder = kfolder_of(path);

	kmake_folder(folder);
	kwrite_or_die(path, data, len);
}
