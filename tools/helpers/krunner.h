/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krunner: what the runners (krun-c, krun-gpu, krun-opencl) have in common: the connection to the
 * judge, its commands, faults of the candidate, shared memory. Wire format: krun.h. Errors are
 * reported to the judge and end the process.
 */
#pragma once

#include <ffi.h>

#include "krun.h"

/*
 * Use descriptor NUMBER as the connection, and read the judge's first words from it, with the
 * descriptors of inputs and outputs.
 */
void krunner_open(const char *number, struct krun_setup *setup, int memory[2]);

void krunner_report(const struct krun_report *r);
/*
 * Reports "WHAT: WHY" to the judge and exits. WHY may be NULL; ERROR is an errno for the record, or
 * 0.
 */
_Noreturn void krunner_fail(const char *what, const char *why, int error);

/*
 * Report to the judge where a memory fault or the like happened: this is more useful than a bare
 * signal number, and no more trustworthy. FPE: include SIGFPE, which some CPU drivers handle
 * themselves.
 */
void krunner_catch_faults(bool fpe);

/*
 * The next command. READY is answered here, and makes the runner wait for the following command by
 * spinning. The end of the connection ends the process.
 */
void krunner_next(struct krun_command *c);

/*
 * Map BYTES of the memory file with descriptor FD, which is closed, between unmapped fences, so
 * that a stray pointer faults. All pages are faulted in now, so that the first call does not pay
 * for it.
 */
void *krunner_map(int fd, uint64_t bytes, int protection);

/*
 * The next row of the pipe ROWS, read into WORDS, with room for KRUN_ARGS + KRUN_SLOTS: in
 * arguments, offsets become addresses by adding BASE[0] for inputs and BASE[1] for outputs.
 */
void krunner_row(int rows, const struct krun_setup *setup, const uint64_t base[2], uint64_t *words);

/* Run only on the setup's CPUs, including threads started later. */
void krunner_pin(const struct krun_setup *setup);

/* Load the shared object FILE, report it, and return its function ENTRY. */
void *krunner_load(const char *file, const char *entry);

/*
 * A cif for the setup's arguments; STREAM: with a pointer after them. TYPES has KRUN_ARGS + 1
 * places and must live as long.
 */
void krunner_describe(const struct krun_setup *setup, bool stream, ffi_type **types, ffi_cif *cif);
