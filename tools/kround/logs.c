/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each round adds to the logs that only grow: logs/optimize.md and logs/performance_trend.md.
 * See kround.h.
 */
#include <stdlib.h>
#include <string.h>

#include "kround.h"

enum { WORDS = 600, CELL = 120 };

const char *const log_paths[LOGS] = {
	[LOG_OPTIMIZE] = "logs/optimize.md",
	[LOG_TREND] = "logs/performance_trend.md",
};

/* What entries show of a round: its accepted candidate, else the best of the others. */
static const struct candidate *
shown(const struct campaign *c, const struct round *r)
{
	const struct candidate *best = NULL;
	double most = -1;

	if (r->accepted)
		return r->accepted;
	for (size_t i = 0; i < r->count; i++) {
		double rate = aggregates_of(c, &r->list[i], NULL).step.average;

		if (rate > most) {
			most = rate;
			best = &r->list[i];
		}
	}
	return best;
}

static void
put_basics(const struct campaign *c, const struct round *first, struct kbuf *out)
{
	char when[32];

	kbuf_puts(out,
	    "# Optimisation log\n"
	    "\n"
	    "Entries are only added at the end; times are UTC. A round is a trial; round 1 is the "
	    "reference.\n"
	    "\n"
	    "## Basic information\n"
	    "\n");
	put_item(WORDS, out, "Operation", c->task->op);
	put_item(WORDS, out, "Language", kcamp_str(c->camp, "language"));
	put_item(WORDS, out, "Backend", kcamp_str(c->camp, "backend"));
	put_item(
	    WORDS, out, "Device", *kcamp_str(c->camp, "gpu") ? kcamp_str(c->camp, "gpu") : "CPU");
	put_item(WORDS, out, "Campaign", c->name);
	put_item(WORDS, out, "Search", kcamp_str(c->camp, "search.mode"));
	put_item(WORDS, out, "Start", minute(first, when));
}

static void
put_baseline(const struct campaign *c, const struct round *r, struct kbuf *out)
{
	const struct candidate *x = r->accepted;
	struct aggregates a = aggregates_of(c, x, NULL);
	char when[32];

	kbuf_puts(out, "\n## Baseline\n\n");
	put_item(WORDS, out, "Time", minute(r, when));
	put_item(WORDS, out, "Device",
	    kjson_str_or(x->eval, "environment.device.name",
	        kjson_str_or(x->eval, "environment.cpu", "unknown")));
	put_item(WORDS, out, "Code", kjson_str_or(x->eval, "code_sha256", "?"));
	put_item(WORDS, out, "Level", x->level);
	kbuf_printf(out, "- Step geomean: ");
	put_rate(c, &a.step, false, out);
	kbuf_printf(out,
	    " %s\n- Details: rounds/round-1/summary.md, rounds/round-1/artifacts/eval.log\n\n"
	    "| Shape | Time ms | %s |\n|---|---:|---:|\n",
	    rate_unit(c), c->task->flops ? "TFLOPS" : "sd ms");
	for (size_t i = 0; i < c->task->workload_count; i++)
		if (x->shape[i].ns > 0) {
			kbuf_puts(out, "| ");
			put_md(c->task->workloads[i].name, CELL, out);
			kbuf_printf(out, " | %#.5g | %#.4g |\n", x->shape[i].ns / 1e6,
			    c->task->flops ? x->shape[i].rate : x->shape[i].sd_ns / 1e6);
		}
	kbuf_puts(out, "\n## Optimisation history\n");
}

static void
put_linear_entry(const struct campaign *c, const struct round *r, struct kbuf *out)
{
	const struct candidate *x = &r->list[0];
	char *line = verdict_line(c, r, x);

	kbuf_printf(out, "- Level: %s\n", x->level);
	put_item(WORDS, out, "Hypothesis",
	    r->trial ? kjson_str_or(x->plan, "hypothesis", "") : "none: the baseline");
	put_item(WORDS, out, "Change",
	    r->trial ? kjson_str_or(x->plan, "change", "") : "no code change");
	kbuf_puts(out, "- Result: ");
	put_result(c, x, out);
	kbuf_puts(out, "\n- Test: ");
	put_test(c, x, out);
	kbuf_printf(out, ", `%s`\n", x->status);
	put_item(WORDS, out, "Decision", line);
	if (x->audit)
		put_item(WORDS, out, "Transfer", kjson_str_or(x->audit, "decision", "?"));
	kbuf_printf(out, "- Details: rounds/round-%ld/summary.md\n", r->number);
	free(line);
}

static void
put_wide_entry(const struct campaign *c, const struct round *r, struct kbuf *out)
{
	const struct candidate *x = shown(c, r);

	kbuf_printf(out, "- Candidates: %zu\n- New best: %s\n- Best of the round: %s, ", r->count,
	    r->accepted ? r->accepted->id : "none", x->id);
	put_result(c, x, out);
	kbuf_printf(out, "\n- Details: rounds/round-%ld/summary.md\n", r->number);
}

static void
put_optimize(const struct campaign *c, const struct round *r, bool corrected, struct kbuf *out)
{
	const char *word = c->linear || !r->trial ? verdict_word(r, &r->list[0])
	    : r->accepted                         ? "NEW BEST"
	                                          : "NO NEW BEST";
	char when[32];

	if (r->number == 1 && !corrected) {
		put_basics(c, r, out);
		put_baseline(c, r, out);
	}
	if (corrected)
		kbuf_printf(out,
		    "\n### Correction of round-%ld — %s\n\n"
		    "This replaces the entry above, whose facts have changed.\n\n",
		    r->number, word);
	else
		kbuf_printf(out, "\n### round-%ld — %s\n\n", r->number, word);
	put_item(WORDS, out, "Time", minute(r, when));
	if (c->linear)
		put_linear_entry(c, r, out);
	else
		put_wide_entry(c, r, out);
}

static void
put_trend_heading(const struct campaign *c, struct kbuf *out)
{
	const char *unit = rate_unit(c);

	kbuf_printf(out,
	    "# Performance trend\n"
	    "\n"
	    "Entries are only added at the end. Avg: geometric mean over the timed shapes; Peak: "
	    "the best of them. vs Baseline: throughput against round 1.\n"
	    "\n"
	    "| Round | Status | Description | Fwd Avg %s | Fwd Peak %s | Bwd Avg %s | Bwd Peak %s "
	    "| Combined Step %s | vs Baseline | Key Finding |\n"
	    "|---:|---|---|---:|---:|---:|---:|---:|---|---|\n",
	    unit, unit, unit, unit, unit);
}

static void
put_finding(const struct round *r, const struct candidate *x, bool forward_only, struct kbuf *out)
{
	if (!r->trial && forward_only)
		kbuf_puts(out, "forward only: Combined Step is Fwd Avg");
	else if (!r->trial)
		kbuf_puts(out, "baseline");
	else if (x->decision)
		put_md(kjson_str_or(x->decision, "line", ""), CELL, out);
	else
		kbuf_printf(out, "%s %s", x->id, x->status);
}

static void
put_trend(const struct campaign *c, const struct round *r, bool corrected, struct kbuf *out)
{
	const struct candidate *x = shown(c, r);
	struct aggregates a = aggregates_of(c, x, NULL);
	const struct aggregate *cells[] = { &a.forward, &a.forward, &a.backward, &a.backward,
		&a.step };
	static const bool peak[] = { false, true, false, true, false };

	if (r->number == 1 && !corrected)
		put_trend_heading(c, out);
	kbuf_printf(out, "| %ld%s | %s | ", r->number, corrected ? " (corrected)" : "",
	    !r->trial         ? "BASELINE"
	        : r->accepted ? "ACCEPTED"
	                      : "ROLLBACK");
	put_md(r->trial
	        ? kjson_str_or(x->plan, "change", kjson_str_or(x->json, "sample.strategy", ""))
	        : "the reference",
	    CELL, out);
	for (size_t i = 0; i < LEN(cells); i++) {
		kbuf_puts(out, " | ");
		put_rate(c, cells[i], peak[i], out);
	}
	kbuf_puts(out, " | ");
	if (a.step.n)
		put_vs_baseline(c, x, out);
	else
		kbuf_puts(out, "—");
	kbuf_puts(out, " | ");
	put_finding(r, x, !a.backward.n, out);
	kbuf_puts(out, " |\n");
}

void
put_log_entry(
    const struct campaign *c, const struct round *r, int log, bool corrected, struct kbuf *out)
{
	if (log == LOG_OPTIMIZE)
		put_optimize(c, r, corrected, out);
	else
		put_trend(c, r, corrected, out);
}
