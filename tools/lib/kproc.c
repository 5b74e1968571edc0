/* SPDX-License-Identifier: Apache-2.0 */
/* kproc: see kproc.h. */
#include "kproc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kutil.h"

static void
limit(int resource, uint64_t value)
{
	struct rlimit r = { value, value };

	if (value)
		setrlimit(resource, &r);
}

static int
compare_fd(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Close everything above stderr but the descriptors to keep and the one that reports a failed exec. */
static void
close_others(const struct kproc *p, int report)
{
	int keep[64], n = 0, from = 3;

	for (size_t i = 0; i < p->keep_count && n < (int)LEN(keep) - 1; i++) {
		fcntl(p->keep_fds[i], F_SETFD, 0);
		keep[n++] = p->keep_fds[i];
	}
	keep[n++] = report;
	qsort(keep, (size_t)n, sizeof *keep, compare_fd);
	for (int i = 0; i < n; i++) {
		if (keep[i] > from)
			syscall(SYS_close_range, (unsigned)from, (unsigned)keep[i] - 1, 0);
		from = keep[i] + 1;
	}
	syscall(SYS_close_range, (unsigned)from, ~0u, 0);
}

static _Noreturn void
child(const struct kproc *p, int in, int out, int err, int report)
{
	struct rlimit no_core = { 0, 0 };
	sigset_t none;
	int e;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		goto failed;
	if (p->cwd && chdir(p->cwd) < 0)
		goto failed;
	setrlimit(RLIMIT_CORE, &no_core);
	limit(RLIMIT_FSIZE, p->file_bytes);
	limit(RLIMIT_CPU, p->cpu_s);
	limit(RLIMIT_NOFILE, p->open_files);
	limit(RLIMIT_NPROC, p->processes);
	limit(RLIMIT_AS, p->memory_bytes);
	close_others(p, report);
	if (p->setup && p->setup(p->setup_arg))
		_exit(126);
	execvpe(p->argv[0], p->argv, p->envp ? p->envp : environ);
failed:
	e = errno;
	if (write(report, &e, sizeof e) < 0)
		_exit(125);
	_exit(127);
}

/* Kill what is left of this process's descendants; a subreaper adopts orphans, so a few rounds find them all. */
void
kproc_reap_all(void)
{
	char path[64];

	for (int round = 0; round < 200; round++) {
		FILE *f;
		int pid, found = 0;

		snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)syscall(SYS_gettid));
		f = fopen(path, "re");
		if (!f)
			return;
		while (fscanf(f, "%d", &pid) == 1) {
			found++;
			kill(pid, SIGKILL);
		}
		fclose(f);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (!found)
			return;
		usleep(round < 20 ? 500 : 10000);
	}
}

struct stream {
	int fd;
	struct kbuf buf;
};

/* Read what is there; false at end of file. */
static bool
drain(struct stream *s, size_t max, bool *flooded)
{
	char chunk[65536];
	ssize_t n = read(s->fd, chunk, sizeof chunk);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0) {
		close(s->fd);
		s->fd = -1;
		return false;
	}
	if (s->buf.len + (size_t)n > max) {
		n = (ssize_t)(max - s->buf.len);
		*flooded = true;
	}
	kbuf_add(&s->buf, chunk, (size_t)n);
	return true;
}

static void
feed(struct stream *in, const struct kproc *p, size_t *sent)
{
	ssize_t n = write(in->fd, (const char *)p->in + *sent, p->in_len - *sent);

	if (n > 0)
		*sent += (size_t)n;
	if ((n < 0 && errno != EAGAIN && errno != EINTR) || *sent == p->in_len) {
		close(in->fd);
		in->fd = -1;
	}
}

/* Move bytes until the child has closed its streams, ended, flooded us, or run out of time. */
static void
converse(const struct kproc *p, pid_t pid, int pidfd, struct stream s[3], struct kproc_result *r)
{
	size_t max = p->max_output ? p->max_output : (size_t)1 << 20, sent = 0;
	int64_t start = know_ns(), deadline = p->timeout_s > 0 ? start + (int64_t)(p->timeout_s * 1e9) : INT64_MAX;

	for (;;) {
		struct pollfd fds[4] = {
			{ s[0].fd, POLLOUT, 0 }, { s[1].fd, POLLIN, 0 }, { s[2].fd, POLLIN, 0 }, { pidfd, POLLIN, 0 },
		};
		int64_t left = deadline - know_ns();

		if (left <= 0) {
			r->timed_out = true;
			break;
		}
		if (poll(fds, 4, left > 60000000000 ? 60000 : (int)(left / 1000000) + 1) < 0 && errno != EINTR)
			break;
		if (s[0].fd >= 0 && fds[0].revents)
			feed(&s[0], p, &sent);
		for (int i = 1; i < 3; i++)
			if (s[i].fd >= 0 && fds[i].revents)
				drain(&s[i], max, &r->flooded);
		if (r->flooded)
			break;
		if (fds[3].revents) {
			/* Ended: take what is still in the pipes; a daemon that holds them open does not hold us. */
			for (int i = 1; i < 3; i++)
				while (s[i].fd >= 0 && !r->flooded && poll(&(struct pollfd){ s[i].fd, POLLIN, 0 }, 1, 0) > 0)
					drain(&s[i], max, &r->flooded);
			break;
		}
	}
	r->wall_s = (double)(know_ns() - start) * 1e-9;
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
}

int
kproc_run(const struct kproc *p, struct kproc_result *r)
{
	int in[2], out[2], err[2], report[2], pidfd, status, why = 0;
	struct stream s[3];
	pid_t pid;

	*r = (struct kproc_result){ .exit_code = -1 };
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGPIPE, SIG_IGN);
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0)
		child(p, in[0], out[1], err[1], report[1]);
	setpgid(pid, pid);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	close(report[1]);
	if (read(report[0], &why, sizeof why) == sizeof why) {
		close(in[1]), close(out[0]), close(err[0]), close(report[0]);
		waitpid(pid, &status, 0);
		errno = why;
		return -1;
	}
	close(report[0]);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	s[0] = (struct stream){ in[1], { 0 } };
	s[1] = (struct stream){ out[0], { 0 } };
	s[2] = (struct stream){ err[0], { 0 } };
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	if (!p->in || !p->in_len) {
		close(in[1]);
		s[0].fd = -1;
	}
	kbuf_add(&s[1].buf, "", 0);
	kbuf_add(&s[2].buf, "", 0);
	converse(p, pid, pidfd, s, r);
	for (int i = 0; i < 3; i++)
		if (s[i].fd >= 0)
			close(s[i].fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	close(pidfd);
	kproc_reap_all();
	if (WIFEXITED(status))
		r->exit_code = WEXITSTATUS(status);
	else
		r->signal = WTERMSIG(status);
	r->out = s[1].buf.data;
	r->out_len = s[1].buf.len;
	r->err = s[2].buf.data;
	r->err_len = s[2].buf.len;
	return 0;
}

void
kproc_result_free(struct kproc_result *r)
{
	free(r->out);
	free(r->err);
	*r = (struct kproc_result){ 0 };
}
