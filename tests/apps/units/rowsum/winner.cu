/* Threads next to each other take numbers next to each other; their sums meet in a second kernel. */
#define PARTS 64
#define MOST 4096

__device__ float parts[MOST * PARTS];

__global__ void __launch_bounds__(256) rowsum_parts(const float *in, int from, int rows, int cols)
{
	int part = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
	float sum = 0;

	if (row >= rows)
		return;
	for (int c = part; c < cols; c += PARTS)
		sum += in[(size_t)(from + row) * cols + c];
	parts[row * PARTS + part] = sum;
}

__global__ void rowsum(float *out, int from, int rows, float scale)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (row >= rows)
		return;
	for (int p = 0; p < PARTS; p++)
		sum += parts[row * PARTS + p];
	out[from + row] = sum * scale;
}

extern "C" void
rowsum_launch(const float *in, float *out, int rows, int cols, float scale, int grid_x, cudaStream_t stream)
{
	for (int from = 0; from < rows; from += MOST) {
		int n = rows - from < MOST ? rows - from : MOST;

		rowsum_parts<<<(n + 3) / 4, dim3(PARTS, 4), 0, stream>>>(in, from, n, cols);
		rowsum<<<(n + 127) / 128, 128, 0, stream>>>(out, from, n, scale);
	}
}
