/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tier T4: a profiler over one call of a promising candidate (kharness --solo), sandboxed like the
 * candidate itself, at a time when nobody measures; kprofile makes findings of what it prints,
 * which is kept in the campaign's folder profiles/. A profiler that fails costs the findings, never
 * the verdict, and its reason stays in the record.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "karch.h"
#include "keval.h"
#include "kgain.h"
#include "kio.h"
#include "klock.h"
#include "kplace.h"
#include "ksandbox.h"
#include "kutil.h"

#include "status.h"

enum { OUTPUT_MAX = 64 << 20, ARGS_MAX = 48 };
/*
 * Time limits of a run, in seconds. One on a device replays each call dozens of times; callgrind
 * interprets every instruction, which takes about SLOWER times as long.
 */
enum { DEVICE_LIMIT_S = 180, CPU_LIMIT_S = 60, SLOWER = 100 };

/*
 * How a profiler is run: its words before and after the program, and what is read of it, by the
 * file it is kept in.
 */
struct profiler {
	const char *program;
	const char *wrap[12];
	struct {
		/* of the work folder; made by EXPORT's output when there is one */
		const char *file;
		const char *export[12];
	} result[2];
};
static const struct profiler profilers[] = {
	{ "ncu",
	    { "ncu", "--set", "full", "--clock-control", "none", "--profile-from-start", "off",
	        "-f", "-o", "report", NULL },
	    { { "raw.csv",
	          { "ncu", "--import", "report.ncu-rep", "--csv", "--page", "raw", "--print-units",
	              "base", NULL } },
	        { "details.csv",
	            { "ncu", "--import", "report.ncu-rep", "--csv", "--page", "details",
	                "--print-units", "base", NULL } } } },
	{ "rocprofv3",
	    { "rocprofv3", "--kernel-trace", "--output-format", "csv", "-o", "report", "--", NULL },
	    { { "report_kernel_trace.csv", { NULL } }, { NULL, { NULL } } } },
	{ "valgrind",
	    { "valgrind", "--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes",
	        "--callgrind-out-file=callgrind.out", NULL },
	    { { "callgrind.out", { NULL } }, { NULL, { NULL } } } },
};

static const struct profiler *
profiler_of(const struct keval *k)
{
	const char *program = kcamp_backend(k->camp)->profiler;

	for (size_t i = 0; program && i < LEN(profilers); i++)
		if (!strcmp(profilers[i].program, program))
			return &profilers[i];
	return NULL;
}

/* Would it lead? It is faster than all that it was timed in turns with, or had no opponent. */
static bool
is_leading(const json_t *eval)
{
	const json_t *pairs = json_object_get(eval, "pairs"), *pair;
	size_t i;

	json_array_foreach((json_t *)pairs, i, pair) {
		const char *name = kjson_str_or(pair, "name", "");

		if (kgain_ratio_of_pairs(pairs, name, NULL, json_object_get(eval, "timing")).mean <
		    1)
			return false;
	}
	return true;
}

/*
 * A linear search looks at its baseline and at what may become the last accepted program, on any
 * device that has a profiler; a search over cells at what leads, on a GPU.
 */
static bool
is_wanted(const struct keval *k, const struct subject *s, const json_t *eval)
{
	const char *when = kcamp_str(k->camp, "eval.profile");

	if (!strcmp(when, "off") || status_at(eval, "status") != STATUS_CORRECT)
		return false;
	if (!strcmp(when, "all"))
		return true;
	if (!strcmp(when, "auto") && !is_gpu(k) && !kcamp_linear(k->camp))
		return false;
	return s->trusted || is_leading(eval);
}

/* The words of a list, from ARGV[*N] on. */
static void
add(char **argv, size_t *n, const char *const *words)
{
	for (; *words && *n < ARGS_MAX - 1; words++)
		argv[(*n)++] = (char *)*words;
	argv[*n] = NULL;
}

char *
tool_run(struct keval *k, const char *work, const struct ksandbox_bind *binds, size_t bind_count,
    char **argv, double limit_s, char **why)
{
	struct ksandbox s = { .level = sandbox_level(k),
		.profile = KSANDBOX_BUILD,
		.work = work,
		.binds = binds,
		.bind_count = bind_count,
		.gpu = is_gpu(k),
		.processes = 1024,
		.file_bytes = (uint64_t)1 << 30 };
	struct kproc p = { .argv = argv, .max_output = OUTPUT_MAX, .timeout_s = limit_s };
	struct kproc_result r;
	char *out = NULL;

	*why = NULL;
	if (ksandbox_run(&s, &p, &r) < 0) {
		*why = kasprintf("%s did not start", argv[0]);
		return NULL;
	}
	if (r.exit_code == 0 && !r.timed_out && !r.flooded)
		out = kstrndup(r.out, r.out_len);
	else if (r.timed_out)
		*why = kasprintf("%s took more than %g s", argv[0], limit_s);
	else
		*why = kasprintf("%s failed: %.300s", argv[0], r.err_len ? r.err : r.out);
	kproc_result_free(&r);
	return out;
}

static double
limit_of(const struct keval *k)
{
	return is_gpu(k) ? DEVICE_LIMIT_S : CPU_LIMIT_S;
}

/*
 * The timed workload of EVAL to look at: the longest, and where every instruction is interpreted
 * the longest that half of the limit suffices for, or else the shortest. NULL: none is timed.
 */
static const char *
choose_workload(const struct keval *k, const json_t *eval)
{
	const json_t *timing = json_object_get(eval, "timing"), *best = NULL, *row;
	double most = INFINITY, chosen = 0;
	size_t i;

	if (!is_gpu(k))
		most = CPU_LIMIT_S * 1e9 / 2 / SLOWER;
	json_array_foreach((json_t *)timing, i, row) {
		double ns = kjson_num_or(row, "median_ns", 0) *
		    fmax(is_gpu(k) ? 1 : kjson_num_or(row, "threads", 1), 1);
		bool fits = ns <= most, fitted = chosen <= most;

		if (best && (fits == fitted ? (ns > chosen) != fits : !fits))
			continue;
		best = row;
		chosen = ns;
	}
	return kjson_str_or(best, "workload", NULL);
}

static bool
run_profiler(struct keval *k, const struct profiler *p, const char *work, const char *so,
    const char *workload, char **why)
{
	char *program = ktool_path("kharness"), *task = realpath(k->task_file, NULL),
	     *object = realpath(so, NULL);
	char *argv[ARGS_MAX], *out;
	struct ksandbox_bind binds[] = { { program, "/kiln/kharness" }, { task, "/kiln/task.json" },
		{ object, "/kiln/kernel.so" } };
	char *memory = kasprintf("%lld", (long long)kcamp_int(k->camp, "eval.memory_mb"));
	const char *const solo[] = { "/kiln/kharness", "--solo", "-t", "/kiln/task.json", "-s",
		k->set, "--backend", kcamp_str(k->camp, "backend"), "--memory-mb", memory,
		"/kiln/kernel.so", workload ? "--workload" : NULL, workload, NULL };
	size_t n = 0;

	add(argv, &n, p->wrap);
	add(argv, &n, solo);
	*why = NULL;
	out = task && object ? tool_run(k, work, binds, LEN(binds), argv, limit_of(k), why) : NULL;
	free(memory);
	free(object);
	free(task);
	free(program);
	free(out);
	return out != NULL;
}

/* Every result of the profiler as a file of its own, in FOLDER; false when one is missing. */
static bool
collect(struct keval *k, const struct profiler *p, const char *work, const char *folder, char **why)
{
	for (size_t i = 0; i < LEN(p->result) && p->result[i].file; i++) {
		char *argv[ARGS_MAX], *text, *path = kasprintf("%s/%s", folder, p->result[i].file);
		size_t n = 0;
		bool good;

		add(argv, &n, p->result[i].export);
		text = n ? tool_run(k, work, NULL, 0, argv, limit_of(k), why)
		         : work_read(work, p->result[i].file, OUTPUT_MAX, &n);
		good = text && kwrite_file(path, text, strlen(text)) == 0;
		free(text);
		free(path);
		if (!good && !*why)
			*why = kasprintf("%s left no %s", p->program, p->result[i].file);
		if (!good)
			return false;
	}
	return true;
}

static json_t *
findings(const struct profiler *p, const char *folder, char **why)
{
	char *argv[LEN(p->result) + 2] = { ktool_path("kprofile") };
	struct kproc q = { .argv = argv, .max_output = OUTPUT_MAX, .timeout_s = 60 };
	struct kproc_result r;
	json_t *found = NULL;

	for (size_t i = 0; i < LEN(p->result) && p->result[i].file; i++)
		argv[1 + i] = kasprintf("%s/%s", folder, p->result[i].file);
	if (kproc_run(&q, &r) == 0) {
		found = r.exit_code == 0 ? json_loadb(r.out, r.out_len, 0, NULL) : NULL;
		if (!found)
			*why = kasprintf("%.300s", r.err ? r.err : "kprofile failed");
		kproc_result_free(&r);
	}
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	return found;
}

/* The file FROM as the campaign's profiles/NAME/FILE, compressed where there is gzip. */
static void
keep_file(const struct keval *k, const char *from, const char *name, const char *file, json_t *kept)
{
	char gzip[] = "gzip", options[] = "-9nc", *argv[] = { gzip, options, (char *)from, NULL };
	struct kproc p = { .argv = argv, .max_output = OUTPUT_MAX, .timeout_s = 60 };
	struct kproc_result r = { 0 };
	size_t len = 0;
	char *text = kread_file(from, OUTPUT_MAX, &len), *path, *inside;
	bool small = text && kproc_run(&p, &r) == 0 && r.exit_code == 0;

	inside = kasprintf("profiles/%s/%s%s", name, file, small ? ".gz" : "");
	path = kplace_in(k->camp->dir, inside);
	if (text && kwrite_file(path, small ? r.out : text, small ? r.out_len : len) == 0)
		json_array_append_new(kept, json_string(inside));
	else if (text)
		kwarn("%s: could not be written", path);
	if (text)
		kproc_result_free(&r);
	free(inside);
	free(path);
	free(text);
}

/* The profiler's own report, and what was read of it: their paths in the campaign's folder. */
static json_t *
keep(const struct keval *k, const struct profiler *p, const char *id, const char *work,
    const char *folder)
{
	char *name = kstrdup(id), *inside, *to, *report = kasprintf("%s/report.ncu-rep", work);
	json_t *kept = json_array();

	for (char *slash = name; (slash = strchr(slash, '/'));)
		*slash = '-';
	inside = kasprintf("profiles/%s", name);
	to = kplace_in(k->camp->dir, inside);
	kmake_folder(to);
	for (size_t i = 0; i < LEN(p->result) && p->result[i].file; i++) {
		char *from = kasprintf("%s/%s", folder, p->result[i].file);

		keep_file(k, from, name, p->result[i].file, kept);
		free(from);
	}
	keep_file(k, report, name, "report.ncu-rep", kept);
	free(report);
	free(inside);
	free(name);
	free(to);
	return kept;
}

/*
 * The profiler over the program in SO, while nobody measures; NULL with the reason in *WHY. NAME is
 * what its reports are kept under, or NULL.
 */
static json_t *
profile_so(struct keval *k, const struct profiler *p, const char *so, const json_t *eval,
    const char *name, char **why)
{
	char *work = ksandbox_work_new(), *folder = ksandbox_work_new(), *device;
	const char *workload = choose_workload(k, eval);
	json_t *found = NULL;
	bool ran;
	int lock;

	device = is_gpu(k)
	    ? kasprintf("gpu-%s", kjson_str_or(eval, "environment.device.uuid", "unknown"))
	    : kstrdup("cpu");
	lock = klock_device(device, true, true);
	ran = run_profiler(k, p, work, so, workload, why);
	close(lock);
	if (ran && collect(k, p, work, folder, why))
		found = findings(p, folder, why);
	if (found) {
		if (workload)
			eval_set(found, "workload", json_string(workload));
		if (name)
			eval_set(found, "raw", keep(k, p, name, work, folder));
	}
	ksandbox_work_free(folder);
	ksandbox_work_free(work);
	free(device);
	return found;
}

json_t *
profile_anew(struct keval *k, const char *so, const json_t *eval, const char *name, char **why)
{
	const struct profiler *p = profiler_of(k);
	json_t *found = NULL;

	*why = NULL;
	if (!strcmp(kcamp_str(k->camp, "eval.profile"), "off"))
		*why = kstrdup("eval.profile is off");
	else if (!so)
		*why = kstrdup("the campaign's own commands run the program");
	else if (!p || is_device_only(k))
		*why = kstrdup("there is no profiler for programs of this kind");
	else if (!ksandbox_finds(p->program))
		*why = kasprintf("%s is not installed", p->program);
	else
		found = profile_so(k, p, so, eval, name, why);
	if (!found && !*why)
		*why = kstrdup("the profiler failed");
	return found;
}

void
profile(struct keval *k, const struct subject *s, const char *so, json_t *eval)
{
	int64_t start = know_ns();
	long trial, branch;
	json_t *found;
	char *why;

	if (!is_wanted(k, s, eval))
		return;
	found =
	    profile_anew(k, so, eval, karch_id(s->name, &trial, &branch) ? s->name : NULL, &why);
	if (found) {
		eval_set(eval, "profile", found);
		eval_set(eval, "tier", json_integer(4));
		add_spent(eval, "profiling", start);
	} else {
		eval_set(eval, "profile_missing", kjson_text(why, strlen(why)));
	}
	free(why);
}
