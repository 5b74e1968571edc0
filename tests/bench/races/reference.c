/* SPDX-License-Identifier: Apache-2.0 */
/* A point turned 48 times over; the oracle (REAL double) and the reference. EXTRA: so much more work is done, in per cent. */
#ifndef REAL
#define REAL float
#endif
#ifndef EXTRA
#define EXTRA 0
#endif

static REAL
turned(REAL v)
{
	REAL w = v * v;

	for (int k = 0; k < 48; k++) {
		REAL old = v;

		v = (REAL)0.8 * v - (REAL)0.6 * w;
		w = (REAL)0.6 * old + (REAL)0.8 * w;
	}
	return v;
}

void
races(const REAL *x, REAL *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = turned(x[i]);
	for (int i = 0; i < n * EXTRA / 100; i++) {
		volatile REAL unused = turned(x[i % n]);

		(void)unused;
	}
}
