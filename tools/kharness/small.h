/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point types of 16 and 8 bits, converted by arithmetic on their fields. The code is
 * simple enough for a C compiler and for the run-time compilers of GPUs, which see this text before
 * device.cu. A type is defined by its numbers of exponent and mantissa bits, its bias, and the
 * meaning of its highest codes.
 */
#pragma once

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)
#include <math.h>
#endif

#ifndef SMALL_FN
#define SMALL_FN static inline
#endif

/* Word I of the random words of KEY: the finaliser of splitmix64. */
SMALL_FN unsigned long long
small_mix(unsigned long long key, unsigned long long i)
{
	unsigned long long z = key + (i + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/*
 * Word I of a tensor. small_mix can be inverted, and a double shows 53 bits of a word: without the
 * mask, a candidate could compute all of a tensor from its first two elements.
 */
SMALL_FN unsigned long long
small_word(unsigned long long seed, unsigned long long i)
{
	return small_mix(seed, i) ^ small_mix(~seed, 0);
}

/*
 * A random word as an approximately normal number, without a branch or a table: the sum of its
 * eight bytes, with a fraction so that all values in between occur (Irwin and Hall; none is further
 * out than 4.9 standard deviations).
 */
SMALL_FN double
small_normal(unsigned long long word)
{
	const unsigned long long bytes = 0x00ff00ff00ff00ffull, sum = 0x0001000100010001ull;
	const double mean = 8 * 127.5 + 0.5, deviation = 209.02;
	/*
	 * The upper bits of this product are as random as the word, and reveal nothing about the
	 * sum.
	 */
	unsigned long long fraction = word * 0x9e3779b97f4a7c15ull >> 11;

	word = (word & bytes) + (word >> 8 & bytes);
	return ((double)(long long)(word * sum >> 48) + (double)(long long)fraction * 0x1p-53 -
	           mean) /
	    deviation;
}

/*
 * IEEE: infinities and NaNs. FN: the code of all ones is NaN, nothing is infinite. FNUZ: NaN is the
 * code of minus zero.
 */
enum small_top { SMALL_IEEE, SMALL_FN_TOP, SMALL_FNUZ };

SMALL_FN double
small_widen(unsigned code, int exponent, int mantissa, int bias, enum small_top top)
{
	unsigned sign = code >> (exponent + mantissa) & 1,
	         e = code >> mantissa & ((1u << exponent) - 1);
	unsigned m = code & ((1u << mantissa) - 1), last = (1u << exponent) - 1;
	double zero = 0, v;

	if (top == SMALL_FNUZ && sign && !e && !m)
		return zero / zero;
	if (top == SMALL_FN_TOP && e == last && m == (1u << mantissa) - 1)
		return zero / zero;
	if (top == SMALL_IEEE && e == last)
		return m ? zero / zero : sign ? -1 / zero : 1 / zero;
	v = e ? (1 + (double)m / (double)(1u << mantissa)) * ldexp(1.0, (int)e - bias)
	      : (double)m / (double)(1u << mantissa) * ldexp(1.0, 1 - bias);
	return sign ? -v : v;
}

/*
 * Round to nearest, ties to even. Too large values become infinite if the type has infinities, else
 * the largest number.
 */
SMALL_FN unsigned
small_narrow(double x, int exponent, int mantissa, int bias, enum small_top top)
{
	unsigned sign = x < 0 || (!(x > 0) && !(x < 0) && 1 / x < 0),
	         bits = (unsigned)(exponent + mantissa);
	unsigned last = (1u << exponent) - 1, ones = (1u << mantissa) - 1;
	unsigned largest = top == SMALL_IEEE ? (last - 1) << mantissa | ones
	    : top == SMALL_FN_TOP            ? last << mantissa | (ones - 1)
	                                     : last << mantissa | ones;
	double a = x < 0 ? -x : x, scaled, down, rest;
	unsigned code;
	int e = 0;

	if (!(x <= 0) && !(x >= 0))
		return top == SMALL_FNUZ ? 1u << bits
		    : top == SMALL_IEEE  ? last << mantissa | 1u << (mantissa - 1)
		                         : last << mantissa | ones;
	/*
	 * Beyond all representable values. The exponent is at least that of the subnormal numbers.
	 */
	if (a > ldexp(1.0, (int)last + 1 - bias))
		a = ldexp(1.0, (int)last + 1 - bias);
	frexp(a, &e);
	e = e - 1 + bias < 1 || !(a > 0) ? 1 : e - 1 + bias;
	scaled = ldexp(a, mantissa + bias - e);
	down = (double)(unsigned)scaled;
	rest = scaled - down;
	code = (unsigned)scaled;
	code += rest > 0.5 || (rest >= 0.5 && (code & 1));
	/*
	 * The hidden one of the mantissa adds 1 to the exponent's code, which is 0 for subnormal
	 * numbers.
	 */
	code += (unsigned)(e - 1) << mantissa;
	if (code > largest)
		code = top == SMALL_IEEE ? last << mantissa : largest;
	if (top == SMALL_FNUZ && !code)
		sign = 0;
	return sign << bits | code;
}

/*
 * The distribution special: element I in rows of ROW elements; most elements are VALUE. A row has
 * one kind of special values, so that a NaN does not hide the effect of an infinity or a mask; in a
 * quarter of all tensors only a few rows have any. A single value is mostly among the last of its
 * row, where a kernel with vectors has other code.
 */
SMALL_FN double
small_special(unsigned long long seed, unsigned long long i, unsigned long long row, double value)
{
	enum {
		ZEROS = 1,
		MASKED,
		MASKED_END,
		MASKED_BEGIN,
		MASKED_ALL,
		MIXED,
		INFINITE,
		NOT_A_NUMBER,
		/* The last two are twice as frequent: there is only one such value in a row. */
		KINDS = NOT_A_NUMBER + 3
	};
	unsigned long long of_row = small_mix(small_mix(seed, ~0ull), i / row),
	                   dice = small_mix(seed, i) % 16;
	unsigned long long column = i % row, cut = (of_row >> 16) % row,
	                   last = row - 1 - (of_row >> 40 & of_row >> 44 & of_row >> 48 & 15) % row,
	                   one = of_row >> 52 & 3 ? last : cut;
	unsigned drawn = (unsigned)(of_row % KINDS),
	         kind = !(seed & 3) && of_row >> 8 & 31 ? 0
	    : drawn > NOT_A_NUMBER                      ? drawn - 2
	                                                : drawn;
	double zero = 0, infinite = 1 / zero, tiny = value * 0x1p-130;
	/* Processors differ in the sign of a NaN, and so do bit tricks. */
	double none = copysign(infinite - infinite, value);

	if (kind == MASKED_ALL || (kind == MASKED && dice < 4) ||
	    (kind == MASKED_END && column > cut) || (kind == MASKED_BEGIN && column < cut))
		return -infinite;
	if (kind == INFINITE || kind == NOT_A_NUMBER)
		return column != one ? value : kind == INFINITE ? infinite : none;
	if (kind == MIXED && dice < 3)
		return !dice ? infinite : dice == 1 ? -infinite : none;
	if (kind == ZEROS || kind == MIXED)
		return dice < 12 ? value : dice == 12 ? zero : dice == 13 ? -zero : tiny;
	return value;
}

/* T, from 0 to 1, on a curve between the two corners: -1 < BEND < 1. */
SMALL_FN double
small_bend(double t, double bend)
{
	return t * (1 + bend * (1 - t));
}

/*
 * The distribution sorted: element I of N, ascending from -3 to 3; U is random. The list is curved
 * as a whole and in each stretch, so that a place in it does not follow from a number.
 */
SMALL_FN double
small_sorted(unsigned long long seed, unsigned long long i, unsigned long long n, double u)
{
	enum { CURVE = 256 };
	const double most = 0.9, signs = 0x1p-63;
	unsigned long long first = i / CURVE * CURVE;
	double length = (double)(n - first < CURVE ? n - first : CURVE),
	       local = most * ((double)small_mix(seed, first) * signs - 1),
	       whole = most * ((double)small_mix(seed, n) * signs - 1),
	       at = (double)first + length * small_bend(((double)(i - first) + u) / length, local);

	return 6 * small_bend(at / (double)n, whole) - 3;
}

/* A number for an unsigned type: from ascending ones, which begin at -3, or from others. */
SMALL_FN double
small_unsigned(double x, int sorted)
{
	return sorted ? x + 3 : x < 0 ? -x : x;
}

/*
 * The distribution sparse: only one element in PERIOD is not zero, and its magnitude is between 1
 * and 2.
 */
SMALL_FN double
small_sparse(unsigned long long seed, unsigned long long i, double period)
{
	unsigned long long word = small_mix(seed, i);
	double u = (double)(small_mix(~seed, i) >> 11) * 0x1p-53;

	if ((double)(word >> 11) * 0x1p-53 * period >= 1)
		return 0;
	return word & 1 ? -1 - u : 1 + u;
}

/*
 * For element I of N recorded ones: the index of the element that it moves towards. ORDERED: the
 * next one. In a large file the others come in stretches, from adjacent memory: from a multiple of
 * SMALL_STRETCH on, the next ones of I have the next ones of the other.
 */
enum { SMALL_STRETCH = 512, SMALL_FILE = 64 * SMALL_STRETCH };

SMALL_FN unsigned long long
small_other(unsigned long long n, unsigned long long i, unsigned long long seed, int ordered)
{
	unsigned long long stretch = n < SMALL_FILE ? 1 : SMALL_STRETCH, at = i;

	if (ordered)
		return i + 1 < n ? i + 1 : i;
	if (n >= SMALL_FILE)
		at /= SMALL_STRETCH;
	at = (unsigned long long)((double)(small_mix(seed, at) >> 11) * 0x1p-53 *
	    (double)(n - stretch + 1));
	return n < SMALL_FILE ? at : at + i % SMALL_STRETCH;
}

/*
 * A value to replace the recorded element I, which is V: it moves a random share of the way to
 * OTHER, and from there SHARE of the way to TO. WHOLE: the other itself; if ORDERED, it or V. In a
 * mask, whose elements are zero or one other number, zeros move, too: nothing else could.
 */
enum { SMALL_BROKEN, SMALL_WHOLE, SMALL_MASK };
SMALL_FN double
small_redraw(double v, double other, unsigned long long i, unsigned long long seed, double to,
    double share, int whole, int ordered)
{
	double step = (double)(small_mix(~seed, i) >> 11) * 0x1p-53;

	/* A value that is not finite differs from itself. */
	if (!(v - v <= 0) || (whole != SMALL_MASK && v <= 0 && v >= 0))
		return v;
	/* Among whole numbers a zero usually has a meaning. */
	if (other - other <= 0 && !(whole == SMALL_WHOLE && other <= 0 && other >= 0)) {
		if (!whole)
			v += step * (other - v);
		else if (!ordered || step < 0.5)
			v = other;
	}
	return v + share * (to - v);
}
