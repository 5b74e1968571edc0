/* SPDX-License-Identifier: Apache-2.0 */
/* models: see models.h. */
#include "models.h"

#include <stdlib.h>
#include <string.h>

#include "klimit.h"
#include "url.h"

/* $KLLM_MODELS, or the table that ships with kiln. */
static char *
table_path(void)
{
	const char *own = getenv("KLLM_MODELS");

	return own && *own ? kstrdup(own) : kdata_path("tools/kllm/models.tsv");
}

const struct kmodel *
models_row(const struct call *c, const char *model)
{
	static struct kmodel row;
	static char *loaded;
	char now[32], *path;

	if (loaded && !strcmp(loaded, model))
		return &row;
	free(loaded);
	loaded = kstrdup(model);
	know_iso(now, sizeof now);
	now[10] = '\0';
	path = table_path();
	if (!kmodel_find(&row, path, url_is_local(c->base_url), model, now) &&
	    klimit_first_time(model))
		kwarn(
		    "%s: no row for model '%s', so its cost is unknown; add one, or name your own table in KLLM_MODELS",
		    path, model);
	free(path);
	return &row;
}

int64_t
models_tokens(size_t len)
{
	return (int64_t)((double)len / 2.9) + 1;
}
