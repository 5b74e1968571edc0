/* SPDX-License-Identifier: Apache-2.0 */
/* Before a campaign begins on this machine: is everything available that its evaluations need? */
#include <sys/utsname.h>

#include "keval.h"
#include "ksandbox.h"

static void
check_sandbox(struct keval *k)
{
	sandbox_level(k);
}

/* kiln's data files that candidates are judged by. */
static void
check_data(struct keval *k)
{
	json_auto_t *reasons = json_array();

	scan_source(k, NULL, "", reasons);
}

/* The oracle is built once for all candidates, by the same compiler in the same sandbox. */
static void
check_compiler(struct keval *k)
{
	if (!kcamp_json(k->camp, "eval.correctness"))
		oracle_so(k);
}

/*
 * Every part ends the program with its own message when something is missing; here a child process
 * runs it and ends instead.
 */
static int
try(struct keval *k, void (*check)(struct keval *k))
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		kdie_errno(K_IO, "preflight");
	if (pid == 0) {
		check(k);
		_exit(K_OK);
	}
	if (waitpid(pid, &status, 0) < 0)
		kdie_errno(K_IO, "preflight");
	return WIFEXITED(status) ? WEXITSTATUS(status) : K_IO;
}

/* Each check needs those before it: what follows from a missing part is not reported again. */
static void
need(struct keval *k)
{
	static void (*const checks[])(
	    struct keval * k) = { check_sandbox, check_data, check_compiler, lint_task };

	for (size_t i = 0; i < LEN(checks); i++) {
		int code = try(k, checks[i]);

		if (code)
			exit(code);
	}
}

void
preflight(struct keval *k)
{
	auto_buf struct kbuf text = { 0 };
	struct utsname here;

	uname(&here);
	kbuf_printf(&text, "%s: kiln %s, %ld CPUs", here.nodename, kversion_string(),
	    sysconf(_SC_NPROCESSORS_ONLN));
	if (!is_null(k)) {
		need(k);
		kbuf_printf(&text, ", sandbox %s, compiler %s", ksandbox_name(sandbox_level(k)),
		    kjson_str_or(k->task, "build.compiler", "gcc"));
	}
	kout_line(text.data, text.len);
}
