/* SPDX-License-Identifier: Apache-2.0 */
/* rowsum: the sums of the rows of a matrix, scaled; the kernel is launched in main. */
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(x) do { if ((x) != cudaSuccess) { fprintf(stderr, "CUDA failed\n"); exit(1); } } while (0)

/* A thread takes a row. */
__global__ void rowsum(const float *in, float *out, int rows, int cols, float scale)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (row >= rows)
		return;
	for (int c = 0; c < cols; c++)
		sum += in[(size_t)row * cols + c];
	out[row] = sum * scale;
}

int main(int argc, char **argv)
{
	const int rows = argc > 1 ? atoi(argv[1]) : 2048, cols = 1024, threads = 64, rounds = 20;
	size_t n = (size_t)rows * cols;
	std::vector<float> host(n), sums(rows);
	float *in, *out;
	FILE *f = fopen("out.txt", "w");

	for (size_t i = 0; i < n; i++)
		host[i] = (float)(i * 7 % 13) / 8;
	CHECK(cudaMalloc((void **)&in, n * sizeof(float)));
	CHECK(cudaMalloc((void **)&out, rows * sizeof(float)));
	CHECK(cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	for (int r = 0; r < rounds; r++) {
		rowsum<<<(rows + threads - 1) / threads, threads>>>(in, out, rows, cols, 1.0f / cols);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(sums.data(), out, rows * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < rows; i++)
		fprintf(f, "%.5f\n", sums[i]);
	return fclose(f);
}
