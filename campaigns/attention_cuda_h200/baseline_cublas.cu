/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A yardstick without fusion: cuBLAS computes all scores in float32, a kernel makes probabilities of them, cuBLAS
 * multiplies these with the values. The scores go through memory twice: this is what fused kernels save.
 */
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stdlib.h>

enum { DIM = 128, THREADS = 256 };

template <bool LARGEST> static __device__ float
combine(float v)
{
	__shared__ float part[THREADS / 32];

	for (int step = 16; step > 0; step /= 2) {
		float other = __shfl_xor_sync(0xffffffff, v, step);

		v = LARGEST ? fmaxf(v, other) : v + other;
	}
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	v = part[0];
	for (int i = 1; i < THREADS / 32; i++)
		v = LARGEST ? fmaxf(v, part[i]) : v + part[i];
	return v;
}

/* One row of scores per block; masked keys get probability 0. */
static __global__ void __launch_bounds__(THREADS)
probabilities(const float *scores, __half *p, int seq, int causal)
{
	int row = blockIdx.x % seq, keys = causal ? row + 1 : seq;
	const float *in = scores + (size_t)blockIdx.x * seq;
	__half *out = p + (size_t)blockIdx.x * seq;
	float max = -INFINITY, sum = 0, factor;

	for (int j = threadIdx.x; j < keys; j += THREADS)
		max = fmaxf(max, in[j]);
	max = combine<true>(max);
	for (int j = threadIdx.x; j < keys; j += THREADS)
		sum += expf(in[j] - max);
	factor = 1 / combine<false>(sum);
	for (int j = threadIdx.x; j < seq; j += THREADS)
		out[j] = __float2half(j < keys ? expf(in[j] - max) * factor : 0);
}

extern "C" void
attention(const __half *q, const __half *k, const __half *v, __half *o, int batch, int heads, int seq, int causal,
    float scale, cudaStream_t stream)
{
	static cublasHandle_t handle;
	static char *scratch;
	static size_t room;
	const float one = 1, zero = 0;
	int count = batch * heads;
	size_t square = (size_t)seq * seq, need = (size_t)count * square * (sizeof(float) + sizeof(__half));
	long long step = (long long)seq * DIM;
	float *scores;
	__half *p;

	if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
		abort();
	if (need > room) {	/* once per size: warm-up pays */
		cudaFree(scratch);
		if (cudaMalloc(&scratch, need) != cudaSuccess)
			abort();
		room = need;
	}
	scores = (float *)scratch;
	p = (__half *)(scores + (size_t)count * square);
	cublasSetStream(handle, stream);
	/* Columns first: scores^T = K Q^T, o^T = V^T p^T. */
	if (cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, seq, seq, DIM, &scale, k, CUDA_R_16F, DIM,
	    step, q,
	    CUDA_R_16F, DIM, step, &zero, scores, CUDA_R_32F, seq, (long long)square, count, CUBLAS_COMPUTE_32F,
	    CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS)
		abort();
	probabilities<<<(unsigned)(count * seq), THREADS, 0, stream>>>(scores, p, seq, causal);
	if (cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, DIM, seq, seq, &one, v, CUDA_R_16F, DIM, step,
	    p,
	    CUDA_R_16F, seq, (long long)square, &zero, o, CUDA_R_16F, DIM, step, count, CUBLAS_COMPUTE_32F,
	    CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS)
		abort();
}
