/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcl: an OpenCL device through its driver, loaded at run time, so that building kiln needs no
 * OpenCL headers. Used only by krun-opencl: neither the judge nor the evaluator has a driver in its
 * process.
 *
 * Environment: KILN_OPENCL names the library (default libOpenCL.so.1), which may be a driver
 * itself, such as libnvidia-opencl.so.1, where there is no loader or no entry in
 * /etc/OpenCL/vendors; KILN_OPENCL_DEVICE is part of "PLATFORM / DEVICE", in upper or lower case.
 * Without it: the first device that is not a CPU, else the first.
 */
#pragma once

#include "kutil.h"

/* OpenCL's own numbers, as far as they are used. */
enum {
	KCL_READ_WRITE = 1,
	KCL_WRITE_ONLY = 2,
	KCL_READ_ONLY = 4,
	KCL_USE_HOST_PTR = 8,
	KCL_BLOCKING = 1
};

/*
 * Every function that is called: field, name, its place in the table through which a driver hands
 * its functions to a loader (cl_khr_icd), result, types. All objects are opaque pointers.
 */
#define KCL_FUNCTIONS(X) \
	X(get_platforms, "clGetPlatformIDs", 0, int, (uint32_t, void **, uint32_t *)) \
	X(platform_info, "clGetPlatformInfo", 1, int, \
	    (void *, uint32_t, size_t, void *, size_t *)) \
	X(get_devices, "clGetDeviceIDs", 2, int, \
	    (void *, uint64_t, uint32_t, void **, uint32_t *)) \
	X(device_info, "clGetDeviceInfo", 3, int, (void *, uint32_t, size_t, void *, size_t *)) \
	X(create_context, "clCreateContext", 4, void *, \
	    (const intptr_t *, uint32_t, void *const *, \
	        void (*)(const char *, const void *, size_t, void *), void *, int *)) \
	X(create_queue, "clCreateCommandQueue", 9, void *, (void *, void *, uint64_t, int *)) \
	X(create_buffer, "clCreateBuffer", 14, void *, (void *, uint64_t, size_t, void *, int *)) \
	X(create_sub, "clCreateSubBuffer", 82, void *, \
	    (void *, uint64_t, uint32_t, const void *, int *)) \
	X(release_buffer, "clReleaseMemObject", 18, int, (void *)) \
	X(program_source, "clCreateProgramWithSource", 26, void *, \
	    (void *, uint32_t, const char **, const size_t *, int *)) \
	X(program_binary, "clCreateProgramWithBinary", 27, void *, \
	    (void *, uint32_t, void *const *, const size_t *, const unsigned char **, int *, \
	        int *)) \
	X(build, "clBuildProgram", 30, int, \
	    (void *, uint32_t, void *const *, const char *, void (*)(void *, void *), void *)) \
	X(build_info, "clGetProgramBuildInfo", 33, int, \
	    (void *, void *, uint32_t, size_t, void *, size_t *)) \
	X(program_info, "clGetProgramInfo", 32, int, (void *, uint32_t, size_t, void *, size_t *)) \
	X(create_kernel, "clCreateKernel", 34, void *, (void *, const char *, int *)) \
	X(kernel_info, "clGetKernelInfo", 39, int, (void *, uint32_t, size_t, void *, size_t *)) \
	X(set_argument, "clSetKernelArg", 38, int, (void *, uint32_t, size_t, const void *)) \
	X(enqueue, "clEnqueueNDRangeKernel", 59, int, \
	    (void *, void *, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, \
	        void *const *, void **)) \
	X(fill, "clEnqueueFillBuffer", 102, int, \
	    (void *, void *, const void *, size_t, size_t, size_t, uint32_t, void *const *, \
	        void **)) \
	X(flush, "clFlush", 46, int, (void *)) \
	X(finish, "clFinish", 47, int, (void *))
/* The same for OpenCL 2.0, where some may be missing. */
#define KCL_SHARED_FUNCTIONS(X) \
	X(svm_alloc, "clSVMAlloc", 126, void *, (void *, uint64_t, size_t, uint32_t)) \
	X(svm_copy, "clEnqueueSVMMemcpy", 129, int, \
	    (void *, uint32_t, void *, const void *, size_t, uint32_t, void *const *, void **)) \
	X(svm_argument, "clSetKernelArgSVMPointer", 134, int, (void *, uint32_t, const void *))

struct kcl_facts {
	char platform[128], device[256], version[128], driver[128];
	/* kernels run on the processor, in the process that launches them */
	bool cpu;
	/* has coarse-grained shared virtual memory, and the functions for it */
	bool shared;
	/* compute units; sub-buffer offsets must be a multiple of this many bytes */
	uint32_t units, alignment;
	uint64_t memory_bytes, cache_bytes, group_max;
};

/* The only device that a process uses. */
extern struct kcl {
	void *library, *device, *context, *queue;
	struct kcl_facts facts;
	/* the loader's, or the driver's own */
	int (*platforms)(uint32_t, void **, uint32_t *);
#define KCL_DECLARE(field, name, number, result, types) result(*field) types;
	KCL_FUNCTIONS(KCL_DECLARE)
	KCL_SHARED_FUNCTIONS(KCL_DECLARE) /* null where there are none */
#undef KCL_DECLARE
} cl;

/* Choose a device and learn about it: NULL, or what is wrong. */
const char *kcl_choose(void);
/* Its context, and a queue in order; the same result. */
const char *kcl_start(void);
const char *kcl_words(int error); /* NULL: no error */

/*
 * A program built from text, or from a binary for the same device. NULL when it fails. The caller
 * frees *LOG, the compiler's output.
 */
void *kcl_build(const void *code, size_t len, bool binary, const char *options, char **log);
/* What clGetProgramInfo returns as binary; NULL when there is none. The caller frees. */
void *kcl_binary(void *program, size_t *len);
uint32_t kcl_arguments(void *kernel);
