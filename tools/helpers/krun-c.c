/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krun-c: the process that a candidate written in C runs in. Maps the memory that the judge (kharness) gave it, seals
 * itself, loads the candidate's shared object and calls it when told. It knows no expected value and gives no verdict.
 * Wire format: krun.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <ffi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "krun.h"
#include "ksandbox.h"

/* Address space kept free around each mapping, so that a stray pointer meets nothing. */
enum { FENCE = 1 << 20 };

static struct krun_setup setup;
static int sock;
static const char *inputs, *table;
static char *outputs;

static void
report(const struct krun_report *r)
{
	while (write(sock, r, sizeof *r) < 0)
		if (errno != EINTR)
			_exit(121);
}

static _Noreturn void
fail(const char *what, int error)
{
	struct krun_report r = { .what = KRUN_FAILED, .error = (uint32_t)error };

	snprintf(r.text, sizeof r.text, "%s%s%s", what, error ? ": " : "", error ? strerror(error) : "");
	report(&r);
	_exit(120);
}

/* Tell the judge where it went wrong: better than a bare signal number, and worth no more trust than that. */
static void
on_fault(int sig, siginfo_t *info, void *context)
{
	struct krun_report r = { .what = KRUN_FAULT, .value = { (uint64_t)sig, (uint64_t)(uintptr_t)info->si_addr } };

	(void)context;
	/* A second fault, in this handler or another thread, ends the process at once. */
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

	/* On a stack of its own, since the fault may be the end of the normal one. */
	sigaltstack(&own, NULL);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, NULL);
}

/* Map a memory file between fences. All pages are made present now, lest the first call pays for it. */
static void *
map(int fd, uint64_t bytes, int protection)
{
	char *space = mmap(NULL, bytes + 2 * FENCE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *p;

	if (space == MAP_FAILED)
		fail("address space", errno);
	p = mmap(space + FENCE, bytes, protection, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0);
	if (p == MAP_FAILED)
		fail("shared memory", errno);
	close(fd);
	return p;
}

static void
pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < KRUN_CPUS && i < CPU_SETSIZE; i++)
		if (setup.cpus[i / 64] >> (i % 64) & 1)
			CPU_SET(i, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		fail("pinning to CPUs", errno);
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
		fail(why ? why : "the entry point is a null pointer", 0);
	report(&r);
	return entry;
}

/* A cif for the argument kinds; its type list is static. */
static void
describe(ffi_cif *cif)
{
	static ffi_type *types[KRUN_ARGS];
	static ffi_type *const of_kind[] = {
		[KRUN_IN] = &ffi_type_pointer, [KRUN_OUT] = &ffi_type_pointer, [KRUN_I32] = &ffi_type_sint32,
		[KRUN_I64] = &ffi_type_sint64, [KRUN_F32] = &ffi_type_float, [KRUN_F64] = &ffi_type_double,
	};

	for (uint32_t i = 0; i < setup.arg_count; i++)
		types[i] = of_kind[setup.kind[i]];
	if (ffi_prep_cif(cif, FFI_DEFAULT_ABI, setup.arg_count, &ffi_type_void, types) != FFI_OK)
		fail("libffi refuses the call", 0);
}

static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* Addresses and values of all calls of one go, made ready before the clock starts. */
static void
prepare(uint32_t calls, uint64_t *words)
{
	memcpy(words, table, (size_t)calls * setup.arg_count * sizeof *words);
	for (size_t i = 0; i < (size_t)calls * setup.arg_count; i++) {
		uint8_t kind = setup.kind[i % setup.arg_count];

		if (kind == KRUN_IN)
			words[i] += (uint64_t)(uintptr_t)inputs;
		else if (kind == KRUN_OUT)
			words[i] += (uint64_t)(uintptr_t)outputs;
	}
}

static void
go(ffi_cif *cif, void *entry, const struct krun_command *c)
{
	static uint64_t *words;
	static uint32_t room;
	struct krun_report r = { .what = KRUN_DONE, .nonce = c->nonce };
	void *values[KRUN_ARGS];
	int64_t start, end;

	if (c->calls > room) {
		words = realloc(words, (size_t)c->calls * setup.arg_count * sizeof *words);
		if (!words)
			fail("memory for arguments", ENOMEM);
		room = c->calls;
	}
	if (c->calls)
		prepare(c->calls, words);
	start = now();
	for (uint32_t k = 0; k < c->calls; k++) {
		for (uint32_t i = 0; i < setup.arg_count; i++)
			values[i] = &words[(size_t)k * setup.arg_count + i];
		ffi_call(cif, FFI_FN(entry), NULL, values);
	}
	end = now();
	r.value[0] = (uint64_t)(end - start);
	report(&r);
}

/* Next order of the judge; the end of the socket is the end of the work. */
static void
next(struct krun_command *c)
{
	ssize_t n;

	do
		n = read(sock, c, sizeof *c);
	while (n < 0 && errno == EINTR);
	if (n != sizeof *c)
		_exit(n == 0 ? 0 : 122);
}

int
main(int argc, char **argv)
{
	struct krun_report hello = { .what = KRUN_HELLO };
	struct krun_command c;
	void *entry = NULL;
	ffi_cif cif;

	if (argc != 6)
		return 124;
	sock = atoi(argv[2]);
	prctl(PR_SET_DUMPABLE, 0);
	if (read(sock, &setup, sizeof setup) != sizeof setup || setup.version != KRUN_VERSION ||
	    setup.arg_count > KRUN_ARGS)
		return 123;
	inputs = map(atoi(argv[3]), setup.input_bytes, PROT_READ);
	outputs = map(atoi(argv[4]), setup.output_bytes, PROT_READ | PROT_WRITE);
	table = map(atoi(argv[5]), setup.table_bytes, PROT_READ);
	pin();
	describe(&cif);
	catch_faults();
	if (ksandbox_seal() < 0)
		fail("sealing", errno);
	hello.value[0] = (uint64_t)(uintptr_t)inputs;
	hello.value[1] = (uint64_t)(uintptr_t)outputs;
	report(&hello);
	for (;;) {
		next(&c);
		if (c.order == KRUN_LOAD)
			entry = load(argv[1]);
		else if (c.calls == 0 || entry)
			go(&cif, entry, &c);
	}
}
