/* SPDX-License-Identifier: Apache-2.0 */
/* kstep: see kstep.h. */
#include "kstep.h"

static pid_t step_process;

/*
 * Adds a line about the step of this process and its children; false if there is none. A line that
 * cannot be written must not end an evaluation. Lines of parallel branches do not mix, because each
 * is one write.
 */
static bool
write_line(const char *state, const char *text)
{
	const char *file = getenv("KILN_STEPS"), *target = getenv("KILN_STEP");
	int fd = file && target ? open(file, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW) : -1;

	if (fd >= 0) {
		dprintf(fd, "%.3f %s %s %s\n", (double)know_ns() * 1e-9, target, state, text);
		close(fd);
	}
	return file && target;
}

static void
note_end(int status, void *arg)
{
	char state[16];

	(void)arg;
	/* Not for a forked child that exits by itself. */
	if (getpid() != step_process)
		return;
	snprintf(state, sizeof state, "%d", status);
	write_line(state, "");
}

void
kstep_begin(void)
{
	const char *target = getenv("KILN_TARGET"), *words = getenv("KILN_WORDS");

	if (!target)
		return;
	setenv("KILN_STEP", target, 1);
	unsetenv("KILN_TARGET");
	if (!write_line(KSTEP_RUNS, ""))
		return;
	if (words)
		dup2(atoi(words), STDERR_FILENO);
	step_process = getpid();
	on_exit(note_end, NULL);
}

bool
kstatus(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	kmask_controls(text);
	return write_line(KSTEP_RUNS, text);
}
