/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgpu: a GPU through its driver's own interface (CUDA's driver API, HIP's run time), found when
 * the program runs, so that kiln needs neither toolkit to be built. The two interfaces differ in
 * their prefix; addresses are plain numbers in both. Used by the judge and by the runner, each in
 * its own process.
 */
#ifndef KGPU_H
#define KGPU_H

#include "kutil.h"

typedef uint64_t kgpu_ptr;

/* What a device says of itself. */
struct kgpu_facts {
	char name[256];
	char uuid[40]; /* hexadecimal */
	int multiprocessors, clock_khz, major, minor;
	size_t l2_bytes, memory_bytes;
	int driver_version;
};

/* What it is doing right now; -1: not told. */
struct kgpu_state {
	int sm_mhz, memory_mhz, temperature_c, power_w;
	int64_t throttle; /* NVML's mask of reasons why clocks are not higher; 1: idle */
};

struct kgpu;

/* Whose driver, and whose run-time compiler. */
enum kgpu_api { KGPU_CUDA, KGPU_HIP };

/*
 * The driver of API. NULL with the reason in WHY when there is none or it has no device. SPIN:
 * wait for the device without falling asleep. The primary context of device NUMBER is made current.
 */
struct kgpu *kgpu_open(enum kgpu_api api, int number, bool spin, char *why, size_t why_len);
/*
 * Does WHY, of this process or told by another, say that the device's memory is taken? It is given
 * back when others are done.
 */
bool kgpu_no_room(const char *why);
/* Give the context back, and the memory in it; NULL is allowed. */
void kgpu_close(struct kgpu *g);
/* Devices that the driver shows; 0 and WHY when there are none. */
int kgpu_count(enum kgpu_api api, char *why, size_t why_len);
void kgpu_facts(struct kgpu *g, struct kgpu_facts *facts);
/* Read from the management library (NVML), which is asked and never told anything. */
void kgpu_state(struct kgpu *g, struct kgpu_state *state);

/*
 * All that follow return NULL (or 0) when it worked, else what the driver says, in words; the text
 * is static or the driver's.
 */
/* in the order of the stream */
const char *kgpu_alloc(struct kgpu *g, kgpu_ptr *p, size_t bytes);
const char *kgpu_free(struct kgpu *g, kgpu_ptr p);
const char *kgpu_alloc_plain(struct kgpu *g, kgpu_ptr *p, size_t bytes); /* at once, from no pool */
const char *kgpu_free_plain(struct kgpu *g, kgpu_ptr p);                 /* waits for the device */
const char *kgpu_copy(struct kgpu *g, kgpu_ptr to, kgpu_ptr from, size_t bytes);
const char *kgpu_fetch(struct kgpu *g, void *host, kgpu_ptr from, size_t bytes);     /* waits */
const char *kgpu_store(struct kgpu *g, kgpu_ptr to, const void *host, size_t bytes); /* waits */
/*
 * From now on this process gets no more than so much memory by allocations in the order of a
 * stream.
 */
const char *kgpu_limit(struct kgpu *g, size_t bytes);
const char *kgpu_set(struct kgpu *g, kgpu_ptr to, int byte, size_t bytes);
const char *kgpu_wait(struct kgpu *g);     /* for the stream */
const char *kgpu_wait_all(struct kgpu *g); /* for everything in the context */

/*
 * Memory that another process can map: its size, rounded up in *BYTES, and a descriptor
 * (close-on-exec). The other one imports the descriptor, and chooses whether the device may write
 * there.
 */
struct kgpu_shared {
	uint64_t handle;
	kgpu_ptr at;
	size_t bytes;
	int fd;
};
const char *kgpu_share(struct kgpu *g, struct kgpu_shared *s, size_t bytes);
/* fd and bytes given */
const char *kgpu_import(struct kgpu *g, struct kgpu_shared *s, bool read_only);
void kgpu_unshare(struct kgpu *g, struct kgpu_shared *s);

/* Device code: a module from its bytes, functions of it by name, launches. */
const char *kgpu_module(struct kgpu *g, const void *code, void **module);
const char *kgpu_function(struct kgpu *g, void *module, const char *name, void **function);
const char *kgpu_launch(struct kgpu *g, void *function, const unsigned grid[3],
    const unsigned block[3], unsigned shared_bytes, void **arguments);

/*
 * The stream that all the above use: what a candidate gets. And marks in it, with the nanoseconds
 * between them.
 */
void *kgpu_stream(struct kgpu *g);
const char *kgpu_mark(struct kgpu *g, int which); /* 0: begin, 1: end */
const char *kgpu_elapsed(struct kgpu *g, int64_t *ns);
/* Profilers that were told to wait for it record between these two. */
void kgpu_profiler(struct kgpu *g, bool on);

#endif
