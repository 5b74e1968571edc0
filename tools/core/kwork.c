/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work folders of the sandbox (see ksandbox.h): made, filled, read and removed without following
 * what a candidate planted there.
 */
#include <linux/openat2.h>
#include <sys/syscall.h>

#include "ksandbox.h"
#include "kuser.h"

/* kiln-work-PIDNAMESPACE-PID-XXXXXX */
#define PREFIX "kiln-work-"

/* Number of the pid namespace: process ids of another one mean nothing here. */
static unsigned long
pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? (unsigned long)st.st_ino : 0;
}

/* Has the process that made it ended? Another one with its number keeps it a while longer. */
static bool
is_stale(const char *name)
{
	unsigned long space;
	int pid;

	return sscanf(name, PREFIX "%lu-%d-", &space, &pid) == 2 && space == pid_namespace() &&
	    kill(pid, 0) < 0 && errno == ESRCH;
}

/*
 * Make a folder ours to list and change, even if its owner (the sandboxed user) has changed its
 * mode.
 */
static int
open_folder(int at, const char *name)
{
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	    (st.st_mode & 0700) != 0700)
		fchmodat(at, name, 0700, 0);
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * Remove all entries of a folder. A non-empty subfolder is moved up to TOP under a number of its
 * own and emptied there later, so that depth costs neither stack nor descriptors. MOVED counts the
 * moves.
 */
static void
empty_folder(int folder, int top, unsigned long *moved)
{
	DIR *dir = fdopendir(folder);
	struct dirent *e;

	if (!dir) {
		close(folder);
		return;
	}
	while ((e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    unlinkat(folder, e->d_name, 0) == 0 ||
		    unlinkat(folder, e->d_name, AT_REMOVEDIR) == 0)
			continue;
		close(open_folder(folder, e->d_name));
		if (renameat(folder, e->d_name, top, kshown(".%lu", *moved)) == 0)
			++*moved;
	}
	closedir(dir);
}

/*
 * One pass over the top folder; false when it changed nothing: the folder is empty, or the file
 * system refuses.
 */
static bool
empty_once(int top, unsigned long *moved)
{
	DIR *dir = fdopendir(openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	unsigned long before = *moved;
	bool removed = false;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		int folder;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (unlinkat(top, e->d_name, 0) == 0) {
			removed = true;
			continue;
		}
		folder = open_folder(top, e->d_name);
		if (folder >= 0)
			empty_folder(folder, top, moved);
		removed |= unlinkat(top, e->d_name, AT_REMOVEDIR) == 0;
	}
	if (dir)
		closedir(dir);
	return removed || *moved > before;
}

static void
remove_tree(const char *path)
{
	int top = open_folder(AT_FDCWD, path);
	unsigned long moved = 0;

	if (top < 0)
		return;
	while (empty_once(top, &moved))
		;
	close(top);
	/* Another process may remove the same leftovers at the same time. */
	if (rmdir(path) < 0 && errno != ENOENT)
		kwarn("%s: not removed: %s", path, strerror(errno));
}

static const char *
parent_folder(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir == '/' ? dir : "/tmp";
}

static void
remove_stale(const char *parent)
{
	DIR *dir = opendir(parent);
	struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir))) {
		char *path;

		if (!kbegins(e->d_name, PREFIX) || !is_stale(e->d_name))
			continue;
		path = kasprintf("%s/%s", parent, e->d_name);
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == kuser_id())
			remove_tree(path);
		free(path);
	}
	if (dir)
		closedir(dir);
}

char *
ksandbox_work_new(void)
{
	static bool swept;
	const char *parent = parent_folder();
	char *path;

	if (!swept) {
		remove_stale(parent);
		swept = true;
	}
	if (!kuser_reaches(parent))
		kdie(K_MISSING,
		    "%s: candidates run as the user nobody, who cannot enter this folder; set "
		    "TMPDIR to another one",
		    parent);
	path = kasprintf("%s/" PREFIX "%lu-%d-XXXXXX", parent, pid_namespace(), (int)getpid());
	if (!mkdtemp(path) || (kuser_drops() && chown(path, kuser_id(), (gid_t)kuser_id()) < 0))
		kdie_io("%s", path);
	return path;
}

void
ksandbox_work_free(char *path)
{
	if (path)
		remove_tree(path);
	free(path);
}

static int
open_beneath(int at, const char *name, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags,
		.mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, at, name, &how, sizeof how);
}

/* Descriptor of the folder that contains NAME, which is made if needed. -1 and errno. */
static int
open_parent(int work, const char *name)
{
	const char *slash = strrchr(name, '/');
	auto_free char *folder = slash ? kstrndup(name, (size_t)(slash - name)) : kstrdup(".");
	int fd = open_beneath(work, folder, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd < 0 && errno == ENOENT && slash) {
		auto_close int up = open_parent(work, folder);
		const char *last = basename(folder);

		if (up < 0)
			return -1;
		if (mkdirat(up, last, 0755) == 0 && kuser_drops() &&
		    fchownat(up, last, kuser_id(), (gid_t)kuser_id(), AT_SYMLINK_NOFOLLOW) < 0)
			kwarn("%s: %s", folder, strerror(errno));
		fd = open_beneath(work, folder, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	}
	return fd;
}

int
ksandbox_put(const char *work, const char *name, const void *data, size_t len, unsigned mode)
{
	const char *last = basename(name);
	auto_close int top = open(work, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
	               folder = top < 0 ? -1 : open_parent(top, name), fd = -1;

	if (folder >= 0 && (unlinkat(folder, last, 0) == 0 || errno == ENOENT))
		fd = openat(
		    folder, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return fd < 0 || kwrite_all(fd, data, len) < 0 ? -1 : fchmod(fd, mode);
}

int
ksandbox_open(const char *work, const char *name)
{
	auto_close int top = open(work, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int fd;
	struct stat st;

	/* Without O_NONBLOCK, opening a pipe would wait for a writer. */
	fd =
	    top < 0 ? -1 : open_beneath(top, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}
