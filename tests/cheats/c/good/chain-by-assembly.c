/* SPDX-License-Identifier: Apache-2.0 */
/* The recurrence in a loop of inline assembly. */
void
chain(float b, const float *x, float *y, int n)
{
	float last = 0;
	long i = 0;

	if (n > 0)
		__asm__ volatile("1:\n\t"
		                 "vmovss (%[x],%[i],4), %%xmm1\n\t"
		                 "vfmadd132ss %[b], %%xmm1, %[last]\n\t"
		                 "vmovss %[last], (%[y],%[i],4)\n\t"
		                 "incq %[i]\n\t"
		                 "cmpq %[n], %[i]\n\t"
		                 "jne 1b"
		                 : [last] "+x"(last), [i] "+r"(i)
		                 : [x] "r"(x), [y] "r"(y), [b] "x"(b), [n] "r"((long)n)
		                 : "xmm1", "memory", "cc");
}
