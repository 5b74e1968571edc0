/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krun: what kharness (the judge) and krun-c (the process that the candidate runs in) say to each
 * other, over a socket of sequenced packets; every message is one struct. Tensors never pass here:
 * they lie in two shared memory files, of which the runner gets the one with inputs open for
 * reading only. The judge believes nothing it reads from the runner beyond what it can check
 * itself. Command line: krun-c LIBRARY SOCKET INPUTS OUTPUTS ROWS, the last four being numbers of
 * descriptors; krun-gpu has the backend after them, and inputs and outputs are memory of the
 * device.
 *
 * ROWS is a pipe that holds the arguments of the calls of a go, one row of arg_count words for each
 * call. The runner reads a row just before its call, so what is called next stays in the kernel
 * until its turn: a candidate that looks around in its process finds no other call's arguments.
 * Its inputs are in memory before that. In some goes, whose time does not count, krun-c can read
 * those of the call under way alone (SLOT).
 *
 * Where a candidate is device code alone (krun-opencl), the judge says what is launched: names of
 * kernels in the setup, sizes with every go; and where the device has memory of its own, tensors
 * are taken there before the clock runs (STAGE), and results are fetched after it has stopped
 * (COLLECT).
 */
#ifndef KRUN_H
#define KRUN_H

#include "kutil.h"

enum { KRUN_VERSION = 6, KRUN_ARGS = 48, KRUN_LAUNCHES = 8, KRUN_CPUS = 1024 };

enum krun_kind { KRUN_IN, KRUN_OUT, KRUN_I32, KRUN_I64, KRUN_F32, KRUN_F64 };

/* Judge to runner, first. */
struct krun_setup {
	uint32_t version, arg_count;
	uint8_t kind[KRUN_ARGS];
	uint64_t input_bytes, output_bytes; /* of the memory files */
	/* krun-gpu: of the device, for the candidate's own use */
	uint64_t memory_bytes;
	uint32_t device;               /* krun-gpu: its number */
	uint64_t cpus[KRUN_CPUS / 64]; /* bit mask of the CPUs to run on */
	char entry[128];               /* function to call */
	/* kernels to launch instead of the function; 0: there is a function */
	uint32_t launches;
	uint32_t copies; /* krun-opencl: the device has memory of its own */
	uint32_t alone;  /* in a process namespace of its own */
	char kernel[KRUN_LAUNCHES][64];
};

/*
 * Runner to judge. HELLO: started, memory mapped, sealed; VALUE[0], VALUE[1] are where inputs and
 * outputs lie. LOADED: the function was found. DONE: NONCE is that of the go, VALUE[0] the runner's
 * own nanoseconds, VALUE[1] (krun-gpu) those until the last call's entry had returned. FAULT:
 * VALUE[0] signal, VALUE[1] address.
 */
enum krun_what { KRUN_HELLO, KRUN_LOADED, KRUN_DONE, KRUN_FAULT, KRUN_FAILED, KRUN_AWAKE };

struct krun_report {
	uint32_t what, error; /* KRUN_FAILED: an errno, or 0 */
	uint64_t nonce;
	uint64_t value[2];
	char text[256]; /* KRUN_FAILED */
};

/*
 * Judge to runner. LOAD the library, or make CALLS calls, each with the next row of the pipe; a
 * word of a row is an offset into inputs or outputs, or holds a value's bytes from its first byte
 * on. A runner that has loaded nothing reads the rows and makes no call: that is what a go costs by
 * itself. READY: watch for the next order without falling asleep. STAGE and COLLECT: copy the
 * arenas to a device with memory of its own before a go, and back behind it. These three are
 * answered by AWAKE.
 */
enum krun_order { KRUN_LOAD, KRUN_GO, KRUN_READY, KRUN_STAGE, KRUN_COLLECT };

/*
 * One launch: blocks, threads of a block, bytes that a block shares beyond what the kernel
 * declares.
 */
struct krun_launch {
	uint32_t grid[3], block[3], shared;
};

struct krun_command {
	uint32_t order, calls;
	uint64_t nonce;
	/* krun-c: the inputs of a call lie between two multiples of this; 0: all can be read */
	uint64_t slot;
	struct krun_launch launch[KRUN_LAUNCHES];
};

#endif
