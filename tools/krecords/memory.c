/* SPDX-License-Identifier: Apache-2.0 */
/* memory/vN.json: what a campaign remembers of trial N, computed from its facts. See krecords.h. */

#include "kchain.h"
#include "krecords.h"
#include "kroof.h"

enum { LINE = 400, DIRECTIONS = 3, VERSION_MAX = 64 << 20 };

json_t *
number_json(double value)
{
	return json_real(atof(kshown("%.6g", value)));
}

static void tidy(json_t *object);

static json_t *
tidy_value(json_t *value)
{
	auto_free char *line = NULL;

	if (!json_is_string(value)) {
		tidy(value);
		return json_incref(value);
	}
	line = kfence_line(json_string_value(value), LINE);
	return *line ? json_string(line) : NULL;
}

/* Every text in OBJECT becomes one line of a few hundred characters; an empty one goes. */
static void
tidy(json_t *object)
{
	json_t *tidied;

	kjson_foreach_member(key, value, object) {
		if ((tidied = tidy_value(value)))
			json_object_set_new(object, key, tidied);
		else
			json_object_del(object, key);
	}
	kjson_foreach(item, object)
		tidy(item);
}

/* Geometric mean of a member over all rows; NAN when a row does not have it. */
static double
geomean(const json_t *rows, const char *key)
{
	double sum = 0;

	kjson_foreach(row, rows)
		sum += log(kjson_num_or(row, key, NAN));
	return json_array_size(rows) ? exp(sum / (double)json_array_size(rows)) : NAN;
}

/* The rows that kscore made from sourced peaks take precedence over our own arithmetic. */
static json_t *
rate(const json_t *utilization, const char *key, double own)
{
	double sourced = geomean(utilization, key);

	return number_json(isfinite(sourced) ? sourced : own);
}

static json_t *
record_performance(const struct kcandidate *c)
{
	const json_t *timing = kjson_path(c->json, "eval.timing"),
	             *used = kjson_path(c->json, "score.utilization");
	double us = 0, tflops = 0, gbps = 0, n = (double)json_array_size(timing);
	json_t *by_shape;

	if (n < 1 || !c->correct)
		return json_object();
	by_shape = json_object();
	kjson_foreach(row, timing) {
		const char *name = kjson_str(row, "workload");
		const struct ktask_workload *w = ktask_workload(campaign.task, name);
		double ns = kgain_time_ns(row);
		int64_t flops = w ? ktask_value(campaign.task, w, campaign.task->flops) : 0,
		        bytes = w ? ktask_value(campaign.task, w, campaign.task->bytes) : 0;

		json_object_set_new(by_shape, name, number_json(ns / 1e3));
		us += log(ns / 1e3);
		/* 1 FLOP a nanosecond is 1 GFLOPS; 1 byte a nanosecond is 1 GB/s. */
		tflops += flops > 0 ? log((double)flops / ns / 1e3) : NAN;
		gbps += bytes > 0 ? log((double)bytes / ns) : NAN;
	}
	return json_pack("{s:o,s:o*,s:o*,s:o*,s:o*,s:o*,s:o*}", "latency_us_by_shape", by_shape,
	    "latency_us", number_json(exp(us / n)), "tflops", rate(used, "tflops", exp(tflops / n)),
	    "bandwidth_gbps", rate(used, "gbps", exp(gbps / n)), "speedup",
	    number_json(c->speedup.n ? c->speedup.mean : NAN), "tflops_peak_utilization_pct",
	    rate(used, "compute_pct", NAN), "bandwidth_peak_utilization_pct",
	    rate(used, "memory_pct", NAN));
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
	const char *planned = kjson_str(c->json, "eval.plan.category");

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
	return kjson_num_or(c->json, "score.decision.improvement_pct",
	    c->gained.n ? 100 * (c->gained.mean - 1) : NAN);
}

/* Sets a member unless it is an empty object or list. */
static void
set_some(json_t *o, const char *key, json_t *value)
{
	if (json_object_size(value) || json_array_size(value))
		json_object_set(o, key, value);
	json_decref(value);
}

static bool
rolled_back(const struct kcandidate *c)
{
	return !strcmp(c->verdict, "rolled_back");
}

static json_t *
difference(const json_t *a, const json_t *b, const char *field)
{
	return number_json(kjson_num_or(a, field, NAN) - kjson_num_or(b, field, NAN));
}

/* Differences from the version before, if both were timed. */
static void
add_comparison(json_t *perf, long version)
{
	const struct kcandidate *last = version > 0 ? trial_candidate(version - 1) : NULL;
	json_auto_t *before = last ? record_performance(last) : NULL;

	set_some(perf, "comparison_with_previous",
	    json_pack("{s:o*,s:o*,s:o*}", "latency_delta", difference(perf, before, "latency_us"),
	        "tflops_delta", difference(perf, before, "tflops"), "bandwidth_delta",
	        difference(perf, before, "bandwidth_gbps")));
}

static json_t *
optimization(const struct kcandidate *c)
{
	const json_t *plan = kjson_path(c->json, "eval.plan");
	const char *risk = kjson_str(plan, "risks");
	double percent = kjson_num_or(plan, "expected_gain_pct", NAN);
	auto_free char *category = record_category(c),
	               *impact = isfinite(percent) ? kasprintf("%+.3g %%", percent) : NULL,
	               *risks = rolled_back(c)
	    ? kasprintf("%s%srolled back to %s", risk, *risk ? "; " : "", c->parent)
	    : kstrdup(risk);
	return json_pack("{s:s,s:s*,s:s*,s:s*,s:s*,s:s,s:s,s:s}", "action_category", category,
	    "action_description", kjson_maybe(plan, "change"), "hypothesis",
	    kjson_maybe(plan, "hypothesis"), "bucket", kjson_maybe(plan, "bucket"),
	    "expected_impact", impact, "risks_and_rollback", risks, "strategy", c->strategy,
	    "parent", c->parent);
}

/* The candidate's own profile, or that of its parent, on which the plan was based. */
static json_t *
profile_evidence(const struct kcandidate *c)
{
	const json_t *own = kjson_path(c->json, "eval.profile");
	const json_t *profile = own ?: kjson_path(c->json, "sample.parent.profile");
	const json_t *finding = json_array_get(json_object_get(profile, "findings"), 0);
	auto_free char *made = finding ? kasprintf("%s -> %s -> %s", kjson_str(finding, "text"),
	                                     kjson_str(finding, "id"), kjson_str(finding, "action"))
	                               : NULL;

	return json_pack("{s:s*,s:s*,s:s*,s:s*,s:s*}", "evidence_chain",
	    kjson_str_or(c->json, "eval.plan.evidence", made), "of",
	    !profile  ? NULL
	        : own ? c->id
	              : c->parent,
	    "tool_used", kjson_maybe(profile, "source"), "bottleneck_type",
	    kjson_maybe(profile, "bottleneck.label"), "evidence_summary",
	    kjson_maybe(profile, "bottleneck.text"));
}

static json_t *
largest(const json_t *rows, const char *key)
{
	double most = NAN;

	kjson_foreach(row, rows)
		most = fmax(most, kjson_num_or(row, key, NAN));
	return number_json(most);
}

static json_t *
correctness(const struct kcandidate *c)
{
	const json_t *checked = kjson_path(c->json, "eval.correctness"),
	             *cases = json_object_get(checked, "cases");

	return json_pack("{s:s,s:o*,s:o*,s:o*,s:o*,s:o*}", "status",
	    c->correct         ? "PASS"
	        : c->timed_out ? "TIMEOUT_FAIL"
	                       : "FAIL",
	    "err_share", largest(cases, "max_err_share"), "rel_err", largest(cases, "max_rel_err"),
	    "max_abs_err", largest(cases, "max_abs_err"), "passed",
	    cases ? json_integer(kjson_int(checked, "passed")) : NULL, "total",
	    cases ? json_integer(kjson_int(checked, "total")) : NULL);
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

/* No conclusion: what the noise hides is neither a gain nor a loss. */
static bool
is_unsure(const struct kcandidate *c)
{
	return !strcmp(
	    kjson_str_or(c->json, "score.decision.code", kjson_str(c->json, "score.verdict")),
	    "inconclusive");
}

/* One line about the result of a record. The caller frees. */
static char *
outcome(const struct kcandidate *c)
{
	const char *line = kjson_maybe(c->json, "score.decision.line");
	double gain = record_gain_pct(c);
	struct kbuf b = { 0 };

	if (line)
		return kstrdup(line);
	kbuf_puts(&b, status_rows[c->status].name);
	if (c->speedup.n)
		kbuf_printf(
		    &b, ", %s over the reference", kchain_text(&c->speedup, c->provisional));
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
	const char *fault = kjson_str_or(json_array_get(kjson_path(c->json, "eval.reasons"), 0),
	               "detail", kjson_maybe(c->json, "eval.plan_fault")),
	           *log = kjson_str(c->json, "eval.log"),
	           *audit = kjson_item(kjson_path(c->json, "audit.reasons"), 0);
	auto_free char *line = NULL;

	if (c->won || is_unsure(c) || !c->trial)
		return;
	line = outcome(c);
	kjson_append(list, "{s:s,s:s,s:s*,s:s*,s:s,s:s}", "error_type", error_type(c), "id", c->id,
	    "error_message",
	    c->correct ? line
	        : *log ? log
	               : fault,
	    "root_cause",
	    audit
	        ?: c->correct
	        ? kjson_str_or(c->json, "score.decision.code", "no gain beyond the noise")
	        : fault,
	    "fix_applied", rolled_back(c) ? "rolled back" : "none", "lesson", line);
}

/* A repair that worked is the only fix that is known to be one. */
static void
add_fix(const struct kcandidate *c, json_t *list)
{
	if (!strcmp(c->strategy, "repair") && c->correct)
		kjson_append(list, "{s:s,s:s,s:s*,s:s,s:s}", "error_type",
		    c->parent_status == STATUS_COMPILE_ERROR ? "compilation" : "runtime", "id",
		    c->parent, "error_message", kjson_maybe(c->json, "sample.parent.log"),
		    "fix_applied", c->id, "lesson", "repaired");
}

/* For the baseline: facts about the device that no source gives, and what is used instead. */
static void
add_unknown(json_t *list)
{
	json_auto_t *roofline = kroof_load();
	static const char *const kinds[] = { "unknown", "placeholders" };

	for (size_t i = 0; i < LEN(kinds); i++)
		kjson_foreach(row, json_object_get(roofline, kinds[i]))
			kjson_append(list, "{s:s,s:s,s:s,s:s*,s:s}", "error_type", "unknown_fact",
			    "fix_applied", i ? kjson_str(row, "from") : "none", "error_message",
			    kjson_str_or(row, "metric", "?"), "root_cause",
			    i ? "no source gives it" : kjson_maybe(row, "why"), "lesson",
			    "no target or bound may rest on it");
}

static json_t *
pitfalls(const struct ktrial *trial)
{
	json_t *list = json_array();

	if (!trial->number)
		add_unknown(list);
	kforeach_list(one, trial) {
		add_pitfall(one, list);
		add_fix(one, list);
	}
	return list;
}

static json_t *
quality_gate(const struct kcandidate *c)
{
	bool pass = c->trial ? c->won : c->correct;
	auto_free char *line = pass ? NULL : outcome(c);

	return json_pack("{s:s,s:s*}", "result",
	    pass               ? "PASS"
	        : c->timed_out ? "TIMEOUT_FAIL"
	                       : "FAIL",
	    "failure_reason", line);
}

static void
add_direction(json_t *list, const char *direction, const char *rationale)
{
	auto_free char *line = kfence_line(direction ?: "", LINE);

	if (*line && json_array_size(list) < DIRECTIONS)
		kjson_append(list, "{s:s,s:s*}", "direction", line, "rationale", rationale);
}

/* From the plan; else what the findings of the profile suggest. */
static json_t *
open_directions(const struct kcandidate *c)
{
	json_t *list = json_array();

	kjson_foreach_text(d, c->json, "eval.plan.directions")
		add_direction(list, d, "named in the plan of this round");
	if (!json_array_size(list))
		kjson_foreach(d, c->json, "eval.profile.findings")
			add_direction(list, kjson_maybe(d, "action"), kjson_maybe(d, "text"));
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
	json_t *list = json_array();

	kforeach_list(c, trial) {
		auto_free char *line = outcome(c), *category = record_category(c);
		json_auto_t *profile = profile_evidence(c);

		kjson_append(list, "{s:I,s:s,s:s*,s:s,s:s*,s:s,s:s}", "index",
		    (json_int_t)c->branch, "name", c->id, "hypothesis",
		    kjson_maybe(c->json, "eval.plan.hypothesis"), "change",
		    kjson_str_or(c->json, "eval.plan.change", category), "evidence",
		    kjson_maybe(profile, "evidence_chain"), "result", line, "decision",
		    decision(c));
	}
	return json_pack("{s:I,s:I,s:o}", "experiment_count", (json_int_t)trial->count,
	    "recorded_experiment_count", (json_int_t)json_array_size(list), "experiments", list);
}

/* People's notes on a version, with the trial from which each applies. */
static json_t *
notes(const char *version)
{
	json_t *list = json_array();

	kjson_foreach(e, kmemo_masks.events)
		if (kjson_is(e, "event", "note") &&
		    kjson_has(json_object_get(e, "versions"), version))
			kjson_append(list, "{s:I,s:s*}", "trial", (json_int_t)kjson_int(e, "trial"),
			    "text", kjson_maybe(e, "why"));
	return list;
}

/* The result of a program in the application that its kernel was adopted from. */
static json_t *
application(const struct kcandidate *c)
{
	json_auto_t *verdicts = kverdict_on(c->id);
	json_t *list = json_array();

	kjson_foreach(v, verdicts)
		kjson_append(list, "{s:s,s:s*,s:s*}", "outcome", kverdict_outcome(v), "why",
		    kjson_maybe(v, "why"), "time", kjson_maybe(v, "at"));
	return list;
}

/* Version VERSION, computed from the facts; NULL when its trial is incomplete. New reference. */
static json_t *
build_version(long version)
{
	const struct kcandidate *c = trial_candidate(version);
	auto_free char *name = kasprintf("v%ld", version);
	const struct ktrial *trial;
	json_t *o, *perf;

	if (!c)
		return NULL;
	trial = ktrials_get(version);
	perf = record_performance(c);
	add_comparison(perf, version);
	o = json_pack("{s:s,s:s,s:s,s:I,s:s,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:s,s:s*}",
	    "schema", "memory/1", "campaign", kcamp_str("name"), "version", name, "trial",
	    (json_int_t)version, "id", c->id, "win", c->won, "performance", perf, "optimization",
	    optimization(c), "profile_evidence", profile_evidence(c), "correctness", correctness(c),
	    "pitfalls_and_fixes", pitfalls(trial), "quality_gate", quality_gate(c),
	    "open_directions", open_directions(c), "experience", experience(trial), "masked",
	    kmemo_masked(version, KMEMO_ALL), "timestamp", c->time, "git_commit_hash",
	    json_string_value(json_object_get(campaign.commits, c->id)));
	if (!o)
		kdie(K_IO, "out of memory");
	set_some(o, "notes", notes(name));
	set_some(o, "application", application(c));
	tidy(o);
	return o;
}

/* "memory/v7.json", a text of kshown. */
static const char *
version_path(long version)
{
	return kshown("memory/v%ld.json", version);
}

/*
 * Compares the existing file of a version with OUGHT, if the facts of the trial before it, with
 * which it was compared, are sound. Returns NULL, or what is wrong, naming file and field; the
 * caller frees. STALE: the file was sealed as it is, so it may be made again, because its facts
 * have changed.
 */
static char *
version_fault(const json_t *ought, long version, bool *stale)
{
	const char *path = version_path(version);
	auto_free char *text = kread_file_or_die(path, VERSION_MAX, NULL),
	               *wanted = json_text(ought);
	auto_free char *field = NULL, *a = NULL, *b = NULL;
	json_auto_t *is = NULL;

	*stale = true;
	if ((version && !ktrials_get(version - 1)->whole) || !strcmp(text, wanted))
		return NULL;
	is = kjson_load(path);
	field = kjson_difference(ought, is, "");
	/* Only the mark differs: it is a view of the seal, which readers use. */
	*stale = !field || !strcmp(field, "masked") ||
	    kseal_knows(&campaign.seal, path, ksha256_of(text));
	if (*stale)
		return kasprintf("%s: is out of date; run krecords remember", path);
	a = kjson_told(ought, field);
	b = kjson_told(is, field);
	return kasprintf("%s: %s: is %s, but the records say %s; "
	                 "remove the file and run krecords remember",
	    path, field, b, a);
}

json_t *
checked_version(long version)
{
	json_t *v = kis_there(version_path(version)) ? build_version(version) : NULL;
	bool stale = true;
	auto_free char *fault = v ? version_fault(v, version, &stale) : NULL;

	if (!stale)
		kdie_usage("%s", fault);
	return v;
}

void
add_version(long version, json_t *files)
{
	json_auto_t *v = build_version(version);
	auto_free char *text = v ? json_text(v) : NULL;

	if (text)
		kjson_put(files, version_path(version), text);
}

/*
 * Files are sealed before they are written, so whatever a kill leaves there has been sealed, or
 * agrees with the facts.
 */
void
write_versions(json_t *event, json_t *files)
{
	json_auto_t *digests = json_object();

	kjson_foreach_member(path, text, files) {
		const char *digest = ksha256_of(json_string_value(text));

		if (!kseal_knows(&campaign.seal, path, digest))
			kjson_put(digests, path, digest);
	}
	if (event || json_object_size(digests)) {
		event = event ?: json_object();
		json_object_set(event, "files", digests);
		kseal_add(&campaign.seal, KMEMO_SEAL, event);
	}
	kseal_save(&campaign.seal);
	kjson_foreach_member(path, text, files)
		put_file(path, json_string_value(text), json_string_length(text));
	json_decref(files);
}

/* Adds a version to the files to write, unless its file is already right. */
static void
bring(long version, json_t *files)
{
	json_auto_t *ought = build_version(version);
	const char *path = version_path(version), *digest = kseal_file(path);
	auto_free char *fault = NULL;
	bool stale = true;

	if (!ought)
		kdie_usage("trial %ld is incomplete or damaged, so it is not remembered", version);
	if (digest)
		fault = version_fault(ought, version, &stale);
	if (!stale)
		kdie_usage("%s", fault);
	if (fault || !digest || !kseal_knows(&campaign.seal, path, digest))
		add_version(version, files);
}

long
parse_version(const char *name)
{
	long n;

	if (!kmemo_version(name, &n))
		kdie_usage("'%s' is not a version: write v and the number of a trial, for example "
		           "v7",
		    name);
	return n;
}

int
command_remember(void)
{
	json_t *files = json_object();

	kforeach_of(operand, given.operands, given.count)
		bring(parse_version(*operand), files);
	for (long v = 0; v <= ktrials.last && !given.count; v++)
		if (ktrials_get(v)->whole)
			bring(v, files);
	write_versions(NULL, files);
	return campaign_damage();
}

void
check_memory(struct kfaults *f, size_t *files)
{
	auto_free long *list = kmemo_versions(files);
	bool stale;

	kforeach_of(one, list, *files)
		if (*one > ktrials.last)
			kfault(f, "memory/v%ld.json: trial %ld is not complete; remove the file",
			    *one, *one);
	for (long v = 0; v <= ktrials.last; v++) {
		json_auto_t *ought = build_version(v);
		const char *path = version_path(v);
		auto_free char *fault = NULL;

		if (!kis_there(path))
			kfault(f, "%s: is missing; run krecords remember", path);
		else if (ought)
			fault = version_fault(ought, v, &stale);
		if (fault)
			kfault(f, "%s", fault);
	}
}
