/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksandbox: run a program that a model wrote, or a compiler that reads what a model wrote: no
 * network, no writes outside its work folder, nothing of the user's files or environment in sight,
 * limits on everything. Levels (stored in every record): 3 bubblewrap (own mount, pid, ipc, net and
 * user namespaces + seccomp) · 2 Landlock + seccomp + limits + subreaper · 1 limits only.
 */
#pragma once

#include "kproc.h"

enum { KSANDBOX_NONE = 1, KSANDBOX_LANDLOCK = 2, KSANDBOX_BWRAP = 3 };

enum ksandbox_profile {
	KSANDBOX_BUILD, /* a compiler: may fork and exec */
	/* a candidate: threads yes, new processes and exec no (after the runner has started) */
	KSANDBOX_RUN
};

struct ksandbox_bind {
	const char *host; /* file or folder of this machine */
	/* where the sandboxed program sees it, read-only; below level 3: host */
	const char *inside;
};
/*
 * An argument that equals a bind's inside path is rewritten below level 3, so callers may always
 * write inside paths in argv.
 */

struct ksandbox {
	int level; /* from ksandbox_level */
	enum ksandbox_profile profile;
	/*
	 * Host folder, made by ksandbox_work_new: the working folder and the only writable place
	 * (apart from a small private /tmp). NULL: none. Below level 3 the private tmp and copies
	 * of binds that only root can reach are work/.tmp and work/.ro.
	 */
	const char *work;
	const struct ksandbox_bind *binds; /* more read-only paths; may be NULL */
	size_t bind_count;
	uint64_t memory_bytes; /* 0: no limit of its own */
	uint64_t cpu_s;        /* 0: none */
	uint64_t file_bytes;   /* largest file written; 0: 256 MiB */
	uint64_t processes;    /* processes and threads; 0: 256 */
	bool gpu;              /* the device files of GPUs, and what their drivers read */
	/*
	 * Command words of a program that starts the sandbox and watches it from outside, NULL at
	 * the end; may be NULL. At level 2 it has the sandbox's own limits.
	 */
	char *const *around;
	char *const *env; /* more environment, "NAME=VALUE", NULL at the end; may be NULL */
};

/*
 * Level for WANTED ("auto", "bwrap", "landlock", "none"), found by trying once. Dies with
 * K_MISSING, and one line on how to fix it, when the wanted level is not available here ("auto"
 * accepts 3 or 2, never 1).
 */
int ksandbox_level(const char *wanted);
const char *ksandbox_name(int level);

/* Whether sandboxed programs find the program NAME on their PATH. */
bool ksandbox_finds(const char *name);

/*
 * A fresh work folder under $TMPDIR (else /tmp), owned by the user that sandboxed programs run as
 * (nobody when we are root). The caller frees the path, and removes the folder with
 * ksandbox_work_free, which follows no link. A later ksandbox_work_new removes a folder that a
 * killed run left (its name contains its owner's pid).
 */
char *ksandbox_work_new(void);
void ksandbox_work_free(char *path);
/*
 * Path inside the sandbox ("/w/x" with bubblewrap) of a path below the work folder. The caller
 * frees.
 */
char *ksandbox_inside(const struct ksandbox *s, const char *relative);

/*
 * Files in a work folder, which a hostile program may have filled with links, devices and pipes.
 * NAME is relative; no link is followed and nothing outside is touched. _put replaces NAME by a new
 * file (missing folders are made) with MODE 0644 or 0755 that sandboxed programs can read; _open
 * returns a descriptor for reading, of a regular file only. -1 and errno on failure.
 */
int ksandbox_put(const char *work, const char *name, const void *data, size_t len, unsigned mode);
int ksandbox_open(const char *work, const char *name);

/*
 * kproc_run inside the sandbox: argv, stdin, time-out, max_output and keep_fds are taken from P;
 * envp, cwd, limits and setup are set here. A program that a signal ended is reported in the same
 * way at every level. -1: the sandbox itself could not be set up (a warning has been printed).
 */
int ksandbox_run(const struct ksandbox *s, const struct kproc *p, struct kproc_result *result);

/*
 * Start a long-lived sandboxed program (the candidate's runner) with the descriptors KEEP (same
 * numbers inside), stdout and stderr joined to the pipe returned in *OUTPUT. Returns the pid of the
 * outermost process, or -1 with errno. ksandbox_kill ends it and every descendant, whatever they
 * did (setsid, double fork), within a second.
 */
pid_t ksandbox_spawn(
    const struct ksandbox *s, char *const *argv, const int *keep, size_t keep_count, int *output);
void ksandbox_kill(pid_t pid);

/*
 * For the runner itself, right before it loads the candidate: a seccomp filter that allows threads,
 * memory, futexes and I/O on open descriptors, and forbids new processes, exec, sockets, ptrace,
 * signals to others, perf, keyrings and io_uring. ALONE: in a process namespace of its own, where
 * it may also place its threads on CPUs. -1 and errno on failure.
 */
int ksandbox_seal(bool alone);
/* The same for a runner that uses a GPU: its driver can still use the device files. */
int ksandbox_seal_gpu(void);
