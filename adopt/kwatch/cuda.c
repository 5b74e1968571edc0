/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA launches and memory, observed by replacing functions of the run-time library and the driver.
 * Their types are declared here, with the layout of the ABI, because the library is built without
 * the toolkit.
 */
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
};
struct driver_config {
	unsigned grid[3], block[3], shared;
};

/* ---- names of kernels ---- */

enum { NAMES = 4096 };

static struct {
	const void *function; /* what a launch names */
	char name[128];
} known[NAMES];
static size_t name_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void
set_name(const void *function, const char *name)
{
	size_t i = 0;

	pthread_mutex_lock(&lock);
	while (i < name_count && known[i].function != function)
		i++;
	if (i < NAMES && function) {
		known[i].function = function;
		snprintf(known[i].name, sizeof known[i].name, "%s", name);
		for (char *p = known[i].name; *p; p++)
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
		if (known[i].function == function)
			return known[i].name;
	return "unknown";
}

void
__cudaRegisterFunction(void **module, const char *host, char *device, const char *name, int limit,
    void *tid, void *bid, void *block, void *grid, int *warp)
{
	KWATCH_NEXT(__cudaRegisterFunction,
	    void(void **, const char *, char *, const char *, int, void *, void *, void *, void *,
	        int *));

	if (kwatch_on)
		set_name(host, name);
	if (__cudaRegisterFunction_real)
		__cudaRegisterFunction_real(
		    module, host, device, name, limit, tid, bid, block, grid, warp);
}

/* Functions that make a handle for launches, of a kernel that has this name. */
#define FIND_KERNEL(function, parameters, arguments, name) \
	int function parameters \
	{ \
		KWATCH_NEXT(function, int parameters); \
		int error = function##_real arguments; \
		if (kwatch_on && !error) \
			set_name(*kernel, name); \
		return error; \
	}
/* Launches compiled by CUDA 13 use it. */
FIND_KERNEL(__cudaGetKernel, (void **kernel, const void *host), (kernel, host), name_of(host))
FIND_KERNEL(cuModuleGetFunction, (void **kernel, void *module, const char *name),
    (kernel, module, name), name)
FIND_KERNEL(cuLibraryGetKernel, (void **kernel, void *library, const char *name),
    (kernel, library, name), name)

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

/* Is SYMBOL, a kernel's symbol from the compiler, the kernel that the source calls NAME? */
static bool
is_named(const char *symbol, const char *name)
{
	char mangled[160];

	snprintf(mangled, sizeof mangled, "%zu%s", strlen(name), name);
	return !strcmp(symbol, name) || strstr(symbol, mangled);
}

/*
 * The parameters of the kernel with this symbol, to the end of the line; NULL: there are none, or
 * several kernels share its name.
 */
static const char *
layout_of(const char *symbol)
{
	const char *found = NULL;
	char name[128];

	for (const char *line = layout; line && sscanf(line, "%127s", name) == 1;) {
		if (is_named(symbol, name)) {
			if (found)
				return NULL;
			found = line + strlen(name);
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return found;
}

/* Appends an argument as a JSON member, or nothing. */
static void
add_argument(struct kwatch_text *t, char kind, struct kwatch_arg *a)
{
	size_t before = t->len;
	const char *comma = before ? "," : "";
	uintptr_t p;
	struct kwatch_extent e;

	if (!a->at || kind == '?')
		return;
	if (kind == 'p') {
		memcpy(&p, a->at, sizeof p);
		if (kwatch_extent_find((const void *)p, &e))
			kwatch_add(t, "%s\"%s\":{\"bytes\":%zu,\"offset\":%zu}", comma, a->name,
			    e.bytes, (size_t)(p - e.start));
	} else {
		a->kind = kind == 'i' ? KWATCH_SIGNED
		    : kind == 'u'     ? KWATCH_UNSIGNED
		    : kind == 'f'     ? KWATCH_REAL
		                      : KWATCH_BOOL;
		kwatch_add_scalar(t, a, comma);
	}
	/* It did not fit. */
	if (t->len == t->room - 1)
		t->at[t->len = before] = '\0';
}

static void
add_arguments(struct kwatch_launch *l, void **args)
{
	const char *p = layout_of(l->kernel);
	struct kwatch_text t = { l->args, 0, sizeof l->args };
	char kind, name[256];
	size_t size;
	int n;

	*l->args = '\0';
	for (; p && args && *p == ' ' && sscanf(p, " %c%zu:%255s%n", &kind, &size, name, &n) == 3;
	     p += n)
		add_argument(
		    &t, kind, &(struct kwatch_arg){ .name = name, .at = *args++, .size = size });
}

/* ---- launches ---- */

/*
 * Nesting depth of launches in this thread: a function of the run-time library may call another one
 * that is replaced here.
 */
static __thread int launching;
static __thread struct kwatch_state *noted; /* where the outermost launch is recorded */

/* A launch within a watched call is recorded as a part of it. */
static void
launch_begin(const void *function, const void *grid, const void *block, size_t shared, void **args)
{
	struct kwatch_launch *l;

	if (!kwatch_on || launching++)
		return;
	noted = kwatch_current();
	if (noted && noted->launches == KWATCH_LAUNCHES)
		noted = NULL;
	if (!noted)
		return;
	l = &noted->launch[noted->launches++];
	memcpy(l->grid, grid, sizeof l->grid);
	memcpy(l->block, block, sizeof l->block);
	l->shared = shared;
	snprintf(l->kernel, sizeof l->kernel, "%s", name_of(function));
	add_arguments(l, args);
}

/* A launch that was refused (for example a grid without blocks) does not count. */
static void
launch_end(int error)
{
	if (kwatch_on && !--launching && error && noted)
		noted->launches--;
}

/* GRID and BLOCK: where their three numbers are. */
#define LAUNCH(name, parameters, arguments, grid, block, shared) \
	int name parameters \
	{ \
		KWATCH_NEXT(name, int parameters); \
		int error; \
		launch_begin(function, grid, block, shared, args); \
		error = name##_real arguments; \
		launch_end(error); \
		return error; \
	}
#define RUNTIME_LAUNCH(name) \
	LAUNCH(name, \
	    (const void *function, struct dim3 grid, struct dim3 block, void **args, \
	        size_t shared, void *stream), \
	    (function, grid, block, args, shared, stream), &grid, &block, shared)
#define RUNTIME_LAUNCH_EX(name) \
	LAUNCH(name, (const struct runtime_config *config, const void *function, void **args), \
	    (config, function, args), &config->grid, &config->block, config->shared)
#define DRIVER_LAUNCH(name) \
	LAUNCH(name, \
	    (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
	        unsigned bz, unsigned shared, void *stream, void **args, void **extra), \
	    (function, gx, gy, gz, bx, by, bz, shared, stream, args, extra), \
	    (&(struct dim3){ gx, gy, gz }), (&(struct dim3){ bx, by, bz }), shared)
#define DRIVER_LAUNCH_EX(name) \
	LAUNCH(name, \
	    (const struct driver_config *config, void *function, void **args, void **extra), \
	    (config, function, args, extra), config->grid, config->block, config->shared)

/* "ptsz": the variant with one default stream per thread. */
#define BOTH_LAUNCHES(kind, name) kind(name) kind(name##_ptsz)
BOTH_LAUNCHES(RUNTIME_LAUNCH, cudaLaunchKernel)
BOTH_LAUNCHES(RUNTIME_LAUNCH, __cudaLaunchKernel)
BOTH_LAUNCHES(RUNTIME_LAUNCH, cudaLaunchCooperativeKernel)
BOTH_LAUNCHES(RUNTIME_LAUNCH_EX, cudaLaunchKernelExC)
BOTH_LAUNCHES(DRIVER_LAUNCH, cuLaunchKernel)
BOTH_LAUNCHES(DRIVER_LAUNCH_EX, cuLaunchKernelEx)

/* ---- memory ---- */

#define ALLOCATE(name, parameters, arguments, bytes) \
	int name parameters \
	{ \
		KWATCH_NEXT(name, int parameters); \
		int error = name##_real arguments; \
		if (!error) \
			kwatch_extent_add(*to, bytes, true); \
		return error; \
	}
ALLOCATE(cudaMalloc, (void **to, size_t bytes), (to, bytes), bytes)
ALLOCATE(cudaMallocManaged, (void **to, size_t bytes, unsigned flags), (to, bytes, flags), bytes)
KWATCH_BOTH(
    ALLOCATE, cudaMallocAsync, (void **to, size_t bytes, void *stream), (to, bytes, stream), bytes)
KWATCH_BOTH(ALLOCATE, cudaMallocFromPoolAsync, (void **to, size_t bytes, void *pool, void *stream),
    (to, bytes, pool, stream), bytes)
ALLOCATE(cudaMallocPitch, (void **to, size_t *pitch, size_t width, size_t height),
    (to, pitch, width, height), *pitch *height)
ALLOCATE(cuMemAlloc_v2, (void **to, size_t bytes), (to, bytes), bytes)
KWATCH_BOTH(
    ALLOCATE, cuMemAllocAsync, (void **to, size_t bytes, void *stream), (to, bytes, stream), bytes)
ALLOCATE(cuMemAllocManaged, (void **to, size_t bytes, unsigned flags), (to, bytes, flags), bytes)

#define RELEASE(name, parameters, arguments) \
	int name parameters \
	{ \
		KWATCH_NEXT(name, int parameters); \
		kwatch_extent_drop(at); \
		return name##_real arguments; \
	}
RELEASE(cudaFree, (void *at), (at))
KWATCH_BOTH(RELEASE, cudaFreeAsync, (void *at, void *stream), (at, stream))
RELEASE(cuMemFree_v2, (void *at), (at))
KWATCH_BOTH(RELEASE, cuMemFreeAsync, (void *at, void *stream), (at, stream))

/* A device variable: its memory becomes known when its address is requested. */
int
cudaGetSymbolAddress(void **to, const void *symbol)
{
	KWATCH_NEXT(cudaGetSymbolAddress, int(void **, const void *));
	KWATCH_NEXT(cudaGetSymbolSize, int(size_t *, const void *));
	size_t bytes = 0;
	int error = cudaGetSymbolAddress_real(to, symbol);

	if (!error && cudaGetSymbolSize_real && !cudaGetSymbolSize_real(&bytes, symbol))
		kwatch_extent_add(*to, bytes, true);
	return error;
}
