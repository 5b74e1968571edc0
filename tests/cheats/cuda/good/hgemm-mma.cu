/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor cores by mma.sync in inline PTX. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

static __device__ unsigned
pair(__half low, __half high)
{
	return (unsigned)__half_as_ushort(low) | (unsigned)__half_as_ushort(high) << 16;
}

static __device__ __half
at(const __half *p, int i, int j, int rows, int cols)
{
	return i < rows && j < cols ? p[(size_t)i * cols + j] : __float2half(0);
}

/* A warp for 16 x 8 results, 16 deep. Layout of the fragments: PTX manual, mma.m16n8k16. */
static __global__ void
product(const __half *A, const __half *B, __half *C, int M, int N, int K)
{
	int group = threadIdx.x / 4, member = threadIdx.x % 4, i = blockIdx.y * 16 + group, j = blockIdx.x * 8;
	float c[4] = { 0, 0, 0, 0 };

	for (int k = 0; k < K; k += 16) {
		int l = k + 2 * member;
		unsigned a0 = pair(at(A, i, l, M, K), at(A, i, l + 1, M, K));
		unsigned a1 = pair(at(A, i + 8, l, M, K), at(A, i + 8, l + 1, M, K));
		unsigned a2 = pair(at(A, i, l + 8, M, K), at(A, i, l + 9, M, K));
		unsigned a3 = pair(at(A, i + 8, l + 8, M, K), at(A, i + 8, l + 9, M, K));
		unsigned b0 = pair(at(B, l, j + group, K, N), at(B, l + 1, j + group, K, N));
		unsigned b1 = pair(at(B, l + 8, j + group, K, N), at(B, l + 9, j + group, K, N));

		asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
		    "{%0,%1,%2,%3};"
		    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		    : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
	}
	for (int e = 0; e < 4; e++) {
		int row = i + e / 2 * 8, col = j + 2 * member + e % 2;

		if (row < M && col < N)
			C[(size_t)row * N + col] = __float2half(c[e]);
	}
}

extern "C" void
hgemm(const __half *A, const __half *B, __half *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + 7) / 8, (M + 15) / 16), 32, 0, stream>>>(A, B, C, M, N, K);
}
