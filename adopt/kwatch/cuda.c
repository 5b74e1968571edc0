/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA launches and memory, observed by replacing functions of the run-time library and the driver.
 * Their types are declared here, with the layout of the ABI, because the library is built without
 * the toolkit.
 */
#include <ctype.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kwatch.h"

/* Other libraries' headers declare them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

struct dim3 {
	unsigned x, y, z;
};

/* The beginning of cudaLaunchConfig_t and CUlaunchConfig. */
struct runtime_config {
	struct dim3 grid, block;
	size_t shared;
	void *stream;
};
struct driver_config {
	unsigned grid[3], block[3], shared;
	void *stream;
};

enum { ANYWHERE = 4 /* cudaMemcpyDefault */, CHUNK = 16 << 20 };
#define PER_THREAD ((void *)2) /* cudaStreamPerThread */

/* Paths of the libraries, if they were loaded late and are not visible to the program. */
static int
see_library(struct dl_phdr_info *info, size_t size, void *paths)
{
	static const char *const names[] = { "/libcudart.so", "/libcuda.so" };
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	for (size_t i = 0; base && i < LEN(names); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			snprintf(((char(*)[1024])paths)[i], 1024, "%s", info->dlpi_name);
	return 0;
}

/* The application's own library, however it was loaded. */
static void *
next(void **at, const char *name)
{
	char paths[2][1024] = { "", "" };

	if (!*at)
		*at = dlsym(RTLD_NEXT, name);
	if (!*at)
		dl_iterate_phdr(see_library, paths);
	for (size_t i = 0; i < LEN(paths) && !*at; i++) {
		void *library = *paths[i] ? dlopen(paths[i], RTLD_LAZY | RTLD_NOLOAD) : NULL;

		*at = library ? dlsym(library, name) : NULL;
	}
	return *at;
}

#define NEXT(name, type) \
	static void *name##_at; \
	__typeof__(type) *name##_real = (__typeof__(type) *)next(&name##_at, #name)

/* ---- names of kernels ---- */

enum { NAMES = 4096 };

static struct {
	const void *function; /* what a launch names */
	char name[128];
} names[NAMES];
static size_t name_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void
set_name(const void *function, const char *name)
{
	size_t i = 0;

	pthread_mutex_lock(&lock);
	while (i < name_count && names[i].function != function)
		i++;
	if (i < NAMES && function) {
		names[i].function = function;
		snprintf(names[i].name, sizeof names[i].name, "%s", name);
		for (char *p = names[i].name; *p; p++)
			if (!isalnum((unsigned char)*p) && *p != '_' && *p != '$' && *p != '.')
				*p = '_';
		name_count += i == name_count;
	}
	pthread_mutex_unlock(&lock);
}

static const char *
name_of(const void *function)
{
	for (size_t i = 0; i < name_count; i++)
		if (names[i].function == function)
			return names[i].name;
	return "unknown";
}

void
__cudaRegisterFunction(void **module, const char *host, char *device, const char *name, int limit,
    void *tid, void *bid, void *block, void *grid, int *warp)
{
	NEXT(__cudaRegisterFunction,
	    void(void **, const char *, char *, const char *, int, void *, void *, void *, void *,
	        int *));

	if (kwatch_on)
		set_name(host, name);
	if (__cudaRegisterFunction_real)
		__cudaRegisterFunction_real(
		    module, host, device, name, limit, tid, bid, block, grid, warp);
}

/* The handle that launches compiled by CUDA 13 use. */
int
__cudaGetKernel(void **kernel, const void *host)
{
	NEXT(__cudaGetKernel, int(void **, const void *));
	int error = __cudaGetKernel_real(kernel, host);

	if (kwatch_on && !error)
		set_name(*kernel, name_of(host));
	return error;
}

int
cuModuleGetFunction(void **function, void *module, const char *name)
{
	NEXT(cuModuleGetFunction, int(void **, void *, const char *));
	int error = cuModuleGetFunction_real(function, module, name);

	if (kwatch_on && !error)
		set_name(*function, name);
	return error;
}

int
cuLibraryGetKernel(void **kernel, void *library, const char *name)
{
	NEXT(cuLibraryGetKernel, int(void **, void *, const char *));
	int error = cuLibraryGetKernel_real(kernel, library, name);

	if (kwatch_on && !error)
		set_name(*kernel, name);
	return error;
}

/* ---- arguments of kernels: read by the layout from the sources ---- */

static char *layout;

static void __attribute__((constructor)) read_layout(void)
{
	const char *path = getenv("KWATCH_LAYOUT");
	FILE *f = path ? fopen(path, "r") : NULL;
	enum { MOST = 1 << 16 };

	if (!f)
		return;
	layout = kwatch_pages(MOST);
	if (layout)
		layout[fread(layout, 1, MOST - 1, f)] = '\0';
	fclose(f);
}

bool
kwatch_is_named(const char *symbol, const char *name)
{
	char length[24];
	size_t len = strlen(name), digits = (size_t)snprintf(length, sizeof length, "%zu", len);

	if (!strcmp(symbol, name))
		return true;
	for (const char *at = strstr(symbol, name); at; at = strstr(at + 1, name))
		if ((size_t)(at - symbol) > digits && !memcmp(at - digits, length, digits))
			return true;
	return false;
}

/*
 * The line for the kernel with this symbol; NULL: there is none, or several kernels share its name.
 */
static const char *
layout_of(const char *symbol)
{
	const char *found = NULL;

	for (const char *line = layout; line && *line;
	     line += strcspn(line, "\n"), line += *line != '\0') {
		size_t len = strcspn(line, " \n");
		char name[128];

		if (!len || len >= sizeof name)
			continue;
		memcpy(name, line, len);
		name[len] = '\0';
		if (!kwatch_is_named(symbol, name))
			continue;
		if (found)
			return NULL;
		found = line + len;
	}
	return found;
}

/*
 * One parameter "KIND:NAME" of LEN characters, with its value at AT: appends a JSON member, or
 * nothing.
 */
static void
add_argument(struct kwatch_launch *l, const char *word, size_t len, const void *at)
{
	size_t used = strlen(l->args), room = sizeof l->args - used;
	char *to = l->args + used;
	const char *comma = used ? "," : "", *name = memchr(word, ':', len);
	int name_len = name ? (int)(len - (size_t)(name + 1 - word)) : 0;
	struct kwatch_extent e;
	void *p;
	int32_t i;
	int64_t wide;
	float f;
	double d;
	char number[48];
	int n = 0;

	if (!name || !at)
		return;
	name++;
	if (*word == 'p') {
		memcpy(&p, at, sizeof p);
		if (kwatch_extent_find(p, &e))
			n = snprintf(to, room, "%s\"%.*s\":{\"bytes\":%zu,\"offset\":%zu}", comma,
			    name_len, name, e.bytes, (size_t)((uintptr_t)p - e.start));
	} else if (!strncmp(word, "i4", 2) || !strncmp(word, "u4", 2)) {
		memcpy(&i, at, sizeof i);
		n = snprintf(to, room, "%s\"%.*s\":%lld", comma, name_len, name,
		    *word == 'i' ? (long long)i : (long long)(uint32_t)i);
	} else if (!strncmp(word, "i8", 2) || !strncmp(word, "u8", 2)) {
		memcpy(&wide, at, sizeof wide);
		n = snprintf(to, room, "%s\"%.*s\":%lld", comma, name_len, name, (long long)wide);
	} else if (!strncmp(word, "f4", 2) || !strncmp(word, "f8", 2)) {
		memcpy(&f, at, sizeof f);
		d = (double)f;
		if (word[1] == '8')
			memcpy(&d, at, sizeof d);
		kwatch_real(number, sizeof number, d, word[1] == '4');
		n = snprintf(to, room, "%s\"%.*s\":%s", comma, name_len, name, number);
	} else if (!strncmp(word, "b1", 2)) {
		n = snprintf(to, room, "%s\"%.*s\":%s", comma, name_len, name,
		    *(const char *)at ? "true" : "false");
	}
	if (n < 0 || (size_t)n >= room)
		*to = '\0';
}

static void
add_arguments(struct kwatch_launch *l, void **args)
{
	const char *p = layout_of(l->kernel);

	*l->args = '\0';
	for (size_t i = 0; p && args && *p == ' '; i++) {
		size_t len;

		p += strspn(p, " ");
		len = strcspn(p, " \n");
		if (len)
			add_argument(l, p, len, args[i]);
		p += len;
	}
}

/* ---- launches ---- */

/*
 * Nesting depth of launches in this thread: a function of the run-time library may call another one
 * that is replaced here.
 */
static __thread int launching;
static __thread struct kwatch_state *noted; /* where the outermost launch is recorded */

/*
 * A launch within a watched call is recorded as a part of it; otherwise it is a call itself if it
 * is the watched kernel: *OWN, for launch_end.
 */
static void
launch_begin(const void *function, const unsigned grid[3], const unsigned block[3], size_t shared,
    void *stream, void **args, struct kwatch_state **own)
{
	struct kwatch_state *s = kwatch_current();
	struct kwatch_launch *l;

	*own = NULL;
	if (!kwatch_on || launching++)
		return;
	noted = NULL;
	if (!s)
		s = *own = kwatch_begin_launch(name_of(function), stream);
	if (!s || s->launches == KWATCH_LAUNCHES)
		return;
	noted = s;
	l = &s->launch[s->launches++];
	memcpy(l->grid, grid, sizeof l->grid);
	memcpy(l->block, block, sizeof l->block);
	l->shared = shared;
	snprintf(l->kernel, sizeof l->kernel, "%s", name_of(function));
	add_arguments(l, args);
}

/* A launch that was refused (for example a grid without blocks) does not count. */
static void
launch_end(struct kwatch_state *own, void *stream, int error)
{
	if (kwatch_on && !--launching && error && noted)
		noted->launches--;
	if (own)
		kwatch_end_launch(own, stream);
}

#define RUNTIME_LAUNCH(name, standard) \
	int name(const void *function, struct dim3 grid, struct dim3 block, void **args, \
	    size_t shared, void *stream) \
	{ \
		NEXT(name, int(const void *, struct dim3, struct dim3, void **, size_t, void *)); \
		const unsigned g[3] = { grid.x, grid.y, grid.z }, \
		               b[3] = { block.x, block.y, block.z }; \
		struct kwatch_state *own; \
		int error; \
		launch_begin(function, g, b, shared, stream ? stream : standard, args, &own); \
		error = name##_real(function, grid, block, args, shared, stream); \
		launch_end(own, stream ? stream : standard, error); \
		return error; \
	}
/* "ptsz": the variant with one default stream per thread. */
RUNTIME_LAUNCH(cudaLaunchKernel, NULL)
RUNTIME_LAUNCH(cudaLaunchKernel_ptsz, PER_THREAD)
RUNTIME_LAUNCH(__cudaLaunchKernel, NULL)
RUNTIME_LAUNCH(__cudaLaunchKernel_ptsz, PER_THREAD)
RUNTIME_LAUNCH(cudaLaunchCooperativeKernel, NULL)
RUNTIME_LAUNCH(cudaLaunchCooperativeKernel_ptsz, PER_THREAD)

#define RUNTIME_LAUNCH_EX(name, standard) \
	int name(const struct runtime_config *config, const void *function, void **args) \
	{ \
		NEXT(name, int(const struct runtime_config *, const void *, void **)); \
		const unsigned g[3] = { config->grid.x, config->grid.y, config->grid.z }; \
		const unsigned b[3] = { config->block.x, config->block.y, config->block.z }; \
		struct kwatch_state *own; \
		int error; \
		launch_begin(function, g, b, config->shared, \
		    config->stream ? config->stream : standard, args, &own); \
		error = name##_real(config, function, args); \
		launch_end(own, config->stream ? config->stream : standard, error); \
		return error; \
	}
RUNTIME_LAUNCH_EX(cudaLaunchKernelExC, NULL)
RUNTIME_LAUNCH_EX(cudaLaunchKernelExC_ptsz, PER_THREAD)

#define DRIVER_LAUNCH(name, standard) \
	int name(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
	    unsigned bz, unsigned shared, void *stream, void **args, void **extra) \
	{ \
		NEXT(name, \
		    int(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
		        unsigned, void *, void **, void **)); \
		const unsigned grid[3] = { gx, gy, gz }, block[3] = { bx, by, bz }; \
		struct kwatch_state *own; \
		int error; \
		launch_begin( \
		    function, grid, block, shared, stream ? stream : standard, args, &own); \
		error = \
		    name##_real(function, gx, gy, gz, bx, by, bz, shared, stream, args, extra); \
		launch_end(own, stream ? stream : standard, error); \
		return error; \
	}
DRIVER_LAUNCH(cuLaunchKernel, NULL)
DRIVER_LAUNCH(cuLaunchKernel_ptsz, PER_THREAD)

#define DRIVER_LAUNCH_EX(name, standard) \
	int name(const struct driver_config *config, void *function, void **args, void **extra) \
	{ \
		NEXT(name, int(const struct driver_config *, void *, void **, void **)); \
		struct kwatch_state *own; \
		int error; \
		launch_begin(function, config->grid, config->block, config->shared, \
		    config->stream ? config->stream : standard, args, &own); \
		error = name##_real(config, function, args, extra); \
		launch_end(own, config->stream ? config->stream : standard, error); \
		return error; \
	}
DRIVER_LAUNCH_EX(cuLaunchKernelEx, NULL)
DRIVER_LAUNCH_EX(cuLaunchKernelEx_ptsz, PER_THREAD)

/* ---- memory ---- */

#define ALLOCATE(name, parameters, arguments, bytes) \
	int name parameters \
	{ \
		NEXT(name, int parameters); \
		int error = name##_real arguments; \
		if (!error) \
			kwatch_extent_add(*to, bytes, true); \
		return error; \
	}
ALLOCATE(cudaMalloc, (void **to, size_t bytes), (to, bytes), bytes)
ALLOCATE(cudaMallocManaged, (void **to, size_t bytes, unsigned flags), (to, bytes, flags), bytes)
ALLOCATE(cudaMallocAsync, (void **to, size_t bytes, void *stream), (to, bytes, stream), bytes)
ALLOCATE(cudaMallocAsync_ptsz, (void **to, size_t bytes, void *stream), (to, bytes, stream), bytes)
ALLOCATE(cudaMallocFromPoolAsync, (void **to, size_t bytes, void *pool, void *stream),
    (to, bytes, pool, stream), bytes)
ALLOCATE(cudaMallocPitch, (void **to, size_t *pitch, size_t width, size_t height),
    (to, pitch, width, height), *pitch *height)
ALLOCATE(cudaMallocFromPoolAsync_ptsz, (void **to, size_t bytes, void *pool, void *stream),
    (to, bytes, pool, stream), bytes)
ALLOCATE(cuMemAlloc_v2, (void **to, size_t bytes), (to, bytes), bytes)
ALLOCATE(cuMemAllocAsync, (void **to, size_t bytes, void *stream), (to, bytes, stream), bytes)

ALLOCATE(cuMemAllocAsync_ptsz, (void **to, size_t bytes, void *stream), (to, bytes, stream), bytes)
ALLOCATE(cuMemAllocManaged, (void **to, size_t bytes, unsigned flags), (to, bytes, flags), bytes)

#define RELEASE(name, parameters, arguments) \
	int name parameters \
	{ \
		NEXT(name, int parameters); \
		kwatch_extent_drop(at); \
		return name##_real arguments; \
	}
RELEASE(cudaFree, (void *at), (at))
RELEASE(cudaFreeAsync, (void *at, void *stream), (at, stream))
RELEASE(cudaFreeAsync_ptsz, (void *at, void *stream), (at, stream))
RELEASE(cuMemFree_v2, (void *at), (at))
RELEASE(cuMemFreeAsync, (void *at, void *stream), (at, stream))
RELEASE(cuMemFreeAsync_ptsz, (void *at, void *stream), (at, stream))

/* A device variable: its memory becomes known when its address is requested. */
int
cudaGetSymbolAddress(void **to, const void *symbol)
{
	NEXT(cudaGetSymbolAddress, int(void **, const void *));
	NEXT(cudaGetSymbolSize, int(size_t *, const void *));
	size_t bytes = 0;
	int error = cudaGetSymbolAddress_real(to, symbol);

	if (!error && cudaGetSymbolSize_real && !cudaGetSymbolSize_real(&bytes, symbol))
		kwatch_extent_add(*to, bytes, true);
	return error;
}

/* ---- hiding from the application ---- */

static struct {
	int (*create)(void **event);
	int (*destroy)(void *event);
	int (*record)(void *event, void *stream);
	int (*wait)(void *event);
	int (*elapsed)(float *ms, void *from, void *to);
	int (*copy)(void *to, const void *from, size_t bytes, int kind, void *stream);
	int (*settle)(void *stream);
	/* These functions may be missing. */
	int (*capturing)(void *stream, int *status);
	int (*device)(int *number);
	int (*peek)(void);
	int (*last)(void);
} cuda;

bool
kwatch_cuda(void)
{
	static const struct {
		const char *name;
		void *to;
	} functions[] = {
		{ "cudaEventCreate", &cuda.create },
		{ "cudaEventDestroy", &cuda.destroy },
		{ "cudaEventRecord", &cuda.record },
		{ "cudaEventSynchronize", &cuda.wait },
		{ "cudaEventElapsedTime", &cuda.elapsed },
		{ "cudaMemcpyAsync", &cuda.copy },
		{ "cudaStreamSynchronize", &cuda.settle },
		{ "cudaStreamIsCapturing", &cuda.capturing },
		{ "cudaGetDevice", &cuda.device },
		{ "cudaPeekAtLastError", &cuda.peek },
		{ "cudaGetLastError", &cuda.last },
	};
	static bool known;

	for (size_t i = 0; !known && i < LEN(functions); i++)
		next((void **)functions[i].to, functions[i].name);
	known = cuda.create && cuda.destroy && cuda.record && cuda.wait && cuda.elapsed &&
	    cuda.copy && cuda.settle;
	return known;
}

/*
 * Errors of ours are cleared. An existing error of the application's is left in place: otherwise we
 * could not restore it.
 */
static int
error_before(void)
{
	return cuda.peek ? cuda.peek() : 0;
}

static int
ours(int before, int error)
{
	if (error && !before && cuda.last)
		cuda.last();
	return error;
}

/*
 * Number of streams being captured, by anybody. Our work would become part of the capture, and
 * waiting would invalidate it: so the device is not queried then.
 */
static int captures;

static bool
is_capturing(void *stream)
{
	int before, status = 0;

	if (__atomic_load_n(&captures, __ATOMIC_SEQ_CST) > 0)
		return true;
	before = error_before();
	return cuda.capturing && (ours(before, cuda.capturing(stream, &status)) || status);
}

#define CAPTURE(name, parameters, arguments, change) \
	int name parameters \
	{ \
		NEXT(name, int parameters); \
		int error = name##_real arguments; \
		__atomic_fetch_add(&captures, change, __ATOMIC_SEQ_CST); \
		return error; \
	}
CAPTURE(cudaStreamBeginCapture, (void *stream, int mode), (stream, mode), !error)
CAPTURE(cudaStreamBeginCapture_ptsz, (void *stream, int mode), (stream, mode), !error)
CAPTURE(cudaStreamBeginCaptureToGraph,
    (void *stream, void *graph, void *on, void *data, size_t n, int mode),
    (stream, graph, on, data, n, mode), !error)
CAPTURE(cudaStreamBeginCaptureToGraph_ptsz,
    (void *stream, void *graph, void *on, void *data, size_t n, int mode),
    (stream, graph, on, data, n, mode), !error)
/* An invalidated capture ends, too. */
CAPTURE(cudaStreamEndCapture, (void *stream, void **graph), (stream, graph), -(captures > 0))
CAPTURE(cudaStreamEndCapture_ptsz, (void *stream, void **graph), (stream, graph), -(captures > 0))

/* ---- sums of memory ---- */

bool
kwatch_device_read(uintptr_t from, size_t bytes, void *stream,
    void (*take)(void *to, const void *data, size_t len), void *to)
{
	static pthread_mutex_t chunk_lock = PTHREAD_MUTEX_INITIALIZER;
	static void *chunk;
	bool good = kwatch_cuda() && !is_capturing(stream);
	int before;

	if (!good)
		return false;
	before = error_before();
	pthread_mutex_lock(&chunk_lock);
	if (!chunk)
		chunk = kwatch_pages(CHUNK);
	good = chunk != NULL;
	for (size_t at = 0, n; good && at < bytes; at += n) {
		n = bytes - at < CHUNK ? bytes - at : CHUNK;
		good = !ours(before,
		           cuda.copy(chunk, (const void *)(from + at), n, ANYWHERE, stream)) &&
		    !ours(before, cuda.settle(stream));
		if (good)
			take(to, chunk, n);
	}
	pthread_mutex_unlock(&chunk_lock);
	return good;
}

static void
add_sum(void *sum, const void *data, size_t len)
{
	*(uint64_t *)sum = kwatch_sum(data, len, *(uint64_t *)sum);
}

uint64_t
kwatch_device_sum(uintptr_t from, size_t bytes, void *stream, bool *good)
{
	uint64_t sum = 0;

	*good = kwatch_device_read(from, bytes, stream, add_sum, &sum);
	return sum;
}

/* ---- time ---- */

/* Calls whose events have not been checked yet: this avoids delaying the device with queries. */
enum { PENDING = 1024 };

struct timer {
	void *from, *to; /* events of DEVICE, or NULL */
	int device;
	char *line;     /* of KWATCH_LINE bytes */
	size_t len;     /* 0: nothing to write */
	double host_ns; /* the host's time, if the device does not report one */
	uint64_t call;  /* for activity.c */
	bool ready, stopped, done;
};

static struct timer *timers;
static size_t first_timer, timer_count;
static pthread_mutex_t timer_lock = PTHREAD_MUTEX_INITIALIZER;

/* Writes its line, with its time. */
static void
write_timer(const struct timer *t)
{
	int before = error_before();
	double ns = kwatch_activity_ns(t->call);
	float ms = 0;
	bool device = t->done && !ours(before, cuda.elapsed(&ms, t->from, t->to));

	if (ns > 0)
		kwatch_write_line(t->line, t->len, "records", ns);
	else
		kwatch_write_line(t->line, t->len, device ? "device" : "host",
		    device ? (double)ms * 1e6 : t->host_ns);
}

/* Writes all that are ready, from the oldest. Records are read once their work is done. */
static void
harvest_ready(void)
{
	size_t n = 0;

	for (; n < timer_count && timers[(first_timer + n) % PENDING].ready; n++) {
		struct timer *t = &timers[(first_timer + n) % PENDING];
		int before = error_before();

		t->done = t->len && t->stopped && !ours(before, cuda.wait(t->to));
	}
	if (n)
		kwatch_activity_flush();
	for (; n; n--, timer_count--) {
		struct timer *t = &timers[first_timer++ % PENDING];

		if (t->len)
			write_timer(t);
		t->ready = false;
	}
}

static void
harvest(void)
{
	pthread_mutex_lock(&timer_lock);
	harvest_ready();
	pthread_mutex_unlock(&timer_lock);
}

/* This also destroys the events. */
int
cudaDeviceReset(void)
{
	NEXT(cudaDeviceReset, int(void));

	harvest();
	for (size_t i = 0; timers && i < PENDING; i++)
		timers[i].from = timers[i].to = NULL;
	return cudaDeviceReset_real();
}

/*
 * Registered while the run-time library is initialised, so that it runs before that library shuts
 * down.
 */
static bool
make_timers(void)
{
	char *lines;
	Dl_info runtime;

	if (timers)
		return true;
	lines = kwatch_pages((size_t)PENDING * KWATCH_LINE);
	timers = lines ? kwatch_pages(PENDING * sizeof *timers) : NULL;
	for (size_t i = 0; timers && i < PENDING; i++)
		timers[i].line = lines + i * KWATCH_LINE;
	/* It must also run before the library of activity records, if there is one, shuts down. */
	if (timers && dladdr((const void *)cuda.create, &runtime))
		kwatch_activity_open(runtime.dli_fname);
	if (timers)
		atexit(harvest);
	return timers;
}

/* Events belong to a particular device. */
static bool
make_events(struct timer *t)
{
	int device = 0, before = error_before();

	if (cuda.device && ours(before, cuda.device(&device)))
		return false;
	if (t->to && t->device == device)
		return true;
	if (t->from)
		ours(before, cuda.destroy(t->from));
	if (t->to)
		ours(before, cuda.destroy(t->to));
	t->from = t->to = NULL;
	t->device = device;
	return !ours(before, cuda.create(&t->from)) && !ours(before, cuda.create(&t->to));
}

static void
set_ready(struct timer *t)
{
	pthread_mutex_lock(&timer_lock);
	t->ready = true;
	pthread_mutex_unlock(&timer_lock);
}

void *
kwatch_timer_start(void *stream)
{
	struct timer *t = NULL;
	uint64_t call = 0;
	int before;

	if (!kwatch_cuda() || is_capturing(stream))
		return NULL;
	pthread_mutex_lock(&timer_lock);
	if (make_timers()) {
		if (timer_count == PENDING)
			harvest_ready();
		call = first_timer + timer_count + 1;
		if (timer_count < PENDING)
			t = &timers[(first_timer + timer_count++) % PENDING];
	}
	pthread_mutex_unlock(&timer_lock);
	if (!t)
		return NULL;
	t->len = 0;
	t->call = call;
	t->stopped = false;
	before = error_before();
	if (make_events(t) && !ours(before, cuda.record(t->from, stream))) {
		kwatch_activity_begin(call);
		return t;
	}
	set_ready(t);
	return NULL;
}

void
kwatch_timer_stop(void *timer, void *stream)
{
	struct timer *t = timer;
	int before = error_before();

	kwatch_activity_end();
	/* The events may be gone since a reset of the device. */
	t->stopped = t->to && !is_capturing(stream) && !ours(before, cuda.record(t->to, stream));
}

void
kwatch_timer_line(void *timer, const char *line, size_t len, double host_ns)
{
	struct timer *t = timer;

	memcpy(t->line, line, len);
	t->len = len;
	t->host_ns = host_ns;
	set_ready(t);
	if (!kwatch_timing_only && !__atomic_load_n(&captures, __ATOMIC_SEQ_CST))
		harvest();
}
