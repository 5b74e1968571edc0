/* SPDX-License-Identifier: Apache-2.0 */
/* What the campaign cost: calls, tokens, dollars, time; and who answered. See kreport.h. */

#include "kreport.h"

struct bill {
	long replies, priced, counted, estimated, recorded, timed;
	long long attempts;
	double usd, model_s, eval_s;
	json_t *models, *providers; /* how many, by name */
	const char *first, *last;   /* times of replies */
};

static void
add_reply(struct bill *b, const struct kcandidate *c)
{
	const json_t *reply = of(c, "reply");
	const char *time = kjson_str_or(reply, "time", NULL);

	if (!reply)
		return;
	b->replies++;
	b->priced += json_object_get(reply, "cost_usd") != NULL;
	b->counted += json_object_get(reply, "usage") != NULL;
	b->estimated += kjson_bool_or(reply, "usage.estimated", false);
	b->recorded += json_object_get(reply, "recorded") != NULL;
	b->timed += kjson_path(reply, "ms.total") != NULL;
	b->attempts += kjson_int_or(reply, "attempts", 0);
	b->usd += kjson_num_or(reply, "cost_usd", 0);
	b->model_s += kjson_num_or(reply, "ms.total", 0) / 1e3;
	count_name(b->models, kjson_str_or(reply, "model", "unnamed"));
	count_name(b->providers, kjson_str_or(reply, "provider", "unnamed"));
	if (time && (!b->first || strcmp(time, b->first) < 0))
		b->first = time;
	if (time && (!b->last || strcmp(time, b->last) > 0))
		b->last = time;
}

static struct bill
bill_of(const struct report *r)
{
	struct bill b = { .models = json_object(), .providers = json_object() };

	for (size_t i = 0; i < r->count; i++) {
		if (&r->list[i] != r->reference)
			add_reply(&b, &r->list[i]);
		b.eval_s += kjson_num_or(r->list[i].json, "eval.wall_s", 0);
	}
	b.eval_s += kjson_num_or(r->verify, "wall_s", 0);
	return b;
}

void
add_cost(json_t *f, const struct report *r)
{
	struct bill b = bill_of(r);
	json_t *o = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:f,s:f,s:o,s:o}", "replies",
	    (json_int_t)b.replies, "priced", (json_int_t)b.priced, "counted", (json_int_t)b.counted,
	    "estimated", (json_int_t)b.estimated, "recorded", (json_int_t)b.recorded, "timed",
	    (json_int_t)b.timed, "attempts", (json_int_t)b.attempts, "usd", b.usd, "model_ns",
	    b.model_s * 1e9, "eval_ns", b.eval_s * 1e9, "models", names_json(b.models), "providers",
	    names_json(b.providers));

	json_object_update_new(o,
	    json_pack("{s:b,s:b,s:s,s:s,s:s}", "all_recorded", b.recorded == b.replies,
	        "some_unpriced", b.priced < b.replies, "unknown",
	        !b.replies || (b.priced && b.counted) ? ""
	            : b.counted                       ? "The cost is"
	            : b.priced                        ? "The tokens are"
	                                              : "The cost and the tokens are",
	        "first", b.first ? b.first : "", "until", b.last ? b.last : ""));
	json_object_set_new(f, "cost", o);
}
