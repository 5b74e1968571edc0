/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgpu: see kgpu.h. The types of the two interfaces are declared here, as far as they are used:
 * both are stable by contract.
 */
#include "kgpu.h"

#include <dlfcn.h>

/* CUmemAllocationProp, CUmemAccessDesc and their HIP equivalents. */
struct location {
	int type, id;
};
struct allocation {
	int type, handle_types;
	struct location location;
	void *unused;
	unsigned char flags[32];
};
/* CUmemPoolProps, hipMemPoolProps. */
struct pool {
	int type, handle_types;
	struct location location;
	void *unused;
	size_t max_bytes;
	unsigned char reserved[56];
};
struct access {
	struct location location;
	int flags;
};

enum {
	PINNED = 1,
	DEVICE = 1,
	DESCRIPTOR = 1,
	READ_ONLY = 1,
	READ_WRITE = 3,
	SPIN = 1,
	/* attributes of the device, with CUDA's numbers */
	MULTIPROCESSORS = 16,
	CLOCK = 13,
	L2 = 38,
	MAJOR = 75,
	MINOR = 76
};

/* Every function that is called, with its names in both interfaces. */
#define FUNCTIONS(X) \
	X(init, "cuInit", "hipInit", (unsigned)) \
	X(driver_version, "cuDriverGetVersion", "hipDriverGetVersion", (int *)) \
	X(device_count, "cuDeviceGetCount", "hipGetDeviceCount", (int *)) \
	X(device_get, "cuDeviceGet", "hipDeviceGet", (int *, int)) \
	X(device_name, "cuDeviceGetName", "hipDeviceGetName", (char *, int, int)) \
	X(device_uuid, "cuDeviceGetUuid_v2", "hipDeviceGetUuid", (unsigned char *, int)) \
	X(device_memory, "cuDeviceTotalMem_v2", "hipDeviceTotalMem", (size_t *, int)) \
	X(attribute, "cuDeviceGetAttribute", "hipDeviceGetAttribute", (int *, int, int)) \
	X(set_flags, "cuDevicePrimaryCtxSetFlags_v2", "hipDevicePrimaryCtxSetFlags", \
	    (int, unsigned)) \
	X(retain, "cuDevicePrimaryCtxRetain", "hipDevicePrimaryCtxRetain", (void **, int)) \
	X(give_back, "cuDevicePrimaryCtxRelease_v2", "hipDevicePrimaryCtxRelease", (int)) \
	X(set_current, "cuCtxSetCurrent", "hipCtxSetCurrent", (void *)) \
	X(wait_all, "cuCtxSynchronize", "hipDeviceSynchronize", (void)) \
	X(stream_create, "cuStreamCreate", "hipStreamCreateWithFlags", (void **, unsigned)) \
	X(stream_wait, "cuStreamSynchronize", "hipStreamSynchronize", (void *)) \
	X(event_create, "cuEventCreate", "hipEventCreateWithFlags", (void **, unsigned)) \
	X(event_record, "cuEventRecord", "hipEventRecord", (void *, void *)) \
	X(event_elapsed, "cuEventElapsedTime", "hipEventElapsedTime", (float *, void *, void *)) \
	X(pool, "cuDeviceGetDefaultMemPool", "hipDeviceGetDefaultMemPool", (void **, int)) \
	X(pool_create, "cuMemPoolCreate", "hipMemPoolCreate", (void **, const struct pool *)) \
	X(pool_use, "cuDeviceSetMemPool", "hipDeviceSetMemPool", (int, void *)) \
	X(pool_set, "cuMemPoolSetAttribute", "hipMemPoolSetAttribute", (void *, int, void *)) \
	X(alloc, "cuMemAllocAsync", "hipMallocAsync", (kgpu_ptr *, size_t, void *)) \
	X(release, "cuMemFreeAsync", "hipFreeAsync", (kgpu_ptr, void *)) \
	X(alloc_plain, "cuMemAlloc_v2", "hipMalloc", (kgpu_ptr *, size_t)) \
	X(release_plain, "cuMemFree_v2", "hipFree", (kgpu_ptr)) \
	X(copy, "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync", \
	    (kgpu_ptr, kgpu_ptr, size_t, void *)) \
	X(fetch, "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", (void *, kgpu_ptr, size_t, void *)) \
	X(store, "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync", \
	    (kgpu_ptr, const void *, size_t, void *)) \
	X(set, "cuMemsetD8Async", "hipMemsetD8Async", (kgpu_ptr, unsigned char, size_t, void *)) \
	X(granularity, "cuMemGetAllocationGranularity", "hipMemGetAllocationGranularity", \
	    (size_t *, const struct allocation *, int)) \
	X(create, "cuMemCreate", "hipMemCreate", \
	    (uint64_t *, size_t, const struct allocation *, uint64_t)) \
	X(export, "cuMemExportToShareableHandle", "hipMemExportToShareableHandle", \
	    (int *, uint64_t, int, uint64_t)) \
	X(import, "cuMemImportFromShareableHandle", "hipMemImportFromShareableHandle", \
	    (uint64_t *, void *, int)) \
	X(reserve, "cuMemAddressReserve", "hipMemAddressReserve", \
	    (kgpu_ptr *, size_t, size_t, kgpu_ptr, uint64_t)) \
	X(unreserve, "cuMemAddressFree", "hipMemAddressFree", (kgpu_ptr, size_t)) \
	X(map, "cuMemMap", "hipMemMap", (kgpu_ptr, size_t, size_t, uint64_t, uint64_t)) \
	X(unmap, "cuMemUnmap", "hipMemUnmap", (kgpu_ptr, size_t)) \
	X(set_access, "cuMemSetAccess", "hipMemSetAccess", \
	    (kgpu_ptr, size_t, const struct access *, size_t)) \
	X(drop, "cuMemRelease", "hipMemRelease", (uint64_t)) \
	X(module_load, "cuModuleLoadData", "hipModuleLoadData", (void **, const void *)) \
	X(module_function, "cuModuleGetFunction", "hipModuleGetFunction", \
	    (void **, void *, const char *)) \
	X(function_set, "cuFuncSetAttribute", "hipFuncSetAttribute", (void *, int, int)) \
	X(launch, "cuLaunchKernel", "hipModuleLaunchKernel", \
	    (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, \
	        void **, void **)) \
	X(profiler_start, "cuProfilerStart", "hipProfilerStart", (void)) \
	X(profiler_stop, "cuProfilerStop", "hipProfilerStop", (void))

struct kgpu {
	bool hip;
	/* where the reason goes when something fails */
	char *why;
	size_t why_len;
	void *library;
	int device;
	void *context, *stream, *event[2];
	/* The two interfaces return error texts differently. */
	int (*cuda_error)(int, const char **);
	const char *(*hip_error)(int);
#define DECLARE(field, cuda_name, hip_name, types) int(*field) types;
	FUNCTIONS(DECLARE)
#undef DECLARE
};

static const char *
words(const struct kgpu *g, int error)
{
	const char *text = NULL;

	if (!error)
		return NULL;
	if (g->hip)
		text = g->hip_error(error);
	else
		g->cuda_error(error, &text);
	return text ?: "unknown driver error";
}

static void *
find(struct kgpu *g, const char *name)
{
	void *p = dlsym(g->library, name);

	if (!p)
		snprintf(g->why, g->why_len, "the driver has no %s: it is too old", name);
	return p;
}

static bool
bind(struct kgpu *g)
{
	static const char *const libraries[][3] = {
		{ "libcuda.so.1", NULL },
		{ "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so" },
	};
	void *p;

	/*
	 * A context with one queue is created in a third of the time, and the driver creates
	 * contexts one after the other.
	 */
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0);
	for (size_t i = 0; i < 3 && libraries[g->hip][i] && !g->library; i++)
		/* Global, so that a candidate's driver calls are bound to it. */
		g->library = dlopen(libraries[g->hip][i], RTLD_NOW | RTLD_GLOBAL);
	if (!g->library) {
		snprintf(g->why, g->why_len, "no driver: %s", dlerror());
		return false;
	}
	*g->why = '\0';
#define BIND(field, cuda_name, hip_name, types) \
	p = find(g, g->hip ? hip_name : cuda_name); \
	memcpy(&g->field, &p, sizeof p);
	FUNCTIONS(BIND)
#undef BIND
	p = find(g, g->hip ? "hipGetErrorString" : "cuGetErrorString");
	memcpy(g->hip ? (void *)&g->hip_error : (void *)&g->cuda_error, &p, sizeof p);
	return !*g->why;
}

static bool
works(const struct kgpu *g, const char *what, int error)
{
	if (error)
		snprintf(g->why, g->why_len, "%s: %s", what, words(g, error));
	return !error;
}

int
kgpu_count(enum kgpu_api api, char *why, size_t why_len)
{
	struct kgpu g = { .hip = api == KGPU_HIP, .why = why, .why_len = why_len };
	int n = 0;

	if (!bind(&g) || !works(&g, "the driver does not start", g.init(0)) ||
	    !works(&g, "counting devices", g.device_count(&n)))
		return 0;
	if (!n)
		snprintf(why, why_len, "the driver reports no device");
	return n;
}

/*
 * Freed memory stays with this process: returning it and asking again takes longer than most
 * kernels.
 */
static int
keep_memory(struct kgpu *g, void *pool)
{
	enum { RELEASE_THRESHOLD = 4 };
	uint64_t all = UINT64_MAX;
	int e = pool ? 0 : g->pool(&pool, g->device);

	return e ?: g->pool_set(pool, RELEASE_THRESHOLD, &all);
}

struct kgpu *
kgpu_find(enum kgpu_api api, int number, char *why, size_t why_len)
{
	struct kgpu *g = kcalloc(1, sizeof *g);

	*g = (struct kgpu){ .hip = api == KGPU_HIP, .why = why, .why_len = why_len };
	if (bind(g) && works(g, "the driver does not start", g->init(0)) &&
	    works(g, "no such device", g->device_get(&g->device, number)))
		return g;
	free(g);
	return NULL;
}

bool
kgpu_enter(struct kgpu *g, bool spin, char *why, size_t why_len)
{
	g->why = why;
	g->why_len = why_len;
	return works(g, "device flags", spin ? g->set_flags(g->device, SPIN) : 0) &&
	    works(g, "no context on the device", g->retain(&g->context, g->device)) &&
	    works(g, "context", g->set_current(g->context)) &&
	    works(g, "memory pool", keep_memory(g, NULL)) &&
	    works(g, "stream", g->stream_create(&g->stream, 0)) &&
	    works(g, "event", g->event_create(&g->event[0], 0)) &&
	    works(g, "event", g->event_create(&g->event[1], 0));
}

struct kgpu *
kgpu_open(enum kgpu_api api, int number, bool spin, char *why, size_t why_len)
{
	struct kgpu *g = kgpu_find(api, number, why, why_len);

	if (!g || kgpu_enter(g, spin, why, why_len))
		return g;
	kgpu_close(g);
	return NULL;
}

bool
kgpu_no_room(const char *why)
{
	return strstr(why, "out of memory") != NULL;
}

void
kgpu_close(struct kgpu *g)
{
	if (g && g->context)
		g->give_back(g->device);
	free(g);
}

/* HIP numbers its attributes differently; attributes that nothing depends on stay 0 there. */
static int
fact(struct kgpu *g, int cuda_number)
{
	int v = 0;

	if (!g->hip && g->attribute(&v, cuda_number, g->device))
		v = 0;
	return v;
}

void
kgpu_facts(struct kgpu *g, struct kgpu_facts *f)
{
	unsigned char id[16] = { 0 };

	*f = (struct kgpu_facts){ .multiprocessors = fact(g, MULTIPROCESSORS),
		.clock_khz = fact(g, CLOCK),
		.major = fact(g, MAJOR),
		.minor = fact(g, MINOR),
		.l2_bytes = (size_t)fact(g, L2) };
	g->device_name(f->name, sizeof f->name, g->device);
	g->device_memory(&f->memory_bytes, g->device);
	g->driver_version(&f->driver_version);
	g->device_uuid(id, g->device);
	for (size_t i = 0; i < sizeof id; i++)
		snprintf(f->uuid + 2 * i, 3, "%02x", id[i]);
	/* When the size is not reported: larger than any existing L2 with Infinity Cache. */
	if (!f->l2_bytes)
		f->l2_bytes = (size_t)256 << 20;
}

/* The management library; the names below are in this order. NULL: it has no such function. */
static struct management {
	int (*start)(void), (*by_uuid)(const char *, void **);
	int (*clock)(void *, int, unsigned *), (*heat)(void *, int, unsigned *);
	int (*power)(void *, unsigned *), (*reasons)(void *, unsigned long long *);
} nvml;
static const char *const nvml_names[] = { "nvmlInit_v2", "nvmlDeviceGetHandleByUUID",
	"nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage",
	"nvmlDeviceGetCurrentClocksThrottleReasons" };

/* Its handle of the device; NULL when there is no such library. */
static void *
management(struct kgpu *g)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), *handle = NULL,
	     **slots = (void **)(void *)&nvml;
	struct kgpu_facts f;
	char id[64];
	const char *u = f.uuid;

	for (size_t i = 0; library && i < LEN(nvml_names); i++)
		slots[i] = dlsym(library, nvml_names[i]);
	if (!nvml.start || !nvml.by_uuid || nvml.start())
		return NULL;
	kgpu_facts(g, &f);
	snprintf(id, sizeof id, "GPU-%.8s-%.4s-%.4s-%.4s-%.12s", u, u + 8, u + 12, u + 16, u + 20);
	return nvml.by_uuid(id, &handle) ? NULL : handle;
}

void
kgpu_state(struct kgpu *g, struct kgpu_state *s)
{
	enum { SM = 1, MEMORY = 2, DIE = 0 };
	static void *handle;
	static bool tried;
	unsigned v;
	unsigned long long mask;

	*s = (struct kgpu_state){ -1, -1, -1, -1, -1 };
	if (!tried && !g->hip) {
		tried = true;
		handle = management(g);
	}
	if (!handle)
		return;
	if (nvml.clock && !nvml.clock(handle, SM, &v))
		s->sm_mhz = (int)v;
	if (nvml.clock && !nvml.clock(handle, MEMORY, &v))
		s->memory_mhz = (int)v;
	if (nvml.heat && !nvml.heat(handle, DIE, &v))
		s->temperature_c = (int)v;
	if (nvml.power && !nvml.power(handle, &v))
		s->power_w = (int)(v / 1000);
	if (nvml.reasons && !nvml.reasons(handle, &mask))
		s->throttle = (int64_t)mask;
}

/* ---- memory ---- */

const char *
kgpu_alloc(struct kgpu *g, kgpu_ptr *p, size_t bytes)
{
	return words(g, g->alloc(p, bytes ?: 1, g->stream));
}

const char *
kgpu_free(struct kgpu *g, kgpu_ptr p)
{
	return p ? words(g, g->release(p, g->stream)) : NULL;
}

const char *
kgpu_alloc_plain(struct kgpu *g, kgpu_ptr *p, size_t bytes)
{
	return words(g, g->alloc_plain(p, bytes ?: 1));
}

const char *
kgpu_free_plain(struct kgpu *g, kgpu_ptr p)
{
	return p ? words(g, g->release_plain(p)) : NULL;
}

const char *
kgpu_copy(struct kgpu *g, kgpu_ptr to, kgpu_ptr from, size_t bytes)
{
	return bytes ? words(g, g->copy(to, from, bytes, g->stream)) : NULL;
}

const char *
kgpu_fetch(struct kgpu *g, void *host, kgpu_ptr from, size_t bytes)
{
	int e = g->fetch(host, from, bytes, g->stream);

	return words(g, e ?: g->stream_wait(g->stream));
}

const char *
kgpu_store(struct kgpu *g, kgpu_ptr to, const void *host, size_t bytes)
{
	int e = g->store(to, host, bytes, g->stream);

	return words(g, e ?: g->stream_wait(g->stream));
}

const char *
kgpu_limit(struct kgpu *g, size_t bytes)
{
	struct pool p = { .type = PINNED, .location = { DEVICE, g->device }, .max_bytes = bytes };
	void *pool = NULL;
	int e = g->pool_create(&pool, &p);

	e = e ?: keep_memory(g, pool);
	return words(g, e ?: g->pool_use(g->device, pool));
}

const char *
kgpu_set(struct kgpu *g, kgpu_ptr to, int byte, size_t bytes)
{
	return bytes ? words(g, g->set(to, (unsigned char)byte, bytes, g->stream)) : NULL;
}

const char *
kgpu_wait(struct kgpu *g)
{
	return words(g, g->stream_wait(g->stream));
}

const char *
kgpu_wait_all(struct kgpu *g)
{
	return words(g, g->wait_all());
}

static int
map(struct kgpu *g, struct kgpu_shared *s, bool read_only)
{
	struct access a = { { DEVICE, g->device }, read_only ? READ_ONLY : READ_WRITE };
	int e = g->reserve(&s->at, s->bytes, 0, 0, 0);

	e = e ?: g->map(s->at, s->bytes, 0, s->handle, 0);
	return e ?: g->set_access(s->at, s->bytes, &a, 1);
}

const char *
kgpu_share(struct kgpu *g, struct kgpu_shared *s, size_t bytes)
{
	struct allocation a = {
		.type = PINNED, .handle_types = DESCRIPTOR, .location = { DEVICE, g->device }
	};
	size_t step = 0;
	int e = g->granularity(&step, &a, 0);

	*s = (struct kgpu_shared){ .fd = -1 };
	if (e)
		return words(g, e);
	s->bytes = (bytes + step - 1) / step * step;
	e = g->create(&s->handle, s->bytes, &a, 0);
	e = e ?: g->export(&s->fd, s->handle, DESCRIPTOR, 0);
	return words(g, e ?: map(g, s, false));
}

const char *
kgpu_import(struct kgpu *g, struct kgpu_shared *s, bool read_only)
{
	int e = g->import(&s->handle, (void *)(intptr_t)s->fd, DESCRIPTOR);

	return words(g, e ?: map(g, s, read_only));
}

void
kgpu_unshare(struct kgpu *g, struct kgpu_shared *s)
{
	if (s->at) {
		g->unmap(s->at, s->bytes);
		g->unreserve(s->at, s->bytes);
	}
	if (s->handle)
		g->drop(s->handle);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct kgpu_shared){ .fd = -1 };
}

/* ---- code ---- */

const char *
kgpu_module(struct kgpu *g, const void *code, void **module)
{
	return words(g, g->module_load(module, code));
}

const char *
kgpu_function(struct kgpu *g, void *module, const char *name, void **function)
{
	return words(g, g->module_function(function, module, name));
}

const char *
kgpu_launch(struct kgpu *g, void *function, const unsigned grid[3], const unsigned block[3],
    unsigned shared_bytes, void **arguments)
{
	enum { DYNAMIC_SHARED = 8, WITHOUT_ASKING = 48 << 10 };
	int e = shared_bytes > WITHOUT_ASKING
	    ? g->function_set(function, DYNAMIC_SHARED, (int)shared_bytes)
	    : 0;

	return words(g,
	    e
	        ?: g->launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
	               shared_bytes, g->stream, arguments, NULL));
}

/* ---- order and time ---- */

void *
kgpu_stream(struct kgpu *g)
{
	return g->stream;
}

const char *
kgpu_mark(struct kgpu *g, int which)
{
	return words(g, g->event_record(g->event[which], g->stream));
}

const char *
kgpu_elapsed(struct kgpu *g, int64_t *ns)
{
	float ms = 0;
	int e = g->event_elapsed(&ms, g->event[0], g->event[1]);

	*ns = llround((double)ms * 1e6);
	return words(g, e);
}

void
kgpu_profiler(struct kgpu *g, bool on)
{
	if (on)
		g->profiler_start();
	else
		g->profiler_stop();
}
