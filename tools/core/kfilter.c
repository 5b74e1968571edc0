/* SPDX-License-Identifier: Apache-2.0 */
/* kfilter: see kfilter.h. */
#include "kfilter.h"

#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "kutil.h"

/*
 * One row: calls, and optionally a condition "(argument & mask) == value" under which the row
 * applies.
 */
struct rule {
	const char *names;
	enum { ALWAYS, MASKED, SELF, SIGNAL, NOT } when;
	unsigned arg;
	/* MASKED; SELF: the argument is the id of this process; NOT: it is not VALUE */
	uint64_t mask, value;
	/* SIGNAL: like SELF, and argument VALUE is one of the signals below */
};

#define FLAG(name, arg, flag) \
	{ \
		name, MASKED, arg, flag, flag \
	}
#define WORD(name, arg, value) \
	{ \
		name, MASKED, arg, 0xffffffff, value \
	}
#define SIGNALS(name, arg, number) \
	{ \
		name, SIGNAL, arg, 0, number \
	}
#define BITS(name, arg, mask, value) \
	{ \
		name, MASKED, arg, mask, value \
	}
#define CALLS(names) \
	{ \
		names, ALWAYS, 0, 0, 0 \
	}

/* Refused with EPERM for every sandboxed program, compilers too. */
static const struct rule launch_refused[] = {
	/* keys: the keyrings are not covered by namespaces */
	CALLS("keyctl add_key request_key socketcall"),
	/* other processes */
	CALLS("ptrace process_vm_readv process_vm_writev process_madvise "
	      "process_mrelease kcmp pidfd_getfd pidfd_send_signal"),
	/* wide kernel interfaces */
	CALLS("bpf perf_event_open userfaultfd io_uring_setup io_uring_enter "
	      "io_uring_register fanotify_init lookup_dcookie modify_ldt vhangup"),
	/* mounts and namespaces */
	CALLS("mount umount umount2 pivot_root chroot setns unshare open_tree "
	      "move_mount fsopen fsconfig fsmount fspick mount_setattr "
	      "name_to_handle_at open_by_handle_at"),
	FLAG("clone", 0, CLONE_NEWNS),
	FLAG("clone", 0, CLONE_NEWUTS),
	FLAG("clone", 0, CLONE_NEWIPC),
	FLAG("clone", 0, CLONE_NEWUSER),
	FLAG("clone", 0, CLONE_NEWPID),
	FLAG("clone", 0, CLONE_NEWNET),
	FLAG("clone", 0, CLONE_NEWCGROUP),
	/* the machine */
	CALLS("kexec_load kexec_file_load init_module finit_module delete_module "
	      "reboot swapon swapoff syslog acct quotactl quotactl_fd iopl ioperm "
	      "settimeofday clock_settime clock_adjtime adjtimex sethostname "
	      "setdomainname migrate_pages move_pages ioprio_set"),
	/* memory that is not counted against any limit of the process */
	CALLS("shmget msgget semget mq_open"),
	/* typing into the user's terminal */
	WORD("ioctl", 1, TIOCSTI),
	WORD("ioctl", 1, TIOCLINUX),
};

/*
 * Networks: AF_VSOCK is not covered by namespaces. GPU drivers talk to their own threads through
 * local sockets.
 */
static const struct rule networks_refused[] = { CALLS("socket socketpair") };
static const struct rule networks_refused_gpu[] = { { "socket socketpair", NOT, 0, 0, AF_UNIX } };

/*
 * Calls whose flags are in memory, where a filter cannot look: ENOSYS makes the C library use the
 * older call.
 */
static const struct rule too_new[] = { CALLS("clone3 openat2") };

enum { WRITES = O_ACCMODE | O_CREAT | O_TRUNC };

/*
 * "(signal & mask) == value": all signals but 18 to 23, which include those that stop or continue a
 * process. The signals above are those the C library uses to cancel a thread, and real-time
 * signals. The mask has all 64 bits, of which the kernel looks at 32.
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

/* Everything that sealed code may call; all other calls fail with EPERM. */
static const struct rule seal_allowed[] = {
	/* memory */
	CALLS("brk mmap mmap2 munmap mprotect mremap madvise msync mincore mlock "
	      "mlock2 munlock mbind set_mempolicy get_mempolicy pkey_mprotect "
	      "pkey_alloc pkey_free membarrier"),
	/* threads */
	BITS("clone", 0, CLONE_THREAD | CLONE_VFORK, CLONE_THREAD),
	CALLS("set_robust_list get_robust_list set_tid_address rseq futex "
	      "futex_time64 futex_waitv gettid arch_prctl set_tls exit exit_group "
	      "restart_syscall sched_yield sched_getaffinity sched_getscheduler "
	      "sched_getparam sched_get_priority_max sched_get_priority_min getcpu"),
	WORD("prctl", 0, PR_SET_NAME),
	WORD("prctl", 0, PR_GET_NAME),
	WORD("prctl", 0, 0x53564d41 /* PR_SET_VMA: malloc names its arenas */),
	WORD("prctl", 0, PR_GET_DUMPABLE),
	/* time */
	CALLS("clock_gettime clock_gettime64 clock_getres gettimeofday time times "
	      "nanosleep clock_nanosleep clock_nanosleep_time64 getrusage"),
	/*
	 * not timer_create: its signal may be SIGCONT, which would wake a process that the judge
	 * has stopped
	 */
	CALLS("setitimer alarm pause"),
	/* signals within this process; a SIGCONT of its own would undo the judge's SIGSTOP */
	CALLS("rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend "
	      "rt_sigtimedwait sigaltstack sigreturn"),
	SIGNALS("kill", 0, 1),
	SIGNALS("tgkill", 0, 2),
	SIGNALS("rt_tgsigqueueinfo", 0, 2),
	/* open descriptors */
	CALLS("read write readv writev pread64 pwrite64 preadv pwritev lseek _llseek "
	      "close close_range dup dup2 dup3 pipe pipe2 eventfd2 poll ppoll select "
	      "pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait fsync "
	      "fdatasync"),
	WORD("fcntl", 1, F_GETFD),
	WORD("fcntl", 1, F_SETFD),
	WORD("fcntl", 1, F_GETFL),
	WORD("fcntl", 1, F_SETFL),
	WORD("fcntl", 1, F_DUPFD),
	WORD("fcntl", 1, F_DUPFD_CLOEXEC),
	WORD("ioctl", 1, TCGETS),
	/* files, to read */
	BITS("open", 1, WRITES, 0),
	BITS("openat", 2, WRITES, 0),
	CALLS("fstat fstat64 stat stat64 lstat newfstatat fstatat64 statx statfs "
	      "fstatfs access faccessat faccessat2 readlink readlinkat getdents64 "
	      "getcwd fadvise64"),
	/* who and where am I */
	CALLS("getpid getppid getpgrp getuid geteuid getgid getegid uname sysinfo "
	      "getrandom getrlimit ugetrlimit"),
	WORD("prlimit64", 0, 0),
	{ "prlimit64", SELF, 0, 0, 0 },
};

/*
 * OpenMP places its threads by their ids, which no filter can tell from the ids of other processes.
 */
static const struct rule seal_alone_allowed[] = { CALLS("sched_setaffinity") };

/*
 * What GPU drivers need in addition: commands to open device files (ioctl), whose meaning a filter
 * cannot know, and opening more of those files, the only ones in the sandbox that can be opened for
 * writing.
 */
static const struct rule seal_gpu_allowed[] = {
	CALLS("ioctl openat open fcntl mlockall sched_setscheduler prctl memfd_create "
	      "ftruncate sched_setaffinity"),
};

/* Where each table of rules applies, and what its calls return: an error, or 0. */
enum {
	LAUNCHES = 1 << KFILTER_LAUNCH | 1 << KFILTER_LAUNCH_GPU,
	SEALS = 1 << KFILTER_SEAL | 1 << KFILTER_SEAL_ALONE | 1 << KFILTER_SEAL_GPU
};
static const struct {
	int filters, error;
	const struct rule *rules;
	size_t count;
} tables[] = {
	{ LAUNCHES | SEALS, ENOSYS, too_new, LEN(too_new) },
	{ 1 << KFILTER_SEAL_GPU, 0, seal_gpu_allowed, LEN(seal_gpu_allowed) },
	{ 1 << KFILTER_SEAL_ALONE, 0, seal_alone_allowed, LEN(seal_alone_allowed) },
	{ SEALS, 0, seal_allowed, LEN(seal_allowed) },
	{ 1 << KFILTER_LAUNCH_GPU, EPERM, networks_refused_gpu, LEN(networks_refused_gpu) },
	{ 1 << KFILTER_LAUNCH, EPERM, networks_refused, LEN(networks_refused) },
	{ LAUNCHES, EPERM, launch_refused, LEN(launch_refused) },
};

static int
add_rule(scmp_filter_ctx ctx, uint32_t action, const struct rule *r, int nr)
{
	const struct scmp_arg_cmp when = r->when == SELF || r->when == SIGNAL
	    ? SCMP_CMP(r->arg, SCMP_CMP_EQ, (scmp_datum_t)getpid())
	    : r->when == NOT ? SCMP_CMP(r->arg, SCMP_CMP_NE, r->value)
	                     : SCMP_CMP(r->arg, SCMP_CMP_MASKED_EQ, r->mask, r->value);
	int e = 0;

	if (r->when != SIGNAL)
		return seccomp_rule_add_array(ctx, action, nr, r->when != ALWAYS, &when);
	for (size_t k = 0; !e && k < LEN(signals); k++)
		e = seccomp_rule_add(ctx, action, nr, 2, when,
		    SCMP_CMP(
		        (unsigned)r->value, SCMP_CMP_MASKED_EQ, signals[k].mask, signals[k].value));
	return e;
}

/*
 * A call that this machine's tables do not know opens no hole: LAUNCH names only old calls, and
 * SEAL refuses everything that it does not list.
 */
static int
add_rules(scmp_filter_ctx ctx, uint32_t action, const struct rule *r)
{
	auto_free char *names = kstrdup(r->names);
	char *save = NULL;
	int e = 0;

	for (char *n = strtok_r(names, " ", &save); n && !e; n = strtok_r(NULL, " ", &save)) {
		int nr = seccomp_syscall_resolve_name(n);

		e = nr < 0 ? 0 : add_rule(ctx, action, r, nr);
	}
	return e;
}

static int
fill(scmp_filter_ctx ctx, enum kfilter which)
{
	int e = 0;

	/* Where the kernel is too old to end the process, the default ends the thread. */
	seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	kforeach(table, tables)
		for (size_t i = 0; table->filters >> which & 1 && !e && i < table->count; i++)
			e = add_rules(ctx,
			    table->error ? SCMP_ACT_ERRNO((uint32_t)table->error) : SCMP_ACT_ALLOW,
			    &table->rules[i]);
	return e;
}

/* The program as libseccomp writes it to a file. */
static struct sock_fprog *export(scmp_filter_ctx ctx)
{
	auto_close int fd = memfd_create("filter", MFD_CLOEXEC);
	struct sock_fprog *program = NULL;
	struct stat st;

	if (fd >= 0 && seccomp_export_bpf(ctx, fd) == 0 && fstat(fd, &st) == 0) {
		program = kmalloc(sizeof *program);
		program->len = (unsigned short)((size_t)st.st_size / sizeof *program->filter);
		program->filter = kmalloc((size_t)st.st_size);
		if (pread(fd, program->filter, (size_t)st.st_size, 0) != st.st_size) {
			kfilter_free(program);
			program = NULL;
		}
	}
	return program;
}

struct sock_fprog *
kfilter_new(enum kfilter which)
{
	scmp_filter_ctx ctx =
	    seccomp_init(SEALS >> which & 1 ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ALLOW);
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
	/* A positive result is the id of a thread that could not be put under the filter. */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program) ==
	        0
	    ? 0
	    : -1;
}
