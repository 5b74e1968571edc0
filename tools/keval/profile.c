/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tier T4: a profiler over one call of a promising candidate (kharness --solo), sandboxed like the
 * candidate itself, while nobody measures; kprofile makes findings of its output, which is kept in
 * the campaign's folder profiles/. If a profiler fails, only the findings are missing, never the
 * verdict, and the reason is recorded.
 */

#include "keval.h"

enum { OUTPUT_MAX = 64 << 20 };
/*
 * Time limits of a run, in seconds. A profiler for devices replays each call dozens of times;
 * callgrind interprets every instruction, which is about SLOWER times as slow.
 */
enum { DEVICE_LIMIT_S = 180, CPU_LIMIT_S = 120, SLOWER = 200 };

/* kharness marks where the call begins and ends, if the header was available when it was built. */
#if __has_include(<valgrind/callgrind.h>)
#define FROM_THE_CALL "--instr-atstart=no",
#else
#define FROM_THE_CALL
#endif

/*
 * patterns/profile/TABLE.json says how a profiler is run: its words before the program's ("run"),
 * the files with its results, and the words that make them, if it is not the run ("results").
 */
static const struct profiler {
	const char *program, *table;
	bool interprets; /* interprets the instructions of a CPU */
	bool outside;    /* it watches the sandbox from outside */
} profilers[] = {
	{ "ncu", "ncu", false, false },
	{ "rocprofv3", "rocprofv3", false, false },
	{ "valgrind", "callgrind", true, false },
	{ "perf", "perf", false, true },
};

static const struct profiler *
profiler_named(const char *program)
{
	return program ? krow_with(profilers, LEN(profilers), program, program) : NULL;
}

/*
 * Would it take the lead? It is faster than everything that it was timed in turns with, or had no
 * opponent.
 */
static bool
is_leading(void)
{
	const json_t *pairs = json_object_get(eval, "pairs");

	return !kany(kjson_foreach(pair, pairs),
	    kgain_ratio_of_pairs(
	        pairs, kjson_str(pair, "name"), NULL, json_object_get(eval, "timing"))
	            .mean < 1);
}

/*
 * A linear search profiles its baseline and possible next accepted programs, on any device that has
 * a profiler; a search over cells profiles leading programs, on a GPU.
 */
static bool
is_wanted(void)
{
	const char *when = kcamp_str("eval.profile");

	if (!strcmp(when, "off") || status_at(eval, "status") != STATUS_CORRECT)
		return false;
	if (!strcmp(when, "all"))
		return true;
	if (!strcmp(when, "auto") && !is_gpu() && !kcamp_linear())
		return false;
	return subject->trusted || is_leading();
}

static double
limit_of(void)
{
	return is_gpu() ? DEVICE_LIMIT_S : CPU_LIMIT_S;
}

/*
 * The timed workload of EVAL to profile: the longest or, if every instruction is interpreted, the
 * longest that fits into half of the limit, or else the shortest. NULL: none is timed.
 */
static const char *
choose_workload(void)
{
	const json_t *best = NULL;
	double most = is_gpu() ? INFINITY : CPU_LIMIT_S * 1e9 / 2 / SLOWER, chosen = 0;

	kjson_foreach(row, eval, "timing") {
		double ns = kjson_num(row, "median_ns") *
		    fmax(is_gpu() ? 1 : kjson_num_or(row, "threads", 1), 1);
		bool fits = ns <= most, fitted = chosen <= most;

		if (best && (fits == fitted ? (ns > chosen) != fits : !fits))
			continue;
		best = row;
		chosen = ns;
	}
	return kjson_maybe(best, "workload");
}

/* What is profiled, and how; and the resulting files, in FOLDER. */
static struct session {
	const struct profiler *p;
	json_t *table;
	const char *work, *folder, *so, *workload;
	json_t *files, *notes;
} session; /* one at a time */

/*
 * The words of a profiler that watches from outside, and what it shares with the program: FIFOs by
 * which kharness says when to count, and its result.
 */
static void
watch_words(struct words *w)
{
	static const char *const pipes[] = { "perf.control", "perf.ack" };
	const char *work = session.work;

	kforeach(pipe, pipes) {
		const char *path = kshown("%s/%s", work, *pipe);

		/* The program may run as another user. */
		if (mkfifo(path, 0600) < 0 || chmod(path, 0666) < 0)
			kdie_io("%s", path);
	}
	words_add(w, kshown("--control=fifo:%s/%s,%s/%s", work, pipes[0], work, pipes[1]),
	    kshown("--output=%s/%s", work,
	        kjson_str(json_array_get(json_object_get(session.table, "results"), 0), "file")),
	    "--");
}

/* Runs the program under the profiler, while nobody measures. */
static bool
run_profiler(const json_t *wrap, char **why)
{
	struct words around = { .count = 0 }, inside = { .count = 0 };
	auto_free char *out = NULL;
	const char *const options[] = { "--memory-mb", kshown("%ld", kcamp_int("eval.memory_mb")),
		session.workload ? "--workload" : NULL, session.workload, NULL };
	bool outside = session.p->outside;
	struct kproc_result r;
	auto_close int lock = tool_lock();

	words_json(outside ? &around : &inside, wrap);
	if (session.p->interprets)
		words_add(&inside, FROM_THE_CALL NULL);
	if (outside)
		watch_words(&around);
	*why = NULL;
	if (tool_solo(session.work, outside ? around.at : NULL, &inside, session.so, options,
	        limit_of(), &r) == 0)
		out = tool_output(session.p->program, &r, why);
	else
		*why = kasprintf("%s did not start", session.p->program);
	return out != NULL;
}

/* Writes TEXT as a file of the session; false when that fails. */
static bool
put_result(const char *file, const char *text)
{
	auto_free char *path = kasprintf("%s/%s", session.folder, file);
	bool good = text && kwrite_file(path, text, strlen(text)) == 0;

	if (good)
		kjson_add(session.files, path);
	return good;
}

/* Stores every result of the profiler in a file of its own; false when one is missing. */
static bool
collect(char **why)
{
	kjson_foreach(result, session.table, "results") {
		const char *file = kjson_str(result, "file");
		struct words w = { .count = 0 };
		auto_free char *text = NULL;
		bool good;

		words_json(&w, json_object_get(result, "export"));
		text = w.count ? tool_run(session.work, NULL, 0, &w, limit_of(), why)
		               : work_read(session.work, file, OUTPUT_MAX, &(size_t){ 0 });
		good = put_result(file, text);
		if (!good && !*why)
			*why = kasprintf("%s left no %s", session.p->program, file);
		if (!good)
			return false;
	}
	return true;
}

/*
 * Measures the counters of LIST in a separate run. If it fails, these counters are missing, which
 * is noted.
 */
static void
run_pass(size_t number, const char *list)
{
	auto_free char *name = kasprintf("pass%zu", number), *words = kstrdup(list), *why = NULL,
	               *file = kasprintf("%s_counter_collection.csv", name), *text = NULL;
	json_auto_t *wrap = json_pack(
	    "[s,s,s,s,s,s]", session.p->program, "--output-format", "csv", "-o", name, "--pmc");

	kpart_foreach(word, words, " ")
		kjson_add(wrap, word);
	kjson_add(wrap, "--");
	if (run_profiler(wrap, &why))
		text = work_read(session.work, file, OUTPUT_MAX, &(size_t){ 0 });
	if (!put_result(file, text))
		json_array_append_new(session.notes,
		    json_sprintf(
		        "pass %zu of the counters failed: %s", number, why ?: "it left no file"));
}

static json_t *
findings(char **why)
{
	struct words w = { .count = 0 };
	struct kproc q = { .argv = w.at, .max_output = OUTPUT_MAX, .timeout_s = 60 };
	struct kproc_result r;
	json_t *found = NULL;

	words_add(&w, ktool_path("kprofile"));
	words_json(&w, session.files);
	if (kproc_run(&q, &r) == 0) {
		found = r.exit_code == 0 ? json_loadb(r.out, r.out_len, 0, NULL) : NULL;
		if (!found)
			*why = kasprintf("%.300s", r.err ?: "kprofile failed");
		kproc_result_free(&r);
	}
	if (found)
		json_array_extend(json_object_get(found, "notes"), session.notes);
	return found;
}

/* Copies the file FROM to the campaign's profiles/NAME, compressed if gzip is available. */
static void
keep_file(const char *from, const char *name, json_t *kept)
{
	char gzip[] = "gzip", options[] = "-9nc", *argv[] = { gzip, options, (char *)from, NULL };
	struct kproc p = { .argv = argv, .max_output = OUTPUT_MAX, .timeout_s = 60 };
	struct kproc_result r = { 0 };
	size_t len = 0;
	auto_free char *text = kread_file(from, OUTPUT_MAX, &len);
	bool small = text && kproc_run(&p, &r) == 0 && r.exit_code == 0;
	const char *inside = kshown("profiles/%s/%s%s", name, basename(from), small ? ".gz" : ""),
	           *path = kplace_in(kcamp.dir, inside);

	if (text && kwrite_file(path, small ? r.out : text, small ? r.out_len : len) == 0)
		kjson_add(kept, inside);
	else if (text)
		kwarn("%s: could not be written", path);
	if (text)
		kproc_result_free(&r);
}

/*
 * The paths, in the campaign's folder, of the profiler's own report and of what was read from it.
 */
static json_t *
keep(const char *id)
{
	auto_free char *name = kregex_sub("/", id, "-");
	json_t *kept = json_array();

	kmake_folder(kplace_in(kcamp.dir, kshown("profiles/%s", name)));
	kjson_foreach_text(file, session.files)
		keep_file(file, name, kept);
	keep_file(kshown("%s/report.ncu-rep", session.work), name, kept);
	return kept;
}

static bool
is_installed(const struct profiler *p)
{
	return sandbox_level() == KSANDBOX_NONE || ksandbox_finds(p->program);
}

/*
 * Profiles the program in SO; NULL with the reason in *WHY. Its reports are kept under NAME, or not
 * if that is NULL.
 */
static json_t *
profile_so(const struct profiler *p, const char *so, const char *name, char **why)
{
	char *work, *folder;
	json_t *found = NULL;
	size_t pass = 0;

	*why = NULL;
	if (!is_installed(p)) {
		*why = kasprintf("%s is not installed", p->program);
		return NULL;
	}
	work = ksandbox_work_new();
	folder = ksandbox_work_new();
	session = (struct session){ p,
		kjson_data(kshown("patterns/profile/%s.json", p->table), "profile-rules/1"), work,
		folder, so, choose_workload(), json_array(), json_array() };
	if (run_profiler(json_object_get(session.table, "run"), why) && collect(why)) {
		/* Counters that do not fit into one run. */
		kjson_foreach_text(counters, session.table, "passes")
			run_pass(++pass, counters);
		found = findings(why);
	}
	if (found && session.workload)
		kjson_put(found, "workload", session.workload);
	if (found && name)
		kjson_set(found, "raw", keep(name));
	json_decref(session.files);
	json_decref(session.notes);
	json_decref(session.table);
	ksandbox_work_free(folder);
	ksandbox_work_free(work);
	return found;
}

/*
 * Without this option the profiler cannot run the code that a compiler generates for this machine.
 */
static const char for_valgrind[] = "-mno-avx512f";

/*
 * A program on a CPU: profiled by its counters, else by interpreting it, with a note that says why.
 */
static json_t *
profile_cpu(const struct profiler *p, const char *so, const char *name, char **why)
{
	json_t *found = profile_so(profiler_named("perf"), so, name, why), *notes;
	json_auto_t *flags = json_pack("[s]", for_valgrind);
	auto_free char *built = NULL, *missing = NULL, *log = NULL;

	if (found && kjson_path(found, "metrics.instruction.ipc"))
		return found;
	/* Usually because the machine does not give counters to its guests or users. */
	missing = found ? kstrdup("perf counts no cycles and instructions here") : *why;
	json_decref(found);
	built = is_installed(p) ? build_cached(subject, flags, &log) : NULL;
	found = profile_so(p, built ?: so, name, why);
	if (found) {
		notes = json_object_get(found, "notes");
		if (built)
			json_array_append_new(notes,
			    json_sprintf("built with %s as well, "
			                 "because %s does not run such instructions",
			        for_valgrind, p->program));
		json_array_append_new(notes, json_sprintf("no counters: %s", missing));
	} else if (!is_installed(p)) {
		log = *why;
		*why = kasprintf("%s, and %s", log, missing);
	}
	return found;
}

json_t *
profile_anew(const char *so, const char *name, char **why)
{
	const struct profiler *p = profiler_named(kcamp_backend()->profiler);
	json_t *found = NULL;

	*why = NULL;
	if (kcamp_is("eval.profile", "off"))
		*why = kstrdup("eval.profile is off");
	else if (!so)
		*why = kstrdup("the campaign's own commands run the program");
	else if (!p || is_device_only())
		*why = kstrdup("there is no profiler for programs of this kind");
	else if (p->interprets)
		found = profile_cpu(p, so, name, why);
	else
		found = profile_so(p, so, name, why);
	if (!found && !*why)
		*why = kstrdup("the profiler failed");
	return found;
}

void
profile(const char *so)
{
	int64_t start = know_ns();
	json_t *found;
	auto_free char *why = NULL;

	if (!is_wanted())
		return;
	found = profile_anew(so, karch_is_id(subject->name) ? subject->name : NULL, &why);
	if (found) {
		kjson_set(eval, "profile", found);
		kjson_put(eval, "tier", 4);
		add_spent("profiling", kseconds_since(start));
	} else {
		kjson_set(eval, "profile_missing", kjson_string(why));
	}
}
