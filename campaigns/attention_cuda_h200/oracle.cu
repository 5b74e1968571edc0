/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is right: attention in double precision. A block of 16 x 16 threads does 16 queries of one head, 16 keys at a
 * time: thread (x, y) computes the score of query y and key x, and elements x, x + 16, ... of the result of query y.
 */
#include <cuda_runtime.h>
#include <math.h>

enum { DIM = 128, SIDE = 16, EACH = DIM / SIDE };

/* Rows FROM ... FROM + 15 of a head; zeros beyond its end. */
static __device__ void
load(double to[SIDE][DIM + 1], const double *head, int from, int seq)
{
	for (int i = threadIdx.y * SIDE + threadIdx.x; i < SIDE * DIM; i += SIDE * SIDE) {
		int row = i / DIM, d = i % DIM;

		to[row][d] = from + row < seq ? head[(size_t)(from + row) * DIM + d] : 0;
	}
}

static __global__ void
queries(const double *q, const double *k, const double *v, double *o, int seq, int causal, double scale)
{
	__shared__ double query[SIDE][DIM + 1], tile[SIDE][DIM + 1], score[SIDE][SIDE + 1];
	int x = threadIdx.x, y = threadIdx.y, first = blockIdx.y * SIDE, row = first + y;
	size_t head = (size_t)blockIdx.x * seq * DIM;
	int keys = causal && first + SIDE < seq ? first + SIDE : seq;
	double out[EACH] = { 0 }, max = -INFINITY, sum = 0;

	load(query, q + head, first, seq);
	for (int j = 0; j < keys; j += SIDE) {
		double s = 0, larger = max, down;

		load(tile, k + head, j, seq);
		__syncthreads();
		for (int d = 0; d < DIM; d++)
			s += query[y][d] * tile[x][d];
		score[y][x] = j + x < seq && (!causal || j + x <= row) ? s * scale : -INFINITY;
		__syncthreads();
		load(tile, v + head, j, seq);	/* in place of the keys */
		for (int i = 0; i < SIDE; i++)
			larger = fmax(larger, score[y][i]);
		/* The first key is visible to every query: larger is finite. */
		down = exp(max - larger);
		max = larger;
		sum *= down;
		for (int e = 0; e < EACH; e++)
			out[e] *= down;
		__syncthreads();
		for (int i = 0; i < SIDE; i++) {
			double p = exp(score[y][i] - max);

			sum += p;
			for (int e = 0; e < EACH; e++)
				out[e] += p * tile[i][e * SIDE + x];
		}
		__syncthreads();	/* the tile and the scores have been used */
	}
	if (row < seq)
		for (int e = 0; e < EACH; e++)
			o[head + (size_t)row * DIM + e * SIDE + x] = out[e] / sum;
}

extern "C" void
attention(const double *q, const double *k, const double *v, double *o, int batch, int heads, int seq, int causal,
    double scale, cudaStream_t stream)
{
	dim3 grid(batch * heads, (seq + SIDE - 1) / SIDE), block(SIDE, SIDE);

	queries<<<grid, block, 0, stream>>>(q, k, v, o, seq, causal, scale);
}
