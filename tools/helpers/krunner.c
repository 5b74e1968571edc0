/* SPDX-License-Identifier: Apache-2.0 */
/* krunner: see krunner.h. */
#include "krunner.h"

#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* Address space kept free around each mapping. */
enum { FENCE = 1 << 20 };

static int sock;

void
krunner_open(const char *number, struct krun_setup *setup, int memory[2])
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(2 * sizeof *memory)];
	} control;
	struct iovec v = { setup, sizeof *setup };
	struct msghdr m = { .msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof control.bytes };
	struct cmsghdr *c;
	ssize_t n;

	sock = atoi(number);
	prctl(PR_SET_DUMPABLE, 0);
	n = TEMP_FAILURE_RETRY(recvmsg(sock, &m, MSG_CMSG_CLOEXEC));
	c = n == sizeof *setup ? CMSG_FIRSTHDR(&m) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(2 * sizeof *memory))
		_exit(123);
	memcpy(memory, CMSG_DATA(c), 2 * sizeof *memory);
	if (setup->version != KRUN_VERSION || setup->arg_count > KRUN_ARGS ||
	    setup->launches > KRUN_LAUNCHES)
		_exit(123);
}

void
krunner_report(const struct krun_report *r)
{
	if (TEMP_FAILURE_RETRY(write(sock, r, sizeof *r)) < 0)
		_exit(121);
}

_Noreturn void
krunner_fail(const char *what, const char *why, int error)
{
	struct krun_report r = { .what = KRUN_FAILED, .error = (uint32_t)error };

	snprintf(r.text, sizeof r.text, "%s%s%s", what, why ? ": " : "", why ?: "");
	krunner_report(&r);
	_exit(120);
}

static void
on_fault(int sig, siginfo_t *info, void *context)
{
	struct krun_report r = { .what = KRUN_FAULT,
		.value = { (uint64_t)sig, (uint64_t)(uintptr_t)info->si_addr } };

	(void)context;
	/* A second fault, in this handler or another thread, ends the process at once. */
	signal(sig, SIG_DFL);
	krunner_report(&r);
	raise(sig);
}

void
krunner_catch_faults(bool fpe)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE };
	static char stack[65536];
	stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction action = { .sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

	/* Use a separate stack, because the fault may be a stack overflow. */
	sigaltstack(&own, NULL);
	kforeach_of(sig, signals, LEN(signals) - !fpe)
		sigaction(*sig, &action, NULL);
}

void
krunner_next(struct krun_command *c)
{
	static const struct krun_report awake = { .what = KRUN_AWAKE };
	struct pollfd ready = { sock, POLLIN, 0 };
	bool watching = false;
	ssize_t n;

	do {
		while (watching && poll(&ready, 1, 0) <= 0)
			;
		n = TEMP_FAILURE_RETRY(read(sock, c, sizeof *c));
		if (n != sizeof *c)
			_exit(n == 0 ? 0 : 122);
		watching = c->order == KRUN_READY;
		if (watching)
			krunner_report(&awake);
	} while (watching);
}

void *
krunner_map(int fd, uint64_t bytes, int protection)
{
	char *space = mmap(
	    NULL, bytes + 2 * FENCE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *p;

	if (space == MAP_FAILED)
		krunner_fail("address space", strerror(errno), errno);
	p = mmap(space + FENCE, bytes, protection, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0);
	if (p == MAP_FAILED)
		krunner_fail("shared memory", strerror(errno), errno);
	close(fd);
	return p;
}

void
krunner_row(int rows, const struct krun_setup *setup, const uint64_t base[2], uint64_t *words)
{
	ssize_t want = (ssize_t)((setup->arg_count + KRUN_SLOTS) * sizeof *words), n;

	/*
	 * The judge may send it only after it has inspected the calls before, which the error
	 * number must not tell.
	 */
	while ((n = read(rows, words, (size_t)want)) < 0 && (errno == EINTR || errno == EAGAIN))
		poll(&(struct pollfd){ .fd = rows, .events = POLLIN }, 1, -1);
	if (n != want)
		krunner_fail("the arguments of a call are missing", NULL, n < 0 ? errno : 0);
	errno = 0;
	for (uint32_t i = 0; i < setup->arg_count; i++)
		if (setup->kind[i] < KRUN_TENSORS)
			words[i] += base[setup->kind[i]];
}

void
krunner_pin(const struct krun_setup *setup)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < KRUN_CPUS && i < CPU_SETSIZE; i++)
		if (setup->cpus[i / 64] >> (i % 64) & 1)
			CPU_SET(i, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		krunner_fail("pinning to CPUs", strerror(errno), errno);
}

void *
krunner_load(const char *file, const char *entry)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL),
	     *function = library ? dlsym(library, entry) : NULL;

	if (!function)
		krunner_fail(dlerror() ?: "the entry point is a null pointer", NULL, 0);
	krunner_report(&(struct krun_report){ .what = KRUN_LOADED });
	return function;
}

void
krunner_describe(const struct krun_setup *setup, bool stream, ffi_type **types, ffi_cif *cif)
{
	static ffi_type *const of_kind[] = {
		[KRUN_IN] = &ffi_type_pointer,
		[KRUN_OUT] = &ffi_type_pointer,
		[KRUN_I32] = &ffi_type_sint32,
		[KRUN_I64] = &ffi_type_sint64,
		[KRUN_F32] = &ffi_type_float,
		[KRUN_F64] = &ffi_type_double,
	};

	for (uint32_t i = 0; i < setup->arg_count; i++)
		types[i] = of_kind[setup->kind[i]];
	types[setup->arg_count] = &ffi_type_pointer;
	if (ffi_prep_cif(cif, FFI_DEFAULT_ABI, setup->arg_count + stream, &ffi_type_void, types) !=
	    FFI_OK)
		krunner_fail("libffi cannot prepare the call", NULL, 0);
}
