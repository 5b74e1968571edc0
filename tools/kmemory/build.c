/* SPDX-License-Identifier: Apache-2.0 */
/* kmemory: memory/vN.json, made from the facts and views of trial N. See kmemory.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kchain.h"
#include "kio.h"
#include "kmemory.h"
#include "kplace.h"
#include "status.h"

/* MAKER counts the rules below: a file made by others is made anew, not suspected. */
enum {
	MAKER = 1,
	LINE = 400,
	SHORT = 160,
	DIRECTIONS = 3,
	SCORE_MAX = 1 << 30,
	LINEAGE_MAX = 64 << 20
};

/* A member that says something; an empty object is left out. */
static void
set_object(json_t *o, const char *key, json_t *value)
{
	if (json_object_size(value))
		kjson_set(o, key, value);
	else
		json_decref(value);
}

static void
digest_file(json_t *inputs, const char *key, const char *path)
{
	char hex[65], *data;
	size_t len;

	data = kread_file(path, SCORE_MAX, &len);
	if (!data && errno != ENOENT)
		kdie_errno(K_IO, "%s", path);
	if (!data)
		return;
	ksha256_hex(data, len, hex);
	kjson_set(inputs, key, json_string(hex));
	free(data);
}

/*
 * The commit of an accepted round in the lineage, or NULL: a string, whatever its digits. The
 * caller frees.
 */
static char *
commit_of(const char *id)
{
	char *text = kread_file("logs/lineage.ndjson", LINEAGE_MAX, NULL), *found = NULL, *next;
	struct krec rec;
	char why[128];

	for (char *line = text; line && (next = strchr(line, '\n')) && !found; line = next + 1) {
		if (!krec_parse(&rec, line, (size_t)(next - line), why, sizeof why))
			continue;
		if (!strcmp(kjson_str_or(rec.json, "kind", ""), "commit") &&
		    !strcmp(kjson_str_or(rec.json, "id", ""), id))
			found = kstrdup(kjson_str_or(rec.json, "commit", ""));
		krec_free(&rec);
	}
	free(text);
	return found;
}

/* What the record is made of, so that a change of it is told from a change of the record. */
static json_t *
inputs_of(const struct memory *m, long version, const char *commit)
{
	json_t *inputs = json_pack("{s:i,s:s}", "maker", MAKER, "statistic", m->statistic);
	char *score = kplace_trial(".", version, "score.ndjson"), *before;

	set_line(inputs, "commit", commit, 80);
	digest_file(inputs, "score", score);
	digest_file(inputs, "task", m->task->file);
	if (version > 0) {
		before = kplace_trial(".", version - 1, "score.ndjson");
		digest_file(inputs, "previous", before);
		free(before);
	}
	free(score);
	return inputs;
}

static bool
rolled_back(const struct kcandidate *c)
{
	return !strcmp(c->verdict, "rolled_back");
}

/* Differences from the version before, where both were timed. */
static void
add_comparison(const struct memory *m, json_t *perf, long version)
{
	static const struct {
		const char *field, *delta;
	} members[] = {
		{ "latency_us", "latency_delta" },
		{ "tflops", "tflops_delta" },
		{ "bandwidth_gbps", "bandwidth_delta" },
	};
	const struct kcandidate *last = version > 0 ? trial_candidate(m, version - 1) : NULL;
	json_t *before, *o = json_object();

	if (last) {
		before = record_performance(m, last);
		for (size_t i = 0; i < LEN(members); i++)
			set_number(o, members[i].delta,
			    kjson_num_or(perf, members[i].field, NAN) -
			        kjson_num_or(before, members[i].field, NAN));
		json_decref(before);
	}
	set_object(perf, "comparison_with_previous", o);
}

static json_t *
optimization(const struct kcandidate *c)
{
	const json_t *plan = kjson_path(c->json, "eval.plan");
	char *category = record_category(c), *impact = NULL, *risks;
	const char *risk = kjson_str_or(plan, "risks", ""), *parent = c->parent;
	double percent = kjson_num_or(plan, "expected_gain_pct", NAN);
	json_t *o = json_pack("{s:s}", "action_category", category);

	set_line(o, "action_description", kjson_str_or(plan, "change", NULL), LINE);
	set_line(o, "hypothesis", kjson_str_or(plan, "hypothesis", NULL), LINE);
	set_line(o, "bucket", kjson_str_or(plan, "bucket", NULL), 8);
	if (isfinite(percent))
		impact = kasprintf("%+.3g %%", percent);
	set_line(o, "expected_impact", impact, SHORT);
	risks = kasprintf("%s%s%s%s", risk, *risk && rolled_back(c) ? "; " : "",
	    rolled_back(c) ? "rolled back to " : "", rolled_back(c) ? parent : "");
	set_line(o, "risks_and_rollback", risks, LINE);
	set_line(o, "strategy", c->strategy, 40);
	set_line(o, "parent", parent, 24);
	free(category);
	free(impact);
	free(risks);
	return o;
}

/* The candidate's own profile, or the one of its parent, which the change was planned from. */
static json_t *
profile_evidence(const struct kcandidate *c)
{
	const json_t *own = kjson_path(c->json, "eval.profile");
	const json_t *profile = own ? own : kjson_path(c->json, "sample.parent.profile");
	const json_t *finding = json_array_get(json_object_get(profile, "findings"), 0);
	const char *chain = kjson_str_or(c->json, "eval.plan.evidence", NULL);
	char *made = finding
	    ? kasprintf("%s -> %s -> %s", kjson_str_or(finding, "text", ""),
	          kjson_str_or(finding, "id", ""), kjson_str_or(finding, "action", ""))
	    : NULL;
	json_t *o = json_object();

	set_line(o, "evidence_chain", chain ? chain : made, LINE);
	if (profile) {
		set_line(o, "of", own ? c->id : c->parent, 24);
		set_line(o, "tool_used", kjson_str_or(profile, "source", NULL), 24);
		set_line(o, "bottleneck_type", kjson_str_or(profile, "bottleneck.label", NULL), 24);
		set_line(
		    o, "evidence_summary", kjson_str_or(profile, "bottleneck.text", NULL), LINE);
	}
	free(made);
	return o;
}

static json_t *
correctness(const struct kcandidate *c)
{
	const json_t *cases = kjson_path(c->json, "eval.correctness.cases"), *row;
	const char *status = c->correct ? "PASS" : c->timed_out ? "TIMEOUT_FAIL" : "FAIL";
	json_t *o = json_pack("{s:s}", "status", status);
	double rel = NAN, abs = NAN;
	size_t i;

	json_array_foreach((json_t *)cases, i, row)
	{
		rel = fmax(rel, kjson_num_or(row, "max_rel_err", NAN));
		abs = fmax(abs, kjson_num_or(row, "max_abs_err", NAN));
	}
	set_number(o, "rel_err", rel);
	set_number(o, "max_abs_err", abs);
	if (cases) {
		kjson_set(
		    o, "passed", json_integer(kjson_int_or(c->json, "eval.correctness.passed", 0)));
		kjson_set(
		    o, "total", json_integer(kjson_int_or(c->json, "eval.correctness.total", 0)));
	}
	return o;
}

/* What the rules of the profile looked for and found: a metric past its bound. */
static json_t *
isa_progress(const struct kcandidate *c)
{
	json_t *list = json_array(), *f, *v, *o;
	const char *metric;
	size_t i;

	json_array_foreach(kjson_path(c->json, "eval.profile.findings"), i, f)
	    json_object_foreach(json_object_get(f, "measured"), metric, v)
	{
		o = json_object();
		set_line(o, "metric", metric, SHORT);
		set_line(o, "target", kjson_str_or(f, "text", ""), SHORT);
		set_number(o, "current", json_number_value(v));
		kjson_set(o, "met", json_false());
		json_array_append_new(list, o);
	}
	return list;
}

/* What the prompt showed beside the campaign's own results. */
static void
add_sources(const struct kcandidate *c, json_t *log, json_t *references)
{
	json_t *notes = (json_t *)kjson_path(c->json, "prompt.knowledge"), *n, *o;
	size_t i;

	json_array_foreach(notes, i, n)
	{
		const char *file = kjson_str_or(n, "file", NULL);

		if (!file)
			continue;
		o = json_pack("{s:s,s:s}", "source", "knowledge", "actionability", "shown");
		set_line(o, "query", kjson_str_or(n, "route", "by operation, device and backend"),
		    SHORT);
		set_line(o, "finding", kjson_str_or(n, "section", file), SHORT);
		json_array_append_new(log, o);
		o = json_pack("{s:s}", "source_type", "knowledge");
		set_line(o, "path_or_url", file, SHORT);
		set_line(o, "description", kjson_str_or(n, "section", NULL), SHORT);
		json_array_append_new(references, o);
	}
}

static const char *const error_types[FAULT_COUNT] = {
	[FAULT_NONE] = "performance",
	[FAULT_BUILD] = "compilation",
	[FAULT_RUN] = "runtime",
	[FAULT_RESULT] = "accuracy",
};

/*
 * "rule": refused before or beside the ladder: no code, no plan, cheating, a result that cannot be
 * trusted.
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

/* Nothing follows from it: what the noise hid is neither a gain nor a loss. */
static bool
is_unsure(const struct kcandidate *c)
{
	const char *verdict = kjson_str_or(c->json, "score.verdict", "");

	return !strcmp(kjson_str_or(c->json, "score.decision.code", verdict), "inconclusive");
}

/* One line on what became of a record. The caller frees. */
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
		char *text = kchain_text(&c->speedup, c->provisional);

		kbuf_printf(&b, ", %s over the reference", text);
		free(text);
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

/* A repair that worked is the one fix that is known to be one. */
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
	set_line(o, "error_message", kjson_str_or(c->json, "sample.parent.log", NULL), LINE);
	set_line(o, "fix_applied", c->id, LINE);
	set_line(o, "lesson", "repaired", LINE);
	json_array_append_new(list, o);
}

static json_t *
pitfalls(const struct ktrial *trial)
{
	json_t *list = json_array();

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
	json_t *o = json_object();

	set_line(o, "direction", direction, LINE);
	set_line(o, "rationale", rationale, LINE);
	if (json_object_get(o, "direction") && json_array_size(list) < DIRECTIONS)
		json_array_append(list, o);
	json_decref(o);
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

/* All branches of the trial, in their order. */
static json_t *
experience(const struct ktrial *trial)
{
	json_t *list = json_array(), *o, *chain;

	for (size_t i = 0; i < trial->count; i++) {
		const struct kcandidate *c = &trial->list[i];
		char *line = outcome(c), *category = record_category(c);

		o = json_pack("{s:I}", "index", (json_int_t)c->branch);
		set_line(o, "name", c->id, 24);
		set_line(
		    o, "hypothesis", kjson_str_or(c->json, "eval.plan.hypothesis", NULL), LINE);
		set_line(o, "change", kjson_str_or(c->json, "eval.plan.change", category), LINE);
		chain = profile_evidence(c);
		set_line(o, "evidence", kjson_str_or(chain, "evidence_chain", NULL), LINE);
		set_line(o, "result", line, LINE);
		set_line(o, "decision", decision(c), 24);
		json_array_append_new(list, o);
		json_decref(chain);
		free(line);
		free(category);
	}
	return json_pack("{s:I,s:I,s:o}", "experiment_count", (json_int_t)trial->count,
	    "recorded_experiment_count", (json_int_t)json_array_size(list), "experiments", list);
}

json_t *
build_version(const struct memory *m, long version)
{
	const struct kcandidate *c = trial_candidate(m, version);
	const struct ktrial *trial;
	json_t *o, *perf, *log, *references;
	char hex[65], *commit;

	if (!c)
		return NULL;
	trial = ktrials_get(m->trials, version);
	commit = commit_of(c->id);
	log = json_array();
	references = json_array();
	add_sources(c, log, references);
	perf = record_performance(m, c);
	add_comparison(m, perf, version);
	o = json_pack("{s:s,s:s,s:o,s:I,s:s,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:"
	              "o}",
	    "schema", "memory/1", "campaign", kcamp_str(m->camp, "name"), "version",
	    json_sprintf("v%ld", version), "trial", (json_int_t)version, "id", c->id, "win", c->won,
	    "performance", perf, "optimization", optimization(c), "profile_evidence",
	    profile_evidence(c), "correctness", correctness(c), "isa_metric_progress",
	    isa_progress(c), "search_log", log, "pitfalls_and_fixes", pitfalls(trial), "references",
	    references, "quality_gate", quality_gate(c), "open_directions", open_directions(c),
	    "experience", experience(trial), "inputs", inputs_of(m, version, commit), "masked",
	    json_boolean(kmemo_masked(&m->masks, version, KMEMO_ALL)));
	if (!o)
		kdie(K_IO, "out of memory");
	set_line(o, "timestamp", c->time, 32);
	set_line(o, "git_commit_hash", commit, 80);
	free(commit);
	kmemo_seal(o, hex);
	kjson_set(o, "sha256", json_string(hex));
	return o;
}

/*
 * The path of the first member that differs, "performance.latency_us"; NULL: none. The caller
 * frees.
 */
static char *
difference(const json_t *ought, const json_t *is, const char *at)
{
	const json_t *a, *b;
	const char *key;
	char *path, *found = NULL;
	json_t *keys;

	if (json_equal(ought, is))
		return NULL;
	if (!json_is_object(ought) || !json_is_object(is))
		return kstrdup(at);
	keys = json_copy((json_t *)ought);
	json_object_update(keys, (json_t *)is);
	/* The seal follows from all others: it is named only when nothing else is wrong. */
	json_object_del(keys, "sha256");
	json_object_foreach(keys, key, b)
	{
		a = json_object_get(ought, key);
		b = json_object_get(is, key);
		path = *at ? kasprintf("%s.%s", at, key) : kstrdup(key);
		found = a && b ? difference(a, b, path) : kstrdup(path);
		free(path);
		if (found)
			break;
	}
	json_decref(keys);
	return found ? found : kstrdup(*at ? at : "sha256");
}

/* A value as it is told in a message; the caller frees. */
static char *
told(const json_t *object, const char *path)
{
	const json_t *v = kjson_path(object, path);
	char *text = v ? json_dumps(v, KIO_DUMP | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))
	               : kstrdup("nothing");

	if (strlen(text) > 80)
		strcpy(text + 77, "...");
	return text;
}

char *
version_fault(const json_t *ought, long version, bool *stale)
{
	char *path = kmemo_path(".", version), *field, *a, *b, *fault = NULL;
	json_t *is = kjson_load(path);
	bool changed = !json_equal(json_object_get(ought, "inputs"), json_object_get(is, "inputs"));
	char *seal = kmemo_seal_fault(is, path + 2);

	field = difference(ought, is, "");
	/* The mark alone is a view of the log, which is what readers go by. */
	if (stale)
		*stale = (changed && !seal) || (field && !strcmp(field, "masked") && !seal);
	if (field) {
		a = told(ought, field);
		b = told(is, field);
		fault = changed && !seal
		    ? kasprintf("%s: is out of date; run kmemory build", path + 2)
		    : kasprintf("%s: %s: is %s, but the records say %s; remove the file and run "
		                "kmemory build",
		          path + 2, field, b, a);
		free(a);
		free(b);
	}
	free(seal);
	free(field);
	free(path);
	json_decref(is);
	return fault;
}

json_t *
checked_version(const struct memory *m, long version)
{
	char *path = kmemo_path(".", version), *fault;
	json_t *v = access(path, F_OK) == 0 ? build_version(m, version) : NULL;
	bool stale = false;

	fault = v ? version_fault(v, version, &stale) : NULL;
	if (fault && !stale)
		kdie(K_USAGE, "%s", fault);
	free(fault);
	free(path);
	return v;
}

/*
 * A file is held to the facts when those of the trial before it are sound, too: it was compared
 * with them.
 */
static bool
is_checkable(const struct memory *m, long version)
{
	return !version || ktrials_get(m->trials, version - 1)->whole;
}

/* Write a version unless it stands. */
static void
bring(const struct memory *m, long version)
{
	char *path = kmemo_path(".", version), *fault = NULL;
	json_t *ought = build_version(m, version);
	bool stale = true;

	if (!ought)
		kdie(K_USAGE, "trial %ld is incomplete or damaged, so it is not remembered",
		    version);
	if (access(path, F_OK) == 0 && is_checkable(m, version))
		fault = version_fault(ought, version, &stale);
	if (fault && !stale)
		kdie(K_USAGE, "%s", fault);
	if (fault || access(path, F_OK) < 0)
		write_json(path + 2, ought);
	free(fault);
	free(path);
	json_decref(ought);
}

int
command_build(const struct options *o)
{
	struct memory m;

	memory_open(&m, true);
	for (size_t i = 0; i < o->count; i++)
		bring(&m, parse_version(o->operands[i]));
	for (long v = 0; v <= m.trials->last && !o->count; v++)
		if (ktrials_get(m.trials, v)->whole)
			bring(&m, v);
	return memory_close(&m);
}

/* Says FAULT, and frees it. How many that makes. */
static size_t
complain(char *fault)
{
	if (!fault)
		return 0;
	kwarn("%s", fault);
	free(fault);
	return 1;
}

/* A record of a trial that there is not, or a trial without its record. */
static size_t
check_names(long last)
{
	size_t count, faults = 0;
	long *list = kmemo_versions(".", &count);

	for (size_t i = 0; i < count; i++)
		if (list[i] > last)
			faults += complain(kasprintf(
			    "memory/v%ld.json: trial %ld is not complete", list[i], list[i]));
	free(list);
	return faults;
}

int
command_check(const struct options *o)
{
	struct memory m;
	size_t faults;

	(void)o;
	memory_open(&m, false);
	faults = check_names(m.trials->last) + complain(masks_anchored(&m)) +
	    complain(hygiene_selftest());
	for (long v = 0; v <= m.trials->last; v++) {
		json_t *ought = build_version(&m, v);
		char *path = kmemo_path(".", v);

		if (access(path, F_OK) < 0)
			faults +=
			    complain(kasprintf("%s: is missing; run kmemory build", path + 2));
		else if (ought && is_checkable(&m, v))
			faults += complain(version_fault(ought, v, NULL));
		free(path);
		json_decref(ought);
	}
	return memory_close(&m) || faults ? K_NO : K_OK;
}
