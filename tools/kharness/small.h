/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating types of 16 and 8 bits, converted by arithmetic on their fields; plain enough for a C compiler and for the
 * run-time compilers of GPUs, whose code (device.cu) has this text in front of it. A type is its numbers of exponent and
 * mantissa bits, its bias, and what its highest codes mean.
 */
#ifndef KILN_SMALL_H
#define KILN_SMALL_H

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)
#include <math.h>
#endif

#ifndef SMALL_FN
#define SMALL_FN static inline
#endif

/* IEEE: infinities and NaNs. FN: the code of all ones is NaN, nothing is infinite. FNUZ: NaN is the code of minus zero. */
enum small_top { SMALL_IEEE, SMALL_FN_TOP, SMALL_FNUZ };

SMALL_FN double
small_widen(unsigned code, int exponent, int mantissa, int bias, enum small_top top)
{
	unsigned sign = code >> (exponent + mantissa) & 1, e = code >> mantissa & ((1u << exponent) - 1);
	unsigned m = code & ((1u << mantissa) - 1), last = (1u << exponent) - 1;
	double zero = 0, v;

	if (top == SMALL_FNUZ && sign && !e && !m)
		return zero / zero;
	if (top == SMALL_FN_TOP && e == last && m == (1u << mantissa) - 1)
		return zero / zero;
	if (top == SMALL_IEEE && e == last)
		return m ? zero / zero : sign ? -1 / zero : 1 / zero;
	v = e ? (1 + (double)m / (double)(1u << mantissa)) * ldexp(1.0, (int)e - bias) :
	    (double)m / (double)(1u << mantissa) * ldexp(1.0, 1 - bias);
	return sign ? -v : v;
}

/* To nearest, ties to even. What is too large becomes infinite where there is such a thing, else the largest number. */
SMALL_FN unsigned
small_narrow(double x, int exponent, int mantissa, int bias, enum small_top top)
{
	unsigned sign = x < 0 || (!(x > 0) && !(x < 0) && 1 / x < 0), bits = (unsigned)(exponent + mantissa);
	unsigned last = (1u << exponent) - 1, ones = (1u << mantissa) - 1;
	unsigned largest = top == SMALL_IEEE ? (last - 1) << mantissa | ones :
	    top == SMALL_FN_TOP ? last << mantissa | (ones - 1) : last << mantissa | ones;
	double a = x < 0 ? -x : x, scaled, down, rest;
	unsigned code;
	int e = 0;

	if (!(x <= 0) && !(x >= 0))
		return top == SMALL_FNUZ ? 1u << bits : top == SMALL_IEEE ? last << mantissa | 1u << (mantissa - 1) :
		    last << mantissa | ones;
	/* Beyond all that is told apart. The exponent is at least that of the subnormal numbers. */
	if (a > ldexp(1.0, (int)last + 1 - bias))
		a = ldexp(1.0, (int)last + 1 - bias);
	frexp(a, &e);
	e = e - 1 + bias < 1 || !(a > 0) ? 1 : e - 1 + bias;
	scaled = ldexp(a, mantissa + bias - e);
	down = (double)(unsigned)scaled;
	rest = scaled - down;
	code = (unsigned)scaled;
	code += rest > 0.5 || (rest >= 0.5 && (code & 1));
	/* A mantissa's hidden one adds 1 to the exponent's code, which is 0 for subnormal numbers. */
	code += (unsigned)(e - 1) << mantissa;
	if (code > largest)
		code = top == SMALL_IEEE ? last << mantissa : largest;
	if (top == SMALL_FNUZ && !code)
		sign = 0;
	return sign << bits | code;
}

#endif
