/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krunner: what the runners (krun-c, krun-gpu, krun-opencl) have in common: the connection to the
 * judge, its orders, faults of the candidate, shared memory. Wire format: krun.h. What goes wrong
 * is told to the judge and ends the process.
 */
#ifndef KRUNNER_H
#define KRUNNER_H

#include <ffi.h>

#include "krun.h"

/* Take descriptor NUMBER as the connection and read the judge's first words from it. */
void krunner_open(const char *number, struct krun_setup *setup);

void krunner_report(const struct krun_report *r);
/*
 * "WHAT: WHY" to the judge, and the end. WHY may be NULL; ERROR is an errno for the record, or 0.
 */
_Noreturn void krunner_fail(const char *what, const char *why, int error);

/*
 * Tell the judge where a memory fault and the like happened: better than a bare signal number, and
 * worth no more trust than that. FPE: SIGFPE too, which some drivers for CPUs handle themselves.
 */
void krunner_catch_faults(bool fpe);

/*
 * The next order. READY is answered here: the next one is then watched for without falling asleep.
 * The end of the connection is the end.
 */
void krunner_next(struct krun_command *c);

/*
 * Map BYTES of the memory file with descriptor NUMBER, which is closed, between fences, so that a
 * stray pointer meets nothing. All pages are made present now, lest the first call pays for it.
 */
void *krunner_map(const char *number, uint64_t bytes, int protection);

/*
 * The arguments of the next call, read from the pipe ROWS into WORDS: offsets become addresses by
 * adding BASE[0] for inputs and BASE[1] for outputs.
 */
void krunner_row(int rows, const struct krun_setup *setup, const uint64_t base[2], uint64_t *words);

/* Run on the setup's CPUs only, threads to come included. */
void krunner_pin(const struct krun_setup *setup);

/* Load the shared object FILE, report so, and return its function ENTRY. */
void *krunner_load(const char *file, const char *entry);

/*
 * A cif for the setup's arguments; STREAM: a pointer behind them. TYPES has KRUN_ARGS + 1 places
 * and must live as long.
 */
void krunner_describe(const struct krun_setup *setup, bool stream, ffi_type **types, ffi_cif *cif);

#endif
