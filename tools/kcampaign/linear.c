/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The linear search for people: when it ends, where it stands, and the check that a round is closed
 * before the next.
 */
#include "kcampaign.h"

#include "kends.h"

enum { COLUMNS = 80 };

/* The conditions that hold after trial LAST. */
static struct kends
find_ends(long last)
{
	json_auto_t *accepted = scored_record(kjson_str(standing.linear, "accepted"));
	struct kends e;

	kends_find(last, kjson_int(standing.linear, "drafts"), accepted, &e);
	return e;
}

char *
linear_stop(long last)
{
	/* Stagnation alone ends nothing: only a patience that the user has set does. */
	long patience = kjson_path(kcamp.json, "stop.patience") ? kcamp_int("stop.patience") : 0;
	struct kends e = find_ends(last);

	if (!e.reason && patience && standing.stale >= patience && last >= MIN_TRIALS)
		e.reason = kasprintf(
		    "over: none of the last %ld rounds was kept (stop.patience)", standing.stale);
	return e.reason;
}

/* Text in lines of at most 80 bytes, those after the first indented. */
static void
add_wrapped(const char *text, size_t indent)
{
	size_t column = indent;

	while (*text) {
		size_t n = strcspn(text, " "), gap = column > indent;

		if (gap && column + 1 + n > COLUMNS) {
			tell("\n%*s", (int)indent, "");
			column = indent;
			gap = 0;
		}
		tell("%s%.*s", gap ? " " : "", (int)n, text);
		column += gap + n;
		text += n;
		text += strspn(text, " ");
	}
	tell("\n");
}

static void
add_record_line(long trial, size_t indent)
{
	json_auto_t *record = scored_record(kshown("%03ld/%02d", trial, trial > 0));

	add_wrapped(kjson_str_or(record, "score.decision.line", "no decision"), indent);
}

void
linear_trial(long trial)
{
	add_record_line(trial, 0);
	tell("  last accepted %s", kjson_str_or(standing.linear, "accepted", "?"));
	if (standing.best)
		tell(": %s over the baseline, %.4g %s",
		    kchain_text(&standing.speedup, standing.provisional),
		    kcamp_shown(standing.runtime_ms), kcamp_unit());
	tell("; %zu of %ld rounds kept\n",
	    json_array_size(json_object_get(standing.linear, "chain")), trial + 1);
}

/* "000/00 > 002/01 > 003/01", the oldest left out when there are many. */
static void
add_chain(const json_t *chain)
{
	enum { SHOWN = 5 };
	size_t n = json_array_size(chain);

	for (size_t i = n > SHOWN ? n - SHOWN : 0; i < n; i++)
		tell("%s%s", i == 0 ? "" : i == n - SHOWN ? "... > " : " > ", kjson_item(chain, i));
}

void
linear_status(long last)
{
	long streak = kjson_int(standing.linear, "streak");
	struct kends e = find_ends(last);

	if (standing.linear) {
		tell("chain    ");
		add_chain(json_object_get(standing.linear, "chain"));
		tell("\nstreak   %ld rollback%s in a row; next: %s%s\n", streak,
		    streak == 1 ? "" : "s", streak ? klinear_escalation(streak) : "continue",
		    streak >= KLINEAR_STAGNATION ? ", with a review" : "");
		tell("last     ");
		add_record_line(last, 9);
	}
	tell("stop    ");
	for (size_t i = 0; i < KENDS; i++)
		tell(" T%zu %s %s%s", i + 1, kends_texts[i].name, e.at[i].holds ? "true" : "false",
		    i + 1 < KENDS ? "," : "\n");
	kends_free(&e);
}

/* A round is closed when its views exist; before that, nothing of a later round may exist. */
static void
need_file(long trial, const char *name)
{
	const char *path = kplace_trial(trial, name);

	if (!kis_there(path))
		kdie_usage("round %ld is not closed (%s is missing); "
		           "run `kcampaign views` before round %ld",
		    trial + 1, path, trial + 2);
}

void
linear_closed(long last)
{
	const char *path = fact_path(last + 2, 1, KFACT_SAMPLE);

	for (long t = 0; t <= last; t++) {
		need_file(t, "score.ndjson");
		need_file(t, "archive.ndjson");
	}
	if (kis_there(path))
		kdie_usage("round %ld has begun, but round %ld is not closed (%s). If round %ld is "
		           "evaluated, run `kcampaign views`; otherwise remove trials/%03ld",
		    last + 3, last + 2, path, last + 2, last + 2);
}
