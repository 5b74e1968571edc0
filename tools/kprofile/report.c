/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: applies the rules to one launch; views/profile.jq makes the object with the results.
 */
#include "kjq.h"
#include "kprofile.h"

static json_t *
bottleneck(void)
{
	const json_t *table = json_object_get(profile.table, "bottleneck");
	json_t *tags = json_array();
	json_auto_t *missing = json_array();
	const char *label = NULL;
	auto_free char *shown = NULL;
	bool unknown = false;

	values.missing = missing;
	kjson_foreach(row, table, "labels") {
		enum truth t =
		    label || unknown ? NO : values_all(json_object_get(row, "when"), NULL);

		/* If a label cannot be decided, every label after it would be a guess. */
		unknown |= t == UNKNOWN;
		if (t == YES)
			label = kjson_str_or(row, "label", "?");
	}
	values.missing = NULL;
	kjson_foreach(row, table, "tags")
		if (label && values_all(json_object_get(row, "when"), NULL) == YES)
			json_array_append(tags, json_object_get(row, "tag"));
	if (label || !json_array_size(missing))
		shown = values_fill(kjson_str(table, "text"));
	return json_pack("{s:s,s:o,s:s*,s:O*}", "label", label ?: "unknown", "tags", tags, "shown",
	    shown, "missing", label ? NULL : missing);
}

/* The values on which the rule is based: all that its conditions or its text use. */
static json_t *
measured(const json_t *rule)
{
	json_t *o = json_object();

	kjson_foreach_text(c, rule, "when")
		values_used(c, false, o);
	values_used(kjson_str(rule, "finding"), true, o);
	return o;
}

static json_t *
finding(const json_t *rule, double margin)
{
	auto_free char *text = values_fill(kjson_str(rule, "finding"));

	return json_pack("{s:O,s:O,s:f,s:o,s:s,s:s,s:O*}", "id", json_object_get(rule, "id"),
	    "severity", json_object_get(rule, "severity"), "margin", margin, "measured",
	    measured(rule), "text", text, "action", kjson_str(rule, "action"), "skill",
	    json_object_get(rule, "skill"));
}

/*
 * Every rule is tried; a rule whose metrics are absent is reported as such, not taken for unmet.
 */
static void
try_rules(json_t *findings, json_t *not_evaluable)
{
	kjson_foreach(rule, profile.table, "rules") {
		json_auto_t *missing = json_array();
		double margin = 0;
		enum truth t;

		if (!kis_one_of("low medium high", kjson_str(rule, "severity")))
			kdie_usage("%s: rule %s: severity must be low, medium or high",
			    profile.where, kjson_str_or(rule, "id", "?"));
		values.missing = missing;
		t = values_all(json_object_get(rule, "when"), &margin);
		values.missing = NULL;
		if (t == YES && json_object_get(rule, "unless") &&
		    values_all(json_object_get(rule, "unless"), NULL) == YES)
			t = NO;
		if (t == YES)
			json_array_append_new(findings, finding(rule, margin));
		if (t == UNKNOWN)
			kjson_append(not_evaluable, "{s:s,s:O}", "id", kjson_str(rule, "id"),
			    "missing", missing);
	}
}

json_t *
report(const json_t *launch, const json_t *kernels)
{
	json_t *findings = json_array(), *not_evaluable = json_array();
	json_auto_t *in = NULL;

	values_open(launch);
	try_rules(findings, not_evaluable);
	kjson_foreach(value, profile.table, "values")
		values_get(kjson_str(value, "name"));
	in = json_pack("{s:O,s:s,s:O,s:O,s:O,s:o,s:O,s:O,s:o,s:o,s:O,s:O}", "launch", launch,
	    "source", profile.source, "formats", profile.formats, "files", profile.files, "kernels",
	    kernels, "bottleneck", bottleneck(), "table", profile.table, "values", values.memo,
	    "findings", findings, "not_evaluable", not_evaluable, "unreliable", values.unreliable,
	    "notes", profile.notes);
	return kjq("views/profile.jq", in);
}
