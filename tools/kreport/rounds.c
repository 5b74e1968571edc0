/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of a linear search: the trend table, and which conditions would end it. See kreport.h. */
#include <stdlib.h>
#include <string.h>

#include "kends.h"
#include "kgain.h"
#include "kio.h"
#include "kreport.h"

enum { MOST_SHAPES = 6 };

static const char *
word_of(const char *verdict)
{
	static const char *const words[][2] = { { "baseline", "BASELINE" },
		{ "accepted", "ACCEPTED" }, { "rolled_back", "ROLLED BACK" } };

	for (size_t i = 0; i < LEN(words); i++)
		if (!strcmp(words[i][0], verdict))
			return words[i][1];
	return *verdict ? verdict : "–";
}

/* The workloads that get a column: those that the reference was timed on, the first ones. */
static size_t
shapes_of(const struct report *r, const char *names[MOST_SHAPES])
{
	const json_t *timing = of(r->reference, "eval.timing"), *row;
	size_t i, n = 0;

	json_array_foreach(timing, i, row) if (n < MOST_SHAPES) names[n++] =
	    kjson_str_or(row, "workload", "?");
	return n;
}

static void
put_shape(struct doc *d, const struct report *r, const struct kcandidate *c, const char *name)
{
	const struct ktask_workload *w = ktask_workload(r->task, name);
	int64_t flops = w ? ktask_value(r->task, w, r->task->flops) : 0;
	const json_t *row = kgain_row(of(c, "eval.timing"), name);
	double ns = row ? kgain_time_ns(row, "median") : 0;

	if (!(ns > 0))
		doc_cells(d, "–");
	else if (flops > 0)
		doc_cells(
		    d, "%s,\n%s", show_time(ns), show_rate((double)flops / ns * 1e9, "FLOP/s"));
	else
		doc_cells(d, "%s", show_time(ns));
}

static void
put_round(struct doc *d, const struct report *r, const struct kcandidate *c, const char **names,
    size_t shapes)
{
	const char *verdict = c->verdict;

	doc_cells(d, "%lld|%s%s|%s",
	    (long long)kjson_int_or(c->json, "score.decision.round", c->trial + 1),
	    word_of(verdict),
	    kjson_bool_or(c->json, "score.decision.trade_off", false) ? " (trade-off)" : "",
	    !strcmp(verdict, "baseline")
	        ? "the naive reference"
	        : text_of(c, "eval.plan.change",
	              text_of(c, "eval.plan_fault", status_rows[c->status].name)));
	if (of(c, "score.decision.improvement_pct") && strcmp(verdict, "baseline"))
		doc_cells(d, "%s",
		    show_change(kjson_num_or(c->json, "score.decision.improvement_pct", 0)));
	else
		doc_cells(d, "–");
	doc_cells(d, "%s", show_times(c->speedup.mean));
	for (size_t i = 0; i < shapes; i++)
		put_shape(d, r, c, names[i]);
}

static void
put_trend(struct doc *d, const struct report *r)
{
	const char *names[MOST_SHAPES];
	size_t shapes = shapes_of(r, names),
	       timed = json_array_size(of(r->reference, "eval.timing"));
	struct kbuf spec = { 0 };

	kbuf_puts(&spec, ">Round|Status|~Change|>vs last accepted|>Speed-up");
	for (size_t i = 0; i < shapes; i++)
		kbuf_printf(&spec, "|^%s", names[i]);
	doc_table(d, "Rounds", spec.data);
	for (size_t i = 0; i < r->count; i++)
		if (of(&r->list[i], "score.decision"))
			put_round(d, r, &r->list[i], names, shapes);
	doc_table_end(d);
	kbuf_free(&spec);
	doc_text(d,
	    "vs last accepted: the figure that decided, measured in turns if the two were raced. "
	    "Speed-up: over the reference, from the newest race of the two.");
	if (timed > shapes)
		doc_text(d, "%s; their times are in \1trials/TTT/score.ndjson\1.",
		    plural((long long)(timed - shapes), "further workload is not shown here",
		        "further workloads are not shown here"));
}

/* What would end the campaign. */
static void
put_termination(struct doc *d, const struct report *r)
{
	const struct kcandidate *accepted =
	    find_candidate(r, kjson_str_or(r->archive.header, "linear.accepted", NULL));
	struct kends e;

	kends_find(r->camp, r->last, accepted ? accepted->json : NULL, &e);
	doc_table(d, "Termination", "Condition|~What|State");
	for (size_t i = 0; i < KENDS; i++) {
		doc_cells(d, "T%zu|%s: %s|%s%s", i + 1, kends_texts[i].what, kends_texts[i].from,
		    e.at[i].holds ? "true" : "false", e.at[i].set ? "" : ", not set");
	}
	doc_table_end(d);
	kends_free(&e);
}

void
put_rounds(struct doc *d, const struct report *r)
{
	long accepted = 0, back = 0;

	if (!r->linear)
		return;
	for (size_t i = 0; i < r->count; i++) {
		const char *verdict = r->list[i].verdict;

		accepted += !strcmp(verdict, "accepted");
		back += !strcmp(verdict, "rolled_back");
	}
	doc_section(d, "rounds", "Rounds");
	doc_text(d,
	    "Each round makes one change and states its hypothesis before the code. Rules decide "
	    "whether it is kept or rolled back. %s, %s rolled back; the last accepted program is "
	    "\1%s\1.",
	    plural(accepted, "round was accepted", "rounds were accepted"),
	    plural(back, "was", "were"),
	    kjson_str_or(
	        r->archive.header, "linear.accepted", r->best ? r->best->id : KARCH_REFERENCE));
	put_trend(d, r);
	put_termination(d, r);
}
