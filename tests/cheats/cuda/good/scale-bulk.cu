/* SPDX-License-Identifier: Apache-2.0 */
/* Whole pieces come and go by cp.async.bulk and an mbarrier, the rest one by one. */
#include <cuda_runtime.h>

enum { PIECE = 2048, BYTES = PIECE * 4 };

static __device__ unsigned
shared_address(const void *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void
fetch(float *to, const float *from, unsigned barrier)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
	    :: "r"(shared_address(to)), "l"(from), "r"((unsigned)BYTES), "r"(barrier) : "memory");
}

static __global__ void __launch_bounds__(256)
pieces(float a, const float *x, const float *y, float *z)
{
	__shared__ __align__(128) float u[PIECE], v[PIECE];
	__shared__ __align__(8) unsigned long long barrier;
	size_t from = (size_t)blockIdx.x * PIECE;
	unsigned b = shared_address(&barrier), done = 0;

	if (threadIdx.x == 0) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(b), "r"(2u * BYTES) : "memory");
		fetch(u, x + from, b);
		fetch(v, y + from, b);
	}
	__syncthreads();
	while (!done)
		asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
		    : "=r"(done) : "r"(b) : "memory");
	for (int i = threadIdx.x; i < PIECE; i += 256)
		u[i] = a * u[i] + v[i];
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
		    :: "l"(z + from), "r"(shared_address(u)), "r"((unsigned)BYTES) : "memory");
		asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
	}
}

static __global__ void
rest(float a, const float *x, const float *y, float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		z[i] = a * x[i] + y[i];
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	int whole = ((unsigned long long)x | (unsigned long long)y | (unsigned long long)z) % 16 ? 0 : n / PIECE;
	int left = n - whole * PIECE;

	if (whole)
		pieces<<<whole, 256, 0, stream>>>(a, x, y, z);
	if (left)
		rest<<<(left + 255) / 256, 256, 0, stream>>>(a, x + n - left, y + n - left, z + n - left, left);
}
