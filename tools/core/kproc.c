/* SPDX-License-Identifier: Apache-2.0 */
/* kproc: see kproc.h. */
#include "kproc.h"

#include <linux/close_range.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { KPROC_MAX = 64, OUTPUT_MAX = 1 << 20 };

static void
limit(int resource, uint64_t value)
{
	struct rlimit r = { value, value };

	if (value)
		setrlimit(resource, &r);
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
	/* All but these close when the program starts; so does the one that reports a failure. */
	if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		goto failed;
	kforeach_of(fd, p->keep_fds, p->keep_count)
		fcntl(*fd, F_SETFD, 0);
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

	if (running_count == LEN(running))
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

int
kproc_memory(const void *data, size_t len)
{
	int fd = memfd_create("kiln", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	/* Whoever gets it cannot use it as memory that no limit counts. */
	if (fd >= 0 &&
	    (kwrite_all(fd, data, len) < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
	        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) < 0)) {
		kclose_at(&fd);
		return -1;
	}
	return fd;
}

/* What the child prints to its stdout and its stderr. */
struct stream {
	int fd;
	struct kbuf text;
};

static bool
is_readable(int fd)
{
	return fd >= 0 && poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 0) > 0;
}

/* Takes some of what is in the pipe; false when there is nothing. */
static bool
take(struct stream *s, size_t max, bool pass, struct kproc_result *r)
{
	char chunk[65536];
	size_t room = max - s->text.len;
	ssize_t n;

	if (r->flooded || !is_readable(s->fd))
		return false;
	n = TEMP_FAILURE_RETRY(read(s->fd, chunk, sizeof chunk));
	if (n <= 0) {
		kclose_at(&s->fd);
		s->fd = -1;
		return false;
	}
	r->flooded = (size_t)n > room;
	kbuf_add(&s->text, chunk, r->flooded ? room : (size_t)n);
	if (pass)
		kpass(chunk, (size_t)n);
	return true;
}

/*
 * Reads what the child prints until it has ended, printed too much, or run out of time. A daemon
 * that holds the pipes open is not waited for.
 */
static void
listen_to(const struct kproc *p, int pidfd, struct stream s[2], struct kproc_result *r)
{
	int64_t start = know_ns(),
	        deadline = p->timeout_s > 0 ? start + (int64_t)(p->timeout_s * 1e9) : INT64_MAX;
	bool ended = false;

	while (!ended && !r->flooded && !r->timed_out) {
		struct pollfd fds[] = { { s[0].fd, POLLIN, 0 }, { s[1].fd, POLLIN, 0 },
			{ pidfd, POLLIN, 0 } };
		int64_t left = deadline - know_ns();

		r->timed_out = left <= 0;
		if (!r->timed_out)
			poll(fds, LEN(fds), left > 60000000000 ? 60000 : (int)(left / 1000000) + 1);
		ended = fds[2].revents;
		/* A child that prints all the time must not keep us from the clock. */
		for (int i = 0; i < 2; i++)
			while (
			    take(&s[i], p->max_output ?: OUTPUT_MAX, i && p->pass_err, r) && ended)
				;
	}
	r->wall_s = kseconds_since(start);
}

int
kproc_run(const struct kproc *p, struct kproc_result *r)
{
	auto_close int in = p->in_len ? kproc_memory(p->in, p->in_len) : -1, pidfd = -1;
	struct stream s[2] = { { -1, kbuf_empty() }, { -1, kbuf_empty() } };
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, status;
	pid_t pid = -1;

	*r = (struct kproc_result){ .exit_code = -1 };
	signal(SIGPIPE, SIG_IGN);
	if ((in >= 0 || !p->in_len) && !pipe2(out, O_CLOEXEC) && !pipe2(err, O_CLOEXEC))
		pid = kproc_spawn(p, (int[3]){ in, out[1], err[1] });
	if (pid > 0)
		pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	kclose_at(&out[1]);
	kclose_at(&err[1]);
	s[0].fd = out[0];
	s[1].fd = err[0];
	if (pidfd >= 0)
		listen_to(p, pidfd, s, r);
	kforeach(one, s)
		kclose_at(&one->fd);
	r->out = s[0].text.data;
	r->out_len = s[0].text.len;
	r->err = s[1].text.data;
	r->err_len = s[1].text.len;
	if (pidfd < 0) {
		int why = errno;

		kproc_kill(pid);
		kproc_result_free(r);
		return fail(why);
	}
	status = kproc_kill(pid);
	if (WIFEXITED(status))
		r->exit_code = WEXITSTATUS(status);
	else
		r->signal = WTERMSIG(status);
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
