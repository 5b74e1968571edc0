/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend: what compiles and runs a campaign's kernels. One row per backend holds everything that
 * the tools ask about it; they test its properties, never its name. Its other files are found by
 * name: patterns/NAME.json, and backends/, instructions/ and tips/ in prompts. To add a backend:
 * add a row here, these files, and the word in kcamp.c.
 */
#pragma once

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
	const char *languages;       /* in a task: words that mean this backend */
	const char *labels;          /* used by models on code fences */
	enum ktoken_lang syntax;
	const char *compiler; /* the only one possible; NULL: the task names it */
	const char *runner;   /* our program that runs a candidate; NULL: none */
	/* programs that profile it and list its instructions; NULL: none */
	const char *profiler, *lister;
	const char *sanitizer; /* for device code; NULL: none is known */
	bool device;           /* its kernels run on a device, not on the host's cores */
	bool pointers;         /* a candidate is a host function that receives device addresses, */
	enum kgpu_api api;     /* by this driver */
	bool ceilings;         /* kharness can measure the machine's peak rates */
	bool clocks;           /* kharness can fix the device's clocks */
	/* its driver reports a compute capability, and the device's L2 size */
	bool facts;
};
extern const struct backend backends[BACKEND_COUNT];

/* Ignores case; NULL if there is no backend of this name. */
const struct backend *backend_named(const char *name);
/* The backend for a task in this language: C, on the host, if no row lists the word. */
const struct backend *backend_for(const char *language);
bool backend_labelled(const struct backend *b, const char *label);
/* Syntax of a backend, or of another word that a fence may have. */
enum ktoken_lang backend_syntax(const char *name);

/*
 * Why this backend cannot be evaluated: kiln has no program that runs it. NULL: it has one. The
 * caller frees.
 */
char *backend_lacks_runner(const struct backend *b);

/* Our programs that compile device code only, with the names that a task uses in build.compiler. */
struct device_compiler {
	const char *name, *program;
	const char *api;               /* the compiler that takes the options */
	const struct backend *backend; /* what runs the result */
	bool needs_device;
};
/* NULL: the task has its own compiler. */
const struct device_compiler *device_compiler(const char *name);
