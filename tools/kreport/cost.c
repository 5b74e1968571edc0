/* SPDX-License-Identifier: Apache-2.0 */
/* What the campaign cost: calls, tokens, dollars, time; and who answered. See kreport.h. */
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "kreport.h"

struct bill {
	long replies, priced, counted, estimated, recorded, timed;
	long long attempts;
	double usd, model_s, eval_s;
	json_t *models, *providers; /* name to how many */
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

static void
put_tokens(struct doc *d, const struct report *r, const struct bill *b)
{
	static const char *const kinds[][2] = {
		{ "tokens.input_tokens", "Tokens in" },
		{ "tokens.cache_read_tokens", "of them from the prompt cache" },
		{ "tokens.output_tokens", "Tokens out" },
		{ "tokens.reasoning_tokens", "of them reasoning" },
	};

	for (size_t i = 0; i < LEN(kinds) && b->counted; i++)
		put_fact(
		    d, kinds[i][1], show_count(kjson_int_or(r->archive.header, kinds[i][0], 0)));
	if (b->estimated)
		put_fact(d, "Replies whose tokens are estimated from the length of the text",
		    show_count(b->estimated));
}

static void
put_money(struct doc *d, const struct bill *b)
{
	if (!b->priced)
		return;
	if (b->priced < b->replies)
		doc_cells(d, "Cost|%s for %ld of %ld replies; the others have no price",
		    show_usd(b->usd), b->priced, b->replies);
	else
		doc_cells(d, "Cost|%s", show_usd(b->usd));
}

void
put_cost(struct doc *d, const struct report *r)
{
	struct bill b = bill_of(r);
	char *models = names_of(b.models), *providers = names_of(b.providers);

	doc_section(d, "cost", "Cost");
	if (b.recorded)
		doc_note(d,
		    "%s recorded earlier and replayed here. No model was called for them; their "
		    "cost, tokens and times are those of the recording. Builds, verdicts, times "
		    "and scores are from this campaign's own machine.",
		    b.recorded == b.replies ? "All replies were"
		                            : plural(b.recorded, "reply was", "replies were"));
	if (b.replies && (!b.priced || !b.counted))
		doc_text(d, "%s unknown, because the replies do not contain it.",
		    b.counted      ? "The cost is"
		        : b.priced ? "The tokens are"
		                   : "The cost and the tokens are");
	doc_table(d, "What was spent", "Item|~Amount");
	put_fact(d, "Replies", show_count(b.replies));
	put_fact(d, "Answered by (provider)", *providers ? providers : "none yet");
	put_fact(d, "Models", *models ? models : "–");
	put_fact(d, "Requests sent", b.attempts ? show_count(b.attempts) : "none by this program");
	put_tokens(d, r, &b);
	put_money(d, &b);
	if (b.timed)
		doc_cells(d, "Time in model calls|%s, of %ld of %ld replies",
		    show_time(b.model_s * 1e9), b.timed, b.replies);
	put_fact(d, "Time in evaluations", show_time(b.eval_s * 1e9));
	if (b.first) {
		doc_cells(d, "Replies complete|from %s to %s", b.first, b.last);
	}
	doc_table_end(d);
	free(models);
	free(providers);
	json_decref(b.models);
	json_decref(b.providers);
}
