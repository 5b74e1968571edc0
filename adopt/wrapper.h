/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kadopt puts around the watched function in a copy of the application: C or C++ (nvcc too).
 * kwatch.so, which is preloaded, does the work; without it the application behaves as usual.
 */
#ifndef KWATCH_WRAPPER_H
#define KWATCH_WRAPPER_H

#include <dlfcn.h>
#include <stddef.h>

#define KWATCH_API "kwatch_api_5"
enum { KWATCH_ARGS = 48 };

/* Kinds of arguments. */
enum {
	KWATCH_OTHER,
	KWATCH_SIGNED,
	KWATCH_UNSIGNED,
	KWATCH_REAL,
	KWATCH_BOOL,
	KWATCH_POINTER,
	KWATCH_STREAM
};

struct kwatch_arg {
	const char *name;
	const void *at; /* address of its value */
	size_t size;
	int kind, constant; /* CONSTANT: it points to const */
	size_t extent;      /* size in bytes of what it points to, if known; or 0 */
	/*
	 * bytes of an element of an array; for a number that is a place in an array: which argument
	 * that is, counted from 1; or 0
	 */
	size_t item;
	/*
	 * where the function finds the value (or, for a number that gives a place, the pointer
	 * itself), if another value may be put there; or NULL
	 */
	const void *place;
	/* the pointer on the way to the value that is null, as text: no value; or NULL */
	const char *absent;
};

struct kwatch_call {
	const char *kernel;
	const struct kwatch_arg *args;
	size_t count;
	/* its work may still be running when it returns: one of the constants below, or 0 */
	int cuda;
	void *state;
};

/* Kinds of CUDA: the meaning of stream 0. */
enum { KWATCH_LEGACY = 1, KWATCH_PER_THREAD = 2 };

struct kwatch_api {
	void (*start)(struct kwatch_call *call);
	void (*stop)(struct kwatch_call *call);
	/* where the piece of memory begins that P points into; P: unknown */
	void *(*block)(const void *p);
};

#if defined __CUDACC__ && defined CUDA_API_PER_THREAD_DEFAULT_STREAM
#define KWATCH_CUDA KWATCH_PER_THREAD
#elif defined __CUDACC__
#define KWATCH_CUDA KWATCH_LEGACY
#else
#define KWATCH_CUDA 0
#endif

/* clang-format off */
#ifdef __cplusplus
#define KWATCH_KIND_OF(type, kind) \
	static inline int kwatch_kind(const type *) { return kind; }
KWATCH_KIND_OF(bool, KWATCH_BOOL)
KWATCH_KIND_OF(char, KWATCH_SIGNED)
KWATCH_KIND_OF(signed char, KWATCH_SIGNED)
KWATCH_KIND_OF(short, KWATCH_SIGNED)
KWATCH_KIND_OF(int, KWATCH_SIGNED)
KWATCH_KIND_OF(long, KWATCH_SIGNED)
KWATCH_KIND_OF(long long, KWATCH_SIGNED)
KWATCH_KIND_OF(unsigned char, KWATCH_UNSIGNED)
KWATCH_KIND_OF(unsigned short, KWATCH_UNSIGNED)
KWATCH_KIND_OF(unsigned, KWATCH_UNSIGNED)
KWATCH_KIND_OF(unsigned long, KWATCH_UNSIGNED)
KWATCH_KIND_OF(unsigned long long, KWATCH_UNSIGNED)
KWATCH_KIND_OF(float, KWATCH_REAL)
KWATCH_KIND_OF(double, KWATCH_REAL)
/* The application may have macros with any usual name. */
template <class kwatch_T> static inline int kwatch_kind(kwatch_T *const *)
{
	return KWATCH_POINTER;
}
template <class kwatch_T> static inline int kwatch_kind(const kwatch_T *)
{
	return __is_enum(kwatch_T) ? KWATCH_SIGNED : KWATCH_OTHER;
}
#define KWATCH_KIND(x) kwatch_kind(&(x))
template <class kwatch_T, class kwatch_U> struct kwatch_same { enum { yes = 0 }; };
template <class kwatch_T> struct kwatch_same<kwatch_T, kwatch_T> { enum { yes = 1 }; };
#else
#define KWATCH_KIND(x) _Generic((x), _Bool: KWATCH_BOOL, char: KWATCH_SIGNED, \
	signed char: KWATCH_SIGNED, short: KWATCH_SIGNED, int: KWATCH_SIGNED, long: KWATCH_SIGNED, \
	long long: KWATCH_SIGNED, unsigned char: KWATCH_UNSIGNED, unsigned short: KWATCH_UNSIGNED, \
	unsigned: KWATCH_UNSIGNED, unsigned long: KWATCH_UNSIGNED, \
	unsigned long long: KWATCH_UNSIGNED, float: KWATCH_REAL, double: KWATCH_REAL, \
	default: __builtin_classify_type(x) == 5 ? KWATCH_POINTER : KWATCH_OTHER)
#endif
/* clang-format on */

#define KWATCH_ARG(x, constant, item) \
	{ \
#x, &(x), sizeof(x), KWATCH_KIND(x), constant, 0, item, (const void *)&(x), 0 \
	}
#define KWATCH_STREAM_ARG(x) \
	{ \
#x, &(x), sizeof(x), KWATCH_STREAM, 0, 0, 0, 0, 0 \
	}

static inline const struct kwatch_api *
kwatch_find(void)
{
	static const struct kwatch_api *api;

	if (!api)
		api = (const struct kwatch_api *)dlsym((void *)0, KWATCH_API);
	return api;
}

static inline void *
kwatch_block(const void *p)
{
	return kwatch_find() ? kwatch_find()->block(p) : (void *)p;
}

static inline void
kwatch_start(struct kwatch_call *call)
{
	if (kwatch_find())
		kwatch_find()->start(call);
}

static inline void
kwatch_stop(struct kwatch_call *call)
{
	if (kwatch_find())
		kwatch_find()->stop(call);
}

#endif
