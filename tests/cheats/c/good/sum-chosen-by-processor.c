/* SPDX-License-Identifier: Apache-2.0 */
/* Two versions of the loop, and a pointer to the one that the processor can run, chosen in the first call. */
static float
plain(const float *x, long n)
{
	double a = 0, b = 0;

	for (long j = 0; j < n; j++)
		*(j & 1 ? &b : &a) += x[j];
	return (float)(a + b);
}

__attribute__((target("avx2,fma"), optimize("O3"))) static float
wide(const float *x, long n)
{
	double sum[16] = { 0 }, all = 0;
	long j = 0;

	for (; j + 16 <= n; j += 16)
		for (int k = 0; k < 16; k++)
			sum[k] += x[j + k];
	for (; j < n; j++)
		all += x[j];
	for (int k = 0; k < 16; k++)
		all += sum[k];
	return (float)all;
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
	static float (*chosen)(const float *, long);

	if (!chosen) {
		__builtin_cpu_init();
		chosen = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? wide : plain;
	}
	for (long i = 0; i < rows; i++)
		y[i] = chosen(x + i * cols, cols);
}
