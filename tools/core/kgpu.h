/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgpu: a GPU through its driver's own interface (CUDA's driver API, HIP's run time), loaded at run
 * time, so that building kiln needs neither toolkit. The two interfaces differ in their prefix;
 * addresses are plain numbers in both. Used by the judge and by the runner, each in its own
 * process.
 */
#pragma once

#include "kutil.h"

typedef uint64_t kgpu_ptr;

/* What a device reports about itself. */
struct kgpu_facts {
	char name[256];
	char uuid[40]; /* hexadecimal */
	int multiprocessors, clock_khz, major, minor;
	size_t l2_bytes, memory_bytes;
	int driver_version;
};

/* What it is doing right now; -1: not reported. */
struct kgpu_state {
	int sm_mhz, memory_mhz, temperature_c, power_w;
	int64_t throttle; /* NVML's mask of reasons why clocks are not higher; 1: idle */
};

struct kgpu;

/* Whose driver, and whose run-time compiler. */
enum kgpu_api { KGPU_CUDA, KGPU_HIP };

/*
 * Device NUMBER of the driver of API, for kgpu_facts and kgpu_state. NULL with the reason in WHY
 * when there is no driver or no such device.
 */
struct kgpu *kgpu_find(enum kgpu_api api, int number, char *why, size_t why_len);
/*
 * Make its primary context current, which all else needs; false with the reason in WHY. SPIN: wait
 * for the device by spinning instead of sleeping. Others who measure on the device notice.
 */
bool kgpu_enter(struct kgpu *g, bool spin, char *why, size_t why_len);
/* Both. */
struct kgpu *kgpu_open(enum kgpu_api api, int number, bool spin, char *why, size_t why_len);
/*
 * Does WHY, from this process or another, say that the device is out of memory? Memory becomes free
 * when other processes are done.
 */
bool kgpu_no_room(const char *why);
/* Give the context back, and the memory in it; NULL is allowed. */
void kgpu_close(struct kgpu *g);
/* Devices that the driver shows; 0 and WHY when there are none. */
int kgpu_count(enum kgpu_api api, char *why, size_t why_len);
void kgpu_facts(struct kgpu *g, struct kgpu_facts *facts);
/*
 * Read from the management library (NVML), which is only queried and never used to change anything.
 */
void kgpu_state(struct kgpu *g, struct kgpu_state *state);

/*
 * All functions below return NULL (or 0) on success, else the driver's error text; the text is
 * static or the driver's.
 */
/* in stream order */
const char *kgpu_alloc(struct kgpu *g, kgpu_ptr *p, size_t bytes);
const char *kgpu_free(struct kgpu *g, kgpu_ptr p);
const char *kgpu_alloc_plain(struct kgpu *g, kgpu_ptr *p, size_t bytes); /* at once, from no pool */
const char *kgpu_free_plain(struct kgpu *g, kgpu_ptr p);                 /* waits for the device */
const char *kgpu_copy(struct kgpu *g, kgpu_ptr to, kgpu_ptr from, size_t bytes);
const char *kgpu_fetch(struct kgpu *g, void *host, kgpu_ptr from, size_t bytes);     /* waits */
const char *kgpu_store(struct kgpu *g, kgpu_ptr to, const void *host, size_t bytes); /* waits */
/* From now on this process gets at most this much memory from stream-ordered allocations. */
const char *kgpu_limit(struct kgpu *g, size_t bytes);
const char *kgpu_set(struct kgpu *g, kgpu_ptr to, int byte, size_t bytes);
const char *kgpu_wait(struct kgpu *g);     /* for the stream */
const char *kgpu_wait_all(struct kgpu *g); /* for everything in the context */

/*
 * Memory that another process can map: its size, rounded up in *BYTES, and a descriptor
 * (close-on-exec). The other process imports the descriptor, and chooses whether the device may
 * write there.
 */
struct kgpu_shared {
	uint64_t handle;
	kgpu_ptr at;
	size_t bytes;
	int fd;
};
const char *kgpu_share(struct kgpu *g, struct kgpu_shared *s, size_t bytes);
/* given: fd and bytes */
const char *kgpu_import(struct kgpu *g, struct kgpu_shared *s, bool read_only);
void kgpu_unshare(struct kgpu *g, struct kgpu_shared *s);

/* Device code: a module from its bytes, functions of it by name, launches. */
const char *kgpu_module(struct kgpu *g, const void *code, void **module);
const char *kgpu_function(struct kgpu *g, void *module, const char *name, void **function);
const char *kgpu_launch(struct kgpu *g, void *function, const unsigned grid[3],
    const unsigned block[3], unsigned shared_bytes, void **arguments);

/*
 * The stream that all functions above use, and that a candidate gets; marks in it, and the
 * nanoseconds between them.
 */
void *kgpu_stream(struct kgpu *g);
const char *kgpu_mark(struct kgpu *g, int which); /* 0: begin, 1: end */
const char *kgpu_elapsed(struct kgpu *g, int64_t *ns);
/* Profilers that were configured to wait for it record between these two calls. */
void kgpu_profiler(struct kgpu *g, bool on);
