/* SPDX-License-Identifier: Apache-2.0 */
/* y = a * x + y, one element to a work-item. */
// kiln: launch kernel=saxpy grid=ceildiv(n,64) block=64
__kernel void
saxpy(__global const float *x, __global float *y, int n, float a)
{
	size_t i = get_global_id(0);

	if (i < (size_t)n)
		y[i] += a * x[i];
}
