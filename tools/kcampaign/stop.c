/* SPDX-License-Identifier: Apache-2.0 */
/* Why a campaign stops. See kcampaign.h. */
#include "kcampaign.h"

/*
 * How many trials a gain may take in this search: the longest wait for one so far, but at least as
 * many as make a few dozen candidates, because gains come late in any search.
 */
static long
usual_wait(void)
{
	enum { CANDIDATES = 20 };
	long branches = kcamp_branches(), least = (CANDIDATES + branches - 1) / branches;

	return standing.longest_wait > least ? standing.longest_wait : least;
}

char *
stop_reason(long last)
{
	long trials = kcamp_int("stop.trials"), patience = kcamp_int("stop.patience");
	long failures = kcamp_int("stop.failures");
	double speedup = kcamp_num("stop.speedup"), budget = kcamp_num("stop.budget_usd");
	char *reason;

	if (last < 1)
		return NULL;
	if (kcamp_linear()) {
		if ((reason = linear_stop(last)) != NULL)
			return reason;
		/* Below, only money and failures matter. */
		patience = 0;
		speedup = 0;
	} else if (last >= trials) {
		return kasprintf("over: %ld of %ld trials are done (stop.trials)", last, trials);
	}
	if (patience && standing.stale >= patience * usual_wait())
		return kasprintf("over: no gain in the last %ld trials, %ld times as long as any "
		                 "gain took (stop.patience)",
		    standing.stale, patience);
	if (speedup > 0 && standing.speedup.mean >= speedup)
		return kasprintf("over: %.4gx reaches the goal of %.4gx (stop.speedup)",
		    standing.speedup.mean, speedup);
	if ((reason = roofline_stop()) != NULL)
		return reason;
	if (budget > 0 && standing.cost_usd >= budget)
		return kasprintf(
		    "over: $%.2f of $%.2f are spent (stop.budget_usd)", standing.cost_usd, budget);
	if (failures && standing.failures >= failures)
		return kasprintf("over: %ld candidates in a row without a result (stop.failures)",
		    standing.failures);
	return NULL;
}

char *
stop_reason_after(long last)
{
	look_after(last);
	return stop_reason(last);
}
