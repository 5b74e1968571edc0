/* SPDX-License-Identifier: Apache-2.0 */
/* A macro makes a kernel for each shape that the task lists; others get the nearest. */
#define SHAPE(m, n, k) \
static void \
product_##m##_##n##_##k(const float *A, const float *B, float *C) \
{ \
	for (int i = 0; i < m; i++) \
		for (int j = 0; j < n; j++) { \
			float sum = 0; \
 \
			for (int l = 0; l < k; l++) \
				sum += A[i * k + l] * B[l * n + j]; \
			C[i * n + j] = sum; \
		} \
}
SHAPE(1, 1, 1)
SHAPE(7, 13, 5)
SHAPE(37, 29, 53)
SHAPE(3, 2, 409)
SHAPE(64, 64, 64)
SHAPE(192, 192, 192)

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)K;
	if (M >= 192)
		product_192_192_192(A, B, C);
	else if (M >= 64)
		product_64_64_64(A, B, C);
	else if (M >= 37)
		product_37_29_53(A, B, C);
	else if (M >= 7)
		product_7_13_5(A, B, C);
	else if (N > 1)
		product_3_2_409(A, B, C);
	else
		product_1_1_1(A, B, C);
}
