/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a campaign as one document, with helpers for its groups. See kreport.h. */

#include "kreport.h"
#include "status.h"

json_t *
ratio_json(const struct kgain_ratio *ratio)
{
	json_t *o;

	if (!(ratio->mean > 0))
		return NULL;
	o = json_pack("{s:f,s:f}", "mean", ratio->mean, "low", ratio->low);
	if (isfinite(ratio->high))
		json_object_set_new(o, "high", json_real(ratio->high));
	return o;
}

json_t *
candidate_json(const struct kcandidate *c)
{
	json_t *o = json_copy(c->json), *speed = ratio_json(&c->speedup);

	if (speed && c->provisional)
		json_object_set_new(speed, "provisional", json_true());
	json_object_update_new(o,
	    json_pack("{s:s,s:I,s:s,s:f,s:o*,s:I}", "id", c->id, "trial", (json_int_t)c->trial,
	        "status", status_rows[c->status].name, "ns", c->runtime_ms * 1e6, "speed", speed,
	        "round", kjson_int_or(c->json, "score.decision.round", c->trial + 1)));
	return o;
}

bool
is_cheat(const struct kcandidate *c)
{
	return status_rows[c->status].fault == FAULT_RULES;
}

/* All candidates, and the tables that they appear in. */
static json_t *
candidates_json(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < report.count; i++) {
		const struct kcandidate *c = &report.list[i];
		json_t *o = candidate_json(c);

		json_object_update_new(o,
		    json_pack("{s:b,s:b,s:b,s:I}", "cheat", is_cheat(c), "rolled_back",
		        !strcmp(c->verdict, "rolled_back"), "transfer",
		        of(c, "audit") && (c->won || c->overfit), "hits",
		        (json_int_t)json_array_size(of(c, "audit.hits"))));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *
rows_json(json_t *rows)
{
	if (json_array_size(rows))
		return json_pack("{s:o}", "rows", rows);
	json_decref(rows);
	return NULL;
}

void
count_name(json_t *names, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(names, name));

	json_object_set_new(names, name, json_integer(n + 1));
}

json_t *
names_json(json_t *names)
{
	auto_buf struct kbuf b = kbuf_empty();
	const char *name;
	json_t *n, *text;

	json_object_foreach(names, name, n)
		kbuf_printf(&b, "%s%s (%" JSON_INTEGER_FORMAT ")", b.len ? ", " : "", name,
		    json_integer_value(n));
	text = kjson_text(b.data, b.len);
	json_decref(names);
	return text;
}

json_t *
cut_json(const char *text, size_t most)
{
	size_t len = strlen(text);

	if (len <= most)
		return kjson_text(text, len);
	for (len = most; len && ((unsigned char)text[len] & 0xc0) == 0x80;)
		len--;
	return json_sprintf("%.*s…", (int)len, text);
}

/* The device that kernels ran on, as the evaluations name it. */
static const char *
device_of(void)
{
	static const char *const paths[] = { "eval.environment.device.name",
		"eval.environment.opencl.device", "eval.environment.cpu" };

	for (size_t i = 0; i < LEN(paths); i++) {
		const char *name = text_of(report.reference, paths[i], NULL);

		if (name)
			return name;
	}
	return kjson_str_or(report.machine, "cpu", "an unnamed device");
}

/* What the campaign's own commands decide instead of the harness. */
static json_t *
own_json(const struct kcamp *c)
{
	const json_t *timing = kcamp_json(c, "eval.timing");
	static const char *const tiers[] = { "eval.build", "eval.correctness", "eval.timing" };
	const char *direction = kjson_str_or(timing, "direction", "lower");
	auto_buf struct kbuf outside = kbuf_empty();

	for (size_t i = 0; i < LEN(tiers); i++)
		if (!kjson_bool_or(kcamp_json(c, tiers[i]), "sandbox", true))
			kbuf_printf(&outside, "%s%s", outside.len ? ", " : "", tiers[i] + 5);
	return json_pack("{s:b,s:b,s:s*,s:s,s:s}", "judges",
	    kcamp_json(c, "eval.correctness") != NULL, "times", timing != NULL, "metric",
	    own_metric(c), "better", direction, "outside", outside.data);
}

static json_t *
campaign_json(void)
{
	const struct kcamp *c = report.camp;

	return json_pack("{s:s,s:s,s:s,s:s,s:I,s:s}", "name", kcamp_str(c, "name"), "backend",
	    kcamp_str(c, "backend"), "language", kcamp_str(c, "language"), "set",
	    kcamp_str(c, "eval.set"), "seed", (json_int_t)kcamp_num(c, "seed"), "gpu",
	    kcamp_str(c, "gpu"));
}

json_t *
report_facts(void)
{
	static void (*const groups[])(json_t *) = { add_result, add_workloads, add_rounds,
		add_search, add_failures, add_cost, add_lineage, add_roofline, add_next, add_audit,
		add_environment, add_digests };
	const char *title = kcamp_str(report.camp, "title");
	json_t *f = json_pack("{s:s,s:s,s:s,s:o,s:s,s:s,s:I,s:b,s:b,s:O,s:o,s:o,s:o}", "schema",
	    "report/1", "version", kversion_string(), "title",
	    *title ? title : kcamp_str(report.camp, "name"), "campaign", campaign_json(), "op",
	    report.task->op, "device", device_of(), "last", (json_int_t)report.last, "linear",
	    report.linear, "null_evaluator",
	    !strcmp(kcamp_str(report.camp, "eval.evaluator"), "null"), "header",
	    report.archive.header, "reference", candidate_json(report.reference), "candidates",
	    candidates_json(), "own", own_json(report.camp));

	for (size_t i = 0; i < LEN(groups); i++)
		groups[i](f);
	return f;
}
