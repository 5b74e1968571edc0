/* SPDX-License-Identifier: Apache-2.0 */
/* kcompile: see kcompile.h. */
#include "kcompile.h"

#include <dlfcn.h>

/*
 * The two compilers differ in the prefix of their functions and in the name of the result. The
 * order is that of the names below.
 */
static struct compiler {
	int (*version)(int *, int *);
	const char *(*words)(int);
	int (*create)(
	    void **, const char *, const char *, int, const char *const *, const char *const *);
	int (*compile)(void *, int, const char *const *);
	int (*log_size)(void *, size_t *), (*log)(void *, char *);
	int (*code_size)(void *, size_t *), (*code)(void *, char *);
	int (*destroy)(void **);
} compilers[2];

static const char *const names[][2] = {
	{ "nvrtcVersion", "hiprtcVersion" },
	{ "nvrtcGetErrorString", "hiprtcGetErrorString" },
	{ "nvrtcCreateProgram", "hiprtcCreateProgram" },
	{ "nvrtcCompileProgram", "hiprtcCompileProgram" },
	{ "nvrtcGetProgramLogSize", "hiprtcGetProgramLogSize" },
	{ "nvrtcGetProgramLog", "hiprtcGetProgramLog" },
	{ "nvrtcGetCUBINSize", "hiprtcGetCodeSize" },
	{ "nvrtcGetCUBIN", "hiprtcGetCode" },
	{ "nvrtcDestroyProgram", "hiprtcDestroyProgram" },
};

static const char *const libraries[2][4] = {
	[KGPU_CUDA] = { "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
	    "/usr/local/cuda/lib64/libnvrtc.so" },
	[KGPU_HIP] = { "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so",
	    "/opt/rocm/lib/libhiprtc.so" },
};

bool
kcompile_find(enum kgpu_api api, char *why, size_t why_len)
{
	void **slots = (void **)(void *)&compilers[api], *library = NULL;

	if (compilers[api].destroy)
		return true;
	for (size_t i = 0; i < LEN(libraries[api]) && !library; i++)
		library = dlopen(libraries[api][i], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(
		    why, why_len, "no %s: %s", api == KGPU_HIP ? "hipRTC" : "NVRTC", dlerror());
		return false;
	}
	for (size_t i = 0; i < LEN(names); i++) {
		slots[i] = dlsym(library, names[i][api]);
		if (!slots[i]) {
			snprintf(why, why_len, "%s has no %s: it is too old",
			    api == KGPU_HIP ? "hipRTC" : "NVRTC", names[i][api]);
			return false;
		}
	}
	return true;
}

void
kcompile_version(enum kgpu_api api, int *major, int *minor)
{
	char why[256];

	*major = *minor = 0;
	if (kcompile_find(api, why, sizeof why))
		compilers[api].version(major, minor);
}

static char *
log_of(const struct compiler *c, void *program)
{
	size_t len = 0;
	char *text;

	if (c->log_size(program, &len) || len < 2)
		return NULL;
	text = kcalloc(len + 1, 1);
	c->log(program, text);
	return text;
}

char *
kcompile(enum kgpu_api api, const char *source, const char *name, const char *const *flags,
    int flag_count, size_t *len, char **log, char *why, size_t why_len)
{
	const struct compiler *c = &compilers[api];
	void *program = NULL;
	char *code = NULL;
	int e;

	*log = NULL;
	*len = 0;
	if (!kcompile_find(api, why, why_len))
		return NULL;
	e = c->create(&program, source, name, 0, NULL, NULL);
	if (!e) {
		e = c->compile(program, flag_count, flags);
		*log = log_of(c, program);
	}
	/*
	 * If the flags name no device, there is no code to ask for; some compilers report that as
	 * an error.
	 */
	if (!e && !c->code_size(program, len)) {
		code = kmalloc(*len + 1);
		e = *len ? c->code(program, code) : 0;
	} else if (!e) {
		code = kcalloc(1, 1);
	}
	if (e) {
		snprintf(why, why_len, "%s", c->words(e));
		free(code);
		code = NULL;
	}
	if (program)
		c->destroy(&program);
	return code;
}
