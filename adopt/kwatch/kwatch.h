/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kwatch: a library that is preloaded into an application to see the calls of one of its functions,
 * and the launches of kernels for a GPU. It must not disturb: no memory of the application's
 * allocator, no output but into its own file. The environment says what it is to do:
 *   KWATCH_OUT      prefix of its files: PREFIX.TIME.PID (one line of JSON per call), PREFIX.loaded
 *                   (who loaded it)
 *   KWATCH_MODE     "args": arguments, memory, what was written; "time": arguments and time alone
 *   KWATCH_LAYOUT   file with lines "KERNEL KIND:NAME…", the parameters of kernels; KIND is p8,
 *                   i4, i8, u4, u8, f4, f8, b1 or ?0
 *   KWATCH_EVENTS   take the times of a GPU's work from events, even if there are activity records
 *   KWATCH_MAX      calls that are written down; more are counted
 *   KWATCH_SAVE     file with lines "NAME SKIP KEY -ARRAY…": of the call with this key in its
 *                   line, after SKIP others with it, all arrays but these are saved as bytes:
 *                   FILE.NAME.ARG.before.npy and, where they have changed, .after.npy
 */
#pragma once

#include <pthread.h>

#include "../wrapper.h"
#include "kutil.h"

enum { KWATCH_LAUNCHES = 16, KWATCH_LINE = 16384, KWATCH_END = 128 };

/* A piece of memory that was allocated. */
struct kwatch_extent {
	uintptr_t start;
	size_t bytes;
	bool device;
};

/* For every argument I of the call C, from 0 on. */
#define kwatch_each(i, c) for (size_t i = 0; i < (c)->count; i++)

/* output.c */
extern bool kwatch_on, kwatch_timing_only;
extern long kwatch_most; /* KWATCH_MAX */
int64_t kwatch_now(void);
uint64_t kwatch_sum(const void *data, size_t len, uint64_t sum);
/* A text that grows up to ROOM bytes; what does not fit is cut off. */
struct kwatch_text {
	char *at;
	size_t len, room;
};
void kwatch_add(struct kwatch_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void kwatch_add_real(struct kwatch_text *t, double d, bool single);
/* Write to the descriptor *FD. */
void kwatch_put(void *fd, const void *data, size_t len);
/* Counts a call; returns how many there were before. */
long kwatch_next_call(void);
/*
 * Write the line of a call whose time has become known. LINE ends after the launches: clock and
 * time are appended, in KWATCH_END bytes.
 */
void kwatch_write_line(char *line, size_t len, const char *clock, double ns);

/* extent.c: recorded allocations. Nothing is recorded where only times are wanted. */
void kwatch_extent_add(void *start, size_t bytes, bool device);
void kwatch_extent_drop(const void *start);
/* The piece that contains P: allocated, or a variable of the program. */
bool kwatch_extent_find(const void *p, struct kwatch_extent *e);
/* Memory that does not come from malloc. NULL when there is none. */
void *kwatch_pages(size_t bytes);

/* A launch within a call. */
struct kwatch_launch {
	char kernel[128]; /* as the compiler named it */
	uint32_t grid[3], block[3];
	size_t shared;
	char args[1024]; /* JSON: members of an object */
};

/* What an argument points to. */
struct kwatch_pointer {
	uintptr_t at; /* 0: null, or it is not a pointer */
	struct kwatch_extent extent;
	/* STACK: a caller's variable of unknown size; its first bytes count */
	bool found, summed, stack;
	bool below;   /* the call also touches what is before it, from guard.c */
	size_t room;  /* bytes to the end of the extent, or to another argument's start in it */
	size_t more;  /* readable bytes: on a stack, to its top */
	size_t reach; /* what the call touches, from guard.c; 0: unknown */
	uint64_t sum;
};

/* A call under way. */
struct kwatch_state {
	int64_t begun, worked; /* when it began, and how long the process had worked by then */
	long faults;           /* pages that it had been the first to touch */
	void *timer;           /* on a GPU, or NULL */
	bool checked;          /* checksums of memory were taken */
	bool noted;            /* a line is written */
	uint64_t key;          /* the same for all calls with the same scalars */
	struct kwatch_wanted *saved;
	struct kwatch_pointer pointer[KWATCH_ARGS];
	struct kwatch_launch launch[KWATCH_LAUNCHES];
	size_t launches;
};

/* core.c */
/* Appends COMMA and the argument as a member of JSON. */
void kwatch_add_scalar(struct kwatch_text *t, const struct kwatch_arg *a, const char *comma);
/* The innermost active call in this thread, or NULL. */
struct kwatch_state *kwatch_current(void);

/* save.c: save arrays of the calls that KWATCH_SAVE selects. */
extern bool kwatch_saving;
/* Does a line select this call of those with the KEY? Then that line is used up. */
struct kwatch_wanted *kwatch_save_wanted(uint64_t key);
/* WHEN is "before" or "after". */
void kwatch_save(const struct kwatch_wanted *w, const struct kwatch_pointer *x,
    const struct kwatch_call *c, const char *name, const char *when);

/*
 * guard.c: determine the most that the call touches of each array, for S. True in a process that
 * must make the call to find out: it does nothing else, and ends with kwatch_guard_stop.
 */
bool kwatch_guard(const struct kwatch_call *c, struct kwatch_state *s);
bool kwatch_guard_child(void);
void kwatch_guard_stop(const struct kwatch_call *c);

/*
 * device.c: does nothing if there is no run-time library. KWATCH_NEXT declares NAME_real, the
 * function of the application's own library, however that was loaded.
 */
void *kwatch_next(void **at, const char *name);
#define KWATCH_NEXT(name, type) \
	static void *name##_at; \
	__typeof__(type) *name##_real = (__typeof__(type) *)kwatch_next(&name##_at, #name)
/* The macro KIND for a function and for its variant with one default stream per thread. */
#define KWATCH_BOTH(kind, name, ...) kind(name, __VA_ARGS__) kind(name##_ptsz, __VA_ARGS__)
bool kwatch_cuda(void);
/* The stream of a call, or the standard one. */
void *kwatch_stream(const struct kwatch_call *c);
/* Pass the memory, piece by piece, to a function; false when it is not available now. */
bool kwatch_device_read(uintptr_t from, size_t bytes, void *stream,
    void (*take)(void *to, const void *data, size_t len), void *to);
uint64_t kwatch_device_sum(uintptr_t from, size_t bytes, void *stream, bool *good);
/*
 * Time on a stream; NULL: that is impossible now. _line, called after _stop, hands over the line,
 * which is written when the time is known.
 */
void *kwatch_timer_start(void *stream);
void kwatch_timer_stop(void *timer, void *stream);
void kwatch_timer_line(void *timer, const char *line, size_t len, double host_ns);

/*
 * activity.c: how long the device works for a call, from the start of its first piece of work to
 * the end of its last. _open: false if the library next to the run-time library RUNTIME is missing
 * or refuses; then the others do nothing. Everything that the thread requests between _begin and
 * _end belongs to CALL, a number above 0; the outermost counts. _ns: 0 when unknown; after _flush,
 * finished work is known.
 */
bool kwatch_activity_open(const char *runtime);
void kwatch_activity_begin(uint64_t call);
void kwatch_activity_end(void);
void kwatch_activity_flush(void);
double kwatch_activity_ns(uint64_t call);
