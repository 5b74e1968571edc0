/* SPDX-License-Identifier: Apache-2.0 */
/*
 * misbehave: one bad deed per run, bounded, for tests of the sandbox; prints what it got away with. "misbehave sealed
 * DEED…" seals itself first, as the runner of a candidate does.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "ksandbox.h"
#include "kutil.h"

enum { FORKS_MAX = 300, SLEEP_S = 20 };

static int
say(const char *what, long result)
{
	printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
	return 0;
}

/* fork N: how many children could be made. */
static int
do_fork(char **a)
{
	long wanted = knum_long(a[0], 1, FORKS_MAX, "forks"), made = 0;

	while (made < wanted) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			sleep(SLEEP_S);
			_exit(0);
		}
		made++;
	}
	printf("made %ld\n", made);
	return 0;
}

/* daemon: four ways of staying behind, then waiting oneself. */
static int
do_daemon(char **a)
{
	(void)a;
	for (int way = 0; way < 4; way++) {
		if (fork())
			continue;
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		if (way & 1)
			setsid();
		if (way & 2 && fork())
			_exit(0);
		sleep(SLEEP_S);
		_exit(0);
	}
	return 0;
}

static int
do_daemon_and_sleep(char **a)
{
	do_daemon(a);
	return (int)sleep(SLEEP_S);
}

static int
do_flood(char **a)
{
	char line[4096];

	(void)a;
	memset(line, 'x', sizeof line);
	for (long i = 0; i < 1 << 16 && write(1, line, sizeof line) > 0; i++)
		;
	return 0;
}

/* memory MIB: how much could be touched. */
static int
do_memory(char **a)
{
	long wanted = knum_long(a[0], 1, 4096, "MiB"), got = 0;
	char *p;

	while (got < wanted && (p = malloc(1 << 20))) {
		memset(p, 1, 1 << 20);
		got++;
	}
	printf("got %ld\n", got);
	return 0;
}

/* disk FOLDER MIB: how much could be written in files of 1 MiB. */
static int
do_disk(char **a)
{
	static char block[1 << 20];
	long wanted = knum_long(a[1], 1, 64, "MiB"), got = 0;

	for (; got < wanted; got++) {
		char *path = kasprintf("%s/%ld", a[0], got);
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

		free(path);
		if (fd < 0 || write(fd, block, sizeof block) != sizeof block)
			break;
		close(fd);
	}
	printf("got %ld\n", got);
	return 0;
}

/* write FILE MIB: one large file. */
static int
do_write(char **a)
{
	static char block[1 << 20];
	int fd = open(a[0], O_WRONLY | O_CREAT, 0600);
	long wanted = knum_long(a[1], 0, 64, "MiB"), got = 0;

	while (fd >= 0 && got < wanted && write(fd, block, sizeof block) == sizeof block)
		got++;
	return say("write", fd < 0 ? -1 : 0);
}

static int
do_read(char **a)
{
	int fd = open(a[0], O_RDONLY);
	char text[256];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);

	if (n > 0)
		printf("%.*s\n", (int)n, text);
	return say("read", n);
}

static int
do_stop(char **a)
{
	(void)a;
	return raise(SIGSTOP);
}

static int
do_kill(char **a)
{
	return say("kill", kill((pid_t)knum_long(a[0], 1, 1L << 22, "pid"), SIGKILL));
}

static int
do_ptrace(char **a)
{
	return say(
	    "ptrace", ptrace(PTRACE_SEIZE, (pid_t)knum_long(a[0], 1, 1L << 22, "pid"), NULL, NULL));
}

/* connect PORT: TCP and UDP to this machine's loopback only. */
static int
do_connect(char **a)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)knum_long(a[0], 1, 65535, "port")),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int tcp = socket(AF_INET, SOCK_STREAM, 0), udp;

	say("tcp", tcp < 0 ? -1 : connect(tcp, (struct sockaddr *)&to, sizeof to));
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	say("udp", udp < 0 ? -1 : sendto(udp, "x", 1, 0, (struct sockaddr *)&to, sizeof to));
	say("unix", socket(AF_UNIX, SOCK_STREAM, 0));
	return say("vsock", socket(AF_VSOCK, SOCK_STREAM, 0));
}

/* System calls that no level may leave open. */
static int
do_calls(char **a)
{
	struct perf_event_attr perf = { .type = PERF_TYPE_SOFTWARE, .size = sizeof perf };
	char params[128] = { 0 };

	(void)a;
	say("keyctl", syscall(SYS_keyctl, 0, -3, 1));
	say("bpf", syscall(SYS_bpf, 0, params, sizeof params));
	say("perf_event_open", syscall(SYS_perf_event_open, &perf, 0, -1, -1, 0));
	say("userfaultfd", syscall(SYS_userfaultfd, 0));
	say("io_uring_setup", syscall(SYS_io_uring_setup, 1, params));
	say("unshare", unshare(CLONE_NEWUSER));
	say("clone_newuser", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
	say("mount", mount("none", "/tmp", "tmpfs", 0, NULL));
	say("chroot", chroot("/"));
	say("shmget", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
	say("process_vm_readv", syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
	return say("x32", syscall(SYS_getpid | 0x40000000));
}

static void *
thread(void *arg)
{
	return arg;
}

/* What only a seal takes away, and that threads and memory stay. */
static int
do_sealed_calls(char **a)
{
	struct timespec nap = { 0, 1000 };
	unsigned long cpus = 1;
	pthread_t t;
	void *answer = NULL, *memory;
	char *const none[] = { NULL };

	(void)a;
	say("fork", fork());
	say("vfork", syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
	say("execve", execve("/bin/true", none, none));
	say("open_rw", open("/dev/null", O_RDWR));
	say("create", open("/tmp/made", O_RDONLY | O_CREAT, 0600));
	say("mkdir", mkdir("/tmp/made", 0700));
	say("symlink", symlink("/etc/shadow", "link"));
	say("unlink", unlink("nothing"));
	say("chmod", chmod(".", 0777));
	say("memfd_create", memfd_create("x", 0));
	say("kill_parent", kill(getppid(), 0));
	say("prlimit_parent", syscall(SYS_prlimit64, getppid(), 7, NULL, NULL));
	say("affinity_parent", syscall(SYS_sched_setaffinity, getppid(), sizeof cpus, &cpus));
	say("fcntl_owner", fcntl(1, F_SETOWN, getppid()));
	errno = pthread_create(&t, NULL, thread, (void *)nap.tv_nsec);
	say("thread", errno ? -1 : 0);
	if (!errno)
		pthread_join(t, &answer);
	memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say("mmap", memory == MAP_FAILED ? -1 : 0);
	say("nanosleep", nanosleep(&nap, NULL));
	say("read_lib", open("/usr/bin/true", O_RDONLY));
	signal(SIGUSR1, SIG_IGN);
	say("raise", raise(SIGUSR1));
	say("stop_self", raise(SIGSTOP));
	say("continue_self", raise(SIGCONT));
	say("continue_wide", syscall(SYS_kill, (long)getpid(), 1L << 32 | SIGCONT));
	say("vfork_thread",
	    syscall(SYS_clone, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_VFORK, NULL, NULL,
	        NULL, NULL));
	return 0;
}

static int
do_descriptors(char **a)
{
	(void)a;
	for (int fd = 3; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("open %d\n", fd);
	return 0;
}

static int
do_spin(char **a)
{
	volatile unsigned long n = 0;
	int64_t end = know_ns() + 20000000000;

	(void)a;
	while (know_ns() < end)
		n++;
	return 0;
}

static const struct {
	const char *name;
	int arguments;
	int (*run)(char **a);
} deeds[] = {
	{ "fork", 1, do_fork },
	{ "daemon", 0, do_daemon },
	{ "daemon-sleep", 0, do_daemon_and_sleep },
	{ "flood", 0, do_flood },
	{ "memory", 1, do_memory },
	{ "disk", 2, do_disk },
	{ "write", 2, do_write },
	{ "read", 1, do_read },
	{ "stop", 0, do_stop },
	{ "kill", 1, do_kill },
	{ "ptrace", 1, do_ptrace },
	{ "connect", 1, do_connect },
	{ "calls", 0, do_calls },
	{ "sealed-calls", 0, do_sealed_calls },
	{ "descriptors", 0, do_descriptors },
	{ "spin", 0, do_spin },
};

int
main(int argc, char **argv)
{
	kutil_init("misbehave");
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 2 && !strcmp(argv[1], "sealed")) {
		if (ksandbox_seal(false) < 0)
			kdie_errno(K_MISSING, "seal");
		argv++;
		argc--;
	}
	for (size_t i = 0; argc > 1 && i < LEN(deeds); i++)
		if (!strcmp(argv[1], deeds[i].name) && argc == 2 + deeds[i].arguments)
			return deeds[i].run(argv + 2);
	kdie(K_USAGE, "usage: misbehave [sealed] DEED [ARGUMENT]…");
}
