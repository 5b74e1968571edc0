/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The yardstick: cuBLAS in true float32: CUBLAS_COMPUTE_32F with the default mathematics never uses TF32. It counts
 * columns first, so it is asked for the transpose of C.
 */
#include <cublas_v2.h>
#include <stdlib.h>

extern "C" void
sgemm(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	static cublasHandle_t handle;
	const float one = 1, zero = 0;

	if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
		abort();
	cublasSetStream(handle, stream);
	cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
	if (cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, CUDA_R_32F, N, A, CUDA_R_32F, K, &zero, C,
	    CUDA_R_32F, N, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS)
		abort();
}
