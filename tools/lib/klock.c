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

static void
wait_for(int fd, int operation)
{
	while (flock(fd, operation) < 0)
		if (errno != EINTR)
			kdie_errno(K_IO, "flock");
}

int
klock_cpu(bool alone)
{
	int gate = open_lock("kiln-cpu.gate"), fd = open_lock("kiln-cpu.lock");

	/* All pass the gate one by one, and who waits for the lock alone keeps it shut. */
	wait_for(gate, LOCK_EX);
	wait_for(fd, alone ? LOCK_EX : LOCK_SH);
	close(gate);
	return fd;
}
