/* SPDX-License-Identifier: Apache-2.0 */
/* summary.md of a round: what was meant, done, measured and decided. See kround.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kdiff.h"
#include "klinear.h"
#include "kround.h"

enum { WORDS = 2000, CELL = 160 };

static const char *
plan_text(const struct candidate *x, const char *field)
{
	return kjson_str_or(x->plan, field, NULL);
}

/* Items for those fields of the plan that it has. */
static void
put_plan_items(
    struct kbuf *out, const struct candidate *x, const char *const (*items)[2], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (plan_text(x, items[i][0]))
			put_item(WORDS, out, items[i][1], plan_text(x, items[i][0]));
}

static void
put_change(const struct round *r, const struct candidate *x, struct kbuf *out)
{
	static const char *const items[][2] = { { "category", "Category" }, { "bucket", "Bucket" },
		{ "risks", "Risks" } };
	const char *parent =
	    kjson_str_or(x->json, "sample.parent.code", x->base ? x->base->code : NULL);
	const json_t *expected = json_object_get(x->plan, "expected_gain_pct");
	struct kdiff d;

	if (!r->trial) {
		kbuf_puts(out, "No code change: the reference unchanged.\n");
		return;
	}
	put_md(plan_text(x, "change"), WORDS, out);
	kbuf_puts(out, "\n\n");
	put_plan_items(out, x, items, LEN(items));
	if (json_is_number(expected))
		kbuf_printf(out, "- Expected gain: %+.3g%%\n", json_number_value(expected));
	if (kjson_str_or(x->eval, "plan_fault", NULL))
		put_item(WORDS, out, "Fault of the plan", kjson_str_or(x->eval, "plan_fault", ""));
	if (x->code && parent) {
		kdiff(parent, strlen(parent), x->code, strlen(x->code), &d);
		kbuf_printf(out, "- Lines: %zu added, %zu removed, of %zu\n", d.additions,
		    d.removals, d.lines[0]);
		kdiff_free(&d);
	}
}

static void
put_axes(const struct ktask *t, const struct ktask_workload *w, struct kbuf *out)
{
	const char *sep = "";

	for (size_t a = 0; a < t->axis_count; a++)
		if (t->axes[a].kind == KAXIS_VAR) {
			kbuf_printf(out, "%s%s=%lld", sep, t->axes[a].name, (long long)w->axis[a]);
			sep = " ";
		}
}

static void
put_cell(bool known, int digits, double v, struct kbuf *out)
{
	if (known)
		kbuf_printf(out, " | %#.*g", digits, v);
	else
		kbuf_puts(out, " | -");
}

static void
put_shape(const struct campaign *c, const struct candidate *x, size_t i, struct kbuf *out)
{
	const struct ktask_workload *w = &c->task->workloads[i];
	const struct shape *s = &x->shape[i];
	bool timed = s->ns > 0;

	kbuf_puts(out, "| ");
	put_md(w->name, CELL, out);
	kbuf_puts(out, w->core ? " (core) | " : " | ");
	put_axes(c->task, w, out);
	kbuf_printf(out, " | %s", s->check);
	put_cell(timed, 5, s->ns / 1e6, out);
	put_cell(timed, 3, s->sd_ns / 1e6, out);
	if (c->task->flops)
		put_cell(timed, 4, s->rate, out);
	if (c->task->bytes)
		put_cell(timed, 4, s->gbps, out);
	put_cell(s->max_rel_err >= 0, 3, s->max_rel_err, out);
	kbuf_puts(out, " | ");
	put_pct(timed ? shape_change_pct(c, x, i) : NAN, 2, out);
	kbuf_puts(out, " | ");
	put_pct(timed ? shape_baseline_pct(c, x, i) : NAN, 2, out);
	kbuf_puts(out, " |\n");
}

static void
put_shapes(const struct campaign *c, const struct candidate *x, struct kbuf *out)
{
	const struct ktask *t = c->task;

	kbuf_printf(out,
	    "| Shape | Axes | Result | Time ms | sd ms%s%s | max rel err | Delta vs current best | "
	    "Delta "
	    "vs baseline |\n"
	    "|---|---|---|---:|---:%s%s|---:|---:|---:|\n",
	    t->flops ? " | TFLOPS" : "", t->bytes ? " | GB/s" : "", t->flops ? "|---:" : "",
	    t->bytes ? "|---:" : "");
	for (size_t i = 0; i < t->workload_count; i++)
		if (x->shape[i].active)
			put_shape(c, x, i, out);
}

static void
put_validation(
    const struct campaign *c, const struct round *r, const struct candidate *x, struct kbuf *out)
{
	char when[32];
	const json_t *repeats = json_object_get(x->eval, "repeats");

	kbuf_printf(out,
	    "- Time: %s\n- Candidate: %s, evaluated as `%s`%s\n- Level: %s (set `%s`)\n",
	    minute(r, when), x->id, x->status,
	    kjson_str_or(x->eval, "duplicate_of", NULL) ? ", a copy of an earlier one" : "",
	    x->level, set_of(c, x));
	kbuf_puts(out, "- Test: ");
	put_test(c, x, out);
	kbuf_puts(out, "\n");
	kbuf_printf(out, "- Benchmark: keval, tier 3: %s of the samples%s\n", c->statistic,
	    json_object_get(x->eval, "pairs") ? ", timed in turns with the current best" : "");
	if (json_array_size(repeats))
		kbuf_printf(out, "- Measured again: %zu times, mean %+.3f%%, sd %.3f%%\n",
		    json_array_size(repeats), kjson_num_or(x->decision, "remeasured.mean_pct", 0),
		    kjson_num_or(x->decision, "remeasured.sd_pct", 0));
	kbuf_puts(out,
	    "- Artefacts: `artifacts/` (benchmark.csv, diff.patch, eval.log, facts.sha256), "
	    "`kernel_snapshot/`\n\n");
	put_shapes(c, x, out);
}

static void
put_aggregate(const struct campaign *c, const struct candidate *x, struct kbuf *out)
{
	struct aggregates a = aggregates_of(c, x, NULL);
	const char *unit = rate_unit(c);

	kbuf_puts(out, "- Forward geomean: ");
	put_rate(c, &a.forward, false, out);
	kbuf_printf(out, " %s\n- Backward geomean: ", unit);
	put_rate(c, &a.backward, false, out);
	kbuf_printf(out, " %s\n- Step geomean: ", unit);
	put_rate(c, &a.step, false, out);
	kbuf_printf(out, " %s\n- vs baseline: ", unit);
	put_vs_baseline(c, x, out);
	kbuf_puts(out, "\n- vs current best");
	if (x->base)
		kbuf_printf(out, " (%s)", x->base->id);
	kbuf_puts(out, ": ");
	put_pct(a.step.n ? change_pct(c, x, x->base) : NAN, 3, out);
	kbuf_puts(out, "\n");
}

/* What the codes of a decision mean, for those who read no code. */
static const char *const meanings[KLINEAR_CODES] = {
	[KLINEAR_BASELINE] = "everything is compared with it",
	[KLINEAR_GAIN] = "the aggregate improved by more than the noise, and no shape got slower",
	[KLINEAR_TRADE_OFF] = "the aggregate improved, and slower shapes stayed within the limit",
	[KLINEAR_TIE_WAIVER] = "as fast, with an extra benefit that a person vouched for",
	[KLINEAR_NO_PLAN] = "there was no valid plan, so nothing was evaluated",
	[KLINEAR_BUILD] = "it did not build",
	[KLINEAR_RUN] = "it failed while running",
	[KLINEAR_WRONG] = "results were wrong",
	[KLINEAR_AUDIT] = "the gain would not carry over to real use",
	[KLINEAR_AGGREGATE] = "the aggregate did not improve",
	[KLINEAR_CORE_SHAPE] = "a core shape got too much slower",
	[KLINEAR_QUALITY] = "it spills registers or has lower occupancy",
	[KLINEAR_NOISE] = "the gain is no larger than the noise",
	[KLINEAR_VOLATILE] = "the measurements scatter too much to confirm a gain",
	[KLINEAR_INCONCLUSIVE] = "the noise hides whether it is faster or slower, so it says "
	                         "nothing about the direction",
	[KLINEAR_DUPLICATE] = "it is the same program as an earlier one",
	[KLINEAR_REJECTED] = "it used something forbidden",
};

static const char *
code_meaning(const struct candidate *x)
{
	const char *word = kjson_str_or(x->decision, "code", NULL);
	enum klinear_code code = klinear_code_named(word);

	return code < KLINEAR_CODES ? meanings[code] : word ? word : x->status;
}

static void
put_decision(
    const struct campaign *c, const struct round *r, const struct candidate *x, struct kbuf *out)
{
	char *line = verdict_line(c, r, x);

	kbuf_printf(out, "%s: %s.\n\n> ", verdict_word(r, x), code_meaning(x));
	put_md(line, WORDS, out);
	kbuf_puts(out, "\n");
	free(line);
}

/* The shape that moved most in the direction SIGN. */
static long
extreme_shape(const struct campaign *c, const struct candidate *x, double sign)
{
	long found = -1;
	double most = 0;

	for (size_t i = 0; i < c->task->workload_count; i++) {
		double v = x->shape[i].ns > 0 ? sign * shape_change_pct(c, x, i) : NAN;

		if (v > most) {
			most = v;
			found = (long)i;
		}
	}
	return found;
}

static void
put_attribution(
    const struct campaign *c, const struct round *r, const struct candidate *x, struct kbuf *out)
{
	static const char *const items[][2] = { { "evidence", "Evidence" },
		{ "signal", "Expected signal" } };
	static const struct {
		double sign;
		const char *what;
	} ends[] = { { 1, "Gained most" }, { -1, "Lost most" } };
	const char *bottleneck = kjson_str_or(x->eval, "profile.bottleneck.text", NULL);

	if (!r->trial) {
		kbuf_puts(out, "- The figures of round 1 are those of the reference.\n");
		return;
	}
	put_plan_items(out, x, items, LEN(items));
	for (size_t e = 0; e < LEN(ends); e++) {
		long i = extreme_shape(c, x, ends[e].sign);

		if (i < 0)
			continue;
		kbuf_printf(out, "- %s: ", ends[e].what);
		put_md(c->task->workloads[i].name, CELL, out);
		kbuf_puts(out, " ");
		put_pct(shape_change_pct(c, x, (size_t)i), 2, out);
		kbuf_puts(out, "\n");
	}
	if (bottleneck)
		put_item(WORDS, out, "Bottleneck in the profile", bottleneck);
	kbuf_printf(out, "- Outcome: %s\n", code_meaning(x));
}

/* What a number of rollbacks in a row asks for: by klinear_escalation. */
static const struct {
	const char *level, *what;
} escalation[] = {
	{ "none", "Build on this round." },
	{ "diagnose", "Diagnose why this failed, and attack the same bottleneck in another way." },
	{ "profile",
	    "Profile again, name the bottleneck again, and review three fundamentally different "
	    "directions." },
	{ "isa", "Compare the machine code with that of a fast kernel." },
	{ "sota",
	    "Compare with the best known kernel, and take a fundamentally different approach." },
};

static const char *
advice(const struct round *r)
{
	for (size_t i = 0; i < LEN(escalation); i++)
		if (!strcmp(escalation[i].level, klinear_escalation(r->streak)))
			return escalation[i].what;
	return "";
}

static void
put_next(const struct round *r, const struct candidate *x, struct kbuf *out)
{
	const json_t *directions = json_object_get(x->plan, "directions");
	size_t i;
	json_t *d;

	kbuf_printf(out, "- %s\n", r->trial ? advice(r) : "State the first hypothesis.");
	json_array_foreach(directions, i, d)
	    put_item(WORDS, out, "Named in this round", json_string_value(d));
}

static void
put_reasons(struct kbuf *out, const json_t *reasons)
{
	size_t i;
	json_t *reason;

	json_array_foreach(reasons, i, reason)
	{
		if (json_is_string(reason)) {
			put_item(WORDS, out, "Root cause", json_string_value(reason));
		} else {
			kbuf_puts(out, "- Root cause: ");
			put_md(kjson_str_or(reason, "check", "?"), CELL, out);
			kbuf_puts(out, ": ");
			put_md(kjson_str_or(reason, "detail", ""), 400, out);
			kbuf_puts(out, "\n");
		}
	}
}

static void
put_rollback(const struct campaign *c, const struct candidate *x, struct kbuf *out)
{
	put_item(WORDS, out, "Change made", plan_text(x, "change"));
	put_item(WORDS, out, "Expected", plan_text(x, "signal"));
	kbuf_printf(out, "- Actual: `%s`, aggregate ", x->status);
	put_pct(change_pct(c, x, x->base), 3, out);
	kbuf_printf(out, " against %s\n", x->base->id);
	put_reasons(out, json_object_get(x->eval, "reasons"));
	put_reasons(out, json_object_get(x->audit, "reasons"));
	kbuf_printf(out, "- Root cause: %s\n", code_meaning(x));
	put_item(WORDS, out, "Log", kjson_str_or(x->eval, "log", ""));
	kbuf_puts(out, "- Lesson: do not repeat it unchanged (category ");
	put_md(plan_text(x, "category"), CELL, out);
	kbuf_printf(out, "); the next round starts from %s\n", x->base->id);
}

static bool
is_cache_bucket(const char *bucket)
{
	return bucket[0] == 'W';
}

/* The share of the benchmark's gain that real use can have. */
static void
put_real_gain(const struct campaign *c, const struct round *r, const struct candidate *x,
    const char *bucket, struct kbuf *out)
{
	double gain = change_pct(c, x, x->base), quant = kjson_num_or(x->plan, "quant_us", NAN),
	       step = kjson_num_or(x->plan, "step_us", NAN), bound = 100 * quant / step;

	kbuf_puts(out, "- Estimated gain in real use: ");
	if (!strcmp(kjson_str_or(x->audit, "decision", ""), "REJECT-as-overfit")) {
		kbuf_puts(out, "none: it depends on what only the benchmark does\n");
	} else if (r->accepted != x || !r->trial) {
		kbuf_printf(
		    out, "none: %s\n", r->trial ? "the round was rolled back" : "the baseline");
	} else if (!strcmp(kjson_str_or(x->audit, "decision", ""), "ACCEPT-unmeasured")) {
		kbuf_puts(out, "at most ");
		put_pct(gain, 3, out);
		kbuf_puts(
		    out, ", judged by the source alone: it was not measured on new buffers\n");
	} else if (!is_cache_bucket(bucket)) {
		put_pct(gain, 3, out);
		kbuf_puts(out, ", all of it: the change is inside the kernel\n");
	} else if (isnan(bound)) {
		kbuf_puts(out, "unknown: the plan gives no quant_us and step_us\n");
	} else {
		put_pct(fmin(gain, bound), 3, out);
		kbuf_printf(out, " at most: %g us saved in a step of %g us\n", quant, step);
	}
}

static void
put_skew(const struct campaign *c, const struct candidate *x, struct kbuf *out)
{
	const json_t *rows = kjson_path(x->audit, "skew.rows");
	const char *sep = " (";
	size_t i;
	json_t *row;

	kbuf_puts(out, "- Robust against skewed groups: ");
	if (!kjson_bool_or(x->audit, "skew.required", false)) {
		kbuf_puts(out,
		    c->task->groups < 0 ? "not a grouped operation\n"
		                        : "not needed: there is no gain\n");
		return;
	}
	kbuf_puts(out,
	    kjson_bool_or(x->audit, "skew.ok", false) ? "holds under skew"
	                                              : "uniform-only — REJECTED");
	json_array_foreach(rows, i, row)
	{
		kbuf_puts(out, sep);
		put_md(kjson_str_or(row, "workload", "?"), CELL, out);
		kbuf_puts(out, " ");
		put_pct(kjson_num_or(row, "delta_pct", NAN), 2, out);
		sep = ", ";
	}
	kbuf_puts(out, json_array_size(rows) ? ")\n" : "\n");
}

static void
put_hits(const struct candidate *x, struct kbuf *out)
{
	const json_t *hits = json_object_get(x->audit, "hits");
	size_t i;
	json_t *hit;

	kbuf_printf(out, "- Cache key: %s\n- Identity audit: ",
	    json_array_size(hits) ? "see the hits" : "no cache");
	if (!json_array_size(hits))
		kbuf_puts(out, "nothing found in the lines added");
	json_array_foreach(hits, i, hit)
	{
		kbuf_printf(out, "%srule ", i ? "; " : "");
		put_md(kjson_str_or(hit, "rule", "?"), CELL, out);
		kbuf_printf(out, ", line %lld: ", (long long)kjson_int_or(hit, "line", 0));
		put_md(kjson_str_or(hit, "text", ""), CELL, out);
	}
	kbuf_puts(out, "\n");
}

static const char *
unmeasured_why(const struct candidate *x)
{
	const json_t *first = json_array_get(kjson_path(x->audit, "not_measured"), 0);

	return kjson_str_or(first, "why", "not needed");
}

static void
put_transfer(
    const struct campaign *c, const struct round *r, const struct candidate *x, struct kbuf *out)
{
	const char *bucket =
	    kjson_str_or(x->audit, "bucket", kjson_str_or(x->plan, "bucket", "K?"));
	const json_t *gap = kjson_path(x->audit, "fresh.gap_pct");

	if (!x->audit) {
		kbuf_puts(out, "Not audited.\n");
		return;
	}
	kbuf_puts(out, "- Bucket: ");
	put_md(bucket, CELL, out);
	kbuf_puts(out, " (declared: ");
	put_md(kjson_str_or(x->audit, "declared", "nothing"), CELL, out);
	kbuf_puts(out, ")\n");
	put_hits(x, out);
	kbuf_puts(out, "- Same buffers against fresh ones: ");
	if (gap)
		kbuf_printf(out, "gap %+.3f%%, %s\n", json_number_value(gap),
		    kjson_bool_or(x->audit, "fresh.ok", false) ? "within bounds" : "too large");
	else
		kbuf_printf(out, "not measured: %s\n", unmeasured_why(x));
	put_skew(c, x, out);
	kbuf_puts(out, "- Gain in the benchmark: ");
	put_pct(change_pct(c, x, x->base), 3, out);
	kbuf_puts(out, "\n");
	put_real_gain(c, r, x, bucket, out);
	put_item(WORDS, out, "Decision", kjson_str_or(x->audit, "decision", "?"));
	put_reasons(out, json_object_get(x->audit, "reasons"));
	if (kjson_str_or(x->audit, "waiver", NULL))
		put_item(WORDS, out, "Waiver", kjson_str_or(x->audit, "waiver", ""));
}

/* A linear round has one candidate, and every section about it. */
static void
put_linear(const struct campaign *c, const struct round *r, struct kbuf *out)
{
	const struct candidate *x = &r->list[0];

	kbuf_printf(out, "# round-%ld — %s\n\n## Hypothesis\n\n", r->number, verdict_word(r, x));
	put_md(r->trial ? plan_text(x, "hypothesis") : "None: the baseline.", WORDS, out);
	kbuf_puts(out, "\n\n## Single change\n\n");
	put_change(r, x, out);
	kbuf_puts(out, "\n## Results\n\n### Validation\n\n");
	put_validation(c, r, x, out);
	kbuf_puts(out, "\n### Aggregate\n\n");
	put_aggregate(c, x, out);
	kbuf_puts(out, "\n## Decision\n\n");
	put_decision(c, r, x, out);
	kbuf_puts(out, "\n## Attribution\n\n");
	put_attribution(c, r, x, out);
	kbuf_puts(out, "\n## Next direction\n\n");
	put_next(r, x, out);
	if (r->accepted != x) {
		kbuf_puts(out, "\n## Rollback analysis\n\n");
		put_rollback(c, x, out);
	}
	kbuf_puts(out, "\n## Real-training transfer check\n\n");
	put_transfer(c, r, x, out);
}

/* A trial of a wide search: one row a candidate. */
static void
put_wide(const struct campaign *c, const struct round *r, struct kbuf *out)
{
	char when[32];

	kbuf_printf(out,
	    "# round-%ld — trial %ld\n\n- Time: %s\n- New best: %s\n\n"
	    "| Candidate | Status | Strategy | Step %s | Delta vs best | vs baseline | Gain "
	    "|\n|---|---|---|---:|---:|---|---|\n",
	    r->number, r->trial, minute(r, when), r->accepted ? r->accepted->id : "none",
	    rate_unit(c));
	for (size_t i = 0; i < r->count; i++) {
		const struct candidate *x = &r->list[i];
		struct aggregates a = aggregates_of(c, x, NULL);

		kbuf_printf(out, "| %s | %s | ", x->id, x->status);
		put_md(kjson_str_or(x->json, "sample.strategy", "-"), CELL, out);
		kbuf_puts(out, " | ");
		put_rate(c, &a.step, false, out);
		kbuf_puts(out, " | ");
		put_pct(a.step.n ? change_pct(c, x, x->base) : NAN, 2, out);
		kbuf_puts(out, " | ");
		if (a.step.n)
			put_vs_baseline(c, x, out);
		else
			kbuf_puts(out, "—");
		kbuf_printf(
		    out, " | %s |\n", kjson_bool_or(x->score, "gain", false) ? "yes" : "no");
	}
}

void
put_summary(const struct campaign *c, const struct round *r, struct kbuf *out)
{
	kbuf_puts(out, "<!-- Made by kround from the campaign's records. -->\n");
	if (c->linear)
		put_linear(c, r, out);
	else
		put_wide(c, r, out);
}
