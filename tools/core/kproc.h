/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kproc: run a child to its end, with limits, and capture its output. The child and every
 * descendant are gone when kproc_run returns: the caller becomes a child subreaper, so that daemons
 * are re-parented to it and killed.
 */
#pragma once

#include "kutil.h"

struct kproc {
	char *const *argv; /* looked up in PATH */
	char *const *envp; /* NULL: inherit the environment */
	const char *cwd;   /* NULL: stay */
	const void *in;    /* bytes for stdin */
	size_t in_len;     /* 0: /dev/null */
	double timeout_s;  /* wall clock; 0: none. After it, SIGKILL to the group */
	bool pass_err;     /* copy its stderr to ours as it arrives, masked */
	/* bytes kept per stream; a child that prints more is killed; 0: 1 MiB */
	size_t max_output;
	uint64_t memory_bytes; /* RLIMIT_AS; 0: none */
	uint64_t file_bytes;   /* RLIMIT_FSIZE; 0: none */
	uint64_t cpu_s;        /* RLIMIT_CPU; 0: none */
	uint64_t processes;    /* RLIMIT_NPROC; 0: none. The kernel ignores it for uid 0 */
	uint64_t open_files;   /* RLIMIT_NOFILE; 0: none */
	/* descriptors passed on (others above 2 are closed); may be NULL */
	const int *keep_fds;
	size_t keep_count;
	/* runs in the child before exec; non-zero: it ends with status 126; may be NULL */
	int (*setup)(void *arg);
	void *setup_arg;
};

struct kproc_result {
	int exit_code; /* -1 if a signal ended it */
	int signal;    /* 0 when it exited */
	bool timed_out;
	bool flooded; /* printed more than max_output and was killed */
	char *out;    /* NUL-terminated; owned by the result */
	size_t out_len;
	char *err;
	size_t err_len;
	double wall_s;
};

/*
 * Run to the end. Returns 0 with RESULT filled (free it with kproc_result_free), or -1 with errno
 * when the child could not be started (ENOENT: no such program). A child that fails is a result,
 * not an error. RLIMIT_CORE is always 0. From here on SIGPIPE is ignored: other children, which may
 * have ended, must not end their parent when it writes to them.
 */
int kproc_run(const struct kproc *p, struct kproc_result *result);
void kproc_result_free(struct kproc_result *result);
/*
 * A descriptor for a file in memory with these bytes, which can only be read, from the start. -1
 * and errno on failure.
 */
int kproc_memory(const void *data, size_t len);
/* A result declared with it is freed at the end of its block. */
#define auto_run __attribute__((cleanup(kproc_result_free)))
/* The same, but a program that cannot be started ends this one with K_MISSING. */
void kproc_must(const struct kproc *p, struct kproc_result *result);
/*
 * Run the kiln program ARGV[0] (ktool_path), whose messages are passed on, and return its exit
 * code, K_IO after a signal. IN is its stdin (NULL: nothing); *OUT, unless OUT is NULL, its stdout,
 * which the caller frees. Dies with K_MISSING when it cannot be started.
 */
int kproc_tool(const char *const *argv, const struct kbuf *in, char **out);

/*
 * Start a child and leave it running. Of P, only argv, envp, cwd, limits, keep_fds and setup are
 * used; STDIO are the descriptors it gets as 0, 1 and 2 (-1: /dev/null). Returns its pid, or -1
 * with errno when it could not be started. It leads its own process group and dies with the thread
 * that called. The sweep at the end of kproc_run spares children started here. At most 64 at a
 * time; not for use by several threads at once.
 */
pid_t kproc_spawn(const struct kproc *p, const int stdio[3]);

/*
 * SIGKILL a child of kproc_spawn, its process group and its remaining descendants; reap them.
 * Returns its wait status, -1 if unknown.
 */
int kproc_kill(pid_t pid);

/* SIGKILL and reap every descendant of this process, those of kproc_spawn too. */
void kproc_reap_all(void);
