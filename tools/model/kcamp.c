/* SPDX-License-Identifier: Apache-2.0 */
/* kcamp: see kcamp.h. */
#include "kcamp.h"

#include "backend.h"
#include "kseal.h"
#include "klinear.h"

const struct kknob kknobs[] = {
#include "knobs.h"
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
	c->task = kcamp_path(c, kcamp_str(c, "task"));
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
	free(c->task);
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
