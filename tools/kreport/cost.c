/* SPDX-License-Identifier: Apache-2.0 */
/* What the campaign cost: calls, tokens, dollars, time; and who answered. See kreport.h. */

#include "kreport.h"

/* Sums over the replies: of a member times SCALE, or (0) of how many have it. */
static const struct {
	const char *name, *path;
	double scale;
} sums[] = {
	{ "replies", "", 0 },
	{ "priced", "cost_usd", 0 },
	{ "counted", "usage", 0 },
	{ "recorded", "recorded", 0 },
	{ "timed", "ms.total", 0 },
	{ "estimated", "usage.estimated", 1 },
	{ "attempts", "attempts", 1 },
	{ "usd", "cost_usd", 1 },
	{ "model_ns", "ms.total", 1e6 },
};

static void
add_reply(json_t *bill, const json_t *reply)
{
	for (size_t i = 0; i < LEN(sums); i++) {
		const json_t *v = kjson_path(reply, sums[i].path);
		double sum = kjson_num(bill, sums[i].name);

		sum += sums[i].scale > 0 ? sums[i].scale * (json_number_value(v) + json_is_true(v))
		                         : v != NULL;
		json_object_set_new(bill, sums[i].name,
		    sum > floor(sum) ? json_real(sum) : json_integer((json_int_t)sum));
	}
}

void
add_cost(json_t *f)
{
	json_t *o = json_object(), *models = json_object(), *providers = json_object();
	const char *first = "", *until = "";
	double eval_s = kjson_num(report.verify, "wall_s");
	bool priced, counted;

	add_reply(o, NULL);
	for (const struct kcandidate *c = report.list; c < report.list + report.count; c++) {
		const json_t *reply = c == report.reference ? NULL : of(c, "reply");
		const char *time = kjson_str(reply, "time");

		eval_s += kjson_num(c->json, "eval.wall_s");
		if (!reply)
			continue;
		add_reply(o, reply);
		count_name(models, kjson_str_or(reply, "model", "unnamed"));
		count_name(providers, kjson_str_or(reply, "provider", "unnamed"));
		if (*time && (!*first || strcmp(time, first) < 0))
			first = time;
		if (strcmp(time, until) > 0)
			until = time;
	}
	priced = json_integer_value(json_object_get(o, "priced"));
	counted = json_integer_value(json_object_get(o, "counted"));
	json_object_update_new(o,
	    json_pack("{s:f,s:o,s:o,s:b,s:b,s:s,s:s,s:s}", "eval_ns", eval_s * 1e9, "models",
	        names_json(models), "providers", names_json(providers), "all_recorded",
	        json_equal(json_object_get(o, "recorded"), json_object_get(o, "replies")),
	        "some_unpriced",
	        !json_equal(json_object_get(o, "priced"), json_object_get(o, "replies")), "unknown",
	        !json_integer_value(json_object_get(o, "replies")) || (priced && counted) ? ""
	            : counted ? "The cost is"
	            : priced  ? "The tokens are"
	                      : "The cost and the tokens are",
	        "first", first, "until", until));
	json_object_set_new(f, "cost", o);
}
