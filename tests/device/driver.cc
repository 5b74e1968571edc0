/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver whose device is the CPU: judge and runner of a GPU work with it as they do with CUDA's, and candidates are
 * ordinary C. Its only kernels are the judge's. It stands in for the run-time compiler and the run-time library, too, as
 * far as they are called.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <time.h>
#include <sys/mman.h>
#include <utility>
#define _Noreturn [[noreturn]]
#define __device__
#define __global__
/* One block of as many threads as a word has bytes, one after the other. */
static struct { unsigned x; } threadIdx;
static const struct { unsigned x; } blockIdx = { 0 }, blockDim = { 8 }, gridDim = { 1 };
struct ulonglong2 { unsigned long long x, y; };
template <class T, class U> static T bits_of(U u) { T t; memcpy(&t, &u, sizeof t); return t; }
static float __int_as_float(int i) { return bits_of<float>(i); }
static long long __double_as_longlong(double d) { return bits_of<long long>(d); }
static double cospi(double x) { return cos(M_PI * x); }
template <class T> static void atomicMin(T *p, T v) { if (v < *p) *p = v; }
template <class T> static void atomicMax(T *p, T v) { if (v > *p) *p = v; }
template <class T> static void atomicAdd(T *p, T v) { *p += v; }
extern "C" {
#include "ktask.h"
}
#define KDTYPES(X) X(F32) X(F64) X(F16) X(BF16) X(I32) X(I64) X(TF32) X(E4M3) X(E5M2) X(E4M3FNUZ) X(E5M2FNUZ) X(I8) X(I16) X(U8) X(U16) X(U32) X(U64) X(BOOL)
#include "small.h"
#define rule device_rule
#include "device.cu"
#undef rule
template <class... A, size_t... I> static void call_(void (*f)(A...), void **a, std::index_sequence<I...>) { f(*(A *)a[I]...); }
template <class... A> static void call(void (*f)(A...), void **a) { call_(f, a, std::index_sequence_for<A...>{}); }
#define KERNELS(X) X(draw) X(redraw) X(widen) X(perturb) X(words) X(guard) X(guard_check) X(differs) X(exact) X(scale) \
	X(compare) X(worst) X(compare_integers) X(flush) X(nothing)
static const struct { const char *name; void (*run)(void **a); } kernels[] = {
#define KERNEL(k) { "kiln_" #k, [](void **a) { call(kiln_##k, a); } },
	KERNELS(KERNEL)
};
enum { COUNT = sizeof kernels / sizeof *kernels };
typedef uint64_t P;
struct H { int fd; size_t n; };
#define F extern "C" __attribute__((visibility("default")))
F int cuInit(unsigned) { return 0; }
F int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
F int cuDeviceGetCount(int *n) { *n = 1; return 0; }
F int cuDeviceGet(int *d, int) { *d = 0; return 0; }
F int cuDeviceGetName(char *s, int n, int) { snprintf(s, n, "fake"); return 0; }
F int cuDeviceGetUuid_v2(unsigned char *u, int) { memset(u, 7, 16); return 0; }
F int cuDeviceTotalMem_v2(size_t *n, int) { *n = 512 << 20; return 0; }
F int cuDeviceGetAttribute(int *v, int a, int) { *v = a == 75 ? 9 : a == 76 ? 0 : a == 38 ? 1 << 16 : 1; return 0; }
F int cuDevicePrimaryCtxSetFlags_v2(int, unsigned) { return 0; }
F int cuDevicePrimaryCtxRetain(void **c, int) { *c = (void *)1; return 0; }
F int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
F int cuCtxSetCurrent(void *) { return 0; }
F int cuCtxSynchronize(void) { return 0; }
F int cuStreamCreate(void **s, unsigned) { *s = (void *)1; return 0; }
F int cuStreamSynchronize(void *) { return 0; }
F int cuEventCreate(void **e, unsigned) { *e = calloc(1, 16); return 0; }
F int cuEventRecord(void *e, void *) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); *(double *)e = t.tv_sec * 1e3 + t.tv_nsec * 1e-6; return 0; }
F int cuEventElapsedTime(float *ms, void *a, void *b) { *ms = (float)(*(double *)b - *(double *)a); return 0; }
F int cuDeviceGetDefaultMemPool(void **p, int) { *p = (void *)1; return 0; }
F int cuMemPoolCreate(void **p, const void *) { *p = (void *)2; return 0; }
F int cuDeviceSetMemPool(int, void *) { return 0; }
F int cuMemPoolSetAttribute(void *, int, void *) { return 0; }
F int cuMemAllocAsync(P *p, size_t n, void *) { *p = (P)aligned_alloc(256, (n + 255) / 256 * 256); return !*p; }
F int cuMemFreeAsync(P p, void *) { free((void *)p); return 0; }
F int cuMemAlloc_v2(P *p, size_t n) { return cuMemAllocAsync(p, n, 0); }
F int cuMemFree_v2(P p) { free((void *)p); return 0; }
F int cuMemcpyDtoDAsync_v2(P to, P from, size_t n, void *) { memmove((void *)to, (void *)from, n); return 0; }
F int cuMemcpyDtoHAsync_v2(void *to, P from, size_t n, void *) { memcpy(to, (void *)from, n); return 0; }
F int cuMemcpyHtoDAsync_v2(P to, const void *from, size_t n, void *) { memcpy((void *)to, from, n); return 0; }
F int cuMemsetD8Async(P p, unsigned char v, size_t n, void *) { memset((void *)p, v, n); return 0; }
F int cuMemGetAllocationGranularity(size_t *n, const void *, int) { *n = 4096; return 0; }
F int cuMemCreate(P *h, size_t n, const void *, uint64_t) { H *x = new H{ memfd_create("fake", MFD_CLOEXEC), n }; if (ftruncate(x->fd, n)) return 1; *h = (P)x; return 0; }
F int cuMemExportToShareableHandle(int *fd, P h, int, uint64_t) { *fd = dup(((H *)h)->fd); return *fd < 0; }
F int cuMemImportFromShareableHandle(P *h, void *fd, int) { int f = dup((int)(intptr_t)fd); if (f < 0) return 1; *h = (P) new H{ f, 0 }; return 0; }
F int cuMemAddressReserve(P *p, size_t n, size_t, P, uint64_t) { void *m = mmap(0, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); *p = (P)m; return m == MAP_FAILED; }
F int cuMemAddressFree(P p, size_t n) { return munmap((void *)p, n) != 0; }
F int cuMemMap(P p, size_t n, size_t, P h, uint64_t) { return mmap((void *)p, n, PROT_NONE, MAP_SHARED | MAP_FIXED, ((H *)h)->fd, 0) == MAP_FAILED; }
F int cuMemUnmap(P p, size_t n) { return mmap((void *)p, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED; }
F int cuMemSetAccess(P p, size_t n, const void *a, size_t) { return mprotect((void *)p, n, ((const int *)a)[2] == 1 ? PROT_READ : PROT_READ | PROT_WRITE) != 0; }
F int cuMemRelease(P h) { close(((H *)h)->fd); delete (H *)h; return 0; }
F int cuModuleLoadData(void **m, const void *) { *m = (void *)1; return 0; }
F int cuModuleGetFunction(void **f, void *, const char *n) { for (size_t i = 0; i < COUNT; i++) if (!strcmp(kernels[i].name, n)) { *f = (void *)&kernels[i]; return 0; } return 1; }
F int cuFuncSetAttribute(void *, int, int) { return 0; }
F int cuLaunchKernel(void *f, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **a, void **) { for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++) ((decltype(&kernels[0]))f)->run(a); return 0; }
F int cuProfilerStart(void) { return 0; }
F int cuProfilerStop(void) { return 0; }
F int cuGetErrorString(int, const char **s) { *s = "fake error"; return 0; }

/* The run-time compiler. */
F int nvrtcVersion(int *a, int *b) { *a = 13; *b = 0; return 0; }
F const char *nvrtcGetErrorString(int) { return "fake error"; }
F int nvrtcCreateProgram(void **p, const char *, const char *, int, const char *const *, const char *const *) { *p = (void *)1; return 0; }
F int nvrtcCompileProgram(void *, int, const char *const *) { return 0; }
F int nvrtcGetProgramLogSize(void *, size_t *n) { *n = 1; return 0; }
F int nvrtcGetProgramLog(void *, char *t) { *t = 0; return 0; }
F int nvrtcGetCUBINSize(void *, size_t *n) { *n = 5; return 0; }
F int nvrtcGetCUBIN(void *, char *t) { memcpy(t, "fake", 5); return 0; }
F int nvrtcDestroyProgram(void **) { return 0; }

/* The run-time library. */
F int cudaSetDevice(int) { return 0; }
F int cudaFree(void *) { return 0; }
F int cudaGetLastError(void) { return 0; }
F const char *cudaGetErrorString(int) { return "fake error"; }
