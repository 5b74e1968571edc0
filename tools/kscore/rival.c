/* SPDX-License-Identifier: Apache-2.0 */
/* What a candidate is compared with. See kscore.h. */

#include "kscore.h"

bool
load_rival(struct rival *r, const char *path, const char *id)
{
	json_t *record = kin_first(path);

	if (!kjson_path(record, "eval.status"))
		kdie_usage("%s: no record with 'eval.status'", path);
	free(r->id);
	json_decref(r->record);
	r->id = kstrdup(id ?: kjson_str(record, "id"));
	r->record = record;
	r->timing = kjson_path(record, "eval.timing");
	r->noise = kjson_num(record, "eval.noise.floor");
	return status_at(record, "eval.status") == STATUS_CORRECT && r->timing;
}

static const struct rival *
incumbent_of(const char *id)
{
	if (!id || !strcmp(id, scorer.reference.id))
		return NULL;
	if (!scorer.incumbent.id || strcmp(scorer.incumbent.id, id)) {
		scorer.incumbent_holds = load_rival(&scorer.incumbent, kplace_id(id, "eval"), id);
	}
	return scorer.incumbent_holds ? &scorer.incumbent : NULL;
}

const struct rival *
rival_of(void)
{
	const char *id = kjson_str_or(scored.json, "sample.incumbent", scorer.archive_best);
	const struct rival *r = incumbent_of(id);

	/* If it was found wrong since, the best without it takes its place. */
	if (!r && id && strcmp(id, scorer.reference.id))
		r = incumbent_of(scorer.archive_best);
	return r ?: &scorer.reference;
}

void
put_gain(const struct kgain_ratio *r, bool gain)
{
	kjson_extend(score, "{s:b,s:o*,s:o*,s:o*,s:s}", "gain", gain, "gain_ratio",
	    json_real(r->mean), "gain_low", json_real(r->low), "gain_high", json_real(r->high),
	    "verdict", kgain_verdict(r, scorer.min_gain));
}
