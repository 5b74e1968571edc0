/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksandbox: see ksandbox.h. Work folders are in kwork.c, system call filters in kfilter.c, file
 * rules in klandlock.c.
 */
#include "ksandbox.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "kfilter.h"
#include "klandlock.h"
#include "kuser.h"

#define FOLDERS "/usr/local/bin:/usr/bin:/bin:/usr/local/cuda/bin:/opt/rocm/bin"
#define INSIDE "/w"

enum {
	DEFAULT_PROCESSES = 256,
	DEFAULT_FILE_BYTES = 256 << 20,
	OPEN_FILES = 1024,
	STAGE_MAX = 1 << 30
};

/* What every program needs of the system, read-only; links stay links inside. */
static const char *const system_paths[] = {
	"/usr",
	"/bin",
	"/sbin",
	"/lib",
	"/lib32",
	"/lib64",
	"/libx32",
	"/etc/ld.so.cache",
	"/etc/alternatives",
	"/sys/devices/system",
	/* where GPU vendors put their tools; nothing else of /opt */
	"/opt/nvidia",
	"/opt/rocm",
};
/* The same for Landlock, where /dev and /proc are those of the machine. */
static const char *const system_devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
	"/dev/urandom" };
static const char *const system_facts[] = { "/proc/cpuinfo", "/proc/meminfo" };

/* Device files of GPUs, as patterns, and the machine's files that their drivers read. */
static const char *const gpu_devices[] = {
	"/dev/nvidia[0-9]*",
	"/dev/nvidiactl",
	"/dev/nvidia-uvm*",
	"/dev/kfd",
	"/dev/dri/renderD*",
};
static const char *const gpu_facts[] = { "/proc", "/sys", "/etc/OpenCL" };

static const char *const names[] = {
	[KSANDBOX_NONE] = "none",
	[KSANDBOX_LANDLOCK] = "landlock",
	[KSANDBOX_BWRAP] = "bwrap",
};

/*
 * Everything that one start needs; built before the fork, so that the child only makes system
 * calls.
 */
struct launch {
	const struct ksandbox *s;
	struct kproc proc;
	char **argv;                 /* owned; its strings are borrowed, or texts of kshown */
	char **env;                  /* the same */
	int *keep;                   /* owned */
	size_t keep_count, own_from; /* keep[own_from..] are ours to close */
	/* whether bwrap reports its result; somebody must then read status[0] */
	bool reports;
	int status[2];             /* -1 when there are no reports */
	int ruleset;               /* Landlock, or -1 */
	struct sock_fprog *filter; /* for levels that install it themselves */
	uint64_t processes;
	pid_t parent;
};

/* A growing NULL-terminated list of strings, which must stay. */
static void
push(char ***list, const char *item)
{
	size_t n = 0;

	while (*list && (*list)[n])
		n++;
	*list = krealloc(*list, (n + 2) * sizeof **list);
	(*list)[n] = (char *)item;
	(*list)[n + 1] = NULL;
}

/* All WORDS, which may be NULL. */
static void
push_all(char ***list, char *const *words)
{
	for (; words && *words; words++)
		push(list, *words);
}

/* Pass on a descriptor of ours (-1: there is none), which is closed after the start. */
static int
keep_own(struct launch *l, int fd)
{
	if (fd >= 0)
		*kadded(l->keep, l->keep_count) = fd;
	return fd;
}

/*
 * Open a file in a folder that only root can enter; warns and returns -1 if there is none, or it is
 * not a file.
 */
static int
open_unreachable(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		kwarn("%s: %s", path, strerror(errno));
	else if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	else
		kwarn("%s: only root can read it, but candidates run as the user nobody; chmod "
		      "o+rx it and the folders above it",
		    path);
	if (fd >= 0)
		close(fd);
	errno = EACCES;
	return -1;
}

/* ---- bubblewrap ---- */

static void
add_words(struct kbuf *args, const char *const *words)
{
	for (; *words; words++)
		kbuf_add(args, *words, strlen(*words) + 1);
}

#define arg(args, ...) add_words(args, (const char *const[]){ __VA_ARGS__, NULL })

static void
arg_fd(struct kbuf *args, const char *option, int fd)
{
	arg(args, option, kshown("%d", fd));
}

static void
arg_tmpfs(struct kbuf *args, const char *size, const char *where)
{
	arg(args, "--size", size, "--perms", "1777", "--tmpfs", where);
}

static void
arg_system(struct kbuf *args)
{
	char target[4096];

	kforeach(path, system_paths) {
		ssize_t n = readlink(*path, target, sizeof target - 1);

		if (n > 0) {
			target[n] = '\0';
			arg(args, "--symlink", target, *path);
		} else {
			arg(args, "--ro-bind-try", *path, *path);
		}
	}
}

/*
 * A file that only root can reach is opened here, and bwrap makes a copy; a folder must be
 * reachable.
 */
static int
arg_bind(struct kbuf *args, struct launch *l, const struct ksandbox_bind *b)
{
	int fd;

	if (kuser_reaches(b->host)) {
		arg(args, "--ro-bind", b->host, b->inside);
		return 0;
	}
	fd = keep_own(l, open_unreachable(b->host));
	if (fd < 0)
		return -1;
	arg(args, "--perms", "0555");
	arg_fd(args, "--ro-bind-data", fd);
	arg(args, b->inside);
	return 0;
}

static int
arg_binds(struct kbuf *args, struct launch *l)
{
	kforeach_of(bind, l->s->binds, l->s->bind_count)
		if (arg_bind(args, l, bind) < 0)
			return -1;
	return 0;
}

/*
 * bubblewrap's options, as the file that --args reads: on its command line sandboxed programs could
 * read them.
 */
static int
bwrap_options(struct launch *l, struct kbuf *args)
{
	bool build = l->s->profile == KSANDBOX_BUILD;
	int filter;

	arg(args, "--unshare-all", "--unshare-user", "--disable-userns", "--uid", "65534", "--gid",
	    "65534", "--hostname", "kiln", "--cap-drop", "ALL", "--die-with-parent",
	    "--new-session");
	arg_system(args);
	arg(args, "--proc", "/proc", "--dev", "/dev");
	arg_tmpfs(args, "16777216", "/dev/shm");
	arg_tmpfs(args, build ? "536870912" : "16777216", "/tmp");
	if (l->s->work)
		arg(args, "--bind", l->s->work, INSIDE);
	if (arg_binds(args, l) < 0)
		return -1;
	if (l->s->gpu) {
		kforeach(pattern, gpu_devices)
			kpath_foreach(path, *pattern)
				arg(args, "--dev-bind", path, path);
		arg(args, "--ro-bind-try", "/sys", "/sys");
		arg(args, "--ro-bind-try", "/etc/OpenCL", "/etc/OpenCL");
	}
	arg(args, "--chdir", l->s->work ? INSIDE : "/", "--remount-ro", "/dev", "--remount-ro",
	    "/");
	filter = kproc_memory(l->filter->filter, l->filter->len * sizeof *l->filter->filter);
	arg_fd(args, "--seccomp", keep_own(l, filter));
	if (l->reports) {
		if (pipe2(l->status, O_CLOEXEC) < 0)
			return -1;
		arg_fd(args, "--json-status-fd", keep_own(l, l->status[1]));
	}
	return 0;
}

static int
prepare_bwrap(struct launch *l, char *const *argv)
{
	auto_buf struct kbuf args = { 0 };
	int fd = -1;

	l->filter = kfilter_new(l->s->gpu ? KFILTER_LAUNCH_GPU : KFILTER_LAUNCH);
	if (l->filter && bwrap_options(l, &args) == 0)
		fd = keep_own(l, kproc_memory(args.data, args.len));
	if (fd < 0)
		return -1;
	push_all(&l->argv, l->s->around);
	push(&l->argv, "bwrap");
	push(&l->argv, "--args");
	push(&l->argv, kshown("%d", fd));
	/* The process limit is set inside, where only the sandbox's own processes count. */
	push(&l->argv, "prlimit");
	push(&l->argv, kshown("--nproc=%llu", (unsigned long long)l->processes));
	push(&l->argv, "--");
	push_all(&l->argv, argv);
	push(&l->env, "HOME=/tmp");
	push(&l->env, "TMPDIR=/tmp");
	return 0;
}

/* Whether bwrap came as far as starting the program: it reports an exit code only then. */
static bool
bwrap_started(struct launch *l)
{
	char text[4096];
	ssize_t n;

	fcntl(l->status[0], F_SETFL, O_NONBLOCK);
	n = read(l->status[0], text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, "exit-code") != NULL;
}

/* ---- Landlock, and limits alone ---- */

/*
 * Path where a program outside a mount namespace finds a bind: its own path, or that of a copy in
 * the work folder if only root can reach it. NULL and errno.
 */
static const char *
stage(const struct ksandbox *s, const struct ksandbox_bind *b, size_t number)
{
	const char *name = kshown(".ro/%zu", number);
	auto_free char *data = NULL;
	auto_close int fd = -1;
	size_t len;

	if (kuser_reaches(b->host))
		return b->host;
	fd = open_unreachable(b->host);
	if (fd < 0)
		return NULL;
	data = s->work ? kread_file(b->host, STAGE_MAX, &len) : NULL;
	if (!data || ksandbox_put(s->work, name, data, len, 0755) < 0)
		return NULL;
	return kshown("%s/%s", s->work, name);
}

static int
allow_all(int ruleset, const char *const *paths, size_t count, enum klandlock_access access)
{
	int e = 0;

	for (size_t i = 0; i < count && !e; i++)
		e = klandlock_allow(ruleset, paths[i], access) < 0 ? -1 : 0;
	return e;
}

/* Rules for the system's files, the work folder and the binds. */
static int
add_rules(int ruleset, const struct ksandbox *s, char *const *staged)
{
	if (allow_all(ruleset, system_paths, LEN(system_paths), KLANDLOCK_READ) < 0 ||
	    allow_all(ruleset, system_devices, LEN(system_devices), KLANDLOCK_DEVICE) < 0 ||
	    allow_all(ruleset, system_facts, LEN(system_facts), KLANDLOCK_READ) < 0 ||
	    allow_all(ruleset, gpu_facts, s->gpu ? LEN(gpu_facts) : 0, KLANDLOCK_READ) < 0 ||
	    allow_all(ruleset, (const char *const *)staged, s->bind_count, KLANDLOCK_READ) < 0)
		return -1;
	kforeach_of(pattern, gpu_devices, s->gpu ? LEN(gpu_devices) : 0)
		kpath_foreach(path, *pattern)
			if (klandlock_allow(ruleset, path, KLANDLOCK_DEVICE) < 0)
				return -1;
	return s->work ? klandlock_allow(ruleset, s->work, KLANDLOCK_ALL) : 0;
}

/* The command with the inside paths of binds replaced by their real paths. */
static void
translate(struct launch *l, char *const *argv, char *const *staged)
{
	for (; *argv; argv++) {
		const char *word = *argv;

		for (size_t i = 0; i < l->s->bind_count; i++)
			if (!strcmp(*argv, l->s->binds[i].inside) ||
			    !strcmp(*argv, l->s->binds[i].host))
				word = staged[i];
		push(&l->argv, word);
	}
}

/* A folder in the work folder that replaces /tmp. */
static void
private_tmp(struct launch *l)
{
	const char *tmp = kshown("%s/.tmp", l->s->work);

	if (mkdir(tmp, 0700) == 0 && kuser_drops() &&
	    lchown(tmp, kuser_id(), (gid_t)kuser_id()) < 0)
		kwarn("%s: %s", tmp, strerror(errno));
	push(&l->env, kshown("HOME=%s", tmp));
	push(&l->env, kshown("TMPDIR=%s", tmp));
}

static int
prepare_plain(struct launch *l, char *const *argv)
{
	auto_free char **staged = NULL;
	int e = 0;

	for (size_t i = 0; i < l->s->bind_count && !e; i++) {
		const char *path = stage(l->s, &l->s->binds[i], i);

		if (path)
			push(&staged, path);
		else
			e = -1;
	}
	if (!e && l->s->level == KSANDBOX_LANDLOCK) {
		l->filter = kfilter_new(l->s->gpu ? KFILTER_LAUNCH_GPU : KFILTER_LAUNCH);
		l->ruleset = keep_own(l, klandlock_new());
		e = !l->filter || l->ruleset < 0 ? -1 : add_rules(l->ruleset, l->s, staged);
	}
	if (!e) {
		push_all(&l->argv, l->s->around);
		translate(l, argv, staged);
		if (l->s->work)
			private_tmp(l);
		/* The kernel counts all processes of the user, so add the limit to their number. */
		l->processes += kuser_tasks();
	}
	return e;
}

/* ---- in the child ---- */

/*
 * Stands between kiln and the program as the init of a process namespace would: adopts what the
 * program leaves behind and kills it when the program ends, and also when kiln, the process CALLER,
 * dies. Returns 0 in a new child that becomes the program, -1 on failure.
 */
static int
supervise(pid_t caller)
{
	struct rlimit none = { 0, 0 };
	sigset_t set;
	pid_t self = getpid(), pid;
	int status = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/*
	 * Set before the program starts: on a busy machine it may have run for long before this
	 * process runs again.
	 */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != caller)
		return -1;
	pid = fork();
	if (pid == 0) {
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		return prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != self ? -1 : 0;
	}
	if (pid < 0)
		return -1;
	syscall(SYS_close_range, 0u, ~0u, 0);
	while (sigwaitinfo(&set, NULL) == SIGCHLD && waitpid(pid, &status, WNOHANG) == 0)
		;
	kproc_reap_all();
	if (WIFSIGNALED(status)) {
		setrlimit(RLIMIT_CORE, &none);
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

/*
 * What every level begins with; bwrap does the rest itself. It needs this, too: if kiln dies while
 * bwrap sets up its namespaces, bwrap dies with it, but leaves a child that waits for it forever.
 */
static int
enter(void *arg_)
{
	const struct launch *l = arg_;
	struct rlimit processes = { l->processes, l->processes };
	pid_t supervisor = getpid();

	/* To become another user clears the setting to die with the parent. */
	if (supervise(l->parent) < 0 || kuser_drop() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
	    getppid() != supervisor)
		return -1;
	if (l->s->level == KSANDBOX_BWRAP)
		return 0;
	if (setrlimit(RLIMIT_NPROC, &processes) < 0 ||
	    (l->ruleset >= 0 && klandlock_enter(l->ruleset, l->s->gpu) < 0))
		return -1;
	return l->filter ? kfilter_install(l->filter) : 0;
}

/* ---- start and end ---- */

static void
launch_free(struct launch *l)
{
	for (size_t i = l->own_from; i < l->keep_count; i++)
		kclose_at(&l->keep[i]);
	kclose_at(&l->status[0]);
	free(l->keep);
	free(l->argv);
	free(l->env);
	kfilter_free(l->filter);
}

static void
fill_env(struct launch *l)
{
	push(&l->env, "PATH=" FOLDERS);
	push(&l->env, "LC_ALL=C");
	push_all(&l->env, l->s->env);
}

/*
 * Everything before the fork: the command line (argv of P), environment, limits and descriptors (of
 * P) of this start. -1 and errno.
 */
static int
launch_init(struct launch *l, const struct ksandbox *s, const struct kproc *p, bool reports)
{
	int e;

	*l = (struct launch){ .s = s,
		.reports = reports,
		.status = { -1, -1 },
		.ruleset = -1,
		.parent = getpid(),
		.processes = s->processes ?: DEFAULT_PROCESSES };
	kforeach_of(fd, p->keep_fds, p->keep_count)
		*kadded(l->keep, l->keep_count) = *fd;
	l->own_from = l->keep_count;
	kuser_id();
	fill_env(l);
	e = s->level == KSANDBOX_BWRAP ? prepare_bwrap(l, p->argv) : prepare_plain(l, p->argv);
	l->proc = (struct kproc){
		.argv = l->argv,
		.envp = l->env,
		.cwd = s->level == KSANDBOX_BWRAP ? "/" : s->work,
		.memory_bytes = s->memory_bytes,
		.cpu_s = s->cpu_s,
		.file_bytes = s->file_bytes ?: DEFAULT_FILE_BYTES,
		.open_files = OPEN_FILES,
		.keep_fds = l->keep,
		.keep_count = l->keep_count,
		.setup = enter,
		.setup_arg = l,
	};
	return e;
}

/* bwrap and shells report a signal as 128 + N: undo that, so that every level reports the same. */
static void
normalise(struct kproc_result *r)
{
	if (r->exit_code > 128 && r->exit_code <= 128 + 64) {
		r->signal = r->exit_code - 128;
		r->exit_code = -1;
	}
}

/* The sandbox failed, not the program: say why, once. */
static int
refuse(const struct launch *l, struct kproc_result *r)
{
	kwarn("the %s sandbox could not be set up: %.*s", ksandbox_name(l->s->level),
	    (int)strcspn(r->err, "\n"), r->err);
	kproc_result_free(r);
	errno = EIO;
	return -1;
}

int
ksandbox_run(const struct ksandbox *s, const struct kproc *p, struct kproc_result *r)
{
	struct launch l;
	int e = launch_init(&l, s, p, true);

	if (!e) {
		l.proc.in = p->in;
		l.proc.in_len = p->in_len;
		l.proc.timeout_s = p->timeout_s;
		l.proc.max_output = p->max_output;
		e = kproc_run(&l.proc, r);
	}
	if (!e && s->level == KSANDBOX_BWRAP && !r->timed_out && !r->flooded && !r->signal) {
		if (bwrap_started(&l))
			normalise(r);
		else
			e = refuse(&l, r);
	} else if (!e && r->exit_code == 126 && !r->err_len && !r->out_len) {
		/* Our own code between fork and exec ends like this, without a message. */
		e = refuse(&l, r);
	}
	launch_free(&l);
	return e;
}

pid_t
ksandbox_spawn(
    const struct ksandbox *s, char *const *argv, const int *keep, size_t keep_count, int *output)
{
	struct kproc p = { .argv = argv, .keep_fds = keep, .keep_count = keep_count };
	struct launch l;
	int out[2];
	pid_t pid = -1;

	if (pipe2(out, O_CLOEXEC) < 0)
		return -1;
	if (launch_init(&l, s, &p, false) == 0)
		pid = kproc_spawn(&l.proc, (int[3]){ -1, out[1], out[1] });
	launch_free(&l);
	kclose_at(&out[1]);
	if (pid < 0)
		kclose_at(&out[0]);
	else
		*output = out[0];
	return pid;
}

void
ksandbox_kill(pid_t pid)
{
	kproc_kill(pid);
}

static int
seal(enum kfilter which)
{
	struct sock_fprog *program = kfilter_new(which);
	int e = program ? kfilter_install(program) : -1;

	kfilter_free(program);
	return e;
}

int
ksandbox_seal(bool alone)
{
	return seal(alone ? KFILTER_SEAL_ALONE : KFILTER_SEAL);
}

int
ksandbox_seal_gpu(void)
{
	return seal(KFILTER_SEAL_GPU);
}

bool
ksandbox_finds(const char *name)
{
	bool found = false;

	for (const char *p = FOLDERS, *end; *p && !found; p = *end ? end + 1 : end) {
		auto_free char *path = NULL;

		end = strchrnul(p, ':');
		path = kasprintf("%.*s/%s", (int)(end - p), p, name);
		found = !access(path, X_OK);
	}
	return found;
}

char *
ksandbox_inside(const struct ksandbox *s, const char *relative)
{
	return kasprintf("%s/%s", s->level == KSANDBOX_BWRAP ? INSIDE : s->work, relative);
}

/* ---- which level ---- */

const char *
ksandbox_name(int level)
{
	return level >= KSANDBOX_NONE && level <= KSANDBOX_BWRAP ? names[level] : "unknown";
}

/* Try a level with a program that does nothing; the first line of the error is left in WHY. */
static bool
try_level(int level, char *why, size_t why_len)
{
	struct ksandbox s = { .level = level, .profile = KSANDBOX_BUILD };
	struct kproc p = { .argv = (char *[]){ (char[]){ "true" }, NULL } };
	struct launch l;
	struct kproc_result r = { 0 };
	bool works = false;

	if (level == KSANDBOX_LANDLOCK && klandlock_abi() == 0) {
		snprintf(why, why_len, "this kernel has no Landlock");
		return false;
	}
	if (launch_init(&l, &s, &p, false) == 0) {
		l.proc.timeout_s = 10;
		if (kproc_run(&l.proc, &r) == 0)
			works = r.exit_code == 0;
		else
			snprintf(why, why_len, "%s: %s", l.argv[0], strerror(errno));
	}
	if (!works && r.err_len)
		snprintf(why, why_len, "%.*s", (int)strcspn(r.err, "\n"), r.err);
	launch_free(&l);
	kproc_result_free(&r);
	return works;
}

/* Settings that keep bubblewrap from working, and how to fix them. */
static const struct {
	const char *file;
	long bad;
	const char *cure;
} cures[] = {
	{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
	    "load AppArmor's profile bwrap-userns-restrict (package apparmor-profiles)" },
	{ "/proc/sys/kernel/unprivileged_userns_clone", 0,
	    "sysctl kernel.unprivileged_userns_clone=1" },
	{ "/proc/sys/user/max_user_namespaces", 0, "sysctl user.max_user_namespaces=10000" },
};

static const char *
bwrap_cure(void)
{
	kforeach(one, cures) {
		size_t len;
		auto_free char *text = kread_file(one->file, 64, &len);

		if (text && atol(text) == one->bad)
			return one->cure;
	}
	return "install the packages bubblewrap (0.8 or newer) and util-linux";
}

int
ksandbox_level(const char *wanted)
{
	static int cached[KSANDBOX_BWRAP + 1]; /* 1: works, -1: does not */
	static char why[][256] = { "", "", "not tried", "not tried" };
	bool automatic = !strcmp(wanted, "auto");

	for (int level = KSANDBOX_BWRAP; level >= KSANDBOX_NONE; level--) {
		if (automatic ? level == KSANDBOX_NONE : strcmp(wanted, names[level]))
			continue;
		if (level == KSANDBOX_NONE)
			return level;
		if (!cached[level])
			cached[level] = try_level(level, why[level], sizeof why[level]) ? 1 : -1;
		if (cached[level] > 0)
			return level;
	}
	if (automatic || !strcmp(wanted, names[KSANDBOX_BWRAP]) ||
	    !strcmp(wanted, names[KSANDBOX_LANDLOCK]))
		kdie(K_MISSING,
		    "sandbox '%s' does not work here (bwrap: %s; landlock: %s): for bwrap, %s; "
		    "landlock needs Linux 5.13 with Landlock in lsm=",
		    wanted, why[KSANDBOX_BWRAP], why[KSANDBOX_LANDLOCK], bwrap_cure());
	kdie_usage("sandbox '%s': must be one of auto, bwrap, landlock, none", wanted);
}
