/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One trial after the other, repeated after temporary failures, until a stop condition holds. See
 * kcampaign.h.
 */
#include "kcampaign.h"

#define RETRY_MAX_S 600.0

/* Full jitter over a delay that doubles: 0.5..1 times BASE * 2^attempt. */
static void
wait_before_retry(double base, long attempt)
{
	double s = fmin(base * pow(2, (double)attempt), RETRY_MAX_S) *
	    (0.5 + 0.5 * (double)(know_ns() % 1000) / 1000);
	struct timespec t = { (time_t)s, (long)((s - floor(s)) * 1e9) };

	kwarn("trying again in %.0f s", s);
	nanosleep(&t, NULL);
	die_if_stopped();
}

/* Makes one trial, repeating it as often as O allows while a stage reports a temporary failure. */
static int
make_trial(const struct loop *l, long trial)
{
	bool waits = !l->o->trials && strcmp(kcamp_str(l->camp, "model.provider"), "file");

	for (long attempt = 0;; attempt++) {
		int code = make_views(l, trial, trial, ASK_BOTH);

		if (code != K_AGAIN || !waits || attempt >= l->o->retries)
			return code;
		wait_before_retry(l->o->retry_s, attempt);
	}
}

static int
run_preflight(const struct loop *l)
{
	char *goals[] = { (char[]){ "preflight" }, NULL };
	struct graph g = { 0 };

	return make_graph(l, &g, goals);
}

int
preflight(const struct options *o)
{
	struct loop l = { .camp = kcamp_load("."), .o = o };
	int code;

	l.progress = progress_open(l.camp, o->every);
	code = run_preflight(&l);
	progress_close(l.progress);
	kcamp_free(l.camp);
	return code;
}

/*
 * Before anything is measured: can the model be asked? If evaluations run elsewhere: is everything
 * available there?
 */
static int
arrive(const struct loop *l)
{
	auto_free char *reason = stop_reason_after(l->camp, l->last);
	bool needed = !reason && *kcamp_str(l->camp, "eval.launcher") && !plans_only();
	int code = K_OK;

	if (!reason && l->last < 0 && !plans_only() && !model_ready(l->camp))
		kdie(K_USAGE,
		    "the model cannot be asked from here, so nothing was measured; set "
		    "the key, or change model in campaign.json");
	for (long attempt = 0; needed; attempt++) {
		code = run_preflight(l);
		if (code != K_AGAIN || l->o->trials || attempt >= l->o->retries)
			break;
		wait_before_retry(l->o->retry_s, attempt);
	}
	return code;
}

/* The end of a campaign: prints why, measures the best kernel again, and makes the report. */
static int
finish(const struct loop *l, const char *reason)
{
	int code;

	ksay("%s: %s\n", kcamp_str(l->camp, "name"), reason);
	code = keep(l, "at-end");
	if (code || l->o->trials || l->last < 1)
		return code;
	if (!strcmp(kcamp_str(l->camp, "eval.evaluator"), "harness"))
		code = verify_best(l);
	say_best(l);
	return code;
}

/*
 * Round 1 of a linear search is only the baseline, because the shapes of all other rounds are
 * chosen after it.
 */
static int
make_baseline(struct loop *l)
{
	int code = l->last < 0 ? make_trial(l, 0) : K_OK;

	if (code || l->last >= 0 || plans_only())
		return code;
	set_position(l->last = 0);
	say_measured(l, 0, 0);
	if (kcamp_linear(l->camp))
		say_trial(l);
	return K_OK;
}

int
command_baseline(const struct options *o)
{
	struct loop *l = loop_begin(o);
	bool there = l->last >= 0;
	int code = make_baseline(l);

	if (there)
		say_measured(l, 0, 0);
	loop_end(l);
	return code;
}

/* What must be true before a round of a linear search begins. */
static int
open_round(struct loop *l)
{
	struct kbuf text = { 0 };
	int code = make_baseline(l);

	if (code)
		return code;
	linear_closed(l->last);
	if (l->last == 0 && shapes_faults(l->camp, &text)) {
		text.data[strcspn(text.data, "\n")] = '\0';
		kdie(K_USAGE, "eval.set: %s; run `kcampaign shapes` for a fair choice", text.data);
	}
	return judged_freeze(l->camp) ? keep(l, "at-round") : K_OK;
}

static int
run_trial(struct loop *l)
{
	long trial = l->last < 1 ? 1 : l->last + 1;
	bool first = l->last < 0;
	int code;

	roofline_require(l->camp);
	code = keep(l, "at-before");
	if (!code)
		code = make_trial(l, trial);
	if (code || plans_only())
		return code;
	if (first)
		say_measured(l, 0, 0);
	set_position(l->last = trial);
	code = keep(l, "at-after");
	say_trial(l);
	return code;
}

/*
 * Ends the campaign for REASON, which is freed. False: the condition was met by a kernel that has
 * been rejected since, so the search continues.
 */
static bool
is_finished(const struct loop *l, char *reason, int *code)
{
	bool holds;

	*code = finish(l, reason);
	free(reason);
	if ((*code != K_OK && *code != K_NO) || l->o->trials)
		return true;
	reason = stop_reason_after(l->camp, l->last);
	holds = reason != NULL;
	free(reason);
	if (holds)
		return true;
	kwarn("the kernel that met the stop condition was not accepted; the search continues");
	*code = K_OK;
	return false;
}

int
command_run(const struct options *o)
{
	struct loop *l = loop_begin(o);
	int code = catch_up(l, ASK_MODEL);

	if (!code)
		code = arrive(l);
	if (!code && kcamp_linear(l->camp) && !plans_only())
		code = open_round(l);
	for (long done = 0; !code && (!o->trials || done < o->trials);) {
		char *reason = stop_reason_after(l->camp, l->last);

		if (reason && is_finished(l, reason, &code))
			break;
		if (reason)
			continue;
		code = run_trial(l);
		done++;
		if (plans_only())
			break;
	}
	loop_end(l);
	return code;
}

int
command_views(const struct options *o)
{
	struct loop *l = loop_begin(o);
	long facts = last_facts(l->camp);
	int code;

	/* Archives may be missing too: they are views. */
	if (facts > l->last)
		l->last = facts;
	code = bring_views(l, 1, ASK_NOBODY);
	loop_end(l);
	return code;
}
