/* SPDX-License-Identifier: Apache-2.0 */
/* blur: a picture is blurred back and forth; launches in two files, on two streams. */
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "blur.cuh"

void blur_back(const float *in, float *out, picture p, cudaStream_t stream);

int main(int argc, char **argv)
{
	picture p = { argc > 1 ? atoi(argv[1]) : 1600, 900 };
	size_t n;
	float *in, *out;
	cudaStream_t stream;
	FILE *f = fopen("out.txt", "w");

	p.height = p.width * 9 / 16;
	n = (size_t)p.width * p.height;
	dim3 block(32, 8), grid((p.width + block.x - 1) / block.x, (p.height + block.y - 1) / block.y);
	std::vector<float> host(n);
	for (size_t i = 0; i < n; i++)
		host[i] = (float)(i % 101) + (float)(i / p.width % 37);
	cudaStreamCreate(&stream);
	cudaMalloc((void **)&in, n * sizeof(float));
	cudaMalloc((void **)&out, n * sizeof(float));
	cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
	for (int r = 0; r < 10; r++) {
		img::blur<float, 5><<<grid, block, 0, stream>>>(in, out, p, 1.5f);
		blur_back(out, in, p, stream);
	}
	if (cudaDeviceSynchronize() != cudaSuccess)
		return 1;
	cudaMemcpy(host.data(), in, n * sizeof(float), cudaMemcpyDeviceToHost);
	for (size_t i = 0; i < n; i += 97)
		fprintf(f, "%.4f\n", host[i]);
	return fclose(f);
}
