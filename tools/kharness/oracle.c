/* SPDX-License-Identifier: Apache-2.0 */
/* kharness: the oracle: trusted code that computes the expected results in double precision, loaded into the judge. */
#include <dlfcn.h>
#include <ffi.h>
#include <stdlib.h>

#include "kharness.h"

struct oracle {
	const struct ktask *t;
	void *library;
	void (*entry)(void);
	ffi_cif cif;
	ffi_type *types[KTASK_ARGS + 1];
	void *stream;		/* of the device, the last argument there; NULL on the host */
};

static ffi_type *
type_of(const struct ktask *t, const struct ktask_arg *a)
{
	if (a->kind == KARG_TENSOR && !t->tensors[a->index].scalar)
		return &ffi_type_pointer;
	if (kdtype_is_float(a->dtype))
		return &ffi_type_double;
	return a->dtype == KDTYPE_I64 ? &ffi_type_sint64 : &ffi_type_sint32;
}

struct oracle *
oracle_open(const struct ktask *t, const char *file, int threads, void *stream)
{
	struct oracle *o = kcalloc(1, sizeof *o);
	char *path = realpath(file, NULL), *number = kasprintf("%d", threads);

	if (!path)
		kdie_errno(K_USAGE, "%s", file);
	/*
	 * Read by the OpenMP runtime when it is loaded. Idle threads must sleep: a spinning one would disturb
	 * measurements.
	 */
	setenv("OMP_WAIT_POLICY", "passive", 1);
	setenv("OMP_NUM_THREADS", number, 1);
	setenv("OMP_DYNAMIC", "false", 1);
	o->t = t;
	o->stream = stream;
	o->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!o->library)
		kdie(K_USAGE, "%s: %s", file, dlerror());
	*(void **)&o->entry = dlsym(o->library, t->entry);
	if (!o->entry)
		kdie(K_USAGE, "%s: no function %s", file, t->entry);
	for (size_t i = 0; i < t->arg_count; i++)
		o->types[i] = type_of(t, &t->args[i]);
	o->types[t->arg_count] = &ffi_type_pointer;
	if (ffi_prep_cif(&o->cif, FFI_DEFAULT_ABI, (unsigned)t->arg_count + (stream != NULL), &ffi_type_void, o->types) != FFI_OK)
		kdie(K_USAGE, "%s: libffi refuses the call", t->file);
	free(path);
	free(number);
	return o;
}

void
oracle_call(const struct oracle *o, const struct ktask_workload *w, void *const *values)
{
	union {
		const void *p;
		double d;
		int32_t i32;
		int64_t i64;
	} word[KTASK_ARGS];
	void *arguments[KTASK_ARGS + 1];

	for (size_t i = 0; i < o->t->arg_count; i++) {
		const struct ktask_arg *a = &o->t->args[i];
		const struct ktask_tensor *x = a->kind == KARG_TENSOR ? &o->t->tensors[a->index] : NULL;
		double value = x && x->scalar ? ktask_scalar(w, x) : 0;
		int64_t integer = x ? (int64_t)value : w->axis[a->index];

		if (x && !x->scalar)
			word[i].p = values[a->index];
		else if (kdtype_is_float(a->dtype))
			word[i].d = a->dtype == KDTYPE_F32 ? (double)(float)value : value;
		else if (a->dtype == KDTYPE_I64)
			word[i].i64 = integer;
		else
			word[i].i32 = (int32_t)integer;
		arguments[i] = &word[i];
	}
	arguments[o->t->arg_count] = (void *)&o->stream;
	ffi_call((ffi_cif *)&o->cif, o->entry, NULL, arguments);
}

void
oracle_close(struct oracle *o)
{
	if (o)
		dlclose(o->library);
	free(o);
}
