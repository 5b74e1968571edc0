/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of small.h: against the compiler's own float16, and every code of the types of 8 bits.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kutil.h"
#include "tap.h"

#include "../../tools/kharness/small.h"

static _Float16
half(uint16_t bits)
{
	_Float16 h;

	memcpy(&h, &bits, sizeof h);
	return h;
}

static void
test_float16(void)
{
	struct krng rng;
	size_t wrong = 0;

	for (unsigned code = 0; code < 65536; code++) {
		double a = (double)half((uint16_t)code),
		       b = small_widen(code, 5, 10, 15, SMALL_IEEE);

		wrong += isnan(a)
		    ? !isnan(b)
		    : !(a <= b && a >= b) || small_narrow(a, 5, 10, 15, SMALL_IEEE) != code;
	}
	CHECK(wrong == 0);
	krng_init(&rng, 1, 0, 0, "small");
	for (int i = 0; i < 300000; i++) {
		double x = (krng_double(&rng) - 0.5) * exp2(krng_double(&rng) * 60 - 40);
		_Float16 h = (_Float16)x;
		uint16_t bits;

		memcpy(&bits, &h, sizeof bits);
		wrong += small_narrow(x, 5, 10, 15, SMALL_IEEE) != bits;
	}
	CHECK(wrong == 0);
	CHECK(small_narrow(INFINITY, 5, 10, 15, SMALL_IEEE) == 0x7c00 &&
	    small_narrow(-0.0, 5, 10, 15, SMALL_IEEE) == 0x8000);
}

static void
test_tiny(void)
{
	static const struct {
		int exponent, mantissa, bias;
		enum small_top top;
		double max, smallest;
	} types[] = {
		{ 4, 3, 7, SMALL_FN_TOP, 448, 0x1p-9 },
		{ 5, 2, 15, SMALL_IEEE, 57344, 0x1p-16 },
		{ 4, 3, 8, SMALL_FNUZ, 240, 0x1p-10 },
		{ 5, 2, 16, SMALL_FNUZ, 57344, 0x1p-17 },
	};

	for (size_t k = 0; k < LEN(types); k++) {
		double max = 0, smallest = 1;
		size_t wrong = 0, nans = 0;

		for (unsigned code = 0; code < 256; code++) {
			double w = small_widen(code, types[k].exponent, types[k].mantissa,
			    types[k].bias, types[k].top);

			nans += isnan(w);
			if (isnan(w) || isinf(w))
				continue;
			max = fmax(max, w);
			smallest = w > 0 ? fmin(smallest, w) : smallest;
			wrong += small_narrow(w, types[k].exponent, types[k].mantissa,
			             types[k].bias, types[k].top) != code;
		}
		CHECK(wrong == 0);
		CHECK(
		    fabs(max - types[k].max) < 1e-9 && fabs(smallest - types[k].smallest) < 1e-12);
		CHECK(nans ==
		    (types[k].top == SMALL_FNUZ            ? 1
		            : types[k].top == SMALL_FN_TOP ? 2
		                                           : 6));
	}
}

/* Of the rows with one NaN, many have it in the last element, and some far from the end. */
static void
test_special(void)
{
	enum { ROW = 1025, SEEDS = 4000 };
	size_t single = 0, last = 0, far = 0;

	for (unsigned long long seed = 0; seed < SEEDS; seed++) {
		size_t count = 0, at = 0;

		for (unsigned long long i = 0; i < ROW; i++)
			if (isnan(small_special(seed, i, ROW, 1))) {
				count++;
				at = (size_t)i;
			}
		single += count == 1;
		last += count == 1 && at == ROW - 1;
		far += count == 1 && at < ROW - 16;
	}
	CHECK(single > SEEDS / 10);
	CHECK(last > single / 3 && far > single / 8);
}

/* Ascending, and further from any straight line than a small window. */
static void
test_sorted(void)
{
	enum { N = 65536, SEEDS = 20 };
	size_t descents = 0, straight = 0;

	for (unsigned long long seed = 0; seed < SEEDS; seed++) {
		double first = small_sorted(seed, 0, N, 0.5),
		       last = small_sorted(seed, N - 1, N, 0.5);
		double before = -3, furthest = 0;

		for (unsigned long long i = 0; i < N; i++) {
			double u = (double)(small_mix(seed, i) >> 11) * 0x1p-53,
			       v = small_sorted(~seed, i, N, u);

			descents += v < before || v > 3;
			before = v;
			furthest =
			    fmax(furthest, fabs((v - first) / (last - first) * N - (double)i));
		}
		straight += furthest < 64;
	}
	CHECK(descents == 0);
	CHECK(straight == 0);
}

int
main(void)
{
	test_float16();
	test_tiny();
	test_special();
	test_sorted();
	return tap_done();
}
