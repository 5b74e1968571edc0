/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness --solo: call the kernel in this process, on each timed workload of the set or on one,
 * for a profiler that wraps around it. There is no verdict; the caller provides the sandbox.
 * --apart is for tools that look for memory faults: every tensor is then a separate allocation of
 * exactly its size. --warm is for a comparison with an application, which has just used the data of
 * a call; only then does a clock run.
 */
#include <dlfcn.h>
#include <ffi.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION ((void)0)
#define CALLGRIND_STOP_INSTRUMENTATION ((void)0)
#endif

#include "kharness.h"
#include "knpy.h"
#include "kstat.h"

static struct solo {
	void *entry;
	ffi_cif cif;
	ffi_type *types[KTASK_ARGS + 1];
} solo;

static ffi_type *
type_of(const struct ktask_arg *a)
{
	if (a->kind == KARG_TENSOR && !judge.task->tensors[a->index].scalar)
		return &ffi_type_pointer;
	switch (a->dtype) {
	case KDTYPE_F64:
		return &ffi_type_double;
	case KDTYPE_F32:
	case KDTYPE_TF32:
		return &ffi_type_float;
	case KDTYPE_I64:
		return &ffi_type_sint64;
	case KDTYPE_U64:
		return &ffi_type_uint64;
	case KDTYPE_U32:
		return &ffi_type_uint32;
	default:
		return &ffi_type_sint32;
	}
}

static void
load(void)
{
	const struct ktask *t = judge.task;
	auto_free char *path = realpath(judge.o.candidate, NULL);
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	solo.entry = library ? dlsym(library, t->entry) : NULL;
	if (!solo.entry)
		kdie(K_USAGE, "%s: %s", judge.o.candidate, path ? dlerror() : strerror(errno));
	for (size_t i = 0; i < t->arg_count; i++)
		solo.types[i] = type_of(&t->args[i]);
	solo.types[t->arg_count] = &ffi_type_pointer;
	if (ffi_prep_cif(&solo.cif, FFI_DEFAULT_ABI, (unsigned)t->arg_count + judge.device,
	        &ffi_type_void, solo.types) != FFI_OK)
		kdie(K_USAGE, "%s: libffi cannot prepare the call", t->file);
}

static void
call_with(uint64_t words[KTASK_ARGS])
{
	size_t count = judge.task->arg_count;
	void *values[KTASK_ARGS + 1], *stream = judge.device ? device_stream() : NULL;

	for (size_t i = 0; i < count; i++)
		values[i] = &words[i];
	values[count] = &stream;
	ffi_call(&solo.cif, FFI_FN(solo.entry), NULL, values);
}

/* Convert a row's words to arguments: offsets become addresses. */
static void
call(const struct memory *m)
{
	const struct ktask *t = judge.task;
	uint64_t words[KTASK_ARGS];

	memcpy(words, m->rows, t->arg_count * sizeof *words);
	for (size_t i = 0; i < t->arg_count; i++) {
		const struct ktask_arg *a = &t->args[i];

		if (a->kind == KARG_TENSOR && !t->tensors[a->index].scalar)
			words[i] +=
			    (uint64_t)(uintptr_t)(t->tensors[a->index].output ? m->out.memory
			                                                      : m->in.memory);
	}
	call_with(words);
	/* A fence there is a launch, which a profiler would also measure. */
	if (judge.device)
		device_wait();
}

/* Starts or stops a counter that waits at these two FIFOs in the folder: perf stat --control. */
static void
count(const char *word)
{
	int control = open("perf.control", O_WRONLY | O_NONBLOCK), ack;
	char answer[16];

	if (control < 0)
		return;
	ack = open("perf.ack", O_RDONLY);
	if (write(control, word, strlen(word)) < 0 || read(ack, answer, sizeof answer) <= 0)
		kwarn("perf.control: nobody answers");
	close(ack);
	close(control);
}

/* The region for a profiler: the call, without the preparation of its inputs. */
static void
mark(bool begin)
{
	count(begin ? "enable\n" : "disable\n");
	if (judge.device)
		device_profiler(begin);
	else if (begin)
		CALLGRIND_START_INSTRUMENTATION;
	else
		CALLGRIND_STOP_INSTRUMENTATION;
}

/* Once to warm up, once for the profiler. */
static void
call_twice(const struct ktask_workload *w, struct memory *m)
{
	struct batch b;

	for (int i = 0; i < 2; i++) {
		batch_draw(&b, w, judge.task->distributions[0], 1, false);
		memory_load(m, &b);
		memory_flush(m, &b);
		if (i == 1)
			mark(true);
		call(m);
		if (i == 1)
			mark(false);
		batch_free(&b);
	}
}

/* Prints the median time of calls; each finds the same data, which was just used, and its code. */
static void
call_warm(const struct ktask_workload *w, struct memory *m)
{
	enum { LEAST = 5, MOST = 101 };
	static const double enough_s = 0.2;
	struct batch b;
	double ns[MOST];
	int64_t begun = know_ns(), start;
	size_t n = 0;

	batch_draw(&b, w, judge.task->distributions[0], 1, false);
	memory_load(m, &b);
	call(m);
	while (n < LEAST || (n < MOST && kseconds_since(begun) < enough_s)) {
		/* What it changes is as before. */
		memory_reload(m, &b);
		start = know_ns();
		call(m);
		ns[n++] = (double)(know_ns() - start);
	}
	printf("warm: %s %.0f ns\n", w->name, kstat_quantile(ns, n, 0.5));
	batch_free(&b);
}

static void
one_workload(const struct ktask_workload *w)
{
	struct memory m;
	size_t in, out;

	memory_slot(w, &in, &out);
	memory_open(&m, in, out, 1);
	(judge.o.warm ? call_warm : call_twice)(w, &m);
	memory_close(&m);
}

/* ---- a separate allocation for every tensor ---- */

enum { ALIGNED = 64 }; /* as in the memory in which candidates are judged */

/* Memory whose bounds a sanitizer knows; its contents count as never written. */
static void *
apart_alloc(size_t bytes)
{
	void *p = NULL;

	if (judge.device)
		return device_alloc(bytes);
	if (judge.o.fenced)
		return judge.space->alloc(bytes);
	if (posix_memalign(&p, ALIGNED, bytes ?: 1))
		kdie(K_MISSING, "%zu bytes for a tensor", bytes);
	return p;
}

static void
apart_free(void *p)
{
	if (judge.device)
		device_free(p);
	else if (judge.o.fenced)
		judge.space->release(p);
	else
		free(p);
}

static void
apart_call(const struct ktask_workload *w, void *const *memory)
{
	uint64_t words[KTASK_ARGS] = { 0 };

	for (size_t i = 0; i < judge.task->arg_count; i++) {
		const struct ktask_arg *a = &judge.task->args[i];
		double value;

		if (argument_is_array(w, a, &value))
			words[i] = (uint64_t)(uintptr_t)memory[a->index];
		else
			values_narrow(a->dtype, &value, 1, &words[i]);
	}
	/* With invented numbers it may never return: a signal ends it, like any fault. */
	if (judge.o.fenced)
		alarm((unsigned)ceil(judge.o.run_timeout_s));
	call_with(words);
	alarm(0);
	if (judge.device)
		device_wait();
}

/* Save what the call wrote to the outputs, each in a file of its own. */
static void
save_outputs(const struct ktask_workload *w, void *const *memory)
{
	tensors_each(x) {
		size_t i = tensor_number(x);
		size_t bytes = tensor_bytes(w, x);
		const char *path = kshown("%s/%s.%s.npy", judge.o.save, w->name, x->name);
		auto_free char *data = x->output ? kmalloc(bytes) : NULL;

		if (!data)
			continue;
		judge.space->copy(data, memory[i], bytes);
		if (!knpy_write(path, 'u', 1, data, bytes))
			kdie_io("%s", path);
	}
}

static void
apart_workload(const struct ktask_workload *w, enum kdist dist)
{
	void *memory[KTASK_TENSORS] = { NULL };
	struct batch b;

	batch_draw(&b, w, dist, 1, false);
	tensors_each(x) {
		size_t i = tensor_number(x);
		size_t bytes = x->scalar ? 0 : tensor_bytes(w, x);

		if (x->scalar)
			continue;
		memory[i] = apart_alloc(bytes);
		if (x->input)
			judge.space->copy(memory[i], b.calls[0].raw[i], bytes);
	}
	apart_call(w, memory);
	if (judge.o.save && dist == judge.task->distributions[0])
		save_outputs(w, memory);
	kforeach_of(one, memory, judge.task->tensor_count)
		if (*one)
			apart_free(*one);
	batch_free(&b);
}

static void
say_apart(const char *what, const struct ktask_workload *w)
{
	printf("apart: %s %s\n", what, subject_workload(w));
	fflush(stdout);
}

/* Workload W, with inputs of every distribution. */
static void
apart_listed(const struct ktask_workload *w)
{
	say_apart("begin", w);
	kforeach_of(dist, judge.task->distributions, judge.task->distribution_count)
		apart_workload(w, *dist);
	say_apart("done", w);
}

/* Sizes as the check draws them around those of workload W: the largest, then any. */
static void
apart_drawn(const struct ktask_workload *w)
{
	enum { DRAWS = 16 };
	int draws = workload_is_small(w) ? DRAWS : 1;
	size_t in, out;

	memory_largest(false, &in, &out);
	for (int n = 0; n <= draws; n++) {
		struct ktask_workload drawn;
		struct krng rng = judge_stream(n, "sizes");

		if (!vary_draw(w, judge.task->axis_count, false, n ? &rng : NULL, in, out, &drawn))
			continue;
		say_apart("begin", &drawn);
		apart_workload(&drawn, judge.task->distributions[0]);
		say_apart("done", &drawn);
		vary_free(&drawn);
	}
}

static int
by_bytes(const void *a, const void *b)
{
	double bytes[2] = { 0, 0 };

	for (size_t k = 0; k < 2; k++)
		tensors_each(x)
			bytes[k] += (double)tensor_elements(
			    *(struct ktask_workload *const *)(k ? b : a), x);
	return (bytes[0] > bytes[1]) - (bytes[0] < bytes[1]);
}

/*
 * All workloads of the set, the smallest first; none is started after --run-timeout-s. Prints a
 * line for each that is started and done, and how many there are: there may be time only for the
 * first.
 */
static void
run_apart(void)
{
	auto_free struct ktask_workload **list =
	    kcalloc(judge.task->workload_count + 1, sizeof *list);
	int64_t end = know_ns() + (int64_t)(judge.o.run_timeout_s * 1e9);
	size_t count = 0;

	workloads_each(w)
		if (ktask_in_set(w, judge.o.set))
			list[count++] = w;
	qsort(list, count, sizeof(struct ktask_workload *), by_bytes);
	printf("apart: %zu workloads\n", count);
	for (size_t i = 0; i < count && know_ns() < end; i++)
		(judge.o.drawn ? apart_drawn : apart_listed)(list[i]);
}

void
run_solo(void)
{
	bool found = false;

	if (judge.device && !judge.o.apart)
		device_limit(judge.o.memory_bytes);
	if (judge.device)
		device_lend();
	load();
	if (judge.o.apart) {
		run_apart();
		return;
	}
	workloads_each(w) {
		if (!w->timed || !ktask_in_set(w, judge.o.set) ||
		    (judge.o.workload && strcmp(w->name, judge.o.workload)))
			continue;
		one_workload(w);
		found = true;
	}
	if (!found)
		kdie(K_USAGE, "%s: set '%s' has no timed workload%s%s", judge.task->file,
		    judge.o.set, judge.o.workload ? " called " : "", judge.o.workload ?: "");
}
