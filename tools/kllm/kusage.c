/* SPDX-License-Identifier: Apache-2.0 */
/* kusage: see kusage.h. */
#include "kusage.h"

#include <fnmatch.h>

#include "kform.h"

void
kusage_add(struct kusage *a, const struct kusage *b)
{
	a->known = a->known && b->known;
	a->estimated = a->estimated || b->estimated;
	a->input += b->input;
	a->output += b->output;
	a->reasoning += b->reasoning;
	a->cache_read += b->cache_read;
	a->cache_write += b->cache_write;
}

/* Take the first of NAMES that is a count in OBJ. */
static bool
take_count(int64_t *to, const json_t *obj, const char *const *names)
{
	for (; *names; names++) {
		double v = kjson_num_or(obj, *names, -1);

		if (v >= 0 && v < KUSAGE_COUNT_MAX) {
			*to = (int64_t)v;
			return true;
		}
	}
	return false;
}

bool
kusage_read(struct kusage *u, const json_t *obj)
{
	static const char *const input[] = { "input_tokens", "prompt_tokens", NULL };
	static const char *const output[] = { "output_tokens", "completion_tokens", NULL };
	static const char *const reasoning[] = { "reasoning_tokens",
		"output_tokens_details.thinking_tokens",
		"completion_tokens_details.reasoning_tokens", NULL };
	static const char *const read[] = { "cache_read_tokens", "cache_read_input_tokens",
		"prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", NULL };
	static const char *const write[] = { "cache_write_tokens", "cache_creation_input_tokens",
		"prompt_tokens_details.cache_write_tokens", NULL };
	/* Names which show that the cached part is not in the input count. */
	static const char *const apart[] = { "cache_read_input_tokens",
		"cache_creation_input_tokens", NULL };
	int64_t plain = u->input - (u->apart ? u->cache_read + u->cache_write : 0), ignored;
	bool in = take_count(&plain, obj, input), out = take_count(&u->output, obj, output);

	take_count(&u->reasoning, obj, reasoning);
	take_count(&u->cache_read, obj, read);
	take_count(&u->cache_write, obj, write);
	u->apart |= take_count(&ignored, obj, apart);
	u->input = plain + (u->apart ? u->cache_read + u->cache_write : 0);
	u->estimated |= kjson_bool(obj, "estimated");
	u->known |= in || out;
	return in || out;
}

/* What docs/schemas says about a table. */
static const struct kform form =
#include "models.h"
    ;

/* Does ROW apply, and precede BEST (NULL: none yet), which is another of the same pattern? */
static bool
applies(const json_t *row, const char *model, const char *date, const json_t *best)
{
	const char *base = strrchr(model, '/'), *match = kjson_str(row, "match"),
	           *from = kjson_str(row, "from_date");

	return strcmp(from, date) <= 0 &&
	    (!fnmatch(match, model, 0) || (base && !fnmatch(match, base + 1, 0))) &&
	    (!best ||
	        (kjson_is(best, "match", match) && strcmp(from, kjson_str(best, "from_date")) > 0));
}

json_t *
kmodel_find(const char *file, bool local, const char *model, const char *date)
{
	json_auto_t *table = kform_load(&form, file);
	json_t *best = NULL;

	kjson_foreach(row, table, "models")
		if (local == kjson_is(row, "provider", "local") && applies(row, model, date, best))
			best = row;
	return json_incref(best);
}

/* A price in 1e-12 USD per token. */
static int64_t
price(const json_t *row, const char *name, int64_t unknown)
{
	double usd = kjson_num_or(row, name, -1);

	return usd < 0 ? unknown : llround(usd * 1e6);
}

int64_t
kmodel_cost(const json_t *row, const struct kusage *u)
{
	/* If a row has no separate price for the cache, cached tokens are billed as input. */
	int64_t input = price(row, "input", -1), output = price(row, "output", -1),
	        read = price(row, "cache_read", input), write = price(row, "cache_write", input),
	        plain = u->input - u->cache_read - u->cache_write, pico;
	long tier = kjson_int(row, "tier_start");

	if (input < 0 || output < 0)
		return KUSAGE_UNKNOWN;
	if (tier && u->input > tier) {
		int64_t low = input;

		input = price(row, "tier_input", input);
		output = price(row, "tier_output", output);
		read = price(row, "tier_cache", price(row, "cache_read", input));
		/* Prices for writes change in proportion to the input price. */
		if (low)
			write = llround((double)write * (double)input / (double)low);
	}
	pico = (plain > 0 ? plain : 0) * input + u->cache_read * read + u->cache_write * write +
	    u->output * output;
	return (pico + 500) / 1000;
}
