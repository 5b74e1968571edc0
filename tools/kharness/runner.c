/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: the candidate's process, seen from the judge. It is stopped (SIGSTOP) at all times
 * except between GO and DONE, so whatever it computes, it computes while the clock runs; and the
 * clock is the judge's.
 */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "kharness.h"
#include "ksandbox.h"
#include "kstat.h"

enum {
	START_S = 20, /* time to start a sandbox */
	STOP_S = 2,   /* time for all threads to stop */
	CODE_MAX = 256 << 20,
	PRINT_MAX = 1 << 20,
	PRINT_KEEP = 1000,
	/* with processor time above 1 / this of the elapsed time, it works instead of stopping */
	AWAKE_SHARE = 100,
	/*
	 * The most processor time outside all calls, in addition to a share of the time inside
	 * them, that does not count as work while it was stopped. The kernel accounts a thread's
	 * last moments when the thread leaves its processor, and on a busy machine a thread that
	 * counts as stopped may still have to run for that: some of this time, even milliseconds,
	 * is nobody's fault.
	 */
	OUTSIDE_NS = 5000000,
	/*
	 * And it must have used this much in this many goes, and in half of all: a hypervisor may
	 * make such a moment long.
	 */
	AWAKE_GO_NS = 100000,
	AWAKE_TIMES = 5,
	LATE_TIMES = 3,
	/*
	 * Time slices of a GPU are about 2 ms; on an otherwise idle one, a trivial kernel takes
	 * some 20 us.
	 */
	LATE_NS = 1000000,
	LATE_FACTOR = 5,
	/*
	 * within this time a device, even a shared one, ends a call that it has begun; and begins
	 * one
	 */
	DEVICE_DONE_US = 15000,
	DEVICE_STEP_US = 1000,
	DEVICE_STEPS = 900,
	ROW_STEP_NS = 20000,
	/* processor time may exceed the judge's time by this, and by a tenth */
	CPU_TRIFLE_NS = 20000,
	/* threads that have ended count if they had more than this share, and more than that */
	ENDED_SHARE = 50
};
static const double CLEARLY = 1.1, OUTSIDE_SHARE = 0.2;

static enum outcome __attribute__((format(printf, 4, 5)))
outcome(struct runner *r, enum outcome e, const char *check, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->why, sizeof r->why, fmt, ap);
	va_end(ap);
	r->check = check;
	return e;
}

/* ---- start ---- */

static void
write_setup(const struct runner *r, struct krun_setup *s)
{
	static const uint8_t scalar[] = {
		[KDTYPE_F32] = KRUN_F32,
		[KDTYPE_F64] = KRUN_F64,
		[KDTYPE_I32] = KRUN_I32,
		[KDTYPE_I64] = KRUN_I64,
		/* Calls pass words of these sizes in the same way, signed or not. */
		[KDTYPE_U32] = KRUN_I32,
		[KDTYPE_U64] = KRUN_I64,
		[KDTYPE_TF32] = KRUN_F32,
	};
	const struct ktask *t = judge.task;

	*s = (struct krun_setup){ .version = KRUN_VERSION,
		.arg_count = (uint32_t)t->arg_count,
		.input_bytes = r->m->in.bytes,
		.output_bytes = r->m->out.bytes,
		.memory_bytes = judge.o.memory_bytes,
		.device = (uint32_t)judge.device_number };
	_Static_assert(sizeof s->cpus == sizeof judge.cpus, "the system's sets are bit masks, too");
	memcpy(s->cpus, &judge.cpus, sizeof s->cpus);
	snprintf(s->entry, sizeof s->entry, "%s", t->entry);
	s->launches = (uint32_t)r->launches.count;
	s->copies = judge.copies;
	s->alone = judge.level == KSANDBOX_BWRAP;
	for (size_t i = 0; i < r->launches.count; i++)
		snprintf(s->kernel[i], sizeof s->kernel[i], "%s", r->launches.at[i].kernel);
	for (size_t i = 0; i < t->arg_count; i++) {
		const struct ktask_arg *a = &t->args[i];
		const struct ktask_tensor *x =
		    a->kind == KARG_TENSOR ? &t->tensors[a->index] : NULL;

		s->kind[i] =
		    x && !x->scalar ? (uint8_t)(x->output ? KRUN_OUT : KRUN_IN) : scalar[a->dtype];
	}
}

enum {
#ifdef __SANITIZE_ADDRESS__
	LIMITED = 0 /* the runner's shadow memory alone takes terabytes of address space */
#else
	LIMITED = 1
#endif
};

/* Whether a candidate creates its own streams; without this name it cannot. */
static bool
makes_streams(const char *file)
{
	static const char name[] = "StreamCreate";
	size_t len;
	auto_free char *code = kread_file(file, CODE_MAX, &len);

	return !code || memmem(code, len, name, sizeof name - 1);
}

/* The runner's environment: of ours, only the variables that select devices. */
static char **
environment(const char *file)
{
	static const char *const passed[] = { "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
		"ROCR_VISIBLE_DEVICES" };
	char **env = kcalloc(8 + LEN(passed), sizeof *env);
	size_t n = 0;

	/* The kernel would note in its memory when a thread is interrupted, as by the judge. */
	env[n++] = kstrdup("GLIBC_TUNABLES=glibc.pthread.rseq=0");
	if (!judge.device) {
		env[n++] = kasprintf("OMP_NUM_THREADS=%ld", judge.o.threads);
		env[n++] = kasprintf("OPENBLAS_NUM_THREADS=%ld", judge.o.threads);
		env[n++] = kstrdup(
		    judge.level == KSANDBOX_BWRAP ? "OMP_PROC_BIND=close" : "OMP_PROC_BIND=false");
		env[n++] = kstrdup("OMP_WAIT_POLICY=passive");
		env[n++] = kstrdup("OMP_DYNAMIC=false");
		return env;
	}
	env[n++] = kstrdup("CUDA_CACHE_DISABLE=1");
	/* Restores the driver's own default; see kgpu_open. */
	if (makes_streams(file))
		env[n++] = kstrdup("CUDA_DEVICE_MAX_CONNECTIONS=8");
	kforeach(name, passed)
		if (getenv(*name))
			env[n++] = kasprintf("%s=%s", *name, getenv(*name));
	return env;
}

static void
spawn(struct runner *r, const char *file, int theirs)
{
	/* where the loader of OpenCL finds drivers */
	static const char icd[] = "/etc/OpenCL";
	auto_free char *program = khelper_path(judge.o.backend->runner),
	               *library = realpath(file, NULL);
	auto_free char **env = judge.opencl ? opencl_environment() : environment(file);
	struct ksandbox_bind binds[] = { { program, "/kiln/runner" },
		{ library, "/kiln/kernel.so" }, { icd, icd } };
	struct ksandbox s = { .level = judge.level,
		.profile = KSANDBOX_RUN,
		.binds = binds,
		.bind_count = judge.opencl && !judge.copies && kis_there(icd) ? 3 : 2,
		.env = env,
		.gpu = judge.device || judge.copies,
		.file_bytes = 16 << 20 };
	int keep[] = { theirs, r->rows[0], r->starts[1] };
	char number[LEN(keep)][16];
	char *argv[] = { kstrdup("/kiln/runner"), kstrdup("/kiln/kernel.so"), number[0], number[1],
		number[2], judge.device ? (char *)judge.o.backend->name : NULL, NULL };

	if (!library)
		kdie_errno(K_USAGE, "%s", file);
	/* GPU drivers reserve terabytes of address space. */
	if (!s.gpu)
		s.memory_bytes =
		    LIMITED * (judge.o.memory_bytes + r->m->in.bytes + r->m->out.bytes);
	for (size_t i = 0; i < LEN(keep); i++)
		snprintf(number[i], sizeof number[i], "%d", keep[i]);
	/*
	 * Without a mount namespace, files that only root can reach are copied into a work folder.
	 */
	if (judge.level < KSANDBOX_BWRAP)
		s.work = r->work = ksandbox_work_new();
	r->outer = ksandbox_spawn(&s, argv, keep, LEN(keep), &r->output);
	if (r->outer < 0)
		kdie_errno(K_MISSING, "the sandbox (%s)", ksandbox_name(judge.level));
	fcntl(r->output, F_SETFL, O_NONBLOCK);
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	free(argv[0]);
	free(argv[1]);
}

/* ---- what it says ---- */

/* Read what it printed; false when that is too much. */
static bool
drain(struct runner *r)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(r->output, chunk, sizeof chunk)) > 0) {
		size_t room = PRINT_KEEP - r->printed.len;

		kbuf_add(&r->printed, chunk, (size_t)n < room ? (size_t)n : room);
		r->printed_bytes += (size_t)n;
		if (r->printed_bytes > PRINT_MAX)
			return false;
	}
	if (n == 0) {
		close(r->output);
		r->output = -1;
	}
	return true;
}

/*
 * Receives one report, and its sender's process id from the kernel; false at the end of the
 * connection.
 */
static bool
receive(struct runner *r, int flags, struct krun_report *report, pid_t *sender)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(64)];
	} control;
	struct iovec v = { report, sizeof *report };
	struct msghdr m = { .msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof control.bytes };
	ssize_t n;

	memset(report, 0, sizeof *report);
	*sender = -1;
	n = TEMP_FAILURE_RETRY(recvmsg(r->socket, &m, flags | MSG_CMSG_CLOEXEC));
	if (n <= 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
			struct ucred who;

			memcpy(&who, CMSG_DATA(c), sizeof who);
			*sender = who.pid;
		}
	if (n != sizeof *report)
		report->what = UINT32_MAX;
	report->text[sizeof report->text - 1] = '\0';
	kmask_controls(report->text);
	return true;
}

static void
send_command(struct runner *r, const void *message, size_t len)
{
	/* A dead runner is noticed when we read its reply. */
	TEMP_FAILURE_RETRY(send(r->socket, message, len, MSG_NOSIGNAL));
}

/* Bytes of rows that have not been read. */
static size_t
rows_left(const struct runner *r)
{
	int bytes = 0;

	return ioctl(r->rows[1], FIONREAD, &bytes) == 0 && bytes > 0 ? (size_t)bytes : 0;
}

/*
 * Number of the call under way, and so of those before it, when ROWS have been sent; a row is read
 * before its call.
 */
static size_t
call_under_way(const struct runner *r, size_t rows)
{
	size_t left = rows_left(r) / (row_words() * sizeof *r->m->rows);

	return left < rows ? rows - 1 - left : 0;
}

/* Distances between the inputs and the outputs of calls, if those of others are hidden; else 0. */
static void
hidden_slots(const struct batch *b, uint64_t slot[KRUN_SLOTS])
{
	size_t in = 0, out = 0;

	if (b && b->hidden)
		memory_slot(b->w, &in, &out);
	slot[0] = in;
	slot[1] = out;
}

/* Whether an offset of the inputs belongs to a call other than the current one, and is hidden. */
static bool
is_hidden(const struct runner *r, const struct batch *b, uint64_t offset)
{
	const struct place *p = &r->m->places[call_under_way(r, b->count)];
	uint64_t slot[KRUN_SLOTS];

	hidden_slots(b, slot);
	for (size_t i = 0; slot[0] && i < judge.task->tensor_count; i++) {
		const struct ktask_tensor *x = &judge.task->tensors[i];

		if (!x->scalar && !x->output && p->tensor[i] / slot[0] == offset / slot[0])
			return false;
	}
	return slot[0] != 0;
}

/*
 * Describes where a memory fault happened, if that is meaningful: ": it wrote to byte 12 of A,
 * which is an input".
 */
static void
describe_fault(struct runner *r, const struct batch *b, char *text, size_t text_len)
{
	static const char *const kinds[] = { "inputs, which are read-only", "outputs" };
	const struct arena *arenas[] = { &r->m->in, &r->m->out };
	uint64_t address = r->fault.value[1];
	int sig = (int)r->fault.value[0];
	char where[128];

	*text = '\0';
	if (sig != SIGSEGV && sig != SIGBUS)
		return;
	if (address < 65536)
		snprintf(text, text_len, ": it dereferenced a null pointer");
	for (int i = 0; i < 2; i++) {
		uint64_t offset = address - r->base[i];

		if (i == 0 && offset < arenas[i]->bytes && b && is_hidden(r, b, offset)) {
			snprintf(text, text_len, ": it touched the inputs of another call");
		} else if (i == 1 && offset < arenas[i]->bytes && b && b->hidden) {
			snprintf(text, text_len,
			    ": it touched the outputs of a call that was over, or of another one");
		} else if (offset < arenas[i]->bytes && b) {
			const char *tensor =
			    memory_describe(r->m, b, i == 0, offset, where, sizeof where);

			r->wrote = i == 0 ? tensor : NULL;
			snprintf(text, text_len, ": it wrote %s, among the %s", where, kinds[i]);
		} else if (!*text && offset + (1 << 20) < arenas[i]->bytes + (2 << 20)) {
			snprintf(text, text_len, ": it went far beyond the %s",
			    i ? "outputs" : "inputs");
		}
	}
}

/* How the process ended: the sandbox's outermost process ends with it, in the same way. */
static enum outcome
ended(struct runner *r, const struct batch *b)
{
	siginfo_t info = { 0 };
	char where[256] = "";
	int sig;

	for (int i = 0; i < 100 && info.si_pid == 0; i++) {
		waitid(P_PID, (id_t)r->outer, &info, WEXITED | WNOHANG | WNOWAIT);
		if (info.si_pid == 0)
			usleep(10000);
	}
	if (r->output >= 0)
		drain(r);
	sig = info.si_code != CLD_EXITED ? info.si_status
	    : info.si_status > 128       ? info.si_status - 128
	                                 : 0;
	if (r->faulted) {
		sig = (int)r->fault.value[0];
		describe_fault(r, b, where, sizeof where);
	}
	if (!sig)
		return outcome(r, OUT_DIED, "exit",
		    "it ended the process (status %d) instead of returning", info.si_status);
	if (sig == SIGKILL)
		return outcome(r, OUT_DIED, "killed",
		    "killed by SIGKILL: most likely it used too much memory");
	return outcome(r, OUT_DIED, "crash", "killed by SIG%s%s",
	    sigabbrev_np(sig) ? sigabbrev_np(sig) : "?", where);
}

/*
 * Wait for the next report until LIMIT_S after START: OUT_OK with the report, its sender, and the
 * time of its arrival in *AT.
 */
static enum outcome
listen_until(struct runner *r, const struct batch *b, int64_t start, double limit_s,
    struct krun_report *report, int64_t *at, pid_t *sender)
{
	int64_t deadline = start + (int64_t)(limit_s * 1e9);

	for (;;) {
		struct pollfd fds[2] = { { r->socket, POLLIN, 0 }, { r->output, POLLIN, 0 } };
		int64_t left = deadline - know_ns();
		/* A GPU's calls are short: sleeping and waking up would take as long. */
		struct timespec t = { judge.device ? 0 : left / 1000000000,
			judge.device ? 0 : left % 1000000000 };
		int n;

		if (left <= 0)
			return outcome(r, OUT_TIMEOUT, "timeout",
			    "no answer within the time limit of %g s", limit_s);
		n = ppoll(fds, 2, &t, NULL);
		*at = know_ns();
		if (n < 0 && errno != EINTR)
			kdie_errno(K_IO, "poll");
		if (n > 0 && r->output >= 0 && fds[1].revents && !drain(r))
			return outcome(r, OUT_FLOOD, "output_flood",
			    "it printed more than %d bytes", PRINT_MAX);
		if (n <= 0 || !fds[0].revents)
			continue;
		if (!receive(r, 0, report, sender))
			return ended(r, b);
		if (report->what != KRUN_FAULT)
			return OUT_OK;
		r->fault = *report;
		r->faulted = true;
	}
}

/* ---- stopping and continuing ---- */

/* First line of a file about a thread of PID; false when the thread is gone. */
static bool
read_task(pid_t pid, const char *thread, const char *file, char *text, size_t len)
{
	auto_close int fd =
	    open(kshown("/proc/%d/task/%.16s/%s", (int)pid, thread, file), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, len - 1);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/*
 * Nanoseconds that a thread has waited for a processor: the second word of schedstat, after those
 * that it has run; 0 if the kernel does not report it.
 */
static int64_t
delay_of(const char *schedstat)
{
	const char *space = strchr(schedstat, ' ');

	return space ? strtoll(space, NULL, 10) : 0;
}

/* The same for this thread of the judge. */
static int64_t
own_delay_ns(void)
{
	static int fd = -2;
	char text[96];
	ssize_t n;

	if (fd == -2)
		fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	return delay_of(text);
}

/* The same for the threads that a runner had when it was last stopped. */
static int64_t
threads_delay_ns(const struct runner *r)
{
	int64_t ns = 0;
	char text[96];

	kforeach_of(tid, r->thread, r->known)
		if (read_task(r->pid, *tid, "schedstat", text, sizeof text))
			ns += delay_of(text);
	return ns;
}

/* The time of a thread that has ended is no longer included. */
static int64_t
delay_since(int64_t before, int64_t now)
{
	return now > before ? now - before : 0;
}

/*
 * Threads of a process, how many of them are stopped, the state of another (proc(5)), and how long
 * all have run and waited for a processor.
 */
struct threads {
	int count, stopped;
	char state;
	int64_t run_ns, delay_ns;
};

/* False when there is no such process any more. */
static bool
look_at_threads(struct runner *r, struct threads *t)
{
	DIR *dir = opendir(kshown("/proc/%d/task", (int)r->pid));
	char text[512], *state;
	struct dirent *e;

	*t = (struct threads){ 0 };
	r->known = 0;
	if (!dir)
		return false;
	while ((e = readdir(dir))) {
		if (*e->d_name == '.' || !read_task(r->pid, e->d_name, "stat", text, sizeof text))
			continue;
		/* The state follows the command name, which may contain parentheses. */
		state = strrchr(text, ')');
		t->count++;
		if (state && strchr("TtZX", state[2]))
			t->stopped++;
		else
			t->state = state ? state[2] : '?';
		if (read_task(r->pid, e->d_name, "schedstat", text, sizeof text)) {
			t->run_ns += strtoll(text, NULL, 10);
			t->delay_ns += delay_of(text);
		}
		if (r->known < (int)LEN(r->thread))
			snprintf(r->thread[r->known++], sizeof r->thread[0], "%.11s", e->d_name);
	}
	closedir(dir);
	return t->count > 0;
}

static int64_t
cpu_ns(const struct runner *r)
{
	struct timespec t;

	return clock_gettime(r->clock, &t) == 0 ? t.tv_sec * (int64_t)1000000000 + t.tv_nsec : 0;
}

static enum outcome
awake(struct runner *r, int64_t ns)
{
	return outcome(r, OUT_AWAKE, "ran_while_stopped",
	    "it used %.3f ms of processor time outside its calls", (double)ns * 1e-6);
}

/*
 * A thread that is reported as stopped may still run for a moment: wait until its processor time no
 * longer changes.
 */
static void
settle(struct runner *r)
{
	int64_t before;

	r->frozen_cpu_ns = cpu_ns(r);
	for (int i = 0; i < 1000; i++) {
		before = r->frozen_cpu_ns;
		usleep(5);
		r->frozen_cpu_ns = cpu_ns(r);
		if (r->frozen_cpu_ns == before)
			return;
	}
}

/*
 * Had the process more threads than are left, such as those of a team within a team, which end with
 * it? Their processor time remains in that of the process, of which USED is new.
 */
static bool
had_others(struct runner *r, const struct threads *t, int64_t used)
{
	int64_t before = r->ended_ns;

	r->ended_ns = t->run_ns ? r->frozen_cpu_ns - t->run_ns : 0;
	return r->ended_ns - before > CPU_TRIFLE_NS + used / ENDED_SHARE;
}

/*
 * Stop every thread. A process that is gone counts as stopped: the next go notices that. One that
 * continues to work (for example with a timer that sends SIGCONT) is caught; one that neither works
 * nor stops is stuck in the kernel, which is not its fault.
 */
static enum outcome
stop(struct runner *r)
{
	int64_t start = know_ns(), before, frozen = r->frozen_cpu_ns;
	struct threads t;

	kill(r->pid, SIGSTOP);
	before = cpu_ns(r);
	while (look_at_threads(r, &t) && t.stopped < t.count) {
		int64_t waited = know_ns() - start, used = cpu_ns(r) - before;

		/* One that gets no processor cannot stop, and does not work either. */
		if (waited > (int64_t)STOP_S * 1000000000 && used > waited / AWAKE_SHARE)
			return awake(r, used);
		if (waited > (int64_t)START_S * 1000000000)
			kdie(K_IO, "cannot stop process %d: a thread of it is in state %c",
			    (int)r->pid, t.state);
		usleep(20);
		/* A SIGCONT in between would have cancelled the first SIGSTOP. */
		kill(r->pid, SIGSTOP);
	}
	r->threads = t.count;
	r->frozen_delay_ns = t.delay_ns;
	settle(r);
	/* What a driver starts and ends is nobody's matter. */
	r->threads += had_others(r, &t, r->frozen_cpu_ns - frozen) && !judge.device;
	return OUT_OK;
}

/* A command outside the timed region, and the answer. */
static enum outcome
exchange(struct runner *r, const struct batch *b, enum krun_order order, struct krun_report *report,
    pid_t *sender)
{
	struct krun_command c = { .order = order, .calls = b ? (uint32_t)b->count : 0 };
	/* Before the candidate is loaded, its driver may take seconds to begin. */
	double limit_s = b || order == KRUN_LOAD ? judge.o.run_timeout_s : START_S;
	int64_t at;

	send_command(r, &c, sizeof c);
	kill(r->pid, SIGCONT);
	return listen_until(r, b, know_ns(), limit_s, report, &at, sender);
}

/* A command that is answered by AWAKE: none of the candidate's code runs meanwhile. */
static enum outcome
prepare(struct runner *r, const struct batch *b, enum krun_order order)
{
	struct krun_report report;
	pid_t sender;
	enum outcome e = exchange(r, b, order, &report, &sender);

	if (e == OUT_OK && report.what == KRUN_FAILED && sender == r->pid)
		return outcome(r, OUT_DIED, "device_fault", "%s", report.text);
	if (e == OUT_OK && (report.what != KRUN_AWAKE || sender != r->pid))
		return outcome(
		    r, OUT_PROTOCOL, "forged_report", "it wrote to the judge's connection");
	return e;
}

/*
 * Determines when a go is over on a device: when the process can launch nothing more, and a kernel
 * of our own has run. That kernel waits for work that the process has left running, so this work is
 * timed too. On a shared device it only waits for its time slice, a hundred times as long as on an
 * idle device, which tells nothing: then the go is over at END, when the process said so. An empty
 * go ends in the same way.
 */
static int64_t
end_on_device(struct runner *r, int64_t end)
{
	int64_t ns;

	/* Even on a shared device: otherwise the process could see the difference. */
	kill(r->pid, SIGSTOP);
	if (!judge.alone)
		return end;
	ns = judge.space->fence();
	r->lates += ns > LATE_NS && ns > LATE_FACTOR * r->fence_ns && r->fence_ns;
	return know_ns();
}

static enum outcome
look_at_lates(struct runner *r)
{
	if (r->lates < LATE_TIMES || r->lates <= r->goes / 4)
		return OUT_OK;
	return outcome(r, OUT_AWAKE, "worked_after_return",
	    "the device was still working for it after it had returned");
}

/* Sends the rows of calls FROM to TO of a go, which are read one by one. */
static void
send_rows(const struct runner *r, const struct batch *b, size_t from, size_t to)
{
	size_t words = row_words(), left = (to - from) * words * sizeof *r->m->rows;
	const char *p = (const char *)(r->m->rows + from * words);
	ssize_t n;

	for (size_t k = from; k < to; k++)
		hidden_slots(b, &r->m->rows[(k + 1) * words - KRUN_SLOTS]);
	for (; left; p += n, left -= (size_t)n)
		if ((n = write(r->rows[1], p, left)) < 0) {
			/*
			 * A dead runner is noticed when we read its reply; a full pipe, when its
			 * rows are missing.
			 */
			if (errno != EINTR)
				return;
			n = 0;
		}
}

/* Checks what a runner did since its last go, although it was stopped. */
static enum outcome
look_at_pause(struct runner *r, int64_t cpu)
{
	struct krun_report report;
	pid_t sender;

	r->goes++;
	r->outside_ns += cpu - r->frozen_cpu_ns;
	r->awakes += cpu - r->frozen_cpu_ns > AWAKE_GO_NS;
	if (r->awakes >= AWAKE_TIMES && r->awakes > r->goes / 2 &&
	    (double)r->outside_ns > OUTSIDE_NS + OUTSIDE_SHARE * (double)r->inside_ns)
		return awake(r, r->outside_ns);
	if (receive(r, MSG_DONTWAIT, &report, &sender) && report.what != KRUN_FAULT)
		return outcome(
		    r, OUT_PROTOCOL, "forged_report", "it wrote to the judge's connection");
	return OUT_OK;
}

/* A GPU's runner must be awake and polling before the clock starts. */
static enum outcome
before_go(struct runner *r, const struct batch *b)
{
	return judge.device ? prepare(r, b, KRUN_READY)
	    : judge.copies  ? prepare(r, b, KRUN_STAGE)
	                    : OUT_OK;
}

/* Checks the answer to a go. */
static enum outcome
look_at_report(struct runner *r, const struct krun_report *report, pid_t sender, uint64_t nonce)
{
	if (report->what == KRUN_FAILED && sender == r->pid)
		return outcome(r, OUT_DIED, "device_fault", "%s", report->text);
	if (report->what != KRUN_DONE || report->nonce != nonce || sender != r->pid)
		return outcome(
		    r, OUT_PROTOCOL, "forged_report", "it wrote to the judge's connection");
	/* It answered without making all its calls. */
	if (rows_left(r))
		return outcome(r, OUT_PROTOCOL, "calls_left_out",
		    "it answered before all calls had been made");
	return OUT_OK;
}

/* Its own time: krun-c has sent when the calls began, and reports when they ended. */
static enum outcome
own_time(struct runner *r, const struct krun_report *report, int64_t *ns)
{
	int64_t start = 0, more;
	bool sent = judge.device || judge.opencl ||
	    recv(r->starts[0], &start, sizeof start, 0) == sizeof start;

	*ns = (int64_t)report->value[0] - start;
	if (sent && recv(r->starts[0], &more, sizeof more, 0) < 0)
		return OUT_OK;
	return outcome(r, OUT_PROTOCOL, "forged_report", "it told the judge when its calls began");
}

/*
 * Where a runner of one thread may run: only on CPU, or, if that is -1, wherever candidates may.
 * Once it has begun somewhere it stays there.
 */
static void
allow(const struct runner *r, int cpu)
{
	cpu_set_t set = judge.cpus;

	if (judge.begin_on < 0 || r->threads != 1)
		return;
	if (cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
	}
	sched_setaffinity(r->pid, sizeof set, &set);
}

/* The outputs in the middle of a go, and how many calls had returned. */
struct glimpse {
	char *outputs;
	size_t returned;
};

/* Waits until the device has done the work of the calls that have returned. */
static void
await_device(const struct runner *r, const struct batch *b, size_t returned)
{
	if (!returned)
		return;
	for (int i = 0; i < DEVICE_STEPS && memory_untouched(r->m, b, returned - 1, returned); i++)
		usleep(DEVICE_STEP_US);
	usleep(DEVICE_DONE_US);
}

/*
 * Until it is time for a look, or the process has died. A judge that sleeps may wake up too late.
 * On a busy machine even one that does not may have no processor until the go is over, so in some
 * goes the process waits for a row.
 */
static void
await_moment(const struct runner *r, const struct batch *b)
{
	int64_t start = know_ns();
	struct pollfd end = { .fd = r->socket, .events = POLLIN };
	const struct timespec step = { .tv_nsec = ROW_STEP_NS };

	if (b->look_row)
		while (rows_left(r) && kseconds_since(start) < judge.o.run_timeout_s &&
		    !ppoll(&end, 1, &step, NULL))
			;
	else if (judge.beside)
		usleep((useconds_t)(b->look_ns / 1000));
	else
		while ((double)(know_ns() - start) < b->look_ns)
			;
}

/*
 * Stops the process in the middle of some goes, at a moment that it cannot know: after some time,
 * or when only the first ROWS rows have been sent, because those calls are under way or, on a
 * device, done. A row is read when the call before has returned, so a process that reads all rows
 * at once, to make its calls together or out of order, is found with calls that count as made and
 * are not. Calls that have not begun get other inputs, so it is useless to read the old ones early.
 * Nothing in the process shows which goes these are.
 */
static enum outcome
look_between(struct runner *r, const struct batch *b, size_t rows, struct glimpse *g)
{
	enum outcome e;

	if (!b || b->look_ns <= 0)
		return OUT_OK;
	if (judge.device)
		await_device(r, b, rows);
	else
		await_moment(r, b);
	e = stop(r);
	if (e != OUT_OK)
		return e;
	g->returned = judge.device ? rows : call_under_way(r, rows);
	g->outputs = memory_outputs(r->m);
	if (!memory_change(r->m, b, judge.device ? rows : g->returned + 1))
		return outcome(r, OUT_PROTOCOL, "solved_together",
		    "it wrote to the outputs of calls that had not begun");
	send_rows(r, b, rows, b->count);
	kill(r->pid, SIGCONT);
	return OUT_OK;
}

/* Have calls that had returned left their outputs alone since then? */
static enum outcome
compare_glimpse(struct runner *r, const struct batch *b, const struct glimpse *g)
{
	kforeach_of(place, r->m->places, g->returned)
		tensors_each(x) {
			size_t i = tensor_number(x);
			size_t at = place->tensor[i];
			struct pair p = { g->outputs + at, r->m->out.memory + at,
				tensor_bytes(b->w, x) };

			if (x->output && !x->scalar && judge.space->differs(&p, 1))
				return outcome(r, OUT_PROTOCOL, "calls_overlap",
				    "a call was not done when the next one began");
		}
	return OUT_OK;
}

static enum outcome
go(struct runner *r, const struct batch *b, struct span *s)
{
	struct krun_command c = { .order = KRUN_GO, .calls = b ? (uint32_t)b->count : 0 };
	char why[256];
	struct krun_report report;
	struct glimpse seen = { .outputs = NULL };
	int64_t start, end, own, used, cpu = cpu_ns(r), delay = r->frozen_delay_ns, done_delay,
	                               own_delay;
	enum outcome e;
	size_t rows;
	pid_t sender;

	e = look_at_pause(r, cpu);
	if (e != OUT_OK)
		return e;
	if (getrandom(&c.nonce, sizeof c.nonce, 0) != sizeof c.nonce)
		kdie_errno(K_MISSING, "getrandom");
	if (b && !launches_size(&r->launches, b->w, c.launch, why, sizeof why))
		return outcome(r, OUT_DIED, "launch", "%s", why);
	e = before_go(r, b);
	if (e != OUT_OK)
		return e;
	if (judge.copies)
		cpu = cpu_ns(r);
	rows = b && b->look_row ? b->look_row : c.calls;
	send_rows(r, b, 0, rows);
	allow(r, judge.begin_on);
	own_delay = own_delay_ns();
	start = know_ns();
	send_command(r, &c, sizeof c);
	kill(r->pid, SIGCONT);
	allow(r, -1);
	e = look_between(r, b, rows, &seen)
	    ?: listen_until(r, b, start, judge.o.run_timeout_s, &report, &end, &sender);
	if (e == OUT_OK && judge.device)
		end = end_on_device(r, end);
	own_delay = own_delay_ns() - own_delay;
	/* Before it is stopped, which may make it wait as well. */
	done_delay = threads_delay_ns(r);
	used = cpu_ns(r) - cpu;
	if (judge.beside)
		own_delay = delay_since(used, own_delay);
	if (e == OUT_OK && judge.copies && report.what == KRUN_DONE)
		e = prepare(r, b, KRUN_COLLECT);
	spent_on(SPENT_STOPPING);
	e = e ?: stop(r) ?: look_at_report(r, &report, sender, c.nonce)
	      ?: own_time(r, &report, &own) ?: compare_glimpse(r, b, &seen);
	judge.space->release(seen.outputs);
	if (e != OUT_OK)
		return e;
	r->inside_ns += used;
	*s = (struct span){ .own_ns = own,
		.judge_ns = end - start,
		.cpu_ns = judge.copies ? used : r->frozen_cpu_ns - cpu,
		.done_cpu_ns = used,
		.delay_ns = delay_since(delay, done_delay),
		.judge_delay_ns = own_delay,
		.host_ns = (int64_t)report.value[1] };
	return look_at_lates(r);
}

enum outcome
runner_go(struct runner *r, const struct batch *b, struct span *s)
{
	struct span unused;
	auto_spent(SPENT_CALLING);
	enum outcome e = go(r, b, s);

	return e == OUT_OK && b && b->hidden ? go(r, NULL, &unused) : e;
}

/* ---- what it took ---- */

double
runner_undelayed_ns(const struct runner *r, const struct span *s)
{
	/* A device continues to work while those who wait for it have no processor. */
	if (judge.device)
		return (double)s->judge_ns;
	/* With several threads nobody can say how much of a wait the other threads made up for. */
	return (double)(s->judge_ns - s->judge_delay_ns - (r->threads == 1 ? s->delay_ns : 0));
}

/*
 * Which clock counts? The judge's clock is the only one that a candidate cannot touch, but it
 * includes the time that processes take to wake up, which differs from go to go (50 to 1000 us on
 * an idle virtual machine). Processor time comes from the kernel and is exact: for a program with
 * one thread that does not sleep, it is the time. The runner's own clock is exact, but may be
 * forged. So the exact clocks are believed unless the judge's, minus the spread of the handshakes,
 * says more.
 */
static double
exact_ns(const struct runner *r, const struct span *s, const struct handshake *h)
{
	double cpu = ((double)s->done_cpu_ns - h->cpu_ns) /
	    (judge.opencl ? r->threads : judge.o.threads),
	       own = (double)s->own_ns - h->own_ns;

	return r->threads == 1 && !judge.opencl ? (double)s->done_cpu_ns - h->cpu_ns
	                                        : fmax(own, cpu);
}

double
runner_ns(const struct runner *r, const struct span *s, const struct handshake *h)
{
	double ns = runner_undelayed_ns(r, s) - h->ns,
	       cpu = ((double)s->cpu_ns - h->stopped_cpu_ns * r->threads) / judge.o.threads;

	/* A driver's threads wait for their device in their own ways. */
	if (judge.device || judge.copies)
		return fmax(ns, 1);
	ns = fmax(ns - h->spread_ns, exact_ns(r, s, h));
	/* Work that continued after "done". */
	if (cpu > CLEARLY * ns + CPU_TRIFLE_NS && !judge.opencl)
		ns = cpu;
	return fmax(ns, 1);
}

double
runner_least_ns(const struct handshake *h)
{
	return judge.device || judge.copies ? h->range_ns : h->exact_range_ns;
}

/* ---- start and end ---- */

/* The range of the middle half. */
static double
range(double *v, size_t n)
{
	return kstat_quantile(v, n, 0.75) - kstat_quantile(v, n, 0.25);
}

/*
 * How far handshakes may differ: this many times the range of the middle half of them, plus a
 * little.
 */
enum { SPREAD_FACTOR = 2, SPREAD_NS = 20000 };

struct handshake
runner_handshake_of(const struct handshake *measured, size_t n)
{
	double v[4][HANDSHAKES];

	for (size_t i = 0; i < n; i++) {
		v[0][i] = measured[i].ns;
		v[1][i] = measured[i].own_ns;
		v[2][i] = measured[i].cpu_ns;
		v[3][i] = measured[i].stopped_cpu_ns;
	}
	return (struct handshake){ .ns = kstat_quantile(v[0], n, 0.5),
		.own_ns = kstat_quantile(v[1], n, 0.5),
		.cpu_ns = kstat_quantile(v[2], n, 0.5),
		.stopped_cpu_ns = kstat_quantile(v[3], n, 0.5),
		.spread_ns = SPREAD_FACTOR * range(v[0], n) + SPREAD_NS,
		.range_ns = range(v[0], n),
		.exact_range_ns = fmax(range(v[1], n), range(v[2], n)) };
}

struct handshake
runner_handshake_from(const struct runner *r, const struct span *s)
{
	/* On a busy machine a delay may be subtracted twice. */
	return (struct handshake){ .ns = fmax(0, runner_undelayed_ns(r, s)),
		.own_ns = (double)s->own_ns,
		.cpu_ns = (double)s->done_cpu_ns,
		.stopped_cpu_ns = (double)s->cpu_ns };
}

struct handshake
runner_handshake(struct runner *r)
{
	struct handshake measured[HANDSHAKES];
	double fences[HANDSHAKES];
	struct span s;

	for (size_t i = 0; i < HANDSHAKES; i++) {
		if (runner_go(r, NULL, &s) != OUT_OK)
			kdie(K_MISSING, "the runner: %s", r->why);
		measured[i] = runner_handshake_from(r, &s);
		fences[i] = (double)judge.space->fence();
	}
	r->fence_ns = (int64_t)kstat_quantile(fences, HANDSHAKES, 0.5);
	return runner_handshake_of(measured, HANDSHAKES);
}

void
runner_greet(struct runner *r)
{
	struct krun_report hello;
	int64_t at;
	enum outcome e = listen_until(r, NULL, know_ns(), START_S, &hello, &at, &r->pid);
	/* A device that is out of memory has some again when its other users are done. */
	if (e == OUT_OK && hello.what == KRUN_FAILED)
		kdie(kgpu_no_room(hello.text) ? K_AGAIN : K_MISSING, "the runner: %s", hello.text);
	if (e != OUT_OK || hello.what != KRUN_HELLO || r->pid <= 0)
		kdie(K_MISSING, "the runner did not start in the %s sandbox: %s: %.*s",
		    ksandbox_name(judge.level), r->why, (int)r->printed.len, r->printed.data ?: "");
	r->base[0] = hello.value[0];
	r->base[1] = hello.value[1];
	if (clock_getcpuclockid(r->pid, &r->clock))
		kdie(K_MISSING, "cannot read the processor clock of process %d", (int)r->pid);
	if (stop(r) != OUT_OK)
		kdie(K_IO, "the runner: %s", r->why);
}

/* From this moment on foreign code may run. */
enum outcome
runner_load(struct runner *r)
{
	struct krun_report report;
	pid_t sender;
	enum outcome e = exchange(r, NULL, KRUN_LOAD, &report, &sender);

	if (e == OUT_OK)
		e = stop(r);
	if (e != OUT_OK)
		return e;
	if (report.what == KRUN_FAILED)
		return outcome(r, OUT_DIED, "load", "it cannot be loaded: %s", report.text);
	if (report.what != KRUN_LOADED || sender != r->pid)
		return outcome(r, OUT_PROTOCOL, "forged_report",
		    "it wrote to the judge's connection while being loaded");
	return OUT_OK;
}

enum outcome
runner_spawn(struct runner *r, const char *file, struct memory *m)
{
	int pair[2], on = 1;

	*r = (struct runner){ .outer = -1, .output = -1, .m = m };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
	    setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, r->starts) < 0 ||
	    pipe2(r->rows, O_CLOEXEC | O_NONBLOCK) < 0)
		kdie_errno(K_IO, "the connection to the runner");
	r->socket = pair[0];
	if ((judge.opencl || (judge.device && launches_present(file))) &&
	    !launches_read(file, &r->launches, r->why, sizeof r->why)) {
		close(pair[1]);
		r->check = "launch";
		return OUT_DIED;
	}
	spawn(r, file, pair[1]);
	close(pair[1]);
	return OUT_OK;
}

void
runner_set_up(struct runner *r, struct memory *m)
{
	struct krun_setup setup;
	int memory[] = { m->in.runner_fd, m->out.runner_fd };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof memory)];
	} control = { .bytes = "" };
	struct iovec v = { &setup, sizeof setup };
	struct msghdr message = { .msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof control.bytes };

	r->m = m;
	write_setup(r, &setup);
	control.align = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof memory) };
	memcpy(CMSG_DATA(&control.align), memory, sizeof memory);
	/* A dead runner is noticed when it does not say hello. */
	TEMP_FAILURE_RETRY(sendmsg(r->socket, &message, MSG_NOSIGNAL));
}

enum outcome
runner_launch(struct runner *r, const char *file, struct memory *m)
{
	enum outcome e = runner_spawn(r, file, m);

	/* Now, not when it is greeted: a runner waits for this before it touches its device. */
	if (e == OUT_OK)
		runner_set_up(r, m);
	return e;
}

enum outcome
runner_open(struct runner *r, const char *file, struct memory *m)
{
	enum outcome e = runner_launch(r, file, m);

	if (e != OUT_OK)
		return e;
	runner_greet(r);
	return runner_load(r);
}

void
runner_close(struct runner *r)
{
	if (r->outer > 0)
		ksandbox_kill(r->outer);
	ksandbox_work_free(r->work);
	close(r->socket);
	close(r->rows[0]);
	close(r->rows[1]);
	close(r->starts[0]);
	close(r->starts[1]);
	if (r->output >= 0)
		close(r->output);
	kbuf_free(&r->printed);
}
