/* SPDX-License-Identifier: Apache-2.0 */
/* backend: see backend.h. */
#include "backend.h"

const struct backend backends[BACKEND_COUNT] = {
	[BACKEND_C] = {
		.name = "c", .suffix = "c", .source = "candidate.c", .languages = "c",
		.labels = "c c99 c11 c17 c23 gnu11 h cpp c++ cc cxx",
		.runner = "krun-c", .profiler = "valgrind", .lister = "objdump", .ceilings = true,
	},
	[BACKEND_CUDA] = {
		.name = "cuda", .suffix = "cu", .source = "candidate.cu",
		.languages = "cuda cu",
		.labels = "cuda cu cuh cuda-c cuda-cpp cpp c++ cc cxx c",
		.runner = "krun-gpu", .profiler = "ncu", .lister = "cuobjdump",
		.sanitizer = "compute-sanitizer",
		.device = true, .pointers = true, .api = KGPU_CUDA,
		.ceilings = true, .clocks = true, .facts = true,
	},
	[BACKEND_HIP] = {
		.name = "hip", .suffix = "hip", .source = "candidate.hip", .languages = "hip",
		.labels = "hip hip-cpp cpp c++ cc cxx cuda cu c",
		.runner = "krun-gpu", .profiler = "rocprofv3",
		.device = true, .pointers = true, .api = KGPU_HIP,
		.ceilings = true,
	},
	[BACKEND_OPENCL] = {
		.name = "opencl", .suffix = "cl", .source = "candidate.cl",
		.languages = "opencl cl",
		.labels = "opencl cl ocl opencl-c openclc c",
		.compiler = "opencl", .runner = "krun-opencl", .device = true, .facts = true,
	},
	[BACKEND_SYCL] = {
		.name = "sycl", .suffix = "cpp", .source = "candidate.cpp", .languages = "sycl",
		.labels = "sycl dpcpp cpp c++ cc cxx",
		.device = true, .facts = true,
	},
	[BACKEND_TRITON] = {
		.name = "triton", .suffix = "py", .source = "candidate.py",
		.languages = "triton python",
		.labels = "triton python py python3", .syntax = KTOKEN_PYTHON,
		.device = true, .facts = true,
	},
};

static const struct device_compiler device_compilers[] = {
	{ "opencl", "krun-opencl", "clBuildProgram", &backends[BACKEND_OPENCL], true },
	{ "nvrtc", "krtc", "NVRTC", &backends[BACKEND_CUDA], false },
};

static bool
holds(const char *words, const char *word)
{
	size_t n = strcspn(word, " ");

	for (const char *p = words; n && (p = strcasestr(p, word)); p++)
		if ((p == words || p[-1] == ' ') && (!p[n] || p[n] == ' ') && !word[n])
			return true;
	return false;
}

const struct backend *
backend_named(const char *name)
{
	kforeach(one, backends)
		if (!strcasecmp(one->name, name))
			return one;
	return NULL;
}

const struct backend *
backend_for(const char *language)
{
	kforeach(one, backends)
		if (holds(one->languages, language))
			return one;
	return &backends[BACKEND_C];
}

bool
backend_labelled(const struct backend *b, const char *label)
{
	return holds(b->labels, label);
}

enum ktoken_lang
backend_syntax(const char *name)
{
	const struct backend *b = backend_named(name);

	return b ? b->syntax : ktoken_lang_of(name);
}

char *
backend_lacks_runner(const struct backend *b)
{
	struct kbuf text = { 0 };

	if (b->runner)
		return NULL;
	kbuf_printf(&text,
	    "kiln cannot run %s kernels itself: set eval.correctness and eval.timing to commands "
	    "of your own, or choose one of",
	    b->name);
	kforeach(one, backends)
		if (one->runner)
			kbuf_printf(&text, " %s", one->name);
	return text.data;
}

const struct device_compiler *
device_compiler(const char *name)
{
	return krow_with(device_compilers, LEN(device_compilers), name, name);
}
