/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the compiler quote a file of the machine. */
#include <cuda_runtime.h>
#include "/etc/passwd"

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K, (void)stream;
}
