/* SPDX-License-Identifier: Apache-2.0 */
#include "blur.cuh"

void
blur_back(const float *in, float *out, picture p, cudaStream_t stream)
{
	dim3 block(32, 8);

	img::blur<float, 5>
	    <<<dim3((p.width + 31) / 32, (p.height + 7) / 8), block, 0, stream>>>(in, out, p, 1.5f);
}
