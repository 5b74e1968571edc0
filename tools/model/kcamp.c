/* SPDX-License-Identifier: Apache-2.0 */
/* kcamp: see kcamp.h. */
#include "kcamp.h"

#include "backend.h"
#include "kform.h"
#include "kseal.h"

struct kcamp kcamp = { .dir = "." };

const struct kknob kknobs[] = {
#include "knobs.h"
};
const size_t kknobs_count = LEN(kknobs);

static const struct kform form =
#include "campaign.h"
    ;

/* Values of one field that are not allowed with a value of another. */
static void
check_mode(const json_t *manifest, struct kfaults *faults)
{
	bool linear = kjson_is(manifest, "search.mode", "linear");
	const char *metric = kjson_maybe(manifest, "eval.timing.metric"),
	           *direction = kjson_maybe(manifest, "eval.timing.direction");

	if (linear && kjson_int_or(manifest, "stop.trials", 1) > 119)
		kfault(faults, "stop.trials: must be at most 119 in linear mode");
	if (linear && kjson_int_or(manifest, "search.branches", 1) != 1)
		kfault(faults,
		    "search.branches: must be 1 or left out: linear mode makes one change a round");
	if (!metric != !direction)
		kfault(faults,
		    "eval.timing: metric and direction go together: give the name of the measure, "
		    "and whether higher or lower is better");
}

size_t
kcamp_faults(const json_t *manifest, char **out)
{
	struct kfaults faults = { 0 };

	kbuf_add(&faults.text, "", 0);
	kform_check(&form, manifest, "", &faults);
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
	kdie_usage("%s: is %s; kiln uses only files and folders that it made itself: remove it",
	    path, type_of(path) == S_IFLNK ? "a symbolic link" : "not a regular file or folder");
}

static void
check_names(void)
{
	kforeach(one, own) {
		auto_free char *path = kasprintf("%s/%s", kcamp.dir, one->name);
		mode_t type = type_of(path);

		if (type && type != one->type)
			refuse(path);
	}
}

long
kcamp_position(void)
{
	const char *path = kshown("%s/archive.ndjson", kcamp.dir);
	char target[64] = "";
	ssize_t n = readlink(path, target, sizeof target - 1);
	long trial = -1;
	int end = 0;

	sscanf(target, "trials/%6ld/archive.ndjson%n", &trial, &end);
	if (n > 0 && (end != n || !kis_digit(target[strlen("trials/")])))
		kdie_usage("%s: is a link to '%s', not to the archive of a trial; "
		           "remove it, then run kcampaign views",
		    path, target);
	return trial;
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
kcamp_no_links(void)
{
	check_names();
	kforeach_of(one, own, WALKED) {
		check_folder(kshown("%s/%s", kcamp.dir, one->name));
	}
}

void
kcamp_load(void)
{
	auto_free char *text = NULL;

	json_decref(kcamp.json);
	free(kcamp.file);
	free(kcamp.task);
	kcamp.file = kasprintf("%s/campaign.json", kcamp.dir);
	kcamp.json = kjson_load(kcamp.file);
	if (kcamp_faults(kcamp.json, &text)) {
		text[strcspn(text, "\n")] = '\0';
		kdie_usage("%s: %s", kcamp.file, text);
	}
	kcamp.task = kstrdup(kcamp_path(kcamp_str("task")));
	check_names();
	kcamp_position();
}

static const struct kknob *
knob(const char *path)
{
	kforeach(one, kknobs)
		if (!strcmp(one->path, path))
			return one;
	kwarn("no knob named %s", path);
	abort();
}

double
kcamp_num(const char *path)
{
	const struct kknob *k = knob(path);
	const json_t *v = kjson_path(kcamp.json, path);

	return v ? json_number_value(v) : atof(k->def);
}

long
kcamp_int(const char *path)
{
	return (long)kcamp_num(path);
}

bool
kcamp_bool(const char *path)
{
	const struct kknob *k = knob(path);
	const json_t *v = kjson_path(kcamp.json, path);

	return v ? json_is_true(v) : !strcmp(k->def, "true");
}

const char *
kcamp_str(const char *path)
{
	const struct kknob *k = knob(path);
	const json_t *v = kjson_path(kcamp.json, path);

	return v ? json_string_value(v) : k->def;
}

bool
kcamp_is(const char *path, const char *word)
{
	return !strcmp(kcamp_str(path), word);
}

const json_t *
kcamp_json(const char *path)
{
	knob(path);
	return kjson_path(kcamp.json, path);
}

const struct backend *
kcamp_backend(void)
{
	return backend_named(kcamp_str("backend"));
}

char *
kcamp_lacks_runner(const char *language)
{
	const struct backend *b = kcamp_backend(), *spoken = language ? backend_for(language) : b;

	if (kcamp_is("eval.evaluator", "null") ||
	    (kcamp_json("eval.correctness") && kcamp_json("eval.timing")))
		return NULL;
	return backend_lacks_runner(b->runner ? spoken : b);
}

bool
kcamp_linear(void)
{
	return kcamp_is("search.mode", "linear");
}

long
kcamp_branches(void)
{
	return kcamp_linear() ? 1 : kcamp_int("search.branches");
}

const char *
kcamp_unit(void)
{
	return kjson_str_or(kcamp_json("eval.timing"), "metric", "ms");
}

double
kcamp_shown(double ms)
{
	const json_t *timing = kcamp_json("eval.timing");
	bool rate = kjson_is(timing, "direction", "higher") && kjson_maybe(timing, "metric");

	return rate ? 1e3 / ms : ms;
}

const char *
kcamp_path(const char *name)
{
	return *name == '/' ? name : kshown("%s/%s", kcamp.dir, name);
}
