/* SPDX-License-Identifier: Apache-2.0 */
/*
 * killat N COMMAND...: run the command, and kill it (SIGKILL) when it is about to make its Nth
 * system call that changes what others see: a new name of a file, a new folder, a name removed, a
 * file created, a process started. Ends with 0 when it was killed, with 1 when the command was done
 * before, with 2 when it cannot be traced. Processes that it starts are not counted.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int
changes(const struct __ptrace_syscall_info *i)
{
	switch (i->entry.nr) {
#ifdef SYS_rename
	case SYS_rename:
	case SYS_unlink:
	case SYS_mkdir:
	case SYS_vfork:
#endif
	case SYS_renameat:
	case SYS_renameat2:
	case SYS_unlinkat:
	case SYS_mkdirat:
	case SYS_clone:
	case SYS_clone3:
		return 1;
	case SYS_openat:
		return (i->entry.args[2] & O_CREAT) != 0;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct __ptrace_syscall_info info;
	long left = argc > 2 ? atol(argv[1]) : 0;
	int status;
	pid_t pid;

	if (left < 1 || (pid = fork()) < 0)
		return 2;
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
			_exit(2);
		raise(SIGSTOP);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0)
		return 2;
	for (int sig = 0;; sig = 0) {
		if (ptrace(PTRACE_SYSCALL, pid, 0, sig) < 0 || waitpid(pid, &status, 0) < 0)
			return 2;
		if (!WIFSTOPPED(status))
			return 1;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
			continue;
		}
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) <= 0)
			return 2;
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY && changes(&info) && !--left) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return 0;
		}
	}
}
