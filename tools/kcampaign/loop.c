/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every command that runs something shares: a campaign under its lock, views that are up to
 * date, and records that are kept. See kcampaign.h.
 */
#include "kcampaign.h"

#include "krecord.h"
#include "kseal.h"
#include "ktrials.h"

/* Later rounds must be judged like the earlier ones. */
static void
require_judged(void)
{
	struct kbuf text = { 0 };

	if (judged_faults(&text))
		kdie(K_USAGE, "%.*s", (int)strcspn(text.data, "\n"), text.data);
}

long last_made;

void
loop_begin(void)
{
	char *fault = kseal_adopted(".");

	if (fault)
		kdie(K_USAGE, "%s", fault);
	camp = kcamp_load(".");
	krecord_check(".");
	take_lock();
	catch_signals();
	if (!plans_only())
		rules_refresh();
	last_made = ktrials_last(camp);
	progress_open();
	if (kcamp_linear(camp)) {
		confirm_require();
		require_judged();
	}
}

void
loop_end(void)
{
	progress_close();
}

/* The page goes to a person at once. */
static void
say(void)
{
	ksay("%s", page.data ? page.data : "");
	kbuf_free(&page);
}

void
say_measured(long trial, long branch)
{
	report_measured(trial, branch);
	say();
}

void
say_trial(void)
{
	report_trial(last_made);
	say();
}

int
keep(const char *moment)
{
	char *goals[] = { kstrdup(moment), NULL };
	struct graph g = { .first = last_made, .last = last_made };
	bool any = last_made >= 0 && !plans_only() && keeps_anything();
	int code = any ? make_graph(&g, goals) : K_OK;

	free(goals[0]);
	return code;
}

int
make_views(long first, long last, enum ask ask)
{
	struct graph g = { .first = first, .last = last, .ask = ask };
	char *goals[] = { trial_path(last, "archive.ndjson"), trial_path(last, "gradient.ndjson"),
		NULL };
	int code;

	if (!plans_only()) {
		make_folders(0, 0);
		if (first == last)
			make_folders(last, kcamp_branches(camp));
	}
	code = make_graph(&g, goals);
	free(goals[0]);
	free(goals[1]);
	return code;
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
	if (code)
		return code;
	if (!plans_only())
		set_position(last_made);
	return keep(ask == ASK_NOBODY ? "at-views" : "at-begin");
}

int
catch_up(enum ask ask)
{
	if (last_made < 0 || plans_only() ||
	    (ktrials_linked(camp) == last_made && !rules_newer(last_made)))
		return keep(ask == ASK_NOBODY ? "at-views" : "at-begin");
	return bring_views(1, ask);
}
