/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sanitizers on the winner, when it is verified: every workload for which there is time, the
 * smallest first, in the sandbox, with each tensor in a separate allocation of exactly its size
 * (kharness --solo --apart). Results may be right by luck if a kernel reads beyond its inputs, or
 * has races; a finding in the candidate's own code rejects the kernel.
 */
#include <sys/utsname.h>

#include "findings.h"
#include "keval.h"

static const char *const host_tools[] = { "asan", "ubsan" };
static const char *const device_tools[] = { "memcheck", "racecheck", "initcheck" };

/*
 * Attributes that would hide a function from a sanitizer have no effect in this build. Unaligned
 * access by a cast and shifts into the sign bit are formally faults, but every compiler that we use
 * handles them as intended.
 */
static const char *const host_flags[] = { "-g1", "-fno-omit-frame-pointer",
	"-fsanitize=address,undefined", "-fno-sanitize=alignment,shift-base",
	"-U__SANITIZE_ADDRESS__",
	"-Dno_sanitize(...)=", "-D__no_sanitize__(...)=", "-Dno_sanitize_address=",
	"-D__no_sanitize_address__=", "-Dno_sanitize_undefined=", "-D__no_sanitize_undefined__=" };

static void
unavailable(json_t *rows, const char *detail)
{
	const char *const *tools = is_gpu() ? device_tools : host_tools;

	kforeach_of(tool, tools, is_gpu() ? LEN(device_tools) : LEN(host_tools))
		findings_row(rows, *tool, "unavailable", detail, NULL);
}

static long
count_of(const char *text, const char *what)
{
	long n = 0;

	for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

/* PREFIX, followed by the candidate's calls. */
static void
run_under(const char *const *prefix, const char *so, struct tool_run *r)
{
	double limit = kcamp_num("eval.sanitize_s");
	char *work = ksandbox_work_new();
	const char *const options[] = { "--apart", "--run-timeout-s",
		kshown("%.3f", limit / 2 > 0.01 ? limit / 2 : 0.01), NULL };
	struct words w = { .count = 0 };
	struct kproc_result out;
	const char *counted;

	*r = (struct tool_run){ 0 };
	words_list(&w, prefix);
	if (tool_solo(work, NULL, &w, so, options, limit, &out) == 0) {
		r->text = kasprintf("%s\n%s", out.out, out.err);
		r->timed_out = out.timed_out;
		r->ended = out.exit_code == 0 && !out.signal && !out.timed_out && !out.flooded;
		r->wall_s = out.wall_s;
		counted = strstr(out.out, "apart: ");
		r->count = counted ? atol(counted + 7) : 0;
		r->done = count_of(out.out, "apart: done ");
		kproc_result_free(&out);
	}
	ksandbox_work_free(work);
}

/* ---- programs for the CPU: a separate build, with the compiler's sanitizers ---- */

/* The run-time library that must be loaded before everything else, or NULL; the caller frees. */
static char *
runtime_library(void)
{
	const char *compiler = kjson_str_or(keval.task, "build.compiler", "gcc");
	struct utsname machine;
	char *found = NULL;

	uname(&machine);
	for (int clang = 0; clang < 2; clang++) {
		const char *name =
		    clang ? kshown("libclang_rt.asan-%s.so", machine.machine) : "libasan.so";
		char *argv[] = { (char *)compiler, (char *)kshown("-print-file-name=%s", name),
			NULL };
		struct kproc p = { .argv = argv, .timeout_s = 20 };
		struct kproc_result r;

		if (!found && kproc_run(&p, &r) == 0) {
			r.out[strcspn(r.out, "\n")] = '\0';
			/* A name without a folder is returned unchanged: there is no such file. */
			found = strchr(r.out, '/') ? realpath(r.out, NULL) : NULL;
			kproc_result_free(&r);
		}
	}
	return found;
}

static void
run_host_tools(const char *library, const char *so, json_t *rows)
{
	const char *const prefix[] = { "env", kshown("LD_PRELOAD=%s", library),
		kshown("ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null="
		       "1:"
		       "hard_rss_limit_mb=%lld",
		    (long long)kcamp_int("eval.memory_mb")),
		"UBSAN_OPTIONS=print_stacktrace=0", NULL };
	struct tool_run r;
	int lock = klock_cpu(false);

	run_under(prefix, so, &r);
	close(lock);
	findings_asan(rows, &r);
	findings_ubsan(rows, &r);
	free(r.text);
}

static void
sanitize_host(json_t *rows)
{
	auto_free char *library = runtime_library(), *log = NULL, *so = NULL;
	json_auto_t *flags = json_array();

	kforeach(flag, host_flags)
		kjson_add(flags, *flag);
	if (!library)
		unavailable(rows, "the task's compiler has no sanitizer libraries");
	else if (!(so = build_cached(subject, flags, &log))) {
		unavailable(rows, kshown("it does not build with sanitizers: %s", log ?: ""));
	} else {
		run_host_tools(library, so, rows);
	}
}

/* ---- CUDA: the program that was judged, under compute-sanitizer ---- */

static void
run_device_tools(const char *so, json_t *rows)
{
	int lock = tool_lock();

	kforeach(tool, device_tools) {
		const char *const prefix[] = { "compute-sanitizer", "--tool", *tool,
			"--print-level", "error", "--print-limit", "50", NULL };
		struct tool_run r;

		run_under(prefix, so, &r);
		findings_device(rows, *tool, &r);
		free(r.text);
	}
	close(lock);
}

static void
sanitize_device(json_t *rows)
{
	json_auto_t *flags = json_pack("[s]", "-lineinfo");
	auto_free char *log = NULL, *so = build_cached(subject, flags, &log);

	if (so)
		run_device_tools(so, rows);
	else
		unavailable(rows, "it does not build with -lineinfo");
}

/* ---- both ---- */

/* Other kinds of programs have no tools yet. */
static const char *
not_run(void)
{
	const char *tool = kcamp_backend()->sanitizer;

	if (!(kcamp_num("eval.sanitize_s") > 0))
		return "eval.sanitize_s is 0";
	if (kcamp_json("eval.build"))
		return "the campaign's own command builds, without sanitizers";
	if (is_gpu() && !tool)
		return "no sanitizer is known for this backend";
	if (is_device_only())
		return "a candidate of device code alone has no function that a tool can call";
	if (is_gpu() && !ksandbox_finds(tool))
		return "compute-sanitizer is not installed (it is part of the CUDA toolkit)";
	return NULL;
}

/* Sets its status and a reason, and adds a line to its log. */
static void
refuse(const char *tool, const char *detail)
{
	const char *log = kshown("%s%s found a fault in the kernel, whatever its results: %s\n",
	    kjson_str(eval, "log"), tool, detail);

	eval_fail(STATUS_RUN_ERROR, tool, "%s", detail);
	kjson_set(eval, "log", kjson_string(log));
}

void
sanitize(void)
{
	json_t *rows = json_array();
	const char *why = not_run();

	if (why)
		unavailable(rows, why);
	else if (is_gpu())
		sanitize_device(rows);
	else
		sanitize_host(rows);
	kjson_foreach(row, rows) {
		const char *tool = kjson_str(row, "tool"), *status = kjson_str(row, "status");

		if (!strcmp(status, "findings"))
			refuse(tool, kjson_str(row, "detail"));
		else if (strcmp(status, "clean"))
			kwarn("%s: %s: %s", tool, status, kjson_str(row, "detail"));
	}
	kjson_set(eval, "sanitizers", rows);
}
