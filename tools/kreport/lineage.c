/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the reference to the best: each step with its reason, what it brought, and what it
 * changed. See kreport.h.
 */
#include <stdlib.h>
#include <string.h>

#include "kdiff.h"
#include "kio.h"
#include "kreport.h"

enum { MOST_STEPS = 400 };

struct chain {
	const struct kcandidate *step[MOST_STEPS]; /* the reference first */
	size_t count;
};

/* Rounds: as the archive's header has the chain of accepted ones. */
static bool
linear_chain(const struct report *r, struct chain *chain)
{
	const json_t *ids = kjson_path(r->archive.header, "linear.chain"), *id;
	size_t i;

	json_array_foreach(ids, i, id)
	{
		const struct kcandidate *c = find_candidate(r, json_string_value(id));

		if (c && chain->count < MOST_STEPS)
			chain->step[chain->count++] = c;
	}
	return chain->count > 0;
}

/* Search: by parents, from the best backwards. */
static void
parent_chain(const struct report *r, struct chain *chain)
{
	const struct kcandidate *list[MOST_STEPS], *c = r->best;
	size_t n = 0;

	while (c && n < MOST_STEPS) {
		const struct kcandidate *parent = c == r->reference
		    ? NULL
		    : find_candidate(r, text_of(c, "sample.parent.id", NULL));

		list[n++] = c;
		c = parent && parent->trial < c->trial ? parent : NULL;
	}
	while (n)
		chain->step[chain->count++] = list[--n];
}

/*
 * How much faster than its parent: by their race when that was the incumbent, else by the speed-ups
 * of the two.
 */
static struct kgain_ratio
gain_of(const struct kcandidate *parent, const struct kcandidate *c, bool *paired)
{
	struct kgain_ratio ratio = { 0 };

	*paired = !strcmp(text_of(c, "sample.incumbent", ""), parent->id);
	if (*paired)
		ratio = kgain_ratio_of_pairs(
		    of(c, "eval.pairs"), "incumbent", NULL, of(c, "eval.timing"));
	*paired = ratio.n > 0;
	if (!*paired)
		ratio = kgain_quotient(&c->speedup, &parent->speedup);
	return ratio;
}

static void
put_overview(struct doc *d, const struct chain *chain)
{
	doc_table(d, "Steps to the best",
	    ">Step|Candidate|Strategy|Cell|>Time|>Speed-up|>Against its parent");
	for (size_t i = 0; i < chain->count; i++) {
		const struct kcandidate *c = chain->step[i];
		bool paired;

		doc_cells(d, "%zu|\1%s\1|%s|%s|%s|%s", i, c->id,
		    i ? text_of(c, "eval.plan.category", text_of(c, "sample.strategy", "–"))
		      : "the reference",
		    text_of(c, "coords.cell", "–"), show_time(c->runtime_ms * 1e6),
		    show_speedup(c));
		if (i) {
			struct kgain_ratio ratio = gain_of(chain->step[i - 1], c, &paired);

			if (ratio.n)
				doc_cells(d, "%s (%s%s)", show_times(ratio.mean),
				    show_interval(&ratio, show_times), paired ? ", in turns" : "");
			else
				doc_cells(d, "not timed");
		} else {
			doc_cells(d, "–");
		}
	}
	doc_table_end(d);
}

/* The program's files by name: main file and further ones of a bundle. */
static const char *
content_of(const json_t *program, const char *path)
{
	const json_t *files = json_object_get(program, "files"), *f;
	size_t i;

	if (!path)
		return kjson_str_or(program, "code", "");
	json_array_foreach(files, i, f) if (!strcmp(kjson_str_or(f, "path", ""),
	                                        path)) return kjson_str_or(f, "content", "");
	return "";
}

/* The difference of one file of two programs; PATH NULL is the main file. */
static void
put_file(struct doc *d, const json_t *before, const json_t *after, const char *path)
{
	const char *a = content_of(before, path), *b = content_of(after, path);
	const char *before_id = kjson_str_or(before, "id", "before"),
	           *after_id = kjson_str_or(after, "id", "after");
	struct kbuf text = { 0 };
	struct kdiff diff;

	kdiff(a, strlen(a), b, strlen(b), &diff);
	kdiff_unified(a, strlen(a), b, strlen(b), before_id, after_id, &text);
	if (path)
		doc_text(d, "File \1%s\1:", path);
	doc_text(d, "%s, %s.", plural((long long)diff.additions, "line added", "lines added"),
	    plural((long long)diff.removals, "removed", "removed"));
	if (text.len)
		doc_code(d, text.data, text.len, "diff");
	kbuf_free(&text);
	kdiff_free(&diff);
}

/* Files of AFTER, then those of BEFORE that it no longer has. */
static void
put_diff(struct doc *d, const json_t *before, const json_t *after)
{
	const json_t *f;
	size_t i;

	put_file(d, before, after, NULL);
	json_array_foreach(json_object_get(after, "files"), i, f)
	    put_file(d, before, after, kjson_str_or(f, "path", ""));
	json_array_foreach(json_object_get(before, "files"), i,
	    f) if (!*content_of(after, kjson_str_or(f, "path", "")))
	    put_file(d, before, after, kjson_str_or(f, "path", ""));
}

static void
put_reasons(struct doc *d, const struct kcandidate *c)
{
	static const struct {
		const char *path, *label;
	} fields[] = {
		{ "eval.plan.hypothesis", "Hypothesis" },
		{ "eval.plan.change", "Change" },
		{ "eval.plan.evidence", "Evidence" },
		{ "eval.plan.risks", "Risks" },
		{ "eval.plan.signal", "Signal" },
		{ "score.decision.line", "Decision" },
		{ "prelude", "In the model's words" },
	};

	for (size_t i = 0; i < LEN(fields); i++) {
		const char *text = text_of(c, fields[i].path, NULL);

		if (text && *text)
			doc_item(d, "\2%s:\2 %s", fields[i].label, text);
	}
	if (of(c, "score.decision.remeasured"))
		doc_item(d, "\2Measured again:\2 %s, mean %s, standard deviation %.2f %%",
		    plural(
		        kjson_int_or(c->json, "score.decision.remeasured.n", 0), "time", "times"),
		    show_change(kjson_num_or(c->json, "score.decision.remeasured.mean_pct", 0)),
		    kjson_num_or(c->json, "score.decision.remeasured.sd_pct", 0));
	if (of(c, "eval.plan.bucket"))
		doc_item(d, "\2Bucket:\2 %s; expected %+.3g %%", text_of(c, "eval.plan.bucket", ""),
		    kjson_num_or(c->json, "eval.plan.expected_gain_pct", 0));
}

static void
put_step(struct doc *d, const struct report *r, const struct kcandidate *before,
    const struct kcandidate *c)
{
	json_t *a = karch_program(r->dir, before->id, false),
	       *b = karch_program(r->dir, c->id, false);

	doc_details(d, "%s against %s: %s", c->id, before->id,
	    text_of(c, "eval.plan.change", text_of(c, "sample.strategy", "no strategy")));
	put_reasons(d, c);
	put_diff(d, a, b);
	doc_details_end(d);
	json_decref(a);
	json_decref(b);
}

static void
put_source(struct doc *d, const struct report *r, const struct kcandidate *c, const char *what)
{
	json_t *program = karch_program(r->dir, c->id, false);
	const char *code = content_of(program, NULL), *language = kcamp_str(r->camp, "language");
	const json_t *f;
	size_t i;

	doc_box(d, "source");
	doc_heading(d, "%s, \1%s\1", what, c->id);
	doc_code(d, code, strlen(code), language);
	json_array_foreach(json_object_get(program, "files"), i, f)
	{
		const char *content = kjson_str_or(f, "content", "");

		doc_text(d, "File \1%s\1:", kjson_str_or(f, "path", ""));
		doc_code(d, content, strlen(content), language);
	}
	doc_box_end(d);
	json_decref(program);
}

void
put_sources(struct doc *d, const struct report *r)
{
	doc_box(d, r->best ? "sources" : "");
	put_source(d, r, r->reference, "The reference");
	if (r->best)
		put_source(d, r, r->best, "The best kernel");
	doc_box_end(d);
}

void
put_lineage(struct doc *d, const struct report *r)
{
	struct chain chain = { .count = 0 };

	doc_section(d, "lineage", "Lineage of the best");
	if (!r->best) {
		doc_text(d, "No kernel is better than the reference yet.");
		return;
	}
	if (!r->linear || !linear_chain(r, &chain))
		parent_chain(r, &chain);
	put_overview(d, &chain);
	if (strcmp(chain.step[0]->id, KARCH_REFERENCE))
		doc_note(d,
		    "The lineage is incomplete: the parent of \1%s\1 is not among the scored "
		    "candidates.",
		    chain.step[0]->id);
	for (size_t i = 1; i < chain.count; i++)
		put_step(d, r, chain.step[i - 1], chain.step[i]);
}
