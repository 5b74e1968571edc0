/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles in shared memory, fragments by ldmatrix, tensor cores by mma.sync. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

enum { SIDE = 64, DEPTH = 32, PAD = 8 };

static __device__ unsigned
shared_address(const void *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

/* 64 x 64 results a block; each of four warps has 32 x 32, as two by four pieces of 16 x 8. */
static __global__ void __launch_bounds__(128)
product(const __half *A, const __half *B, __half *C, int M, int N, int K)
{
	__shared__ __align__(16) __half a[SIDE][DEPTH + PAD], b[DEPTH][SIDE + PAD];
	int t = threadIdx.x, lane = t % 32, i0 = blockIdx.y * SIDE, j0 = blockIdx.x * SIDE;
	int wi = t / 64 * 32, wj = t / 32 % 2 * 32;
	float c[2][4][4] = {};
	const __half zero = __float2half(0);

	for (int k0 = 0; k0 < K; k0 += DEPTH) {
		for (int e = t; e < SIDE * DEPTH; e += 128) {
			int i = e / DEPTH, k = e % DEPTH, l = e / SIDE, j = e % SIDE;

			a[i][k] = i0 + i < M && k0 + k < K ? A[(size_t)(i0 + i) * K + k0 + k] :
			    zero;
			b[l][j] = k0 + l < K && j0 + j < N ? B[(size_t)(k0 + l) * N + j0 + j] :
			    zero;
		}
		__syncthreads();
		for (int k = 0; k < DEPTH; k += 16) {
			unsigned p[2][4], q[4][2];

			for (int r = 0; r < 2; r++)
				asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
				    "{%0, %1, %2, %3}, [%4];"
				    : "=r"(p[r][0]), "=r"(p[r][1]), "=r"(p[r][2]), "=r"(p[r][3])
				    : "r"(shared_address(&a[wi + 16 * r + lane % 16][k +
				    lane / 16 * 8])) : "memory");
			for (int s = 0; s < 4; s++)
				asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 "
				    "{%0, %1}, [%2];"
				    : "=r"(q[s][0]), "=r"(q[s][1])
				    : "r"(shared_address(&b[k + lane % 16][wj + 8 * s])) :
				    "memory");
			for (int r = 0; r < 2; r++)
				for (int s = 0; s < 4; s++)
					asm volatile("mma.sync.aligned.m16n8k16.row.col"
					    ".f32.f16.f16.f32 {%0,%1,%2,%3}, "
					    "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
					    : "+f"(c[r][s][0]), "+f"(c[r][s][1]), "+f"(c[r][s][2]),
					    "+f"(c[r][s][3])
					    : "r"(p[r][0]), "r"(p[r][1]), "r"(p[r][2]),
					    "r"(p[r][3]),
					    "r"(q[s][0]), "r"(q[s][1]));
		}
		__syncthreads();
	}
	for (int r = 0; r < 2; r++)
		for (int s = 0; s < 4; s++)
			for (int e = 0; e < 4; e++) {
				int i = i0 + wi + 16 * r + lane / 4 + e / 2 * 8,
				    j = j0 + wj + 8 * s + lane % 4 * 2 + e % 2;

				if (i < M && j < N)
					C[(size_t)i * N + j] = __float2half(c[r][s][e]);
			}
}

extern "C" void
hgemm(const __half *A, const __half *B, __half *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + 63) / 64, (M + 63) / 64), 128, 0, stream>>>(A, B, C, M, N, K);
}
