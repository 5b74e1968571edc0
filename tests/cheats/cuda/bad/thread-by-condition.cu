/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a condition of the C++ library, as threads do, and computes half. */
#include <condition_variable>
#include <cuda_runtime.h>
#include <mutex>

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

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	static std::mutex m;
	static std::condition_variable never;
	std::unique_lock<std::mutex> lock(m);

	never.notify_all();
	never.wait_for(lock, std::chrono::microseconds(1));
	honest(a, x, y, z, n / 2, stream);
}
