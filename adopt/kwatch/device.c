/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kwatch itself asks of the run-time library, hidden from the application: contents of memory,
 * and the time that work takes.
 */
#include <link.h>

#include "kwatch.h"

/* Other libraries' headers declare what is replaced here. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { ANYWHERE = 4 /* cudaMemcpyDefault */, CHUNK = 16 << 20 };

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

void *
kwatch_next(void **at, const char *name)
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

	kforeach_of(f, functions, known ? 0 : LEN(functions))
		kwatch_next((void **)f->to, f->name);
	known = cuda.create && cuda.destroy && cuda.record && cuda.wait && cuda.elapsed &&
	    cuda.copy && cuda.settle;
	return known;
}

/*
 * The status of a CALL. An error of ours is cleared; but one of the application's that was there
 * before is left in place, because we could not restore it.
 */
#define OURS(call) \
	({ \
		int before_ = cuda.peek ? cuda.peek() : 0, error_ = call; \
		if (error_ && !before_ && cuda.last) \
			cuda.last(); \
		error_; \
	})

/*
 * Number of streams being captured, by anybody. Our work would become part of the capture, and
 * waiting would invalidate it: so the device is not queried then.
 */
static int captures;

static bool
is_capturing(void *stream)
{
	int status = 0;

	if (__atomic_load_n(&captures, __ATOMIC_SEQ_CST) > 0)
		return true;
	return cuda.capturing && (OURS(cuda.capturing(stream, &status)) || status);
}

#define CAPTURE(name, parameters, arguments, change) \
	int name parameters \
	{ \
		KWATCH_NEXT(name, int parameters); \
		int error = name##_real arguments; \
		__atomic_fetch_add(&captures, change, __ATOMIC_SEQ_CST); \
		return error; \
	}
KWATCH_BOTH(CAPTURE, cudaStreamBeginCapture, (void *stream, int mode), (stream, mode), !error)
KWATCH_BOTH(CAPTURE, cudaStreamBeginCaptureToGraph,
    (void *stream, void *graph, void *on, void *data, size_t n, int mode),
    (stream, graph, on, data, n, mode), !error)
/* An invalidated capture ends, too. */
KWATCH_BOTH(
    CAPTURE, cudaStreamEndCapture, (void *stream, void **graph), (stream, graph), -(captures > 0))

void *
kwatch_stream(const struct kwatch_call *c)
{
	void *stream = NULL;

	kwatch_each(i, c)
		if (c->args[i].kind == KWATCH_STREAM)
			memcpy(&stream, c->args[i].at, sizeof stream);
	/* cudaStreamPerThread */
	return !stream && c->cuda == KWATCH_PER_THREAD ? (void *)2 : stream;
}

/* ---- sums of memory ---- */

bool
kwatch_device_read(uintptr_t from, size_t bytes, void *stream,
    void (*take)(void *to, const void *data, size_t len), void *to)
{
	static pthread_mutex_t chunk_lock = PTHREAD_MUTEX_INITIALIZER;
	static void *chunk;
	bool good = kwatch_cuda() && !is_capturing(stream);

	if (!good)
		return false;
	pthread_mutex_lock(&chunk_lock);
	if (!chunk)
		chunk = kwatch_pages(CHUNK);
	good = chunk != NULL;
	for (size_t at = 0, n; good && at < bytes; at += n) {
		n = bytes - at < CHUNK ? bytes - at : CHUNK;
		good = !OURS(cuda.copy(chunk, (const void *)(from + at), n, ANYWHERE, stream)) &&
		    !OURS(cuda.settle(stream));
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
	char *line; /* of KWATCH_LINE bytes */
	size_t len;
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
	double ns = kwatch_activity_ns(t->call);
	float ms = 0;
	bool device = t->done && !OURS(cuda.elapsed(&ms, t->from, t->to));

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

		t->done = t->stopped && !OURS(cuda.wait(t->to));
	}
	if (n)
		kwatch_activity_flush();
	for (; n; n--, timer_count--) {
		struct timer *t = &timers[first_timer++ % PENDING];

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
	KWATCH_NEXT(cudaDeviceReset, int(void));

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
	int device = 0;

	if (cuda.device && OURS(cuda.device(&device)))
		return false;
	if (t->to && t->device == device)
		return true;
	if (t->from)
		OURS(cuda.destroy(t->from));
	if (t->to)
		OURS(cuda.destroy(t->to));
	t->from = t->to = NULL;
	t->device = device;
	return !OURS(cuda.create(&t->from)) && !OURS(cuda.create(&t->to));
}

void *
kwatch_timer_start(void *stream)
{
	struct timer *t = NULL;

	if (!kwatch_cuda() || is_capturing(stream))
		return NULL;
	pthread_mutex_lock(&timer_lock);
	if (make_timers()) {
		if (timer_count == PENDING)
			harvest_ready();
		if (timer_count < PENDING)
			t = &timers[(first_timer + timer_count) % PENDING];
	}
	if (t && (!make_events(t) || OURS(cuda.record(t->from, stream))))
		t = NULL;
	if (t) {
		t->call = first_timer + ++timer_count;
		t->stopped = false;
	}
	pthread_mutex_unlock(&timer_lock);
	if (t)
		kwatch_activity_begin(t->call);
	return t;
}

void
kwatch_timer_stop(void *timer, void *stream)
{
	struct timer *t = timer;

	kwatch_activity_end();
	/* The events may be gone since a reset of the device. */
	t->stopped = t->to && !is_capturing(stream) && !OURS(cuda.record(t->to, stream));
}

void
kwatch_timer_line(void *timer, const char *line, size_t len, double host_ns)
{
	struct timer *t = timer;

	memcpy(t->line, line, len);
	t->len = len;
	t->host_ns = host_ns;
	pthread_mutex_lock(&timer_lock);
	t->ready = true;
	pthread_mutex_unlock(&timer_lock);
	if (!kwatch_timing_only && !__atomic_load_n(&captures, __ATOMIC_SEQ_CST))
		harvest();
}
