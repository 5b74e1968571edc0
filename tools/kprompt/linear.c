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

/* Text that models wrote, as a data block; an empty string when there is none. */
static json_t *
data_block(struct kbuf *b, const char *what, const char *salt)
{
	auto_buf struct kbuf block = { 0 };
	json_t *text;

	if (b->len)
		kfence_data(&block, b->data, what, salt);
	text = json_string(block.data ? block.data : "");
	kbuf_free(b);
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
				kbuf_printf(
				    &b, "  %s: %s\n", said[k], kjson_str_or(one, said[k], ""));
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
		kbuf_printf(&b, "round %lld (%s): %s: %s\n",
		    (long long)kjson_int_or(one, "round", 0), kjson_str_or(one, "code", "?"),
		    kjson_str_or(one, "category", "?"), kjson_str_or(one, "change", "?"));
	return data_block(&b, "directions that did not help", salt);
}

json_t *
application_text(const json_t *sample, const char *salt)
{
	struct kbuf b = { 0 };
	size_t i;
	json_t *one;

	json_array_foreach(json_object_get(sample, "application"), i, one)
		kbuf_printf(&b, "program %s: %s\n", kjson_str_or(one, "id", "?"),
		    kjson_str_or(one, "why", "?"));
	return data_block(&b, "failures in the application", salt);
}

static void
put_missing(struct kbuf *b, const json_t *evidence, const char *key, const char *what)
{
	const char *why = kjson_str_or(evidence, key, NULL);

	if (why)
		kbuf_printf(b, "%s: not available: %s\n", what, why);
}

/* "4096x1024: 1.250 ms; reference 3.000 ms; openblas 0.900 ms" for each timed workload. */
static void
put_known(struct kbuf *b, const struct campaign *c, const json_t *rows)
{
	const char *unit;

	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);

		double accepted =
		           kcamp_shown(c->camp, kjson_num_or(row, "accepted_ns", 0) / 1e6, &unit),
		       reference =
		           kcamp_shown(c->camp, kjson_num_or(row, "reference_ns", 0) / 1e6, &unit),
		       best = kcamp_shown(c->camp, kjson_num_or(row, "best_ns", 0) / 1e6, &unit);

		kbuf_printf(b, "%s: %.4g %s; reference %.4g %s", kjson_str_or(row, "workload", "?"),
		    accepted, unit, reference, unit);
		if (kjson_str_or(row, "best", NULL))
			kbuf_printf(b, "; %s %.4g %s", kjson_str_or(row, "best", "?"), best, unit);
		kbuf_puts(b, "\n");
	}
}

static void
put_instructions(struct kbuf *b, const json_t *isa, size_t max)
{
	const json_t *mix = json_object_get(isa, "mix");
	auto_free char *part = kfence_shorten(kjson_str_or(isa, "text", ""), max);

	kbuf_printf(b, "instructions (%s), how many of each in the whole program:\n",
	    kjson_str_or(isa, "tool", "?"));
	for (size_t i = 0; i < json_array_size(mix); i++)
		kbuf_printf(b, "%s %lld\n", kjson_str_or(json_array_get(mix, i), "op", "?"),
		    (long long)kjson_int_or(json_array_get(mix, i), "count", 0));
	kbuf_printf(b, "\n%s\n", part);
}

/*
 * Measurements of the last accepted program that were made because rounds failed in a row; its
 * profile is shown as the parent's.
 */
static json_t *
evidence_text(const struct campaign *c, const json_t *sample, const char *salt)
{
	const json_t *evidence = json_object_get(sample, "evidence"),
	             *isa = json_object_get(evidence, "isa");
	struct kbuf b = { 0 };

	put_missing(&b, evidence, "profile_missing", "fresh profile");
	put_missing(&b, evidence, "isa_missing", "instructions");
	put_missing(&b, evidence, "sota_missing", "comparison with known kernels");
	put_known(&b, c, json_object_get(evidence, "sota"));
	if (isa)
		put_instructions(&b, isa, LOG_CHARS);
	return data_block(&b, "evidence", salt);
}

/* The files of the notes in the prompt, each once. */
static json_t *
note_names(const json_t *facts)
{
	json_auto_t *shown = knowledge_member(facts);
	json_t *names = json_array(), *one;
	json_auto_t *seen = json_object();
	size_t i;

	json_array_foreach(shown, i, one) {
		const char *file = kjson_str_or(one, "file", "?");

		if (json_object_get(seen, file))
			continue;
		json_object_set_new(seen, file, json_true());
		json_array_append_new(names, json_pack("{s:s}", "name", file));
	}
	return names;
}

void
linear_facts(
    json_t *facts, const struct campaign *c, const json_t *sample, json_t *last, const char *salt)
{
	json_t *round;

	if (!kcamp_linear(c->camp)) {
		json_decref(last);
		return;
	}
	round = json_pack("{s:I,s:b,s:o,s:o,s:o,s:o,s:{s:b}}", "number",
	    kjson_int_or(sample, "round", 0), "stagnation",
	    kjson_bool_or(sample, "stagnation", false), "so_far", history_text(sample, salt),
	    "refuted", ineffective_text(sample, salt), "evidence", evidence_text(c, sample, salt),
	    "last", last ? last : json_false(), "escalation",
	    kjson_str_or(sample, "escalation", "none"), 1);
	json_object_set_new(
	    round, "stalled", json_boolean(kjson_int_or(sample, "streak", 0) >= KPLAN_STALL));
	json_object_set_new(round, "notes", note_names(facts));
	json_object_set_new(facts, "round", round);
}
