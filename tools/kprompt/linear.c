/* SPDX-License-Identifier: Apache-2.0 */
/* kprompt: what a prompt of the linear search says: its rules, and the rounds so far. */
#include "kprompt.h"

#include <math.h>
#include <string.h>

#include "kfence.h"

/* A share as a percentage without a tail of zeros: "5", "2.5". */
static json_t *
percent(const struct kcamp *camp, const char *knob)
{
	return json_sprintf("%.4g", 100 * kcamp_num(camp, knob));
}

void
linear_rules(json_t *stable, const struct kcamp *camp)
{
	json_t *rules;

	if (!kcamp_linear(camp))
		return;
	rules = json_pack("{s:o,s:o,s:o,s:o,s:I,s:b}", "core_pct", percent(camp, "linear.core_regression"),
	    "borderline_pct",
	    percent(camp, "linear.borderline"), "noise_pct", percent(camp, "linear.noise"), "min_mean_pct",
	    percent(camp, "linear.min_mean"), "repeats", (json_int_t)kcamp_int(camp, "linear.repeats"), "independent",
	    !strcmp(kcamp_str(camp, "linear.metric"), "independent"));
	json_object_set_new(stable, "linear", rules);
}

/* Text that models wrote, as a data block; an empty string when there is none. */
static json_t *
data_block(struct kbuf *b, const char *what, const char *salt)
{
	struct kbuf block = { 0 };
	json_t *text;

	if (b->len)
		kfence_data(&block, b->data, what, salt);
	text = json_string(block.data ? block.data : "");
	kbuf_free(b);
	kbuf_free(&block);
	return text;
}

static json_t *
history_text(const json_t *sample, const char *salt)
{
	static const char *const said[] = { "hypothesis", "change" };
	struct kbuf b = { 0 };
	size_t i;
	json_t *one;

	json_array_foreach(json_object_get(sample, "rounds"), i, one) {
		kbuf_printf(&b, "%s\n", kjson_str_or(one, "line", "?"));
		if (json_object_get(one, "category"))
			kbuf_printf(&b, "  kind: %s, %s\n", kjson_str_or(one, "category", "?"),
			    kjson_str_or(one, "bucket", "?"));
		for (size_t k = 0; k < LEN(said); k++)
			if (json_object_get(one, said[k]))
				kbuf_printf(&b, "  %s: %s\n", said[k], kjson_str_or(one, said[k], ""));
	}
	return data_block(&b, "rounds so far", salt);
}

static json_t *
ineffective_text(const json_t *sample, const char *salt)
{
	struct kbuf b = { 0 };
	size_t i;
	json_t *one;

	json_array_foreach(json_object_get(sample, "ineffective"), i, one)
		kbuf_printf(&b, "round %lld (%s): %s: %s\n", (long long)kjson_int_or(one, "round", 0),
		    kjson_str_or(one, "code", "?"),
		    kjson_str_or(one, "category", "?"), kjson_str_or(one, "change", "?"));
	return data_block(&b, "directions that did not help", salt);
}

void
linear_facts(json_t *facts, const struct kcamp *camp, const json_t *sample, json_t *last, const char *salt)
{
	json_t *round;

	if (!kcamp_linear(camp)) {
		json_decref(last);
		return;
	}
	round = json_pack("{s:I,s:b,s:o,s:o,s:o,s:{s:b}}", "number", kjson_int_or(sample, "round", 0), "stagnation",
	    kjson_bool_or(sample, "stagnation", false), "so_far", history_text(sample, salt), "refuted",
	    ineffective_text(sample, salt), "last", last ? last : json_false(), "escalation",
	    kjson_str_or(sample, "escalation", "none"), 1);
	json_object_set_new(facts, "round", round);
}
