/* SPDX-License-Identifier: Apache-2.0 */
/* kcompile: see kcompile.h. */
#include "kcompile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kutil.h"

enum { CUDA, HIP };

/* Their functions differ in the prefix, and in what the result is called; the order is that of the names below. */
static struct compiler {
	int (*version)(int *, int *);
	const char *(*words)(int);
	int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
	int (*compile)(void *, int, const char *const *);
	int (*log_size)(void *, size_t *), (*log)(void *, char *);
	int (*code_size)(void *, size_t *), (*code)(void *, char *);
	int (*destroy)(void **);
} compilers[2];

static const char *const names[][2] = {
	{ "nvrtcVersion", "hiprtcVersion" }, { "nvrtcGetErrorString", "hiprtcGetErrorString" },
	{ "nvrtcCreateProgram", "hiprtcCreateProgram" }, { "nvrtcCompileProgram", "hiprtcCompileProgram" },
	{ "nvrtcGetProgramLogSize", "hiprtcGetProgramLogSize" }, { "nvrtcGetProgramLog", "hiprtcGetProgramLog" },
	{ "nvrtcGetCUBINSize", "hiprtcGetCodeSize" }, { "nvrtcGetCUBIN", "hiprtcGetCode" },
	{ "nvrtcDestroyProgram", "hiprtcDestroyProgram" },
};

static const char *const libraries[2][4] = {
	[CUDA] = { "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so" },
	[HIP] = { "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so", "/opt/rocm/lib/libhiprtc.so" },
};

static int
which(const char *backend)
{
	return strcmp(backend, "hip") ? CUDA : HIP;
}

bool
kcompile_find(const char *backend, char *why, size_t why_len)
{
	int w = which(backend);
	void **slots = (void **)(void *)&compilers[w], *library = NULL;

	if (compilers[w].destroy)
		return true;
	for (size_t i = 0; i < LEN(libraries[w]) && !library; i++)
		library = dlopen(libraries[w][i], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(why, why_len, "no %s: %s", w == HIP ? "hipRTC" : "NVRTC", dlerror());
		return false;
	}
	for (size_t i = 0; i < LEN(names); i++) {
		slots[i] = dlsym(library, names[i][w]);
		if (!slots[i]) {
			snprintf(why, why_len, "%s has no %s: it is too old", w == HIP ? "hipRTC" : "NVRTC", names[i][w]);
			return false;
		}
	}
	return true;
}

void
kcompile_version(const char *backend, int *major, int *minor)
{
	char why[256];

	*major = *minor = 0;
	if (kcompile_find(backend, why, sizeof why))
		compilers[which(backend)].version(major, minor);
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
kcompile(const char *backend, const char *source, const char *name, const char *const *flags, int flag_count, size_t *len,
    char **log, char *why, size_t why_len)
{
	const struct compiler *c = &compilers[which(backend)];
	void *program = NULL;
	char *code = NULL;
	int e;

	*log = NULL;
	*len = 0;
	if (!kcompile_find(backend, why, why_len))
		return NULL;
	e = c->create(&program, source, name, 0, NULL, NULL);
	if (!e) {
		e = c->compile(program, flag_count, flags);
		*log = log_of(c, program);
	}
	/* Without a device among the flags there is no code to ask for, which some say by an error. */
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
