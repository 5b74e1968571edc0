/* SPDX-License-Identifier: Apache-2.0 */
/* Loads what the report is made from: facts and views of a campaign. See kreport.h. */

#include "kaccount.h"
#include "kreport.h"

struct report report;

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

enum { PRELUDE = 700 };

/*
 * What the model wrote before its code, as member "prelude": in a search the closest thing to a
 * reason.
 */
static void
keep_prelude(json_t *rec)
{
	auto_free char *prelude =
	    kregex_part("(?s)\\A(.*?)[ \t\n]*+```", kjson_str(rec, "reply.text"));

	if (prelude && *prelude)
		json_object_set_new(rec, "prelude", cut_json(prelude, PRELUDE));
}

/* A candidate from the model, without long texts, with its current speed-up. */
static void
add_candidate(struct kcandidate *c, const json_t *races)
{
	long raced = json_object_get(races, c->id) ? ktrials.last : -1;
	struct kchain chain;

	keep_prelude(c->json);
	if (of(c, "eval.profile.findings"))
		json_object_set(json_object_get(c->json, "eval"), "findings",
		    (json_t *)of(c, "eval.profile.findings"));
	kforeach(one, dropped)
		drop(c->json, *one);
	kchain_of_record(c->json, raced, &chain);
	c->speedup = chain.speedup;
	c->provisional = chain.provisional;
	kchain_free(&chain);
	*kadded(report.list, report.count) = c;
}

static void
load_trials(void)
{
	json_auto_t *races = kchain_races();

	for (long t = 0; t <= ktrials.last; t++) {
		const struct ktrial *trial = ktrials_get(t);

		kaccount_add(trial);
		kforeach_list(one, trial)
			add_candidate(one, races);
	}
}

bool
is_next_best(const struct kcandidate *best, const struct kcandidate *c)
{
	if (!c->correct || !c->won)
		return false;
	return ktrials.linear || !best || !strcmp(best->id, c->incumbent) ||
	    kgain_beyond(&c->speedup, &best->speedup);
}

/* The newest verification of the best. */
static void
load_verify(void)
{
	for (long t = ktrials.last; report.best && t > 0 && !report.verify && !report.refused;
	     t--) {
		json_auto_t *rec = kin_first(kplace_trial(t, "verify.ndjson"));

		if (rec && kjson_is(rec, "id", report.best->id)) {
			bool right =
			    status_or(rec, "eval.status", STATUS_CORRECT) == STATUS_CORRECT;

			*(right ? &report.verify : &report.refused) =
			    json_incref((json_t *)kjson_path(rec, "eval"));
			report.verify_trial = t;
		}
	}
}

void
load_report(bool empty)
{
	kcamp_no_links();
	kcamp_load();
	report.task = ktask_load(kcamp.task);
	ktrials_open();
	if (!ktrials.header && empty)
		return;
	if (!ktrials.header)
		kdie_usage(
		    "%s: no trial is complete yet, so there is nothing to report", kcamp.dir);
	karch_load(kplace_trial(kjson_int(ktrials.header, "trial"), "archive.ndjson"));
	load_trials();
	report.reference = ktrials_find(KARCH_REFERENCE);
	if (!report.reference)
		kdie_usage("a report needs the record of the reference");
	report.best = ktrials_find(kjson_maybe(karch.header, "best.id"));
	if (report.best == report.reference)
		report.best = NULL;
	load_verify();
	report.machine = kjson_if_there(kplace_trial(0, "machine.json"));
	report.roofline = kjson_if_there(kplace_trial(0, "roofline.json"));
	for (size_t i = 1; i < report.count && !report.audited; i++)
		report.audited = of(report.list[i], "audit");
	report.audit = kaccount_report();
	report.begun = kis_there(kplace_trial(ktrials.last + 1, "")) ? ktrials.last + 1 : 0;
}
