/* SPDX-License-Identifier: Apache-2.0 */
/* kcamp: see kcamp.h. */
#include "kcamp.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend.h"
#include "kio.h"
#include "klinear.h"
#include "kutil.h"

#define BIG 1e15

const struct kknob kknobs[] = {
	{ "schema", KKNOB_ENUM, "campaign/1", 0, 0, "campaign/1", "format of this file" },
	{ "name", KKNOB_STR, NULL, 0, 0, NULL, "name of the campaign" },
	{ "title", KKNOB_STR, "", 0, 0, NULL, "one line for people" },
	{ "task", KKNOB_STR, "task.json", 0, 0, NULL,
	    "task file, relative to the campaign folder" },
	{ "backend", KKNOB_ENUM, "c", 0, 0, "c|cuda|hip|opencl|sycl|triton",
	    "what compiles and runs the kernels" },
	{ "language", KKNOB_STR, "c", 0, 0, NULL,
	    "label of the code fence that the model is asked for" },
	{ "gpu", KKNOB_STR, "", 0, 0, NULL,
	    "device name for the hardware section; empty: the machine's CPU" },
	{ "seed", KKNOB_INT, "42", 0, 9007199254740991.0, NULL,
	    "the one seed of all randomness in the loop" },
	{ "instructions", KKNOB_STR, "", 0, 0, NULL,
	    "text for the model from you, verbatim in every prompt" },

	{ "search.mode", KKNOB_ENUM, "map-elites", 0, 0, "map-elites|linear",
	    "search algorithm; linear: one change a round, kept or rolled back" },
	{ "search.branches", KKNOB_INT, "4", 1, 99, NULL,
	    "candidates per trial; one in linear mode" },
	{ "search.exploit", KKNOB_NUM, "0.7", 0, 1, NULL,
	    "share of parents drawn by softmax over the island's elites" },
	{ "search.explore", KKNOB_NUM, "0.2", 0, 1, NULL,
	    "share of parents drawn nearest to an under-explored cell, which becomes the "
	    "target" },
	{ "search.temperature", KKNOB_NUM, "1.0", 1e-8, 1e6, NULL,
	    "softmax temperature of exploit" },
	{ "search.scale", KKNOB_ENUM, "log", 0, 0, "log|raw|rank",
	    "what the softmax sees: log of the combined score, the score, or its rank" },
	{ "search.strategy", KKNOB_ENUM, "mutate", 0, 0,
	    "mutate|diversify|intensify|specialize|balance",
	    "strategy for a correct parent when no other is drawn" },
	{ "search.diversify", KKNOB_NUM, "0.2", 0, 1, NULL,
	    "chance that a correct parent is sent to a random under-explored cell" },
	{ "search.esimd", KKNOB_NUM, "0.1", 0, 1, NULL,
	    "chance of esimd_upgrade (explicit SIMD or matrix unit) where the level is below 3" },
	{ "search.repair", KKNOB_NUM, "0.5", 0, 1, NULL,
	    "chance per broken candidate of the last trial that a branch repairs it instead of"
	    " mutating an elite" },
	{ "search.inspirations", KKNOB_INT, "2", 0, 16, NULL,
	    "other elites shown beside the parent" },
	{ "search.islands", KKNOB_INT, "1", 1, 64, NULL, "number of islands" },
	{ "search.seed_score", KKNOB_NUM, "5.0", 0, 1e6, NULL,
	    "combined score given to the reference in the first archive" },

	{ "linear.metric", KKNOB_ENUM, "geomean", 0, 0, "geomean|independent",
	    "what a round must improve: the geometric mean over timed workloads (forward and "
	    "backward of a pair count as one), or any of them while none gets worse" },
	{ "linear.confirm", KKNOB_BOOL, "false", 0, 0, NULL,
	    "round 1 begins only when a person has confirmed campaign.json and task.json in "
	    "the file confirmed" },
	{ "linear.max_rounds", KKNOB_INT, "0", 0, 119, NULL,
	    "stop after this many rounds, the baseline being the first; 0: stop.trials alone" },
	{ "linear.target", KKNOB_STR, "", 0, 0, NULL,
	    "stop when the last accepted round reaches this: 2.5x (over the baseline), 500 "
	    "TFLOP/s, 300 GB/s; empty: never" },

	{ "gradient.enabled", KKNOB_BOOL, "true", 0, 0, NULL,
	    "track transitions, reweight parents and give hints" },

	{ "stop.trials", KKNOB_INT, "10", 1, 999999, NULL, "trials at most" },
	{ "stop.patience", KKNOB_INT, "2", 0, 999999, NULL,
	    "stop after this many trials without a gain; 0: never, as in linear mode unless it"
	    " is set" },
	{ "stop.speedup", KKNOB_NUM, "0", 0, BIG, NULL,
	    "stop when the best speed-up reaches this; 0: never" },
	{ "stop.efficiency", KKNOB_NUM, "0", 0, 100, NULL,
	    "stop when the best kernel reaches this share, in percent, of the ceilings that "
	    "bind its workloads (docs/roofline.md); needs facts about the device; 0: never" },
	{ "stop.budget_usd", KKNOB_NUM, "0", 0, BIG, NULL,
	    "stop, and refuse model calls, when this much is spent; 0: no cap" },
	{ "stop.once_correct", KKNOB_BOOL, "false", 0, 0, NULL,
	    "stop at the first correct candidate" },
	{ "stop.failures", KKNOB_INT, "0", 0, BIG, NULL,
	    "stop after this many candidates in a row without code or timed out; 0: never" },

	{ "model.provider", KKNOB_ENUM, "replay", 0, 0,
	    "anthropic|openai|exec:|exec-json:|file|replay|null", "who answers the prompts" },
	{ "model.name", KKNOB_STR, "", 0, 0, NULL, "model name as the provider knows it" },
	{ "model.fallback", KKNOB_STR, "", 0, 0, NULL,
	    "model to ask when the first one refuses; empty: none" },
	{ "model.base_url", KKNOB_STR, "", 0, 0, NULL,
	    "server, for compatible ones; empty: the provider's own" },
	{ "model.key_env", KKNOB_STR, "", 0, 0, NULL,
	    "environment variable that holds the key; empty: the provider's usual one" },
	{ "model.key_file", KKNOB_STR, "", 0, 0, NULL, "file (mode 0600) that holds the key" },
	{ "model.max_tokens", KKNOB_INT, "16000", 16, 1e7, NULL, "answer cap, reasoning included" },
	{ "model.temperature", KKNOB_NUM, "-1", -1, 2, NULL,
	    "sampling temperature; -1: do not send" },
	{ "model.effort", KKNOB_ENUM, "", 0, 0, "|none|minimal|low|medium|high|xhigh|max",
	    "reasoning effort; empty: do not send" },
	{ "model.timeout_s", KKNOB_NUM, "1800", 1, 86400, NULL, "whole call" },
	{ "model.stall_s", KKNOB_NUM, "120", 0.1, 86400, NULL,
	    "without a byte of content (comments and pings do not count)" },
	{ "model.retries", KKNOB_INT, "6", 1, 100, NULL, "attempts per prompt at most" },
	{ "model.backoff_s", KKNOB_NUM, "1", 0, 3600, NULL,
	    "span of the first random pause between attempts; it doubles up to 60 s" },
	{ "model.rpm", KKNOB_NUM, "0", 0, BIG, NULL,
	    "requests per minute, shared by all processes; 0: no limit" },
	{ "model.tpm", KKNOB_NUM, "0", 0, BIG, NULL,
	    "tokens per minute, shared by all processes; 0: no limit" },
	{ "model.inflight", KKNOB_INT, "0", 0, 10000, NULL,
	    "requests at once, shared by all processes; 0: no limit" },
	{ "model.price_input", KKNOB_NUM, "-1", -1, KCAMP_PRICE_MAX, NULL,
	    "price of model.name, in USD per million tokens of prompt; -1: as the model table "
	    "says" },
	{ "model.price_cached", KKNOB_NUM, "-1", -1, KCAMP_PRICE_MAX, NULL,
	    "the same for what comes from a prompt cache; -1: as model.price_input" },
	{ "model.price_output", KKNOB_NUM, "-1", -1, KCAMP_PRICE_MAX, NULL,
	    "the same for tokens of the answer, reasoning included; set it together with "
	    "model.price_input" },

	{ "feedback.provider", KKNOB_ENUM, "", 0, 0, "|anthropic|openai|exec:|exec-json:|null",
	    "who puts an evaluation's log into few words for the next prompts: a second, "
	    "cheaper model; empty: nobody" },
	{ "feedback.name", KKNOB_STR, "", 0, 0, NULL,
	    "its name as the provider knows it; empty: model.name" },

	{ "prompt.tips", KKNOB_INT, "2", 0, 20, NULL, "random strategy tips for a correct parent" },
	{ "prompt.knowledge_tokens", KKNOB_INT, "3000", 0, 100000, NULL,
	    "tokens at most, of 4 characters, for notes on the kind of computation, the device"
	    " and the language; 0: none" },
	{ "prompt.profile_tokens", KKNOB_INT, "6000", 200, 100000, NULL,
	    "tokens at most, of 4 characters, for profile and skills" },
	{ "prompt.memory_tokens", KKNOB_INT, "1500", 0, 100000, NULL,
	    "tokens at most, of 4 characters, for memory, tips and the library of earlier "
	    "campaigns; 0: do not show them" },

	{ "memory.enabled", KKNOB_ENUM, "auto", 0, 0, "auto|on|off",
	    "keep memory/vN.json of every trial and show it to the model; auto: in linear mode" },
	{ "memory.restart_after", KKNOB_INT, "0", 0, 999999, NULL,
	    "hide a random half of the memory after this many trials in a row without a gain; "
	    "0: never" },
	{ "memory.mask_every", KKNOB_INT, "0", 0, 999999, NULL,
	    "hide a random half of the memory after every so many trials; 0: never" },
	{ "memory.compact_every", KKNOB_INT, "0", 0, 999999, NULL,
	    "let the model of feedback.* sum the memory up after every so many trials; 0: "
	    "never" },

	{ "tips.enabled", KKNOB_ENUM, "auto", 0, 0, "auto|on|off",
	    "read tips of earlier campaigns before the first trial and leave tips behind; "
	    "auto: in linear mode" },
	{ "tips.dir", KKNOB_STR, "", 0, 0, NULL,
	    "folder of the tips; empty: $XDG_DATA_HOME/kiln/tips, or ~/.local/share/kiln/tips" },

	{ "classify.patterns", KKNOB_STR, "", 0, 0, NULL,
	    "pattern table; empty: patterns/BACKEND.json" },

	{ "eval.evaluator", KKNOB_ENUM, "harness", 0, 0, "harness|null",
	    "harness: compile, check and time; null: a score from the code's hash, for "
	    "simulations" },
	{ "eval.set", KKNOB_STR, "quick", 0, 0, NULL,
	    "workload set of the task used for every candidate" },
	{ "eval.threads", KKNOB_INT, "0", 0, 4096, NULL,
	    "threads for kernels and baselines; 0: all CPUs of this machine" },
	{ "eval.seeds", KKNOB_INT, "2", 1, 100, NULL, "input seeds per workload and distribution" },
	{ "eval.build_timeout_s", KKNOB_NUM, "120", 0.1, 86400, NULL, "one build" },
	{ "eval.run_timeout_s", KKNOB_NUM, "60", 0.1, 86400, NULL, "one kernel call" },
	{ "eval.timing_s", KKNOB_NUM, "1.0", 0.01, 3600, NULL,
	    "time spent on samples per workload, at most (at least min_samples are taken)" },
	{ "eval.busy_s", KKNOB_NUM, "60", 0, 86400, NULL,
	    "how long a measurement waits, in all, while other programs keep the processors "
	    "busy; then there are no times" },
	{ "eval.min_samples", KKNOB_INT, "5", 1, 100000, NULL,
	    "timing samples per workload at least" },
	{ "eval.max_samples", KKNOB_INT, "96", 1, 100000, NULL,
	    "timing samples per workload at most" },
	{ "eval.warmup_s", KKNOB_NUM, "0.03", 0, 3600, NULL,
	    "untimed calls for at least this long" },
	{ "eval.reuse", KKNOB_ENUM, "auto", 0, 0, "auto|off|on",
	    "measure on buffers that were seen before, too, for kaudit: auto: candidates that "
	    "would be a gain; on: all correct ones" },
	{ "eval.sandbox", KKNOB_ENUM, "auto", 0, 0, "auto|bwrap|landlock|none",
	    "isolation required; auto: the strongest there is, landlock at least" },
	{ "eval.memory_mb", KKNOB_INT, "4096", 16, BIG, NULL, "memory of a build or a candidate" },
	{ "eval.launcher", KKNOB_STR, "", 0, 0, NULL,
	    "command put before keval and kharness, such as: kremote ssh gpu1 -- "
	    "(docs/remote.md); empty: they run here" },
	{ "eval.profile", KKNOB_ENUM, "auto", 0, 0, "auto|off|promising|all",
	    "tier T4, a profiler's findings for the next prompt: for candidates that come near"
	    " the incumbent or for all correct ones; auto: promising ones of a GPU where the "
	    "profiler is installed" },
	{ "eval.profile_timeout_s", KKNOB_NUM, "180", 1, 86400, NULL, "one profiler run" },
	{ "eval.lock_clocks", KKNOB_ENUM, "off", 0, 0, "off|try|require",
	    "lock the clocks of a CUDA device while it is measured on: try: where the machine "
	    "permits it; require: or do not measure" },
	{ "eval.sanitize_s", KKNOB_NUM, "60", 0, 86400, NULL,
	    "time limit of each sanitizer that verify runs over the best kernel; 0: none is "
	    "run, and the record says so" },
	{ "eval.build", KKNOB_JSON, "", 0, 0, NULL,
	    "own command instead of tier T1: {command, format, ...}, see keval(1)" },
	{ "eval.correctness", KKNOB_JSON, "", 0, 0, NULL, "own command instead of tier T2" },
	{ "eval.timing", KKNOB_JSON, "", 0, 0, NULL, "own command instead of tier T3" },

	{ "score.multiplier", KKNOB_NUM, "3", 0, 1e6, NULL,
	    "combined = perf_score + multiplier * speedup for a correct candidate" },
	{ "score.statistic", KKNOB_ENUM, "median", 0, 0, "median|min|mean",
	    "sample statistic that is the time" },
	{ "score.min_gain", KKNOB_NUM, "0.02", 0, 10, NULL,
	    "smallest relative gain, even when the measured noise is lower" },

	{ "records.enabled", KKNOB_ENUM, "auto", 0, 0, "auto|on|off",
	    "after each trial write rounds/ and logs/ and commit what was accepted, see "
	    "kround(1); auto: in linear mode" },

	{ "git.branch", KKNOB_STR, "auto", 0, 0, NULL,
	    "branch for accepted kernels in the repository that holds the campaign; auto: "
	    "optimize/NAME; none: no branch" },
	{ "git.kernel_path", KKNOB_STR, "", 0, 0, NULL,
	    "where the kernel lives in the repository; empty: kernels/NAME/ENTRY.SUFFIX" },
	{ "git.identity", KKNOB_STR, "kiln <kiln@localhost>", 0, 0, NULL,
	    "author and committer of those commits: name <address>" },
};
const size_t kknobs_count = LEN(kknobs);

/*
 * Fields of earlier campaigns that nobody turned, and what holds instead: a value, or words. A
 * campaign that says the same is accepted; one that says something else is another campaign.
 */
static const struct {
	const char *path, *value, *words;
} gone[] = {
	{ "search.random", NULL,
	    "the rest of search.exploit and search.explore is drawn at random" },
	{ "search.repair_tries", "2", NULL },
	{ "search.programs_per_island", "10", NULL },
	{ "search.migration_interval", "10", NULL },
	{ "search.migration_rate", "0.1", NULL },
	{ "search.population", "1000", NULL },
	{ "search.tabu_trials", "3", NULL },
	{ "linear.full_set", "full", NULL },
	{ "linear.core_regression", "0.05", NULL },
	{ "linear.borderline", "0.05", NULL },
	{ "linear.noise", "0.02", NULL },
	{ "linear.repeats", "3", NULL },
	{ "linear.min_mean", "0.01", NULL },
	{ "linear.spill_bytes", "0", NULL },
	{ "linear.occupancy_drop", "0.5", NULL },
	{ "linear.history", "8", NULL },
	{ "gradient.weight", "0.3", NULL },
	{ "gradient.fitness", "0.4", NULL },
	{ "gradient.rate", "0.4", NULL },
	{ "gradient.exploration", "0.2", NULL },
	{ "gradient.history", "10000", NULL },
	{ "gradient.cells", "256", NULL },
	{ "gradient.min_samples", "3", NULL },
	{ "gradient.decay", "0.95", NULL },
	{ "gradient.hint_samples", "2", NULL },
	{ "gradient.hint_rate", "0.5", NULL },
	{ "gradient.hints", "3", NULL },
	{ "stop.min_trials", "3", NULL },
	{ "model.connect_s", "10", NULL },
	{ "model.first_byte_s", NULL, "model.stall_s counts from the start of the request" },
	{ "model.replies", "replies", NULL },
	{ "model.cache", "true", NULL },
	{ "prompt.inspirations", NULL, "search.inspirations says how many" },
	{ "prompt.best", "true", NULL },
	{ "prompt.hardware", "true", NULL },
	{ "prompt.errors", "3", NULL },
	{ "prompt.error_chars", "500", NULL },
	{ "prompt.log_chars", "5000", NULL },
	{ "prompt.skills", "true", NULL },
	{ "prompt.profile", "true", NULL },
	{ "prompt.skill_bodies", "5", NULL },
	{ "prompt.lead_tokens", "500", NULL },
	{ "classify.strip", "true", NULL },
	{ "classify.gates", "true", NULL },
	{ "classify.require_lower_levels", "false", NULL },
	{ "eval.warmup", "2", NULL },
	{ "eval.lock_mhz", "0", NULL },
	{ "audit.gap", "0.01", NULL },
	{ "git.commit", NULL, "git.branch none makes no commits" },
};

/*
 * NULL: PATH was never a knob, or V is what holds anyway; else what to tell, which the caller
 * frees.
 */
static char *
gone_fault(const char *path, const json_t *v, bool *known)
{
	size_t i = 0;
	char *said;
	bool same;

	while (i < LEN(gone) && strcmp(gone[i].path, path))
		i++;
	*known = i < LEN(gone);
	if (!*known)
		return NULL;
	if (gone[i].words)
		return kasprintf("is no longer a field; remove it: %s", gone[i].words);
	said = json_is_string(v) ? kstrdup(json_string_value(v)) : json_dumps(v, JSON_ENCODE_ANY);
	same = json_is_number(v) ? json_number_value(v) == strtod(gone[i].value, NULL)
	                         : !strcmp(said, gone[i].value);
	free(said);
	return same
	    ? NULL
	    : kasprintf("is no longer a field; remove it: kiln always uses %s", gone[i].value);
}

static const struct kknob *
find_knob(const char *path)
{
	for (size_t i = 0; i < LEN(kknobs); i++)
		if (!strcmp(kknobs[i].path, path))
			return &kknobs[i];
	return NULL;
}

/* "a|b|c:" accepts a, b and anything longer that begins with "c:". */
static bool
is_choice(const char *choices, const char *s)
{
	for (const char *c = choices;; c++) {
		size_t n = strcspn(c, "|");
		bool open = n && c[n - 1] == ':';

		if (!strncmp(c, s, n) && (open ? strlen(s) > n : strlen(s) == n))
			return true;
		c += n;
		if (!*c)
			return false;
	}
}

/* What is wrong with V as a value of K, or NULL; the caller frees. */
static char *
value_fault(const struct kknob *k, const json_t *v)
{
	switch (k->type) {
	case KKNOB_STR:
		return json_is_string(v) ? NULL : kstrdup("must be a string");
	case KKNOB_ENUM:
		if (json_is_string(v) && is_choice(k->choices, json_string_value(v)))
			return NULL;
		return kasprintf("must be one of %s", k->choices);
	case KKNOB_INT:
		if (json_is_integer(v) && (double)json_integer_value(v) >= k->min &&
		    (double)json_integer_value(v) <= k->max)
			return NULL;
		return kasprintf("must be a whole number from %.15g to %.15g", k->min, k->max);
	case KKNOB_NUM:
		if (json_is_number(v) && json_number_value(v) >= k->min &&
		    json_number_value(v) <= k->max)
			return NULL;
		return kasprintf("must be a number from %.15g to %.15g", k->min, k->max);
	case KKNOB_BOOL:
		return json_is_boolean(v) ? NULL : kstrdup("must be true or false");
	case KKNOB_JSON:
		return json_is_object(v) ? NULL : kstrdup("must be an object");
	}
	return NULL;
}

/* Levenshtein distance, to suggest the field that was meant. */
static size_t
distance(const char *a, const char *b)
{
	size_t row[64], la = strlen(a), lb = strlen(b);

	if (lb >= LEN(row))
		return lb;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t cost = diagonal + (a[i - 1] != b[j - 1]), up = row[j] + 1,
			       left = row[j - 1] + 1;

			diagonal = row[j];
			row[j] = cost < up ? cost : up;
			if (left < row[j])
				row[j] = left;
		}
	}
	return row[lb];
}

static const char *
nearest_knob(const char *path)
{
	const char *best = NULL;
	size_t limit = strlen(path) / 2 + 1;

	for (size_t i = 0; i < LEN(kknobs); i++) {
		size_t d = distance(path, kknobs[i].path);

		if (d < limit) {
			limit = d;
			best = kknobs[i].path;
		}
	}
	return best;
}

static bool
is_group(const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < LEN(kknobs); i++)
		if (!strncmp(kknobs[i].path, path, n) && kknobs[i].path[n] == '.')
			return true;
	return false;
}

static char *
unknown_fault(const char *path)
{
	const char *near = nearest_knob(path);

	return near ? kasprintf("unknown field; did you mean %s?", near) : kstrdup("unknown field");
}

/* What is wrong with the field PATH, or NULL; the caller frees. */
static char *
field_fault(const char *path, const json_t *v)
{
	const struct kknob *k = find_knob(path);
	char *fault = k ? value_fault(k, v) : NULL, *full;
	bool known = k != NULL;

	if (fault) {
		full = kasprintf("%s (%s)", fault, k->help);
		free(fault);
		return full;
	}
	if (!known)
		fault = gone_fault(path, v, &known);
	return known ? fault : unknown_fault(path);
}

static size_t
check_object(const json_t *object, const char *prefix, struct kbuf *text)
{
	size_t faults = 0;
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)object, key, v)
	{
		char *path = *prefix ? kasprintf("%s.%s", prefix, key) : kstrdup(key), *why = NULL;

		if (!find_knob(path) && is_group(path) && json_is_object(v))
			faults += check_object(v, path, text);
		else
			why = field_fault(path, v);
		if (why)
			kbuf_printf(text, "%s: %s\n", path, why);
		faults += why != NULL;
		free(why);
		free(path);
	}
	return faults;
}

/* What one field rules out in another. */
static size_t
mode_faults(const json_t *manifest, struct kbuf *text)
{
	bool linear = !strcmp(kjson_str_or(manifest, "search.mode", ""), "linear");
	const char *target = kjson_str_or(manifest, "linear.target", "");
	const char *key = kjson_str_or(manifest, "model.key_env", "");
	struct klinear_target parsed;
	size_t faults = 0;

	if (linear && kjson_int_or(manifest, "search.branches", 1) != 1) {
		kbuf_puts(text,
		    "search.branches: must be 1 or left out: linear mode makes one change a "
		    "round\n");
		faults++;
	}
	if (key[strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789abcdefghijklmnopqrstuvwxyz")]) {
		kbuf_puts(text,
		    "model.key_env: must be the name of an environment variable: letters, "
		    "digits and _\n");
		faults++;
	}
	if (*target && !klinear_target(target, &parsed)) {
		kbuf_puts(text,
		    "linear.target: must be a number with one of x, GFLOP/s, TFLOP/s, GB/s, TB/s, "
		    "such as 2.5x or 500 TFLOP/s\n");
		faults++;
	}
	return faults;
}

size_t
kcamp_faults(const json_t *manifest, char **out)
{
	struct kbuf text = { 0 };
	size_t faults;

	kbuf_add(&text, "", 0);
	faults = check_object(manifest, "", &text);
	for (size_t i = 0; i < LEN(kknobs); i++)
		if (!kknobs[i].def && !kjson_path(manifest, kknobs[i].path)) {
			kbuf_printf(&text, "%s: is missing (%s)\n", kknobs[i].path, kknobs[i].help);
			faults++;
		}
	faults += mode_faults(manifest, &text);
	*out = text.data;
	return faults;
}

/*
 * What kiln makes in a campaign's folder. What a person puts there, such as a task, may be a link.
 */
static const struct {
	const char *name;
	mode_t type;
} own[] = {
	{ "trials", S_IFDIR },
	{ "rounds", S_IFDIR },
	{ "logs", S_IFDIR },
	{ "memory", S_IFDIR },
	{ "runs", S_IFDIR },
	{ "adopt", S_IFDIR },
	{ ".run", S_IFDIR },
	{ ".run.lock", S_IFREG },
	{ "campaign.mk", S_IFREG },
	{ ".proof", S_IFREG },
	{ "report.html", S_IFREG },
	{ "report.md", S_IFREG },
};
enum { WALKED = 4 }; /* of them are gone through to the bottom */

/* The kind of file at PATH, of a link its own; 0: there is none. */
static mode_t
type_of(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0)
		return st.st_mode & S_IFMT;
	if (errno != ENOENT)
		kdie_errno(K_IO, "%s", path);
	return 0;
}

static _Noreturn void
refuse(const char *path)
{
	kdie(K_USAGE, "%s: is %s; kiln uses only files and folders that it made itself: remove it",
	    path, type_of(path) == S_IFLNK ? "a symbolic link" : "not a regular file or folder");
}

static void
check_names(const char *dir)
{
	for (size_t i = 0; i < LEN(own); i++) {
		char *path = kasprintf("%s/%s", dir, own[i].name);
		mode_t type = type_of(path);

		if (type && type != own[i].type)
			refuse(path);
		free(path);
	}
}

/* The one link that kiln makes names the archive of a trial. */
static void
check_position(const char *dir)
{
	char *path = kasprintf("%s/archive.ndjson", dir), target[64];
	ssize_t n = readlink(path, target, sizeof target - 1);
	int end = 0;

	target[n > 0 ? n : 0] = '\0';
	if (n > 0 && (sscanf(target, "trials/%*[0-9]/archive.ndjson%n", &end) < 0 || end != n))
		kdie(K_USAGE,
		    "%s: is a link to '%s', not to the archive of a trial; remove it, then run "
		    "kcampaign views",
		    path, target);
	free(path);
}

static void
check_folder(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir && errno != ENOENT)
		kdie_errno(K_IO, "%s", path);
	while (dir && (e = readdir(dir)) != NULL) {
		char *name;

		if (e->d_type == DT_REG || !strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		name = kasprintf("%s/%s", path, e->d_name);
		switch (type_of(name)) {
		case 0:
		case S_IFREG:
			break;
		case S_IFDIR:
			check_folder(name);
			break;
		default:
			refuse(name);
		}
		free(name);
	}
	if (dir)
		closedir(dir);
}

void
kcamp_no_links(const char *dir)
{
	check_names(dir);
	for (size_t i = 0; i < WALKED; i++) {
		char *path = kasprintf("%s/%s", dir, own[i].name);

		check_folder(path);
		free(path);
	}
}

struct kcamp *
kcamp_load(const char *dir)
{
	struct kcamp *c = kcalloc(1, sizeof *c);
	char *text;

	c->dir = kstrdup(dir ? dir : ".");
	c->file = kasprintf("%s/campaign.json", c->dir);
	c->json = kjson_load(c->file);
	if (kcamp_faults(c->json, &text)) {
		text[strcspn(text, "\n")] = '\0';
		kdie(K_USAGE, "%s: %s", c->file, text);
	}
	check_names(c->dir);
	check_position(c->dir);
	free(text);
	return c;
}

void
kcamp_free(struct kcamp *c)
{
	if (!c)
		return;
	json_decref(c->json);
	free(c->dir);
	free(c->file);
	free(c);
}

static const struct kknob *
knob(const char *path)
{
	const struct kknob *k = find_knob(path);

	if (!k) {
		kwarn("no knob named %s", path);
		abort();
	}
	return k;
}

double
kcamp_num(const struct kcamp *c, const char *path)
{
	const struct kknob *k = knob(path);
	const json_t *v = kjson_path(c->json, path);

	return v ? json_number_value(v) : strtod(k->def, NULL);
}

long
kcamp_int(const struct kcamp *c, const char *path)
{
	return (long)kcamp_num(c, path);
}

bool
kcamp_bool(const struct kcamp *c, const char *path)
{
	const struct kknob *k = knob(path);
	const json_t *v = kjson_path(c->json, path);

	return v ? json_is_true(v) : !strcmp(k->def, "true");
}

const char *
kcamp_str(const struct kcamp *c, const char *path)
{
	const struct kknob *k = knob(path);
	const json_t *v = kjson_path(c->json, path);

	return v ? json_string_value(v) : k->def;
}

const json_t *
kcamp_json(const struct kcamp *c, const char *path)
{
	knob(path);
	return kjson_path(c->json, path);
}

const struct backend *
kcamp_backend(const struct kcamp *c)
{
	return backend_named(kcamp_str(c, "backend"));
}

bool
kcamp_linear(const struct kcamp *c)
{
	return !strcmp(kcamp_str(c, "search.mode"), "linear");
}

long
kcamp_branches(const struct kcamp *c)
{
	return kcamp_linear(c) ? 1 : kcamp_int(c, "search.branches");
}

char *
kcamp_path(const struct kcamp *c, const char *name)
{
	return *name == '/' ? kstrdup(name) : kasprintf("%s/%s", c->dir, name);
}
