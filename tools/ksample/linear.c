/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksample: the sample of a round of a linear search: the last accepted program, never a rolled-back
 * one, and what earlier rounds have taught. See ksample.h.
 */

#include "kfence.h"
#include "klinear.h"
#include "ksample.h"
#include "ktrials.h"

/* Characters kept of a plan's texts, for rounds that many prompts repeat. */
enum { SAID_MAX = 300 };

/* The scored record of a trial; NULL when there is none. New reference. */
static json_t *
load_round(long trial)
{
	char *fault;
	json_t *record = ktrials_record(kshown("%03ld/01", trial), KJOIN_FIGURES, &fault);

	if (fault)
		kdie_usage("%s", fault);
	return record;
}

static void
add_said(json_t *to, const json_t *plan, const char *key)
{
	const char *text = kjson_maybe(plan, key);
	auto_free char *line = text ? kfence_line(text, SAID_MAX) : NULL;

	if (line)
		kjson_put(to, key, line);
}

/* One round in the form in which later rounds see it. */
static json_t *
round_json(const json_t *record, const char *const *said, size_t count)
{
	const json_t *decision = kjson_path(record, "score.decision");
	json_t *o = json_pack("{s:I,s:s,s:s}", "round", (json_int_t)kjson_int(decision, "round"),
	    "id", kjson_str(record, "id"), "code", kjson_str(decision, "code"));

	kforeach_of(one, said, count)
		add_said(o, kjson_path(record, "eval.plan"), *one);
	return o;
}

/* What the round's plan found in which source, so that later plans do not call it new. */
static void
add_searched(json_t *list, const json_t *record)
{
	static const char *const said[] = { "source", "finding" };

	kjson_foreach(row, record, "eval.plan.search") {
		json_t *one = json_pack(
		    "{s:I}", "round", (json_int_t)kjson_int(record, "score.decision.round"));

		kforeach(each, said)
			add_said(one, row, *each);
		json_array_append_new(list, one);
	}
}

/*
 * The earlier rounds, the last HISTORY of them in full; every direction that was refuted, every
 * change that was kept, and every finding that a plan rested on; except masked ones.
 */
static void
add_history(json_t *sample)
{
	static const char *const all[] = { "hypothesis", "change", "category", "bucket" },
	                         *const direction[] = { "change", "category" };
	/* Older rounds are in the memory; what was rolled back or kept is always listed. */
	enum { HISTORY = 8 };
	json_t *rounds = json_array(), *ineffective = json_array(), *accepted = json_array(),
	       *searched = json_array();

	for (long t = 1; t < search.trial; t++) {
		json_auto_t *record = kmemo_masked(t, search.trial) ? NULL : load_round(t);
		json_t *one;
		const json_t *decision = kjson_path(record, "score.decision");
		bool rolled_back = kjson_is(decision, "verdict", "rolled_back");

		if (decision && t >= search.trial - HISTORY) {
			one = round_json(record, all, LEN(all));
			kjson_put(one, "verdict", kjson_str(decision, "verdict"));
			kjson_put(one, "line", kjson_str(decision, "line"));
			json_array_append_new(rounds, one);
		}
		if (rolled_back && klinear_refutes(kjson_str(decision, "code")) &&
		    kjson_path(record, "eval.plan"))
			json_array_append_new(
			    ineffective, round_json(record, direction, LEN(direction)));
		/*
		 * A change that failed in the application is not in the program, and may be tried
		 * again.
		 */
		if (kjson_is(decision, "verdict", "accepted") && kjson_path(record, "eval.plan") &&
		    !kverdict_failed(search.failures, kjson_str(record, "id")))
			json_array_append_new(
			    accepted, round_json(record, direction, LEN(direction)));
		add_searched(searched, record);
	}
	kjson_extend(sample, "{s:o,s:o,s:o,s:o}", "rounds", rounds, "ineffective", ineffective,
	    "accepted", accepted, "searched", searched);
}

/*
 * The program of the previous round, if it failed before it could be measured: its change may still
 * be right.
 */
static void
add_last(json_t *sample)
{
	json_auto_t *record =
	    kmemo_masked(search.trial - 1, search.trial) ? NULL : load_round(search.trial - 1);
	json_t *last;
	enum status status = status_at(record, "eval.status");

	if (search.trial > 1 && (status_repairable(status) || status == STATUS_NO_PLAN)) {
		last = karch_program(kjson_str(record, "id"), true);
		kjson_set(last, "status", status_json(status));
		kjson_set(sample, "last", last);
	}
}

static json_t *
accepted_program(const char *id)
{
	struct karch_row best;
	json_t *o = karch_program(id, true);

	kjson_set(o, "status", status_json(STATUS_CORRECT));
	if (!karch_best(&best) || strcmp(best.id, id))
		return o;
	kjson_set(o, "coords", karch_coords(best.cell));
	kjson_put(o, "combined", best.score);
	karch_put_times(&best, o);
	return o;
}

/*
 * Each escalation also needs what the earlier ones need: the member of the record, or the reason
 * why it is missing.
 */
static const struct {
	long streak;
	const char *member, *missing;
} needs[] = {
	{ KLINEAR_PROFILE, "profile", "profile_missing" },
	{ KLINEAR_ISA, "isa", "isa_missing" },
	{ KLINEAR_SOTA, "sota", "sota_missing" },
};

/*
 * Dies unless the record in PATH is about the last accepted program, in the current state of the
 * search, and contains what that requires.
 */
static void
check_evidence(const char *path, const json_t *evidence, const json_t *program, long streak)
{
	const char *code = kjson_str(program, "code"), *id = kjson_str(program, "id");

	if (!kjson_is(evidence, "id", id) || !kjson_is(evidence, "code_sha256", ksha256_of(code)))
		kdie_usage("%s: is evidence of %s, but the last accepted program is %s; remove the "
		           "file, "
		           "and it will be gathered again",
		    path, kjson_str_or(evidence, "id", "nothing"), id);
	if (kjson_int(evidence, "streak") != streak)
		kdie_usage("%s: was gathered after %ld rollbacks in a row, but there are now %ld; "
		           "remove "
		           "the file, and it will be gathered again",
		    path, kjson_int(evidence, "streak"), streak);
	kforeach(need, needs)
		if (streak >= need->streak && !json_object_get(evidence, need->member) &&
		    !kjson_maybe(evidence, need->missing))
			kdie_usage(
			    "%s: must have '%s' or a reason why it is missing", path, need->member);
}

/*
 * What rollbacks in a row require before the round may begin. The new profile replaces the
 * program's own.
 */
static void
add_evidence(json_t *sample, json_t *program, long streak)
{
	const char *path = kplace_trial(search.trial, "evidence.ndjson");
	json_t *evidence, *profile;

	if (streak >= KLINEAR_PROFILE) {
		if (!kis_there(path))
			kdie(K_MISSING,
			    "round %ld cannot open: %ld rounds in a row were rolled back, and %s, "
			    "fresh evidence of %s, is missing; run keval --evidence %ld to make it",
			    search.trial + 1, streak, path, kjson_str_or(program, "id", "?"),
			    search.trial);
		evidence = kjson_load(path);
		check_evidence(path, evidence, program, streak);
		profile = json_object_get(evidence, "profile");
		if (profile)
			kjson_set(program, "profile", json_incref(profile));
		json_object_del(evidence, "schema");
		json_object_del(evidence, "campaign");
		kjson_set(sample, "evidence", evidence);
	}
}

void
add_application(json_t *sample)
{
	json_auto_t *list = json_array();

	kjson_foreach(v, search.failures) {
		json_t *one = json_object();

		add_said(one, v, "id");
		add_said(one, v, "why");
		json_array_append_new(list, one);
	}
	if (json_array_size(list))
		kjson_set(sample, "application", json_incref(list));
}

json_t *
linear_json(void)
{
	const json_t *linear = kjson_path(karch.header, "linear"),
	             *errors = kjson_path(karch.header, "errors");
	auto_free char *accepted = kverdict_incumbent(linear);
	long streak = kjson_int(linear, "streak");
	json_t *o, *program;

	if (karch.header && !linear)
		kdie_usage("the archive contains no chain of rounds: "
		           "it was made with another search.mode");
	o = json_pack("{s:o,s:s,s:s,s:s,s:i,s:[],s:[],s:o,s:s,s:I,s:I,s:s,s:b}", "seed",
	    seed_json(1), "pick", "linear", "strategy", "linear", "status",
	    start_names[search.trial > 1 ? START_CORRECT : START_INITIAL], "island", 0,
	    "inspirations", "hints", "errors", errors ? json_deep_copy(errors) : json_array(),
	    "incumbent", accepted, "round", (json_int_t)search.trial + 1, "streak",
	    (json_int_t)streak, "escalation", klinear_escalation(streak), "stagnation",
	    streak >= KLINEAR_STAGNATION);
	add_history(o);
	add_last(o);
	add_application(o);
	program = accepted_program(accepted);
	add_evidence(o, program, streak);
	kjson_set(o, "parent", program);
	return o;
}
