/* SPDX-License-Identifier: Apache-2.0 */
/* A loop in assembly with an alignment of its own and labels of its own. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *p = x + i * cols, *end = p + cols / 4 * 4;
		double sum = 0;

#ifdef __x86_64__
		if (p < end)
			__asm__ volatile(".p2align 4\n"
			    "1:\tcvtss2sd (%1), %%xmm1\n\tcvtss2sd 4(%1), %%xmm2\n\t"
			    "cvtss2sd 8(%1), %%xmm3\n\tcvtss2sd 12(%1), %%xmm4\n\t"
			    "addsd %%xmm2, %%xmm1\n\taddsd %%xmm4, %%xmm3\n\taddsd %%xmm1, %0\n\t"
			    "addsd %%xmm3, %0\n\tadd $16, %1\n\tcmp %2, %1\n\tjne 1b"
			    : "+x"(sum), "+r"(p) : "r"(end) : "xmm1", "xmm2", "xmm3", "xmm4", "cc", "memory");
#else
		for (; p < end; p++)
			sum += *p;
#endif
		for (; p < x + (i + 1) * cols; p++)
			sum += *p;
		y[i] = (float)sum;
	}
}
