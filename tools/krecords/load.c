/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a campaign and its rounds from scored records and archives. See krecords.h. */

#include "krecords.h"

struct campaign campaign;

void
campaign_open(bool alone)
{
	char *fault;

	campaign = (struct campaign){ .lock = kseal_lock(".", alone) };
	kcamp_load();
	fault = kseal_read(&campaign.seal, ".", NULL);
	if (fault)
		kdie(K_NO, "%s", fault);
	kmemo_masks_take(campaign.seal.lines);
	campaign.commits = commits_of();
	ktrials_open();
	ktrials.join = KJOIN_PARENT;
	campaign.task = ktask_load(kcamp.task);
}

void
campaign_close(void)
{
	kmemo_masks_free();
	json_decref(campaign.commits);
	kseal_close(&campaign.seal);
	ktrials_close();
	ktask_free(campaign.task);
	close(campaign.lock);
}

int
campaign_damage(void)
{
	return ktrials.fault_count ? K_USAGE : K_OK;
}

static void
take_candidate(struct candidate *x, const struct kcandidate *scored)
{
	*x = (struct candidate){ .json = scored->json,
		.id = scored->id,
		.status = status_rows[scored->status].name,
		.eval = json_object_get(scored->json, "eval"),
		.score = json_object_get(scored->json, "score"),
		.audit = json_object_get(scored->json, "audit") };
	x->plan = json_object_get(x->eval, "plan");
	x->decision = json_object_get(x->score, "decision");
	x->code = kjson_maybe(x->eval, "code");
	x->level = kjson_str_or(x->decision, "level", kjson_str_or(x->eval, "level", "quick"));
	if (ktrials.linear && !*scored->verdict)
		kdie_usage("trials/%03ld/score.ndjson: %s has no score.decision.verdict; run make "
		           "views "
		           "to score it again",
		    scored->trial, x->id);
}

static void
add_round(const struct ktrial *trial, const struct candidate *base, struct klinear_run *run)
{
	struct round *r = &campaign.round[campaign.count++];

	if (ktrials.linear && trial->count > 1)
		kdie_usage("trials/%03ld/score.ndjson: contains %zu records, "
		           "but in linear mode a trial has one",
		    trial->number, trial->count);
	*r = (struct round){ .number = trial->number + 1,
		.trial = trial->number,
		.list = kcalloc(trial->count, sizeof *r->list),
		.count = trial->count };
	for (size_t i = 0; i < r->count; i++) {
		struct candidate *x = &r->list[i];

		take_candidate(x, &trial->list[i]);
		x->base = base;
		add_shapes(x);
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
rounds_load(bool write)
{
	const struct candidate *base = NULL;
	struct klinear_run run = { 0 };
	const struct ktrial *trial;

	if (ktrials.last < 0)
		kdie_usage("no trial is complete; run make trial");
	if (write && !ktrials.settled)
		kdie_usage("archive.ndjson: does not name the last trial, because views are being "
		           "made "
		           "again or are unfinished; run make views");
	campaign.round = kcalloc((size_t)ktrials.last + 1, sizeof *campaign.round);
	for (long t = 0; t <= ktrials.last && (trial = ktrials_get(t))->whole; t++) {
		add_round(trial, base, &run);
		if (campaign.round[t].accepted)
			base = campaign.round[t].accepted;
	}
	if (!base || !campaign.round[0].accepted || !campaign.round[0].accepted->code)
		kdie_usage("rounds need the reference and its code");
}

struct round *
last_accepted(void)
{
	size_t i = campaign.count - 1;

	while (i > 0 && !campaign.round[i].accepted)
		i--;
	return &campaign.round[i];
}

const char *
verdict_word(const struct round *r, const struct candidate *x)
{
	if (!r->trial)
		return "BASELINE";
	if (r->accepted != x)
		return "ROLLED BACK";
	return kjson_bool(x->decision, "trade_off") ? "ACCEPTED (trade-off)" : "ACCEPTED";
}

/* Wins come first, then correct candidates, then all others; among equals the better one. */
static bool
stands_before(const struct kcandidate *a, const struct kcandidate *b)
{
	int rank_a = 2 * a->won + a->correct, rank_b = 2 * b->won + b->correct;

	return rank_a != rank_b ? rank_a > rank_b : a->score > b->score;
}

const struct kcandidate *
trial_candidate(long number)
{
	const struct ktrial *trial = number <= ktrials.last ? ktrials_get(number) : NULL;
	const struct kcandidate *best = NULL;

	if (trial && number > 1 && !campaign.count)
		ktrials_drop(number - 2);
	if (trial && trial->whole)
		kforeach_list(one, trial)
			if (!best || stands_before(one, best))
				best = one;
	return best;
}

static char *
dump(const json_t *value, size_t flags)
{
	char *text = json_dumps(value, flags | JSON_REAL_PRECISION(15));

	if (!text)
		kdie(K_IO, "out of memory");
	return text;
}

char *
json_text(const json_t *object)
{
	auto_free char *text = dump(object, JSON_INDENT(1) | JSON_SORT_KEYS);

	return kasprintf("%s\n", text);
}

char *
json_line(const json_t *value)
{
	return dump(value, KIO_DUMP | JSON_ENCODE_ANY);
}

void
put_json(struct kbuf *out, const json_t *line)
{
	auto_free char *text = json_line(line);

	kbuf_printf(out, "%s\n", text);
}

void
put_by(void (*write)(const char *path, const void *data, size_t len), const char *path,
    const void *data, size_t len)
{
	static char *made;
	auto_free char *folder = kfolder_of(path);

	/* Files of one folder come one after the other. */
	if (!made || strcmp(made, folder)) {
		kmake_folder(folder);
		free(made);
		made = kstrdup(folder);
	}
	write(path, data, len);
}

void
put_file(const char *path, const void *data, size_t len)
{
	put_by(kwrite_if_changed, path, data, len);
}
