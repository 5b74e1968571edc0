/* SPDX-License-Identifier: Apache-2.0 */
/* between: edges of a picture. A function launches three kernels, which leave their results to each other in memory of its own. */
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(x) do { if ((x) != cudaSuccess) { fprintf(stderr, "CUDA failed\n"); exit(1); } } while (0)

__global__ void across(const float *in, float *out, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;

	if (x < width)
		out[y * width + x] = in[y * width + (x + 1 < width ? x + 1 : x)] - in[y * width + x];
}

__global__ void down(const float *in, float *out, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;

	if (x < width)
		out[y * width + x] = in[(y + 1 < height ? y + 1 : y) * width + x] - in[y * width + x];
}

__global__ void combine(const float *a, const float *b, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = sqrtf(a[i] * a[i] + b[i] * b[i]);
}

/* The size of the gradient of every pixel. */
void edges(const float *in, float *out, int width, int height)
{
	float *a, *b;
	dim3 grid((width + 127) / 128, height);

	CHECK(cudaMalloc((void **)&a, width * height * sizeof(float)));
	CHECK(cudaMalloc((void **)&b, width * height * sizeof(float)));
	across<<<grid, 128>>>(in, a, width, height);
	down<<<grid, 128>>>(in, b, width, height);
	combine<<<(width * height + 127) / 128, 128>>>(a, b, out, width * height);
	cudaFree(a);
	cudaFree(b);
}

int main(int argc, char **argv)
{
	const int width = argc > 1 ? atoi(argv[1]) : 2048, height = width, n = width * height, rounds = 10;
	std::vector<float> host(n);
	float *in, *out;
	FILE *f = fopen("out.txt", "w");

	for (int i = 0; i < n; i++)
		host[i] = (float)(i * 7 % 13) / 8;
	CHECK(cudaMalloc((void **)&in, n * sizeof(float)));
	CHECK(cudaMalloc((void **)&out, n * sizeof(float)));
	CHECK(cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	for (int r = 0; r < rounds; r++)
		edges(in, out, width, height);
	CHECK(cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i += n / 100 + 1)
		fprintf(f, "%.5f\n", host[i]);
	return fclose(f);
}
