/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kstep: the shell of pipeline.mk's recipes: `kstep TARGET -c RECIPE`, or `kstep -c COMMAND` in a
 * $(shell). kcampaign learns from it what is being made, since when, and how it ended, in the file
 * that it writes for each target in the folder that KILN_STEPS names:
 *
 *	SINCE trials/007/02/eval.ndjson
 *	STATUS UNTIL                          once it has ended
 *
 * Times are seconds of the monotonic clock. What the tools have to say while they work goes into
 * a file of that name with ".status" (kstatus). Their messages go to the descriptor in KILN_WORDS,
 * so that they do not mix with make's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_STARTED = 127, BY_SIGNAL = 128, WORDS_MAX = 1000 };

static volatile pid_t recipe;
static volatile sig_atomic_t stopped_by;

static void
pass_on(int sig)
{
	stopped_by = sig;
	if (recipe > 0)
		kill(recipe, sig);
}

static double
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Nothing outlives make: we end with it, and the recipe with us. */
static void
end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(BY_SIGNAL + SIGTERM);
}

/* A plain command needs no shell, which would stand between us and it. */
static void
exec_plain(const char *text)
{
	char *copy = strdup(text), *argv[WORDS_MAX + 1];
	int n = 0;

	for (char *w = copy ? strtok(copy, " \t") : NULL; w && n < WORDS_MAX;
	     w = strtok(NULL, " \t"))
		argv[n++] = w;
	argv[n] = NULL;
	if (n && n < WORDS_MAX) {
		execvp(argv[0], argv);
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
		_exit(NOT_STARTED);
	}
}

static void
exec_recipe(const char *text)
{
	const char *words = getenv("KILN_WORDS");

	if (words)
		dup2(atoi(words), STDERR_FILENO);
	if (!strpbrk(text, "|&;<>()$`\\\"'*?[]#~=%!{}\n"))
		exec_plain(text);
	execl("/bin/sh", "sh", "-c", text, (char *)NULL);
	fprintf(stderr, "/bin/sh: %s\n", strerror(errno));
	_exit(NOT_STARTED);
}

/* The exit status of RECIPE, as a shell tells it. */
static int
run_recipe(const char *text)
{
	struct sigaction sa = { .sa_handler = pass_on };
	/* From a terminal the recipe gets this one, too. */
	void (*interrupted)(int) = signal(SIGINT, SIG_IGN);
	pid_t self = getpid();
	int status;

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	recipe = fork();
	if (recipe == 0) {
		signal(SIGINT, interrupted);
		end_with(self);
		exec_recipe(text);
	}
	/* One that came before there was anything to stop. */
	if (stopped_by)
		kill(recipe, stopped_by);
	while (waitpid(recipe, &status, 0) < 0)
		if (errno != EINTR)
			return NOT_STARTED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
}

/* A line that is not written must not end an evaluation. */
static void
note(const char *file, int flags, const char *line, int len)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0666);

	if (fd < 0)
		return;
	if (write(fd, line, (size_t)len) != len)
		fprintf(stderr, "kstep: %s: %s\n", file, strerror(errno));
	close(fd);
}

/* Make TARGET, and keep its file of the folder STEPS up to date. */
static int
make_target(const char *steps, const char *target, const char *text)
{
	char file[4096], status[4200], line[4096];
	int code;

	snprintf(file, sizeof file, "%s/%s", steps, target);
	for (char *p = file + strlen(steps) + 1; *p; p++)
		if (*p == '/')
			*p = ':';
	snprintf(status, sizeof status, "%s.status", file);
	unlink(status);
	setenv("KILN_STATUS", status, 1);
	note(file, O_TRUNC, line, snprintf(line, sizeof line, "%.3f %s\n", now_s(), target));
	code = run_recipe(text);
	note(file, O_APPEND, line, snprintf(line, sizeof line, "%d %.3f\n", code, now_s()));
	return code;
}

int
main(int argc, char **argv)
{
	const char *steps = getenv("KILN_STEPS");

	if (argc < 3)
		return 2;
	end_with(getppid());
	if (!steps || argc < 4)
		exec_recipe(argv[argc - 1]);
	return make_target(steps, argv[1], argv[3]);
}
