/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own copy. */
#include <cuda_runtime.h>

extern "C" void
copy(const float *x, float *y, long long count, cudaStream_t stream)
{
	cudaMemcpyAsync(y, x, (size_t)count * sizeof *x, cudaMemcpyDeviceToDevice, stream);
}
