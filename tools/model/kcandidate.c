/* SPDX-License-Identifier: Apache-2.0 */
/* kcandidate: see kcandidate.h. */
#include "kcandidate.h"

#include "krecord.h"
#include "kregex.h"

const char *const kcandidate_tokens[KCANDIDATE_TOKENS] = {
	"input_tokens",
	"output_tokens",
	"reasoning_tokens",
	"cache_read_tokens",
	"cache_write_tokens",
};

bool
kcandidate_enters(const struct kcandidate *c)
{
	return status_eligible(c->standing) && c->cell >= 0 && !c->duplicate;
}

struct karch_row *
kcandidate_row(const struct kcandidate *c, double seed_score)
{
	struct karch_row *row = kcalloc(1, sizeof *row);

	strcpy(row->id, c->id);
	row->trial = c->trial;
	row->branch = c->branch;
	row->cell = c->cell;
	row->score = strcmp(c->id, KARCH_REFERENCE) ? c->score : seed_score;
	karch_set_speedup(row, &c->speedup, c->provisional);
	row->runtime_ms = c->runtime_ms;
	row->status = c->standing;
	strcpy(row->tokens, c->tokens);
	strcpy(row->object, c->object);
	strcpy(row->parent, c->parent);
	strcpy(row->strategy, c->strategy);
	return row;
}

bool
kcandidate_takes(const struct kcandidate *c, const struct karch_row *elite,
    const struct karch_row *row, const char *best)
{
	if (elite && elite->speedup > 0 && row->speedup > 0 && !strcmp(elite->id, c->incumbent))
		return c->gain;
	return karch_takes(elite, row) && (c->gain || !elite || strcmp(elite->id, best));
}

bool
kcandidate_is_best(const struct kcandidate *c, const struct karch_row *row, bool linear)
{
	struct karch_row best;

	if (row->status != STATUS_CORRECT || !karch_best(&best))
		return row->status == STATUS_CORRECT;
	return c->gain && (linear || kcandidate_takes(c, &best, row, best.id));
}

/* Words are copied because they go into archive lines unescaped. */
static char *
read_words(struct kcandidate *c, const json_t *record)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_/";
	char verdict[KARCH_WORD] = "", status[KARCH_WORD] = "", parent[KARCH_WORD] = "";
	const struct {
		const char *path;
		char *out;
		size_t size;
	} words[] = {
		{ "eval.status", status, sizeof status },
		{ "eval.tokens", c->tokens, sizeof c->tokens },
		{ "eval.object", c->object, sizeof c->object },
		{ "score.verdict", verdict, sizeof verdict },
		{ "score.decision.verdict", c->verdict, sizeof c->verdict },
		{ "sample.strategy", c->strategy, sizeof c->strategy },
		{ "sample.incumbent", c->incumbent, sizeof c->incumbent },
		{ "sample.parent.id", c->parent, sizeof c->parent },
		{ "sample.parent.status", parent, sizeof parent },
	};

	kforeach_text(path, "eval", "score", "sample", "sample.parent", "reply", "reply.usage") {
		const json_t *v = kjson_path(record, path);

		if (v && !json_is_object(v))
			return kasprintf("'%s' is not an object", path);
	}
	kforeach(word, words) {
		const char *s = kjson_str(record, word->path);

		if (strlen(s) >= word->size || s[strspn(s, allowed)])
			return kasprintf("'%s' is not a short lower-case word", word->path);
		if (*s)
			strcpy(word->out, s);
	}
	if (*c->parent && !karch_is_id(c->parent))
		return kstrdup("sample.parent.id is not an id");
	c->status = status_named(status);
	if (!c->status)
		return kasprintf("eval.status: unknown status '%s'", status);
	c->parent_status = status_named(parent);
	c->loss = !strcmp(verdict, "loss");
	return NULL;
}

static void
read_sample(struct kcandidate *c, const json_t *sample)
{
	const json_t *parent = json_object_get(sample, "parent");

	c->target = karch_cell_json(json_object_get(sample, "target"));
	c->island = kjson_int_or(sample, "island", -1);
	c->parent_cell = karch_cell_json(json_object_get(parent, "coords"));
	c->parent_score = kjson_num(parent, "combined");
	c->parent_tries = kjson_int(parent, "plan_tries");
	c->parent_speedup = kgain_speedup_of(parent);
}

static void
read_reply(struct kcandidate *c, const json_t *reply)
{
	c->paid = reply;
	c->priced = json_object_get(reply, "cost_usd");
	c->cost_usd = kjson_num(reply, "cost_usd");
	for (size_t i = 0; i < KCANDIDATE_TOKENS; i++)
		c->token_count[i] =
		    (long long)kjson_num(json_object_get(reply, "usage"), kcandidate_tokens[i]);
}

static void
read_eval(struct kcandidate *c, const json_t *record)
{
	const json_t *eval = json_object_get(record, "eval");
	const char *log = kjson_maybe(eval, "log"),
	           *time = kjson_str_or(eval, "time", kjson_str(record, "reply.time"));

	c->correct = c->status == STATUS_CORRECT;
	c->duplicate = json_object_get(eval, "duplicate_of");
	c->timed_out = kjson_find(json_object_get(eval, "reasons"), "check", "timeout");
	if (log && c->status == STATUS_COMPILE_ERROR)
		c->log = kstrdup(log);
	/* The time of the last fact, if it has the right form. */
	if (kregex_is("\\A\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ\\z", time))
		strcpy(c->time, time);
}

/*
 * A candidate whose gain exists only in the benchmark is kept but holds no cell, like a suspect
 * one. The next prompts say why.
 */
static void
read_audit(struct kcandidate *c, const json_t *audit)
{
	const json_t *reason = json_array_get(json_object_get(audit, "reasons"), 0);

	snprintf(c->bucket, sizeof c->bucket, "%s", kjson_str(audit, "bucket"));
	c->overfit = kjson_is(audit, "decision", "REJECT-as-overfit");
	c->standing = c->status;
	if (!c->overfit || !status_eligible(c->status))
		return;
	c->standing = STATUS_QUARANTINED;
	free(c->log);
	c->log = kasprintf("rejected, because its gain exists only in the benchmark: %s",
	    json_is_string(reason) ? json_string_value(reason) : "see its audit");
}

static void
read_score(struct kcandidate *c, const json_t *score)
{
	c->score = kjson_num_or(score, "combined", NAN);
	/* Times that cannot be true are ignored. */
	if (!json_object_get(score, "alarm"))
		c->speedup = kgain_speedup_of(score);
	c->provisional = kjson_bool(score, "provisional");
	c->runtime_ms = kjson_num(score, "runtime_ms");
	c->gained = kgain_read(score, "gain_ratio", "gain_low", "gain_high");
	c->gain = kjson_bool(score, "gain");
	c->won = c->trial && (*c->verdict ? !strcmp(c->verdict, "accepted") : c->gain);
}

char *
kcandidate_place(struct kcandidate *c, const json_t *record)
{
	const char *id = kjson_maybe(record, "id");
	const char *schema = kjson_str_or(record, "schema", KRECORD_SCHEMA);
	long trial, branch;

	*c = (struct kcandidate){ .trial = kjson_int_or(record, "trial", -1),
		.branch = kjson_int_or(record, "branch", -1),
		.incumbent = KARCH_REFERENCE };
	if (strcmp(schema, KRECORD_SCHEMA) && strcmp(schema, KPART_SCHEMA))
		return kasprintf("schema: is '%s', must be '%s'", schema, KPART_SCHEMA);
	if (id && !karch_id(id, &trial, &branch))
		return kasprintf("id '%s' is not TRIAL/BRANCH", id);
	if (c->trial < 0 || c->trial > 999999 || c->branch < 0 || c->branch > 999999)
		return kstrdup("the record has no trial and branch");
	if (id && (trial != c->trial || branch != c->branch))
		return kasprintf(
		    "id is '%s', but trial and branch are %ld and %ld", id, c->trial, c->branch);
	snprintf(c->id, sizeof c->id, "%03ld/%02ld", c->trial, c->branch);
	return NULL;
}

char *
kcandidate_read(struct kcandidate *c, json_t *record)
{
	const json_t *score = json_object_get(record, "score");
	char *fault = kcandidate_place(c, record);

	fault = fault ?: score ? read_words(c, record) : kstrdup("the record has no 'score'");
	c->json = json_incref(record);
	if (fault) {
		kcandidate_free(c);
		return fault;
	}
	read_sample(c, json_object_get(record, "sample"));
	read_reply(c, json_object_get(record, "reply"));
	read_eval(c, record);
	c->cell = karch_cell_json(kjson_path(record, "coords.coords"));
	read_audit(c, json_object_get(record, "audit"));
	read_score(c, score);
	return NULL;
}

void
kcandidate_free(struct kcandidate *c)
{
	json_decref(c->json);
	free(c->log);
	*c = (struct kcandidate){ 0 };
}

/* Archives need a score, and a cell for every candidate that may take one. */
static void
read_line(const struct kin *in, const struct krec *rec, struct kcandidate *c)
{
	char *fault = kcandidate_read(c, rec->json);

	if (!fault && status_eligible(c->status) && c->cell < 0)
		fault = kstrdup("the record has no 'coords.coords'");
	if (!fault && !isfinite(c->score))
		fault = kstrdup("the record has no 'score.combined'");
	if (fault)
		kdie_usage("%s:%ld: %s", in->file, in->lineno, fault);
	json_decref(c->json);
	c->json = NULL;
}

int
kcandidate_by_branch(const void *a, const void *b)
{
	long x = ((const struct kcandidate *)a)->branch, y = ((const struct kcandidate *)b)->branch;

	return (x > y) - (x < y);
}

static void
mark_twins(struct kcandidate *list, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (list[i].branch == list[i - 1].branch)
			kdie_usage("two records of %s", list[i].id);
		for (size_t k = 0; k < i && *list[i].tokens; k++)
			list[i].duplicate |= !strcmp(list[k].tokens, list[i].tokens);
	}
}

/* Passes the N candidates of a trial on, and frees them. */
static void
pass_trial(
    struct kcandidate *list, size_t *n, void (*each)(const struct kcandidate *list, size_t n))
{
	if (!*n)
		return;
	qsort(list, *n, sizeof *list, kcandidate_by_branch);
	mark_twins(list, *n);
	each(list, *n);
	while (*n)
		kcandidate_free(&list[--*n]);
}

void
kcandidate_trials(
    char *const *files, size_t count, void (*each)(const struct kcandidate *list, size_t n))
{
	auto_free struct kcandidate *list = NULL;
	struct kcandidate c;
	long last = -1;
	size_t n = 0;

	kforeach_of(one, files, count + !count) {
		struct krec rec;
		struct kin in;

		kin_open(&in, count ? *one : NULL);
		while (krecord_next(&in, &rec, KJOIN_FIGURES)) {
			read_line(&in, &rec, &c);
			krec_free(&rec);
			if (n && c.trial != last)
				pass_trial(list, &n, each);
			if (!n && c.trial <= last)
				kdie_usage("%s:%ld: trial %ld after trial %ld: give the trials in "
				           "order",
				    in.file, in.lineno, c.trial, last);
			last = c.trial;
			*kadded(list, n) = c;
		}
		kin_end(&in);
	}
	pass_trial(list, &n, each);
}
