/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: a profiler's measurements of a kernel as one JSON object: metrics, bottleneck,
 * findings, recommendations.
 */

#include "khw.h"
#include "koption.h"
#include "kprofile.h"
#include "kregex.h"

#define FILE_MAX ((size_t)256 << 20)

static const char usage[] = "usage: kprofile [OPTION...] FILE...\n";

static const struct {
	const char *format, *source;
} formats[] = {
	{ "ncu-raw", "ncu" },
	{ "ncu-details", "ncu" },
	{ "ncu-text", "ncu" },
	{ "rocprofv3", "rocprofv3" },
	{ "callgrind", "callgrind" },
	{ "perf", "perf" },
};

struct options {
	const char *format, *kernel, *device, *peaks, *output;
};

static const char *
source_of(const char *format)
{
	for (size_t i = 0; i < LEN(formats); i++)
		if (!strcmp(formats[i].format, format))
			return formats[i].source;
	return NULL;
}

/* The first line that is neither blank nor a comment. */
static const char *
first_line(const struct text *t)
{
	const char *s = t->data;

	while (*s == '#' || *s == '\n' || *s == '\r') {
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	return s;
}

static bool
looks_like_perf(const char *s)
{
	size_t commas = 0;

	if (!strncmp(s, "{\"counter-value\"", 16))
		return true;
	for (const char *p = s; *p && *p != '\n'; p++)
		commas += *p == ',';
	return commas >= 4 && *s != '"' &&
	    (strspn(s, "0123456789.") > 0 || !strncmp(s, "<not ", 5));
}

static const char *
detect(const struct text *t)
{
	const char *first = first_line(t), *end = first + strcspn(first, "\n");

	if (t->len >= 4 && (!memcmp(t->data, "NVR", 3) || strlen(t->data) < t->len))
		kdie(K_USAGE,
		    "%s: is a binary file; export ncu's report as text first: ncu --import FILE "
		    "--csv --page raw",
		    t->file);
	if (text_has_line(t, "\"ID\",")) {
		const char *header = strstr(t->data, "\"ID\",");

		while (header > t->data && header[-1] != '\n')
			header = strstr(header + 1, "\"ID\",");
		end = header + strcspn(header, "\n");
		return memmem(header, (size_t)(end - header), "\"Metric Name\"", 13) ? "ncu-details"
		                                                                     : "ncu-raw";
	}
	if (memmem(first, (size_t)(end - first), "Dispatch_Id", 11))
		return "rocprofv3";
	if (!strncmp(t->data, "# callgrind format", 18) ||
	    (text_has_line(t, "creator: callgrind") && text_has_line(t, "events:")))
		return "callgrind";
	if (text_has_line(t, "    Section: "))
		return "ncu-text";
	if (looks_like_perf(first) || perf_is_report(t))
		return "perf";
	if (strstr(t->data, "ERR_NVGPUCTRPERM"))
		kdie(K_MISSING,
		    "%s: ncu has no permission to read performance counters (ERR_NVGPUCTRPERM)",
		    t->file);
	if (strstr(t->data, "No kernels were profiled"))
		kdie(K_USAGE, "%s: ncu profiled no kernel", t->file);
	kdie(K_USAGE,
	    "%s:1: unknown format: no output of ncu, rocprofv3, callgrind or perf (stat -x, or -j, "
	    "report or c2c report --stdio) begins with '%.*s'",
	    t->file, (int)(end - first > 60 ? 60 : end - first), first);
}

static json_t *
load_table(const char *source, char **path)
{
	auto_free char *name = kasprintf("patterns/profile/%s.json", source);
	json_t *table;

	*path = kdata_path(name);
	table = kjson_load(*path);
	if (strcmp(kjson_str_or(table, "schema", ""), "profile-rules/1"))
		kdie(K_USAGE, "%s: schema must be profile-rules/1", *path);
	return table;
}

/*
 * Peaks in the table that are facts about a device, identified by the names of their metrics.
 * Unknown ones are left out, and so is every value that would need them.
 */
static void
add_facts(json_t *peaks, const json_t *table, const char *name)
{
	const char *device = name ? name : kjson_str_or(table, "device", NULL), *key;
	struct khw *h = device ? khw_load(NULL, NULL) : NULL;
	const struct khw_device *d = h ? khw_find(h, device) : NULL;
	json_t *v;

	if (name && !d)
		kdie(K_USAGE, "--device %s: no file in docs/hardware describes this device", name);
	json_object_foreach(json_object_get(table, "peaks"), key, v) {
		const struct khw_fact *f =
		    json_is_string(v) ? khw_known(d, json_string_value(v)) : NULL;

		if (json_is_number(v))
			json_object_set(peaks, key, v);
		else if (f)
			json_object_set_new(peaks, key, json_real(f->number));
	}
	khw_free(h);
}

/* The table's peaks, overridden by those of a file: numbers, at the top level or under "peaks". */
static json_t *
load_peaks(const char *path, const char *device, const json_t *table)
{
	json_t *peaks = json_object(), *file, *inner, *v;
	const char *key;

	add_facts(peaks, table, device);
	if (!path)
		return peaks;
	file = kjson_load(path);
	inner = json_object_get(file, "peaks");
	json_object_foreach(json_is_object(inner) ? inner : file, key, v)
		if (json_is_number(v))
			json_object_set(peaks, key, v);
	json_decref(file);
	return peaks;
}

/* The kernels with their launches and times, the one with the largest total time first. */
static json_t *
kernels_of(const struct profile *p, const char *by, const double *time, const bool *wanted)
{
	json_t *list = json_array();
	size_t i;

	for (size_t n = 0; n < p->count; n++) {
		json_t *found = kjson_find(list, "name", p->launch[n].kernel);

		if (!wanted[n])
			continue;
		if (!found) {
			found = json_pack("{s:o,s:i,s:f}", "name",
			    kjson_string(p->launch[n].kernel), "launches", 0, by, 0.0);
			json_array_append_new(list, found);
		}
		json_object_set_new(
		    found, "launches", json_integer(kjson_int_or(found, "launches", 0) + 1));
		json_object_set_new(found, by,
		    json_real(kjson_num_or(found, by, 0) + (isnan(time[n]) ? 0 : time[n])));
	}
	for (i = 1; i < json_array_size(list); i++)
		for (size_t j = i; j > 0 &&
		     kjson_num_or(json_array_get(list, j), by, 0) >
		         kjson_num_or(json_array_get(list, j - 1), by, 0);
		     j--) {
			json_t *a = json_incref(json_array_get(list, j)),
			       *b = json_array_get(list, j - 1);

			json_array_set(list, j, b);
			json_array_set_new(list, j - 1, a);
		}
	return list;
}

/*
 * The longest launch of the kernel with the largest total time: the counters of one run, not a
 * mixture. The table may use another value than the duration.
 */
static const struct launch *
choose(struct profile *p, const json_t *table, const char *where, const json_t *peaks,
    const char *regex, json_t **kernels)
{
	auto_free double *time = kcalloc(p->count + 1, sizeof *time);
	auto_free bool *wanted = kcalloc(p->count + 1, sizeof *wanted);
	bool untimed = false;
	const struct launch *best = NULL;
	struct kregex *wish = regex ? kregex_new("--kernel", NULL, regex, 0) : NULL;
	double longest = -INFINITY;
	const char *name, *by = kjson_str_or(table, "choose", "duration_ns");

	for (size_t i = 0; i < p->count; i++) {
		struct values v;

		values_open(&v, table, where, &p->launch[i], peaks);
		wanted[i] = !wish ||
		    kregex_search(wish, p->launch[i].kernel, strlen(p->launch[i].kernel), 0,
		        NULL) == KREGEX_FOUND;
		time[i] = values_get(&v, by);
		untimed |= wanted[i] && isnan(time[i]);
		values_close(&v);
	}
	*kernels = kernels_of(p, by, time, wanted);
	if (!json_array_size(*kernels))
		kdie(K_USAGE, "no kernel matches '%s'", regex ? regex : "");
	if (untimed && json_array_size(*kernels) > 1)
		kdie(K_USAGE,
		    "there are %zu kernels, but no %s to choose one by; choose one with --kernel",
		    json_array_size(*kernels), by);
	name = kjson_str_or(json_array_get(*kernels, 0), "name", "");
	for (size_t i = 0; i < p->count; i++) {
		double t = isnan(time[i]) ? 0 : time[i];

		if (wanted[i] && !strcmp(p->launch[i].kernel, name) && t > longest) {
			longest = t;
			best = &p->launch[i];
		}
	}
	if (untimed && kjson_int_or(json_array_get(*kernels, 0), "launches", 0) > 1)
		profile_note(p, "no %s, so the first launch is shown", by);
	kregex_free(wish);
	return best;
}

static void
read_file(
    struct profile *p, const char *path, const struct options *o, json_t **table, char **where)
{
	struct text t = { .file = path,
		.name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path };
	const char *format, *source;
	size_t mark;

	t.data = kread_file_or_die(path, FILE_MAX, &t.len);
	/*
	 * A byte order mark, which some table programs write first, is not part of the first cell.
	 */
	mark = kbom(t.data, t.len);
	t.len -= mark;
	memmove(t.data, t.data + mark, t.len + 1);
	format = strcmp(o->format, "auto") ? o->format : detect(&t);
	source = source_of(format);
	if (p->source && strcmp(p->source, source))
		kdie(K_USAGE, "%s: cannot combine %s with %s in one profile", path, source,
		    p->source);
	p->source = source;
	if (!*table)
		*table = load_table(source, where);
	if (!strcmp(format, "ncu-text"))
		ncu_text(p, &t, *table);
	else if (!strcmp(source, "ncu"))
		ncu_csv(p, &t, *table, format);
	else if (!strcmp(source, "rocprofv3"))
		rocprof_csv(p, &t);
	else if (!strcmp(source, "callgrind"))
		callgrind_text(p, &t, o->kernel);
	else
		perf_text(p, &t);
	json_array_append_new(p->formats, json_string(format));
	json_array_append_new(p->files, kjson_string(t.name));
	free(t.data);
}

static void
run(const struct options *o, char **files, int count)
{
	struct profile p;
	json_auto_t *table = NULL;
	json_t *peaks, *kernels, *out;
	auto_free char *where = NULL;
	const struct launch *l;

	profile_open(&p);
	for (int i = 0; i < count; i++)
		read_file(&p, files[i], o, &table, &where);
	peaks = load_peaks(o->peaks, o->device, table);
	l = choose(&p, table, where, peaks, o->kernel, &kernels);
	out = report(&p, l, table, where, peaks, kernels);
	kout_open(o->output);
	kout_json(out);
	kout_commit();
	json_decref(out);
	json_decref(kernels);
	json_decref(peaks);
	profile_close(&p);
}

int
main(int argc, char **argv)
{
	struct options o = { .format = "auto" };
	const struct koption options[] = {
		{ 0, "format", .text = &o.format,
		    .help = "FORMAT\tauto, ncu-raw, ncu-details, ncu-text, rocprofv3, callgrind or "
		            "perf" },
		{ 0, "kernel", .text = &o.kernel, .help = "REGEX\treport on this kernel" },
		{ 0, "device", .text = &o.device,
		    .help = "NAME\tuse the peaks of this device, from docs/hardware" },
		{ 0, "peaks", .text = &o.peaks, .help = "FILE\ttake the peaks from this file" },
		KOPTION_OUTPUT(&o.output),
	};

	kutil_init("kprofile");
	koption_read(options, LEN(options), usage, argc, argv);
	if (strcmp(o.format, "auto") && !source_of(o.format)) {
		kwarn("unknown format '%s'", o.format);
		koption_misuse(usage, NULL);
	}
	if (optind == argc)
		koption_misuse(usage, "give at least one file");
	run(&o, argv + optind, argc - optind);
	return K_OK;
}
