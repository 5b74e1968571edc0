/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit: does what was measured carry over to programs that are not a benchmark? See
 * kreport.h.
 */
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "kreport.h"

static void
put_decisions(struct doc *d, const struct report *r)
{
	static const char *const decisions[] = { "ACCEPT-as-real", "ACCEPT-unmeasured",
		"ACCEPT-with-asterisk", "REJECT-as-overfit" };

	for (size_t i = 0; i < LEN(decisions); i++) {
		long n = 0;

		for (size_t k = 0; k < r->count; k++)
			n += &r->list[k] != r->reference && r->list[k].correct &&
			    !strcmp(text_of(&r->list[k], "audit.decision", ""), decisions[i]);
		doc_item(d, "%s: %s", decisions[i],
		    plural(n, "correct candidate", "correct candidates"));
	}
}

/* A member that holds a verdict and, unless FIGURE is NULL, maybe a figure: "ok, 0.2 %". */
static void
put_verdict(struct doc *d, const struct kcandidate *c, const char *path, const char *figure)
{
	const json_t *o = of(c, path), *v = figure ? json_object_get(o, figure) : NULL;

	if (!o)
		doc_cells(d, "–");
	else if (v)
		doc_cells(d, "%s, %+.2f %%", kjson_bool_or(o, "ok", false) ? "ok" : "failed",
		    json_number_value(v));
	else
		doc_cells(d, "%s",
		    kjson_bool_or(o, "required", true)
		        ? kjson_bool_or(o, "ok", false) ? "ok" : "failed"
		        : "not asked for");
}

static char *
reasons_of(const struct kcandidate *c)
{
	const json_t *reasons = of(c, "audit.reasons"), *v;
	struct kbuf b = { 0 };
	size_t i;

	kbuf_add(&b, "", 0);
	json_array_foreach(reasons, i, v)
	    kbuf_printf(&b, "%s%s", i ? "; " : "", json_is_string(v) ? json_string_value(v) : "?");
	json_array_foreach(of(c, "audit.not_measured"), i, v)
	    kbuf_printf(&b, "%s%s not measured: %s", b.len ? "; " : "",
	        kjson_str_or(v, "what", "?"), kjson_str_or(v, "why", "?"));
	return b.data;
}

static void
put_transfer(struct doc *d, const struct report *r)
{
	doc_table(d, "Transfer checks of kept and rejected candidates",
	    "Candidate|Bucket|Declared|>Rules hit|Reuse against fresh|Skewed "
	    "rows|Decision|~Reasons");
	for (size_t i = 0; i < r->count; i++) {
		const struct kcandidate *c = &r->list[i];
		bool refused = c->overfit;
		char *reasons;

		if (!of(c, "audit") || (!c->won && !refused))
			continue;
		reasons = reasons_of(c);
		doc_cells(d, "\1%s\1|%s|%s|%zu", c->id, text_of(c, "audit.bucket", "–"),
		    text_of(c, "audit.declared", "–"), json_array_size(of(c, "audit.hits")));
		put_verdict(d, c, "audit.fresh", "gap_pct");
		put_verdict(d, c, "audit.skew", NULL);
		doc_cells(d, "%s|%s", text_of(c, "audit.decision", "–"), reasons);
		free(reasons);
	}
	doc_table_end(d);
}

/* What the rules found in those that were refused, or were let pass with an asterisk. */
static void
put_hits(struct doc *d, const struct report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct kcandidate *c = &r->list[i];
		const json_t *hits = of(c, "audit.hits"), *hit;
		size_t k;

		json_array_foreach(hits, k, hit)
		    doc_item(d, "\1%s\1 line %lld, rule %s (%s): %s. \1%.200s\1", c->id,
		        (long long)kjson_int_or(hit, "line", 0), kjson_str_or(hit, "rule", "?"),
		        kjson_str_or(hit, "bucket", "?"), kjson_str_or(hit, "why", "?"),
		        kjson_str_or(hit, "text", ""));
	}
}

static void
put_attribution(struct doc *d, const json_t *report)
{
	const char *verdict = kjson_str_or(report, "verdict", "?");
	const json_t *rows = json_object_get(report, "table"), *row;
	double gap = kjson_num_or(report, "inflation_gap_pct", 0),
	       noise = kjson_num_or(report, "noise_pct", 0);
	size_t i;

	doc_text(d,
	    "Verdict: \2%s\2. Of the headline of %s, %s is real; the inflation gap is %.2f points, "
	    "and the noise is %.2f.%s",
	    verdict, show_change(kjson_num_or(report, "headline_pct", 0)),
	    show_change(kjson_num_or(report, "real_pct", 0)), gap, noise,
	    !strcmp(verdict, "inflated") ? " The gap exists only in a benchmark's loop, so do not "
	                                   "quote the headline."
	        : gap > 1 ? " The noise hides whether there is a gap: quote the real gain, or "
	                    "measure again on a quieter machine."
	                  : "");
	doc_table(d, "Where the gain comes from",
	    "Source|Buckets|>Benchmark gain|>Gain that carries over");
	json_array_foreach(rows, i, row)
	{
		doc_cells(d, "%s|%s|%s|%s", kjson_str_or(row, "source", "?"),
		    kjson_str_or(row, "buckets", ""),
		    show_change(kjson_num_or(row, "benchmark_pct", 0)),
		    show_change(kjson_num_or(row, "real_pct", 0)));
	}
	doc_table_end(d);
}

void
put_audit(struct doc *d, const struct report *r)
{
	doc_section(d, "audit", "Audit");
	if (!r->audited) {
		doc_text(d,
		    "No candidate of this campaign was audited for gains that exist only in a "
		    "benchmark.");
		return;
	}
	doc_text(d,
	    "A gain counts if the kernel also has it on new inputs: without a cache keyed on what "
	    "a benchmark repeats, and without assumptions that only its sizes allow.");
	put_decisions(d, r);
	put_transfer(d, r);
	put_hits(d, r);
	if (r->audit)
		put_attribution(d, r->audit);
	else
		doc_note(d, "The gains were not attributed, because kaudit could not run.");
}
