/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krun-opencl: the process that a candidate in OpenCL C runs in, and the program that builds one.
 *
 *   krun-opencl OBJECT SOCKET INPUTS OUTPUTS TABLE   the runner, see krun.h
 *   krun-opencl --build SOURCE OBJECT [OPTION...]    text to an object (klaunch_pack), with the
 *                                                    OpenCL compiler's options
 *   krun-opencl --facts                              the device as one JSON object
 *
 * Which device: see kcl.h. A CPU works directly on the shared memory, like a candidate in C; it
 * runs machine code in this process, which must not run outside the timed region. For a device with
 * memory of its own, both arenas are copied before the clock starts, and outputs are copied back
 * after it has stopped; then no foreign code runs in this process.
 */
#include <sys/mman.h>

#include "kcl.h"
#include "klaunch.h"
#include "krunner.h"
#include "ksandbox.h"

enum { OBJECT_MAX = 64 << 20, SOURCE_MAX = 8 << 20, FLUSH_MIN = 512 << 20 };

static struct krun_setup setup;
static char *arena[2]; /* inputs and outputs */
static int rows;
static uint64_t row[KRUN_ARGS + KRUN_SLOTS]; /* of the current call: offsets and values */
/*
 * The same memory as the device sees it: buffers over it, or shared virtual memory that it is
 * copied to.
 */
static void *buffer[2];
static char *memory[2];
static void *kernel[KRUN_LAUNCHES];
/* the kernel has one more parameter than the task, for shared= */
static bool local_memory[KRUN_LAUNCHES];
static const char *refusal; /* why there are no kernels */
/* sub-buffers of the calls of one batch, arg_count each; NULL for scalars */
static void **tensors;
static uint32_t tensor_calls, tensor_room;

#ifdef __SANITIZE_ADDRESS__
/*
 * Memory that a driver or a compiler keeps is not our leak; and the leak checker cannot run in the
 * sandbox.
 */
int __lsan_is_turned_off(void);
int
__lsan_is_turned_off(void)
{
	return 1;
}
#endif

static void
need(const char *what, int error)
{
	if (error)
		krunner_fail(what, kcl_words(error), 0);
}

/* ---- before the seal ---- */

/* Program caches of drivers go into the private temporary folder, and are removed with it. */
static void
private_cache(void)
{
	const char *tmp = getenv("TMPDIR");

	setenv("POCL_CACHE_DIR", kshown("%s/opencl-cache", tmp && *tmp ? tmp : "/tmp"), 1);
	setenv("CUDA_CACHE_DISABLE", "1", 1);
	setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", 1);
}

/* Loads the kernels of an object; faults in it are reported when a kernel is requested. */
static void
load(const char *file)
{
	size_t len, source_len, code_len;
	const char *source, *code;
	char *data = kread_file(file, OBJECT_MAX, &len), *log = NULL;
	void *program;

	if (!data || !klaunch_unpack(data, len, &source, &source_len, &code, &code_len)) {
		refusal = "the file was not made by krun-opencl --build";
		return;
	}
	program = kcl_build(code, code_len, true, "", &log);
	if (!program)
		refusal = kasprintf("the device does not accept it: %.200s", log);
	for (uint32_t i = 0; program && i < setup.launches; i++) {
		uint32_t want = setup.arg_count, has;
		int e = 0;

		kernel[i] = cl.create_kernel(program, setup.kernel[i], &e);
		has = e ? 0 : kcl_arguments(kernel[i]);
		if (e)
			refusal = kasprintf("kernel %s: %s", setup.kernel[i], kcl_words(e));
		else if (has != want && has != want + 1)
			refusal = kasprintf("kernel %s takes %u arguments, but the task has %u",
			    setup.kernel[i], has, want);
		local_memory[i] = has == want + 1;
	}
	free(log);
	free(data);
}

static void
make_buffers(void)
{
	for (int output = 0; output < 2; output++) {
		int e = 0;

		buffer[output] = cl.create_buffer(cl.context,
		    (output ? KCL_READ_WRITE : KCL_READ_ONLY) | KCL_USE_HOST_PTR,
		    output ? setup.output_bytes : setup.input_bytes, arena[output], &e);
		need("memory of the device", e);
	}
}

/*
 * Use addresses, so that a tensor can begin anywhere. Sub-buffers can do that too, but one driver
 * keeps track of how they overlap: that took ten times as long as the kernel, and crashed now and
 * then.
 */
static void
make_memory(void)
{
	if (!cl.facts.shared)
		krunner_fail("the device has no coarse-grained shared virtual memory (OpenCL 2.0), "
		             "which kiln needs for tensors",
		    NULL, 0);
	memory[0] = cl.svm_alloc(cl.context, KCL_READ_ONLY, setup.input_bytes, 0);
	memory[1] = cl.svm_alloc(cl.context, KCL_READ_WRITE, setup.output_bytes, 0);
	if (!memory[0] || !memory[1])
		krunner_fail("memory of the device: out of memory", NULL, 0);
}

/* ---- calls ---- */

static void
release_tensors(void)
{
	kforeach_of(x, tensors, (size_t)tensor_calls * setup.arg_count)
		if (*x)
			cl.release_buffer(*x);
	tensor_calls = 0;
}

/*
 * A tensor is passed by its first byte; the kernel is not told where it ends, but the memory around
 * it is checked.
 */
static void *
tensor_at(enum krun_kind kind, uint64_t offset)
{
	bool output = kind == KRUN_OUT;
	struct {
		size_t origin, size;
	} region = { offset, (output ? setup.output_bytes : setup.input_bytes) - offset };
	enum { REGION = 0x1220 };
	int e = 0;
	void *p = cl.create_sub(
	    buffer[kind], output ? KCL_READ_WRITE : KCL_READ_ONLY, REGION, &region, &e);

	need("a tensor", e);
	return p;
}

static void
make_room(uint32_t calls)
{
	if (calls <= tensor_room)
		return;
	tensors = realloc(tensors, (size_t)calls * setup.arg_count * sizeof *tensors);
	if (!tensors)
		krunner_fail("memory for arguments", NULL, 0);
	tensor_room = calls;
}

static void
make_tensors(uint32_t call)
{
	void **own = &tensors[(size_t)call * setup.arg_count];

	for (uint32_t i = 0; i < setup.arg_count; i++)
		own[i] = setup.kind[i] < KRUN_TENSORS ? tensor_at(setup.kind[i], row[i]) : NULL;
	tensor_calls = call + 1;
}

/*
 * The kernel must have the local-memory parameter exactly if the launch line has shared=; the
 * driver's own message would only give numbers.
 */
static void
check_shared(uint32_t n, uint32_t bytes)
{
	const char *text = kshown("kernel %s", setup.kernel[n]);

	if (bytes && !local_memory[n])
		krunner_fail(
		    text, "shared= asks for local memory, but it has no parameter for that", 0);
	if (!bytes && local_memory[n])
		krunner_fail(text,
		    "it has one parameter more than the task, but its launch line has no shared=",
		    0);
}

static void
launch(uint32_t call, uint32_t n, const struct krun_launch *l)
{
	static const size_t sizes[] = {
		[KRUN_I32] = 4, [KRUN_I64] = 8, [KRUN_F32] = 4, [KRUN_F64] = 8
	};
	size_t global[3], local[3];

	check_shared(n, l->shared);
	for (uint32_t i = 0; i < setup.arg_count; i++) {
		size_t at = (size_t)call * setup.arg_count + i;
		uint8_t kind = setup.kind[i];
		int e = kind >= KRUN_TENSORS ? cl.set_argument(kernel[n], i, sizes[kind], &row[i])
		    : setup.copies
		    ? cl.svm_argument(kernel[n], i, memory[kind] + row[i])
		    : cl.set_argument(kernel[n], i, sizeof tensors[at], &tensors[at]);

		if (e)
			need(kshown("kernel %s, argument %u", setup.kernel[n], i + 1), e);
	}
	if (l->shared)
		need("shared memory", cl.set_argument(kernel[n], setup.arg_count, l->shared, NULL));
	for (int d = 0; d < 3; d++) {
		local[d] = l->block[d];
		global[d] = (size_t)l->grid[d] * l->block[d];
	}
	need(kshown("kernel %s", setup.kernel[n]),
	    cl.enqueue(cl.queue, kernel[n], 3, NULL, global, local, 0, NULL, NULL));
}

/*
 * The clock here includes the driver's work: on one CPU, all calls are enqueued before the first
 * kernel begins, and the device's own times would leave out so much that honest kernels would look
 * like cheats.
 */
static void
go(const struct krun_command *c)
{
	struct krun_report r = { .what = KRUN_DONE, .nonce = c->nonce };
	int64_t start = know_ns();

	if (!setup.copies)
		make_room(c->calls);
	for (uint32_t k = 0; k < c->calls; k++) {
		krunner_row(rows, &setup, (const uint64_t[2]){ 0, 0 }, row);
		if (!setup.copies)
			make_tensors(k);
		for (uint32_t n = 0; n < setup.launches; n++)
			launch(k, n, &c->launch[n]);
		if (k == 0)
			need("the device", cl.flush(cl.queue));
	}
	need("the device", cl.finish(cl.queue));
	if (!setup.copies)
		release_tensors();
	if (c->calls)
		r.value[0] = (uint64_t)(know_ns() - start);
	krunner_report(&r);
}

/* ---- a device with memory of its own ---- */

/*
 * Write twice as much as the device says it caches, so that calls begin cold. The reported size is
 * not always that of the last level (4 MiB was seen where there were 60), so a GPU gets at least
 * FLUSH_MIN.
 */
static void
flush_device(void)
{
	static const uint32_t zero;
	static void *scratch;
	size_t bytes = 2 * (size_t)cl.facts.cache_bytes / sizeof zero * sizeof zero;
	int e = 0;

	if (!cl.facts.cpu && bytes < FLUSH_MIN)
		bytes = FLUSH_MIN;
	if (bytes && !scratch)
		scratch = cl.create_buffer(cl.context, KCL_READ_WRITE, bytes, NULL, &e);
	if (scratch && !e)
		need("flushing caches",
		    cl.fill(cl.queue, scratch, &zero, sizeof zero, 0, bytes, 0, NULL, NULL));
}

static void
copy(const char *what, void *to, const void *from, size_t bytes)
{
	need(what, cl.svm_copy(cl.queue, KCL_BLOCKING, to, from, bytes, 0, NULL, NULL));
}

static void
stage(void)
{
	copy("copying inputs", memory[0], arena[0], setup.input_bytes);
	copy("copying outputs", memory[1], arena[1], setup.output_bytes);
	flush_device();
	need("the device", cl.finish(cl.queue));
	krunner_report(&(struct krun_report){ .what = KRUN_AWAKE });
}

/* That inputs are read-only is a promise, not a protection: check what became of them. */
static void
collect(void)
{
	static char *inputs;

	if (!inputs)
		inputs = malloc(setup.input_bytes);
	if (!inputs)
		krunner_fail("memory for inputs", NULL, 0);
	copy("fetching outputs", arena[1], memory[1], setup.output_bytes);
	copy("fetching inputs", inputs, memory[0], setup.input_bytes);
	if (memcmp(inputs, arena[0], setup.input_bytes))
		krunner_fail("it wrote to its inputs", NULL, 0);
	krunner_report(&(struct krun_report){ .what = KRUN_AWAKE });
}

static _Noreturn void
obey(void)
{
	struct krun_command c;

	for (;;) {
		krunner_next(&c);
		if (c.order == KRUN_LOAD && refusal)
			krunner_fail(refusal, NULL, 0);
		else if (c.order == KRUN_LOAD)
			krunner_report(&(struct krun_report){ .what = KRUN_LOADED });
		else if (c.order == KRUN_STAGE)
			stage();
		else if (c.order == KRUN_COLLECT)
			collect();
		else
			go(&c);
	}
}

static int
runner(char **argv)
{
	const char *why;
	int fds[2];

	krunner_open(argv[2], &setup, fds);
	if (!setup.launches)
		return 123;
	arena[0] = krunner_map(fds[0], setup.input_bytes, PROT_READ);
	arena[1] = krunner_map(fds[1], setup.output_bytes, PROT_READ | PROT_WRITE);
	rows = atoi(argv[3]);
	/* The driver's threads inherit this. */
	krunner_pin(&setup);
	if ((why = kcl_choose() ?: kcl_start()))
		krunner_fail(why, NULL, 0);
	if (setup.copies)
		make_memory();
	else
		make_buffers();
	load(argv[1]);
	/*
	 * CPU drivers handle SIGFPE themselves, because a division by zero must not end a kernel.
	 */
	krunner_catch_faults(false);
	if ((cl.facts.cpu ? ksandbox_seal(setup.alone) : ksandbox_seal_gpu()) < 0)
		krunner_fail("sealing", strerror(errno), errno);
	krunner_report(&(struct krun_report){
	    .what = KRUN_HELLO, .value = { (uintptr_t)arena[0], (uintptr_t)arena[1] } });
	obey();
}

/* ---- building ---- */

/* Skip the driver's exit handlers: its threads may still run code that it would unload. */
static _Noreturn void
leave(int status)
{
	fflush(NULL);
	_exit(status);
}

static void
start_or_die(bool queue)
{
	const char *why = kcl_choose() ?: queue ? kcl_start() : NULL;

	if (why)
		kdie(K_MISSING, "%s", why);
}

/* The driver's messages; its copy of the source may have a meaningless name. */
static void
print_log(const char *log, const char *source)
{
	const char *folder = getenv("POCL_CACHE_DIR") ?: "?", *at;

	while ((at = strstr(log, folder))) {
		size_t n = strcspn(at, ": \n");

		fprintf(stderr, "%.*s%s", (int)(at - log), log, source);
		log = at + n;
	}
	fputs(log, stderr);
}

static void
check_kernels(void *program, const char *file, const struct klaunch_list *list)
{
	kforeach_of(launch, list->at, list->count) {
		int e = 0;

		cl.create_kernel(program, launch->kernel, &e);
		if (e) {
			fprintf(stderr, "%s:%d: error: the program has no kernel %s\n", file,
			    launch->line, launch->kernel);
			leave(1);
		}
	}
}

/*
 * A CPU driver builds libraries from the kernels and loads them into this process. Words in the
 * source that would bring in machine code of the candidate's own, or code that runs at load time,
 * are refused; but ## can build words that do not appear in the source. These macros catch them as
 * well.
 */
static const char own_code[] = " -D__asm__=no_inline_assembly_in_OpenCL_C "
                               "-D__asm=no_inline_assembly_in_OpenCL_C"
                               " -Dconstructor=no_constructor -D__constructor__=no_constructor"
                               " -Ddestructor=no_destructor -D__destructor__=no_destructor";

static int
build(int argc, char **argv)
{
	struct kbuf options = { 0 };
	struct klaunch_list list;
	char why[512], *source, *log, *object;
	size_t len, code_len, object_len;
	void *program, *code;

	if (argc < 4)
		kdie(K_USAGE, "usage: krun-opencl --build SOURCE OBJECT [OPTION...]");
	start_or_die(true);
	/* GPU drivers reserve terabytes of address space. */
	if (cl.facts.cpu)
		klaunch_limit_memory();
	source = kread_file_or_die(argv[2], SOURCE_MAX, &len);
	/* The files of a bundle are here; the driver compiles a copy elsewhere. */
	kbuf_printf(&options, "-I .%s", cl.facts.cpu ? own_code : "");
	for (int i = 4; i < argc; i++)
		kbuf_printf(&options, " %s", argv[i]);
	program = kcl_build(source, len, false, options.data, &log);
	print_log(log, argv[2]);
	if (!program)
		return 1;
	if (!klaunch_parse(source, &list, why, sizeof why)) {
		fprintf(stderr, "%s: error: %s\n", argv[2], why);
		return 1;
	}
	check_kernels(program, argv[2], &list);
	code = kcl_binary(program, &code_len);
	if (!code)
		kdie(K_MISSING, "the driver does not return the program's binary");
	object = klaunch_pack(source, len, code, code_len, &object_len);
	kwrite_or_die(argv[3], object, object_len);
	return 0;
}

static int
facts(void)
{
	const struct kcl_facts *f = &cl.facts;
	json_auto_t *o = NULL;

	start_or_die(false);
	o = json_pack("{s:s,s:s,s:s,s:s,s:b,s:i,s:I,s:I,s:I,s:I}", "platform", f->platform,
	    "device", f->device, "version", f->version, "driver", f->driver, "cpu", f->cpu, "units",
	    (int)f->units, "alignment", (json_int_t)f->alignment, "memory_bytes",
	    (json_int_t)f->memory_bytes, "cache_bytes", (json_int_t)f->cache_bytes, "group_max",
	    (json_int_t)f->group_max);
	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	return 0;
}

int
main(int argc, char **argv)
{
	private_cache();
	if (argc == 5 && *argv[1] != '-')
		return runner(argv);
	kutil_init("krun-opencl");
	if (argc == 2 && !strcmp(argv[1], "--facts"))
		leave(facts());
	if (argc > 1 && !strcmp(argv[1], "--build"))
		leave(build(argc, argv));
	kdie(K_USAGE, "krun-opencl is started by kharness and keval");
}
