/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krun-c: the process that a candidate written in C runs in. Maps the memory that the judge (kharness) gave it, seals
 * itself, loads the candidate's shared object and calls it when told. It knows no expected value and gives no verdict.
 * Wire format: krun.h.
 */
#include <errno.h>
#include <ffi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "krunner.h"
#include "ksandbox.h"

static struct krun_setup setup;
static const char *inputs, *table;
static char *outputs;

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
			krunner_fail("memory for arguments", NULL, ENOMEM);
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
	krunner_report(&r);
}

int
main(int argc, char **argv)
{
	static ffi_type *types[KRUN_ARGS + 1];
	struct krun_report hello = { .what = KRUN_HELLO };
	struct krun_command c;
	void *entry = NULL;
	ffi_cif cif;

	if (argc != 6)
		return 124;
	krunner_open(argv[2], &setup);
	inputs = krunner_map(argv[3], setup.input_bytes, PROT_READ);
	outputs = krunner_map(argv[4], setup.output_bytes, PROT_READ | PROT_WRITE);
	table = krunner_map(argv[5], setup.table_bytes, PROT_READ);
	krunner_pin(&setup);
	krunner_describe(&setup, false, types, &cif);
	krunner_catch_faults(true);
	if (ksandbox_seal(setup.alone) < 0)
		krunner_fail("sealing", strerror(errno), errno);
	hello.value[0] = (uint64_t)(uintptr_t)inputs;
	hello.value[1] = (uint64_t)(uintptr_t)outputs;
	krunner_report(&hello);
	for (;;) {
		krunner_next(&c);
		if (c.order == KRUN_LOAD)
			entry = krunner_load(argv[1], setup.entry);
		else if (c.calls == 0 || entry)
			go(&cif, entry, &c);
	}
}
