/* SPDX-License-Identifier: Apache-2.0 */
/* klock: see klock.h. */
#include "klock.h"

#include <sys/file.h>
#include <sys/time.h>

/* When to report a long wait: on stderr, and in the status of a run. */
static const struct itimerval on_stderr = { { 30, 0 }, { 5, 0 } },
                              in_a_run = { { 2, 0 }, { 1, 0 } };

/*
 * Processes of other users share the file: it is created readable for all, and opened without
 * O_CREAT if it exists already. If somebody else created it, it must be a regular file: a FIFO
 * would block us forever.
 */
static int
open_lock(const char *path)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, fd = open(path, flags);
	struct stat st;

	if (fd < 0 && errno == ENOENT) {
		fd = open(path, flags | O_CREAT, 0644);
		if (fd < 0 && errno == EACCES)
			fd = open(path, flags);
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		kdie_io("%s", path);
	if (!S_ISREG(st.st_mode))
		kdie(K_IO,
		    "%s: is not a regular file, so kiln cannot use it as a lock; remove it, or "
		    "name another folder in KILN_LOCK_DIR",
		    path);
	return fd;
}

/* Process that holds the lock, as reported by the kernel; 0 when it does not say. */
static long
holder_of(int fd)
{
	FILE *f = fopen("/proc/locks", "re");
	unsigned long inode;
	char line[256], kind[16];
	struct stat st;
	long pid;

	while (f && fstat(fd, &st) == 0 && fgets(line, sizeof line, f))
		/*
		 * "1: FLOCK  ADVISORY  WRITE 4711 08:01:131073 0 EOF"; a waiting process has an
		 * arrow before the kind.
		 */
		if (sscanf(line, "%*d: %15s %*s %*s %ld %*x:%*x:%lu", kind, &pid, &inode) == 3 &&
		    !strcmp(kind, "FLOCK") && inode == (unsigned long)st.st_ino && pid > 0) {
			fclose(f);
			return pid;
		}
	if (f)
		fclose(f);
	return 0;
}

/* Tells who waits for the lock HELD which process has it. */
static void
tell(int held, const char *path)
{
	long pid = holder_of(held);
	auto_free char *file = kasprintf("/proc/%ld/comm", pid), *name = kread_file(file, 64, NULL),
	               *who = pid
	    ? kasprintf("process %ld (%.*s)", pid, name ? (int)strcspn(name, "\n") : 1, name ?: "?")
	    : kstrdup("another process");

	if (!kstatus("waits for %s: %s has it", basename(path), who))
		kwarn("waiting for %s: %s holds it%s", path, who,
		    pid ? "" : " (lslocks shows which)");
}

static void
on_alarm(int sig)
{
	(void)sig;
}

/* flock, with a report when it takes longer than a moment. */
static int
wait_lock(int fd, int operation, int held, const char *path)
{
	struct itimerval timer;
	struct sigaction wake = { .sa_handler = on_alarm }, before;
	int rc, e;

	sigaction(SIGALRM, &wake, &before);
	setitimer(ITIMER_REAL, kstatus("%s", "") ? &in_a_run : &on_stderr, &timer);
	while ((rc = flock(fd, operation)) < 0 && errno == EINTR)
		tell(held, path);
	e = errno;
	setitimer(ITIMER_REAL, &timer, NULL);
	sigaction(SIGALRM, &before, NULL);
	kstatus("%s", "");
	errno = e;
	return rc;
}

/*
 * False when somebody else has it and we should not wait. HELD is the lock that PATH names, which
 * is what we wait for in the end.
 */
static bool
take(int fd, int operation, bool wait, int held, const char *path)
{
	int rc = TEMP_FAILURE_RETRY(flock(fd, operation | LOCK_NB));

	if (rc < 0 && errno == EWOULDBLOCK && !wait)
		return false;
	if (rc < 0 && errno == EWOULDBLOCK)
		rc = wait_lock(fd, operation, held, path);
	if (rc < 0)
		kdie_io("%s", path);
	return true;
}

/* The file NAME.KIND; the caller frees. */
static char *
lock_path(const char *name, const char *kind)
{
	const char *dir = getenv("KILN_LOCK_DIR");

	return kasprintf("%s/kiln-%s.%s", dir && *dir ? dir : "/tmp", name, kind);
}

int
klock_device(const char *name, bool alone, bool wait)
{
	auto_free char *gate_path = lock_path(name, "gate"), *path = lock_path(name, "lock");
	int gate = open_lock(gate_path), fd = open_lock(path);

	/*
	 * Everybody passes the gate one by one; a process that waits for exclusive use keeps it
	 * shut.
	 */
	if (!take(gate, LOCK_EX, wait, fd, path) ||
	    !take(fd, alone ? LOCK_EX : LOCK_SH, wait, fd, path)) {
		close(fd);
		fd = -1;
	}
	close(gate);
	return fd;
}

void
klock_share(int fd)
{
	if (TEMP_FAILURE_RETRY(flock(fd, LOCK_SH)) < 0)
		kdie_io("sharing a lock");
}

int
klock_cpu(bool alone)
{
	return klock_device("cpu", alone, true);
}
