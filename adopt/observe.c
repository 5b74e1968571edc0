/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt observe: every call of the kernel in a real run of the application, with its arguments and
 * memory (adopt/observed.ndjson), and its times in undisturbed runs (adopt/timing.ndjson).
 */

#include "adopt.h"
#include "kstat.h"
#include "log.h"
#include "ncu.h"
#include "unit.h"
#include "watch.h"

static const char usage[] = "usage: kadopt observe [-c DIR] [-p DIR --file FILE --kernel NAME "
                            "--build COMMAND --run COMMAND] [OPTION...]\n";

enum { RUNS = 3, RUNS_MAX = 99 };

/* The options. */
static struct {
	const char *campaign, *log;
	json_t *answers; /* from the command line */
	long runs;
	double timeout_s; /* 0: not given */
	bool force, check, instrument;
} asked = { .campaign = ".", .runs = RUNS };

/* ---- what to observe ---- */

static void
parse_options(int argc, char **argv)
{
	json_t *given = json_object();
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&asked.campaign),
		ANSWER_OPTIONS(given),
		KOPTION_NUMBER(
		    "runs", &asked.runs, 0, RUNS_MAX, "N\trun the application N times to time it"),
		KOPTION_REAL(
		    "timeout", &asked.timeout_s, 1, 1e6, "S\ttime limit of a build or a run"),
		KOPTION_FLAG("force", &asked.force, "\tobserve again"),
		KOPTION_FLAG("check", &asked.check, "\texit 1 if the observation is out of date"),
		KOPTION_TEXT("log", &asked.log, "FILE\tread the calls from a log of your own"),
		KOPTION_FLAG("instrument", &asked.instrument,
		    "\tlet a model add the lines that log each call"),
	};

	koption_all(options, usage, argc, argv);
	asked.answers = given;
}

/* From adopt.json or, if it does not exist yet, from the command line. */
static void
find_adoption(void)
{
	char *path = path_of("%s/adopt.json", asked.campaign);

	if (kis_there(path) && json_object_size(asked.answers))
		kdie_usage("%s already exists; remove the duplicate options", path);
	adoption_open(asked.campaign, asked.answers);
	if (asked.timeout_s > 0)
		adoption.timeout_s = asked.timeout_s;
}

/* Makes the entry, which relies on what is ASSUMED; see views/assume.jq. */
static void
set_unit(const json_t *assumed)
{
	auto_buf struct kbuf why = { 0 };
	char *path = adopt_path("unit.json");
	json_auto_t *built = kjson_if_there(adopt_path("compile.json")),
	            *unit = unit_named(
	                adoption.project, adoption.file, adoption.kernel, built, assumed, &why);

	if (!unit)
		kdie_usage("%s/%s:%d: %s: %s", adoption.project, adoption.file, watched.line,
		    adoption.kernel, why.len ? why.data : "it is not seen by the compiler");
	write_json(path, unit);
	adoption_read_unit();
	if (assumed)
		ksay("entry      %s, which calls it:\n%s\n", adoption.entry,
		    kjson_str(unit, "text"));
}

/* The same if the entry that was made last does not rely on that. */
static void
change_unit(const json_t *assumed)
{
	const json_t *now = json_object_get(adoption.unit, "assumed");

	if (adoption.unit && now != assumed && !json_equal(now, assumed))
		set_unit(assumed);
}

/* ---- is the observation still valid? ---- */

/*
 * Everything that the build may read in the folder $1, except for the folder $2 in it, and in the
 * folders $3, by name and contents, in an order that does not depend on the file system.
 */
static const char sources_script[] =
    "set -f; IFS='\n'; cd \"$1\" && find . $3 \\( -name .git -o -name .hg -o -name .svn "
    "${2:+-o} ${2:+-path} ${2:+\"./$2\"} \\) -prune -o -type f \\( -name '*.[chC]' -o -name '*.cc' "
    "-o "
    "-name '*.cpp' -o -name '*.cxx' -o -name '*.hh' -o -name '*.hpp' -o -name '*.hxx' -o -name "
    "'*.cu' -o -name '*.cuh' -o -name '*.inc' -o -name '*.inl' -o -name '*akefile*' -o -name "
    "'CMakeLists.txt' -o -name '*.cmake' -o -name '*.mk' -o -name 'meson.build' -o -name '*.rs' -o "
    "-name '*.toml' -o -name 'Cargo.lock' -o -name '*.conf' \\) -print0 | LC_ALL=C sort -z | "
    "xargs -0 -r sha256sum";

static void
add_sources(json_t *header)
{
	/* A campaign inside the project is not part of it. */
	const char *own = path_in(adoption.project, adoption.dir) ?: "";
	auto_buf struct kbuf siblings = kbuf_empty();
	auto_free char *list = NULL;

	kjson_foreach_text(name, siblings_named())
		kbuf_printf(&siblings, "../%s\n", name);
	list = script_output(NULL, K_IO, sources_script, adoption.project, own, siblings.data);
	kjson_put(header, "sources_sha256", ksha256_of(list));
}

/* Adds the program in the copy; nothing if there is none, or the run command names none. */
static void
add_program(json_t *header)
{
	const char *path = watch_program(), *hex = *path ? file_sha256(path) : "";

	if (*hex)
		kjson_put(header, "binary_sha256", hex);
}

/* The current header; with the program of the last observation. */
static json_t *
make_header(void)
{
	json_t *header = json_pack("{s:s,s:s,s:s,s:s,s:s}", "schema", "observed/1", "kernel",
	    adoption.kernel, "file", adoption.file, "version", kversion_string(), "how",
	    asked.log              ? "log"
	        : asked.instrument ? "instrument"
	                           : "calls");
	auto_free char *normal = kscan_signature_text(&watched.of),
	               *commands = kasprintf(
	                   "%s\n%s\n%s\n", adoption.build, adoption.run, adoption.launcher ?: "");

	kjson_put(header, "signature_sha256", ksha256_of(normal));
	kjson_put(header, "wrapper_sha256",
	    ksha256(watched.text + watched.f->from, watched.f->to - watched.f->from));
	kjson_put(header, "command_sha256", ksha256_of(commands));
	add_sources(header);
	add_program(header);
	return header;
}

/* Why an observation with the header OLD does not match HEADER; NULL: it does. The caller frees. */
static char *
stale(const json_t *old, const json_t *header)
{
	static const struct {
		const char *field, *what;
	} fields[] = {
		{ "kernel", "another function" },
		{ "signature_sha256", "other parameters" },
		{ "wrapper_sha256", "another version of the function" },
		{ "command_sha256", "other commands" },
		{ "sources_sha256", "other sources" },
		{ "how", "another way of observing" },
		{ "version", "another version of kiln" },
		{ "binary_sha256", "another program" },
	};

	if (!old)
		return kstrdup("it does not exist");
	kforeach(x, fields) {
		const json_t *was = json_object_get(old, x->field),
		             *is = json_object_get(header, x->field);
		/* A log names no program, and a program may not be built yet. */
		bool unknown = !strcmp(x->field, "binary_sha256") && (!was || !is);

		if (!unknown && !json_equal(was, is))
			return kasprintf("it belongs to %s (%s)", x->what, x->field);
	}
	return NULL;
}

/* ---- calls as records ---- */

/* The launch with the most work; if several have the same, the first. */
static const json_t *
main_launch(const json_t *launches)
{
	const json_t *best = NULL;
	double most = 0;

	kjson_foreach(l, launches) {
		double threads = 1;

		kjson_foreach(n, l, "grid")
			threads *= json_number_value(n);
		kjson_foreach(n, l, "block")
			threads *= json_number_value(n);
		if (threads > most) {
			most = threads;
			best = l;
		}
	}
	return best;
}

/*
 * Reads cannot be observed; but an array that is const, or does not change, must be an input to be
 * of any use.
 */
static void
add_reading(json_t *pointers)
{
	kjson_foreach_member(name, p, pointers)
		if (kjson_bool(p, "const") || !kjson_bool_or(p, "written", true))
			json_object_set_new(p, "read", json_true());
}

static json_t *
record_of(const json_t *raw, size_t i)
{
	json_t *r = json_pack("{s:I,s:s}", "i", (json_int_t)i, "kernel", adoption.kernel);

	kjson_pick(r, raw, "ns", "clock", "faults", "key", "args", "pointers", "grid", "block",
	    "launches");
	kjson_pick(r, main_launch(json_object_get(raw, "launches")), "grid", "block", "shared");
	add_reading(json_object_get(r, "pointers"));
	return r;
}

static void
write_observed(const char *path, const json_t *header, const json_t *calls)
{
	kout_open(path);
	kout_json(header);
	kjson_foreach(call, calls) {
		json_auto_t *r = record_of(call, kjson_at(call));

		kout_json(r);
	}
	kout_commit();
}

/* Call I of the first N runs, with the median of its times. */
static json_t *
timing_of(const json_t *runs, size_t n, size_t i)
{
	json_t *r = record_of(json_array_get(json_array_get(runs, 0), i), i),
	       *samples = json_array();
	auto_free double *ns = NULL;

	kjson_foreach(run, runs)
		if (kjson_at(run) < n)
			json_array_append(samples, json_object_get(json_array_get(run, i), "ns"));
	ns = kjson_numbers(samples, &n);
	kjson_put(r, "ns", (json_int_t)kstat_quantile(ns, n, 0.5));
	json_object_set_new(r, "samples", samples);
	json_object_del(r, "pointers");
	json_object_del(r, "launches");
	return r;
}

/*
 * Do the calls of two runs have the same arguments, one by one? Calls from threads may come in a
 * different order.
 */
static bool
same_calls(const json_t *x, const json_t *y)
{
	return json_array_size(x) == json_array_size(y) &&
	    !kany(kjson_foreach(call, x),
	        !json_equal(json_object_get(call, "args"),
	            json_object_get(json_array_get(y, kjson_at(call)), "args")));
}

/* If runs do not make the same calls, calls cannot be matched: then only the first run counts. */
static void
write_timing(const char *path, json_t *header, const json_t *runs)
{
	const json_t *first = json_array_get(runs, 0), *other;
	size_t used = 1, calls = json_array_size(first);

	while ((other = json_array_get(runs, used)) && same_calls(first, other))
		used++;
	if (other) {
		kwarn("run %zu made %zu calls of %s, but the first run made %zu%s; "
		      "only the first run is used",
		    used + 1, json_array_size(other), adoption.kernel, calls,
		    json_array_size(other) == calls ? ", in another order" : "");
		used = 1;
	}
	kjson_put(header, "runs", used);
	kout_open(path);
	kout_json(header);
	for (size_t i = 0; i < calls; i++) {
		json_auto_t *r = timing_of(runs, used, i);

		kout_json(r);
	}
	kout_commit();
}

/* ---- the methods of observation ---- */

/* Parameters of all __global__ functions of the file, for launches: one line each. */
static void
write_layout(void)
{
	auto_buf struct kbuf b = kbuf_empty();

	signature_layout(&watched.scan, &b);
	write_text(path_of("%s/layout.txt", watch.folder), b.data);
}

/* If nothing was launched in any call of a host function, the launches were not seen. */
static void
check_launches(const json_t *calls)
{
	if (watch.cuda &&
	    !kany(kjson_foreach(c, calls), json_array_size(json_object_get(c, "launches"))))
		kdie(K_MISSING,
		    "%s was called, but kadopt saw no launch, because the CUDA run-time library is "
		    "linked statically; relink with -cudart shared, or use --instrument "
		    "(build log: %s/adopt/log/watch-build.log)",
		    adoption.kernel, adoption.dir);
}

/* For a short launch, events measure the time to launch. */
static void
tell_clock(const json_t *calls)
{
	static const double short_ns = 20e3;

	if (kany(kjson_foreach(c, calls),
	        kjson_is(c, "clock", "device") && kjson_num(c, "ns") < short_ns))
		kwarn("calls of a few microseconds were timed by events, so launching them is part "
		      "of their time: libcupti.so is not next to the CUDA run-time library, "
		      "or does not work here");
}

/* Builds the application with a wrapper, and watches a run. New reference. */
static json_t *
watch_calls(void)
{
	json_t *calls = NULL;

	work_part("build", "a copy with a wrapper around %s", adoption.kernel) {
		watch_prepare();
		if (watch.cuda)
			write_layout();
	}
	work_part("watch", "'%s', with all calls and their arrays", adoption.run)
		calls = watch_run(WATCH_ARGS);
	return calls;
}

/* What all CALLS have in common, in the form of views/assume.jq. New reference. */
static json_t *
assume(json_t *calls)
{
	json_t *compared = json_array();
	json_auto_t *input = json_pack("{s:O,s:o}", "calls", calls, "compared", compared);

	kscan_params(p, &watched.of)
		kscan_params(q, &watched.of)
			if (kscan_compares(watched.f, p, q))
				kjson_append(compared, "[s,s]", q->name, p->name);
	return kjq("views/assume.jq", input);
}

static void
observe(json_t *header, const char *observed)
{
	json_auto_t *calls = watch_calls(),
	            *assumed = adoption.unit && !watch.cuda ? assume(calls) : NULL,
	            *runs = json_array();

	if (json_object_size(assumed)) {
		/* With another entry, other arrays are measured. */
		set_unit(assumed);
		json_decref(calls);
		calls = watch_calls();
		json_object_set(header, "assumed", assumed);
	}
	check_launches(calls);
	if (watch.dropped)
		kwarn("%lld more calls of %s were not recorded; shares refer to the recorded ones",
		    watch.dropped, adoption.kernel);
	add_program(header);
	write_observed(observed, header, calls);
	for (long i = 0; i < asked.runs; i++)
		work_part("times", "run %ld of %ld", i + 1, asked.runs)
			json_array_append_new(runs, watch_run(WATCH_TIME));
	tell_clock(asked.runs ? json_array_get(runs, 0) : calls);
	kjson_put(header, "schema", "timing/1");
	if (asked.runs)
		write_timing(adopt_path("timing.ndjson"), header, runs);
}

static void
run(json_t *header, const char *observed)
{
	json_auto_t *calls = NULL;
	auto_free char *text = NULL;
	size_t len;

	json_object_del(header, "binary_sha256");
	if (asked.log) {
		text = kread_file_or_die(asked.log, (size_t)1 << 30, &len);
	} else if (asked.instrument) {
		watch_copy();
		instrument();
		watch_build();
		text = watch_log(&len);
	} else {
		observe(header, observed);
		return;
	}
	calls = log_calls(text, len, asked.log ?: "standard error");
	write_observed(observed, header, calls);
}

int
command_observe(int argc, char **argv)
{
	char *observed;
	auto_free char *why = NULL;
	json_auto_t *header = NULL, *old = NULL;
	int code = K_OK;

	parse_options(argc, argv);
	find_adoption();
	watch = (struct watch){ .folder = adopt_path("watch"), .cuda = adoption.device };
	watch_find();
	/* Even without preflight, a kernel is observed by its launches. */
	if (watched.kernel && !adoption.unit)
		set_unit(NULL);
	header = make_header();
	observed = adopt_path("observed.ndjson");
	make_folder_of(observed);
	old = kin_first(observed);
	why = stale(old, header);
	if (asked.check) {
		if (why)
			kwarn("%s: %s", observed, why);
		code = why ? K_NO : K_OK;
	} else if (!why && !asked.force) {
		/* The preflight made an entry that relies on nothing. */
		change_unit(json_object_get(old, "assumed"));
	} else {
		/*
		 * The observation on which the frozen figures rest is kept, even when the winner is
		 * in the sources.
		 */
		if (adoption_begun())
			kdie_usage("%s: %s, but the campaign rests on it; observe into another "
			           "folder",
			    observed, why ?: "it would be made again");
		if (why && kis_there(observed))
			kwarn("%s: %s; observing again", observed, why);
		change_unit(NULL);
		run(header, observed);
	}
	return code;
}

char *
counters_of(const json_t *kernels)
{
	const char *file = kjson_maybe(adoption.json, "ncu");
	auto_free char *ncu = NULL, *text = NULL;
	auto_buf struct kbuf b = { 0 };
	auto_result struct command_result r = { 0 };
	struct work_span w;
	char *made, *kept = NULL;

	if (file || !kjson_bool(adoption.json, "count"))
		return kstrdup(file);
	w = work_begin("count", "the work of a call, by ncu");
	made = adopt_path("ncu.csv");
	ncu = ncu_command(kernels);
	kbuf_printf(&b, "%s --log-file ", ncu);
	command_quote(&b, made);
	kbuf_puts(&b, " sh -c ");
	command_quote(&b, adoption.run);
	r = command_run(project_copy(), b.data, NULL, "ncu");
	text = file_text(made, NULL);
	/* It may go on without counters. */
	if (r.status || !text || !strstr(text, NCU_TITLES))
		kwarn("the work of a call was not counted: %s", r.said ?: text ?: "no file");
	else
		kept = kstrdup(made);
	work_end(&w);
	return kept;
}
