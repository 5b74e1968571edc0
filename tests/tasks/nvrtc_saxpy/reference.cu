/* SPDX-License-Identifier: Apache-2.0 */
/* y = factor * x + z, one element to a thread; device code alone. */
// kiln: launch kernel=saxpy grid=ceildiv(count,256) block=256
extern "C" __global__ void
saxpy(const float *x, const float *z, float *y, long long count, float factor)
{
	long long i = blockIdx.x * 256ll + threadIdx.x;

	if (i < count)
		y[i] = factor * x[i] + z[i];
}
