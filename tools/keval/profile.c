/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tier T4: a profiler over one call of a promising candidate (kharness --solo), sandboxed like the
 * candidate itself, at a time when nobody measures; kprofile makes findings of what it prints. A
 * profiler that fails costs the findings, never the verdict.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "keval.h"
#include "kio.h"
#include "klock.h"
#include "ksandbox.h"
#include "kutil.h"

enum { PROFILE_TIMEOUT_S = 180 }; /* a profiler replays each call dozens of times */
#include "status.h"

enum { OUTPUT_MAX = 64 << 20, ARGS_MAX = 48 };

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

/* Near the incumbent, beside which it was timed again, or the first of all. */
static bool
is_wanted(
    const struct keval *k, const struct subject *s, const struct profiler *p, const json_t *eval)
{
	const char *when = kcamp_str(k->camp, "eval.profile");

	/* Device code alone has no function that a profiler could wrap itself around. */
	if (!p || s->trusted || is_device_only(k) || !strcmp(when, "off") ||
	    status_at(eval, "status") != STATUS_CORRECT)
		return false;
	if (!ksandbox_finds(p->program)) {
		if (strcmp(when, "auto"))
			kwarn("eval.profile: %s is not installed; no profile", p->program);
		return false;
	}
	if (!strcmp(when, "all"))
		return true;
	if (!strcmp(when, "auto") && !is_gpu(k))
		return false;
	return json_object_get(eval, "pairs") || !s->incumbent;
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
    char **argv)
{
	struct ksandbox s = { .level = sandbox_level(k),
		.profile = KSANDBOX_BUILD,
		.work = work,
		.binds = binds,
		.bind_count = bind_count,
		.gpu = is_gpu(k),
		.processes = 1024,
		.file_bytes = (uint64_t)1 << 30 };
	struct kproc p = { .argv = argv, .max_output = OUTPUT_MAX, .timeout_s = PROFILE_TIMEOUT_S };
	struct kproc_result r;
	char *out = NULL;

	if (ksandbox_run(&s, &p, &r) < 0)
		return NULL;
	if (r.exit_code == 0 && !r.timed_out && !r.flooded) {
		out = kstrndup(r.out, r.out_len);
	} else {
		const char *words = r.err_len ? r.err : r.out;

		kwarn("profile: %s %s: %.300s", argv[0], r.timed_out ? "took too long" : "failed",
		    words ? words : "");
	}
	kproc_result_free(&r);
	return out;
}

/*
 * The timed workload of EVAL that takes longest: kprofile would look at no other, and each costs
 * seconds.
 */
static const char *
longest(const json_t *eval)
{
	const json_t *timing = json_object_get(eval, "timing"), *worst = NULL, *row;
	size_t i;

	json_array_foreach((json_t *)timing, i, row)
		if (!worst ||
		    kjson_num_or(row, "median_ns", 0) > kjson_num_or(worst, "median_ns", 0))
			worst = row;
	return kjson_str_or(worst, "workload", NULL);
}

static bool
run_profiler(struct keval *k, const struct profiler *p, const char *work, const char *so,
    const char *workload)
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
	out = task && object ? tool_run(k, work, binds, LEN(binds), argv) : NULL;
	free(memory);
	free(object);
	free(task);
	free(program);
	free(out);
	return out != NULL;
}

/* Every result of the profiler as a file of its own, in FOLDER; false when one is missing. */
static bool
collect(struct keval *k, const struct profiler *p, const char *work, const char *folder)
{
	for (size_t i = 0; i < LEN(p->result) && p->result[i].file; i++) {
		char *argv[ARGS_MAX], *text, *path = kasprintf("%s/%s", folder, p->result[i].file);
		size_t n = 0;

		add(argv, &n, p->result[i].export);
		text = n ? tool_run(k, work, NULL, 0, argv)
		         : work_read(work, p->result[i].file, OUTPUT_MAX, &n);
		if (!text || kwrite_file(path, text, strlen(text)) < 0) {
			free(text);
			free(path);
			return false;
		}
		free(text);
		free(path);
	}
	return true;
}

static json_t *
findings(const struct profiler *p, const char *folder)
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
			kwarn("profile: %.300s", r.err ? r.err : "");
		kproc_result_free(&r);
	}
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	return found;
}

/* The profiler over the program in SO, while nobody measures; NULL when it gave nothing. */
static json_t *
profile_so(struct keval *k, const struct profiler *p, const char *so, const json_t *eval)
{
	char *work = ksandbox_work_new(), *folder = ksandbox_work_new(), *device;
	json_t *found = NULL;
	bool ran;
	int lock;

	device = is_gpu(k)
	    ? kasprintf("gpu-%s", kjson_str_or(eval, "environment.device.uuid", "unknown"))
	    : kstrdup("cpu");
	lock = klock_device(device, true, true);
	ran = run_profiler(k, p, work, so, longest(eval));
	close(lock);
	if (ran && collect(k, p, work, folder))
		found = findings(p, folder);
	ksandbox_work_free(folder);
	ksandbox_work_free(work);
	free(device);
	return found;
}

void
profile(struct keval *k, const struct subject *s, const char *so, json_t *eval)
{
	const struct profiler *p = profiler_of(k);
	json_t *found = is_wanted(k, s, p, eval) ? profile_so(k, p, so, eval) : NULL;

	if (found) {
		eval_set(eval, "profile", found);
		eval_set(eval, "tier", json_integer(4));
	}
}

json_t *
profile_anew(struct keval *k, const char *so, const json_t *eval, const char **why)
{
	const struct profiler *p = profiler_of(k);
	json_t *found;

	if (!strcmp(kcamp_str(k->camp, "eval.profile"), "off"))
		*why = "eval.profile is off";
	else if (!p || is_device_only(k))
		*why = "there is no profiler for programs of this kind";
	else if (!ksandbox_finds(p->program))
		*why = "the profiler is not installed";
	else if (!(found = profile_so(k, p, so, eval)))
		*why = "the profiler failed";
	else
		return found;
	return NULL;
}
