/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a would-be gain there on buffers that nobody has seen before? The harness measures the
 * candidate on new buffers and on the same ones in turns. A candidate that gains from the latter is
 * measured once more, beside the program that it is compared with: what both gain is warmth, and a
 * gap that chance made does not come twice.
 */
#include <math.h>

#include "keval.h"
#include "kgain.h"

/*
 * Faster, beyond the noise, than the incumbent or the reference that it was raced with. Of one that
 * was raced with a baseline, times measured apart say whether it beats the reference, PAST.
 */
static bool
would_gain(const json_t *past, const json_t *eval)
{
	const json_t *timing = json_object_get(eval, "timing");
	const json_t *pairs = json_object_get(eval, "pairs");
	double ratio, low;
	json_t *rows;
	char *fault;

	if (kgain_pairs(pairs, "incumbent", timing, &ratio, &low) ||
	    kgain_pairs(pairs, "reference", timing, &ratio, &low))
		return low > 1;
	rows = kgain_rows_like(json_object_get(past, "timing"), timing);
	fault = kgain_speedup(rows, timing, &ratio);
	json_decref(rows);
	if (fault)
		ratio = INFINITY;
	free(fault);
	return ratio > 1;
}

static bool
is_wanted(const struct keval *k, const struct subject *s, const json_t *past, const json_t *eval)
{
	const char *knob = kcamp_str(k->camp, "eval.reuse");

	if (s->trusted || k->rivals || !strcmp(knob, "off") ||
	    status_at(eval, "status") != STATUS_CORRECT || !json_object_get(eval, "timing"))
		return false;
	return !strcmp(knob, "on") || (past && would_gain(past, eval));
}

/* A row whose gap is above the limit, and above its own noise. */
static bool
is_suspect(const json_t *rows)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
		if (kjson_num_or(row, "gap_pct", 0) > 100 * KGAIN_REUSE_GAP &&
		    kjson_num_or(row, "low_pct", 0) > 0)
			return true;
	return false;
}

/*
 * One run, beside RIVAL (a shared object) unless it is NULL; its answer, new reference, or NULL
 * when the candidate failed in it, which then stands in EVAL.
 */
static json_t *
run_once(const struct keval *k, const char *so, const char *oracle, const char *rival, json_t *eval)
{
	char *pair = rival ? kasprintf("rival=%s", rival) : NULL;
	const char *against[] = { pair, NULL };
	struct harness_run run = { .so = so, .reuse = true, .oracle = oracle, .against = against };
	json_t *answer = harness_run(k, &run);

	add_harness_spent(eval, answer);
	free(pair);
	if (status_at(harness_candidate(answer, "candidate"), "status") == STATUS_CORRECT)
		return answer;
	/*
	 * Caught only now: what stays the same is wrong when it is asked for again, or after the
	 * weights have changed.
	 */
	harness_merge(eval, answer);
	json_decref(answer);
	return NULL;
}

static void
take(json_t *eval, const json_t *answer, const char *rival_id)
{
	const json_t *c = harness_candidate(answer, "candidate"),
	             *rival = kjson_find(json_object_get(answer, "candidates"), "name", "rival");

	kjson_share(eval, c, (const char *const[]){ "reuse", "trace", NULL });
	if (json_object_get(rival, "reuse"))
		eval_set(eval, "reuse_against",
		    json_pack(
		        "{s:s,s:O}", "id", rival_id, "rows", json_object_get(rival, "reuse")));
}

void
time_reuse(struct keval *k, const struct subject *s, const char *so, json_t *eval)
{
	const char *id = s->incumbent ? s->incumbent : "000/00";
	json_t *past = past_eval(k, id), *answer;
	char *oracle, *rival;

	if (!is_wanted(k, s, past, eval)) {
		json_decref(past);
		return;
	}
	oracle = oracle_so(k);
	answer = run_once(k, so, oracle, NULL, eval);
	if (answer &&
	    is_suspect(json_object_get(harness_candidate(answer, "candidate"), "reuse"))) {
		json_decref(answer);
		rival = past ? incumbent_so(k, past) : NULL;
		answer = run_once(k, so, oracle, rival, eval);
		free(rival);
	}
	if (answer)
		take(eval, answer, id);
	json_decref(answer);
	json_decref(past);
	free(oracle);
}
