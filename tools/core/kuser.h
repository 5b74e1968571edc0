/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kuser: the user that sandboxed programs run as. Root hands over to nobody, so that limits hold
 * and root's files are closed; anybody else, and a root that owns no other user id (a container's),
 * stays who they are.
 */
#ifndef KUSER_H
#define KUSER_H

#include "kutil.h"

/* Whether sandboxed programs run as somebody else than this process. */
bool kuser_drops(void);
uid_t kuser_id(void);

/*
 * Become that user, for good, with no supplementary groups. Safe in a child after fork. -1 and
 * errno.
 */
int kuser_drop(void);

/*
 * Whether that user can read (and enter) PATH and enter the folders above it, as far as mode bits
 * tell.
 */
bool kuser_reaches(const char *path);

/* Processes and threads which that user has now, for a limit that the kernel counts per user. */
uint64_t kuser_tasks(void);

#endif
