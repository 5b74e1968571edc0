/* SPDX-License-Identifier: Apache-2.0 */
/* klock: see klock.h. */
#include "klock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kutil.h"

/*
 * Other users' processes share the file: it is created for all to read, and opened without O_CREAT where it exists
 * already.
 */
static int
open_lock(const char *name)
{
	const char *dir = getenv("KILN_LOCK_DIR");
	char *path = kasprintf("%s/%s", dir && *dir ? dir : "/tmp", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 && errno == ENOENT) {
		fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
		if (fd < 0 && errno == EACCES)
			fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	if (fd < 0)
		kdie_errno(K_IO, "%s", path);
	free(path);
	return fd;
}

/* False when somebody else has it and we shall not wait. */
static bool
take(int fd, int operation)
{
	while (flock(fd, operation) < 0) {
		if (errno == EWOULDBLOCK)
			return false;
		if (errno != EINTR)
			kdie_errno(K_IO, "flock");
	}
	return true;
}

int
klock_device(const char *name, bool alone, bool wait)
{
	char *gate_name = kasprintf("kiln-%s.gate", name), *lock_name = kasprintf("kiln-%s.lock", name);
	int gate = open_lock(gate_name), fd = open_lock(lock_name), now = wait ? 0 : LOCK_NB;

	/* All pass the gate one by one, and who waits for the lock alone keeps it shut. */
	if (!take(gate, LOCK_EX | now) || !take(fd, (alone ? LOCK_EX : LOCK_SH) | now)) {
		close(fd);
		fd = -1;
	}
	close(gate);
	free(gate_name);
	free(lock_name);
	return fd;
}

int
klock_cpu(bool alone)
{
	return klock_device("cpu", alone, true);
}
