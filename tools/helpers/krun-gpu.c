/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krun-gpu: the process that a candidate for a GPU runs in. Maps the device memory that the judge
 * (kharness) gave it, inputs for reading only, seals itself, loads the candidate's shared object
 * and calls it when told, with a stream. It knows no expected value and gives no verdict. Wire
 * format: krun.h.
 */
#include <dlfcn.h>

#include "backend.h"
#include "klaunch.h"
#include "krunner.h"
#include "ksandbox.h"

static struct krun_setup setup;
static int rows;
static uint64_t base[2]; /* of inputs and outputs */
static struct kgpu *gpu;
static void *kernel[KRUN_LAUNCHES]; /* of a candidate that consists of device code only */
static void *runtime;               /* the run-time library that candidates are linked with */
static bool begun;                  /* whether this call has issued work */

static void
need(const char *what, const char *why)
{
	if (why)
		krunner_fail(what, why, 0);
}

/*
 * Candidates find these instead of the run-time library's functions. All memory that they take is
 * of the limited kind, so that they do not starve other candidates that are judged at the same
 * time.
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

/*
 * Where work goes that is issued to STREAM. The stream of the thread does not wait for the one that
 * is given, so calls in a row would overlap on the two; the default stream does.
 */
static void *
stream_for(void *stream)
{
	enum { PER_THREAD = 2 };

	begun = true;
	return (uintptr_t)stream == PER_THREAD ? kgpu_stream(gpu) : stream;
}

/* A function that issues work. TAKES are its parameters before the stream, GIVES their names. */
#define ISSUES(name, takes, gives) \
	int name(UNPACK takes, void *stream); \
	int name(UNPACK takes, void *stream) \
	{ \
		static int (*real)(UNPACK takes, void *); \
\
		if (!real) \
			*(void **)&real = dlsym(runtime, #name); \
		return real(UNPACK gives, stream_for(stream)); \
	}
#define UNPACK(...) __VA_ARGS__

struct grid {
	unsigned x, y, z;
};

ISSUES(cudaLaunchKernel,
    (const void *f, struct grid grid, struct grid block, void **args, size_t shared),
    (f, grid, block, args, shared))
ISSUES(__cudaLaunchKernel,
    (void *f, struct grid grid, struct grid block, void **args, size_t shared),
    (f, grid, block, args, shared))
ISSUES(cudaLaunchCooperativeKernel,
    (const void *f, struct grid grid, struct grid block, void **args, size_t shared),
    (f, grid, block, args, shared))
ISSUES(cudaMemsetAsync, (void *p, int byte, size_t n), (p, byte, n))
ISSUES(cudaMemset2DAsync, (void *p, size_t pitch, int byte, size_t width, size_t height),
    (p, pitch, byte, width, height))
ISSUES(cudaMemcpyAsync, (void *to, const void *from, size_t n, int kind), (to, from, n, kind))
ISSUES(cudaMemcpy2DAsync,
    (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
        int kind),
    (to, to_pitch, from, from_pitch, width, height, kind))
ISSUES(cudaMemcpyToSymbolAsync,
    (const void *symbol, const void *from, size_t n, size_t offset, int kind),
    (symbol, from, n, offset, kind))
ISSUES(cudaMallocAsync, (void **p, size_t n), (p, n))
ISSUES(cudaFreeAsync, (void *p), (p))

/* As cudaLaunchConfig_t and cudaLaunchAttribute of CUDA 12 and 13. */
struct launch_attribute {
	int id;
	uint64_t value[8];
};
struct launch_config {
	struct grid grid, block;
	size_t shared;
	void *stream;
	struct launch_attribute *attribute;
	unsigned attribute_count;
};
_Static_assert(sizeof(struct launch_attribute) == 72 && sizeof(struct launch_config) == 56,
    "these are the sizes of the run-time library's");

/*
 * A programmatic launch may begin before the kernel in front of it ends. Within a call that is the
 * candidate's business; the first kernel of a call waits for the call before it.
 */
int cudaLaunchKernelExC(const struct launch_config *config, const void *f, void **args);

int
cudaLaunchKernelExC(const struct launch_config *config, const void *f, void **args)
{
	enum { PROGRAMMATIC = 6, ATTRIBUTES = 32, INVALID_VALUE = 1 };
	static int (*real)(const struct launch_config *, const void *, void **);
	struct launch_attribute kept[ATTRIBUTES];
	struct launch_config c = *config;
	unsigned n = 0;

	if (c.attribute_count > ATTRIBUTES)
		return INVALID_VALUE;
	for (unsigned i = 0; i < c.attribute_count; i++)
		if (begun || c.attribute[i].id != PROGRAMMATIC)
			kept[n++] = c.attribute[i];
	c.attribute = kept;
	c.attribute_count = n;
	c.stream = stream_for(c.stream);
	if (!real)
		*(void **)&real = dlsym(runtime, __func__);
	return real(&c, f, args);
}

static kgpu_ptr
import(int fd, uint64_t bytes, bool read_only)
{
	struct kgpu_shared s = { .fd = fd, .bytes = bytes };

	need("device memory", kgpu_import(gpu, &s, read_only));
	close(s.fd);
	return s.at;
}

/* The run-time library, or NULL. */
static void *
load_runtime(bool hip)
{
	static const char *const libraries[2][5] = {
		{ "libcudart.so.13", "/usr/local/cuda/lib64/libcudart.so.13", "libcudart.so.12",
		    "/usr/local/cuda/lib64/libcudart.so.12", NULL },
		{ NULL },
	};
	void *library = NULL;

	for (size_t i = 0; libraries[hip][i] && !library; i++)
		library = dlopen(libraries[hip][i], RTLD_NOW | RTLD_GLOBAL);
	return library;
}

/* Lets it initialise the context before the process is sealed. */
static void
prepare_runtime(void)
{
	int (*set_device)(int) = NULL, (*release)(void *) = NULL;

	if (runtime) {
		*(void **)&set_device = dlsym(runtime, "cudaSetDevice");
		*(void **)&release = dlsym(runtime, "cudaFree");
	}
	if (set_device && release) {
		set_device((int)setup.device);
		release(NULL);
	}
}

/* Loads the kernels of a candidate that consists of device code only. */
static void
load_kernels(const char *file)
{
	enum { OBJECT_MAX = 64 << 20 };
	size_t len, source_len, code_len;
	const char *source, *code;
	char *data = kread_file(file, OBJECT_MAX, &len), *aligned;
	void *module = NULL;

	if (!data || !klaunch_unpack(data, len, &source, &source_len, &code, &code_len))
		krunner_fail("the file was not made by krtc --build", NULL, 0);
	aligned = malloc(code_len + 1);
	if (!aligned)
		krunner_fail("memory for code", NULL, 0);
	memcpy(aligned, code, code_len);
	need("the device does not accept it", kgpu_module(gpu, aligned, &module));
	for (uint32_t i = 0; i < setup.launches; i++)
		need(setup.kernel[i], kgpu_function(gpu, module, setup.kernel[i], &kernel[i]));
	free(data);
	krunner_report(&(struct krun_report){ .what = KRUN_LOADED });
}

/* An error that the candidate's own launches left in the run-time library. */
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
	struct krun_report r = { .what = KRUN_DONE, .nonce = c->nonce };
	uint64_t words[KRUN_ARGS + KRUN_SLOTS];
	void *values[KRUN_ARGS + 1], *stream = kgpu_stream(gpu);
	int64_t ns = 0, start;

	for (uint32_t i = 0; i < setup.arg_count; i++)
		values[i] = &words[i];
	values[setup.arg_count] = &stream;
	need("event", kgpu_mark(gpu, 0));
	start = know_ns();
	for (uint32_t k = 0; k < c->calls; k++) {
		krunner_row(rows, &setup, base, words);
		for (uint32_t n = 0; n < setup.launches && kernel[n]; n++)
			need(setup.kernel[n],
			    kgpu_launch(gpu, kernel[n], c->launch[n].grid, c->launch[n].block,
			        c->launch[n].shared, values));
		begun = false;
		if (entry)
			ffi_call(cif, FFI_FN(entry), NULL, values);
	}
	r.value[1] = (uint64_t)(know_ns() - start);
	need("the device", kgpu_mark(gpu, 1));
	/*
	 * Wait for the device, not only the stream: whatever stream the work was issued to, it is
	 * done when the answer goes out.
	 */
	need("the device", kgpu_wait_all(gpu));
	need("the device", kgpu_elapsed(gpu, &ns));
	if (c->calls)
		need("a launch failed", left_behind());
	r.value[0] = (uint64_t)ns;
	krunner_report(&r);
}

static void
obey(const char *file)
{
	static ffi_type *types[KRUN_ARGS + 1];
	struct krun_command c;
	void *entry = NULL;
	ffi_cif cif;

	krunner_describe(&setup, true, types, &cif);
	for (;;) {
		krunner_next(&c);
		if (c.order == KRUN_LOAD && setup.launches)
			load_kernels(file);
		else if (c.order == KRUN_LOAD)
			entry = krunner_load(file, setup.entry);
		else
			go(&cif, entry, &c);
	}
}

int
main(int argc, char **argv)
{
	const struct backend *backend = argc == 6 ? backend_named(argv[5]) : NULL;
	char why[256];
	int memory[2];

	if (!backend || !backend->pointers)
		return 124;
	/* Meanwhile the judge may still wait for its turn on the device. */
	kgpu_count(backend->api, why, sizeof why);
	runtime = load_runtime(backend->api == KGPU_HIP);
	krunner_open(argv[2], &setup, memory);
	gpu = kgpu_open(backend->api, (int)setup.device, true, why, sizeof why);
	if (!gpu)
		krunner_fail(why, NULL, 0);
	base[0] = import(memory[0], setup.input_bytes, true);
	base[1] = import(memory[1], setup.output_bytes, false);
	rows = atoi(argv[3]);
	need("a memory limit", kgpu_limit(gpu, setup.memory_bytes));
	prepare_runtime();
	krunner_catch_faults(true);
	if (ksandbox_seal_gpu() < 0)
		krunner_fail("sealing", strerror(errno), errno);
	krunner_report(&(struct krun_report){ .what = KRUN_HELLO, .value = { base[0], base[1] } });
	obey(argv[1]);
}
