/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kstep COMMAND...: runs a recipe of pipeline.mk whose program is not one of kiln's own, such as
 * ssh or a shell, and records what it makes, when it started and how it ends (kutil.h).
 */
#include "kutil.h"

#include <sys/prctl.h>

enum { NOT_STARTED = 127, BY_SIGNAL = 128 };

static volatile pid_t command;
static volatile sig_atomic_t stopped_by;

static void
pass_on(int sig)
{
	stopped_by = sig;
	if (command > 0)
		kill(command, sig);
}

static _Noreturn void
exec_command(char **argv, pid_t parent)
{
	/* It must end with us, as we end with make. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(NOT_STARTED);
	execvp(argv[0], argv);
	kwarn("%s: %s", argv[0], strerror(errno));
	_exit(NOT_STARTED);
}

int
main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = pass_on };
	pid_t self = getpid();
	int status;

	kutil_init("kstep");
	if (argc < 2)
		kdie(K_USAGE, "usage: kstep COMMAND...");
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	command = fork();
	if (command == 0)
		exec_command(argv + 1, self);
	/* A signal that arrived before the child was started. */
	if (stopped_by)
		kill(command, stopped_by);
	if (TEMP_FAILURE_RETRY(waitpid(command, &status, 0)) < 0)
		kdie_io("%s", argv[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
}
