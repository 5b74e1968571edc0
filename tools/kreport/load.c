/* SPDX-License-Identifier: Apache-2.0 */
/* Loads what the report is made from: facts and views of a campaign. See kreport.h. */

#include "kchain.h"
#include "kplace.h"
#include "kproc.h"
#include "kreport.h"
#include "status.h"

/* Long members that no section reads from here. */
static const char *const dropped[] = { "prompt", "sample.parent.code", "sample.parent.files",
	"sample.parent.log", "sample.parent.profile", "sample.best", "sample.inspirations",
	"sample.errors", "sample.rounds", "reply.text", "reply.reasoning", "eval.code",
	"eval.files", "eval.profile" };

static void
drop(json_t *rec, const char *path)
{
	const char *dot = strrchr(path, '.');
	auto_free char *parent = dot ? kstrndup(path, (size_t)(dot - path)) : NULL;
	json_t *object = parent ? (json_t *)kjson_path(rec, parent) : rec;

	json_object_del(object, dot ? dot + 1 : path);
}

const json_t *
of(const struct kcandidate *c, const char *path)
{
	return c ? kjson_path(c->json, path) : NULL;
}

const char *
text_of(const struct kcandidate *c, const char *path, const char *def)
{
	return c ? kjson_str_or(c->json, path, def) : def;
}

static json_t *
load_json(const char *dir, const char *name)
{
	auto_free char *path = kasprintf("%s/%s", dir, name);

	return kjson_if_there(path);
}

enum { PRELUDE = 700 };

/*
 * What the model wrote before its code, as member "prelude": in a search the closest thing to a
 * reason.
 */
static void
keep_prelude(json_t *rec)
{
	const char *text = kjson_str_or(rec, "reply.text", ""), *fence = strstr(text, "```");
	size_t len = fence ? (size_t)(fence - text) : 0;
	char *prelude;

	while (len && strchr(" \t\n", text[len - 1]))
		len--;
	if (!len)
		return;
	prelude = kstrndup(text, len);
	json_object_set_new(rec, "prelude", cut_json(prelude, PRELUDE));
	free(prelude);
}

/* A candidate from the model, without long texts, with its current speed-up. */
static void
add_candidate(struct report *r, struct kcandidate *c, const json_t *races)
{
	long raced = json_object_get(races, c->id) ? r->last : -1;
	struct kchain chain;

	keep_prelude(c->json);
	if (of(c, "eval.profile.findings"))
		json_object_set(json_object_get(c->json, "eval"), "findings",
		    (json_t *)of(c, "eval.profile.findings"));
	for (size_t i = 0; i < LEN(dropped); i++)
		drop(c->json, dropped[i]);
	kchain_of_record(r->camp, c->json, raced, &chain);
	c->speedup = chain.speedup;
	c->provisional = chain.provisional;
	kchain_free(&chain);
	r->list = krealloc(r->list, (r->count + 1) * sizeof *r->list);
	r->list[r->count++] = *c;
}

static void
load_trials(struct report *r)
{
	json_auto_t *races = kchain_races(r->camp, r->last);

	for (long t = 0; t <= r->last; t++) {
		auto_free struct kcandidate *list = NULL;
		size_t n = ktrials_take(&r->trials, t, &list);

		for (size_t i = 0; i < n; i++)
			add_candidate(r, &list[i], races);
	}
}

/* Rows of the archive get the same figures. */
static void
set_figures(struct report *r)
{
	for (size_t i = 0; i < KARCH_CELLS; i++) {
		struct karch_row *row = r->archive.elite[i];
		const struct kcandidate *c = row ? find_candidate(r, row->id) : NULL;

		if (c && row->speedup > 0)
			karch_set_speedup(row, &c->speedup, c->provisional);
	}
}

bool
is_next_best(const struct report *r, const struct kcandidate *best, const struct kcandidate *c)
{
	if (!c->correct || !c->won)
		return false;
	return r->linear || !best || !strcmp(best->id, c->incumbent) ||
	    kgain_beyond(&c->speedup, &best->speedup);
}

static int
by_place(const void *x, const void *y)
{
	const struct kcandidate *a = x, *b = y;

	return a->trial != b->trial ? (a->trial > b->trial) - (a->trial < b->trial)
	                            : (a->branch > b->branch) - (a->branch < b->branch);
}

const struct kcandidate *
find_candidate(const struct report *r, const char *id)
{
	struct kcandidate key = { 0 };

	if (!id || !karch_id(id, &key.trial, &key.branch))
		return NULL;
	return bsearch(&key, r->list, r->count, sizeof *r->list, by_place);
}

/* The newest verification of the best. */
static void
load_verify(struct report *r)
{
	for (long t = r->last; r->best && t > 0 && !r->verify && !r->refused; t--) {
		auto_free char *path = kplace_trial(r->camp->dir, t, "verify.ndjson");
		json_auto_t *rec = kin_first(path);

		if (rec && kjson_is(rec, "id", r->best->id)) {
			bool right =
			    status_or(rec, "eval.status", STATUS_CORRECT) == STATUS_CORRECT;

			*(right ? &r->verify : &r->refused) =
			    json_incref((json_t *)kjson_path(rec, "eval"));
			r->verify_trial = t;
		}
	}
}

static bool
is_audited(const struct report *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (&r->list[i] != r->reference && of(&r->list[i], "audit"))
			return true;
	return false;
}

/* kaudit defines the rule for attributing gains; so it is run, and the rule not repeated here. */
static json_t *
attribution(const char *dir)
{
	char *argv[] = { ktool_path("kaudit"), (char *)"--report", (char *)"--json", (char *)"-c",
		(char *)dir, NULL };
	struct kproc p = { .argv = argv, .timeout_s = 60, .max_output = 16 << 20 };
	struct kproc_result result;
	bool ran = !kproc_run(&p, &result);
	json_t *json = NULL;

	free(argv[0]);
	if (ran && (result.exit_code == K_OK || result.exit_code == K_NO))
		json = json_loads(result.out, 0, NULL);
	if (ran)
		kproc_result_free(&result);
	return json;
}

void
load_report(struct report *r, const char *dir, bool empty)
{
	char *path, *begun;

	kcamp_no_links(dir);
	*r = (struct report){ .dir = dir, .camp = kcamp_load(dir) };
	path = kcamp_path(r->camp, kcamp_str(r->camp, "task"));
	r->task = ktask_load(path);
	free(path);
	ktrials_open(&r->trials, r->camp);
	if (!r->trials.header && empty)
		return;
	if (!r->trials.header)
		kdie(K_USAGE, "%s: no trial is complete yet, so there is nothing to report", dir);
	r->last = r->trials.last;
	path = kplace_trial(
	    r->camp->dir, kjson_int_or(r->trials.header, "trial", 0), "archive.ndjson");
	karch_load(&r->archive, path, true);
	free(path);
	load_trials(r);
	set_figures(r);
	r->reference = find_candidate(r, KARCH_REFERENCE);
	if (!r->reference)
		kdie(K_USAGE, "a report needs the record of the reference");
	r->best = find_candidate(r, kjson_str_or(r->archive.header, "best.id", NULL));
	if (r->best == r->reference)
		r->best = NULL;
	load_verify(r);
	r->machine = load_json(dir, "trials/000/machine.json");
	r->roofline = load_json(dir, "trials/000/roofline.json");
	r->linear = r->trials.linear;
	r->audited = is_audited(r);
	if (r->audited)
		r->audit = attribution(dir);
	begun = kplace_trial(dir, r->last + 1, "");
	r->begun = kis_there(begun) ? r->last + 1 : 0;
	free(begun);
}
