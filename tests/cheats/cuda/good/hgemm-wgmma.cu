/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor cores by wgmma: a warpgroup for 64 x 32 results, both tiles in shared memory without
 * swizzling.
 */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

enum { HIGH = 64, WIDE = 32, DEPTH = 16 };

/*
 * Where element K of row I lies: pieces of 8 rows by 16 bytes, each in one go;
    then the next rows' pieces, then the
 * pieces of the next eight elements.
 */
static __device__ int
place(int i, int k, int rows)
{
	return k / 8 * (rows * 8) + i * 8 + k % 8;
}

/*
 * The descriptor of such a tile: address, distance of pieces along K, distance of pieces along the
 * rows, in 16 bytes.
 */
static __device__ unsigned long long
describe(const __half *tile, int rows)
{
	unsigned long long at = (unsigned)__cvta_generic_to_shared(tile);

	return (at & 0x3ffff) >> 4 | (unsigned long long)rows << 16 | 8ull << 32;
}

static __global__ void __launch_bounds__(128)
product(const __half *A, const __half *B, __half *C, int M, int N, int K)
{
	__shared__ __align__(128) __half a[HIGH * DEPTH], b[WIDE * DEPTH];
	int t = threadIdx.x, i0 = blockIdx.y * HIGH, j0 = blockIdx.x * WIDE;
	const __half zero = __float2half(0);
	float c[16] = {};

	for (int k0 = 0; k0 < K; k0 += DEPTH) {
		for (int e = t; e < HIGH * DEPTH; e += 128) {
			int i = e / DEPTH, k = e % DEPTH;

			a[place(i, k, HIGH)] = i0 + i < M && k0 + k < K ?
			    A[(size_t)(i0 + i) * K + k0 + k] : zero;
		}
		for (int e = t; e < WIDE * DEPTH; e += 128) {
			int k = e / WIDE, j = e % WIDE;

			b[place(j, k, WIDE)] = j0 + j < N && k0 + k < K ?
			    B[(size_t)(k0 + k) * N + j0 + j] : zero;
		}
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		__syncthreads();
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
		asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 "
		    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
		    "%16, %17, 1, 1, 1, 0, 0;"
		    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
		    "+f"(c[6]), "+f"(c[7]),
		    "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]),
		    "+f"(c[14]), "+f"(c[15])
		    : "l"(describe(a, HIGH)), "l"(describe(b, WIDE)) : "memory");
		asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
		asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
		/* Only now are the sums there. */
		for (int e = 0; e < 16; e++)
			asm volatile("" : "+f"(c[e]) :: "memory");
		__syncthreads();
	}
	for (int e = 0; e < 16; e++) {
		int i = i0 + t / 32 * 16 + t % 32 / 4 + e / 2 % 2 * 8,
		    j = j0 + e / 4 * 8 + t % 4 * 2 + e % 2;

		if (i < M && j < N)
			C[(size_t)i * N + j] = __float2half(c[e]);
	}
}

extern "C" void
hgemm(const __half *A, const __half *B, __half *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + WIDE - 1) / WIDE, (M + HIGH - 1) / HIGH), 128, 0,
	    stream>>>(A, B, C, M, N, K);
}
