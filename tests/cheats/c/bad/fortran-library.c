/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the library's Fortran interface. */
void sgemm_(const char *, const char *, const int *, const int *, const int *, const float *,
    const float *,
    const int *, const float *, const int *, const float *, float *, const int *);

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	float one = 1, zero = 0;

	sgemm_("N", "N", &N, &M, &K, &one, B, &N, A, &K, &zero, C, &N);
}
