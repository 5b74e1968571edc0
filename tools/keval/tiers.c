/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tiers of one candidate: build, correctness, timing, and timing once more in turns with the
 * incumbent.
 */

#include "keval.h"
#include "klaunch.h"
#include "ksandbox.h"

static const char checked_so[] = "checked.so";

/* Members of kharness's answer that go into the evaluation as they are. */
static const char *const of_candidate[] = { "status", "tier", "reasons", "correctness", "timing",
	"log", NULL };
static const char *const of_run[] = { "seed", "environment", "machine", "noise", "sandbox", NULL };

const json_t *
harness_candidate(const json_t *answer, const char *name)
{
	const json_t *c = kjson_find(json_object_get(answer, "candidates"), "name", name);

	if (!c)
		kdie(K_IO, "kharness: the answer has no candidate '%s'", name);
	return c;
}

void
harness_merge(json_t *eval, const json_t *answer)
{
	kjson_share(eval, harness_candidate(answer, "candidate"), of_candidate);
	kjson_share(eval, answer, of_run);
	if (!status_at(eval, "status"))
		kdie(K_IO, "kharness: the answer has an unknown status");
}

/* Device code alone: the launch lines must mean something for every workload. */
static bool
check_launches(const struct keval *k, const struct subject *s, json_t *eval)
{
	struct ktask *task = ktask_load(k->task_file);
	struct klaunch_list list;
	char why[512];
	bool good = klaunch_parse(s->code, &list, why, sizeof why) &&
	    klaunch_check(&list, task, why, sizeof why);

	if (!good)
		eval_fail(eval, STATUS_COMPILE_ERROR, "launch", why);
	ktask_free(task);
	return good;
}

/* Imports and loading of the object, and the text that it was compiled from. */
static bool
check_rules(struct keval *k, const struct build *b, json_t *eval)
{
	json_t *reasons = json_array();

	scan_elf(k, b->so, b->so_len, reasons);
	if (b->expanded)
		scan_expanded(k, b->expanded, reasons);
	return eval_clean(eval, reasons);
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
		eval_fail(eval, STATUS_QUARANTINED, "asm_system", detail);
	} else if (!elf_defines(b->so, b->so_len, entry)) {
		detail = kasprintf("it builds, but defines no function %s (a static function is "
		                   "not exported)",
		    entry);
		eval_fail(eval, STATUS_COMPILE_ERROR, "entry", detail);
	}
	free(detail);
	return !json_object_get(eval, "status");
}

static void
fail_build(const struct build *b, json_t *eval)
{
	const char *end = strstr(b->log, "[the build was stopped");

	eval_fail(eval, STATUS_COMPILE_ERROR, end ? "resource" : "compiler",
	    end ? end : "the compiler refused it");
}

/* T2 and T3 by kharness, as far as no command of the campaign replaces them. */
static void
run_harness(
    struct keval *k, const struct subject *s, const char *so, const char *phase, json_t *eval)
{
	bool timed = strcmp(phase, "correctness") != 0, rivals = timed && k->rivals;
	struct anchor anchor = { 0 };
	const char *one[] = { NULL, NULL };
	struct harness_run run = { .so = so, .phase = phase, .against = one };
	json_t *answer;

	/* A task without one ends here, before anything else is built. */
	oracle_so(k);
	if (rivals)
		run.against = (const char *const *)k->rivals;
	else if (timed && !s->trusted)
		choose_anchor(k, s, &anchor);
	one[0] = anchor.against;
	answer = harness_run(k, &run);
	add_harness_spent(eval, answer);
	harness_merge(eval, answer);
	if (one[0] && json_object_get(eval, "timing"))
		put_anchor(eval, &anchor, answer);
	if (rivals)
		put_rivals(eval, answer);
	json_decref(answer);
	free_anchor(&anchor);
}

/* Does the harness call the program, for its results or for its times? */
static bool
needs_harness(const struct custom *c)
{
	return !custom_has(c, "eval.correctness") || !custom_has(c, "eval.timing");
}

static bool
is_correct(const json_t *eval)
{
	return status_at(eval, "status") == STATUS_CORRECT;
}

void
measure(const struct trial *t, json_t *eval)
{
	bool own_timing = custom_has(t->c, "eval.timing"), timed = !t->k->check_only;

	if (custom_has(t->c, "eval.correctness"))
		custom_correctness(t->c, t->b, eval);
	else
		run_harness(t->k, t->s, t->so, own_timing || !timed ? "correctness" : "both", eval);
	if (!timed || !is_correct(eval) || json_object_get(eval, "timing"))
		return;
	if (own_timing) {
		turns_time(t, eval);
		note_level(t->k, eval);
	} else {
		run_harness(t->k, t->s, t->so, "timing", eval);
	}
}

json_t *
measure_again(const struct trial *t, json_t *eval)
{
	return custom_has(t->c, "eval.timing") ? turns_again(t, eval)
	                                       : race_incumbent(t->k, t->s, t->so, eval);
}

/* The tiers on the set of every round, then what a gain needs beside them. */
static void
run_tiers(const struct trial *t, json_t *eval)
{
	measure(t, eval);
	if (!json_object_get(eval, "timing") || t->k->verifies)
		return;
	confirm(t, eval);
	if (!custom_has(t->c, "eval.timing"))
		time_reuse(t->k, t->s, t->so, eval);
	if (!t->s->known)
		profile(t->k, t->s, needs_harness(t->c) ? t->so : NULL, eval);
}

/*
 * The folder of the evaluation under way, removed at exit too: a fault of the environment ends the
 * program in the middle.
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
	struct build b = { 0 };
	struct trial t = { k, s, c, &b, so };
	bool harness = needs_harness(c);
	int64_t start;

	eval_set(eval, "tier", json_integer(1));
	eval_set(eval, "sandbox", sandbox_json(k));
	start = know_ns();
	if (s->known)
		custom_build_known(c, &b);
	else if (custom_has(c, "eval.build"))
		custom_build(c, &b);
	else
		build_candidate(k, s, work, &b);
	add_spent(eval, "building", kseconds_since(start));
	if (b.ok && harness && !b.so) {
		free(b.log);
		b.log = kstrdup("the build command left no shared object\n");
		b.ok = false;
	}
	eval_set(eval, "build", json_incref(b.json));
	if (!b.ok) {
		fail_build(&b, eval);
	} else if (!harness || s->known ||
	    (is_device_only(k) ? check_launches(k, s, eval) : check_object(k, work, &b, eval))) {
		/* The bytes that were checked are the bytes that run. */
		if (b.so)
			work_put(work, checked_so, b.so, b.so_len);
		/* It is about to race. */
		if (b.so && k->check_only)
			build_keep(k, s, &b);
		if (!take_object(k, s, &b, eval))
			run_tiers(&t, eval);
	}
	custom_close(c);
	build_free(&b);
	free(so);
	remove_work();
}
