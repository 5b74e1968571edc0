/* SPDX-License-Identifier: Apache-2.0 */
/* kprompt: the parts of a prompt for the linear search: its rules, and the earlier rounds. */
#include "kprompt.h"

#include "kfence.h"
#include "klinear.h"
#include "kplan.h"

/* A share as a percentage without trailing zeros: "5", "2.5". */
static json_t *
percent(double share)
{
	return json_sprintf("%.4g", 100 * share);
}

void
linear_rules(json_t *stable, const struct kcamp *camp)
{
	json_t *rules;

	if (!kcamp_linear(camp))
		return;
	rules = json_pack("{s:o,s:o,s:o,s:o,s:I,s:b}", "core_pct", percent(KLINEAR_CORE_REGRESSION),
	    "borderline_pct", percent(KLINEAR_BORDERLINE), "noise_pct", percent(KLINEAR_NEAR_NOISE),
	    "min_mean_pct", percent(KLINEAR_MIN_MEAN), "repeats", (json_int_t)KLINEAR_REPEATS,
	    "independent", !strcmp(kcamp_str(camp, "linear.metric"), "independent"));
	json_object_set_new(stable, "linear", rules);
}

/*
 * Measurements of the last accepted program that were made because rounds failed in a row; its
 * profile is shown as the parent's.
 */
static json_t *
evidence_text(const json_t *sample, const char *salt)
{
	const json_t *evidence = json_object_get(sample, "evidence");
	auto_free char *listing = kfence_shorten(kjson_str(evidence, "isa.text"), LOG_CHARS);
	auto_buf struct kbuf b = { 0 };

	data_fill(&b, "evidence", evidence);
	kbuf_puts(&b, listing);
	return data_text(b.data, "evidence", salt);
}

/* The files of the notes in the prompt, each once. */
static json_t *
note_names(const json_t *facts)
{
	json_auto_t *shown = knowledge_member(facts);
	json_t *names = json_array();

	kjson_foreach(one, shown)
		if (!kjson_find(names, "name", kjson_str_or(one, "file", "?")))
			json_array_append_new(
			    names, json_pack("{s:s}", "name", kjson_str_or(one, "file", "?")));
	return names;
}

void
linear_facts(json_t *facts, const json_t *sample, json_t *last, const char *salt)
{
	json_t *round;

	if (!kcamp_linear(campaign.camp)) {
		json_decref(last);
		return;
	}
	round = json_pack("{s:I,s:b,s:o,s:o,s:o,s:o,s:{s:b},s:b,s:o}", "number",
	    kjson_int(sample, "round"), "stagnation", kjson_bool(sample, "stagnation"), "so_far",
	    data_filled("rounds", sample, "rounds so far", salt), "refuted",
	    data_filled("ineffective", sample, "directions that did not help", salt), "evidence",
	    evidence_text(sample, salt), "last", last ? last : json_false(), "escalation",
	    kjson_str_or(sample, "escalation", "none"), 1, "stalled",
	    kjson_int(sample, "streak") >= KPLAN_STALL, "notes", note_names(facts));
	json_object_set_new(facts, "round", round);
}
