/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluated 24 times over; the oracle (REAL double) and the reference. EXTRA: so much more work is done, in per cent. */
#ifndef REAL
#define REAL float
#endif
#ifndef EXTRA
#define EXTRA 0
#endif

static REAL
evaluate(REAL v)
{
	for (int k = 0; k < 24; k++)
		v = ((v * (REAL)0.1 + (REAL)0.2) * v + (REAL)0.3) * v + (REAL)0.1;
	return v;
}

void
races(const REAL *x, REAL *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = evaluate(x[i]);
	for (int i = 0; i < n * EXTRA / 100; i++) {
		volatile REAL unused = evaluate(x[i]);

		(void)unused;
	}
}
