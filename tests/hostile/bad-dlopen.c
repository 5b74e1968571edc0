/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: loader
 * why: has a ready library do the work
 */
#include <dlfcn.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	void *blas = dlopen("libopenblas.so.0", RTLD_NOW);
	void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);

	*(void **)&sgemm = blas ? dlsym(blas, "cblas_sgemm") : (void *)0;
	if (sgemm)
		sgemm(101, 111, 111, M, N, K, 1, A, K, B, N, 0, C, N);
}
