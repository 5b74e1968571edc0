/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfilter: the two seccomp filters of the sandbox, as tables of system calls. LAUNCH lies under
 * everything that runs sandboxed and refuses what no compiler or kernel needs; SEAL is put on top
 * by a runner before it loads a candidate and allows only what it lists.
 */
#ifndef KFILTER_H
#define KFILTER_H

#include <linux/filter.h>

/* ALONE: of a process that sees no others. */
enum kfilter {
	KFILTER_LAUNCH,
	KFILTER_LAUNCH_GPU,
	KFILTER_SEAL,
	KFILTER_SEAL_ALONE,
	KFILTER_SEAL_GPU
};

/*
 * The filter as a BPF program for this machine and (SEAL) for this process id. NULL with errno when
 * libseccomp fails. Free it with kfilter_free.
 */
struct sock_fprog *kfilter_new(enum kfilter which);
void kfilter_free(struct sock_fprog *program);

/*
 * Put the program on every thread of this process, for good; also sets no_new_privs. Safe in a
 * child after fork. -1 and errno on failure.
 */
int kfilter_install(const struct sock_fprog *program);

#endif
