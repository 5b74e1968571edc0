/* SPDX-License-Identifier: Apache-2.0 */
/* A predicate that is true for unordered numbers, and a selection, in inline PTX. */
#include <cuda_runtime.h>

static __global__ void
clip(const float *__restrict__ x, float *__restrict__ y, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		asm volatile("{\n\t.reg .pred above;\n\t.reg .f32 v;\n\tld.global.nc.f32 v, [%1];\n\t"
		    "setp.gtu.f32 above, v, 0f00000000;\n\tselp.f32 v, v, 0f00000000, above;\n\t"
		    "st.global.f32 [%0], v;\n\t}" ::"l"(y + i), "l"(x + i) : "memory");
}

extern "C" void
relu(const float *x, float *y, int n, cudaStream_t stream)
{
	clip<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
