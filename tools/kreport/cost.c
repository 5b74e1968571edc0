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
	json_t *models, *providers;	/* name to how many */
	const char *first, *last;	/* times of replies */
};

static void
count_name(json_t *names, const char *name)
{
	json_object_set_new(names, name, json_integer(json_integer_value(json_object_get(names, name)) + 1));
}

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

/* "claude (6), other (2)", by name. */
static char *
names_of(json_t *names)
{
	struct kbuf b = { 0 };
	const char **keys = kcalloc(json_object_size(names) + 1, sizeof *keys), *key;
	size_t n = 0;
	json_t *v;

	kbuf_add(&b, "", 0);
	json_object_foreach(names, key, v) {
		size_t at = n++;

		for (; at && strcmp(keys[at - 1], key) > 0; at--)
			keys[at] = keys[at - 1];
		keys[at] = key;
	}
	for (size_t i = 0; i < n; i++)
		kbuf_printf(&b, "%s%s (%lld)", i ? ", " : "", keys[i],
		    (long long)json_integer_value(json_object_get(names, keys[i])));
	free(keys);
	return b.data;
}

static void
put_row(struct doc *d, const char *name, const char *value)
{
	doc_cells(d, "%s|%s", name, value);
}

static void
put_tokens(struct doc *d, const struct report *r, const struct bill *b)
{
	static const char *const kinds[][2] = {
		{ "tokens.input_tokens", "Tokens in" }, { "tokens.cache_read_tokens", "of them from the prompt cache" },
		{ "tokens.output_tokens", "Tokens out" }, { "tokens.reasoning_tokens", "of them reasoning" },
	};

	if (!b->counted)
		put_row(d, "Tokens", "unknown: nobody counted them");
	for (size_t i = 0; i < LEN(kinds) && b->counted; i++)
		put_row(d, kinds[i][1], show_count(kjson_int_or(r->archive.header, kinds[i][0], 0)));
	if (b->estimated)
		put_row(d, "Replies whose tokens are reckoned from the length of the texts", show_count(b->estimated));
}

static void
put_money(struct doc *d, const struct bill *b)
{
	doc_cells(d, "Cost");
	if (!b->priced)
		doc_cells(d, "unknown: no reply has a price");
	else if (b->priced < b->replies)
		doc_cells(d, "%s for %ld of %ld replies; the others have no price",
		    show_usd(b->usd), b->priced, b->replies);
	else
		doc_cells(d, "%s", show_usd(b->usd));
}

void
put_cost(struct doc *d, const struct report *r)
{
	struct bill b = bill_of(r);
	char *models = names_of(b.models), *providers = names_of(b.providers);

	doc_section(d, "cost", "Cost");
	if (b.recorded)
		doc_note(d, "%s recorded before and replayed here: no model was called for them, and their cost, "
		    "tokens and times are those of the recording. Builds, verdicts, times and scores are of this "
		    "campaign's own machine.", b.recorded == b.replies ? "All replies were" : plural(b.recorded,
		    "reply was", "replies were"));
	doc_table(d, "What was spent", "Item|~Amount");
	put_row(d, "Replies", show_count(b.replies));
	put_row(d, "Answered by (provider)", *providers ? providers : "nobody yet");
	put_row(d, "Models", *models ? models : "–");
	put_row(d, "Requests sent", b.attempts ? show_count(b.attempts) : "none by this program");
	put_tokens(d, r, &b);
	put_money(d, &b);
	doc_cells(d, "Time in model calls");
	doc_cells(d, b.timed ? "%s, of %ld of %ld replies" : "unknown: nobody timed them", show_time(b.model_s * 1e9), b.timed, b.replies);
	put_row(d, "Time in evaluations", show_time(b.eval_s * 1e9));
	if (b.first) {
		doc_cells(d, "Replies complete|from %s to %s", b.first, b.last);
	}
	doc_table_end(d);
	free(models);
	free(providers);
	json_decref(b.models);
	json_decref(b.providers);
}
