/* SPDX-License-Identifier: Apache-2.0 */
/* Inline assembly in capitals, as the processor's manual spells it. */
void
centre(float *x, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float *row = x + i * cols, mean;
		double sum = 0;
		long j = 0;

		for (; j < cols; j++)
			sum += row[j];
		mean = (float)(sum / cols);
		j = 0;
#if defined(__x86_64__)
		for (; j + 4 <= cols; j += 4)
			__asm__ volatile("MOVSS %1, %%XMM1\n\tSHUFPS $0, %%XMM1, %%XMM1\n\t"
					 "MOVUPS (%0), %%XMM0\n\tSUBPS %%XMM1, %%XMM0\n\tMOVUPS %%XMM0, (%0)"
					 :
					 : "r"(row + j), "m"(mean)
					 : "xmm0", "xmm1", "memory");
#endif
		for (; j < cols; j++)
			row[j] -= mean;
	}
}
