/* SPDX-License-Identifier: Apache-2.0 */
/* kstep: see kstep.h. */
#include "kstep.h"

#include <fcntl.h>

static char *step_file;
static pid_t step_process;

/* A line that cannot be written must not end an evaluation. */
static void
write_line(const char *path, int flags, const char *line)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
	size_t len = strlen(line);
	bool whole = fd >= 0 && write(fd, line, len) == (ssize_t)len;

	/* Truncate a longer old line afterwards, so that a reader never sees half a line. */
	if (whole && !flags)
		whole = ftruncate(fd, (off_t)len) == 0;
	if (fd >= 0)
		close(fd);
}

static double
now_s(void)
{
	return (double)know_ns() * 1e-9;
}

static void
note_end(int status, void *arg)
{
	char line[64];

	(void)arg;
	/* Not for a forked child that exits by itself. */
	if (getpid() != step_process)
		return;
	snprintf(line, sizeof line, "%d %.3f\n", status, now_s());
	write_line(step_file, O_APPEND, line);
}

void
kstep_begin(void)
{
	const char *steps = getenv("KILN_STEPS"), *target = getenv("KILN_TARGET"),
	           *words = getenv("KILN_WORDS");
	char *line, *status;

	if (!steps || !target)
		return;
	if (words)
		dup2(atoi(words), STDERR_FILENO);
	step_file = kasprintf("%s/%s", steps, target);
	for (char *p = step_file + strlen(steps) + 1; *p; p++)
		if (*p == '/')
			*p = ':';
	line = kasprintf("%.3f %s\n", now_s(), target);
	status = kasprintf("%s.status", step_file);
	unlink(status);
	write_line(step_file, O_TRUNC, line);
	setenv("KILN_STATUS", status, 1);
	unsetenv("KILN_TARGET");
	step_process = getpid();
	on_exit(note_end, NULL);
	free(status);
	free(line);
}

bool
kstatus(const char *fmt, ...)
{
	const char *path = getenv("KILN_STATUS");
	char text[1024];
	va_list ap;

	if (!path)
		return false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text - 1, fmt, ap);
	va_end(ap);
	kmask_controls(text);
	strcat(text, "\n");
	write_line(path, 0, text);
	return true;
}
