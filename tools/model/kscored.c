/* SPDX-License-Identifier: Apache-2.0 */
/* kscored: see kscored.h. */
#include "kscored.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kutil.h"

const char *const kscored_tokens[KSCORED_TOKENS] = {
	"input_tokens", "output_tokens", "reasoning_tokens", "cache_read_tokens", "cache_write_tokens",
};

bool
kscored_enters(const struct kscored *s)
{
	return status_eligible(s->status) && s->cell >= 0 && !s->duplicate;
}

struct karch_row *
kscored_row(const struct kscored *s, double seed_score)
{
	struct karch_row *row = kcalloc(1, sizeof *row);

	strcpy(row->id, s->id);
	row->trial = s->trial;
	row->branch = s->branch;
	row->cell = s->cell;
	row->score = strcmp(s->id, KARCH_REFERENCE) ? s->score : seed_score;
	karch_set_speedup(row, &s->speedup, s->provisional);
	row->runtime_ms = s->runtime_ms;
	row->status = s->status;
	strcpy(row->tokens, s->tokens);
	strcpy(row->parent, s->parent);
	strcpy(row->strategy, s->strategy);
	return row;
}

bool
kscored_takes(const struct kscored *s, const struct karch_row *elite, const struct karch_row *row)
{
	if (elite && elite->speedup > 0 && row->speedup > 0 && !strcmp(elite->id, s->incumbent))
		return s->gain;
	return karch_takes(elite, row);
}

static _Noreturn void
refuse(const struct kin *in, const char *why)
{
	kdie(K_USAGE, "%s:%ld: %s", in->file, in->lineno, why);
}

static int
coords_cell(struct kspan coords)
{
	json_t *list = kskim_json(coords);
	int cell = karch_cell_json(list);

	json_decref(list);
	return cell;
}

/* An identifier: what goes into archive lines unescaped. */
static void
read_word(const struct kin *in, struct kspan value, char *buf, size_t size, const char *what)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_/";

	if (!kskim_word(value, buf, size) || strspn(buf, allowed) != strlen(buf))
		kdie(K_USAGE, "%s:%ld: '%s' is not a short lower-case word", in->file, in->lineno, what);
}

static struct kgain_ratio
read_speedup(struct kspan speedup, struct kspan low, struct kspan high)
{
	double v = kskim_num(speedup, 0);

	return v > 0 ? (struct kgain_ratio){ v, kskim_num(low, v), kskim_num(high, low.s ?
	    INFINITY : v), 1 } :
	    (struct kgain_ratio){ 0 };
}

static enum status
read_status(const struct kin *in, struct kspan value, const char *what)
{
	char word[KARCH_WORD];

	read_word(in, value, word, sizeof word, what);
	return status_named(word);
}

static void
read_parent(const struct kin *in, struct kspan parent, struct kscored *s)
{
	enum { ID, COORDS, COMBINED, STATUS, TRIES, SPEEDUP, LOW, HIGH, KEYS };
	static const char *const keys[] = { "id", "coords", "combined", "status", "plan_tries",
	    "speedup", "speedup_low",
		"speedup_high" };
	struct kspan v[KEYS];
	long trial, branch;

	if (!kskim_members(parent, keys, KEYS, v))
		refuse(in, "sample.parent is no object");
	read_word(in, v[ID], s->parent, sizeof s->parent, "sample.parent.id");
	if (!karch_id(s->parent, &trial, &branch))
		refuse(in, "sample.parent.id is no id");
	if (v[STATUS].s)
		s->parent_status = read_status(in, v[STATUS], "sample.parent.status");
	s->parent_cell = coords_cell(v[COORDS]);
	s->parent_score = kskim_num(v[COMBINED], 0);
	s->parent_tries = (long)kskim_num(v[TRIES], 0);
	s->parent_speedup = read_speedup(v[SPEEDUP], v[LOW], v[HIGH]);
}

static void
read_sample(const struct kin *in, struct kspan sample, struct kscored *s)
{
	enum { PARENT, STRATEGY, TARGET, ISLAND, INCUMBENT, KEYS };
	static const char *const keys[] = { "parent", "strategy", "target", "island", "incumbent" };
	struct kspan v[KEYS];

	strcpy(s->incumbent, KARCH_REFERENCE);
	s->target = s->parent_cell = -1;
	s->island = -1;
	if (!sample.s)
		return;
	if (!kskim_members(sample, keys, KEYS, v))
		refuse(in, "'sample' is no object");
	if (v[STRATEGY].s)
		read_word(in, v[STRATEGY], s->strategy, sizeof s->strategy, "sample.strategy");
	s->target = coords_cell(v[TARGET]);
	s->island = (long)kskim_num(v[ISLAND], -1);
	if (v[INCUMBENT].s)
		read_word(in, v[INCUMBENT], s->incumbent, sizeof s->incumbent, "sample.incumbent");
	if (v[PARENT].s)
		read_parent(in, v[PARENT], s);
}

static void
read_reply(const struct kin *in, struct kspan reply, struct kscored *s)
{
	static const char *const keys[] = { "usage", "cost_usd" };
	struct kspan v[LEN(keys)], tokens[KSCORED_TOKENS];

	s->paid = reply.s;
	if (!reply.s)
		return;
	if (!kskim_members(reply, keys, LEN(keys), v))
		refuse(in, "'reply' is no object");
	s->priced = v[1].s;
	s->cost_usd = kskim_num(v[1], 0);
	if (v[0].s && !kskim_members(v[0], kscored_tokens, KSCORED_TOKENS, tokens))
		refuse(in, "'reply.usage' is no object");
	for (size_t i = 0; v[0].s && i < KSCORED_TOKENS; i++)
		s->token_count[i] = (long long)kskim_num(tokens[i], 0);
}

/* The check "timeout" among the reasons. */
static bool
speaks_of_time(struct kspan reasons)
{
	return reasons.s && memmem(reasons.s, reasons.len, "timeout", 7);
}

static void
read_eval(const struct kin *in, struct kspan eval, struct kscored *s)
{
	enum { STATUS, TOKENS, DUPLICATE, LOG, REASONS, KEYS };
	static const char *const keys[] = { "status", "tokens", "duplicate_of", "log", "reasons" };
	struct kspan v[KEYS];

	if (!eval.s || !kskim_members(eval, keys, KEYS, v))
		refuse(in, "the record has no 'eval'");
	s->status = read_status(in, v[STATUS], "eval.status");
	if (v[TOKENS].s)
		read_word(in, v[TOKENS], s->tokens, sizeof s->tokens, "eval.tokens");
	s->duplicate = v[DUPLICATE].s;
	s->timed_out = s->status == STATUS_RUN_ERROR && speaks_of_time(v[REASONS]);
	if (s->status == STATUS_COMPILE_ERROR) {
		json_t *log = kskim_json(v[LOG]);

		s->log = json_is_string(log) ? kstrdup(json_string_value(log)) : NULL;
		json_decref(log);
	}
}

/*
 * A candidate whose gain is one of the benchmark alone is kept and holds no cell, as one that is suspect. The next
 * prompts say why.
 */
static void
read_audit(struct kspan audit, struct kscored *s)
{
	enum { DECISION, REASONS, KEYS };
	static const char *const keys[] = { "decision", "reasons" };
	struct kspan v[KEYS];
	char decision[32];
	json_t *reasons;

	if (!audit.s || !kskim_members(audit, keys, KEYS, v) || !kskim_word(v[DECISION], decision, sizeof decision) ||
	    strcmp(decision, "REJECT-as-overfit") || !status_eligible(s->status))
		return;
	s->status = STATUS_QUARANTINED;
	reasons = kskim_json(v[REASONS]);
	free(s->log);
	s->log = kasprintf("refused, because its gain would not outlive the benchmark: %s",
	    json_string_value(json_array_get(reasons, 0)) ? : "see its audit");
	json_decref(reasons);
}

static void
read_score(const struct kin *in, struct kspan score, struct kscored *s)
{
	enum { COMBINED, SPEEDUP, LOW, HIGH, PROVISIONAL, ALARM, RUNTIME, GAIN, VERDICT, DECISION,
	    KEYS };
	static const char *const keys[] = { "combined", "speedup", "speedup_low", "speedup_high",
	    "provisional", "alarm",
		"runtime_ms", "gain", "verdict", "decision" };
	struct kspan v[KEYS], decision;
	char verdict[KARCH_WORD] = "";

	if (!score.s || !kskim_members(score, keys, KEYS, v))
		refuse(in, "the record has no 'score'");
	s->score = kskim_num(v[COMBINED], NAN);
	if (!isfinite(s->score))
		refuse(in, "the record has no 'score.combined'");
	/* Times that cannot be true say nothing. */
	if (!v[ALARM].s)
		s->speedup = read_speedup(v[SPEEDUP], v[LOW], v[HIGH]);
	s->provisional = kskim_true(v[PROVISIONAL]);
	s->runtime_ms = kskim_num(v[RUNTIME], 0);
	s->gain = kskim_true(v[GAIN]);
	if (v[VERDICT].s)
		read_word(in, v[VERDICT], verdict, sizeof verdict, "score.verdict");
	s->loss = !strcmp(verdict, "loss");
	if (v[DECISION].s) {
		decision = kskim_path(v[DECISION], "verdict");
		read_word(in, decision, s->verdict, sizeof s->verdict, "score.decision.verdict");
	}
}

static void
read_record(const struct kin *in, struct kspan line, struct kscored *s)
{
	enum { TRIAL, BRANCH, SAMPLE, REPLY, EVAL, COORDS, AUDIT, SCORE, KEYS };
	static const char *const keys[] = { "trial", "branch", "sample", "reply", "eval", "coords", "audit", "score" };
	struct kspan v[KEYS];

	*s = (struct kscored){ 0 };
	if (!kskim_members(line, keys, KEYS, v))
		refuse(in, "not a JSON object");
	s->trial = (long)kskim_num(v[TRIAL], -1);
	s->branch = (long)kskim_num(v[BRANCH], -1);
	if (s->trial < 0 || s->trial > 999999 || s->branch < 0 || s->branch > 999999)
		refuse(in, "the record has no trial and branch");
	snprintf(s->id, sizeof s->id, "%03ld/%02ld", s->trial, s->branch);
	read_sample(in, v[SAMPLE], s);
	read_reply(in, v[REPLY], s);
	read_eval(in, v[EVAL], s);
	s->cell = v[COORDS].s ? coords_cell(kskim_path(v[COORDS], "coords")) : -1;
	if (status_eligible(s->status) && s->cell < 0)
		refuse(in, "the record has no 'coords.coords'");
	read_audit(v[AUDIT], s);
	read_score(in, v[SCORE], s);
}

/* The next record of any trial into in->ahead; false at the end of the last file. */
static bool
look_ahead(struct kscored_in *in)
{
	while (!in->pending) {
		const char *line;
		size_t len;

		if (!in->open) {
			if (in->next == in->count + !in->count)
				return false;
			kin_open(&in->in, in->count ? in->files[in->next] : NULL);
			in->next++;
			in->open = true;
		}
		line = kin_line(&in->in, &len);
		if (line) {
			read_record(&in->in, (struct kspan){ line, len }, &in->ahead);
			in->pending = true;
		} else {
			kin_end(&in->in);
			in->open = false;
		}
	}
	return true;
}

static int
by_branch(const void *a, const void *b)
{
	long x = ((const struct kscored *)a)->branch, y = ((const struct kscored *)b)->branch;

	return x < y ? -1 : x > y;
}

static void
mark_twins(struct kscored *list, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (list[i].branch == list[i - 1].branch)
			kdie(K_USAGE, "two records of %s", list[i].id);
		for (size_t k = 0; k < i && *list[i].tokens; k++)
			list[i].duplicate |= !strcmp(list[k].tokens, list[i].tokens);
	}
}

static void
drop_list(struct kscored_in *in)
{
	for (size_t i = 0; i < in->len; i++)
		free(in->list[i].log);
	in->len = 0;
}

size_t
kscored_trial(struct kscored_in *in, const struct kscored **list)
{
	bool first = !in->len && !in->cap;

	drop_list(in);
	while (look_ahead(in) && (!in->len || in->ahead.trial == in->trial)) {
		if (!in->len && !first && in->ahead.trial <= in->trial)
			kdie(K_USAGE, "%s:%ld: trial %ld after trial %ld: give the trials in order", in->in.file,
			    in->in.lineno, in->ahead.trial, in->trial);
		if (in->len == in->cap) {
			in->cap = in->cap ? 2 * in->cap : 16;
			in->list = krealloc(in->list, in->cap * sizeof *in->list);
		}
		in->trial = in->ahead.trial;
		in->list[in->len++] = in->ahead;
		in->pending = false;
	}
	if (!in->len)
		return 0;
	qsort(in->list, in->len, sizeof *in->list, by_branch);
	mark_twins(in->list, in->len);
	*list = in->list;
	return in->len;
}

void
kscored_close(struct kscored_in *in)
{
	drop_list(in);
	free(in->list);
	if (in->pending)
		free(in->ahead.log);
	if (in->open)
		kin_close(&in->in);
	*in = (struct kscored_in){ 0 };
}
