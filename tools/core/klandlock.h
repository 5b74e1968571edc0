/* SPDX-License-Identifier: Apache-2.0 */
/*
 * klandlock: the kernel's unprivileged access control for files, TCP and (in newer kernels)
 * signals, as much of it as the sandbox needs. The constants are our own, because the headers of a
 * stable distribution are older than its kernel.
 */
#pragma once

#include "kutil.h"

enum klandlock_access {
	KLANDLOCK_READ,   /* read, list, execute */
	KLANDLOCK_DEVICE, /* read and write one device file */
	KLANDLOCK_SELF,   /* read, and write existing files: below /proc/self */
	KLANDLOCK_ALL     /* everything but making devices and sockets */
};

/* Version of the interface in this kernel, 0 when there is none. */
int klandlock_abi(void);

/*
 * A rule set that refuses every file, TCP port and, where the kernel can, signals and abstract
 * sockets outside. -1 and errno.
 */
int klandlock_new(void);

/*
 * Allow ACCESS below PATH. A path that does not exist is not an error; -1 and errno otherwise.
 * Makes system calls only.
 */
int klandlock_allow(int ruleset, const char *path, enum klandlock_access access);

/*
 * Put this process and its children under the rule set, for good; sets no_new_privs and closes
 * RULESET. WRITES: it may write below /proc/self, as drivers of GPUs do to name their threads. -1
 * and errno.
 */
int klandlock_enter(int ruleset, bool writes);
