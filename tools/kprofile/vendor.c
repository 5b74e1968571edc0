/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: recommendations of the vendor's tool, compared with our findings. The topic of a rule
 * is identified by its name (or, on the text page, by its section), because the prose differs
 * between releases; only the reason of a stall is given in the prose alone.
 */
#include "kprofile.h"

#include "kfence.h"
#include "kregex.h"

enum { KEPT = 12, CHARS = 400, HEAD = 60 };

void
vendor_add(struct launch *l, const char *rule, const char *section, const char *type,
    const char *text, const char *scope, const char *percent)
{
	auto_free char *line = kfence_line(text, CHARS);
	json_t *o = json_pack("{s:o,s:o,s:o,s:s}", "rule", kjson_string(rule), "section",
	    kjson_string(section), "type", kjson_string(type), "text", line);
	double v;

	if (number_read(percent, &v))
		json_object_set_new(o, "speedup",
		    json_pack("{s:s,s:f}", "scope", !strcmp(scope, "local") ? "local" : "global",
		        "percent", v));
	json_array_append_new(l->advice, o);
}

/* Ids of our rules about the same topic. */
static json_t *
topics(const json_t *table, const json_t *advice)
{
	const char *rule = kjson_str(advice, "rule"), *section = kjson_str(advice, "section"),
	           *text = kjson_str(advice, "text");
	json_t *out = json_array();

	kjson_foreach(row, json_object_get(table, "vendor")) {
		const char *name = kjson_str(row, "rule"), *word = kjson_str_or(row, "text", NULL);
		bool same = *rule ? !strcmp(rule, name)
		                  : !strcmp(section, kjson_str_or(row, "section", "-"));

		if (same && (!word || strstr(text, word)))
			kjson_foreach(id, json_object_get(row, "ids"))
				json_array_append(out, id);
	}
	return out;
}

static int
type_rank(const json_t *a)
{
	const char *type = kjson_str(a, "type");

	return !strcmp(type, "OPT") ? 0 : !strcmp(type, "WRN") ? 1 : 2;
}

/*
 * Estimates for the whole kernel first, then those for one unit, in descending order; then those
 * without an estimate.
 */
static int
order(const void *x, const void *y)
{
	const json_t *a = *(const json_t *const *)x, *b = *(const json_t *const *)y;
	double pa = kjson_num_or(a, "speedup.percent", -1),
	       pb = kjson_num_or(b, "speedup.percent", -1);
	int sa = pa < 0 ? 2 : kjson_is(a, "speedup.scope", "local"),
	    sb = pb < 0 ? 2 : kjson_is(b, "speedup.scope", "local");

	if (sa != sb)
		return sa - sb;
	if (pa < pb || pa > pb)
		return pa < pb ? 1 : -1;
	return type_rank(a) - type_rank(b);
}

/* The same rule and, ignoring digits, the same beginning. */
static bool
same_advice(const json_t *a, const json_t *b)
{
	auto_free char *s = kregex_sub("[\\d.]+", kjson_str(a, "text"), ""),
	               *t = kregex_sub("[\\d.]+", kjson_str(b, "text"), "");

	return !strcmp(kjson_str(a, "rule"), kjson_str(b, "rule")) && !strncmp(s, t, HEAD);
}

static void
append_new_name(json_t *list, const char *name)
{
	if (!kjson_has(list, name))
		json_array_append_new(list, json_string(name));
}

/* "agrees", "only_vendor", or "info" for remarks that recommend nothing. */
static void
judge(json_t *advice, const json_t *table, const json_t *findings, json_t *agrees,
    json_t *only_vendor)
{
	json_t *matches = topics(table, advice);
	const char *rule = kjson_str(advice, "rule"), *verdict = "only_vendor";

	for (size_t i = json_array_size(matches); i-- > 0;)
		if (!kjson_find(findings, "id", json_string_value(json_array_get(matches, i))))
			json_array_remove(matches, i);
	if (type_rank(advice) == 2) {
		verdict = "info";
	} else if (json_array_size(matches)) {
		verdict = "agrees";
		kjson_foreach(match, matches)
			append_new_name(agrees, json_string_value(match));
	} else {
		append_new_name(only_vendor, *rule ? rule : kjson_str_or(advice, "section", "?"));
	}
	json_object_set_new(advice, "verdict", json_string(verdict));
	json_object_set_new(advice, "matches", matches);
}

json_t *
vendor_report(const struct launch *l, const json_t *table, const json_t *findings, json_t **cross)
{
	json_t *out = json_array(), *agrees = json_array(), *only_vendor = json_array(),
	       *only_ours = json_array(), *f;
	size_t i, kept = 0;

	kjson_sort(l->advice, order);
	json_array_foreach(l->advice, i, f) {
		bool twice = false;

		for (size_t k = 0; k < i && !twice; k++)
			twice = same_advice(json_array_get(l->advice, k), f);
		if (twice)
			continue;
		judge(f, table, findings, agrees, only_vendor);
		if (kept++ < KEPT)
			json_array_append(out, f);
	}
	kjson_foreach(ours, findings)
		if (json_array_size(l->advice) && !kjson_has(agrees, kjson_str(ours, "id")))
			append_new_name(only_ours, kjson_str(ours, "id"));
	*cross = json_pack(
	    "{s:o,s:o,s:o}", "agrees", agrees, "only_vendor", only_vendor, "only_ours", only_ours);
	return out;
}
