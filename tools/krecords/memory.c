/* SPDX-License-Identifier: Apache-2.0 */
/* memory/vN.json: what a campaign remembers of trial N, computed from its facts. See krecords.h. */

#include "karch.h"
#include "kchain.h"
#include "kfence.h"
#include "kgain.h"
#include "krecords.h"
#include "kroof.h"
#include "kverdict.h"
#include "status.h"

enum { LINE = 400, SHORT = 160, DIRECTIONS = 3, VERSION_MAX = 64 << 20 };

void
set_line(json_t *object, const char *key, const char *text, size_t max)
{
	auto_free char *line = text ? kfence_line(text, max) : NULL;

	if (line && *line)
		json_object_set_new(object, key, json_string(line));
}

void
set_text(json_t *object, const char *key, const json_t *record, const char *path, size_t max)
{
	set_line(object, key, kjson_str_or(record, path, NULL), max);
}

void
set_number(json_t *object, const char *key, double value)
{
	char digits[32];

	if (!isfinite(value))
		return;
	snprintf(digits, sizeof digits, "%.6g", value);
	json_object_set_new(object, key, json_real(strtod(digits, NULL)));
}

/* Sums for geometric means over timed workloads. */
struct means {
	double us, tflops, gbps;
	size_t n;
	bool flops, bytes; /* known for every workload so far */
};

static void
add_row(struct means *sum, const json_t *row, json_t *by_shape)
{
	const char *name = kjson_str_or(row, "workload", "");
	const struct ktask_workload *w = ktask_workload(campaign.task, name);
	double ns = kgain_time_ns(row);
	double flops = w ? (double)ktask_value(campaign.task, w, campaign.task->flops) : 0;
	double bytes = w ? (double)ktask_value(campaign.task, w, campaign.task->bytes) : 0;

	set_number(by_shape, name, ns / 1e3);
	sum->flops &= flops > 0;
	sum->bytes &= bytes > 0;
	sum->us += log(ns / 1e3);
	/* 1 FLOP a nanosecond is 1 GFLOPS; 1 byte a nanosecond is 1 GB/s. */
	sum->tflops += log(fmax(flops, 1) / ns / 1e3);
	sum->gbps += log(fmax(bytes, 1) / ns);
	sum->n++;
}

/* Geometric mean of a member over all rows; NAN when a row does not have it. */
static double
geomean(const json_t *rows, const char *key)
{
	double sum = 0;
	size_t i;
	const json_t *row;

	json_array_foreach((json_t *)rows, i, row)
		sum += log(kjson_num_or(row, key, NAN));
	return json_array_size(rows) ? exp(sum / (double)json_array_size(rows)) : NAN;
}

/* The rows that kscore made from sourced peaks; they take precedence over our own arithmetic. */
static void
set_utilization(json_t *o, const json_t *rows)
{
	static const struct {
		const char *row, *field;
	} members[] = {
		{ "tflops", "tflops" },
		{ "gbps", "bandwidth_gbps" },
		{ "compute_pct", "tflops_peak_utilization_pct" },
		{ "memory_pct", "bandwidth_peak_utilization_pct" },
	};

	for (size_t i = 0; i < LEN(members); i++)
		set_number(o, members[i].field, geomean(rows, members[i].row));
}

static json_t *
record_performance(const struct kcandidate *c)
{
	const json_t *timing = kjson_path(c->json, "eval.timing"), *row;
	struct means sum = { .flops = true, .bytes = true };
	json_t *o = json_object(), *by_shape;
	size_t i;

	if (!json_array_size(timing) || !c->correct)
		return o;
	by_shape = json_object();
	json_array_foreach((json_t *)timing, i, row)
		add_row(&sum, row, by_shape);
	set_number(o, "latency_us", exp(sum.us / (double)sum.n));
	json_object_set_new(o, "latency_us_by_shape", by_shape);
	if (sum.flops)
		set_number(o, "tflops", exp(sum.tflops / (double)sum.n));
	if (sum.bytes)
		set_number(o, "bandwidth_gbps", exp(sum.gbps / (double)sum.n));
	set_number(o, "speedup", c->speedup.n ? c->speedup.mean : NAN);
	set_utilization(o, kjson_path(c->json, "score.utilization"));
	return o;
}

/* "raise compute, lower memory": the step on the grid, for a candidate without a plan. */
static char *
step_text(int from, int to)
{
	struct kbuf b = { 0 };

	for (int d = 0; d < KARCH_DIMS; d++) {
		int step = karch_level(to, d) - (from < 0 ? 0 : karch_level(from, d));

		if (step)
			kbuf_printf(&b, "%s%s %s", b.len ? ", " : "", step > 0 ? "raise" : "lower",
			    karch_dims[d]);
	}
	if (!b.len)
		kbuf_puts(&b, "same techniques");
	return b.data;
}

char *
record_category(const struct kcandidate *c)
{
	const char *planned = kjson_str_or(c->json, "eval.plan.category", "");

	if (!c->trial)
		return kstrdup("baseline");
	if (*planned)
		return kfence_line(planned, 60);
	if (c->cell >= 0)
		return step_text(c->parent_cell, c->cell);
	return kfence_line(*c->strategy ? c->strategy : "none", 60);
}

double
record_gain_pct(const struct kcandidate *c)
{
	double gain = c->gained.n ? 100 * (c->gained.mean - 1) : NAN;

	return kjson_num_or(c->json, "score.decision.improvement_pct", gain);
}

/* Sets a member unless it is an empty object or list. */
static void
set_some(json_t *o, const char *key, json_t *value)
{
	if (json_object_size(value) || json_array_size(value))
		kjson_set(o, key, value);
	else
		json_decref(value);
}

static bool
rolled_back(const struct kcandidate *c)
{
	return !strcmp(c->verdict, "rolled_back");
}

/* Differences from the version before, if both were timed. */
static void
add_comparison(json_t *perf, long version)
{
	static const struct {
		const char *field, *delta;
	} members[] = {
		{ "latency_us", "latency_delta" },
		{ "tflops", "tflops_delta" },
		{ "bandwidth_gbps", "bandwidth_delta" },
	};
	const struct kcandidate *last = version > 0 ? trial_candidate(version - 1) : NULL;
	json_t *before, *o = json_object();

	if (last) {
		before = record_performance(last);
		for (size_t i = 0; i < LEN(members); i++)
			set_number(o, members[i].delta,
			    kjson_num_or(perf, members[i].field, NAN) -
			        kjson_num_or(before, members[i].field, NAN));
		json_decref(before);
	}
	set_some(perf, "comparison_with_previous", o);
}

static json_t *
optimization(const struct kcandidate *c)
{
	const json_t *plan = kjson_path(c->json, "eval.plan");
	auto_free char *category = record_category(c), *impact = NULL, *risks = NULL;
	const char *risk = kjson_str_or(plan, "risks", ""), *parent = c->parent;
	double percent = kjson_num_or(plan, "expected_gain_pct", NAN);
	json_t *o = json_pack("{s:s}", "action_category", category);

	set_text(o, "action_description", plan, "change", LINE);
	set_text(o, "hypothesis", plan, "hypothesis", LINE);
	set_text(o, "bucket", plan, "bucket", 8);
	if (isfinite(percent))
		impact = kasprintf("%+.3g %%", percent);
	set_line(o, "expected_impact", impact, SHORT);
	risks = kasprintf("%s%s%s%s", risk, *risk && rolled_back(c) ? "; " : "",
	    rolled_back(c) ? "rolled back to " : "", rolled_back(c) ? parent : "");
	set_line(o, "risks_and_rollback", risks, LINE);
	set_line(o, "strategy", c->strategy, 40);
	set_line(o, "parent", parent, 24);
	return o;
}

/* The candidate's own profile, or that of its parent, on which the plan was based. */
static json_t *
profile_evidence(const struct kcandidate *c)
{
	const json_t *own = kjson_path(c->json, "eval.profile");
	const json_t *profile = own ? own : kjson_path(c->json, "sample.parent.profile");
	const json_t *finding = json_array_get(json_object_get(profile, "findings"), 0);
	const char *chain = kjson_str_or(c->json, "eval.plan.evidence", NULL);
	auto_free char *made = finding
	    ? kasprintf("%s -> %s -> %s", kjson_str_or(finding, "text", ""),
	          kjson_str_or(finding, "id", ""), kjson_str_or(finding, "action", ""))
	    : NULL;
	json_t *o = json_object();

	set_line(o, "evidence_chain", chain ? chain : made, LINE);
	if (profile) {
		set_line(o, "of", own ? c->id : c->parent, 24);
		set_text(o, "tool_used", profile, "source", 24);
		set_text(o, "bottleneck_type", profile, "bottleneck.label", 24);
		set_text(o, "evidence_summary", profile, "bottleneck.text", LINE);
	}
	return o;
}

static json_t *
correctness(const struct kcandidate *c)
{
	const json_t *cases = kjson_path(c->json, "eval.correctness.cases"), *row;
	const char *status = c->correct ? "PASS" : c->timed_out ? "TIMEOUT_FAIL" : "FAIL";
	json_t *o = json_pack("{s:s}", "status", status);
	double share = NAN, rel = NAN, abs = NAN;
	size_t i;

	json_array_foreach((json_t *)cases, i, row) {
		share = fmax(share, kjson_num_or(row, "max_err_share", NAN));
		rel = fmax(rel, kjson_num_or(row, "max_rel_err", NAN));
		abs = fmax(abs, kjson_num_or(row, "max_abs_err", NAN));
	}
	set_number(o, "err_share", share);
	set_number(o, "rel_err", rel);
	set_number(o, "max_abs_err", abs);
	if (cases)
		json_object_update_new(o,
		    json_pack("{s:I,s:I}", "passed",
		        kjson_int_or(c->json, "eval.correctness.passed", 0), "total",
		        kjson_int_or(c->json, "eval.correctness.total", 0)));
	return o;
}

static const char *const error_types[FAULT_COUNT] = {
	[FAULT_NONE] = "performance",
	[FAULT_BUILD] = "compilation",
	[FAULT_RUN] = "runtime",
	[FAULT_RESULT] = "accuracy",
};

/*
 * "rule": rejected before or outside the ladder: no code, no plan, cheating, a result that cannot
 * be trusted.
 */
static const char *
error_type(const struct kcandidate *c)
{
	if (c->timed_out)
		return "timeout";
	return status_eligible(c->status) ? error_types[status_rows[c->status].fault] : "rule";
}

static const char *
reason_text(const struct kcandidate *c)
{
	const json_t *reason = json_array_get(kjson_path(c->json, "eval.reasons"), 0);

	return kjson_str_or(reason, "detail", kjson_str_or(c->json, "eval.plan_fault", NULL));
}

/* No conclusion: what the noise hides is neither a gain nor a loss. */
static bool
is_unsure(const struct kcandidate *c)
{
	const char *verdict = kjson_str_or(c->json, "score.verdict", "");

	return !strcmp(kjson_str_or(c->json, "score.decision.code", verdict), "inconclusive");
}

/* One line about the result of a record. The caller frees. */
static char *
outcome(const struct kcandidate *c)
{
	const char *line = kjson_str_or(c->json, "score.decision.line", NULL);
	double gain = record_gain_pct(c);
	struct kbuf b = { 0 };

	if (line)
		return kstrdup(line);
	kbuf_puts(&b, status_rows[c->status].name);
	if (c->speedup.n) {
		auto_free char *text = kchain_text(&c->speedup, c->provisional);

		kbuf_printf(&b, ", %s over the reference", text);
	}
	if (isfinite(gain) && c->trial)
		kbuf_printf(&b, ", %+.2f %% against the best then", gain);
	if (c->trial)
		kbuf_printf(&b, ": %s",
		    c->won             ? "a gain"
		        : is_unsure(c) ? "inconclusive"
		                       : "no gain");
	return b.data;
}

/* What went wrong with a record; nothing for a win. */
static void
add_pitfall(const struct kcandidate *c, json_t *list)
{
	const char *fault = reason_text(c), *log = kjson_str_or(c->json, "eval.log", NULL), *audit;
	bool slow = c->correct;
	char *line;
	json_t *o;

	if (c->won || is_unsure(c) || !c->trial)
		return;
	line = outcome(c);
	audit = json_string_value(json_array_get(kjson_path(c->json, "audit.reasons"), 0));
	o = json_pack("{s:s}", "error_type", error_type(c));
	set_line(o, "id", c->id, 24);
	set_line(o, "error_message", slow ? line : log && *log ? log : fault, LINE);
	set_line(o, "root_cause",
	    audit      ? audit
	        : slow ? kjson_str_or(c->json, "score.decision.code", "no gain beyond the noise")
	               : fault,
	    LINE);
	set_line(o, "fix_applied", rolled_back(c) ? "rolled back" : "none", LINE);
	set_line(o, "lesson", line, LINE);
	json_array_append_new(list, o);
	free(line);
}

/* A repair that worked is the only fix that is known to be one. */
static void
add_fix(const struct kcandidate *c, json_t *list)
{
	json_t *o;

	if (strcmp(c->strategy, "repair") || !c->correct)
		return;
	o = json_pack("{s:s}", "error_type", "compilation");
	if (c->parent_status != STATUS_COMPILE_ERROR)
		kjson_set(o, "error_type", json_string("runtime"));
	set_line(o, "id", c->parent, 24);
	set_text(o, "error_message", c->json, "sample.parent.log", LINE);
	set_line(o, "fix_applied", c->id, LINE);
	set_line(o, "lesson", "repaired", LINE);
	json_array_append_new(list, o);
}

/* For the baseline: facts about the device that no source gives, and what is used instead. */
static void
add_unknown(json_t *list)
{
	static const struct {
		const char *list, *text;
	} kinds[] = { { "unknown", "why" }, { "placeholders", "from" } };
	json_auto_t *roofline = kroof_load(".");
	json_t *o;
	const json_t *row;
	size_t k;

	for (size_t i = 0; i < LEN(kinds); i++)
		json_array_foreach(json_object_get(roofline, kinds[i].list), k, row) {
			o = json_pack("{s:s,s:s}", "error_type", "unknown_fact", "fix_applied",
			    i ? kjson_str_or(row, kinds[i].text, "") : "none");
			set_line(o, "error_message", kjson_str_or(row, "metric", "?"), LINE);
			set_line(o, "root_cause",
			    i ? "no source gives it" : kjson_str_or(row, kinds[i].text, NULL),
			    LINE);
			set_line(o, "lesson", "no target or bound may rest on it", LINE);
			json_array_append_new(list, o);
		}
}

static json_t *
pitfalls(const struct ktrial *trial)
{
	json_t *list = json_array();

	if (!trial->number)
		add_unknown(list);
	for (size_t i = 0; i < trial->count; i++) {
		add_pitfall(&trial->list[i], list);
		add_fix(&trial->list[i], list);
	}
	return list;
}

static json_t *
quality_gate(const struct kcandidate *c)
{
	bool pass = c->trial ? c->won : c->correct;
	json_t *o = json_pack("{s:s}", "result",
	    pass               ? "PASS"
	        : c->timed_out ? "TIMEOUT_FAIL"
	                       : "FAIL");
	char *line;

	if (!pass) {
		line = outcome(c);
		set_line(o, "failure_reason", line, LINE);
		free(line);
	}
	return o;
}

static void
add_direction(json_t *list, const char *direction, const char *rationale)
{
	json_auto_t *o = json_object();

	set_line(o, "direction", direction, LINE);
	set_line(o, "rationale", rationale, LINE);
	if (json_object_get(o, "direction") && json_array_size(list) < DIRECTIONS)
		json_array_append(list, o);
}

/* From the plan; else what the findings of the profile suggest. */
static json_t *
open_directions(const struct kcandidate *c)
{
	json_t *list = json_array(), *d;
	size_t i;

	json_array_foreach((json_t *)kjson_path(c->json, "eval.plan.directions"), i, d)
		add_direction(list, json_string_value(d), "named in the plan of this round");
	if (!json_array_size(list))
		json_array_foreach((json_t *)kjson_path(c->json, "eval.profile.findings"), i, d)
			add_direction(
			    list, kjson_str_or(d, "action", NULL), kjson_str_or(d, "text", NULL));
	return list;
}

static const char *
decision(const struct kcandidate *c)
{
	if (*c->verdict || !c->trial)
		return *c->verdict ? c->verdict : "baseline";
	return c->won ? "gain" : is_unsure(c) ? "inconclusive" : "no_gain";
}

/* All branches of the trial, in order. */
static json_t *
experience(const struct ktrial *trial)
{
	json_t *list = json_array(), *o, *chain;

	for (size_t i = 0; i < trial->count; i++) {
		const struct kcandidate *c = &trial->list[i];
		auto_free char *line = outcome(c), *category = record_category(c);

		o = json_pack("{s:I}", "index", (json_int_t)c->branch);
		set_line(o, "name", c->id, 24);
		set_text(o, "hypothesis", c->json, "eval.plan.hypothesis", LINE);
		set_line(o, "change", kjson_str_or(c->json, "eval.plan.change", category), LINE);
		chain = profile_evidence(c);
		set_text(o, "evidence", chain, "evidence_chain", LINE);
		set_line(o, "result", line, LINE);
		set_line(o, "decision", decision(c), 24);
		json_array_append_new(list, o);
		json_decref(chain);
	}
	return json_pack("{s:I,s:I,s:o}", "experiment_count", (json_int_t)trial->count,
	    "recorded_experiment_count", (json_int_t)json_array_size(list), "experiments", list);
}

/* People's notes on a version, with the trial from which each applies. */
static json_t *
notes(long version)
{
	json_t *list = json_array(), *o;
	const json_t *e, *v;
	size_t i, k;
	long n;

	json_array_foreach(campaign.masks.events, i, e)
		json_array_foreach(json_object_get(e, "versions"), k, v)
			if (kjson_is(e, "event", "note") &&
			    kmemo_version(json_string_value(v), &n) && n == version) {
				o = json_pack("{s:I}", "trial", kjson_int_or(e, "trial", 0));
				set_text(o, "text", e, "why", LINE);
				json_array_append_new(list, o);
			}
	return list;
}

/* The result of a program in the application that its kernel was adopted from. */
static json_t *
application(const struct kcandidate *c)
{
	json_auto_t *verdicts = kverdict_on(".", c->id);
	json_t *list = json_array(), *v, *o;
	size_t i;

	json_array_foreach(verdicts, i, v) {
		o = json_pack("{s:s}", "outcome", kverdict_outcome(v));
		set_text(o, "why", v, "why", LINE);
		set_text(o, "time", v, "at", 32);
		json_array_append_new(list, o);
	}
	return list;
}

json_t *
build_version(long version)
{
	const struct kcandidate *c = trial_candidate(version);
	const struct ktrial *trial;
	json_t *o, *perf;

	if (!c)
		return NULL;
	trial = trial_of(version);
	perf = record_performance(c);
	add_comparison(perf, version);
	o = json_pack("{s:s,s:s,s:o,s:I,s:s,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema",
	    "memory/1", "campaign", campaign.name, "version", json_sprintf("v%ld", version),
	    "trial", (json_int_t)version, "id", c->id, "win", c->won, "performance", perf,
	    "optimization", optimization(c), "profile_evidence", profile_evidence(c), "correctness",
	    correctness(c), "pitfalls_and_fixes", pitfalls(trial), "quality_gate", quality_gate(c),
	    "open_directions", open_directions(c), "experience", experience(trial), "masked",
	    json_boolean(kmemo_masked(&campaign.masks, version, KMEMO_ALL)));
	if (!o)
		kdie(K_IO, "out of memory");
	set_some(o, "notes", notes(version));
	set_some(o, "application", application(c));
	set_line(o, "timestamp", c->time, 32);
	set_line(
	    o, "git_commit_hash", json_string_value(json_object_get(campaign.commits, c->id)), 80);
	return o;
}

/*
 * Compares the existing file of a version with OUGHT. Returns NULL, or what is wrong, naming file
 * and field; the caller frees. STALE: the file was sealed as it is, so it may be made again,
 * because its facts have changed.
 */
static char *
version_fault(const json_t *ought, const char *path, bool *stale)
{
	auto_free char *text = kread_file_or_die(path, VERSION_MAX, NULL),
	               *wanted = json_text(ought);
	char hex[65], *field, *a, *b, *fault = NULL;
	bool same = !strcmp(text, wanted);
	json_t *is;

	ksha256_hex(text, strlen(text), hex);
	*stale = true;
	if (same)
		return NULL;
	is = kjson_load(path);
	field = kjson_difference(ought, is, "");
	/* Only the mark differs: it is a view of the seal, which readers use. */
	*stale = !field || !strcmp(field, "masked") || kseal_knows(&campaign.seal, path, hex);
	a = kjson_told(ought, field ? field : "");
	b = kjson_told(is, field ? field : "");
	fault = *stale ? kasprintf("%s: is out of date; run krecords remember", path)
	               : kasprintf("%s: %s: is %s, but the records say %s; remove the file and run "
	                           "krecords "
	                           "remember",
	                     path, field, b, a);
	free(a);
	free(b);
	free(field);
	json_decref(is);
	return fault;
}

/* "memory/v7.json"; the caller frees. */
static char *
version_path(long version)
{
	return kasprintf("memory/v%ld.json", version);
}

json_t *
checked_version(long version)
{
	auto_free char *path = version_path(version), *fault = NULL;
	json_t *v = kis_there(path) ? build_version(version) : NULL;
	bool stale = false;

	fault = v ? version_fault(v, path, &stale) : NULL;
	if (fault && !stale)
		kdie(K_USAGE, "%s", fault);
	return v;
}

void
add_version(long version, json_t *files)
{
	json_auto_t *v = build_version(version);
	auto_free char *path = version_path(version), *text = v ? json_text(v) : NULL;

	if (text)
		kjson_set(files, path, json_string(text));
}

/*
 * Sealed before they are written: whatever is there after a kill was sealed, now or before, or is
 * what the facts say.
 */
void
write_versions(json_t *event, json_t *files)
{
	json_auto_t *digests = json_object();
	json_t *text;
	const char *path;
	char hex[65];

	json_object_foreach(files, path, text) {
		ksha256_hex(json_string_value(text), json_string_length(text), hex);
		if (!kseal_knows(&campaign.seal, path, hex))
			json_object_set_new(digests, path, json_string(hex));
	}
	if (event || json_object_size(digests)) {
		event = event ? event : json_object();
		json_object_set(event, "files", digests);
		kseal_add(&campaign.seal, KMEMO_SEAL, event);
	}
	kseal_save(&campaign.seal);
	json_object_foreach(files, path, text)
		put_file(path, json_string_value(text), json_string_length(text));
	json_decref(files);
}

/*
 * A file can be checked if the facts of the trial before it are sound, too: it was compared with
 * them.
 */
static bool
is_checkable(long version)
{
	return !version || trial_of(version - 1)->whole;
}

/* Adds a version to the files to write, unless its file is already right. */
static void
bring(long version, json_t *files)
{
	auto_free char *path = version_path(version), *fault = NULL;
	char hex[65];
	json_auto_t *ought = build_version(version);
	bool stale = true, there = kseal_file(path, hex);

	if (!ought)
		kdie(K_USAGE, "trial %ld is incomplete or damaged, so it is not remembered",
		    version);
	if (there && is_checkable(version))
		fault = version_fault(ought, path, &stale);
	if (fault && !stale)
		kdie(K_USAGE, "%s", fault);
	if (fault || !there || !kseal_knows(&campaign.seal, path, hex))
		add_version(version, files);
}

long
parse_version(const char *name)
{
	long n;

	if (!kmemo_version(name, &n))
		kdie(K_USAGE,
		    "'%s' is not a version; write v and the number of the trial, such as v7", name);
	return n;
}

int
command_remember(void)
{
	json_t *files = json_object();

	for (size_t i = 0; i < given.count; i++)
		bring(parse_version(given.operands[i]), files);
	for (long v = 0; v <= campaign.trials.last && !given.count; v++)
		if (trial_of(v)->whole)
			bring(v, files);
	write_versions(NULL, files);
	return campaign_damage();
}

/* Says FAULT, and frees it. */
static void
complain(struct kfaults *f, char *fault)
{
	if (fault)
		kfault(f, "%s", fault);
	free(fault);
}

void
check_memory(struct kfaults *f, size_t *files)
{
	auto_free long *list = kmemo_versions(".", files);
	bool stale;

	for (size_t i = 0; i < *files; i++)
		if (list[i] > campaign.trials.last)
			kfault(f, "memory/v%ld.json: trial %ld is not complete; remove the file",
			    list[i], list[i]);
	for (long v = 0; v <= campaign.trials.last; v++) {
		json_auto_t *ought = build_version(v);
		auto_free char *path = version_path(v);

		if (!kis_there(path))
			kfault(f, "%s: is missing; run krecords remember", path);
		else if (ought && is_checkable(v))
			complain(f, version_fault(ought, path, &stale));
	}
}
