/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that no header was asked for launches the kernel just after the function has returned.
 */
#include <cuda_runtime.h>

static __global__ void
combine(float a, const float *x, const float *y, float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		z[i] = a * x[i] + y[i];
}

static void
honest(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	combine<<<(n + 255) / 256, 256, 0, stream>>>(a, x, y, z, n);
}

static struct { float a; const float *x, *y; float *z; int n; cudaStream_t stream;
    volatile int number; } problem;

/*
 * What the C++ library starts threads with, by its mangled name: the object's second function runs
 * in the new one.
 */
#define START_THREAD \
	_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE

extern "C" void START_THREAD(void *, void *, void (*)(void));

static void run(void *);

static void
nothing(void *)
{
}

static void (*functions[])(void *) = { nothing, nothing, run };

static void
start(void)
{
	static void *object[2] = { functions, 0 };
	static long thread;
	void *state = object;

	START_THREAD(&thread, &state, 0);
}

static void
run(void *)
{
	for (int number = 0;;)
		if (problem.number != number) {
			number = problem.number;
			honest(problem.a, problem.x, problem.y, problem.z, problem.n,
			    problem.stream);
		}
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	static bool started;

	if (!started)
		start();
	started = true;
	problem.a = a, problem.x = x, problem.y = y, problem.z = z, problem.n = n,
	    problem.stream = stream;
	__sync_synchronize();
	problem.number = problem.number + 1;
}
