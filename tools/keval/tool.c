/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines, and running system programs on a candidate, in the sandbox. */
#include "keval.h"

enum { OUTPUT_MAX = 64 << 20, REASON_MAX = 300 };

static void
add_word(struct words *w, const char *word)
{
	if (w->count == WORDS_MAX)
		kdie_usage("a command has more than %d words", WORDS_MAX);
	w->at[w->count++] = (char *)word;
}

void
words_list(struct words *w, const char *const *list)
{
	for (; *list; list++)
		add_word(w, *list);
}

void
words_json(struct words *w, const json_t *list)
{
	kjson_foreach(s, list)
		if (json_is_string(s))
			add_word(w, json_string_value(s));
}

static int
run_tool(const char *work, char *const *around, const struct ksandbox_bind *binds,
    size_t bind_count, const struct words *w, double limit_s, struct kproc_result *r)
{
	struct ksandbox s = { .around = around,
		.level = sandbox_level(),
		.profile = KSANDBOX_BUILD,
		.work = work,
		.binds = binds,
		.bind_count = bind_count,
		.gpu = is_gpu(),
		.processes = 1024,
		.file_bytes = (uint64_t)1 << 30 };
	struct kproc p = { .argv = w->at, .max_output = OUTPUT_MAX, .timeout_s = limit_s };

	return ksandbox_run(&s, &p, r);
}

/* The last words of a tool, which give the reason for its end. */
static const char *
end_of(const char *text)
{
	size_t n = text ? strlen(text) : 0;

	return n > REASON_MAX ? text + n - REASON_MAX : n ? text : "no message";
}

char *
forced_end(const struct kproc_result *r, int max)
{
	return r->timed_out ? kasprintf("stopped after %.3g s", r->wall_s)
	    : r->flooded    ? kasprintf("stopped: it printed more than %d MiB", max >> 20)
	    : r->signal     ? kasprintf("killed by signal %d (%s)", r->signal, strsignal(r->signal))
	                    : NULL;
}

bool
ended_well(const struct kproc_result *r)
{
	return r->exit_code == 0 && !r->timed_out && !r->flooded;
}

int
tool_lock(void)
{
	auto_free char *device = is_gpu()
	    ? kasprintf("gpu-%s", kjson_str_or(eval, "environment.device.uuid", "unknown"))
	    : kstrdup("cpu");

	return klock_device(device, true, true);
}

char *
tool_output(const char *name, struct kproc_result *r, char **why)
{
	auto_free char *end = forced_end(r, OUTPUT_MAX);
	char *out = NULL;

	if (ended_well(r))
		out = kstrndup(r->out, r->out_len);
	else if (end)
		*why = kasprintf("%s was %s", name, end);
	else
		*why = kasprintf("%s failed: %s", name, end_of(r->err_len ? r->err : r->out));
	kproc_result_free(r);
	return out;
}

char *
tool_run(const char *work, const struct ksandbox_bind *binds, size_t bind_count,
    const struct words *w, double limit_s, char **why)
{
	struct kproc_result r;

	*why = NULL;
	if (run_tool(work, NULL, binds, bind_count, w, limit_s, &r) == 0)
		return tool_output(w->at[0], &r, why);
	*why = kasprintf("%s did not start", w->at[0]);
	return NULL;
}

int
tool_solo(const char *work, char *const *around, struct words *w, const char *so,
    const char *const *options, double limit_s, struct kproc_result *r)
{
	auto_free char *task = realpath(keval.task_file, NULL), *object = realpath(so, NULL);
	const struct ksandbox_bind binds[] = { { ktool_path("kharness"), "/kiln/kharness" },
		{ task, "/kiln/task.json" }, { object, "/kiln/kernel.so" } };

	words_add(w, binds[0].inside, "--solo", "-t", binds[1].inside, "-s", keval.set, "--backend",
	    kcamp_str("backend"));
	words_list(w, options);
	words_add(w, binds[2].inside);
	return task && object ? run_tool(work, around, binds, LEN(binds), w, limit_s, r) : -1;
}
