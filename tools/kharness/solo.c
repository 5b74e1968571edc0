/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness --solo: call the kernel in this very process, on each timed workload of the set or on one, for a profiler that
 * wraps around it. There is no verdict and no clock; the caller sees to the sandbox.
 */
#include <dlfcn.h>
#include <errno.h>
#include <ffi.h>
#include <stdlib.h>
#include <string.h>

#include "kharness.h"

struct solo {
	struct judge *j;
	void *entry;
	ffi_cif cif;
	ffi_type *types[KTASK_ARGS + 1];
};

static ffi_type *
type_of(const struct ktask *t, const struct ktask_arg *a)
{
	if (a->kind == KARG_TENSOR && !t->tensors[a->index].scalar)
		return &ffi_type_pointer;
	switch (a->dtype) {
	case KDTYPE_F64:
		return &ffi_type_double;
	case KDTYPE_F32:
	case KDTYPE_TF32:
		return &ffi_type_float;
	case KDTYPE_I64:
		return &ffi_type_sint64;
	default:
		return &ffi_type_sint32;
	}
}

static void
load(struct solo *s)
{
	const struct ktask *t = s->j->task;
	char *path = realpath(s->j->o.candidate, NULL);
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	s->entry = library ? dlsym(library, t->entry) : NULL;
	if (!s->entry)
		kdie(K_USAGE, "%s: %s", s->j->o.candidate, path ? dlerror() : strerror(errno));
	for (size_t i = 0; i < t->arg_count; i++)
		s->types[i] = type_of(t, &t->args[i]);
	s->types[t->arg_count] = &ffi_type_pointer;
	if (ffi_prep_cif(&s->cif, FFI_DEFAULT_ABI, (unsigned)t->arg_count + s->j->device, &ffi_type_void, s->types) !=
	    FFI_OK)
		kdie(K_USAGE, "%s: libffi refuses the call", t->file);
	free(path);
}

/* Words of a row to arguments: offsets become addresses. */
static void
call(struct solo *s, const struct memory *m)
{
	const struct ktask *t = s->j->task;
	uint64_t words[KTASK_ARGS];
	void *values[KTASK_ARGS + 1], *stream = s->j->device ? device_stream() : NULL;

	memcpy(words, m->rows, t->arg_count * sizeof *words);
	for (size_t i = 0; i < t->arg_count; i++) {
		const struct ktask_arg *a = &t->args[i];

		if (a->kind == KARG_TENSOR && !t->tensors[a->index].scalar)
			words[i] += (uint64_t)(uintptr_t)(t->tensors[a->index].output ? m->out.memory : m->in.memory);
		values[i] = &words[i];
	}
	values[t->arg_count] = &stream;
	ffi_call(&s->cif, FFI_FN(s->entry), NULL, values);
	/* A fence is a launch of its own there, which a profiler would measure, too. */
	if (s->j->device)
		device_wait();
}

/* Once to warm up, once for the profiler. */
static void
one_workload(struct solo *s, const struct ktask_workload *w)
{
	struct memory m;
	struct batch b;
	size_t in, out;

	memory_slot(s->j->task, w, &in, &out);
	memory_open(s->j, &m, in, out, 1);
	for (int i = 0; i < 2; i++) {
		batch_draw(s->j, &b, w, s->j->task->distributions[0], 1, false);
		memory_load(s->j, &m, &b);
		memory_flush(s->j, &m);
		if (s->j->device && i == 1)
			device_profiler(true);
		call(s, &m);
		if (s->j->device && i == 1)
			device_profiler(false);
		batch_free(s->j, &b);
	}
	memory_close(s->j, &m);
}

void
run_solo(struct judge *j)
{
	struct solo s = { .j = j };
	bool found = false;

	if (j->device)
		device_limit(j->o.memory_bytes);
	load(&s);
	for (size_t i = 0; i < j->task->workload_count; i++) {
		const struct ktask_workload *w = &j->task->workloads[i];

		if (!w->timed || !ktask_in_set(w, j->o.set) || (j->o.workload && strcmp(w->name, j->o.workload)))
			continue;
		one_workload(&s, w);
		found = true;
	}
	if (!found)
		kdie(K_USAGE, "%s: set '%s' has no timed workload%s%s", j->task->file, j->o.set, j->o.workload ? " called " : "",
		    j->o.workload ? j->o.workload : "");
}
