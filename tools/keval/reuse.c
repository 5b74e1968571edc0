/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does an apparent gain exist on buffers that nobody has seen before? The harness measures the
 * candidate on new buffers and on the same ones in turns. A candidate that gains from the latter is
 * measured once more, next to the program that it is compared with: what both gain comes from warm
 * caches, and a gap due to chance does not appear twice.
 */

#include "keval.h"

/*
 * Faster, by more than the noise, than the incumbent or the reference that it was raced with. If it
 * was raced with a baseline, separate times tell whether it beats the reference, PAST.
 */
static bool
would_gain(const json_t *past)
{
	const json_t *timing = json_object_get(eval, "timing");
	const json_t *pairs = json_object_get(eval, "pairs");
	json_auto_t *rows = kgain_rows_like(json_object_get(past, "timing"), timing);
	auto_free char *fault = NULL;
	double ratio, low;

	if (kgain_pairs(pairs, "incumbent", timing, &ratio, &low) ||
	    kgain_pairs(pairs, "reference", timing, &ratio, &low))
		return low > 1;
	fault = kgain_speedup(rows, timing, &ratio);
	return fault || ratio > 1;
}

static bool
is_wanted(const json_t *past)
{
	const char *knob = kcamp_str("eval.reuse");

	if (subject->trusted || keval.rivals || !strcmp(knob, "off") ||
	    status_at(eval, "status") != STATUS_CORRECT || !json_object_get(eval, "timing"))
		return false;
	return !strcmp(knob, "on") || (past && would_gain(past));
}

/* A row whose gap is above the limit, and above its own noise. */
static bool
is_suspect(const json_t *rows)
{
	return kany(kjson_foreach(row, rows),
	    kjson_num(row, "gap_pct") > 100 * KGAIN_REUSE_GAP && kjson_num(row, "low_pct") > 0);
}

static void
take(const json_t *answer, const char *rival_id)
{
	const json_t *rival = kjson_find(json_object_get(answer, "candidates"), "name", "rival");

	kjson_pick(eval, harness_candidate(answer), "reuse", "trace");
	if (json_object_get(rival, "reuse"))
		kjson_set(eval, "reuse_against",
		    json_pack(
		        "{s:s,s:O}", "id", rival_id, "rows", json_object_get(rival, "reuse")));
}

void
time_reuse(const char *so)
{
	const char *id = subject->incumbent ?: KARCH_REFERENCE;
	json_auto_t *past = past_eval(id);
	json_t *answer = NULL;

	/* Wrong only now: when the same call is repeated, or after the weights have changed. */
	if (is_wanted(past))
		answer = harness_beside(so, NULL, true);
	if (answer && is_suspect(json_object_get(harness_candidate(answer), "reuse"))) {
		auto_free char *rival = past ? incumbent_so(past) : NULL,
		               *against = rival ? kasprintf("rival=%s", rival) : NULL;

		json_decref(answer);
		answer = harness_beside(so, against, true);
	}
	if (answer)
		take(answer, id);
	json_decref(answer);
}
