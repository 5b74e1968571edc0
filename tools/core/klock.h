/* SPDX-License-Identifier: Apache-2.0 */
/*
 * klock: one device, one measurement. Whoever measures holds the machine's lock alone; builds and
 * correctness runs hold it together.
 */
#ifndef KLOCK_H
#define KLOCK_H

#include "kutil.h"

/*
 * Wait for the lock of the CPU, $KILN_LOCK_DIR/kiln-cpu.lock (default /tmp), and return a
 * descriptor; closing it, or the end of the process, gives the lock back. ALONE: nobody else holds
 * it. Waiters for ALONE are not starved: while one waits, newcomers queue behind it. Who waits
 * longer than a few seconds says so on stderr, and who holds the lock, and again every half minute;
 * in a run, as its status (kstatus) instead. Dies with K_IO when the file can't be had, or is no
 * regular file.
 */
int klock_cpu(bool alone);

/* The same for a device, by a name without slashes. -1 when it would have to WAIT and shall not. */
int klock_device(const char *name, bool alone, bool wait);

#endif
