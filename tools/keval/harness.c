/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiers T2 and T3: kharness does the work; here its command line is made from the knobs, and its
 * answer read.
 */
#include <limits.h>

#include "keval.h"

enum { ARGS_MAX = 128, ANSWER_MAX = 256 << 20 };

/* Options of kharness that are knobs here. */
static const struct {
	const char *option, *knob;
	bool zero_is_default;
} knobs[] = {
	{ "--threads", "eval.threads", true },
	{ "--seeds", "eval.seeds", false },
	{ "--timing-s", "eval.timing_s", false },
	{ "--min-samples", "eval.min_samples", false },
	{ "--max-samples", "eval.max_samples", false },
	{ "--run-timeout-s", "eval.run_timeout_s", false },
	{ "--memory-mb", "eval.memory_mb", false },
	{ "--sandbox", "eval.sandbox", false },
};

struct argv {
	char *at[ARGS_MAX]; /* owned */
	size_t count;
};

static void
push(struct argv *a, const char *option, const char *value)
{
	if (a->count + 3 > ARGS_MAX)
		kdie(K_USAGE, "too many baselines");
	a->at[a->count++] = kstrdup(option);
	if (value)
		a->at[a->count++] = kstrdup(value);
	a->at[a->count] = NULL;
}

static void
push_knobs(struct argv *a, const struct keval *k)
{
	for (size_t i = 0; i < LEN(knobs); i++) {
		const char *text = !strcmp(knobs[i].knob, "eval.sandbox")
		    ? kcamp_str(k->camp, knobs[i].knob)
		    : NULL;
		char number[40];

		if (!text) {
			double v = kcamp_num(k->camp, knobs[i].knob);

			if (!(v > 0) && knobs[i].zero_is_default)
				continue;
			snprintf(number, sizeof number, "%.10g", v);
			text = number;
		}
		push(a, knobs[i].option, text);
	}
}

static void
compose(struct argv *a, const struct keval *k, const struct harness_run *r)
{
	char *program = ktool_path("kharness");

	push(a, program, NULL);
	free(program);
	push(a, "-t", k->task_file);
	push(a, "-s", k->set);
	push(a, r->reuse ? "--reuse" : "--phase", r->reuse ? NULL : r->phase);
	if (r->oracle)
		push(a, "--oracle", r->oracle);
	if (k->seed)
		push(a, "--seed", k->seed);
	if (is_gpu(k) || is_device_only(k))
		push(a, "--backend", kcamp_str(k->camp, "backend"));
	if (is_gpu(k) && strcmp(kcamp_str(k->camp, "eval.lock_clocks"), "off"))
		push(a, "--lock-clocks", kcamp_str(k->camp, "eval.lock_clocks"));
	push_knobs(a, k);
	push(a, "--warmup-s", "0.03"); /* clocks and caches settle in less */
	for (const char *const *p = r->against; p && *p; p++)
		push(a, "--against", *p);
	if (r->all_pairs)
		push(a, "--all-pairs", NULL);
	if (r->name)
		push(a, "--name", r->name);
	push(a, r->so, NULL);
}

/*
 * Run it, and give back its result; a failure of kharness is a failure of the environment and ends
 * this program too. What it says on stderr is passed on: at once when ALOUD, so that warnings
 * are heard, and that it waits for the machine; otherwise when it fails.
 */
static void
start(struct argv *a, struct kproc_result *r, bool aloud)
{
	struct kproc p = { .argv = a->at, .max_output = ANSWER_MAX, .pass_err = aloud };

	if (kproc_run(&p, r) < 0)
		kdie_errno(K_MISSING, "%s", a->at[0]);
	if (!aloud && (r->signal || r->exit_code))
		kpass(r->err, r->err_len);
	if (r->signal)
		kdie(K_IO, "%s was killed by signal %d (%s)", a->at[0], r->signal,
		    strsignal(r->signal));
	if (r->exit_code)
		kdie(r->exit_code, "%s failed with exit status %d", a->at[0], r->exit_code);
}

static void
free_argv(struct argv *a)
{
	for (size_t i = 0; i < a->count; i++)
		free(a->at[i]);
}

json_t *
harness_run(const struct keval *k, const struct harness_run *run)
{
	struct argv a = { .count = 0 };
	struct kproc_result r;
	json_error_t e;
	json_t *answer;

	compose(&a, k, run);
	start(&a, &r, true);
	answer = json_loadb(r.out, r.out_len, JSON_REJECT_DUPLICATES, &e);
	if (!answer || !kjson_is(answer, "schema", "harness/1"))
		kdie(K_IO, "%s: its answer is not a harness/1 object%s%s", a.at[0],
		    answer ? "" : ": ", answer ? "" : e.text);
	kproc_result_free(&r);
	free_argv(&a);
	return answer;
}

void
add_harness_spent(json_t *eval, const json_t *answer)
{
	const char *what;
	json_t *s;

	json_object_foreach(json_object_get(answer, "spent_s"), what, s)
		add_spent(eval, what, json_number_value(s));
}

void
harness_lint(const struct keval *k, const char *oracle, bool notes)
{
	struct argv a = { .count = 0 };
	char *program = ktool_path("kharness");
	struct kproc_result r;

	push(&a, program, NULL);
	push(&a, "--lint", k->task_file);
	if (is_gpu(k))
		push(&a, "--backend", kcamp_str(k->camp, "backend"));
	if (oracle)
		push(&a, "--oracle", oracle);
	start(&a, &r, notes);
	kproc_result_free(&r);
	free_argv(&a);
	free(program);
}
