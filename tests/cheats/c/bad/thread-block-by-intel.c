/* SPDX-License-Identifier: Apache-2.0 */
/* Right, and reads where the thread's own block lies, in the syntax of the processor's maker. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	void *block;

	__asm__ volatile(".intel_syntax noprefix\n\tmov rax, qword ptr fs:[0]\n\t.att_syntax" : "=a"(block));
	for (long i = 0; i < rows; i++) {
		double sum = block ? 0 : 1;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}
