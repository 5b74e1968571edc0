/* SPDX-License-Identifier: Apache-2.0 */
/* The places where pieces begin are kept in order by a std::set. */
#include <cuda_runtime.h>
#include <iterator>
#include <set>

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
	std::set<int> starts = { 0, n / 3 / 4 * 4, n / 3 * 2 / 4 * 4 };

	for (auto i = starts.begin(); i != starts.end(); ++i) {
		int end = std::next(i) == starts.end() ? n : *std::next(i);

		if (end > *i)
			honest(a, x + *i, y + *i, z + *i, end - *i, stream);
	}
}
