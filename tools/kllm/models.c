/* SPDX-License-Identifier: Apache-2.0 */
/* models: see models.h. */
#include "models.h"

#include "klimit.h"
#include "url.h"

/* $KLLM_MODELS, or the table that ships with kiln. */
static char *
table_path(void)
{
	const char *own = getenv("KLLM_MODELS");

	return own && *own ? kstrdup(own) : kdata_path("tools/kllm/models.tsv");
}

/*
 * Prices that the campaign gives for its model, such as one behind a gateway on this machine,
 * override the table's.
 */
static bool
own_prices(const char *model, struct kmodel *row)
{
	double input = kcamp_num("model.price_input"), output = kcamp_num("model.price_output");

	if (strcmp(model, call.priced) || (input < 0 && output < 0))
		return false;
	if (input < 0 || output < 0)
		kdie_usage("%s: model.price_%s: is missing; set both prices or neither", kcamp.file,
		    input < 0 ? "input" : "output");
	row->input = llround(input * 1e6);
	row->output = llround(output * 1e6);
	row->cache_read = row->cache_write_5m = row->cache_write_1h = -1;
	row->tier_start = 0;
	return true;
}

const struct kmodel *
models_row(const char *model)
{
	static struct kmodel row;
	static char *loaded;
	char now[32], *path;
	bool known;

	if (loaded && !strcmp(loaded, model))
		return &row;
	free(loaded);
	loaded = kstrdup(model);
	know_iso(now, sizeof now);
	now[10] = '\0';
	path = table_path();
	known = kmodel_find(&row, path, url_is_local(call.base_url), model, now);
	if (!own_prices(model, &row) && !known && klimit_first_time(model))
		kwarn("%s: no row for model '%s', so its cost is unknown; add one, or set "
		      "KLLM_MODELS to a table of your own",
		    path, model);
	free(path);
	return &row;
}

int64_t
models_tokens(size_t len)
{
	return (int64_t)((double)len / 2.9) + 1;
}
