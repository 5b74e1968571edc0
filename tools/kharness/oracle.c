/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: the oracle: trusted code that computes the expected results in double precision, loaded
 * into the judge.
 */
#include <dlfcn.h>
#include <ffi.h>

#include "kharness.h"

struct oracle {
	void (*entry)(void);
	ffi_cif cif;
	ffi_type *types[KTASK_ARGS + 1];
	void *stream; /* of the device, passed as the last argument; NULL on the host */
};

static ffi_type *
type_of(const struct ktask_arg *a)
{
	if (a->kind == KARG_TENSOR && !judge.task->tensors[a->index].scalar)
		return &ffi_type_pointer;
	if (kdtype_is_float(a->dtype))
		return &ffi_type_double;
	return kdtype_size(a->dtype) == 8 ? &ffi_type_sint64 : &ffi_type_sint32;
}

/* The name by which people know the oracle. */
static const char *
source(void)
{
	return judge.task->oracle ?: judge.task->reference;
}

/*
 * It is trusted, so nothing contains or limits it, but it may have bugs: these messages are printed
 * when it crashes, and when it is slow.
 */
static char last_words[1024], slow_words[1024];

enum { SLOW_S = 60 };

static void
say_last_words(int sig)
{
	/* The default action is restored: the signal still ends the program. */
	if (write(STDERR_FILENO, last_words, strlen(last_words)) >= 0)
		raise(sig);
}

static void
say_slow_words(int sig)
{
	(void)sig;
	(void)!write(STDERR_FILENO, slow_words, strlen(slow_words));
}

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

static void
call_guarded(struct oracle *o, void **arguments)
{
	/* A separate stack, because the fault may be a stack overflow. */
	static char stack[64 << 10];
	stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction act = { .sa_handler = say_last_words,
		.sa_flags = SA_ONSTACK | SA_RESETHAND },
	                 old[LEN(crashes)];
	struct sigaction slow = { .sa_handler = say_slow_words,
		.sa_flags = SA_ONSTACK | SA_RESTART };

	sigaltstack(&own, NULL);
	for (size_t i = 0; i < LEN(crashes); i++)
		sigaction(crashes[i], &act, &old[i]);
	sigaction(SIGALRM, &slow, NULL);
	alarm(SLOW_S);
	ffi_call(&o->cif, o->entry, NULL, arguments);
	alarm(0);
	for (size_t i = 0; i < LEN(crashes); i++)
		sigaction(crashes[i], &old[i], NULL);
}

struct oracle *
oracle_open(const char *file, int threads, void *stream)
{
	const struct ktask *t = judge.task;
	struct oracle *o = kcalloc(1, sizeof *o);
	auto_free char *path = realpath(file, NULL), *number = kasprintf("%d", threads);
	void *library;

	if (!path)
		kdie_errno(K_USAGE, "%s", file);
	/*
	 * The OpenMP runtime reads this when it is loaded. Idle threads must sleep: a spinning one
	 * would disturb measurements.
	 */
	setenv("OMP_WAIT_POLICY", "passive", 1);
	setenv("OMP_NUM_THREADS", number, 1);
	setenv("OMP_DYNAMIC", "false", 1);
	o->stream = stream;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		kdie(K_USAGE, "%s: cannot load the oracle: %s", source(), dlerror());
	*(void **)&o->entry = dlsym(library, t->entry);
	if (!o->entry)
		kdie(K_USAGE,
		    "%s: the oracle has no function %s, "
		    "the task's entry.name (in C++ it must be extern \"C\")",
		    source(), t->entry);
	for (size_t i = 0; i < t->arg_count; i++)
		o->types[i] = type_of(&t->args[i]);
	o->types[t->arg_count] = &ffi_type_pointer;
	if (ffi_prep_cif(&o->cif, FFI_DEFAULT_ABI, (unsigned)t->arg_count + (stream != NULL),
	        &ffi_type_void, o->types) != FFI_OK)
		kdie(K_USAGE, "%s: libffi cannot prepare the call", t->file);
	return o;
}

void
oracle_call(const struct oracle *o, const struct ktask_workload *w, void *const *values)
{
	union {
		const void *p;
		double d;
	} word[KTASK_ARGS];
	void *arguments[KTASK_ARGS + 1];

	for (size_t i = 0; i < judge.task->arg_count; i++) {
		const struct ktask_arg *a = &judge.task->args[i];
		double value;

		if (argument_is_array(w, a, &value))
			word[i].p = values[a->index];
		else if (kdtype_is_float(a->dtype))
			word[i].d = a->dtype == KDTYPE_F32 ? (double)(float)value : value;
		else
			values_narrow(a->dtype, &value, 1, &word[i]);
		arguments[i] = &word[i];
	}
	arguments[judge.task->arg_count] = (void *)&o->stream;
	snprintf(last_words, sizeof last_words, "kharness: %s: the oracle crashed on workload %s\n",
	    source(), subject_workload(w));
	snprintf(slow_words, sizeof slow_words,
	    "kharness: %s: the oracle has worked on workload %s for %d s and has no time limit; "
	    "stop it if that is an endless loop, or make the workload smaller\n",
	    source(), subject_workload(w), SLOW_S);
	if (o->stream)
		device_lend();
	call_guarded((struct oracle *)o, arguments);
	if (o->stream) {
		/* Without the program's name and the final newline. */
		last_words[strlen(last_words) - 1] = '\0';
		device_take_back(last_words + strlen("kharness: "));
	}
}

void
oracle_close(struct oracle *o)
{
	/*
	 * Do not unload the library: its OpenMP runtime's threads may still be running in it,
	 * before they sleep.
	 */
	free(o);
}
