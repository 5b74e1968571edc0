/* SPDX-License-Identifier: Apache-2.0 */
/*
 * models: the row of the model table for a call, and token estimates for texts whose tokenizer is
 * not known.
 */
#include "klimit.h"
#include "kllm.h"
#include "url.h"

/* $KLLM_MODELS, or the table that ships with kiln. */
static char *
table_path(void)
{
	const char *own = getenv("KLLM_MODELS");

	return own && *own ? kstrdup(own) : kdata_path("tools/kllm/models.json");
}

/*
 * Prices that the campaign gives for its model, such as one behind a gateway on this machine,
 * override the table's.
 */
static bool
own_prices(const char *model, json_t *row)
{
	double input = kcamp_num("model.price_input"), output = kcamp_num("model.price_output");

	if (strcmp(model, call.priced) || (input < 0 && output < 0))
		return false;
	if (input < 0 || output < 0)
		kdie_usage("%s: model.price_%s: is missing; set both prices or neither", kcamp.file,
		    input < 0 ? "input" : "output");
	kjson_put(row, "input", input);
	kjson_put(row, "output", output);
	kforeach_text(other, "cache_read", "cache_write", "tier_start")
		json_object_del(row, other);
	return true;
}

const json_t *
models_row(const char *model)
{
	static json_t *row;
	static char *loaded;
	auto_free char *path = table_path();
	const char *date = kshown("%.10s", know_text());
	bool known;

	if (loaded && !strcmp(loaded, model))
		return row;
	free(loaded);
	loaded = kstrdup(model);
	json_decref(row);
	row = kmodel_find(path, url_is_local(call.base_url), model, date);
	known = row;
	row = row ?: json_object();
	if (!own_prices(model, row) && !known && klimit_first_time(model))
		kwarn("%s: no row for model '%s', so its cost is unknown; add one, or set "
		      "KLLM_MODELS to a table of your own",
		    path, model);
	return row;
}

int64_t
models_tokens(size_t len)
{
	return (int64_t)((double)len / 2.9) + 1;
}
