/* SPDX-License-Identifier: Apache-2.0 */
/* kcl: see kcl.h. Types and numbers of OpenCL 1.2, which every driver has, are declared here. */
#include "kcl.h"

#include <dlfcn.h>

struct kcl cl;

enum {
	OBJECTS_MAX = 32,
	ALL_DEVICES = -1,
	TYPE_CPU = 2,
	PLATFORM_NAME = 0x0902,
	DEVICE_TYPE = 0x1000,
	DEVICE_UNITS = 0x1002,
	DEVICE_GROUP_MAX = 0x1004,
	DEVICE_SVM = 0x1053,
	COARSE_GRAINED = 1,
	DEVICE_ALIGNMENT_BITS = 0x1019,
	DEVICE_CACHE = 0x101e,
	DEVICE_MEMORY = 0x101f,
	DEVICE_NAME = 0x102b,
	DRIVER_VERSION = 0x102d,
	DEVICE_VERSION = 0x102f,
	PROGRAM_BINARY_SIZES = 0x1165,
	PROGRAM_BINARIES = 0x1166,
	BUILD_LOG = 0x1183,
	KERNEL_NUM_ARGS = 0x1191
};

static const struct {
	int error;
	const char *words;
} errors[] = {
	{ -1, "no device found" },
	{ -2, "the device is not available" },
	{ -3, "no compiler found" },
	{ -4, "the device has no memory left" },
	{ -5, "out of resources" },
	{ -6, "out of memory" },
	{ -11, "the program does not build" },
	{ -30, "invalid value" },
	{ -38, "invalid memory object" },
	{ -42, "invalid binary" },
	{ -43, "invalid build options" },
	{ -44, "invalid program" },
	{ -45, "the program is not built" },
	{ -46, "no kernel with that name" },
	{ -48, "invalid kernel" },
	{ -49, "invalid argument index" },
	{ -50, "invalid argument" },
	{ -51, "an argument has the wrong size: the kernel's parameters differ from the task's" },
	{ -52, "missing kernel arguments: the kernel's parameters differ from the task's" },
	{ -54,
	    "invalid work-group size: too large for the device, or different from "
	    "reqd_work_group_size" },
	{ -55, "invalid work-item size: too large for the device" },
	{ -63, "invalid global size" },
	{ -13, "a sub-buffer is misaligned" },
	{ -14, "a kernel failed" },
};

const char *
kcl_words(int error)
{
	if (!error)
		return NULL;
	kforeach(row, errors)
		if (row->error == error)
			return row->words;
	return kshown("OpenCL error %d", error);
}

/* What is wrong, or NULL. */
static const char *
fault_of(const char *what, int error)
{
	return error ? kshown("%s: %s", what, kcl_words(error)) : NULL;
}

/*
 * The functions of a driver that is loaded without a loader: every object begins with a pointer to
 * a table of them.
 */
static void **
table_of(void)
{
	void *(*address)(const char *);
	int (*platforms)(uint32_t, void **, uint32_t *) = NULL;
	void *first = NULL;
	uint32_t n = 0;

	*(void **)&address = dlsym(cl.library, "clGetExtensionFunctionAddress");
	if (address)
		*(void **)&platforms = address("clIcdGetPlatformIDsKHR");
	if (!platforms || platforms(1, &first, &n) || !n)
		return NULL;
	cl.platforms = platforms;
	return *(void ***)first;
}

static const char *
bind(void)
{
	const char *name = getenv("KILN_OPENCL");
	void *p, **table = NULL;

	if (!name || !*name)
		name = "libOpenCL.so.1";
	cl.library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!cl.library)
		return kshown("no OpenCL: %s", dlerror());
	if (!dlsym(cl.library, "clGetPlatformIDs"))
		table = table_of();
#define BIND(field, symbol, number, result, types) \
	p = table ? table[number] : dlsym(cl.library, symbol); \
	memcpy(&cl.field, &p, sizeof p);
#define NEED(field, symbol, number, result, types) \
	BIND(field, symbol, number, result, types) \
	if (!p) \
		return kshown("%s has no %s", name, symbol);
	KCL_FUNCTIONS(NEED)
	KCL_SHARED_FUNCTIONS(BIND)
#undef NEED
#undef BIND
	if (!table)
		cl.platforms = cl.get_platforms;
	return NULL;
}

static void
text_of(uint32_t what, char *text, size_t len)
{
	if (cl.device_info(cl.device, what, len - 1, text, NULL))
		*text = '\0';
	text[len - 1] = '\0';
}

#define ask(what, to) cl.device_info(cl.device, what, sizeof(to), &(to), NULL)

static void
learn(void *platform)
{
	struct kcl_facts *f = &cl.facts;
	uint64_t type = 0, svm = 0;
	uint32_t bits = 0;
	size_t group = 0;

	*f = (struct kcl_facts){ 0 };
	if (cl.platform_info(platform, PLATFORM_NAME, sizeof f->platform - 1, f->platform, NULL))
		*f->platform = '\0';
	text_of(DEVICE_NAME, f->device, sizeof f->device);
	text_of(DEVICE_VERSION, f->version, sizeof f->version);
	text_of(DRIVER_VERSION, f->driver, sizeof f->driver);
	ask(DEVICE_TYPE, type);
	ask(DEVICE_UNITS, f->units);
	ask(DEVICE_ALIGNMENT_BITS, bits);
	ask(DEVICE_MEMORY, f->memory_bytes);
	ask(DEVICE_CACHE, f->cache_bytes);
	ask(DEVICE_GROUP_MAX, group);
	if (cl.svm_alloc && cl.svm_copy && cl.svm_argument)
		ask(DEVICE_SVM, svm);
	f->group_max = group;
	f->shared = svm & COARSE_GRAINED;
	f->alignment = bits / 8;
	f->cpu = type & TYPE_CPU;
}

/*
 * Looks at the devices of a platform one by one. FALLBACK is set to the first that is a CPU; true:
 * found.
 */
static bool
look_through(void *platform, const char *wanted, void **fallback, void **fallback_platform)
{
	void *devices[OBJECTS_MAX];
	uint32_t n = 0;

	if (cl.get_devices(platform, (uint64_t)(uint32_t)ALL_DEVICES, OBJECTS_MAX, devices, &n))
		return false;
	for (uint32_t i = 0; i < n && i < OBJECTS_MAX; i++) {
		cl.device = devices[i];
		learn(platform);
		if (wanted ? strcasestr(kshown("%s / %s", cl.facts.platform, cl.facts.device),
		                 wanted) != NULL
		           : !cl.facts.cpu)
			return true;
		if (!wanted && !*fallback) {
			*fallback = devices[i];
			*fallback_platform = platform;
		}
	}
	return false;
}

const char *
kcl_choose(void)
{
	const char *wanted = getenv("KILN_OPENCL_DEVICE");
	void *platforms[OBJECTS_MAX], *fallback = NULL, *fallback_platform = NULL;
	const char *fault;
	uint32_t n = 0;

	cl = (struct kcl){ 0 };
	if (wanted && !*wanted)
		wanted = NULL;
	if ((fault = bind()))
		return fault;
	if (cl.platforms(OBJECTS_MAX, platforms, &n) || !n)
		return "no OpenCL platform is installed (/etc/OpenCL/vendors)";
	for (uint32_t i = 0; i < n && i < OBJECTS_MAX; i++)
		if (look_through(platforms[i], wanted, &fallback, &fallback_platform))
			return NULL;
	if (!fallback)
		return kshown("OpenCL has no device%s%s", wanted ? " called " : "", wanted ?: "");
	cl.device = fallback;
	learn(fallback_platform);
	return NULL;
}

const char *
kcl_start(void)
{
	int e = 0;

	cl.context = cl.create_context(NULL, 1, &cl.device, NULL, NULL, &e);
	if (e)
		return fault_of("creating a context on the device", e);
	cl.queue = cl.create_queue(cl.context, cl.device, 0, &e);
	return fault_of("creating a queue", e);
}

static char *
log_of(void *program)
{
	size_t len = 0;
	char *text;

	cl.build_info(program, cl.device, BUILD_LOG, 0, NULL, &len);
	text = kcalloc(len + 1, 1);
	if (len)
		cl.build_info(program, cl.device, BUILD_LOG, len, text, NULL);
	return text;
}

void *
kcl_build(const void *code, size_t len, bool binary, const char *options, char **log)
{
	const unsigned char *bytes = code;
	const char *text = code;
	int e = 0, status = 0;
	void *program = binary
	    ? cl.program_binary(cl.context, 1, &cl.device, &len, &bytes, &status, &e)
	    : cl.program_source(cl.context, 1, &text, &len, &e);

	if (!e)
		e = cl.build(program, 1, &cl.device, options, NULL, NULL);
	*log = program ? log_of(program) : kstrdup("");
	if (!e)
		return program;
	if (!**log) {
		free(*log);
		*log = kstrdup(kcl_words(e));
	}
	return NULL;
}

void *
kcl_binary(void *program, size_t *len)
{
	unsigned char *bytes;

	*len = 0;
	if (cl.program_info(program, PROGRAM_BINARY_SIZES, sizeof *len, len, NULL) || !*len)
		return NULL;
	bytes = kmalloc(*len);
	if (!cl.program_info(program, PROGRAM_BINARIES, sizeof bytes, &bytes, NULL))
		return bytes;
	free(bytes);
	return NULL;
}

uint32_t
kcl_arguments(void *kernel)
{
	uint32_t n = 0;

	return cl.kernel_info(kernel, KERNEL_NUM_ARGS, sizeof n, &n, NULL) ? 0 : n;
}
