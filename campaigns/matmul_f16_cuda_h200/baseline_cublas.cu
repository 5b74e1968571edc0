/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The yardstick: cuBLAS on tensor cores, sums in float32. It counts columns first, so it is asked for the
 * transpose of C.
 */
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <stdlib.h>

extern "C" void
matmul(const __half *A, const __half *B, __half *C, int M, int N, int K, cudaStream_t stream)
{
	static cublasHandle_t handle;
	const float one = 1, zero = 0;

	if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
		abort();
	/* Partial sums of a split K in float16 would not be exact on inputs of 0 and 1. */
	cublasSetMathMode(handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
	cublasSetStream(handle, stream);
	if (cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, CUDA_R_16F, N, A, CUDA_R_16F, K, &zero, C,
	    CUDA_R_16F, N, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS)
		abort();
}
