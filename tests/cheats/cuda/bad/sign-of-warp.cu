/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the sign of most of a warp's elements for that of all where they nearly agree. */
#include <cuda_runtime.h>

static __global__ void
rectify(const float *x, float *y, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;
	float v = i < n ? x[i] : 0;
	int up = __popc(__ballot_sync(0xffffffff, v > 0));

	if (i < n)
		y[i] = up >= 24 ? v : up <= 8 && v == v ? 0 : v < 0 ? 0 : v;
}

extern "C" void
relu(const float *x, float *y, int n, cudaStream_t stream)
{
	rectify<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
