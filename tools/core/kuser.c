/* SPDX-License-Identifier: Apache-2.0 */
/* kuser: see kuser.h. */
#include "kuser.h"

#include <grp.h>

enum { NOBODY = 65534 };

/* Whether this user namespace has the id NOBODY, by /proc/self/uid_map or gid_map. */
static bool
has_nobody(const char *map)
{
	unsigned long inside, outside, count;
	FILE *f = fopen(map, "re");
	bool found = false;

	while (f && fscanf(f, "%lu %lu %lu", &inside, &outside, &count) == 3)
		found |= inside <= NOBODY && NOBODY - inside < count;
	if (f)
		fclose(f);
	return found;
}

bool
kuser_drops(void)
{
	static int drops = -1;

	if (drops < 0)
		drops = geteuid() == 0 && has_nobody("/proc/self/uid_map") &&
		    has_nobody("/proc/self/gid_map");
	return drops;
}

uid_t
kuser_id(void)
{
	return kuser_drops() ? NOBODY : geteuid();
}

int
kuser_drop(void)
{
	if (!kuser_drops())
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0)
		return -1;
	return setresuid(NOBODY, NOBODY, NOBODY);
}

bool
kuser_reaches(const char *path)
{
	auto_free char *real = NULL;
	char *slash;
	struct stat st;
	bool reaches;

	if (!kuser_drops())
		return access(path, R_OK) == 0;
	real = realpath(path, NULL);
	reaches = real && stat(real, &st) == 0 && (st.st_mode & S_IROTH || st.st_uid == kuser_id());
	while (reaches && *real) {
		if (S_ISDIR(st.st_mode))
			reaches = st.st_mode & S_IXOTH || st.st_uid == kuser_id();
		slash = strrchr(real, '/');
		*slash = '\0';
		reaches = reaches && stat(*real ? real : "/", &st) == 0;
	}
	return reaches;
}

uint64_t
kuser_tasks(void)
{
	DIR *proc = opendir("/proc");
	uint64_t tasks = 0;
	struct dirent *e;
	struct stat st;

	while (proc && (e = readdir(proc))) {
		char path[sizeof e->d_name + 16];

		if (!kis_digit(*e->d_name))
			continue;
		/* A task folder has one link per thread, plus two of its own. */
		snprintf(path, sizeof path, "/proc/%s/task", e->d_name);
		if (stat(path, &st) == 0 && st.st_uid == kuser_id())
			tasks += st.st_nlink - 2;
	}
	if (proc)
		closedir(proc);
	return tasks;
}
