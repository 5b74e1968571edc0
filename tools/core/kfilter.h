/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfilter: the two seccomp filters of the sandbox, as tables of system calls. LAUNCH applies to
 * everything that runs in the sandbox and refuses what no compiler or kernel needs. A runner adds
 * SEAL before it loads a candidate; it allows only what it lists.
 */
#pragma once

#include <linux/filter.h>

/* ALONE: for a process that sees no other processes. */
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
