/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit: does what was measured carry over to programs that are not a benchmark? See
 * kreport.h.
 */
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "kreport.h"

/* A member that holds a verdict and, unless FIGURE is NULL, maybe a figure: "ok, +0.20 %". */
static json_t *
verdict_json(const struct kcandidate *c, const char *path, const char *figure)
{
	const json_t *o = of(c, path), *v = figure ? json_object_get(o, figure) : NULL;
	const char *word = kjson_bool_or(o, "ok", false) ? "ok" : "failed";

	if (!o)
		return NULL;
	return v ? json_sprintf("%s, %+.2f %%", word, json_number_value(v))
	         : json_string(kjson_bool_or(o, "required", true) ? word : "not asked for");
}

static json_t *
reasons_of(const struct kcandidate *c)
{
	const json_t *reasons = of(c, "audit.reasons"), *v;
	struct kbuf b = { 0 };
	json_t *text;
	size_t i;

	kbuf_add(&b, "", 0);
	json_array_foreach(reasons, i, v)
	    kbuf_printf(&b, "%s%s", i ? "; " : "", json_is_string(v) ? json_string_value(v) : "?");
	json_array_foreach(of(c, "audit.not_measured"), i, v)
	    kbuf_printf(&b, "%s%s not measured: %s", b.len ? "; " : "",
	        kjson_str_or(v, "what", "?"), kjson_str_or(v, "why", "?"));
	text = kjson_text(b.data, b.len);
	kbuf_free(&b);
	return text;
}

static json_t *
decisions_json(const struct report *r)
{
	static const char *const decisions[] = { "ACCEPT-as-real", "ACCEPT-unmeasured",
		"ACCEPT-with-asterisk", "REJECT-as-overfit" };
	json_t *rows = json_array();

	for (size_t i = 0; i < LEN(decisions); i++) {
		json_int_t n = 0;

		for (size_t k = 0; k < r->count; k++)
			n += &r->list[k] != r->reference && r->list[k].correct &&
			    !strcmp(text_of(&r->list[k], "audit.decision", ""), decisions[i]);
		json_array_append_new(
		    rows, json_pack("{s:s,s:I}", "decision", decisions[i], "n", n));
	}
	return rows;
}

/* What was kept or refused, and in HITS what the rules found in any. */
static json_t *
transfers_json(const struct report *r, json_t *all_hits)
{
	json_t *rows = json_array(), *o;

	for (size_t i = 0; i < r->count; i++) {
		const struct kcandidate *c = &r->list[i];
		const json_t *hits = of(c, "audit.hits"), *hit;
		size_t k;

		json_array_foreach(hits, k, hit)
		{
			o = json_copy((json_t *)hit);
			json_object_set_new(o, "id", json_string(c->id));
			json_object_set_new(
			    o, "excerpt", json_sprintf("%.200s", kjson_str_or(hit, "text", "")));
			json_array_append_new(all_hits, o);
		}
		if (!of(c, "audit") || (!c->won && !c->overfit))
			continue;
		o = candidate_json(c);
		json_object_update_new(o,
		    json_pack("{s:I,s:o*,s:o*,s:o}", "hits", (json_int_t)json_array_size(hits),
		        "fresh", verdict_json(c, "audit.fresh", "gap_pct"), "skew",
		        verdict_json(c, "audit.skew", NULL), "reasons", reasons_of(c)));
		json_array_append_new(rows, o);
	}
	return rows;
}

void
add_audit(json_t *f, const struct report *r)
{
	bool inflated = !strcmp(kjson_str_or(r->audit, "verdict", ""), "inflated");
	json_t *hits = json_array(), *transfers = transfers_json(r, hits);

	json_object_update_new(f,
	    json_pack("{s:b,s:b,s:b,s:o,s:o,s:o,s:O*}", "audited", r->audited, "inflated", inflated,
	        "doubtful", !inflated && kjson_num_or(r->audit, "inflation_gap_pct", 0) > 1,
	        "decisions", decisions_json(r), "transfers", transfers, "hits", hits, "attribution",
	        r->audit));
}
