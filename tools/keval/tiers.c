/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tiers of one candidate: build, correctness, timing, and timing again in turns with the
 * incumbent.
 */

#include "keval.h"

static const char checked_so[] = "checked.so";

const json_t *
harness_candidate(const json_t *answer)
{
	const json_t *c = kjson_find(json_object_get(answer, "candidates"), "name", "candidate");

	if (!c)
		kdie(K_IO, "kharness: the answer has no candidate");
	return c;
}

void
harness_merge(const json_t *answer)
{
	kjson_pick(eval, harness_candidate(answer), "status", "tier", "reasons", "correctness",
	    "timing", "log");
	kjson_pick(eval, answer, "seed", "environment", "machine", "noise", "sandbox");
	if (!status_at(eval, "status"))
		kdie(K_IO, "kharness: the answer has an unknown status");
}

/* For device code: the launch lines must be valid for every workload. */
static bool
check_launches(void)
{
	struct ktask *task = ktask_load(keval.task_file);
	struct klaunch_list list;
	char why[512];
	bool good = klaunch_parse(subject->code, &list, why, sizeof why) &&
	    klaunch_check(&list, task, why, sizeof why);

	if (!good)
		eval_fail(STATUS_COMPILE_ERROR, "launch", "%s", why);
	ktask_free(task);
	return good;
}

/*
 * The built object must be clean, with its imports, its load-time code and the text that it was
 * compiled from, and define the entry point.
 */
static bool
check_object(const char *work, const struct build *b)
{
	const char *entry = kjson_str(keval.task, "entry.name");
	struct kelf f;
	auto_free char *call = NULL;
	bool clean;

	scan_elf(&f, kelf_read(b->so, b->so_len, &f));
	if (b->expanded)
		scan_expanded(b->expanded);
	clean = !json_object_get(eval, "status");
	call = clean ? suspect_call(work, b, &f) : NULL;
	if (call)
		eval_fail(STATUS_QUARANTINED, "asm_system", "%s", call);
	else if (clean && !json_object_get(f.functions, entry))
		eval_fail(STATUS_COMPILE_ERROR, "entry",
		    "it builds, but defines no function %s (a static function is not exported)",
		    entry);
	kelf_free(&f);
	return !json_object_get(eval, "status");
}

static void
fail_build(const struct build *b)
{
	const char *end = strstr(b->log, "[the build was stopped");

	eval_fail(STATUS_COMPILE_ERROR, end ? "resource" : "compiler", "%s",
	    end ?: "the compiler refused it");
}

/*
 * A run of kharness on a candidate: T2 and T3, except those that a command of the campaign
 * replaces.
 */
struct plan {
	struct anchor anchor;
	const char *one[2];
	struct harness_run run;
	struct early *early; /* it has started, and waits for the candidate; or NULL */
};

static void
plan_harness(const char *so, const char *phase, struct plan *p)
{
	bool timed = strcmp(phase, "correctness");

	*p = (struct plan){ .run = { .so = so,
		                .phase = phase,
		                .against = p->one,
		                .root = timed && keval.rivals } };
	/* A task without an oracle ends here, before anything else is built. */
	oracle_so();
	if (p->run.root)
		p->run.against = (const char *const *)keval.rivals;
	else if (timed && !subject->trusted)
		p->anchor = choose_anchor();
	p->one[0] = p->anchor.against;
}

static void
drop_plan(struct plan *p)
{
	if (p->early)
		harness_cancel(p->early);
	p->early = NULL;
	free(p->anchor.against);
	p->anchor.against = NULL;
}

static void
run_harness(const struct trial *t, const char *phase)
{
	struct plan own, *p = t->early && t->early->early ? t->early : &own;
	json_auto_t *answer = NULL;

	if (p == &own) {
		plan_harness(t->so, phase, p);
		answer = harness_run(&p->run);
	} else {
		answer = harness_go(p->early, t->b.so, t->b.so_len);
		p->early = NULL;
	}
	add_harness_spent(answer);
	harness_merge(answer);
	if (p->one[0] && json_object_get(eval, "timing"))
		put_anchor(&p->anchor, answer);
	if (p->run.root)
		put_rivals(answer);
	drop_plan(p);
}

/* Does the harness call the program, for its results or its times? */
static bool
needs_harness(void)
{
	return !kcamp_json("eval.correctness") || !kcamp_json("eval.timing");
}

void
measure(const struct trial *t)
{
	bool own_timing = kcamp_json("eval.timing"), timed = !keval.check_only;
	json_t *known = subject->trusted && !subject->known ? keval.timed : NULL;

	if (kcamp_json("eval.correctness"))
		custom_correctness(t);
	else
		run_harness(t, own_timing || !timed || known ? "correctness" : "both");
	if (!timed || status_at(eval, "status") != STATUS_CORRECT ||
	    json_object_get(eval, "timing"))
		return;
	if (known) {
		json_object_update(eval, known);
	} else if (own_timing) {
		turns_time(t);
		note_level();
	} else {
		run_harness(t, "timing");
	}
}

json_t *
measure_again(const struct trial *t)
{
	return kcamp_json("eval.timing") ? turns_again(t) : race_incumbent(t->so);
}

/* The tiers on the set of every round, then the further measurements that a gain needs. */
static void
run_tiers(const struct trial *t)
{
	measure(t);
	if (!json_object_get(eval, "timing") || keval.verifies)
		return;
	confirm(t);
	if (!kcamp_json("eval.timing"))
		time_reuse(t->so);
	if (!subject->known)
		profile(needs_harness() ? t->so : NULL);
}

/*
 * The folder of the current evaluation, removed at exit too: a fault of the environment can end the
 * program at any time.
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

/*
 * A runner's environment depends on this (makes_streams, kharness): it is not the same for all
 * candidates.
 */
static bool
may_make_streams(void)
{
	auto_free char *text = subject_text(subject);

	return strstr(text, "StreamCreate") != NULL;
}

/*
 * On a GPU, kharness may start at the same time as the compiler: it also takes a second to get
 * ready. Without a mount namespace, the program would be copied before it exists.
 */
static bool
may_start_early(void)
{
	/*
	 * Once this is on record, everything that judges candidates or is compared with them is
	 * built.
	 */
	const char *reference = past_path(KARCH_REFERENCE);

	return is_gpu() && !is_device_only() && reference && kis_there(reference) &&
	    sandbox_level() == KSANDBOX_BWRAP && !subject->known && !subject->trusted &&
	    !keval.check_only && !keval.rivals && !has_commands() && !may_make_streams();
}

static void
start_early(const char *so, struct plan *p)
{
	plan_harness(so, "both", p);
	/* Otherwise two runners would call it, one after the other. */
	if (p->one[0])
		p->early = harness_prepare(&p->run);
	else
		drop_plan(p);
}

void
evaluate_tiers(void)
{
	const char *work = new_work();
	auto_free char *so = kasprintf("%s/%s", work, checked_so);
	struct plan early = { .early = NULL };
	struct trial t = trial_of(subject, work);
	struct build *b = &t.b;
	bool harness = needs_harness();
	int64_t start;

	t.so = so;
	t.early = &early;

	kjson_put(eval, "tier", 1);
	kjson_extend(eval, "{s:{s:i,s:s}}", "sandbox", "level", sandbox_level(), "name",
	    ksandbox_name(sandbox_level()));
	if (may_start_early())
		start_early(kshown("%s/early.so", work), &early);
	start = know_ns();
	if (subject->known)
		custom_build_known(&t);
	else if (kcamp_json("eval.build"))
		custom_build(&t);
	else
		build_candidate(&t);
	add_spent("building", kseconds_since(start));
	if (b->ok && harness && !b->so) {
		free(b->log);
		b->log = kstrdup("the build command left no shared object\n");
		b->ok = false;
	}
	kjson_set(eval, "build", json_incref(b->json));
	if (!b->ok) {
		fail_build(b);
	} else if (!harness || subject->known ||
	    (is_device_only() ? check_launches() : check_object(work, b))) {
		/* The bytes that were checked are the bytes that run. */
		if (b->so)
			work_put(work, checked_so, b->so, b->so_len);
		/* It is about to race; or it is the reference, which all others will race with. */
		if (b->so && (keval.check_only || (subject->trusted && !subject->known)))
			build_keep(b);
		if (!take_object(b))
			run_tiers(&t);
	}
	drop_plan(&early);
	build_free(b);
	remove_work();
}
