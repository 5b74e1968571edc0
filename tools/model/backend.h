/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend: what compiles and runs a campaign's kernels. One row a backend says all that the tools
 * ask about it; they test its properties, never its name. What else a backend has is found by its
 * name: patterns/NAME.json, and backends/, instructions/ and tips/ in prompts. To add one: a row
 * here, these files, and the word in kcamp.c.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "kgpu.h"
#include "ktoken.h"

enum backend_id {
	BACKEND_C,
	BACKEND_CUDA,
	BACKEND_HIP,
	BACKEND_OPENCL,
	BACKEND_SYCL,
	BACKEND_TRITON,
	BACKEND_COUNT
};

struct backend {
	const char *name;
	const char *suffix, *source; /* compilers go by the suffix; a candidate's file */
	const char *languages;       /* of a task: words that mean this backend */
	const char *labels;          /* that models put on its code fences */
	enum ktoken_lang syntax;
	const char *compiler; /* the only one there is; NULL: what the task names */
	const char *runner;   /* our program that runs a candidate; NULL: there is none */
	/* who profiles it, and lists its instructions; NULL: nobody */
	const char *profiler, *lister;
	const char *sanitizer; /* of device code; NULL: none is known */
	bool device;           /* its kernels run on a device, not on the host's cores */
	bool pointers; /* a candidate is a host function that is given addresses on the device, */
	enum kgpu_api api; /* by this driver */
	bool ceilings;     /* kharness measures what the machine can do at best */
	bool clocks;       /* kharness can hold the device's clocks */
	/* its driver tells a compute capability, and the L2 of the whole device */
	bool facts;
};
extern const struct backend backends[BACKEND_COUNT];

/* Without regard to case; NULL where there is none of this name. */
const struct backend *backend_named(const char *name);
/* For a task in this language: C, on the host, where no row claims the word. */
const struct backend *backend_for(const char *language);
bool backend_labelled(const struct backend *b, const char *label);
/* Of a backend, or of another word that a fence may bear. */
enum ktoken_lang backend_syntax(const char *name);

/*
 * Why this backend cannot be evaluated: no program of ours runs it. NULL: one does. The caller
 * frees.
 */
char *backend_lacks_runner(const struct backend *b);

/* Programs of ours that compile device code alone, by what a task calls them in build.compiler. */
struct device_compiler {
	const char *name, *program;
	const char *api;               /* what takes the options */
	const struct backend *backend; /* what runs the result */
	bool needs_device;
};
/* NULL: the task has a compiler of its own. */
const struct device_compiler *device_compiler(const char *name);

#endif
