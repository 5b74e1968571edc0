/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values that fill the pages for people: figures in printed form, and texts of models and
 * compilers, escaped so that they contain no Markdown markup. See krecords.h.
 */

#include "kends.h"
#include "kmark.h"
#include "kplan.h"
#include "krecords.h"

enum { WORDS = 2000, CELL = 160, PAGE_MAX = 1 << 20 };

/* The text of a page, which is read once for all rounds. */
static const char *
page_text(const char *name)
{
	static json_t *pages;

	pages = pages ?: json_object();
	if (!json_object_get(pages, name)) {
		auto_free char *path = kdata_path(name), *text = kread_text_or_die(path, PAGE_MAX);

		kjson_put(pages, name, text);
	}
	return json_string_value(json_object_get(pages, name));
}

/*
 * Foreign text becomes one line of Markdown, which "cell" cuts for a table; "raw" is a text of our
 * own, and "pct2" a number.
 */
static bool
show_md(struct kbuf *out, const char *how, const json_t *value)
{
	const char *text = json_string_value(value);
	auto_free char *line = text ? kfence_line(text, strcmp(how, "cell") ? WORDS : CELL) : NULL;

	if (!strcmp(how, "pct2"))
		kbuf_puts(out, pct_text(value ? json_number_value(value) : NAN, 2));
	else if (text && !strcmp(how, "raw"))
		kbuf_puts(out, text);
	else if (text)
		kmark_md(out, line, strlen(line));
	return text || *how;
}

void
put_page(const char *name, json_t *facts, struct kbuf *out)
{
	auto_free char *file = kasprintf("pages/records/%s", name);
	struct ktemplate t = { .show = show_md };

	kjson_extend(facts, "{s:s,s:s,s:b,s:b}", "unit", rate_unit(), "time_unit", kcamp_unit(),
	    "flops", counts_flops(), "bytes", counts_bytes());
	ktemplate_fill(&t, out, page_text(file), file, facts);
	json_decref(facts);
}

static const char *
digits(bool known, int count, double value)
{
	return known ? kshown("%#.*g", count, value) : "-";
}

static json_t *
axes_text(const struct ktask *t, const struct ktask_workload *w)
{
	auto_buf struct kbuf b = kbuf_empty();

	for (size_t a = 0; a < t->axis_count; a++)
		if (t->axes[a].kind == KAXIS_VAR)
			kbuf_printf(&b, "%s%s=%lld", b.len ? " " : "", t->axes[a].name,
			    (long long)w->axis[a]);
	return json_string(b.data);
}

/*
 * The largest errors: absolute, and relative to the tolerance. Relative to the value only if
 * nothing else is known, because that is large for values near 0.
 */
static const char *
error_text(const struct shape *s)
{
	if (s->max_abs_err < 0 && s->max_rel_err >= 0)
		return kshown("relative %#.3g", s->max_rel_err);
	if (s->max_abs_err < 0 || s->max_err_share < 0)
		return digits(s->max_abs_err >= 0, 3, s->max_abs_err);
	return kshown("%#.3g (%.2g of what is allowed)", s->max_abs_err, s->max_err_share);
}

static json_t *
shape_facts(const struct candidate *x, size_t i)
{
	const struct ktask_workload *w = &campaign.task->workloads[i];
	const struct shape *s = &x->shape[i];
	bool timed = s->ns > 0;

	return json_pack("{s:s,s:b,s:o,s:s,s:b,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "name", w->name,
	    "core", w->core, "axes", axes_text(campaign.task, w), "check", s->check, "timed", timed,
	    "ms", digits(timed, 5, shown_time(s->ns)), "sd", digits(timed, 3, shown_sd(s)), "rate",
	    digits(timed, 4, s->rate), "gbps", digits(timed, 4, s->gbps), "err", error_text(s),
	    "delta", pct_text(timed ? shape_change_pct(x, i) : NAN, 2), "base",
	    pct_text(timed ? shape_baseline_pct(x, i) : NAN, 2));
}

static json_t *
shapes_facts(const struct candidate *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < campaign.task->workload_count; i++)
		if (x->shape[i].active)
			json_array_append_new(list, shape_facts(x, i));
	return list;
}

/* The shape that moved most in the direction SIGN, or null. */
static json_t *
extreme_shape(const struct candidate *x, double sign)
{
	json_t *found = json_null();
	double most = 0;

	for (size_t i = 0; i < campaign.task->workload_count; i++) {
		double v = x->shape[i].ns > 0 ? sign * shape_change_pct(x, i) : NAN;

		if (v > most) {
			most = v;
			json_decref(found);
			found = shape_facts(x, i);
		}
	}
	return found;
}

/*
 * The meaning of NAME for readers who do not read code, from the table GROUP of a file of words;
 * DEF if it is not there. Borrowed.
 */
static const char *
words_for(const char *group, const char *name, const char *def)
{
	static json_t *words;

	if (!words)
		words = kjson_data("pages/records/words.json", "words/1");
	return kjson_str_or(json_object_get(words, group), name, def);
}

static const char *
code_meaning(const struct candidate *x)
{
	const char *code = kjson_maybe(x->decision, "code");

	return code ? words_for("meaning", code, code) : x->status;
}

/* What to do after a number of rollbacks in a row, by klinear_escalation. */
static const char *
advice(const struct round *r)
{
	return words_for("advice", r->trial ? klinear_escalation(r->streak) : "first", "");
}

/* Reasons are texts, or objects with a check and a detail. */
static void
add_reasons(json_t *list, const json_t *reasons)
{
	kjson_foreach(reason, reasons)
		json_array_append_new(list,
		    json_is_string(reason)
		        ? json_incref(reason)
		        : json_sprintf("%s: %s", kjson_str_or(reason, "check", "?"),
		              kjson_str(reason, "detail")));
}

/* The share of the benchmark's gain that real use can have. */
static const char *
real_gain(const struct round *r, const struct candidate *x)
{
	const char *decision = kjson_str(x->audit, "decision");
	const char *bucket =
	    kjson_str_or(x->audit, "bucket", kjson_str_or(x->plan, "bucket", "K?"));
	double quant = kjson_num_or(x->plan, "quant_us", NAN),
	       step = kjson_num_or(x->plan, "step_us", NAN), bound = 100 * quant / step;
	double gain = gain_pct(x);

	if (!strcmp(decision, "REJECT-as-overfit"))
		return "none: it depends on what only the benchmark does";
	if (r->accepted != x || !r->trial)
		return r->trial ? "none: the round was rolled back" : "none: the baseline";
	if (!strcmp(decision, "ACCEPT-unmeasured"))
		return kshown("at most %s, judged by the source alone: "
		              "it was not measured on new buffers",
		    pct_text(gain, 3));
	if (*bucket != 'W')
		return kshown("%s, all of it: the change is inside the kernel", pct_text(gain, 3));
	if (isnan(bound))
		return "unknown: the plan gives no quant_us and step_us";
	return kshown("%s at most: %g us saved in a step of %g us", pct_text(fmin(gain, bound), 3),
	    quant, step);
}

/* "audit" in the form for the pages; null when there was none. */
static json_t *
audit_facts(const struct round *r, const struct candidate *x)
{
	json_t *a;

	if (!x->audit)
		return json_null();
	a = json_copy((json_t *)x->audit);
	kjson_extend(a, "{s:s,s:s,s:s*,s:s,s:b,s:s,s:s}", "bucket",
	    kjson_str_or(x->audit, "bucket", kjson_str_or(x->plan, "bucket", "K?")), "declared",
	    kjson_str_or(x->audit, "declared", "nothing"), "gap",
	    kjson_path(x->audit, "fresh.gap_pct")
	        ? kshown("%+.3f%%", kjson_num(x->audit, "fresh.gap_pct"))
	        : NULL,
	    "unmeasured",
	    kjson_str_or(
	        json_array_get(json_object_get(x->audit, "not_measured"), 0), "why", "not needed"),
	    "grouped", campaign.task->groups >= 0, "benchmark", pct_text(gain_pct(x), 3), "real",
	    real_gain(r, x));
	return a;
}

static json_t *
lines_facts(const struct candidate *x, const char *parent)
{
	struct kdiff d;
	json_t *text;

	if (!x->code || !parent)
		return json_null();
	kdiff(parent, x->code, &d);
	text = json_sprintf("%zu added, %zu removed, of %zu", d.additions, d.removals,
	    strlen(d.script) - d.additions);
	free(d.script);
	return text;
}

/* The decision's own line, or a similar one. */
static const char *
verdict_line(const struct round *r, const struct candidate *x)
{
	const char *what = r->trial
	    ? kshown("%s %s, avg %s", x->id, x->status, pct_text(gain_pct(x), 1))
	    : "the reference";

	return kjson_str_or(
	    x->decision, "line", kshown("Round %ld: %s — %s", r->number, verdict_word(r, x), what));
}

static json_t *
figures(const struct candidate *x)
{
	struct aggregates a = aggregates_of(x, NULL);
	/* These come first, because they take many turns of kshown(). */
	json_t *shapes = shapes_facts(x), *gained = extreme_shape(x, 1),
	       *lost = extreme_shape(x, -1);

	return json_pack("{s:o,s:s,s:s,s:s,s:s,s:b,s:s,s:s,s:s,s:s,s:s,s:b,s:s,s:o,s:o}", "shapes",
	    shapes, "forward", rate_text(&a.forward, a.forward.average), "forward_peak",
	    rate_text(&a.forward, a.forward.peak), "backward",
	    rate_text(&a.backward, a.backward.average), "backward_peak",
	    rate_text(&a.backward, a.backward.peak), "forward_only", !a.backward.n, "step",
	    rate_text(&a.step, a.step.average), "vs_baseline", a.step.n ? vs_baseline(x) : "—",
	    "vs_best", pct_text(a.step.n ? gain_pct(x) : NAN, 3), "actual",
	    pct_text(gain_pct(x), 3), "result", result_text(x), "own_timing",
	    kcamp_json("eval.timing") != NULL, "test", test_text(x), "gained", gained, "lost",
	    lost);
}

/* The texts of the plan and the evaluation. */
static json_t *
words(const struct round *r, const struct candidate *x)
{
	const char *strategy = kjson_str_or(x->json, "sample.strategy", "-");
	const json_t *expected = json_object_get(x->plan, "expected_gain_pct");
	json_t *reasons = json_array();

	add_reasons(reasons, json_object_get(x->eval, "reasons"));
	add_reasons(reasons, json_object_get(x->audit, "reasons"));
	return json_pack("{s:o,s:O*,s:O*,s:s*,s:s,s:o,s:s}", "reasons", reasons, "plan", x->plan,
	    "eval", x->eval, "expected",
	    json_is_number(expected) ? kshown("%+.3g%%", json_number_value(expected)) : NULL,
	    "what", r->trial ? kjson_str_or(x->plan, "change", strategy) : "the reference", "lines",
	    lines_facts(
	        x, kjson_str_or(x->json, "sample.parent.code", x->base ? x->base->code : NULL)),
	    "meaning", code_meaning(x));
}

static json_t *
candidate_facts(const struct round *r, const struct candidate *x)
{
	const json_t *repeats = json_object_get(x->eval, "repeats");
	json_t *audit = audit_facts(r, x),
	       *o = json_pack("{s:s,s:s,s:s,s:s,s:b,s:b,s:s,s:s,s:o,s:s?}", "id", x->id, "status",
	           x->status, "level", x->level, "set", set_of(x), "copy",
	           kjson_maybe(x->eval, "duplicate_of") != NULL, "pairs",
	           json_object_get(x->eval, "pairs") != NULL, "base", x->base ? x->base->id : "",
	           "line", verdict_line(r, x), "audit", audit, "repeats",
	           json_array_size(repeats)
	               ? kshown("%zu times, mean %+.3f%%, sd %.3f%%", json_array_size(repeats),
	                     kjson_num(x->decision, "remeasured.mean_pct"),
	                     kjson_num(x->decision, "remeasured.sd_pct"))
	               : NULL);

	json_object_update_new(o, figures(x));
	json_object_update_new(o, words(r, x));
	return o;
}

/* The candidate that entries show for a round: the accepted one, else the best of the others. */
static const struct candidate *
representative(const struct round *r)
{
	const struct candidate *best = NULL;
	double most = -1;

	if (r->accepted)
		return r->accepted;
	kforeach_list(each, r) {
		double average = aggregates_of(each, NULL).step.average;

		if (average > most) {
			most = average;
			best = each;
		}
	}
	return best;
}

/* "2026-01-31 12:00" (UTC) or "unknown". */
static const char *
minute(const struct round *r)
{
	return *r->time ? kshown("%.10s %.5s", r->time, r->time + 11) : "unknown";
}

static const char *
round_word(const struct round *r)
{
	if (ktrials.linear || !r->trial)
		return verdict_word(r, &r->list[0]);
	return r->accepted ? "NEW BEST" : "NO NEW BEST";
}

/* A candidate of a search with several branches. */
static json_t *
row_facts(const struct candidate *x)
{
	struct aggregates a = aggregates_of(x, NULL);

	return json_pack("{s:s,s:s,s:b,s:s,s:s,s:s,s:s}", "id", x->id, "status", x->status, "gain",
	    kjson_bool(x->score, "gain"), "strategy", kjson_str_or(x->json, "sample.strategy", "-"),
	    "step", rate_text(&a.step, a.step.average), "delta",
	    pct_text(a.step.n ? gain_pct(x) : NAN, 2), "vs_baseline",
	    a.step.n ? vs_baseline(x) : "—");
}

static json_t *
make_round_facts(const struct round *r)
{
	const struct candidate *x = representative(r);
	const char *gpu = kcamp_str("gpu");
	json_t *list = json_array(), *facts = candidate_facts(r, x);

	kforeach_of(one, r->list, ktrials.linear ? 0 : r->count)
		json_array_append_new(list, row_facts(one));
	return json_pack("{s:I,s:I,s:b,s:b,s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:I,"
	                 "s:s*,s:s,s:s,s:s,s:s,s:s,s:s,s:s}",
	    "number", (json_int_t)r->number, "trial", (json_int_t)r->trial, "reference", !r->trial,
	    "linear", ktrials.linear, "word", round_word(r), "kind",
	    !r->trial         ? "BASELINE"
	        : r->accepted ? "ACCEPTED"
	                      : "ROLLBACK",
	    "when", minute(r), "accepted", r->accepted ? r->accepted->id : "", "advice", advice(r),
	    "candidates", list, "x", facts, "count", (json_int_t)r->count, "op", campaign.task->op,
	    "language", kcamp_str("language"), "backend", kcamp_str("backend"), "device",
	    *gpu ? gpu : "CPU", "campaign", kcamp_str("name"), "search", kcamp_str("search.mode"),
	    "machine",
	    kjson_str_or(x->eval, "environment.device.name",
	        kjson_str_or(x->eval, "environment.cpu", "unknown")),
	    "code", kjson_str_or(x->eval, "code_sha256", "?"));
}

json_t *
round_facts(struct round *r)
{
	if (!r->facts)
		r->facts = make_round_facts(r);
	return json_copy(r->facts);
}

json_t *
best_facts(void)
{
	struct round *r = last_accepted();
	json_t *facts = round_facts(r);
	size_t accepted = 0;

	kforeach_of(one, campaign.round + 1, campaign.count - 1)
		accepted += one->accepted != NULL;
	/* The ceiling only here, not in sealed files: knowledge of the hardware may grow. */
	kjson_extend(facts, "{s:I,s:I,s:I,s:s?}", "rounds", (json_int_t)campaign.count, "wins",
	    (json_int_t)accepted, "losses", (json_int_t)(campaign.count - 1 - accepted), "ceiling",
	    kjson_path(r->accepted->score, "efficiency_pct")
	        ? kshown("%.1f%%", kjson_num(r->accepted->score, "efficiency_pct"))
	        : NULL);
	return facts;
}

/* Did a round's plan say the same as TEXT? The number of the first such round, or 0. */
static long
tried_in(const char *text)
{
	static const char *const fields[] = { "change", "hypothesis" };
	auto_free char *wanted = kplan_normal(text);

	kforeach_of(r, campaign.round + 1, campaign.count - 1)
		kforeach_list(x, r)
			kforeach(field, fields) {
				auto_free char *words = kplan_normal(kjson_str(x->plan, *field));

				if (*words && !strcmp(words, wanted))
					return r->number;
			}
	return 0;
}

json_t *
directions_facts(void)
{
	json_auto_t *seen = json_object();
	json_t *list = json_array();

	kforeach_of(r, campaign.round, campaign.count)
		kjson_foreach_text(text, r->list->plan, "directions") {
			auto_free char *normal = kplan_normal(text ?: "");

			if (text && !json_object_get(seen, normal))
				kjson_append(list, "{s:s,s:I,s:I}", "text", text, "named",
				    (json_int_t)r->number, "tried", (json_int_t)tried_in(text));
			kjson_enter(seen, normal);
		}
	return json_pack("{s:o}", "directions", list);
}

json_t *
ineffective_facts(void)
{
	json_t *list = json_array();

	kforeach_of(r, campaign.round + 1, campaign.count - 1)
		if (!r->accepted && klinear_refutes(kjson_str(r->list->decision, "code")))
			json_array_append_new(list, round_facts(r));
	return json_pack("{s:o}", "rounds", list);
}

json_t *
termination_facts(void)
{
	auto_buf struct kbuf holds = kbuf_empty();
	struct kends e;
	json_t *list;

	kends_find((long)campaign.count - 1, campaign.round[campaign.count - 1].drafts,
	    last_accepted()->accepted->json, &e);
	list = kends_rows(&e);
	for (size_t i = 0; i < KENDS; i++)
		if (e.at[i].holds)
			kbuf_printf(&holds, "%sT%zu", holds.len ? ", " : "", i + 1);
	kends_free(&e);
	return json_pack("{s:o,s:s}", "conditions", list, "satisfied", holds.data);
}
