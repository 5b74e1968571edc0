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
linear_rules(void)
{
	if (kcamp_linear())
		put("linear",
		    json_pack("{s:o,s:o,s:o,s:o,s:I,s:b}", "core_pct",
		        percent(KLINEAR_CORE_REGRESSION), "borderline_pct",
		        percent(KLINEAR_BORDERLINE), "noise_pct", percent(KLINEAR_NEAR_NOISE),
		        "min_mean_pct", percent(KLINEAR_MIN_MEAN), "repeats",
		        (json_int_t)KLINEAR_REPEATS, "independent",
		        kcamp_is("linear.metric", "independent")));
}

/*
 * Measurements of the last accepted program that were made because rounds failed in a row; its
 * profile is shown as the parent's.
 */
static json_t *
evidence_text(void)
{
	const json_t *evidence = json_object_get(sample, "evidence");
	auto_free char *listing = kfence_shorten(kjson_str(evidence, "isa.text"), LOG_CHARS);
	auto_buf struct kbuf b = { 0 };

	data_fill(&b, "evidence", evidence);
	kbuf_puts(&b, listing);
	return data_text(b.data, "evidence");
}

/* The files of the notes in the prompt, each once. */
static json_t *
note_names(void)
{
	json_auto_t *shown = knowledge_member();
	json_t *names = json_array();

	kjson_foreach(one, shown)
		if (!kjson_find(names, "name", kjson_str_or(one, "file", "?")))
			kjson_append(names, "{s:s}", "name", kjson_str_or(one, "file", "?"));
	return names;
}

void
linear_facts(json_t *last)
{
	if (!kcamp_linear()) {
		json_decref(last);
		return;
	}
	put("round",
	    json_pack("{s:I,s:b,s:o,s:o,s:o,s:o,s:{s:b},s:b,s:o}", "number",
	        (json_int_t)kjson_int(sample, "round"), "stagnation",
	        kjson_bool(sample, "stagnation"), "so_far", data_filled("rounds", "rounds so far"),
	        "refuted", data_filled("ineffective", "directions that did not help"), "evidence",
	        evidence_text(), "last", last ?: json_false(), "escalation",
	        kjson_str_or(sample, "escalation", "none"), 1, "stalled",
	        kjson_int(sample, "streak") >= KPLAN_STALL, "notes", note_names()));
}
