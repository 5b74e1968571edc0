/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kuser: the user that sandboxed programs run as. Root switches to nobody, so that limits apply and
 * root's files are closed; any other user, and a root that has no other user id (in a container),
 * stays the same.
 */
#pragma once

#include "kutil.h"

/* Whether sandboxed programs run as a different user from this process. */
bool kuser_drops(void);
uid_t kuser_id(void);

/*
 * Become that user permanently, with no supplementary groups. Safe in a child after fork. -1 and
 * errno.
 */
int kuser_drop(void);

/*
 * Whether that user can read (and enter) PATH and enter the folders above it, as far as mode bits
 * tell.
 */
bool kuser_reaches(const char *path);

/*
 * Number of processes and threads that this user has now, for a limit that the kernel counts per
 * user.
 */
uint64_t kuser_tasks(void);
