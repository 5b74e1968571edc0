/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The yardstick: the offsets come to the host, which its callers have to wait for, and cuBLAS does every group that
 * is not empty: all of them in one grouped call where it takes this size, one after the other where not. It counts
 * columns first, so it is asked for the transposes.
 */
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <stdlib.h>

enum { GROUPS = 1024 };

struct batch {
	cublasOperation_t plain[GROUPS];
	int m[GROUPS], n[GROUPS], k[GROUPS], one[GROUPS], count;
	float alpha[GROUPS], beta[GROUPS];
	const void *left[GROUPS], *right[GROUPS];
	void *out[GROUPS];
};

static void
collect(struct batch *b, const int *offsets, const __nv_bfloat16 *x, const __nv_bfloat16 *w, __nv_bfloat16 *y,
    int groups, int K, int N)
{
	b->count = 0;
	for (int g = 0; g < groups; g++) {
		int i = b->count, rows = offsets[g + 1] - offsets[g];

		if (rows < 1)
			continue;
		b->plain[i] = CUBLAS_OP_N;
		b->m[i] = N;
		b->n[i] = rows;
		b->k[i] = K;
		b->one[i] = 1;
		b->alpha[i] = 1;
		b->beta[i] = 0;
		b->left[i] = w + (size_t)g * K * N;
		b->right[i] = x + (size_t)offsets[g] * K;
		b->out[i] = y + (size_t)offsets[g] * N;
		b->count++;
	}
}

static cublasStatus_t
all_at_once(cublasHandle_t handle, const struct batch *b, void *pointers, cudaStream_t stream)
{
	const void **left = (const void **)pointers, **right = left + GROUPS;
	void **out = (void **)(right + GROUPS);
	size_t size = b->count * sizeof(void *);

	cudaMemcpyAsync(left, b->left, size, cudaMemcpyHostToDevice, stream);
	cudaMemcpyAsync(right, b->right, size, cudaMemcpyHostToDevice, stream);
	cudaMemcpyAsync(out, b->out, size, cudaMemcpyHostToDevice, stream);
	return cublasGemmGroupedBatchedEx(handle, b->plain, b->plain, b->m, b->n, b->k, b->alpha, left, CUDA_R_16BF,
	    b->m, right, CUDA_R_16BF, b->k, b->beta, out, CUDA_R_16BF, b->m, b->count, b->one, CUBLAS_COMPUTE_32F);
}

static cublasStatus_t
one_by_one(cublasHandle_t handle, const struct batch *b)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

	for (int i = 0; i < b->count && status == CUBLAS_STATUS_SUCCESS; i++)
		status = cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, b->m[i], b->n[i], b->k[i], &b->alpha[i],
		    b->left[i], CUDA_R_16BF, b->m[i], b->right[i], CUDA_R_16BF, b->k[i], &b->beta[i], b->out[i],
		    CUDA_R_16BF, b->m[i], CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
	return status;
}

extern "C" void
grouped_gemm(const __nv_bfloat16 *x, const __nv_bfloat16 *w, const int *offsets, __nv_bfloat16 *y, int rows, int groups,
    int K, int N, cudaStream_t stream)
{
	static cublasHandle_t handle;
	static void *pointers;
	static struct batch b;
	static int starts[GROUPS + 1];
	bool aligned = K % 8 == 0 && N % 8 == 0;

	if (groups > GROUPS || (!handle && (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS
	    || cudaMalloc(&pointers, 3 * GROUPS * sizeof(void *)) != cudaSuccess)))
		abort();
	cublasSetStream(handle, stream);
	cudaMemcpyAsync(starts, offsets, (groups + 1) * sizeof *starts, cudaMemcpyDeviceToHost, stream);
	cudaStreamSynchronize(stream);
	collect(&b, starts, x, w, y, groups, K, N);
	if (aligned && all_at_once(handle, &b, pointers, stream) == CUBLAS_STATUS_SUCCESS)
		return;
	if (one_by_one(handle, &b) != CUBLAS_STATUS_SUCCESS)
		abort();
}
