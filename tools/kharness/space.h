/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: the memory that tensors are in, the machine's own or a GPU's, and the few operations
 * that the judge needs on it. Verdicts are built from these, by the same code for all backends.
 * Pointers belong to the space: only the host's may be dereferenced. A fault of the environment
 * ends the program.
 */
#pragma once

#include "backend.h"
#include "ktask.h"
#include "kutil.h"
#include "small.h"

/* Allowed difference in addition to RTOL * |expected|: see compare.c. */
struct rule {
	double rtol, per_scale, atol, fixed_scale, per_error;
	bool exact;
};

/* Output GOT of N elements and what was EXPECTED (doubles, or the type itself for integers). */
struct comparison {
	enum kdtype dtype;
	/* elements, and elements that share a scale; the last group includes the remainder */
	size_t n, group;
	const void *expected, *got;
	struct rule rule;
	const double *slack; /* unless NULL: allowed for each element at least */
	double cap;          /* largest error of any element; below 0: none */
	uint64_t poison;     /* what the tensor was filled with */
};

/* How the numbers of a tensor are drawn. */
struct recipe {
	enum kdist dist;
	size_t period; /* SPECIAL: elements of a row; SPARSE: one element in this many is not
                        * zero */
	/*
	 * If not 0: one element in this many is drawn, and the others stay unchanged. LARGE ones
	 * are then between 100 and 200: one of about 15 among a million normals needs more digits
	 * than a softmax in single precision has, and next to one of 10000 an honest sum of squares
	 * loses the others.
	 */
	size_t every;
};

/* N recorded numbers, in the space; see small_redraw. */
struct recorded {
	const void *values;
	size_t n;
	uint64_t seed;
	double to, share;
	int whole;
	bool ordered;
};

struct comparison_result {
	size_t mismatches, unwritten;
	bool over_cap;
	double max_abs;
	double max_share; /* relative to its tolerance; not recorded for exact results */
	/* error and tolerance of the element furthest beyond; worst < 0: none */
	double worst, tolerance;
	size_t worst_at;
};

enum { PAGE = 4096 };

static inline size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Memory that judge and runner share. */
struct arena {
	/* runner_fd: what the runner gets; read-only for an input arena */
	int fd, runner_fd;
	char *memory;
	size_t bytes;
	uint64_t handle; /* for the space's own use */
};

/* Bytes FROM to TO of an arena. */
struct range {
	size_t from, to;
};

/* Two pieces of memory that should be alike. */
struct pair {
	const void *a, *b;
	size_t bytes;
};

struct space {
	void *(*alloc)(size_t bytes);
	void (*release)(void *p); /* NULL is allowed */
	void (*copy)(void *to, const void *from, size_t bytes);
	void (*fetch)(void *host, const void *from, size_t bytes);
	void (*store)(void *to, const void *host, size_t bytes);
	void (*set)(void *to, int byte, size_t bytes);
	/* Fill with a word, repeated from the first byte on. */
	void (*words)(void *to, uint64_t word, size_t bytes);
	/*
	 * Write the secret pattern (space_pattern) to bytes FROM to TO of an arena; find the first
	 * byte in any of N ranges that differs, or SIZE_MAX. A device is asked once for all of
	 * them, and for all pairs.
	 */
	void (*guard)(char *memory, uint64_t key, size_t from, size_t to);
	size_t (*guard_check)(
	    const char *memory, uint64_t key, const struct range *ranges, size_t n);
	bool (*differs)(const struct pair *pairs, size_t n);
	/* Random values, see values_draw; N elements as doubles; doubles times about 1 -+ EPS. */
	void (*draw)(enum kdtype t, struct recipe how, struct krng *rng, size_t n, void *to);
	/* Values similar to recorded numbers. */
	void (*redraw)(enum kdtype t, const struct recorded *r, void *to);
	void (*widen)(enum kdtype t, const void *from, size_t n, double *to);
	void (*perturb)(double *v, size_t n, double eps, bool alike, struct krng *rng);
	/* Whether every expected value is exactly representable in the type. */
	bool (*is_exact)(enum kdtype t, const double *expected, size_t n);
	void (*compare)(const struct comparison *c, struct comparison_result *r);
	/* Remove BYTES from all caches, line by line; NULL if there is no such instruction. */
	void (*evict)(const void *p, size_t bytes);
	/* Read and write twice the last-level cache, so that the next call finds nothing there. */
	void (*flush)(void);
	void (*arena_open)(struct arena *a, size_t bytes, bool read_only);
	void (*arena_close)(struct arena *a);
	/*
	 * Wait until all work is done; returns the nanoseconds that a trivial kernel took, 0 if
	 * that tells nothing.
	 */
	int64_t (*fence)(void);
	/* for the slots of one subject in timing, unless one call needs more */
	size_t arena_bytes;
	double sample_ns; /* a sample lasts at least this long, with more calls if necessary */
	/* The oracle's time per sample. If it needs longer, fewer of the calls are checked. */
	double oracle_s;
};

extern const struct space space_host;
/* The GPU that was chosen (gpu.c). Compiles the judge's kernels, cached in FOLDER unless NULL. */
const struct space *space_gpu(const struct backend *backend, const char *folder);

/* Word I of the guard pattern of KEY. */
static inline uint64_t
space_pattern(uint64_t key, size_t i)
{
	return small_mix(key, i);
}
