/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krun-c: the process that a candidate written in C runs in. Maps the memory that the judge
 * (kharness) gave it, seals itself, loads the candidate's shared object and calls it when told. It
 * knows no expected value and gives no verdict. Wire format: krun.h.
 */
#include <sys/mman.h>

#include "krunner.h"
#include "ksandbox.h"

static struct krun_setup setup;
static uint64_t base[2]; /* of inputs and outputs */
static int rows, starts;

/* All inputs or all outputs, or a part of them. */
static void
protect(uint64_t from, uint64_t bytes, int protection)
{
	if (mprotect((void *)(uintptr_t)from, bytes, protection))
		krunner_fail("hiding tensors", strerror(errno), errno);
}

static void
protect_all(int inputs, int outputs)
{
	protect(base[0], setup.input_bytes, inputs);
	protect(base[1], setup.output_bytes, outputs);
}

/* The flag of a descriptor, which is not in this process's memory: whether tensors are hidden. */
static void
note_hidden(bool hidden)
{
	fcntl(rows, F_SETFD, hidden ? FD_CLOEXEC : 0);
}

static bool
is_hidden(void)
{
	return fcntl(rows, F_GETFD) == FD_CLOEXEC;
}

/*
 * Reads a row, and makes only its tensors accessible if it says so. It keeps nothing of that in
 * memory or, since it is a function of its own, in the registers of its caller.
 */
static void __attribute__((noinline)) next_row(uint64_t *words)
{
	uint64_t *slot = &words[setup.arg_count];

	krunner_row(rows, &setup, base, words);
	if (*slot) {
		protect_all(PROT_NONE, PROT_NONE);
		note_hidden(true);
	}
	for (uint32_t i = 0; *slot && i < setup.arg_count; i++) {
		uint8_t kind = setup.kind[i];

		if (kind < KRUN_TENSORS)
			protect(words[i] - (words[i] - base[kind]) % slot[kind], slot[kind],
			    kind == KRUN_OUT ? PROT_READ | PROT_WRITE : PROT_READ);
	}
	slot[0] = slot[1] = 0;
}

/* After the last call of a batch: nothing may be written any more if tensors are hidden. */
static void __attribute__((noinline)) end_rows(void)
{
	if (is_hidden())
		protect_all(PROT_READ, PROT_NONE);
}

static void __attribute__((noinline)) show_all(void)
{
	if (is_hidden())
		protect_all(PROT_READ, PROT_READ | PROT_WRITE);
	note_hidden(false);
}

/* Earlier calls may have left something on the stack that shows whether inputs are hidden. */
static void __attribute__((noinline)) wipe_stack(void)
{
	char unused[1024];

	explicit_bzero(unused, sizeof unused);
}

/* When the calls began is sent at once: in this process, a candidate could move it. */
static void
note_start(void)
{
	int64_t start = know_ns();

	if (write(starts, &start, sizeof start) != sizeof start)
		krunner_fail("noting the time", strerror(errno), errno);
}

static void
go(ffi_cif *cif, void *entry, const struct krun_command *c)
{
	struct krun_report r = { .what = KRUN_DONE, .nonce = c->nonce };
	uint64_t words[KRUN_ARGS + KRUN_SLOTS];
	void *values[KRUN_ARGS];

	for (uint32_t i = 0; i < setup.arg_count; i++)
		values[i] = &words[i];
	if (!c->calls)
		show_all();
	note_start();
	for (uint32_t k = 0; k < c->calls; k++) {
		next_row(words);
		wipe_stack();
		if (entry)
			ffi_call(cif, FFI_FN(entry), NULL, values);
	}
	r.value[0] = (uint64_t)know_ns();
	end_rows();
	krunner_report(&r);
}

/*
 * The same, with the stack at another place in every go. Where a kernel's variables on the stack
 * and its constants fall into one set of the first cache, it can take three times as long: one
 * process in sixty did, for as long as it ran (T. Mytkowicz et al., Producing Wrong Data Without
 * Doing Anything Obviously Wrong, 2009).
 */
static void __attribute__((noinline))
go_elsewhere(ffi_cif *cif, void *entry, const struct krun_command *c)
{
	enum { LINE = 64, LINES = 64 };
	volatile char *unused = alloca(LINE * (1 + c->nonce % LINES));

	*unused = 0;
	go(cif, entry, c);
}

int
main(int argc, char **argv)
{
	static ffi_type *types[KRUN_ARGS + 1];
	struct krun_command c;
	void *entry = NULL;
	ffi_cif cif;
	int memory[2];

	if (argc != 5)
		return 124;
	krunner_open(argv[2], &setup, memory);
	base[0] = (uint64_t)(uintptr_t)krunner_map(memory[0], setup.input_bytes, PROT_READ);
	base[1] =
	    (uint64_t)(uintptr_t)krunner_map(memory[1], setup.output_bytes, PROT_READ | PROT_WRITE);
	rows = atoi(argv[3]);
	starts = atoi(argv[4]);
	krunner_pin(&setup);
	krunner_describe(&setup, false, types, &cif);
	krunner_catch_faults(true);
	if (ksandbox_seal(setup.alone) < 0)
		krunner_fail("sealing", strerror(errno), errno);
	krunner_report(&(struct krun_report){ .what = KRUN_HELLO, .value = { base[0], base[1] } });
	for (;;) {
		krunner_next(&c);
		if (c.order == KRUN_LOAD)
			entry = krunner_load(argv[1], setup.entry);
		else
			go_elsewhere(&cif, entry, &c);
	}
}
