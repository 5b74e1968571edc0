/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krun-gpu: the process that a candidate for a GPU runs in. Maps the device memory that the judge (kharness) gave it,
 * inputs for reading only, seals itself, loads the candidate's shared object and calls it when told, with a stream. It
 * knows no expected value and gives no verdict. Wire format: krun.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <ffi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "kgpu.h"
#include "klaunch.h"
#include "krun.h"
#include "ksandbox.h"
#include "kutil.h"

static struct krun_setup setup;
static int sock;
static const uint64_t *table;
static kgpu_ptr base[2];	/* of inputs and outputs */
static struct kgpu *gpu;
static bool watching;
static void *kernel[KRUN_LAUNCHES];	/* of a candidate that is device code alone */

static void
report(const struct krun_report *r)
{
	while (write(sock, r, sizeof *r) < 0)
		if (errno != EINTR)
			_exit(121);
}

static _Noreturn void
fail(const char *what, const char *why)
{
	struct krun_report r = { .what = KRUN_FAILED };

	snprintf(r.text, sizeof r.text, "%s%s%s", what, why ? ": " : "", why ? why : "");
	report(&r);
	_exit(120);
}

static void
need(const char *what, const char *why)
{
	if (why)
		fail(what, why);
}

static void
on_fault(int sig, siginfo_t *info, void *context)
{
	struct krun_report r = { .what = KRUN_FAULT, .value = { (uint64_t)sig, (uint64_t)(uintptr_t)info->si_addr } };

	(void)context;
	signal(sig, SIG_DFL);
	report(&r);
	raise(sig);
}

static void
catch_faults(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	static char stack[65536];
	stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

	sigaltstack(&own, NULL);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, NULL);
}

/*
 * Candidates find these in place of the run-time library's: all memory that they take is of the limited kind, so that
 * none of them starves those that are judged at the same time.
 */
int cudaMalloc(void **p, size_t bytes);
int cudaFree(void *p);

int
cudaMalloc(void **p, size_t bytes)
{
	enum { MEMORY_ALLOCATION = 2 };
	kgpu_ptr at = 0;

	if (kgpu_alloc(gpu, &at, bytes) || kgpu_wait(gpu))
		return MEMORY_ALLOCATION;
	*p = (void *)(uintptr_t)at;
	return 0;
}

int
cudaFree(void *p)
{
	enum { INVALID_VALUE = 1 };

	return kgpu_wait_all(gpu) || kgpu_free(gpu, (kgpu_ptr)(uintptr_t)p) ? INVALID_VALUE : 0;
}

static kgpu_ptr
import(const char *number, uint64_t bytes, bool read_only)
{
	struct kgpu_shared s = { .fd = atoi(number), .bytes = bytes };

	need("device memory", kgpu_import(gpu, &s, read_only));
	close(s.fd);
	return s.at;
}

static const void *
map_table(const char *number)
{
	void *p = mmap(NULL, setup.table_bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, atoi(number), 0);

	if (p == MAP_FAILED)
		fail("shared memory", strerror(errno));
	close(atoi(number));
	return p;
}

/*
 * The run-time library that candidates are linked with: loaded, and its work on the context done, before the process is
 * sealed.
 */
static void
prepare_runtime(bool hip)
{
	static const char *const libraries[2][5] = {
		{ "libcudart.so.13", "/usr/local/cuda/lib64/libcudart.so.13", "libcudart.so.12",
		    "/usr/local/cuda/lib64/libcudart.so.12", NULL },
		{ NULL },
	};
	void *library = NULL;
	int (*set_device)(int) = NULL, (*release)(void *) = NULL;

	for (size_t i = 0; libraries[hip][i] && !library; i++)
		library = dlopen(libraries[hip][i], RTLD_NOW | RTLD_GLOBAL);
	if (library) {
		*(void **)&set_device = dlsym(library, "cudaSetDevice");
		*(void **)&release = dlsym(library, "cudaFree");
	}
	if (set_device && release) {
		set_device((int)setup.device);
		release(NULL);
	}
}

/* Device code alone: its kernels. */
static void
load_kernels(const char *file)
{
	static const struct krun_report r = { .what = KRUN_LOADED };
	enum { OBJECT_MAX = 64 << 20 };
	size_t len, source_len, code_len;
	const char *source, *code;
	char *data = kread_file(file, OBJECT_MAX, &len), *aligned;
	void *module = NULL;

	if (!data || !klaunch_unpack(data, len, &source, &source_len, &code, &code_len))
		fail("it is no object of krtc --build", NULL);
	aligned = malloc(code_len + 1);
	if (!aligned)
		fail("memory for code", NULL);
	memcpy(aligned, code, code_len);
	need("the device refuses it", kgpu_module(gpu, aligned, &module));
	for (uint32_t i = 0; i < setup.launches; i++)
		need(setup.kernel[i], kgpu_function(gpu, module, setup.kernel[i], &kernel[i]));
	free(data);
	report(&r);
}

static void *
load(const char *file)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL), *entry = NULL;
	struct krun_report r = { .what = KRUN_LOADED };
	const char *why = library ? NULL : dlerror();

	if (library) {
		entry = dlsym(library, setup.entry);
		why = entry ? NULL : dlerror();
	}
	if (!entry)
		fail(why ? why : "the entry point is a null pointer", NULL);
	report(&r);
	return entry;
}

/* A cif for the argument kinds and the stream; its type list is static. */
static void
describe(ffi_cif *cif)
{
	static ffi_type *types[KRUN_ARGS + 1];
	static ffi_type *const of_kind[] = {
		[KRUN_IN] = &ffi_type_pointer, [KRUN_OUT] = &ffi_type_pointer, [KRUN_I32] = &ffi_type_sint32,
		[KRUN_I64] = &ffi_type_sint64, [KRUN_F32] = &ffi_type_float, [KRUN_F64] = &ffi_type_double,
	};

	for (uint32_t i = 0; i < setup.arg_count; i++)
		types[i] = of_kind[setup.kind[i]];
	types[setup.arg_count] = &ffi_type_pointer;
	if (ffi_prep_cif(cif, FFI_DEFAULT_ABI, setup.arg_count + 1, &ffi_type_void, types) != FFI_OK)
		fail("libffi refuses the call", NULL);
}

/* Addresses and values of all calls of one go, made ready before the clock starts. */
static void
prepare(uint32_t calls, uint64_t *words)
{
	memcpy(words, table, (size_t)calls * setup.arg_count * sizeof *words);
	for (size_t i = 0; i < (size_t)calls * setup.arg_count; i++) {
		uint8_t kind = setup.kind[i % setup.arg_count];

		if (kind == KRUN_IN || kind == KRUN_OUT)
			words[i] += base[kind == KRUN_OUT];
	}
}

/* An error that the candidate's own launches left behind in the run-time library. */
static const char *
left_behind(void)
{
	static int (*last)(void);
	static const char *(*text)(int);
	int e;

	if (!last) {
		*(void **)&last = dlsym(RTLD_DEFAULT, "cudaGetLastError");
		*(void **)&text = dlsym(RTLD_DEFAULT, "cudaGetErrorString");
	}
	if (!last || !text) {
		*(void **)&last = dlsym(RTLD_DEFAULT, "hipGetLastError");
		*(void **)&text = dlsym(RTLD_DEFAULT, "hipGetErrorString");
	}
	e = last && text ? last() : 0;
	return e ? text(e) : NULL;
}

static void
go(ffi_cif *cif, void *entry, const struct krun_command *c)
{
	static uint64_t *words;
	static uint32_t room;
	struct krun_report r = { .what = KRUN_DONE, .nonce = c->nonce };
	void *values[KRUN_ARGS + 1], *stream = kgpu_stream(gpu);
	int64_t ns = 0;

	if (c->calls > room) {
		words = realloc(words, (size_t)c->calls * setup.arg_count * sizeof *words);
		if (!words)
			fail("memory for arguments", NULL);
		room = c->calls;
	}
	if (c->calls)
		prepare(c->calls, words);
	values[setup.arg_count] = &stream;
	need("event", kgpu_mark(gpu, 0));
	for (uint32_t k = 0; k < c->calls; k++) {
		for (uint32_t i = 0; i < setup.arg_count; i++)
			values[i] = &words[(size_t)k * setup.arg_count + i];
		for (uint32_t n = 0; n < setup.launches; n++)
			need(setup.kernel[n], kgpu_launch(gpu, kernel[n], c->launch[n].grid, c->launch[n].block,
			    c->launch[n].shared, values));
		if (!setup.launches)
			ffi_call(cif, FFI_FN(entry), NULL, values);
	}
	need("the device", kgpu_mark(gpu, 1));
	/* Not the stream alone: whatever it was issued to, it is done with when the answer goes out. */
	need("the device", kgpu_wait_all(gpu));
	need("the device", kgpu_elapsed(gpu, &ns));
	if (c->calls)
		need("a launch failed", left_behind());
	r.value[0] = (uint64_t)ns;
	report(&r);
}

/* Next order of the judge; the end of the socket is the end of the work. */
static void
next(struct krun_command *c)
{
	struct pollfd ready = { sock, POLLIN, 0 };
	ssize_t n;

	while (watching && poll(&ready, 1, 0) <= 0)
		;
	watching = false;
	do
		n = read(sock, c, sizeof *c);
	while (n < 0 && errno == EINTR);
	if (n != sizeof *c)
		_exit(n == 0 ? 0 : 122);
}

static void
obey(const char *file)
{
	static const struct krun_report awake = { .what = KRUN_AWAKE };
	struct krun_command c;
	void *entry = NULL;
	ffi_cif cif;

	describe(&cif);
	for (;;) {
		next(&c);
		if (c.order == KRUN_READY) {
			watching = true;
			report(&awake);
		} else if (c.order == KRUN_LOAD && setup.launches) {
			load_kernels(file);
		} else if (c.order == KRUN_LOAD) {
			entry = load(file);
		} else if (c.calls == 0 || entry || setup.launches) {
			go(&cif, entry, &c);
		}
	}
}

int
main(int argc, char **argv)
{
	struct krun_report hello = { .what = KRUN_HELLO };
	char why[256];

	if (argc != 7)
		return 124;
	sock = atoi(argv[2]);
	prctl(PR_SET_DUMPABLE, 0);
	if (read(sock, &setup, sizeof setup) != sizeof setup || setup.version != KRUN_VERSION ||
	    setup.arg_count > KRUN_ARGS || setup.launches > KRUN_LAUNCHES)
		return 123;
	gpu = kgpu_open(argv[6], (int)setup.device, true, why, sizeof why);
	if (!gpu)
		fail(why, NULL);
	base[0] = import(argv[3], setup.input_bytes, true);
	base[1] = import(argv[4], setup.output_bytes, false);
	table = map_table(argv[5]);
	need("a limit of memory", kgpu_limit(gpu, setup.memory_bytes));
	prepare_runtime(!strcmp(argv[6], "hip"));
	catch_faults();
	if (ksandbox_seal_gpu() < 0)
		fail("sealing", strerror(errno));
	hello.value[0] = base[0];
	hello.value[1] = base[1];
	report(&hello);
	obey(argv[1]);
}
