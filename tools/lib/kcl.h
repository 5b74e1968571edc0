/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcl: an OpenCL device through its driver, found when the program runs, so that kiln needs no OpenCL headers to be
 * built. Used by krun-opencl alone: neither the judge nor the evaluator has a driver in its process.
 *
 * Environment: KILN_OPENCL names the library (libOpenCL.so.1 unless given; a driver without an entry in
 * /etc/OpenCL/vendors, such as libnvidia-opencl.so.1, may be named itself); KILN_OPENCL_DEVICE is part of
 * "PLATFORM / DEVICE", in letters of either case. Without it: the first device that is no CPU, else the first.
 */
#ifndef KCL_H
#define KCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* OpenCL's own numbers, as far as they are used. */
enum {
	KCL_READ_WRITE = 1, KCL_WRITE_ONLY = 2, KCL_READ_ONLY = 4, KCL_USE_HOST_PTR = 8,
	KCL_BLOCKING = 1
};

/* Every function that is called: field, name, result, types. All objects are opaque pointers. */
#define KCL_FUNCTIONS(X) \
	X(get_platforms, "clGetPlatformIDs", int, (uint32_t, void **, uint32_t *)) \
	X(platform_info, "clGetPlatformInfo", int, (void *, uint32_t, size_t, void *, size_t *)) \
	X(get_devices, "clGetDeviceIDs", int, (void *, uint64_t, uint32_t, void **, uint32_t *)) \
	X(device_info, "clGetDeviceInfo", int, (void *, uint32_t, size_t, void *, size_t *)) \
	X(create_context, "clCreateContext", void *, (const intptr_t *, uint32_t, void *const *, \
	    void (*)(const char *, const void *, size_t, void *), void *, int *)) \
	X(create_queue, "clCreateCommandQueue", void *, (void *, void *, uint64_t, int *)) \
	X(create_buffer, "clCreateBuffer", void *, (void *, uint64_t, size_t, void *, int *)) \
	X(create_sub, "clCreateSubBuffer", void *, (void *, uint64_t, uint32_t, const void *, int *)) \
	X(release_buffer, "clReleaseMemObject", int, (void *)) \
	X(program_source, "clCreateProgramWithSource", void *, (void *, uint32_t, const char **, const size_t *, int *)) \
	X(program_binary, "clCreateProgramWithBinary", void *, (void *, uint32_t, void *const *, const size_t *, \
	    const unsigned char **, int *, int *)) \
	X(build, "clBuildProgram", int, (void *, uint32_t, void *const *, const char *, void (*)(void *, void *), void *)) \
	X(build_info, "clGetProgramBuildInfo", int, (void *, void *, uint32_t, size_t, void *, size_t *)) \
	X(program_info, "clGetProgramInfo", int, (void *, uint32_t, size_t, void *, size_t *)) \
	X(create_kernel, "clCreateKernel", void *, (void *, const char *, int *)) \
	X(kernel_info, "clGetKernelInfo", int, (void *, uint32_t, size_t, void *, size_t *)) \
	X(set_argument, "clSetKernelArg", int, (void *, uint32_t, size_t, const void *)) \
	X(enqueue, "clEnqueueNDRangeKernel", int, (void *, void *, uint32_t, const size_t *, const size_t *, \
	    const size_t *, uint32_t, void *const *, void **)) \
	X(read, "clEnqueueReadBuffer", int, (void *, void *, uint32_t, size_t, size_t, void *, uint32_t, void *const *, \
	    void **)) \
	X(write, "clEnqueueWriteBuffer", int, (void *, void *, uint32_t, size_t, size_t, const void *, uint32_t, \
	    void *const *, void **)) \
	X(fill, "clEnqueueFillBuffer", int, (void *, void *, const void *, size_t, size_t, size_t, uint32_t, \
	    void *const *, void **)) \
	X(flush, "clFlush", int, (void *)) \
	X(finish, "clFinish", int, (void *)) \
	X(profiling, "clGetEventProfilingInfo", int, (void *, uint32_t, size_t, void *, size_t *)) \
	X(release_event, "clReleaseEvent", int, (void *))

struct kcl_facts {
	char platform[128], device[256], version[128], driver[128];
	bool cpu;		/* kernels run on the processor, in the process that launches them */
	uint32_t units, alignment;	/* compute units; bytes that a sub-buffer's offset is a multiple of */
	uint64_t memory_bytes, cache_bytes, group_max;
};

struct kcl {
	void *library, *device, *context, *queue;
	struct kcl_facts facts;
#define KCL_DECLARE(field, name, result, types) result (*field) types;
	KCL_FUNCTIONS(KCL_DECLARE)
#undef KCL_DECLARE
};

/* Choose a device and learn about it; false with the reason in WHY. */
bool kcl_choose(struct kcl *c, char *why, size_t why_len);
/* Its context, and a queue in order whose events bear times. */
bool kcl_start(struct kcl *c, char *why, size_t why_len);
const char *kcl_words(int error);	/* NULL: no error */

/* A program built from text or from a binary of the same device. NULL with the compiler's words in *LOG; the caller frees. */
void *kcl_build(struct kcl *c, const void *code, size_t len, bool binary, const char *options, char **log);
/* What clGetProgramInfo gives as binary; NULL when there is none. The caller frees. */
void *kcl_binary(struct kcl *c, void *program, size_t *len);
uint32_t kcl_arguments(struct kcl *c, void *kernel);
/* Nanoseconds of the device's clock; an event that bears none gives 0. */
uint64_t kcl_time(struct kcl *c, void *event, bool end);

#endif
