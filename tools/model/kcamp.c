/* SPDX-License-Identifier: Apache-2.0 */
/* kcamp: see kcamp.h. */
#include "kcamp.h"

#include "backend.h"
#include "kseal.h"
#include "klinear.h"

#define BIG 1e15

const struct kknob kknobs[] = {
	{ "name", KKNOB_STR, NULL, 0, 0, NULL, "name of the campaign" },
	{ "title", KKNOB_STR, "", 0, 0, NULL, "one line for people" },
	{ "task", KKNOB_STR, "task.json", 0, 0, NULL,
	    "task file; relative to the campaign's folder" },
	{ "backend", KKNOB_ENUM, "c", 0, 0, "c|cuda|hip|opencl|sycl|triton",
	    "what compiles and runs the kernels" },
	{ "language", KKNOB_STR, "c", 0, 0, NULL, "label of the code fence in replies" },
	{ "gpu", KKNOB_STR, "", 0, 0, NULL,
	    "device for the hardware section; empty: the machine's CPU" },
	{ "seed", KKNOB_INT, "42", 0, 9007199254740991.0, NULL,
	    "seed of all randomness in the loop" },
	{ "instructions", KKNOB_STR, "", 0, 0, NULL,
	    "your text for the model; verbatim in every prompt" },

	{ "search.mode", KKNOB_ENUM, "map-elites", 0, 0, "map-elites|linear",
	    "search algorithm; linear: one change a round, kept or rolled back" },
	{ "search.branches", KKNOB_INT, "4", 1, 99, NULL,
	    "candidates per trial; always 1 in linear mode" },
	{ "search.exploit", KKNOB_NUM, "0.8", 0, 1, NULL,
	    "share of parents drawn by speed; what this and search.explore leave is drawn at "
	    "random" },
	{ "search.explore", KKNOB_NUM, "0.2", 0, 1, NULL,
	    "share of leaps to under-explored cells; at first: what pays moves it" },
	{ "search.refine", KKNOB_NUM, "0.4", 0, 1, NULL,
	    "share of candidates that stay in their cell; at first: what pays moves it" },
	{ "search.esimd", KKNOB_NUM, "0.05", 0, 1, NULL,
	    "share of steps to explicit SIMD; or a matrix unit, where the parent has none; at "
	    "first: what pays moves it" },
	{ "search.temperature", KKNOB_NUM, "0.02", 1e-8, 1e6, NULL,
	    "temperature of the softmax over speeds; 0.02: a parent 2 % slower is drawn 2.7 times "
	    "less often" },
	{ "search.strategy", KKNOB_ENUM, "mutate", 0, 0,
	    "mutate|diversify|intensify|specialize|balance", "strategy of all other candidates" },
	{ "search.repair", KKNOB_NUM, "0.5", 0, 1, NULL,
	    "chance to repair a broken candidate; of the last trial, instead of mutating an "
	    "elite" },
	{ "search.inspirations", KKNOB_INT, "2", 0, 16, NULL,
	    "other elites shown with the parent" },
	{ "search.islands", KKNOB_INT, "1", 1, 64, NULL, "number of islands" },

	{ "linear.metric", KKNOB_ENUM, "geomean", 0, 0, "geomean|independent",
	    "what a round must improve; geomean: the mean over timed workloads, with forward and "
	    "backward of a pair as one; independent: any of them, while none gets worse" },
	{ "linear.confirm", KKNOB_BOOL, "false", 0, 0, NULL,
	    "wait for a person before round 1; who confirms campaign.json and task.json in the "
	    "file confirmed" },
	{ "linear.target", KKNOB_STR, "", 0, 0, NULL,
	    "speed that ends the search; of the last accepted round: 2.5x (over the baseline), 500 "
	    "TFLOP/s, 300 GB/s; empty: never" },

	{ "gradient.enabled", KKNOB_BOOL, "true", 0, 0, NULL,
	    "learn which moves pay; it tracks transitions, reweights parents and gives hints" },

	{ "stop.trials", KKNOB_INT, "10", 1, 999999, NULL,
	    "number of trials; in linear mode at most 119" },
	{ "stop.patience", KKNOB_INT, "2", 0, 999999, NULL,
	    "end after this many usual waits without a gain; a usual wait is the longest wait for "
	    "a gain so far, but at least 20 candidates; in linear mode it counts rounds, and is "
	    "off by default; 0: never" },
	{ "stop.speedup", KKNOB_NUM, "0", 0, BIG, NULL, "end at this speed-up; 0: never" },
	{ "stop.efficiency", KKNOB_NUM, "0", 0, 100, NULL,
	    "end at this percentage of the roofline; of the ceilings that bind the workloads "
	    "(docs/roofline.md); needs facts about the device; 0: never" },
	{ "stop.budget_usd", KKNOB_NUM, "0", 0, BIG, NULL,
	    "end when this much is spent, in USD; also refuses calls that could exceed it; 0: no "
	    "limit" },
	{ "stop.failures", KKNOB_INT, "0", 0, BIG, NULL,
	    "end after this many failures in a row; a failure is a candidate without code, or one "
	    "that timed out; 0: never" },

	{ "model.provider", KKNOB_ENUM, "replay", 0, 0,
	    "anthropic|openai|exec:|exec-json:|file|replay|null", "who answers the prompts" },
	{ "model.name", KKNOB_STR, "", 0, 0, NULL, "model; as the provider calls it" },
	{ "model.base_url", KKNOB_STR, "", 0, 0, NULL, "server; empty: the provider's own" },
	{ "model.key_env", KKNOB_STR, "", 0, 0, NULL,
	    "environment variable with the key; empty: the provider's usual one" },
	{ "model.key_file", KKNOB_STR, "", 0, 0, NULL, "file with the key; its mode must be 0600" },
	{ "model.max_tokens", KKNOB_INT, "16000", 16, 1e7, NULL,
	    "longest answer, in tokens; reasoning included" },
	{ "model.temperature", KKNOB_NUM, "-1", -1, 2, NULL,
	    "sampling temperature; -1: do not send one" },
	{ "model.effort", KKNOB_ENUM, "", 0, 0, "|none|minimal|low|medium|high|xhigh|max",
	    "reasoning effort; empty: do not send one" },
	{ "model.timeout_s", KKNOB_NUM, "1800", 1, 86400, NULL, "time limit of a call" },
	{ "model.stall_s", KKNOB_NUM, "120", 0.1, 86400, NULL,
	    "time limit without content; comments and pings do not count" },
	{ "model.retries", KKNOB_INT, "6", 1, 100, NULL, "attempts per prompt" },
	{ "model.backoff_s", KKNOB_NUM, "1", 0, 3600, NULL,
	    "longest first pause between attempts; it is random and doubles up to 60 s" },
	{ "model.price_input", KKNOB_NUM, "-1", -1, KCAMP_PRICE_MAX, NULL,
	    "USD per million prompt tokens; of model.name; -1: as in the model table" },
	{ "model.price_output", KKNOB_NUM, "-1", -1, KCAMP_PRICE_MAX, NULL,
	    "USD per million answer tokens; reasoning included; set it together with "
	    "model.price_input" },

	{ "feedback.provider", KKNOB_ENUM, "", 0, 0, "|anthropic|openai|exec:|exec-json:|null",
	    "who summarises logs for prompts; a second, cheaper model; empty: nobody" },
	{ "feedback.name", KKNOB_STR, "", 0, 0, NULL,
	    "model; as the provider calls it; empty: model.name" },

	{ "prompt.tips", KKNOB_INT, "2", 0, 20, NULL,
	    "strategy tips for a correct parent; drawn at random" },
	{ "prompt.knowledge_tokens", KKNOB_INT, "3000", 0, 100000, NULL,
	    "room for notes, in tokens; on the kind of computation, the device and the language; a "
	    "token counts as 4 characters; 0: none" },
	{ "prompt.reference_project", KKNOB_STR, "", 0, 0, NULL,
	    "folder of a project to take ideas from; passages with the operation's words are "
	    "shown, "
	    "in at most half of prompt.knowledge_tokens; empty: none" },
	{ "prompt.memory_tokens", KKNOB_INT, "1500", 0, 100000, NULL,
	    "room for memory, in tokens; with tips and library of earlier campaigns; a token "
	    "counts as 4 characters; 0: none" },

	{ "memory.enabled", KKNOB_ENUM, "auto", 0, 0, "auto|on|off",
	    "keep a memory and exchange tips; memory/vN.json of every trial is shown to the model, "
	    "tips of earlier campaigns are read, and tips are left for later ones; auto: in linear "
	    "mode" },
	{ "memory.restart_after", KKNOB_INT, "0", 0, 999999, NULL,
	    "hide a random half of it after this many trials; counts trials in a row without a "
	    "gain; 0: never" },
	{ "memory.compact_every", KKNOB_INT, "0", 0, 999999, NULL,
	    "summarise it each time this many trials are over; uses the model of feedback.*; 0: "
	    "never" },

	{ "tips.dir", KKNOB_STR, "", 0, 0, NULL,
	    "folder of the tips; empty: $XDG_DATA_HOME/kiln/tips, or ~/.local/share/kiln/tips" },

	{ "classify.patterns", KKNOB_STR, "", 0, 0, NULL,
	    "pattern table; empty: patterns/BACKEND.json" },

	{ "eval.evaluator", KKNOB_ENUM, "harness", 0, 0, "harness|null",
	    "what evaluates candidates; harness: compile, check and time them; null: a score from "
	    "the code's hash, for simulations" },
	{ "eval.set", KKNOB_STR, "quick", 0, 0, NULL, "workload set of every candidate" },
	{ "eval.threads", KKNOB_INT, "0", 0, 4096, NULL,
	    "threads for kernels and baselines; 0: all CPUs of this machine" },
	{ "eval.seeds", KKNOB_INT, "2", 1, 100, NULL,
	    "input seeds; for each workload and distribution" },
	{ "eval.build_timeout_s", KKNOB_NUM, "120", 0.1, 86400, NULL, "time limit of a build" },
	{ "eval.run_timeout_s", KKNOB_NUM, "60", 0.1, 86400, NULL, "time limit of a kernel call" },
	{ "eval.timing_s", KKNOB_NUM, "1.0", 0.01, 3600, NULL,
	    "time for samples of a workload; min_samples are taken in any case" },
	{ "eval.min_samples", KKNOB_INT, "5", 1, 100000, NULL,
	    "smallest number of samples; for each workload" },
	{ "eval.max_samples", KKNOB_INT, "96", 1, 100000, NULL,
	    "largest number of samples; for each workload" },
	{ "eval.reuse", KKNOB_ENUM, "auto", 0, 0, "auto|off|on",
	    "also measure on buffers that were seen before; for kaudit; auto: candidates that "
	    "would be a gain; on: all correct ones" },
	{ "eval.sandbox", KKNOB_ENUM, "auto", 0, 0, "auto|bwrap|landlock|none",
	    "isolation that is required; auto: the strongest available, landlock at least" },
	{ "eval.memory_mb", KKNOB_INT, "4096", 16, BIG, NULL, "memory of a build or a candidate" },
	{ "eval.launcher", KKNOB_STR, "", 0, 0, NULL,
	    "command before keval and kharness; such as: kremote ssh gpu1 -- (docs/remote.md); "
	    "empty: they run here" },
	{ "eval.profile", KKNOB_ENUM, "auto", 0, 0, "auto|off|promising|all",
	    "which candidates are profiled; promising: the reference and those that would lead; "
	    "all: all correct ones; auto: promising ones, in a search over cells only on a GPU" },
	{ "eval.lock_clocks", KKNOB_ENUM, "off", 0, 0, "off|try|require",
	    "lock the clocks of a CUDA device; try: if the machine permits it; require: or do not "
	    "measure" },
	{ "eval.sanitize_s", KKNOB_NUM, "60", 0, 86400, NULL,
	    "time limit of each sanitizer; verify runs them over the best kernel; 0: none runs, "
	    "and the record says so" },
	{ "eval.build", KKNOB_JSON, "", 0, 0, NULL,
	    "own command for building; {command, format, ...}, see keval(1)" },
	{ "eval.correctness", KKNOB_JSON, "", 0, 0, NULL,
	    "own command for checking; see keval(1)" },
	{ "eval.timing", KKNOB_JSON, "", 0, 0, NULL, "own command for timing; see keval(1)" },
	{ "eval.repository", KKNOB_STR, "", 0, 0, NULL,
	    "project that own commands run in; a copy of this folder, with the candidate at "
	    "git.kernel_path; empty: a work folder with the files that they name" },

	{ "score.multiplier", KKNOB_NUM, "3", 0, 1e6, NULL,
	    "weight of the speed-up; combined = perf_score + multiplier * speed-up, for a correct "
	    "candidate" },
	{ "score.min_gain", KKNOB_NUM, "0.02", 0, 10, NULL,
	    "smallest gain that counts; a share, and a limit even if the measured noise is lower" },

	{ "git.branch", KKNOB_STR, "auto", 0, 0, NULL,
	    "branch for accepted kernels; in the repository that contains the campaign; auto: "
	    "optimize/NAME; none: no branch" },
	{ "git.kernel_path", KKNOB_STR, "", 0, 0, NULL,
	    "path of the kernel in the repository; empty: kernels/NAME/ENTRY.SUFFIX" },
};
const size_t kknobs_count = LEN(kknobs);

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

/* Is PATH in the group GROUP? */
static bool
is_in(const char *path, const char *group)
{
	size_t n = strlen(group);

	return !strncmp(path, group, n) && path[n] == '.';
}

static bool
is_group(const char *path)
{
	for (size_t i = 0; i < LEN(kknobs); i++)
		if (is_in(kknobs[i].path, path))
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

	if (!strcmp(path, "schema"))
		return json_is_string(v) && !strcmp(json_string_value(v), KCAMP_SCHEMA)
		    ? NULL
		    : kstrdup("must be " KCAMP_SCHEMA);
	if (!fault)
		return k ? NULL : unknown_fault(path);
	full = kasprintf("%s (%s)", fault, k->help);
	free(fault);
	return full;
}

static void
check_object(const json_t *object, const char *prefix, struct kfaults *faults)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)object, key, v) {
		auto_free char *path = *prefix ? kasprintf("%s.%s", prefix, key) : kstrdup(key),
		               *why = NULL;

		if (!find_knob(path) && is_group(path) && json_is_object(v))
			check_object(v, path, faults);
		else
			why = field_fault(path, v);
		if (why)
			kfault(faults, "%s: %s", path, why);
	}
}

/* Values of one field that are not allowed with a value of another. */
static void
check_mode(const json_t *manifest, struct kfaults *faults)
{
	bool linear = kjson_is(manifest, "search.mode", "linear");
	const char *target = kjson_str_or(manifest, "linear.target", "");
	const char *key = kjson_str_or(manifest, "model.key_env", "");
	struct klinear_target parsed;

	if (linear && kjson_int_or(manifest, "stop.trials", 1) > 119)
		kfault(faults, "stop.trials: must be at most 119 in linear mode");
	if (linear && kjson_int_or(manifest, "search.branches", 1) != 1)
		kfault(faults,
		    "search.branches: must be 1 or left out: linear mode makes one change a round");
	if (key[strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789abcdefghijklmnopqrstuvwxyz")])
		kfault(faults,
		    "model.key_env: must be the name of an environment variable: letters, digits "
		    "and _");
	if (*target && !klinear_target(target, &parsed))
		kfault(faults,
		    "linear.target: must be a number with one of x, GFLOP/s, TFLOP/s, GB/s, TB/s, "
		    "such as 2.5x or 500 TFLOP/s");
}

size_t
kcamp_faults(const json_t *manifest, char **out)
{
	struct kfaults faults = { 0 };

	kbuf_add(&faults.text, "", 0);
	check_object(manifest, "", &faults);
	for (size_t i = 0; i < LEN(kknobs); i++)
		if (!kknobs[i].def && !kjson_path(manifest, kknobs[i].path))
			kfault(&faults, "%s: is missing (%s)", kknobs[i].path, kknobs[i].help);
	check_mode(manifest, &faults);
	*out = faults.text.data;
	return faults.count;
}

/*
 * What kiln itself makes in a campaign's folder. What a person puts there, such as a task, may be a
 * link.
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
	{ KSEAL_FILE, S_IFREG },
};
enum { WALKED = 4 }; /* the first rows are searched recursively */

/* The kind of file at PATH, without following links; 0: there is none. */
static mode_t
type_of(const char *path)
{
	struct stat st;

	return kfind_link(path, &st) ? st.st_mode & S_IFMT : 0;
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
		auto_free char *path = kasprintf("%s/%s", dir, own[i].name);
		mode_t type = type_of(path);

		if (type && type != own[i].type)
			refuse(path);
	}
}

/* The only link that kiln makes points to the archive of a trial. */
static void
check_position(const char *dir)
{
	auto_free char *path = kasprintf("%s/archive.ndjson", dir);
	char target[64];
	ssize_t n = readlink(path, target, sizeof target - 1);
	int end = 0;

	target[n > 0 ? n : 0] = '\0';
	if (n > 0 && (sscanf(target, "trials/%*[0-9]/archive.ndjson%n", &end) < 0 || end != n))
		kdie(K_USAGE,
		    "%s: is a link to '%s', not to the archive of a trial; remove it, then run "
		    "kcampaign views",
		    path, target);
}

static void
check_folder(const char *path)
{
	DIR *dir = kopen_folder(path);
	struct dirent *e;

	while ((e = knext_entry(dir, path))) {
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
}

void
kcamp_no_links(const char *dir)
{
	check_names(dir);
	for (size_t i = 0; i < WALKED; i++) {
		auto_free char *path = kasprintf("%s/%s", dir, own[i].name);

		check_folder(path);
	}
}

struct kcamp *
kcamp_load(const char *dir)
{
	struct kcamp *c = kcalloc(1, sizeof *c);
	auto_free char *text = NULL;

	c->dir = kstrdup(dir ? dir : ".");
	c->file = kasprintf("%s/campaign.json", c->dir);
	c->json = kjson_load(c->file);
	if (kcamp_faults(c->json, &text)) {
		text[strcspn(text, "\n")] = '\0';
		kdie(K_USAGE, "%s: %s", c->file, text);
	}
	check_names(c->dir);
	check_position(c->dir);
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

char *
kcamp_lacks_runner(const struct kcamp *c, const char *language)
{
	const struct backend *b = kcamp_backend(c), *spoken = language ? backend_for(language) : b;

	if (!strcmp(kcamp_str(c, "eval.evaluator"), "null") ||
	    (kcamp_json(c, "eval.correctness") && kcamp_json(c, "eval.timing")))
		return NULL;
	return backend_lacks_runner(b->runner ? spoken : b);
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

/* The metric of the timing command, and whether higher is better; NULL: it measures time. */
static const char *
own_metric(const struct kcamp *c, bool *higher)
{
	const json_t *timing = kcamp_json(c, "eval.timing");

	*higher = kjson_is(timing, "direction", "higher");
	return kjson_str_or(timing, "metric", NULL);
}

double
kcamp_measured(const struct kcamp *c, double value)
{
	bool higher;

	return own_metric(c, &higher) && higher ? 1e3 / value : value;
}

double
kcamp_shown(const struct kcamp *c, double ms, const char **unit)
{
	bool higher;
	const char *metric = own_metric(c, &higher);

	*unit = metric ? metric : "ms";
	return metric && higher ? 1e3 / ms : ms;
}

char *
kcamp_path(const struct kcamp *c, const char *name)
{
	return *name == '/' ? kstrdup(name) : kasprintf("%s/%s", c->dir, name);
}
