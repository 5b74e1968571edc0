/* SPDX-License-Identifier: Apache-2.0 */
/* Has a function run when the object is loaded, by directives in capitals. */
static volatile int early;

__attribute__((used)) static void
begin(void)
{
	early = 1;
}

__asm__(".PUSHSECTION .init_array,\"aw\"\n\t.Quad begin\n\t.POPSECTION");

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = early ? 0 : 1;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}
