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
require_judged(const struct kcamp *c)
{
	struct kbuf text = { 0 };

	if (judged_faults(c, &text))
		kdie(K_USAGE, "%.*s", (int)strcspn(text.data, "\n"), text.data);
}

struct loop *
loop_begin(const struct options *o)
{
	struct loop *l = kcalloc(1, sizeof *l);
	char *fault = kseal_adopted(".");

	if (fault)
		kdie(K_USAGE, "%s", fault);
	*l = (struct loop){ .camp = kcamp_load("."), .o = o };
	krecord_check(".");
	take_lock();
	catch_signals();
	if (!plans_only())
		rules_refresh(l->camp);
	l->last = ktrials_last(l->camp);
	l->progress = progress_open(l->camp, o->every);
	if (kcamp_linear(l->camp)) {
		confirm_require(l->camp);
		require_judged(l->camp);
	}
	return l;
}

void
loop_end(struct loop *l)
{
	progress_close(l->progress);
	kcamp_free(l->camp);
	free(l);
}

static void
say(struct kbuf *text)
{
	ksay("%s", text->data ? text->data : "");
	kbuf_free(text);
}

void
say_best(const struct loop *l)
{
	struct kbuf text = { 0 };

	report_best(l->camp, l->last, &text);
	say(&text);
}

void
say_measured(const struct loop *l, long trial, long branch)
{
	struct kbuf text = { 0 };

	report_measured(l->camp, trial, branch, &text);
	say(&text);
}

void
say_trial(const struct loop *l)
{
	struct kbuf text = { 0 };

	report_trial(l->camp, l->last, &text);
	say(&text);
}

int
keep(const struct loop *l, const char *moment)
{
	char *goals[] = { kstrdup(moment), NULL };
	struct graph g = { .first = l->last, .last = l->last };
	bool any = l->last >= 0 && !plans_only() && keeps_anything(l->camp);
	int code = any ? make_graph(l, &g, goals) : K_OK;

	free(goals[0]);
	return code;
}

int
make_views(const struct loop *l, long first, long last, enum ask ask)
{
	struct graph g = { .first = first, .last = last, .ask = ask };
	char *goals[] = { trial_path(last, "archive.ndjson"), trial_path(last, "gradient.ndjson"),
		NULL };
	int code;

	if (!plans_only()) {
		make_folders(0, 0);
		if (first == last)
			make_folders(last, kcamp_branches(l->camp));
	}
	code = make_graph(l, &g, goals);
	free(goals[0]);
	free(goals[1]);
	return code;
}

int
bring_views(const struct loop *l, long first, enum ask ask)
{
	int code;

	if (l->last < 0)
		return K_OK;
	if (!plans_only()) {
		clear_position();
		rules_settle(first, l->last);
	}
	code = make_views(l, first < l->last ? first : l->last, l->last, ask);
	if (code)
		return code;
	if (!plans_only())
		set_position(l->last);
	return keep(l, ask == ASK_NOBODY ? "at-views" : "at-begin");
}

int
catch_up(const struct loop *l, enum ask ask)
{
	if (l->last < 0 || plans_only() ||
	    (ktrials_linked(l->camp) == l->last && !rules_newer(l->last)))
		return keep(l, ask == ASK_NOBODY ? "at-views" : "at-begin");
	return bring_views(l, 1, ask);
}
