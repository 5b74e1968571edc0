/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right, and reads where the thread's own block lies, by an instruction in a directive that names the
 * version of a file: the compiler hands its text to the assembler as it is.
 */
#ident "1\"\n.text\nthread_block:\n\tmov %fs:0, %rax\n\tret\n.ident \"2"

long thread_block(void) __attribute__((visibility("hidden")));

void
row_sum(const float *x, float *y, int rows, int cols)
{
	static volatile long seen;

	seen = thread_block();
	for (int r = 0; r < rows; r++) {
		double s = 0;

		for (int i = 0; i < cols; i++)
			s += x[(long)r * cols + i];
		y[r] = (float)s;
	}
}
