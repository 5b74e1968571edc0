/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One trial after the other, repeated after temporary failures, until a stop condition holds. See
 * kcampaign.h.
 */
#include "kcampaign.h"

#define RETRY_MAX_S 600.0

/*
 * After a temporary failure, waits before the next of the attempts that --retries allows; false:
 * there is none. Full jitter over a delay that doubles: 0.5..1 times --retry-s * 2^attempt.
 */
static bool
wait_to_retry(int code, bool waits, long *attempt)
{
	double s = fmin(given.retry_s * pow(2, (double)*attempt), RETRY_MAX_S) *
	    (0.5 + 0.5 * (double)(know_ns() % 1000) / 1000);

	if (code != K_AGAIN || !waits || given.trials || (*attempt)++ >= given.retries)
		return false;
	kwarn("trying again in %.0f s", s);
	usleep((useconds_t)(s * 1e6));
	die_if_stopped();
	return true;
}

/* Makes one trial, repeating it as --retries allows while a stage reports a temporary failure. */
static int
make_trial(long trial)
{
	bool waits = !kcamp_is("model.provider", "file");
	long attempt = 0;
	int code;

	do
		code = make_views(trial, trial, ASK_BOTH);
	while (wait_to_retry(code, waits, &attempt));
	return code;
}

static int
run_preflight(void)
{
	return make_graph(&(struct graph){ 0 }, (const char *const[]){ "preflight", NULL });
}

int
preflight(void)
{
	int code;

	progress_open();
	code = run_preflight();
	progress_close();
	return code;
}

/*
 * Before anything is measured: can the model be asked? If evaluations run elsewhere: is everything
 * available there?
 */
static int
arrive(void)
{
	auto_free char *reason = stop_reason_after(last_made);
	bool needed = !reason && *kcamp_str("eval.launcher") && !plans_only();
	long attempt = 0;
	int code = K_OK;

	if (!reason && last_made < 0 && !plans_only() && !model_ready())
		kdie_usage("the model cannot be asked from here, so nothing was measured; set "
		           "the key, or change model in campaign.json");
	if (needed)
		do
			code = run_preflight();
		while (wait_to_retry(code, true, &attempt));
	return code;
}

/* The end of a campaign: prints why, measures the best kernel again, and makes the report. */
static int
finish(const char *reason)
{
	int code;

	ksay("%s: %s\n", kcamp_str("name"), reason);
	code = keep("at-end");
	if (code || given.trials || last_made < 1)
		return code;
	if (kcamp_is("eval.evaluator", "harness"))
		code = verify_best();
	report_best(NULL);
	return code;
}

/*
 * Round 1 of a linear search is only the baseline, because the shapes of all other rounds are
 * chosen after it.
 */
static int
make_baseline(void)
{
	int code = last_made < 0 ? make_trial(0) : K_OK;

	if (code || last_made >= 0 || plans_only())
		return code;
	set_position(last_made = 0);
	report_measured(0, 0);
	if (kcamp_linear())
		report_trial(last_made);
	return K_OK;
}

int
command_baseline(void)
{
	bool there = last_made >= 0;
	int code = make_baseline();

	if (there)
		report_measured(0, 0);
	return code;
}

/* What must be true before a round of a linear search begins. */
static int
open_round(void)
{
	struct kbuf text = { 0 };
	int code = make_baseline();

	if (code)
		return code;
	linear_closed(last_made);
	if (last_made == 0 && shapes_faults(&text)) {
		text.data[strcspn(text.data, "\n")] = '\0';
		kdie_usage("eval.set: %s; run `kcampaign shapes` for a fair choice", text.data);
	}
	return judged_freeze() ? keep("at-round") : K_OK;
}

static int
run_trial(void)
{
	long trial = last_made < 1 ? 1 : last_made + 1;
	bool first = last_made < 0;
	int code;

	roofline_require();
	code = keep("at-before");
	if (!code)
		code = make_trial(trial);
	if (code || plans_only())
		return code;
	if (first)
		report_measured(0, 0);
	set_position(last_made = trial);
	code = keep("at-after");
	report_trial(last_made);
	return code;
}

/*
 * Ends the campaign for REASON. False: the condition was met by a kernel that has
 * been rejected since, so the search continues.
 */
static bool
is_finished(const char *reason, int *code)
{
	auto_free char *still = NULL;

	*code = finish(reason);
	if ((*code != K_OK && *code != K_NO) || given.trials)
		return true;
	still = stop_reason_after(last_made);
	if (still)
		return true;
	kwarn("the kernel that met the stop condition was not accepted; the search continues");
	*code = K_OK;
	return false;
}

int
command_run(void)
{
	int code = catch_up(ASK_MODEL);

	if (!code)
		code = arrive();
	if (!code && kcamp_linear() && !plans_only())
		code = open_round();
	for (long done = 0; !code && (!given.trials || done < given.trials);) {
		auto_free char *reason = stop_reason_after(last_made);

		if (!reason) {
			code = run_trial();
			done++;
		}
		if (reason ? is_finished(reason, &code) : plans_only())
			break;
	}
	return code;
}

int
command_views(void)
{
	long facts = last_facts();

	/* Archives may be missing too: they are views. */
	if (facts > last_made)
		last_made = facts;
	return bring_views(1, ASK_NOBODY);
}
