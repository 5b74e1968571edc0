/* SPDX-License-Identifier: Apache-2.0 */
/* kprofile: applies the rules to one launch, and makes the object with the results. */
#include "kprofile.h"

enum { TOP_STALLS = 5 };

static const char *const severities[] = { "low", "medium", "high" };

static int
rank_of(const json_t *rule)
{
	size_t i = kindex_of(kjson_str(rule, "severity"), severities, LEN(severities));

	return i == LEN(severities) ? -1 : (int)i;
}

/* The groups with all values that are known. */
static json_t *
metrics(void)
{
	json_t *groups = json_object();

	kjson_foreach(value, json_object_get(profile.table, "values")) {
		const char *name = kjson_str(value, "name"), *group = kjson_str(value, "group");
		double x = values_get(name);
		json_t *g = json_object_get(groups, group);

		if (isnan(x) || !*group)
			continue;
		if (!g)
			json_object_set_new(groups, group, g = json_object());
		json_object_set_new(
		    g, name, json_pack("{s:f,s:s}", "value", x, "unit", kjson_str(value, "unit")));
	}
	return groups;
}

static int
by_fraction(const void *x, const void *y)
{
	double a = kjson_num(*(json_t *const *)x, "fraction"),
	       b = kjson_num(*(json_t *const *)y, "fraction");

	return a < b ? 1 : a > b ? -1 : 0;
}

/* Why warps wait, as shares of the time between two instructions of a warp. */
static json_t *
stalls(void)
{
	json_t *out = json_array();

	kjson_foreach(value, json_object_get(profile.table, "values")) {
		const char *name = kjson_str(value, "name"),
		           *reason = kjson_str_or(value, "reason", NULL);
		double x = reason ? values_get(name) : NAN;

		if (!isnan(x) && x > 0)
			json_array_append_new(
			    out, json_pack("{s:s,s:f}", "reason", reason, "fraction", x));
	}
	kjson_sort(out, by_fraction);
	while (json_array_size(out) > TOP_STALLS)
		json_array_remove(out, TOP_STALLS);
	return out;
}

static json_t *
bottleneck(void)
{
	const json_t *table = json_object_get(profile.table, "bottleneck");
	json_t *o = json_object(), *tags = json_array();
	json_auto_t *missing = json_array();
	const char *label = NULL;
	auto_buf struct kbuf text = { 0 };
	bool unknown = false;

	values.missing = missing;
	kjson_foreach(row, json_object_get(table, "labels")) {
		enum truth t =
		    label || unknown ? NO : values_all(json_object_get(row, "when"), NULL);

		/* If a label cannot be decided, every label after it would be a guess. */
		unknown |= t == UNKNOWN;
		if (t == YES)
			label = kjson_str_or(row, "label", "?");
	}
	values.missing = NULL;
	kbuf_puts(&text, label ? label : "unknown");
	json_object_set_new(o, "label", json_string(label ? label : "unknown"));
	kjson_foreach(row, json_object_get(table, "tags"))
		if (label && values_all(json_object_get(row, "when"), NULL) == YES) {
			json_array_append(tags, json_object_get(row, "tag"));
			kbuf_printf(&text, ", %s", kjson_str_or(row, "tag", "?"));
		}
	if (label || !json_array_size(missing)) {
		auto_free char *shown = values_fill(kjson_str(table, "text"));

		kbuf_printf(&text, " (%s)", shown);
	}
	json_object_set_new(o, "tags", tags);
	json_object_set_new(o, "text", json_string(text.data));
	if (!label)
		json_object_set(o, "missing", missing);
	return o;
}

/* The values on which the rule is based: all that its conditions or its text use. */
static json_t *
measured(const json_t *rule)
{
	json_t *o = json_object();

	kjson_foreach(c, json_object_get(rule, "when"))
		values_used(json_string_value(c), false, o);
	values_used(kjson_str(rule, "finding"), true, o);
	return o;
}

static json_t *
finding(const json_t *rule, double margin)
{
	auto_free char *text = values_fill(kjson_str(rule, "finding"));
	json_t *o = json_pack("{s:s,s:s,s:f,s:o,s:s,s:s}", "id", kjson_str(rule, "id"), "severity",
	    kjson_str(rule, "severity"), "margin", margin, "measured", measured(rule), "text", text,
	    "action", kjson_str(rule, "action"));
	const char *skill = kjson_str_or(rule, "skill", NULL);

	if (skill)
		json_object_set_new(o, "skill", json_string(skill));
	return o;
}

static int
by_severity(const void *x, const void *y)
{
	const json_t *a = *(json_t *const *)x, *b = *(json_t *const *)y;
	int d = rank_of(b) - rank_of(a);
	double ma = kjson_num(a, "margin"), mb = kjson_num(b, "margin");

	return d ? d : ma < mb ? 1 : ma > mb ? -1 : strcmp(kjson_str(a, "id"), kjson_str(b, "id"));
}

/* Every rule is tried; a rule whose metrics are absent is reported as such, not taken for unmet. */
static json_t *
findings(json_t *not_evaluable)
{
	json_t *out = json_array();

	kjson_foreach(rule, json_object_get(profile.table, "rules")) {
		json_auto_t *missing = json_array();
		double margin = 0;
		enum truth t;

		if (rank_of(rule) < 0)
			kdie(K_USAGE, "%s: rule %s: severity must be low, medium or high",
			    profile.where, kjson_str_or(rule, "id", "?"));
		values.missing = missing;
		t = values_all(json_object_get(rule, "when"), &margin);
		values.missing = NULL;
		if (t == YES && json_object_get(rule, "unless") &&
		    values_all(json_object_get(rule, "unless"), NULL) == YES)
			t = NO;
		if (t == YES)
			json_array_append_new(out, finding(rule, margin));
		if (t == UNKNOWN)
			json_array_append_new(not_evaluable,
			    json_pack(
			        "{s:s,s:O}", "id", kjson_str(rule, "id"), "missing", missing));
	}
	kjson_sort(out, by_severity);
	return out;
}

static json_t *
launch_facts(const struct launch *l)
{
	json_t *o = json_copy(l->facts);
	double ns = values_get("duration_ns");

	json_object_set_new(o, "id", json_string(l->id));
	if (!isnan(ns))
		json_object_set_new(o, "duration_ns", json_real(ns));
	return o;
}

json_t *
report(const struct launch *l, const json_t *kernels)
{
	json_t *o, *not_evaluable = json_array(), *found, *cross, *advice,
	           *notes = json_copy(profile.notes), *mark;
	const char *name;

	values_open(l);
	found = findings(not_evaluable);
	advice = vendor_report(l, profile.table, found, &cross);
	o = json_pack("{s:s,s:s,s:O,s:O,s:s,s:O,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema",
	    "profile/1", "source", profile.source, "formats", profile.formats, "files",
	    profile.files, "kernel", l->kernel, "kernels", kernels, "launch", launch_facts(l),
	    "bottleneck", bottleneck(), "metrics", metrics(), "stalls", stalls(), "findings", found,
	    "not_evaluable", not_evaluable, "recommendations", advice, "cross_check", cross);
	json_object_foreach(values.unreliable, name, mark)
		json_array_append_new(notes,
		    json_sprintf("%s: not used, because the profiler marks it as doubtful", name));
	json_object_set_new(o, "notes", notes);
	return o;
}
