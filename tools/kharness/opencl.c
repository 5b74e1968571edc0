/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: the judge's side of OpenCL. The judge has no driver in its process: krun-opencl reports
 * what the device is, and the candidate's launch lines determine what krun-opencl launches.
 */

#include "kharness.h"
#include "ksandbox.h"

enum { ANSWER_MAX = 1 << 20, OBJECT_MAX = 64 << 20, FACTS_S = 60 };

/*
 * Variables that name the driver and the device for krun-opencl (kcl.h); NULL-terminated, the
 * caller frees.
 */
char **
opencl_environment(void)
{
	static const char *const passed[] = { "KILN_OPENCL", "KILN_OPENCL_DEVICE",
		"CUDA_VISIBLE_DEVICES" };
	char **env = kcalloc(LEN(passed) + 3, sizeof *env);
	size_t n = 0;

	/* PoCL's threads. */
	env[n++] = kasprintf("POCL_MAX_PTHREAD_COUNT=%ld", judge.o.threads);
	env[n++] = kstrdup("POCL_AFFINITY=0");
	kforeach(name, passed)
		if (getenv(*name))
			env[n++] = kasprintf("%s=%s", *name, getenv(*name));
	return env;
}

/* The device as the runner will see it: queried in a sandbox like the runner's. */
void
opencl_choose(void)
{
	auto_free char *program = khelper_path(judge.o.backend->runner);
	char *argv[] = { (char[]){ "/kiln/runner" }, (char[]){ "--facts" }, NULL };
	auto_free char **env = opencl_environment();
	struct ksandbox_bind binds[] = { { program, "/kiln/runner" } };
	struct ksandbox s = { .level = ksandbox_level(judge.o.sandbox),
		.profile = KSANDBOX_BUILD,
		.binds = binds,
		.bind_count = LEN(binds),
		.gpu = true,
		.env = env,
		.work = ksandbox_work_new() };
	struct kproc p = { .argv = argv, .timeout_s = FACTS_S, .max_output = ANSWER_MAX };
	auto_run struct kproc_result r;

	if (ksandbox_run(&s, &p, &r) < 0)
		kdie(K_MISSING, "krun-opencl did not start in the sandbox");
	ksandbox_work_free((char *)s.work);
	judge.opencl = r.exit_code ? NULL : json_loadb(r.out, r.out_len, 0, NULL);
	if (!judge.opencl)
		kdie(K_MISSING, "no OpenCL device: %.300s",
		    r.err_len ? r.err : "krun-opencl failed");
	/*
	 * For testing the copies without such a device; it gives a CPU's kernels time that is not
	 * measured.
	 */
	judge.copies = !kjson_bool(judge.opencl, "cpu") || getenv("KILN_OPENCL_COPY");
	judge.device_uuid = kasprintf("opencl-%.16s",
	    ksha256_of(kshown(
	        "%s %s", kjson_str(judge.opencl, "platform"), kjson_str(judge.opencl, "device"))));
	memory_align((size_t)kjson_num(judge.opencl, "alignment"));
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
}

bool
launches_present(const char *file)
{
	size_t len, text_len, code_len;
	const char *text, *code;
	auto_free char *data = kread_file(file, OBJECT_MAX, &len);

	return data && klaunch_unpack(data, len, &text, &text_len, &code, &code_len);
}

bool
launches_read(const char *file, struct klaunch_list *list, char *why, size_t why_len)
{
	size_t len, text_len, code_len;
	const char *text, *code;
	auto_free char *data = kread_file(file, OBJECT_MAX, &len), *source = NULL;
	bool good = false;

	if (data && klaunch_unpack(data, len, &text, &text_len, &code, &code_len)) {
		source = kstrndup(text, text_len);
		good = klaunch_parse(source, list, why, why_len);
	} else {
		snprintf(why, why_len, "the file was not made by krun-opencl --build");
	}
	return good;
}

bool
launches_size(const struct klaunch_list *list, const struct ktask_workload *w,
    struct krun_launch *to, char *why, size_t why_len)
{
	struct klaunch_size size;

	for (size_t i = 0; i < list->count; i++) {
		if (!klaunch_eval(&list->at[i], judge.task, w, &size, why, why_len))
			return false;
		memcpy(to[i].grid, size.grid, sizeof size.grid);
		memcpy(to[i].block, size.block, sizeof size.block);
		to[i].shared = size.shared;
	}
	return true;
}
