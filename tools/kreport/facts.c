/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of a campaign as one document; views/report.jq adds what candidates are in all. See
 * kreport.h.
 */

#include "kends.h"
#include "kjq.h"
#include "kreport.h"

enum { LONGEST_REASON = 240 };

json_t *
ratio_json(const struct kgain_ratio *ratio)
{
	json_t *o;

	if (!(ratio->mean > 0))
		return NULL;
	o = json_pack("{s:f,s:f}", "mean", ratio->mean, "low", ratio->low);
	if (isfinite(ratio->high))
		kjson_put(o, "high", ratio->high);
	return o;
}

static json_t *
speed_json(const struct kcandidate *c)
{
	json_t *speed = ratio_json(&c->speedup);

	if (speed && c->provisional)
		json_object_set_new(speed, "provisional", json_true());
	return speed;
}

json_t *
candidate_json(const struct kcandidate *c)
{
	json_t *o = json_copy(c->json);

	kjson_extend(o, "{s:s,s:I,s:s,s:f,s:o*,s:I}", "id", c->id, "trial", (json_int_t)c->trial,
	    "status", status_rows[c->status].name, "ns", c->runtime_ms * 1e6, "speed",
	    speed_json(c), "round",
	    (json_int_t)kjson_int_or(c->json, "score.decision.round", c->trial + 1));
	return o;
}

/* Was it rejected for breaking the rules? */
static bool
is_cheat(const struct kcandidate *c)
{
	return status_rows[c->status].fault == FAULT_RULES;
}

/* All candidates, and the tables that they appear in. */
static json_t *
candidates_json(void)
{
	json_t *list = json_array();

	kforeach_list(one, &report) {
		const struct kcandidate *c = *one;
		json_t *o = candidate_json(c);

		kjson_extend(o, "{s:b,s:b,s:b,s:I}", "cheat", is_cheat(c), "rolled_back",
		    !strcmp(c->verdict, "rolled_back"), "transfer",
		    of(c, "audit") && (c->won || c->overfit), "hits",
		    (json_int_t)json_array_size(of(c, "audit.hits")));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *
cut_json(const char *text, size_t most)
{
	size_t len = strlen(text), kept = kutf8_prefix(text, len, most);

	return kept == len ? kjson_text(text, len) : json_sprintf("%.*s…", (int)kept, text);
}

/* The first error without the place "file:12:3: " before it, else the first line. */
static char *
error_line(const char *log)
{
	const char *from = strcasestr(log, "error") ?: log;

	return kuntil(from, "\n");
}

/* Why a candidate failed; the caller frees. */
static char *
reason_of(const struct kcandidate *c)
{
	const json_t *first = json_array_get(of(c, "eval.reasons"), 0);
	const char *log = text_of(c, "eval.build.log", ""),
	           *fault = text_of(c, "eval.plan_fault", NULL);

	if (c->status == STATUS_COMPILE_ERROR && *log)
		return error_line(log);
	if (first)
		return kasprintf(
		    "%s: %s", kjson_str_or(first, "check", "?"), kjson_str(first, "detail"));
	return fault ? kstrdup(fault) : error_line(text_of(c, "eval.log", ""));
}

/* The reason, and a key that failures with a similar one share. */
static void
add_failure(json_t *row, const struct kcandidate *c)
{
	auto_free char *found = reason_of(c), *similar = NULL;
	const char *reason = *found ? found : "no reason recorded";

	/* Line numbers, counts and sizes make similar messages differ. */
	similar = kregex_sub("\\d+", reason, "#");
	kjson_set(row, "key", json_sprintf("%s: %s", status_rows[c->status].name, similar));
	kjson_set(row, "failure", cut_json(reason, LONGEST_REASON));
}

/* The times of a round, and what a GPU was doing meanwhile. */
static void
add_timing(json_t *row, const struct kcandidate *c)
{
	json_t *times = json_object(), *devices = json_array();

	kjson_foreach(timed, of(c, "eval.timing")) {
		json_t *device = json_object_get(timed, "device");
		double ns = kgain_time_ns(timed);

		if (json_is_object(device))
			json_array_append(devices, device);
		if (ns > 0 && ktrials.linear)
			kjson_put(times, kjson_str(timed, "workload"), ns);
	}
	kjson_extend(row, "{s:o,s:o}", "times", times, "devices", devices);
}

static json_t *
row_json(const struct kcandidate *c, bool leads)
{
	static const struct {
		const char *path;
		enum { NUMBER, TEXT, ANY } is;
	} members[] = {
		{ "reply.cost_usd", NUMBER },
		{ "reply.ms.total", NUMBER },
		{ "reply.attempts", NUMBER },
		{ "reply.time", TEXT },
		{ "reply.model", TEXT },
		{ "reply.provider", TEXT },
		{ "reply.usage", ANY },
		{ "reply.recorded", ANY },
		{ "sample.parent.id", TEXT },
		{ "eval.wall_s", NUMBER },
		{ "eval.environment.load_before", NUMBER },
		{ "eval.environment.governor", TEXT },
		{ "eval.sandbox.name", TEXT },
		{ "eval.plan.change", TEXT },
		{ "eval.plan_fault", TEXT },
		{ "audit.decision", TEXT },
		{ "score.overfit", ANY },
		{ "score.decision.round", NUMBER },
		{ "score.decision.trade_off", ANY },
		{ "score.decision.improvement_pct", NUMBER },
	};
	json_t *row = json_pack("{s:s,s:I,s:I,s:s,s:i,s:b,s:b,s:b,s:b,s:b,s:b,s:s,s:s,s:I,s:o*}",
	    "id", c->id, "trial", (json_int_t)c->trial, "branch", (json_int_t)c->branch, "status",
	    status_rows[c->status].name, "rung", c->status, "built", status_rows[c->status].built,
	    "correct", c->correct, "cheat", is_cheat(c), "won", c->won, "leads", leads, "paid",
	    c->paid, "verdict", c->verdict, "strategy", c->strategy, "tokens",
	    (json_int_t)c->token_count[KCANDIDATE_OUTPUT], "speed", speed_json(c));

	kforeach(member, members) {
		json_t *v = (json_t *)of(c, member->path);

		if (member->is == ANY ||
		    (member->is == TEXT ? json_is_string(v) : json_is_number(v)))
			json_object_set(row, member->path, v);
	}
	if (c != report.reference && !c->correct && !is_cheat(c))
		add_failure(row, c);
	add_timing(row, c);
	return row;
}

static json_t *
rows_json(void)
{
	const struct kcandidate *best = NULL;
	json_t *rows = json_array();

	kforeach_list(one, &report) {
		const struct kcandidate *c = *one;
		bool leads = is_next_best(best, c);

		best = leads ? c : best;
		json_array_append_new(rows, row_json(c, leads));
	}
	return rows;
}

/* The best program of each occupied cell, highest score first. */
static json_t *
elites_json(void)
{
	const struct karch_row *list[KARCH_CELLS];
	size_t n = karch_ranked(list);
	json_t *elites = json_array();

	kforeach_of(one, list, n) {
		const struct karch_row *row = *one;
		struct kgain_ratio alone = {
			.mean = row->speedup, .low = row->speedup, .high = row->speedup
		};

		kjson_append(elites, "{s:s,s:s,s:b,s:s,s:o*,s:f,s:f,s:s,s:s}", "id", row->id,
		    "cell", karch_cell_text(row->cell), "correct", row->status == STATUS_CORRECT,
		    "status", status_rows[row->status].name, "speed", ratio_json(&alone), "ns",
		    row->runtime_ms * 1e6, "score", row->score, "strategy", row->strategy, "parent",
		    row->parent);
	}
	return elites;
}

/* The device that kernels ran on, as the evaluations name it. */
static const char *
device_of(void)
{
	static const char *const paths[] = { "eval.environment.device.name",
		"eval.environment.opencl.device", "eval.environment.cpu" };

	kforeach(path, paths) {
		const char *name = text_of(report.reference, *path, NULL);

		if (name)
			return name;
	}
	return kjson_str_or(report.machine, "cpu", "an unnamed device");
}

/* What the campaign's own commands decide instead of the harness. */
static json_t *
own_json(void)
{
	const json_t *timing = kcamp_json("eval.timing");
	static const char *const tiers[] = { "eval.build", "eval.correctness", "eval.timing" };
	const char *direction = kjson_str_or(timing, "direction", "lower");
	auto_buf struct kbuf outside = kbuf_empty();

	kforeach(tier, tiers)
		if (!kjson_bool_or(kcamp_json(*tier), "sandbox", true))
			kbuf_join(&outside, ", ", *tier + 5);
	return json_pack("{s:b,s:b,s:s*,s:s,s:s}", "judges", kcamp_json("eval.correctness") != NULL,
	    "times", timing != NULL, "metric", own_metric(), "better", direction, "outside",
	    outside.data);
}

static json_t *
campaign_json(void)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:I,s:s}", "name", kcamp_str("name"), "backend",
	    kcamp_str("backend"), "language", kcamp_str("language"), "set", kcamp_str("eval.set"),
	    "seed", (json_int_t)kcamp_num("seed"), "gpu", kcamp_str("gpu"));
}

/* The best, with its share of each baseline's speed. */
static json_t *
best_json(void)
{
	json_t *o = candidate_json(report.best), *against = json_array();

	for (size_t i = 0; i < report.task->baseline_count && i < 4; i++) {
		const char *name = report.task->baselines[i].name;
		struct kgain_ratio ratio = kgain_ratio_of_pairs(kjson_path(report.verify, "pairs"),
		    name, NULL, kjson_path(report.verify, "timing"));

		if (ratio.n)
			kjson_append(
			    against, "{s:s,s:o}", "name", name, "speed", ratio_json(&ratio));
	}
	json_object_set_new(o, "against", against);
	return o;
}

/* What would end a linear search. */
static json_t *
ends_json(void)
{
	const struct kcandidate *accepted =
	    ktrials_find(kjson_maybe(karch.header, "linear.accepted"));
	struct kends e;
	json_t *rows;

	kends_find(ktrials.last, kjson_int(karch.header, "linear.drafts"),
	    accepted ? accepted->json : NULL, &e);
	rows = kends_rows(&e);
	kends_free(&e);
	return rows;
}

/* Operations and bytes of a call on each workload. */
static json_t *
work_json(void)
{
	const struct ktask *t = report.task;
	json_t *work = json_object();

	for (size_t i = 0; i < t->workload_count && !own_metric(); i++)
		kjson_extend(work, "{s:{s:I,s:I}}", t->workloads[i].name, "flops",
		    (json_int_t)ktask_value(t, &t->workloads[i], t->flops), "bytes",
		    (json_int_t)ktask_value(t, &t->workloads[i], t->bytes));
	return work;
}

/* The program's files, for the page: the code, and the other files of a bundle. */
static json_t *
source_of(const struct kcandidate *c, const char *what)
{
	json_t *o = karch_program(c->id, false);

	kjson_put(o, "what", what);
	if (!json_object_get(o, "code"))
		kjson_put(o, "code", "");
	return o;
}

/* Members that only views/report.jq needs. */
static const char *const passing[] = { "list", "elites", "ends", "work" };

/* What depends on all candidates. */
static void
add_view(json_t *f)
{
	kjson_extend(f, "{s:o,s:o,s:i,s:o*,s:o}", "list", rows_json(), "elites", elites_json(),
	    "cells", KARCH_CELLS, "ends", ktrials.linear ? ends_json() : NULL, "work", work_json());
	json_object_update_new(f, kjq("views/report.jq", f));
	kforeach(one, passing)
		json_object_del(f, *one);
}

json_t *
report_facts(json_t **figures)
{
	const char *title = kcamp_str("title");
	const struct kbuf *damage = &ktrials.faults;
	json_t *lineage;
	json_t *f = json_pack("{s:s,s:s,s:s,s:o,s:s,s:s,s:I,s:b,s:b,s:O,s:o,s:o,s:O*,s:O*,s:I,s:I,"
	                      "s:o*,s:O*,s:O*,s:O*,s:o*,s:o,s:b,s:b}",
	    "schema", "report/1", "version", kversion_string(), "title",
	    *title ? title : kcamp_str("name"), "campaign", campaign_json(), "op", report.task->op,
	    "device", device_of(), "last", (json_int_t)ktrials.last, "linear", ktrials.linear,
	    "null_evaluator", kcamp_is("eval.evaluator", "null"), "header", karch.header,
	    "reference", candidate_json(report.reference), "own", own_json(), "verify",
	    report.verify, "refused", report.refused, "verify_trial",
	    (json_int_t)report.verify_trial, "begun", (json_int_t)report.begun, "damage",
	    damage->len ? kjson_text(damage->data, damage->len) : NULL, "machine", report.machine,
	    "roofline", report.roofline, "attribution", report.audited ? report.audit : NULL,
	    "best", report.best ? best_json() : NULL, "workloads", workloads_json(), "no_baseline",
	    !report.task->baseline_count, "counts_alone", report.task->alone);

	add_view(f);
	*figures = json_incref(json_object_get(f, "figures"));
	json_object_del(f, "figures");
	lineage = json_object_get(f, "lineage");
	if (json_is_object(lineage))
		json_object_set_new(
		    lineage, "steps", steps_json(json_object_get(lineage, "steps")));
	kjson_extend(f, "{s:o,s:[o,o*],s:o}", "candidates", candidates_json(), "sources",
	    source_of(report.reference, "reference"),
	    report.best ? source_of(report.best, "best kernel") : NULL, "digests", digests_json());
	return f;
}
