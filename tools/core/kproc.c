/* SPDX-License-Identifier: Apache-2.0 */
/* kproc: see kproc.h. */
#include "kproc.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { KPROC_MAX = 64, KPROC_KEEP_MAX = 60 };

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

/*
 * Close everything above stderr except the descriptors to keep and the one that reports a failed
 * exec.
 */
static void
close_others(const struct kproc *p, int report)
{
	int keep[KPROC_KEEP_MAX + 1], n = 0, from = 3;

	kforeach_of(fd, p->keep_fds, p->keep_count) {
		fcntl(*fd, F_SETFD, 0);
		keep[n++] = *fd;
	}
	keep[n++] = report;
	qsort(keep, (size_t)n, sizeof *keep, compare_fd);
	kforeach_of(each, keep, n) {
		if (*each > from)
			syscall(SYS_close_range, (unsigned)from, (unsigned)*each - 1, 0);
		from = *each + 1;
	}
	syscall(SYS_close_range, (unsigned)from, ~0u, 0);
}

/* Runs in the child: only calls that are safe after fork. */
static _Noreturn void
child(const struct kproc *p, const int stdio[3], pid_t parent, int report)
{
	struct rlimit no_core = { 0, 0 };
	sigset_t none;
	int e;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(125);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	for (int i = 0; i < 3; i++)
		if (dup2(stdio[i], i) < 0)
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
	execvpe(p->argv[0], p->argv, p->envp ?: environ);
failed:
	e = errno;
	if (write(report, &e, sizeof e) < 0)
		_exit(125);
	_exit(127);
}

/* Children that kproc_spawn started and nobody has killed yet. */
static pid_t running[KPROC_MAX];
static size_t running_count;

static bool
is_running(pid_t pid)
{
	return kany(kforeach_of(one, running, running_count), *one == pid);
}

static void
forget(pid_t pid)
{
	for (size_t i = 0; i < running_count; i++)
		if (running[i] == pid)
			running[i--] = running[--running_count];
}

/*
 * Kill children that nobody keeps; a subreaper adopts orphans, so a few rounds find every
 * descendant of a dead child.
 */
static void
sweep(void)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)syscall(SYS_gettid));
	for (int round = 0; round < 200; round++) {
		FILE *f = fopen(path, "re");
		int pid, found = 0;

		if (!f)
			return;
		while (fscanf(f, "%d", &pid) == 1) {
			if (is_running(pid))
				continue;
			/* Count dead ones too: only now do we adopt what they leave behind. */
			kill(pid, SIGKILL);
			waitpid(pid, NULL, WNOHANG);
			found++;
		}
		fclose(f);
		if (!found)
			return;
		usleep(round < 20 ? 500 : 10000);
	}
}

void
kproc_reap_all(void)
{
	running_count = 0;
	sweep();
}

/* Wait for the exec to succeed: 0, or the errno that the child reports. */
static int
await_exec(int report)
{
	int why;
	ssize_t n = TEMP_FAILURE_RETRY(read(report, &why, sizeof why));

	return n == sizeof why ? why : 0;
}

static int
fail(int why)
{
	errno = why;
	return -1;
}

pid_t
kproc_spawn(const struct kproc *p, const int stdio[3])
{
	auto_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int report[2], fds[3], why;
	pid_t parent = getpid(), pid;

	if (running_count == LEN(running) || p->keep_count > KPROC_KEEP_MAX)
		return fail(EINVAL);
	if (null < 0 || pipe2(report, O_CLOEXEC) < 0)
		return -1;
	for (int i = 0; i < 3; i++)
		fds[i] = stdio[i] < 0 ? null : stdio[i];
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (pid == 0)
		child(p, fds, parent, report[1]);
	why = pid < 0 ? errno : 0;
	close(report[1]);
	if (pid > 0) {
		setpgid(pid, pid);
		why = await_exec(report[0]);
	}
	close(report[0]);
	if (why) {
		if (pid > 0)
			waitpid(pid, NULL, 0);
		return fail(why);
	}
	running[running_count++] = pid;
	return pid;
}

int
kproc_kill(pid_t pid)
{
	int status = -1;

	if (!is_running(pid))
		return -1;
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
	forget(pid);
	sweep();
	return status;
}

enum { IN, OUT, ERR };

struct stream {
	int fd;
	struct kbuf buf;
};

/* Read what is available; false at end of file. */
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

/* Handle what has arrived on stream I of the child. */
static void
take(const struct kproc *p, struct stream s[3], int i, struct kproc_result *r)
{
	size_t had = s[i].buf.len;

	drain(&s[i], p->max_output ?: (size_t)1 << 20, &r->flooded);
	if (i == ERR && p->pass_err && s[i].buf.len > had)
		kpass(s[i].buf.data + had, s[i].buf.len - had);
}

static bool
is_readable(int fd)
{
	return poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 0) > 0;
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

/*
 * Wait for the streams, the child's end or LEFT ns; true when it has ended. fds[3] may be -1: an
 * old kernel.
 */
static bool
await(struct pollfd fds[4], pid_t pid, int64_t left)
{
	siginfo_t info = { 0 };
	int ms = left > 60000000000 ? 60000 : (int)(left / 1000000) + 1;

	if (fds[3].fd >= 0)
		return poll(fds, 4, ms) > 0 && fds[3].revents;
	poll(fds, 3, ms < 20 ? ms : 20);
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == pid;
}

/*
 * Move bytes until the child has closed its streams, ended, printed too much, or run out of time.
 */
static void
converse(const struct kproc *p, pid_t pid, int pidfd, struct stream s[3], struct kproc_result *r)
{
	size_t sent = 0;
	int64_t start = know_ns(),
	        deadline = p->timeout_s > 0 ? start + (int64_t)(p->timeout_s * 1e9) : INT64_MAX;

	for (;;) {
		struct pollfd fds[4] = {
			{ s[0].fd, POLLOUT, 0 },
			{ s[1].fd, POLLIN, 0 },
			{ s[2].fd, POLLIN, 0 },
			{ pidfd, POLLIN, 0 },
		};
		int64_t left = deadline - know_ns();
		bool ended;

		if (left <= 0) {
			r->timed_out = true;
			break;
		}
		ended = await(fds, pid, left);
		if (s[0].fd >= 0 && fds[0].revents)
			feed(&s[0], p, &sent);
		for (int i = 1; i < 3; i++)
			if (s[i].fd >= 0 && fds[i].revents)
				take(p, s, i, r);
		if (r->flooded)
			break;
		if (ended) {
			/*
			 * It has ended: take what is still in the pipes, without waiting for a
			 * daemon that holds them open.
			 */
			for (int i = 1; i < 3; i++)
				while (s[i].fd >= 0 && !r->flooded && is_readable(s[i].fd))
					take(p, s, i, r);
			break;
		}
	}
	r->wall_s = kseconds_since(start);
}

/* Our ends of the pipes become streams; close the child's ends. */
static void
take_streams(const struct kproc *p, int pipes[3][2], struct stream s[3])
{
	close(pipes[IN][0]);
	close(pipes[OUT][1]);
	close(pipes[ERR][1]);
	s[IN] = (struct stream){ pipes[IN][1], { 0 } };
	s[OUT] = (struct stream){ pipes[OUT][0], { 0 } };
	s[ERR] = (struct stream){ pipes[ERR][0], { 0 } };
	fcntl(s[IN].fd, F_SETFL, O_NONBLOCK);
	if (!p->in || !p->in_len) {
		close(s[IN].fd);
		s[IN].fd = -1;
	}
	kbuf_add(&s[OUT].buf, "", 0);
	kbuf_add(&s[ERR].buf, "", 0);
}

int
kproc_run(const struct kproc *p, struct kproc_result *r)
{
	int pipes[3][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } }, status;
	auto_close int pidfd = -1;
	struct stream s[3];
	pid_t pid = -1;

	*r = (struct kproc_result){ .exit_code = -1 };
	signal(SIGPIPE, SIG_IGN);
	if (!pipe2(pipes[IN], O_CLOEXEC) && !pipe2(pipes[OUT], O_CLOEXEC) &&
	    !pipe2(pipes[ERR], O_CLOEXEC))
		pid = kproc_spawn(p, (int[3]){ pipes[IN][0], pipes[OUT][1], pipes[ERR][1] });
	if (pid < 0) {
		for (int i = 0; i < 6; i++)
			kclose_at(&pipes[i / 2][i % 2]);
		return -1;
	}
	take_streams(p, pipes, s);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	converse(p, pid, pidfd, s, r);
	kforeach_of(one, s, 3)
		kclose_at(&one->fd);
	status = kproc_kill(pid);
	if (WIFEXITED(status))
		r->exit_code = WEXITSTATUS(status);
	else
		r->signal = WTERMSIG(status);
	r->out = s[OUT].buf.data;
	r->out_len = s[OUT].buf.len;
	r->err = s[ERR].buf.data;
	r->err_len = s[ERR].buf.len;
	return 0;
}

void
kproc_result_free(struct kproc_result *r)
{
	free(r->out);
	free(r->err);
	*r = (struct kproc_result){ 0 };
}

void
kproc_must(const struct kproc *p, struct kproc_result *r)
{
	if (kproc_run(p, r) < 0)
		kdie_errno(K_MISSING, "%s", p->argv[0]);
}

int
kproc_tool(const char *const *argv, const struct kbuf *in, char **out)
{
	char *args[16] = { (char *)ktool_path(argv[0]) };
	struct kproc p = { .argv = args, .pass_err = true };
	auto_run struct kproc_result r;

	for (size_t i = 1; argv[i] && i + 1 < LEN(args); i++)
		args[i] = (char *)argv[i];
	if (in) {
		p.in = in->data;
		p.in_len = in->len;
	}
	kproc_must(&p, &r);
	if (out) {
		*out = r.out;
		r.out = NULL;
	}
	return r.exit_code < 0 ? K_IO : r.exit_code;
}
