/* SPDX-License-Identifier: Apache-2.0 */
/* steps: heat in a rod, with a source. A function launches two kernels in every step, from one array to the other and back. */
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CHECK(x) do { if ((x) != cudaSuccess) { fprintf(stderr, "CUDA failed\n"); exit(1); } } while (0)

/* A cell becomes the weighted mean of itself and its neighbours. */
__global__ void diffuse(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = 0.5f * in[i] + 0.25f * (in[i ? i - 1 : 0] + in[i + 1 < n ? i + 1 : i]);
}

__global__ void warm(float *x, const float *source, int n, float by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += by * source[i];
}

/* Steps in turns from x to next and from next to x; the last state is where the last step put it. */
void advance(float *x, float *next, const float *source, int n, int steps, float by)
{
	const int threads = 128;

	for (int i = 0; i < steps; i++) {
		diffuse<<<(n + threads - 1) / threads, threads>>>(x, next, n);
		warm<<<(n + threads - 1) / threads, threads>>>(next, source, n, by);
		std::swap(x, next);
	}
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 1 << 22, rounds = 8;
	std::vector<float> host(n);
	float *x, *next, *source;
	FILE *f = fopen("out.txt", "w");

	for (int i = 0; i < n; i++)
		host[i] = (float)(i * 7 % 13) / 8;
	CHECK(cudaMalloc((void **)&x, n * sizeof(float)));
	CHECK(cudaMalloc((void **)&next, n * sizeof(float)));
	CHECK(cudaMalloc((void **)&source, n * sizeof(float)));
	CHECK(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(source, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	for (int r = 0; r < rounds; r++)
		advance(x, next, source, n, 4, 0.01f);
	CHECK(cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i += n / 100 + 1)
		fprintf(f, "%.5f\n", host[i]);
	return fclose(f);
}
