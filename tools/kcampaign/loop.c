/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every command that runs something shares: a campaign under its lock, views that are up to
 * date, and records that are kept. See kcampaign.h.
 */
#include "kcampaign.h"

long last_made;

void
loop_begin(void)
{
	char *fault = kseal_adopted(".");
	struct kbuf text = { 0 };

	if (fault)
		kdie_usage("%s", fault);
	kcamp_load();
	krecord_check();
	take_lock();
	catch_signals();
	if (!plans_only())
		rules_refresh();
	last_made = ktrials_last();
	progress_open();
	if (kcamp_linear())
		confirm_require();
	/* Later rounds must be judged like the earlier ones. */
	if (kcamp_linear() && judged_faults(&text))
		kdie_usage("%.*s", (int)strcspn(text.data, "\n"), text.data);
}

int
keep(const char *moment)
{
	const char *const goals[] = { moment, NULL };
	struct graph g = { .first = last_made, .last = last_made };
	bool any = last_made >= 0 && !plans_only() && (kcamp_linear() || kmemo_enabled());

	return any ? make_graph(&g, goals) : K_OK;
}

static int
keep_views(enum ask ask)
{
	return keep(ask == ASK_NOBODY ? "at-views" : "at-begin");
}

int
make_views(long first, long last, enum ask ask)
{
	struct graph g = { .first = first, .last = last, .ask = ask };
	const char *const goals[] = { kplace_trial(last, "archive.ndjson"),
		kplace_trial(last, "gradient.ndjson"), NULL };

	if (!plans_only()) {
		make_folders(0, 0);
		if (first == last)
			make_folders(last, kcamp_branches());
	}
	return make_graph(&g, goals);
}

int
bring_views(long first, enum ask ask)
{
	int code;

	if (last_made < 0)
		return K_OK;
	if (!plans_only()) {
		clear_position();
		rules_settle(first, last_made);
	}
	code = make_views(first < last_made ? first : last_made, last_made, ask);
	if (!code && !plans_only())
		set_position(last_made);
	return code ?: keep_views(ask);
}

int
catch_up(enum ask ask)
{
	if (last_made < 0 || plans_only() ||
	    (ktrials_linked() == last_made && !rules_newer(last_made)))
		return keep_views(ask);
	return bring_views(1, ask);
}
