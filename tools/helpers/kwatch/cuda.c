/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches and memory of CUDA, by functions of the run-time library and the driver that are replaced. Their types are
 * declared here, as the ABI has them: the library is built where no toolkit is.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kwatch.h"

/* They are declared by headers of other libraries. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

struct dim3 {
	unsigned x, y, z;
};

/* cudaLaunchConfig_t and CUlaunchConfig, as far as they are of interest. */
struct runtime_config {
	struct dim3 grid, block;
	size_t shared;
	void *stream;
};
struct driver_config {
	unsigned grid[3], block[3], shared;
	void *stream;
};

enum { DEVICE_TO_HOST = 2, CHUNK = 16 << 20 };

/* The application's own library, whichever way it was loaded. */
static void *
next(void **at, const char *name)
{
	if (!*at)
		*at = dlsym(RTLD_NEXT, name);
	return *at;
}

#define NEXT(name, type) \
	static void *name##_at; \
	__typeof__(type) *name##_real = (__typeof__(type) *)next(&name##_at, #name)

/* ---- names of kernels ---- */

enum { NAMES = 4096 };

static struct {
	const void *function;	/* what a launch names */
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
__cudaRegisterFunction(void **module, const char *host, char *device, const char *name, int limit, void *tid, void *bid,
    void *block, void *grid, int *warp)
{
	NEXT(__cudaRegisterFunction, void(void **, const char *, char *, const char *, int, void *, void *, void *, void *,
	    int *));

	if (kwatch_on)
		set_name(host, name);
	if (__cudaRegisterFunction_real)
		__cudaRegisterFunction_real(module, host, device, name, limit, tid, bid, block, grid, warp);
}

/* The handle that launches of CUDA 13's compiler name. */
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

/* ---- arguments of kernels: by the layout that the sources gave ---- */

static char *layout;

static void __attribute__((constructor))
read_layout(void)
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

/* The line for the kernel with this symbol: the longest name that it holds behind a length, or that it is. */
static const char *
layout_of(const char *symbol)
{
	const char *best = NULL;
	size_t best_len = 0;

	for (const char *line = layout; line && *line; line += strcspn(line, "\n"), line += *line != '\0') {
		size_t len = strcspn(line, " \n");
		char name[128];
		const char *at;

		if (!len || len >= sizeof name)
			continue;
		memcpy(name, line, len);
		name[len] = '\0';
		at = strstr(symbol, name);
		if (at && (at == symbol || isdigit((unsigned char)at[-1])) && len > best_len) {
			best = line;
			best_len = len;
		}
	}
	return best ? best + best_len : NULL;
}

/* One parameter "KIND:NAME" of LEN characters, its value at AT: a member for JSON, or nothing. */
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
			n = snprintf(to, room, "%s\"%.*s\":{\"bytes\":%zu,\"offset\":%zu}", comma, name_len, name, e.bytes,
			    (size_t)((uintptr_t)p - e.start));
	} else if (!strncmp(word, "i4", 2) || !strncmp(word, "u4", 2)) {
		memcpy(&i, at, sizeof i);
		n = snprintf(to, room, "%s\"%.*s\":%lld", comma, name_len, name, *word == 'i' ? (long long)i : (long long)(uint32_t)i);
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
		n = snprintf(to, room, "%s\"%.*s\":%s", comma, name_len, name, *(const char *)at ? "true" : "false");
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

/* Launches under way in this thread: one function of the run-time library may call another one of those replaced here. */
static __thread int launching;

/* Within a watched call a part of it; else a call itself, when it is the watched kernel: *OWN, for launch_end. */
static void
launch_begin(const void *function, const unsigned grid[3], const unsigned block[3], size_t shared, void *stream, void **args,
    struct kwatch_state **own)
{
	struct kwatch_state *s = kwatch_current();
	struct kwatch_launch *l;

	*own = NULL;
	if (!kwatch_on || launching++)
		return;
	if (!s)
		s = *own = kwatch_begin_launch(name_of(function), stream);
	if (!s || s->launches == KWATCH_LAUNCHES)
		return;
	l = &s->launch[s->launches++];
	memcpy(l->grid, grid, sizeof l->grid);
	memcpy(l->block, block, sizeof l->block);
	l->shared = shared;
	snprintf(l->kernel, sizeof l->kernel, "%s", name_of(function));
	add_arguments(l, args);
}

static void
launch_end(struct kwatch_state *own, void *stream)
{
	launching -= kwatch_on;
	if (own)
		kwatch_end_launch(own, stream);
}

#define RUNTIME_LAUNCH(name) \
int \
name(const void *function, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream) \
{ \
	NEXT(name, int(const void *, struct dim3, struct dim3, void **, size_t, void *)); \
	const unsigned g[3] = { grid.x, grid.y, grid.z }, b[3] = { block.x, block.y, block.z }; \
	struct kwatch_state *own; \
	int error; \
	launch_begin(function, g, b, shared, stream, args, &own); \
	error = name##_real(function, grid, block, args, shared, stream); \
	launch_end(own, stream); \
	return error; \
}
/* "ptsz": where the default stream is one per thread. */
RUNTIME_LAUNCH(cudaLaunchKernel)
RUNTIME_LAUNCH(cudaLaunchKernel_ptsz)
RUNTIME_LAUNCH(__cudaLaunchKernel)
RUNTIME_LAUNCH(__cudaLaunchKernel_ptsz)
RUNTIME_LAUNCH(cudaLaunchCooperativeKernel)
RUNTIME_LAUNCH(cudaLaunchCooperativeKernel_ptsz)

#define RUNTIME_LAUNCH_EX(name) \
int \
name(const struct runtime_config *config, const void *function, void **args) \
{ \
	NEXT(name, int(const struct runtime_config *, const void *, void **)); \
	const unsigned g[3] = { config->grid.x, config->grid.y, config->grid.z }; \
	const unsigned b[3] = { config->block.x, config->block.y, config->block.z }; \
	struct kwatch_state *own; \
	int error; \
	launch_begin(function, g, b, config->shared, config->stream, args, &own); \
	error = name##_real(config, function, args); \
	launch_end(own, config->stream); \
	return error; \
}
RUNTIME_LAUNCH_EX(cudaLaunchKernelExC)
RUNTIME_LAUNCH_EX(cudaLaunchKernelExC_ptsz)

int
cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
    void *stream, void **args, void **extra)
{
	NEXT(cuLaunchKernel, int(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
	    void **));
	const unsigned grid[3] = { gx, gy, gz }, block[3] = { bx, by, bz };
	struct kwatch_state *own;
	int error;

	launch_begin(function, grid, block, shared, stream, args, &own);
	error = cuLaunchKernel_real(function, gx, gy, gz, bx, by, bz, shared, stream, args, extra);
	launch_end(own, stream);
	return error;
}

int
cuLaunchKernelEx(const struct driver_config *config, void *function, void **args, void **extra)
{
	NEXT(cuLaunchKernelEx, int(const struct driver_config *, void *, void **, void **));
	struct kwatch_state *own;
	int error;

	launch_begin(function, config->grid, config->block, config->shared, config->stream, args, &own);
	error = cuLaunchKernelEx_real(config, function, args, extra);
	launch_end(own, config->stream);
	return error;
}

/* ---- memory ---- */

#define ALLOCATE(name, parameters, arguments, bytes) \
int \
name parameters \
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
ALLOCATE(cudaMallocFromPoolAsync, (void **to, size_t bytes, void *pool, void *stream), (to, bytes, pool, stream), bytes)
ALLOCATE(cudaMallocPitch, (void **to, size_t *pitch, size_t width, size_t height), (to, pitch, width, height), *pitch * height)
ALLOCATE(cuMemAlloc_v2, (void **to, size_t bytes), (to, bytes), bytes)
ALLOCATE(cuMemAllocAsync, (void **to, size_t bytes, void *stream), (to, bytes, stream), bytes)

#define RELEASE(name, parameters, arguments) \
int \
name parameters \
{ \
	NEXT(name, int parameters); \
	kwatch_extent_drop(at); \
	return name##_real arguments; \
}
RELEASE(cudaFree, (void *at), (at))
RELEASE(cudaFreeAsync, (void *at, void *stream), (at, stream))
RELEASE(cudaFreeAsync_ptsz, (void *at, void *stream), (at, stream))
RELEASE(cuMemFree_v2, (void *at), (at))

uint64_t
kwatch_device_sum(uintptr_t from, size_t bytes, void *stream, bool *good)
{
	static void *copy_at, *wait_at, *chunk;
	int (*copy)(void *, const void *, size_t, int, void *) = (int (*)(void *, const void *, size_t, int, void *))next(&copy_at,
	    "cudaMemcpyAsync");
	int (*wait)(void *) = (int (*)(void *))next(&wait_at, "cudaStreamSynchronize");
	uint64_t sum = 0;

	if (!chunk)
		chunk = kwatch_pages(CHUNK);
	*good = copy && wait && chunk;
	for (size_t at = 0, n; *good && at < bytes; at += n) {
		n = bytes - at < CHUNK ? bytes - at : CHUNK;
		*good = !copy(chunk, (const void *)(from + at), n, DEVICE_TO_HOST, stream) && !wait(stream);
		sum = kwatch_sum(chunk, n, sum);
	}
	return sum;
}

/* ---- time ---- */

/* Calls whose events have not been looked at: as long as they wait, the device is not held up by being asked. */
enum { PENDING = 1024 };

struct timer {
	void *from, *to;
	char *line;		/* of KWATCH_LINE bytes */
	size_t len;
	bool ready;
};

static struct timer *timers;
static size_t first_timer, timer_count;
static pthread_mutex_t timer_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	int (*create)(void **event);
	int (*record)(void *event, void *stream);
	int (*wait)(void *event);
	int (*elapsed)(float *ms, void *from, void *to);
	int (*capturing)(void *stream, int *status);
} event;

bool
kwatch_cuda(void)
{
	static int known;

	if (!known) {
		event.create = (int (*)(void **))dlsym(RTLD_DEFAULT, "cudaEventCreate");
		event.record = (int (*)(void *, void *))dlsym(RTLD_DEFAULT, "cudaEventRecord");
		event.wait = (int (*)(void *))dlsym(RTLD_DEFAULT, "cudaEventSynchronize");
		event.elapsed = (int (*)(float *, void *, void *))dlsym(RTLD_DEFAULT, "cudaEventElapsedTime");
		event.capturing = (int (*)(void *, int *))dlsym(RTLD_DEFAULT, "cudaStreamIsCapturing");
		known = event.create && event.record && event.wait && event.elapsed ? 1 : -1;
	}
	return known > 0;
}

/* The oldest one: its line, with its time. */
static void
harvest_one(void)
{
	struct timer *t = &timers[first_timer % PENDING];
	float ms = 0;

	if (event.wait(t->to) || event.elapsed(&ms, t->from, t->to))
		ms = 0;
	kwatch_write_line(t->line, t->len, (double)ms * 1e6);
	t->ready = false;
	first_timer++;
	timer_count--;
}

static void
harvest(void)
{
	pthread_mutex_lock(&timer_lock);
	while (timer_count && timers[first_timer % PENDING].ready)
		harvest_one();
	pthread_mutex_unlock(&timer_lock);
}

/* Takes the events with it. */
int
cudaDeviceReset(void)
{
	NEXT(cudaDeviceReset, int(void));

	harvest();
	return cudaDeviceReset_real();
}

/* Registered when the run-time library is at work, so that it runs before that one shuts down. */
static bool
make_timers(void)
{
	char *lines;

	if (timers)
		return true;
	timers = kwatch_pages(PENDING * sizeof *timers);
	lines = kwatch_pages((size_t)PENDING * KWATCH_LINE);
	for (size_t i = 0; timers && lines && i < PENDING; i++) {
		timers[i].line = lines + i * KWATCH_LINE;
		if (event.create(&timers[i].from) || event.create(&timers[i].to))
			lines = NULL;
	}
	if (!lines)
		timers = NULL;
	else
		atexit(harvest);
	return timers;
}

void *
kwatch_timer_start(void *stream)
{
	struct timer *t = NULL;
	int capturing = 0;

	if (!kwatch_cuda() || (event.capturing && !event.capturing(stream, &capturing) && capturing))
		return NULL;
	pthread_mutex_lock(&timer_lock);
	if (make_timers()) {
		if (timer_count == PENDING && timers[first_timer % PENDING].ready)
			harvest_one();
		if (timer_count < PENDING)
			t = &timers[(first_timer + timer_count++) % PENDING];
	}
	pthread_mutex_unlock(&timer_lock);
	if (t)
		event.record(t->from, stream);
	return t;
}

void
kwatch_timer_stop(void *timer, void *stream, const char *line, size_t len)
{
	struct timer *t = timer;

	if (!line) {
		event.record(t->to, stream);
		return;
	}
	memcpy(t->line, line, len);
	t->len = len;
	t->ready = true;
	if (!kwatch_timing_only)
		harvest();
}
