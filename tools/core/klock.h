/* SPDX-License-Identifier: Apache-2.0 */
/*
 * klock: one measurement at a time on each device. A measurement holds the device's lock
 * exclusively; builds and correctness runs share it.
 */
#pragma once

#include "kutil.h"

/*
 * Wait for the lock of the CPU, $KILN_LOCK_DIR/kiln-cpu.lock (default /tmp), and return a
 * descriptor; closing it, or the end of the process, releases the lock. ALONE: exclusively. Waiters
 * for ALONE are not starved: while one waits, newcomers queue after it. A process that waits longer
 * than a few seconds says so on stderr, with the holder of the lock, and repeats that every half
 * minute; in a run it sets its status (kstatus) instead. Dies with K_IO when the lock cannot be
 * taken, or is not a regular file.
 */
int klock_cpu(bool alone);

/*
 * The same for a device, by a name without slashes. Without WAIT, returns -1 when somebody else has
 * the lock.
 */
int klock_device(const char *name, bool alone, bool wait);

/*
 * From now on share the lock that FD holds exclusively. Those who wait to share it get it at once.
 * The call may wait, if a waiter for exclusive use gets the lock first.
 */
void klock_share(int fd);
