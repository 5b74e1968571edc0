/* SPDX-License-Identifier: Apache-2.0 */
/* kfilter: see kfilter.h. */
#include "kfilter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kutil.h"

/*
 * One row: a call, and optionally one condition "(argument & mask) == value" under which the row
 * holds.
 */
struct rule {
	const char *name;
	enum { ALWAYS, MASKED, SELF, SIGNAL, NOT } when;
	unsigned arg;
	/* MASKED; SELF: the argument is the id of this process; NOT: it is not VALUE */
	uint64_t mask, value;
	/* SIGNAL: as SELF, and argument VALUE is one of the signals below */
};

#define FLAG(name, arg, flag) \
	{ \
		name, MASKED, arg, flag, flag \
	}
#define WORD(name, arg, value) \
	{ \
		name, MASKED, arg, 0xffffffff, value \
	}
#define NONE(name, arg, mask) \
	{ \
		name, MASKED, arg, mask, 0 \
	}
#define OWN(name, arg) \
	{ \
		name, SELF, arg, 0, 0 \
	}
#define SIGNALS(name, arg, number) \
	{ \
		name, SIGNAL, arg, 0, number \
	}
#define BITS(name, arg, mask, value) \
	{ \
		name, MASKED, arg, mask, value \
	}
#define OTHER(name, arg, value) \
	{ \
		name, NOT, arg, 0, value \
	}
#define CALL(name) \
	{ \
		name, ALWAYS, 0, 0, 0 \
	}

/* Refused with EPERM under every sandboxed program, compilers too. */
static const struct rule launch_refused[] = {
	/* keys: the keyrings are not covered by namespaces */
	CALL("keyctl"),
	CALL("add_key"),
	CALL("request_key"),
	CALL("socketcall"),
	/* other processes */
	CALL("ptrace"),
	CALL("process_vm_readv"),
	CALL("process_vm_writev"),
	CALL("process_madvise"),
	CALL("process_mrelease"),
	CALL("kcmp"),
	CALL("pidfd_getfd"),
	CALL("pidfd_send_signal"),
	/* wide kernel interfaces */
	CALL("bpf"),
	CALL("perf_event_open"),
	CALL("userfaultfd"),
	CALL("io_uring_setup"),
	CALL("io_uring_enter"),
	CALL("io_uring_register"),
	CALL("fanotify_init"),
	CALL("lookup_dcookie"),
	CALL("modify_ldt"),
	CALL("vhangup"),
	/* mounts and namespaces */
	CALL("mount"),
	CALL("umount"),
	CALL("umount2"),
	CALL("pivot_root"),
	CALL("chroot"),
	CALL("setns"),
	CALL("unshare"),
	CALL("open_tree"),
	CALL("move_mount"),
	CALL("fsopen"),
	CALL("fsconfig"),
	CALL("fsmount"),
	CALL("fspick"),
	CALL("mount_setattr"),
	CALL("name_to_handle_at"),
	CALL("open_by_handle_at"),
	FLAG("clone", 0, CLONE_NEWNS),
	FLAG("clone", 0, CLONE_NEWUTS),
	FLAG("clone", 0, CLONE_NEWIPC),
	FLAG("clone", 0, CLONE_NEWUSER),
	FLAG("clone", 0, CLONE_NEWPID),
	FLAG("clone", 0, CLONE_NEWNET),
	FLAG("clone", 0, CLONE_NEWCGROUP),
	/* the machine */
	CALL("kexec_load"),
	CALL("kexec_file_load"),
	CALL("init_module"),
	CALL("finit_module"),
	CALL("delete_module"),
	CALL("reboot"),
	CALL("swapon"),
	CALL("swapoff"),
	CALL("syslog"),
	CALL("acct"),
	CALL("quotactl"),
	CALL("quotactl_fd"),
	CALL("iopl"),
	CALL("ioperm"),
	CALL("settimeofday"),
	CALL("clock_settime"),
	CALL("clock_adjtime"),
	CALL("adjtimex"),
	CALL("sethostname"),
	CALL("setdomainname"),
	CALL("migrate_pages"),
	CALL("move_pages"),
	CALL("ioprio_set"),
	/* memory that no limit of the process counts */
	CALL("shmget"),
	CALL("msgget"),
	CALL("semget"),
	CALL("mq_open"),
	/* typing into the user's terminal */
	WORD("ioctl", 1, TIOCSTI),
	WORD("ioctl", 1, TIOCLINUX),
};

/*
 * Networks: AF_VSOCK is not covered by namespaces. Drivers of GPUs speak to their own threads
 * through local sockets.
 */
static const struct rule networks_refused[] = { CALL("socket"), CALL("socketpair") };
static const struct rule networks_refused_gpu[] = { OTHER("socket", 0, AF_UNIX),
	OTHER("socketpair", 0, AF_UNIX) };

/*
 * Calls whose flags lie in memory, where a filter can't look: ENOSYS makes the C library use the
 * older call.
 */
static const char *const too_new[] = { "clone3", "openat2" };

enum { WRITES = O_ACCMODE | O_CREAT | O_TRUNC };

/*
 * "(signal & mask) == value": all but 18 to 23, among which are those that stop a process or let it
 * go on. Signals above them are the C library's to cancel a thread, and real-time ones. The mask
 * has all 64 bits, of which the kernel looks at 32.
 */
static const struct {
	uint64_t mask, value;
} signals[] = {
	{ ~(uint64_t)15, 0 },
	{ ~(uint64_t)1, 16 },
	{ ~(uint64_t)7, 24 },
	{ ~(uint64_t)31, 32 },
	{ ~(uint64_t)0, 64 },
};
_Static_assert(SIGCONT >= 18 && SIGSTOP >= 18 && SIGTSTP <= 23 && SIGTTIN <= 23 && SIGTTOU <= 23,
    "other numbers of signals");

/* All that sealed code may call; everything else fails with EPERM. */
static const struct rule seal_allowed[] = {
	/* memory */
	CALL("brk"),
	CALL("mmap"),
	CALL("mmap2"),
	CALL("munmap"),
	CALL("mprotect"),
	CALL("mremap"),
	CALL("madvise"),
	CALL("msync"),
	CALL("mincore"),
	CALL("mlock"),
	CALL("mlock2"),
	CALL("munlock"),
	CALL("mbind"),
	CALL("set_mempolicy"),
	CALL("get_mempolicy"),
	CALL("pkey_mprotect"),
	CALL("pkey_alloc"),
	CALL("pkey_free"),
	CALL("membarrier"),
	/* threads */
	BITS("clone", 0, CLONE_THREAD | CLONE_VFORK, CLONE_THREAD),
	CALL("set_robust_list"),
	CALL("get_robust_list"),
	CALL("set_tid_address"),
	CALL("rseq"),
	CALL("futex"),
	CALL("futex_time64"),
	CALL("futex_waitv"),
	CALL("gettid"),
	CALL("arch_prctl"),
	CALL("set_tls"),
	CALL("exit"),
	CALL("exit_group"),
	CALL("restart_syscall"),
	CALL("sched_yield"),
	CALL("sched_getaffinity"),
	CALL("sched_getscheduler"),
	CALL("sched_getparam"),
	CALL("sched_get_priority_max"),
	CALL("sched_get_priority_min"),
	CALL("getcpu"),
	WORD("prctl", 0, PR_SET_NAME),
	WORD("prctl", 0, PR_GET_NAME),
	WORD("prctl", 0, 0x53564d41 /* PR_SET_VMA: malloc names its arenas */),
	WORD("prctl", 0, PR_GET_DUMPABLE),
	/* time */
	CALL("clock_gettime"),
	CALL("clock_gettime64"),
	CALL("clock_getres"),
	CALL("gettimeofday"),
	CALL("time"),
	CALL("times"),
	CALL("nanosleep"),
	CALL("clock_nanosleep"),
	CALL("clock_nanosleep_time64"),
	CALL("getrusage"),
	/*
	 * not timer_create: its signal may be SIGCONT, which would wake a process that the judge
	 * has stopped
	 */
	CALL("setitimer"),
	CALL("alarm"),
	CALL("pause"),
	/* signals within this process; a SIGCONT of its own would undo the judge's SIGSTOP */
	CALL("rt_sigaction"),
	CALL("rt_sigprocmask"),
	CALL("rt_sigreturn"),
	CALL("rt_sigpending"),
	CALL("rt_sigsuspend"),
	CALL("rt_sigtimedwait"),
	CALL("sigaltstack"),
	CALL("sigreturn"),
	SIGNALS("kill", 0, 1),
	SIGNALS("tgkill", 0, 2),
	SIGNALS("rt_tgsigqueueinfo", 0, 2),
	/* open descriptors */
	CALL("read"),
	CALL("write"),
	CALL("readv"),
	CALL("writev"),
	CALL("pread64"),
	CALL("pwrite64"),
	CALL("preadv"),
	CALL("pwritev"),
	CALL("lseek"),
	CALL("_llseek"),
	CALL("close"),
	CALL("close_range"),
	CALL("dup"),
	CALL("dup2"),
	CALL("dup3"),
	CALL("pipe"),
	CALL("pipe2"),
	CALL("eventfd2"),
	CALL("poll"),
	CALL("ppoll"),
	CALL("select"),
	CALL("pselect6"),
	CALL("epoll_create1"),
	CALL("epoll_ctl"),
	CALL("epoll_wait"),
	CALL("epoll_pwait"),
	CALL("fsync"),
	CALL("fdatasync"),
	WORD("fcntl", 1, F_GETFD),
	WORD("fcntl", 1, F_SETFD),
	WORD("fcntl", 1, F_GETFL),
	WORD("fcntl", 1, F_SETFL),
	WORD("fcntl", 1, F_DUPFD),
	WORD("fcntl", 1, F_DUPFD_CLOEXEC),
	WORD("ioctl", 1, TCGETS),
	/* files, to read */
	NONE("open", 1, WRITES),
	NONE("openat", 2, WRITES),
	CALL("fstat"),
	CALL("fstat64"),
	CALL("stat"),
	CALL("stat64"),
	CALL("lstat"),
	CALL("newfstatat"),
	CALL("fstatat64"),
	CALL("statx"),
	CALL("statfs"),
	CALL("fstatfs"),
	CALL("access"),
	CALL("faccessat"),
	CALL("faccessat2"),
	CALL("readlink"),
	CALL("readlinkat"),
	CALL("getdents64"),
	CALL("getcwd"),
	CALL("fadvise64"),
	/* who and where am I */
	CALL("getpid"),
	CALL("getppid"),
	CALL("getpgrp"),
	CALL("getuid"),
	CALL("geteuid"),
	CALL("getgid"),
	CALL("getegid"),
	CALL("uname"),
	CALL("sysinfo"),
	CALL("getrandom"),
	CALL("getrlimit"),
	CALL("ugetrlimit"),
	WORD("prlimit64", 0, 0),
	OWN("prlimit64", 0),
};

/*
 * OpenMP places its threads by their ids, which no filter can tell from the ids of other processes.
 */
static const struct rule seal_alone_allowed[] = { CALL("sched_setaffinity") };

/*
 * What the drivers of GPUs need besides: orders to open device files, whose meaning no filter can
 * tell, and more of those files, which are all that can be opened for writing in the sandbox.
 */
static const struct rule seal_gpu_allowed[] = {
	CALL("ioctl"),
	CALL("openat"),
	CALL("open"),
	CALL("fcntl"),
	CALL("mlockall"),
	CALL("sched_setscheduler"),
	CALL("prctl"),
	CALL("memfd_create"),
	CALL("ftruncate"),
	CALL("sched_setaffinity"),
};

/*
 * A call that this machine's tables don't know is no hole: LAUNCH names only old calls, and SEAL
 * refuses all it does not list.
 */
static int
add_rules(scmp_filter_ctx ctx, uint32_t action, const struct rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct rule *r = &rules[i];
		const struct scmp_arg_cmp when = r->when == SELF || r->when == SIGNAL
		    ? SCMP_CMP(r->arg, SCMP_CMP_EQ, (scmp_datum_t)getpid())
		    : r->when == NOT ? SCMP_CMP(r->arg, SCMP_CMP_NE, r->value)
		                     : SCMP_CMP(r->arg, SCMP_CMP_MASKED_EQ, r->mask, r->value);
		int nr = seccomp_syscall_resolve_name(r->name), e = 0;

		if (nr >= 0 && r->when != SIGNAL)
			e = seccomp_rule_add_array(ctx, action, nr, r->when != ALWAYS, &when);
		for (size_t k = 0; nr >= 0 && r->when == SIGNAL && !e && k < LEN(signals); k++)
			e = seccomp_rule_add(ctx, action, nr, 2, when,
			    SCMP_CMP((unsigned)r->value, SCMP_CMP_MASKED_EQ, signals[k].mask,
			        signals[k].value));
		if (e)
			return e;
	}
	return 0;
}

static bool
is_seal(enum kfilter which)
{
	return which == KFILTER_SEAL || which == KFILTER_SEAL_ALONE || which == KFILTER_SEAL_GPU;
}

static int
fill(scmp_filter_ctx ctx, enum kfilter which)
{
	int e = 0;

	/* Where the kernel is too old to end the process, the default ends the thread. */
	seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	for (size_t i = 0; !e && i < LEN(too_new); i++) {
		int nr = seccomp_syscall_resolve_name(too_new[i]);

		if (nr >= 0)
			e = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), nr, 0);
	}
	if (e)
		return e;
	if (which == KFILTER_SEAL_GPU)
		e = add_rules(ctx, SCMP_ACT_ALLOW, seal_gpu_allowed, LEN(seal_gpu_allowed));
	if (which == KFILTER_SEAL_ALONE)
		e = add_rules(ctx, SCMP_ACT_ALLOW, seal_alone_allowed, LEN(seal_alone_allowed));
	if (e)
		return e;
	if (is_seal(which))
		return add_rules(ctx, SCMP_ACT_ALLOW, seal_allowed, LEN(seal_allowed));
	e = which == KFILTER_LAUNCH_GPU
	    ? add_rules(ctx, SCMP_ACT_ERRNO(EPERM), networks_refused_gpu, LEN(networks_refused_gpu))
	    : add_rules(ctx, SCMP_ACT_ERRNO(EPERM), networks_refused, LEN(networks_refused));
	if (e)
		return e;
	return add_rules(ctx, SCMP_ACT_ERRNO(EPERM), launch_refused, LEN(launch_refused));
}

/* The program as libseccomp writes it to a file. */
static struct sock_fprog *export(scmp_filter_ctx ctx)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	struct sock_fprog *program = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (seccomp_export_bpf(ctx, fd) == 0 && fstat(fd, &st) == 0) {
		program = kmalloc(sizeof *program);
		program->len = (unsigned short)((size_t)st.st_size / sizeof *program->filter);
		program->filter = kmalloc((size_t)st.st_size);
		if (pread(fd, program->filter, (size_t)st.st_size, 0) != st.st_size) {
			kfilter_free(program);
			program = NULL;
		}
	}
	close(fd);
	return program;
}

struct sock_fprog *
kfilter_new(enum kfilter which)
{
	scmp_filter_ctx ctx = seccomp_init(is_seal(which) ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ALLOW);
	struct sock_fprog *program = NULL;

	if (ctx && fill(ctx, which) == 0)
		program = export(ctx);
	if (ctx)
		seccomp_release(ctx);
	if (!program)
		errno = ENOSYS;
	return program;
}

void
kfilter_free(struct sock_fprog *program)
{
	if (program)
		free(program->filter);
	free(program);
}

int
kfilter_install(const struct sock_fprog *program)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	/* A positive answer is the id of a thread that could not be brought under the filter. */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program) ==
	        0
	    ? 0
	    : -1;
}
