/* SPDX-License-Identifier: Apache-2.0 */
/* The tiers of one candidate: build, correctness, timing, and timing once more in turns with the incumbent. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keval.h"
#include "kgain.h"
#include "kio.h"
#include "klaunch.h"
#include "ksandbox.h"
#include "kutil.h"

static const char checked_so[] = "checked.so";
/* A round of a linear search that is slower than this share of the last accepted one is rolled back without a race. */
static const double hopeless = 0.5;

/* Members of kharness's answer that go into the evaluation as they are. */
static const char *const of_candidate[] = { "status", "tier", "reasons", "correctness", "timing", "log" };
static const char *const of_run[] = { "seed", "environment", "noise", "sandbox", "spent_s" };

static void
copy_members(json_t *to, const json_t *from, const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		json_t *v = json_object_get(from, keys[i]);

		if (v && !(json_is_array(v) && !json_array_size(v)))
			eval_set(to, keys[i], json_incref(v));
	}
}

const json_t *
harness_candidate(const json_t *answer, const char *name)
{
	const json_t *all = json_object_get(answer, "candidates");

	for (size_t i = 0; i < json_array_size(all); i++)
		if (!strcmp(kjson_str_or(json_array_get(all, i), "name", ""), name))
			return json_array_get(all, i);
	kdie(K_IO, "kharness: its answer has no candidate '%s'", name);
}

void
harness_merge(json_t *eval, const json_t *answer)
{
	copy_members(eval, harness_candidate(answer, "candidate"), of_candidate, LEN(of_candidate));
	copy_members(eval, answer, of_run, LEN(of_run));
	if (!json_is_string(json_object_get(eval, "status")))
		kdie(K_IO, "kharness: its answer has no status");
}

char *
incumbent_so(struct keval *k, const json_t *past)
{
	struct kextract_file files[KEXTRACT_MAX_FILES];
	struct subject s = { 0 };
	char *so, *log = NULL;

	if (!subject_of_past(past, &s, files))
		return NULL;
	so = build_cached(k, &s, NULL, &log);
	if (!so)
		kwarn("the incumbent no longer builds; compared by recorded times only");
	free(log);
	return so;
}

/*
 * Whether to time again beside the incumbent. Times taken apart differ by the machine's mood too, so a gain is never
 * left to them: only a candidate that is slower by more than the knob's share, and more than the noise, is let go
 * without.
 */
static bool
is_close(const struct keval *k, const json_t *eval, const json_t *past)
{
	const json_t *timing = json_object_get(eval, "timing");
	double margin = kcamp_num(k->camp, "eval.abba"), ratio;
	json_t *rows;
	char *fault;

	if (!(margin > 0) || strcmp(kjson_str_or(eval, "status", ""), "correct") || !timing)
		return false;
	/* The baseline of a chain is timed on more than a round's quick set. */
	rows = kgain_rows_like(json_object_get(past, "timing"), timing);
	fault = kgain_speedup(rows, timing, kcamp_str(k->camp, "score.statistic"), &ratio, NULL);
	json_decref(rows);
	/*
	 * A round is decided by a race, unless it is hopeless. A chain's last link may have been kept by its quick set alone:
	 * then there is nothing else to compare by.
	 */
	if (kcamp_linear(k->camp)) {
		bool race = fault || ratio > hopeless;

		free(fault);
		return race;
	}
	free(fault);
	margin = fmax(margin, kgain_noise(kjson_num_or(eval, "noise.floor", 0), kjson_num_or(past, "noise.floor", 0)));
	return !fault && ratio > 1 - margin;
}

static json_t *
pairs_with_id(const json_t *answer, const char *name, const char *id)
{
	const json_t *pairs = json_object_get(answer, "pairs");
	json_t *out = json_array();

	for (size_t i = 0; i < json_array_size(pairs); i++) {
		json_t *pair = json_deep_copy(json_array_get(pairs, i));

		if (id && !strcmp(kjson_str_or(pair, "name", ""), name))
			json_object_set_new(pair, "id", json_string(id));
		json_array_append_new(out, pair);
	}
	return out;
}

json_t *
race_incumbent(struct keval *k, const struct subject *s, const char *so, json_t *eval)
{
	json_t *past = s->incumbent ? past_eval(k, s->incumbent) : NULL, *answer, *pairs = NULL;
	const char *against[] = { NULL, NULL };
	struct harness_run run = { .so = so, .phase = "timing", .against = against };
	char *other = past && is_close(k, eval, past) ? incumbent_so(k, past) : NULL, *pair, *oracle;

	if (other) {
		pair = kasprintf("incumbent=%s", other);
		against[0] = pair;
		run.oracle = oracle = oracle_so(k);
		answer = harness_run(k, &run);
		/* Caught only now: wrong in a timed run is wrong. The incumbent itself is on record as correct. */
		if (strcmp(kjson_str_or(harness_candidate(answer, "candidate"), "status", ""), "correct"))
			harness_merge(eval, answer);
		else
			pairs = pairs_with_id(answer, "incumbent", s->incumbent);
		json_decref(answer);
		free(oracle);
		free(pair);
	}
	free(other);
	json_decref(past);
	return pairs;
}

/* Device code alone: the launch lines must mean something for every workload. */
static bool
check_launches(const struct keval *k, const struct subject *s, json_t *eval)
{
	struct ktask *task = ktask_load(k->task_file);
	struct klaunch_list list;
	char why[512];
	bool good = klaunch_parse(s->code, &list, why, sizeof why) && klaunch_check(&list, task, why, sizeof why);

	if (!good)
		eval_fail(eval, "compile_error", "launch", why);
	ktask_free(task);
	return good;
}

/* Imports and loading of the object, and the text that it was compiled from. */
static bool
check_rules(struct keval *k, const struct build *b, json_t *eval)
{
	json_t *reasons = json_array();
	bool clean = scan_elf(k, b->so, b->so_len, reasons);

	if (b->expanded)
		clean &= scan_expanded(k, b->expanded, reasons);
	if (!clean) {
		eval_set(eval, "reasons", json_incref(reasons));
		eval_set(eval, "status", json_string("rejected"));
	}
	json_decref(reasons);
	return clean;
}

/* The built object must be clean and define the entry point. */
static bool
check_object(struct keval *k, const char *work, const struct build *b, json_t *eval)
{
	const char *entry = kjson_str_or(k->task, "entry.name", "");
	char *detail;

	if (!check_rules(k, b, eval))
		return false;
	detail = suspect_call(k, work, b);
	if (detail) {
		eval_fail(eval, "quarantined", "asm_system", detail);
	} else if (!elf_defines(b->so, b->so_len, entry)) {
		detail = kasprintf("it builds, but defines no function %s (a static function is not exported)", entry);
		eval_fail(eval, "compile_error", "entry", detail);
	}
	free(detail);
	return !json_object_get(eval, "status");
}

static void
fail_build(const struct build *b, json_t *eval)
{
	const char *end = strstr(b->log, "[the build was stopped");

	eval_fail(eval, "compile_error", end ? "resource" : "compiler", end ? end : "the compiler refused it");
}

/* What the other programs of the run measured. */
static json_t *
rival_times(const json_t *answer)
{
	const json_t *all = json_object_get(answer, "candidates");
	json_t *list = json_array();

	for (size_t i = 0; i < json_array_size(all); i++) {
		const json_t *c = json_array_get(all, i);

		if (strcmp(kjson_str_or(c, "name", ""), "candidate"))
			json_array_append_new(list, json_pack("{s:s,s:O}", "name", kjson_str_or(c, "name", "?"),
			    "timing", json_object_get(c, "timing")));
	}
	return list;
}

/* T2 and T3 by kharness, as far as no command of the campaign replaces them. */
void
run_harness(struct keval *k, const struct subject *s, const char *so, const char *phase, json_t *eval)
{
	char *oracle = oracle_so(k);
	struct harness_run run = { .so = so, .phase = phase, .oracle = oracle,
		.against = (const char *const *)k->rivals };
	json_t *answer = harness_run(k, &run);

	harness_merge(eval, answer);
	if (k->rivals) {
		eval_set(eval, "pairs", pairs_with_id(answer, "", NULL));
		eval_set(eval, "baselines", rival_times(answer));
	}
	json_decref(answer);
	free(oracle);
	if (strcmp(phase, "correctness") && !k->rivals) {
		json_t *pairs = race_incumbent(k, s, so, eval);

		if (pairs)
			eval_set(eval, "pairs", pairs);
	}
}

/* The harness's tiers on the set of every round, then what a gain needs beside them. */
static void
run_and_confirm(struct keval *k, const struct subject *s, const char *so, const char *phase, json_t *eval)
{
	run_harness(k, s, so, phase, eval);
	if (strcmp(phase, "correctness") && !k->rivals) {
		confirm(k, s, so, phase, eval);
		time_reuse(k, s, so, eval);
		profile(k, s, so, eval);
	}
}

static bool
is_correct(const json_t *eval)
{
	return !strcmp(kjson_str_or(eval, "status", ""), "correct");
}

static void
run_tiers(struct keval *k, const struct subject *s, struct custom *c, const struct build *b, const char *so,
    json_t *eval)
{
	bool own_correctness = custom_has(c, "eval.correctness"), own_timing = custom_has(c, "eval.timing");

	if (own_correctness)
		custom_correctness(c, b, eval);
	else
		run_and_confirm(k, s, so, own_timing ? "correctness" : "both", eval);
	if (own_correctness && !own_timing && is_correct(eval))
		run_and_confirm(k, s, so, "timing", eval);
	if (own_timing && is_correct(eval)) {
		custom_timing(c, b, eval);
		note_level(k, eval);
	}
}

/*
 * The folder of the evaluation under way, removed at exit too: a fault of the environment ends the program in the
 * middle.
 */
static char *open_work;
static pid_t work_owner;

static void
remove_work(void)
{
	if (open_work && work_owner == getpid())
		ksandbox_work_free(open_work);
	open_work = NULL;
}

static const char *
new_work(void)
{
	if (!work_owner)
		atexit(remove_work);
	work_owner = getpid();
	open_work = ksandbox_work_new();
	return open_work;
}

void
evaluate_tiers(struct keval *k, const struct subject *s, json_t *eval)
{
	const char *work = new_work();
	char *so = kasprintf("%s/%s", work, checked_so);
	struct custom *c = custom_open(k, s, work);
	bool harness = !custom_has(c, "eval.correctness") || !custom_has(c, "eval.timing");
	struct build b = { 0 };

	eval_set(eval, "tier", json_integer(1));
	eval_set(eval, "sandbox", sandbox_json(k));
	if (custom_has(c, "eval.build"))
		custom_build(c, &b);
	else
		build_candidate(k, s, work, &b);
	if (b.ok && harness && !b.so) {
		free(b.log);
		b.log = kstrdup("the build command left no shared object\n");
		b.ok = false;
	}
	eval_set(eval, "build", json_incref(b.json));
	if (!b.ok) {
		fail_build(&b, eval);
	} else if (!harness || (is_device_only(k) ? check_launches(k, s, eval) : check_object(k, work, &b, eval))) {
		/* The bytes that were checked are the bytes that run. */
		if (b.so)
			work_put(work, checked_so, b.so, b.so_len);
		run_tiers(k, s, c, &b, so, eval);
	}
	custom_close(c);
	build_free(&b);
	free(so);
	remove_work();
}
