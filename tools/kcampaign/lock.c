/* SPDX-License-Identifier: Apache-2.0 */
/* One run per campaign. See kcampaign.h. */
#include "kcampaign.h"

#include <sys/file.h>

#define LOCK ".run.lock"

long
lock_holder(void)
{
	int fd = open(LOCK, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char holder[32] = "";

	if (fd < 0)
		return 0;
	/* A shared lock can be taken unless a run holds it, and is released with the descriptor. */
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 && pread(fd, holder, sizeof holder - 1, 0) < 0)
		holder[0] = '\0';
	close(fd);
	return atol(holder);
}

void
take_lock(void)
{
	int fd = open(LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0666), tries = 5;
	char holder[32];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		kdie_io("%s", LOCK);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		kdie_usage(
		    "%s: has more than one hard link, so it may be another file; remove it", LOCK);
	/* lock_holder also holds it for a moment. */
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			kdie_io("%s", LOCK);
		if (tries-- > 0 && usleep(20000) == 0)
			continue;
		kdie(K_AGAIN, "this campaign is already running (process %ld holds %s)",
		    lock_holder(), LOCK);
	}
	/* As wide as any process id, so that nothing has to be truncated. */
	snprintf(holder, sizeof holder, "%-10ld\n", (long)getpid());
	if (pwrite(fd, holder, strlen(holder), 0) < 0)
		kdie_io("%s", LOCK);
}
