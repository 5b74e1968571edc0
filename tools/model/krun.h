/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krun: the protocol between kharness (the judge) and krun-c (the process that the candidate runs
 * in), over a socket of sequenced packets; every message is one struct. Tensors are never sent:
 * they are in two shared memory files, and the runner gets the one with inputs open for reading
 * only. The judge believes nothing from the runner that it cannot check itself. Command line:
 * krun-c LIBRARY SOCKET ROWS STARTS, the last three being descriptor numbers; krun-gpu takes the
 * backend as another argument, and its inputs and outputs are device memory.
 *
 * ROWS is a pipe that holds the arguments of the calls of a batch (GO), one row for each call. The
 * runner reads a row just before its call, so the next calls stay in the kernel until their turn: a
 * candidate that looks around in its process finds no other call's arguments. Its inputs are in
 * memory before that. In some batches, which are not timed, krun-c can touch only the inputs and
 * outputs of the current call, and none when the last one has returned. The last words of a row say
 * so, and are gone when the call begins, because a candidate that found them would cheat only in
 * the other batches.
 *
 * STARTS is a socket on which krun-c says when the calls of a batch began: one number, in
 * nanoseconds of its clock. In its memory a candidate could change it.
 *
 * If a candidate consists of device code only (krun-opencl), the judge says what is launched: names
 * of kernels in the setup, sizes with every batch. If the device has memory of its own, tensors are
 * copied there before the clock starts (STAGE), and results are copied back after it has stopped
 * (COLLECT).
 */
#pragma once

#include "kutil.h"

enum { KRUN_VERSION = 13, KRUN_ARGS = 48, KRUN_SLOTS = 2, KRUN_LAUNCHES = 8, KRUN_CPUS = 1024 };

/* Tensors come first: their kinds are also the indices of their arenas, in and out. */
enum krun_kind {
	KRUN_IN,
	KRUN_OUT,
	KRUN_TENSORS,
	KRUN_I32 = KRUN_TENSORS,
	KRUN_I64,
	KRUN_F32,
	KRUN_F64
};

/* Judge to runner, the first message, with the descriptors of inputs and outputs. */
struct krun_setup {
	uint32_t version, arg_count;
	uint8_t kind[KRUN_ARGS];
	uint64_t input_bytes, output_bytes; /* sizes of the memory files */
	/* krun-gpu: device memory for the candidate's own use */
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
 * Runner to judge. HELLO: started, memory mapped, sealed; VALUE[0], VALUE[1] are the addresses of
 * inputs and outputs. LOADED: the function was found. DONE: NONCE is that of the batch, VALUE[0]
 * the runner's own nanoseconds (krun-c: when the calls ended), VALUE[1] (krun-gpu) those until the
 * last call's entry had returned. FAULT: VALUE[0] signal, VALUE[1] address.
 */
enum krun_what { KRUN_HELLO, KRUN_LOADED, KRUN_DONE, KRUN_FAULT, KRUN_FAILED, KRUN_AWAKE };

struct krun_report {
	uint32_t what, error; /* KRUN_FAILED: an errno, or 0 */
	uint64_t nonce;
	uint64_t value[2];
	char text[256]; /* KRUN_FAILED */
};

/*
 * Judge to runner. LOAD: load the library. GO: make CALLS calls, each with the next row of the
 * pipe: arg_count words, each an offset into inputs or outputs, or a value's bytes from the first
 * on; then KRUN_SLOTS more. These are for krun-c: only inputs between two multiples of the first
 * and outputs between two multiples of the second can be touched; 0: all can. A batch without calls
 * makes all accessible again. A runner that has loaded nothing reads the rows and makes no call:
 * this measures the cost of the batch itself. READY: wait for the next command by spinning. STAGE
 * and COLLECT: copy the arenas to a device with memory of its own before a batch, and back after
 * it. The reply to these three is AWAKE.
 */
enum krun_order { KRUN_LOAD, KRUN_GO, KRUN_READY, KRUN_STAGE, KRUN_COLLECT };

/*
 * One launch: blocks, threads per block, bytes that a block shares beyond what the kernel declares.
 */
struct krun_launch {
	uint32_t grid[3], block[3], shared;
};

struct krun_command {
	uint32_t order, calls;
	uint64_t nonce;
	struct krun_launch launch[KRUN_LAUNCHES];
};
