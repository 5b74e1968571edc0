/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kproc: run a child to its end, with limits, and take what it printed. The child and every descendant are gone when
 * kproc_run returns: the caller becomes a child subreaper, so that daemons come back to it and are killed.
 */
#ifndef KPROC_H
#define KPROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kproc {
	char *const *argv;	/* argv[0] is searched in PATH */
	char *const *envp;	/* NULL: inherit the environment */
	const char *cwd;	/* NULL: stay */
	const void *in;		/* bytes for stdin; NULL: /dev/null */
	size_t in_len;
	double timeout_s;	/* wall clock; 0: none. SIGKILL to the group when it has passed */
	size_t max_output;	/* bytes kept per stream; a child that prints more is killed; 0: 1 MiB */
	uint64_t memory_bytes;	/* RLIMIT_AS; 0: none */
	uint64_t file_bytes;	/* RLIMIT_FSIZE; 0: none */
	uint64_t cpu_s;		/* RLIMIT_CPU; 0: none */
	uint64_t processes;	/* RLIMIT_NPROC; 0: none. The kernel ignores it for uid 0 */
	uint64_t open_files;	/* RLIMIT_NOFILE; 0: none */
	const int *keep_fds;	/* descriptors passed on (all others above 2 are closed); may be NULL */
	size_t keep_count;
	int (*setup)(void *arg);	/* runs in the child right before exec; non-zero ends it with status 126; may be NULL */
	void *setup_arg;
};

struct kproc_result {
	int exit_code;		/* -1 when ended by a signal */
	int signal;		/* 0 when it exited */
	bool timed_out;
	bool flooded;		/* printed more than max_output and was killed */
	char *out;		/* NUL-terminated; owned by the result */
	size_t out_len;
	char *err;
	size_t err_len;
	double wall_s;
};

/*
 * Run to the end. Returns 0 with RESULT filled (free it with kproc_result_free), or -1 with errno when the child could not be
 * started (ENOENT: no such program). A child that fails is a result, not an error. RLIMIT_CORE is always 0.
 */
int kproc_run(const struct kproc *p, struct kproc_result *result);
void kproc_result_free(struct kproc_result *result);

/* SIGKILL and reap every descendant of this process (needs PR_SET_CHILD_SUBREAPER, which kproc_run sets). */
void kproc_reap_all(void);

#endif
