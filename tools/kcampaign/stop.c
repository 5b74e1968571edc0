/* SPDX-License-Identifier: Apache-2.0 */
/* Why a campaign stops. See kcampaign.h. */
#include "kcampaign.h"

/*
 * How many trials a gain may take in this search: the longest wait for one so far, but at least as
 * many as make a few dozen candidates, because gains come late in any search.
 */
static long
usual_wait(const struct standing *s)
{
	enum { CANDIDATES = 20 };
	long branches = kcamp_branches(), least = (CANDIDATES + branches - 1) / branches;

	return s->longest_wait > least ? s->longest_wait : least;
}

char *
stop_reason(long last, const struct standing *s)
{
	long trials = kcamp_int("stop.trials"), patience = kcamp_int("stop.patience");
	long failures = kcamp_int("stop.failures");
	double speedup = kcamp_num("stop.speedup"), budget = kcamp_num("stop.budget_usd");
	char *reason;

	if (last < 1)
		return NULL;
	if (kcamp_linear()) {
		if ((reason = linear_stop(last, s)) != NULL)
			return reason;
		/* Below, only money and failures matter. */
		patience = 0;
		speedup = 0;
	} else if (last >= trials) {
		return kasprintf("over: %ld of %ld trials are done (stop.trials)", last, trials);
	}
	if (patience && s->stale >= patience * usual_wait(s))
		return kasprintf("over: no gain in the last %ld trials, %ld times as long as any "
		                 "gain took (stop.patience)",
		    s->stale, patience);
	if (speedup > 0 && s->speedup.mean >= speedup)
		return kasprintf("over: %.4gx reaches the goal of %.4gx (stop.speedup)",
		    s->speedup.mean, speedup);
	if ((reason = roofline_stop(s)) != NULL)
		return reason;
	if (budget > 0 && s->cost_usd >= budget)
		return kasprintf(
		    "over: $%.2f of $%.2f are spent (stop.budget_usd)", s->cost_usd, budget);
	if (failures && s->failures >= failures)
		return kasprintf(
		    "over: %ld candidates in a row without a result (stop.failures)", s->failures);
	return NULL;
}

char *
stop_reason_after(long last)
{
	struct standing s = standing_after(last);
	char *reason = stop_reason(last, &s);

	standing_free(&s);
	return reason;
}
