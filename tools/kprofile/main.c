/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: a profiler's measurements of a kernel as one JSON object: metrics, bottleneck,
 * findings, recommendations.
 */

#include "khw.h"
#include "koption.h"
#include "kprofile.h"

#define FILE_MAX ((size_t)256 << 20)

static const char usage[] = "usage: kprofile [OPTION...] FILE...\n";

/* Comments and blank lines at the beginning. */
#define HEAD "\\A(?:[#\\r][^\\n]*+\\n?|\\n)*+"

/* What the output of a profiler looks like; the first that fits counts. */
static const struct format {
	const char *name, *source;
	void (*read)(void);
	const char *pattern;
} formats[] = {
	{ "ncu-details", "ncu", ncu_csv, "(?m)^\"ID\",.*\"Metric Name\"" },
	{ "ncu-raw", "ncu", ncu_csv, "(?m)^\"ID\"," },
	{ "rocprofv3", "rocprofv3", rocprof_csv, HEAD ".*Dispatch_Id" },
	{ "callgrind", "callgrind", callgrind_text,
	    "\\A# callgrind format|(?ms)^creator: callgrind.*?^events:" },
	{ "ncu-text", "ncu", ncu_text, "(?m)^    Section: " },
	{ "perf", "perf", perf_text,
	    HEAD "(?:\\{\"counter-value\"|(?:[\\d.]|<not )(?:[^,\\n]*,){4})|" PERF_REPORT },
};

static struct {
	const char *kernel, *device, *peaks, *output;
} given;

static const struct format *
detect(void)
{
	struct kregex_span first[2] = { { 0, 0 } };

	if (input.len >= 4 && (!memcmp(input.data, "NVR", 3) || strlen(input.data) < input.len))
		kdie_usage("%s: is a binary file; export ncu's report as text first: ncu --import "
		           "FILE "
		           "--csv --page raw",
		    input.file);
	kforeach(one, formats)
		if (kregex_is(one->pattern, input.data))
			return one;
	if (strstr(input.data, "ERR_NVGPUCTRPERM"))
		kdie(K_MISSING,
		    "%s: ncu has no permission to read performance counters (ERR_NVGPUCTRPERM)",
		    input.file);
	if (strstr(input.data, "No kernels were profiled"))
		kdie_usage("%s: ncu profiled no kernel", input.file);
	kregex_find(HEAD "(.{0,60})", input.data, input.len, first, LEN(first));
	kdie_usage("%s:1: unknown format: no output of ncu, rocprofv3, callgrind or perf (stat -x, "
	           "or -j, "
	           "report or c2c report --stdio) begins with '%.*s'",
	    input.file, (int)(first[1].to - first[1].from), input.data + first[1].from);
}

/*
 * Peaks in the table that are facts about a device, identified by the names of their metrics.
 * Unknown ones are left out, and so is every value that would need them.
 */
static void
add_facts(void)
{
	const char *device = given.device ?: kjson_maybe(profile.table, "device");
	struct khw *h = device ? khw_load(NULL, NULL, device) : NULL;
	const struct khw_device *d = h ? khw_find(h, device) : NULL;

	if (given.device && !d)
		kdie_usage(
		    "--device %s: no file in docs/hardware describes this device", given.device);
	kjson_foreach_member(key, v, profile.table, "peaks") {
		const struct khw_fact *f =
		    json_is_string(v) ? khw_known(d, json_string_value(v)) : NULL;

		if (json_is_number(v))
			json_object_set(profile.peaks, key, v);
		else if (f)
			kjson_put(profile.peaks, key, f->number);
	}
	khw_free(h);
}

/* The table's peaks, overridden by those of a file: numbers, at the top level or under "peaks". */
static void
load_peaks(void)
{
	json_auto_t *file = given.peaks ? kjson_load(given.peaks) : NULL;
	json_t *inner = json_object_get(file, "peaks");

	add_facts();
	kjson_foreach_member(key, v, json_is_object(inner) ? inner : file)
		if (json_is_number(v))
			json_object_set(profile.peaks, key, v);
}

/*
 * The kernels whose names match, with the numbers of their launches and the sums of the value BY of
 * these, the largest first; marks the launches. *TIMED: all of the values are known.
 */
static json_t *
kernels_of(const char *by, bool *timed)
{
	struct kregex *wish = kregex_new("--kernel", NULL, profile.kernel ?: "", 0);
	json_t *list = json_array(), *found;

	*timed = true;
	kjson_foreach_member(key, l, profile.launches) {
		const char *name = kjson_str(l, "kernel");
		double time;

		if (kregex_search(wish, name, strlen(name), 0, NULL) != KREGEX_FOUND)
			continue;
		values_open(l);
		time = values_get(by);
		*timed &= !isnan(time);
		time = isnan(time) ? 0 : time;
		kjson_put(l, "time", time);
		found = kjson_find(list, "name", name);
		if (!found) {
			found = json_pack("{s:s}", "name", name);
			json_array_append_new(list, found);
		}
		kjson_count(found, "launches", 1);
		kjson_put(found, by, kjson_num(found, by) + time);
	}
	kregex_free(wish);
	kjson_sort_by(list, kshown("-%s", by), "name");
	return list;
}

/*
 * The longest launch of the kernel with the largest total time: the counters of one run, not a
 * mixture. The table may use another value than the duration.
 */
static const json_t *
choose(json_t **kernels)
{
	const char *by = kjson_str_or(profile.table, "choose", "duration_ns");
	const json_t *best = NULL, *first;
	bool timed;

	*kernels = kernels_of(by, &timed);
	first = json_array_get(*kernels, 0);
	if (!first)
		kdie_usage("no kernel matches '%s'", profile.kernel ?: "");
	if (!timed && json_array_size(*kernels) > 1)
		kdie_usage("there are %zu kernels, but no %s to choose one by; choose one with "
		           "--kernel",
		    json_array_size(*kernels), by);
	kjson_foreach_member(key, l, profile.launches)
		if (kjson_is(l, "kernel", kjson_str(first, "name")) &&
		    (!best || kjson_num(l, "time") > kjson_num(best, "time")))
			best = l;
	if (!timed && kjson_int(first, "launches") > 1)
		profile_note("no %s, so the first launch is shown", by);
	return best;
}

static void
read_file(const char *path)
{
	const struct format *format;
	size_t mark;

	input = (struct input){ .file = path, .name = basename(path) };
	input.data = kread_file_or_die(path, FILE_MAX, &input.len);
	/*
	 * A byte order mark, which some table programs write first, is not part of the first cell.
	 */
	mark = kbom(input.data, input.len);
	input.len -= mark;
	memmove(input.data, input.data + mark, input.len + 1);
	format = detect();
	if (profile.source && strcmp(profile.source, format->source))
		kdie_usage("%s: cannot combine %s with %s in one profile", path, format->source,
		    profile.source);
	if (!profile.source) {
		profile.source = format->source;
		profile.where = kasprintf("patterns/profile/%s.json", profile.source);
		profile.table = kjson_data(profile.where, "profile-rules/1");
	}
	input.format = format->name;
	format->read();
	kjson_add(profile.formats, format->name);
	json_array_append_new(profile.files, kjson_string(input.name));
	free(input.data);
}

static void
run(char **files, int count)
{
	json_auto_t *kernels = NULL, *out = NULL;
	const json_t *launch;

	profile_open(given.kernel);
	kforeach_of(file, files, count)
		read_file(*file);
	load_peaks();
	launch = choose(&kernels);
	out = report(launch, kernels);
	kout_only(given.output, out);
}

int
main(int argc, char **argv)
{
	const struct koption options[] = {
		KOPTION_TEXT("kernel", &given.kernel, "REGEX\treport on this kernel"),
		KOPTION_TEXT("device", &given.device,
		    "NAME\tuse the peaks of this device, from docs/hardware"),
		KOPTION_TEXT("peaks", &given.peaks, "FILE\ttake the peaks from this file"),
		KOPTION_OUTPUT(&given.output),
	};

	kutil_init("kprofile");
	koption_read(options, usage, argc, argv);
	if (optind == argc)
		koption_misuse(usage, "give at least one file");
	run(argv + optind, argc - optind);
	return K_OK;
}
