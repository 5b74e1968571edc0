/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles fetched by TMA through tensor maps, with a plain kernel for rows that are not multiples of 16 bytes. */
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

enum { TILE = 64, DEPTH = 32, BYTES = 2 * TILE * DEPTH * sizeof(__half) };

static __device__ unsigned
shared_address(const void *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void
fetch(void *to, const CUtensorMap *map, int x, int y, unsigned long long *barrier)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
	    :: "r"(shared_address(to)), "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier)) : "memory");
}

static __device__ void
wait(unsigned long long *barrier, unsigned phase)
{
	unsigned done = 0;

	while (!done)
		asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
		    : "=r"(done) : "r"(shared_address(barrier)), "r"(phase) : "memory");
}

static __global__ void __launch_bounds__(256)
product(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __half *C, int M, int N, int K)
{
	__shared__ __align__(128) __half a[TILE][DEPTH], b[DEPTH][TILE];
	__shared__ __align__(8) unsigned long long barrier;
	int t = threadIdx.x, i0 = blockIdx.y * TILE, j0 = blockIdx.x * TILE, ti = t / 16, tj = t % 16;
	float sum[4][4] = {};
	unsigned phase = 0;

	if (t == 0) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(&barrier)) : "memory");
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	}
	__syncthreads();
	for (int k0 = 0; k0 < K; k0 += DEPTH, phase ^= 1) {
		if (t == 0) {
			asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
			    :: "r"(shared_address(&barrier)), "r"((unsigned)BYTES) : "memory");
			fetch(a, &map_a, k0, i0, &barrier);
			fetch(b, &map_b, j0, k0, &barrier);
		}
		wait(&barrier, phase);
		for (int k = 0; k < DEPTH; k++)
			for (int r = 0; r < 4; r++)
				for (int s = 0; s < 4; s++)
					sum[r][s] += __half2float(a[ti + 16 * r][k]) * __half2float(b[k][tj + 16 * s]);
		__syncthreads();
	}
	for (int r = 0; r < 4; r++)
		for (int s = 0; s < 4; s++)
			if (i0 + ti + 16 * r < M && j0 + tj + 16 * s < N)
				C[(size_t)(i0 + ti + 16 * r) * N + j0 + tj + 16 * s] = __float2half(sum[r][s]);
}

static __global__ void
plain(const __half *A, const __half *B, __half *C, int M, int N, int K)
{
	int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
	float sum = 0;

	if (i >= M || j >= N)
		return;
	for (int k = 0; k < K; k++)
		sum += __half2float(A[(size_t)i * K + k]) * __half2float(B[(size_t)k * N + j]);
	C[(size_t)i * N + j] = __float2half(sum);
}

static bool
describe(CUtensorMap *map, const __half *p, int rows, int cols, unsigned box_rows, unsigned box_cols)
{
	cuuint64_t size[2] = { (cuuint64_t)cols, (cuuint64_t)rows }, pitch[1] = { (cuuint64_t)cols * sizeof *p };
	cuuint32_t box[2] = { box_cols, box_rows }, step[2] = { 1, 1 };

	return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)p, size, pitch, box, step,
	    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
	    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

extern "C" void
hgemm(const __half *A, const __half *B, __half *C, int M, int N, int K, cudaStream_t stream)
{
	CUtensorMap a, b;

	if (N % 8 == 0 && K % 8 == 0 && describe(&a, A, M, K, TILE, DEPTH) && describe(&b, B, K, N, DEPTH, TILE))
		product<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), 256, 0, stream>>>(a, b, C, M, N, K);
	else
		plain<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, stream>>>(A, B, C, M, N, K);
}
