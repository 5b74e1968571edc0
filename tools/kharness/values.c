/* SPDX-License-Identifier: Apache-2.0 */
/* kharness: numbers in and out of tensors: conversion between element types and double, and random inputs. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kharness.h"
#include "small.h"

static float
from_bfloat16(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float f;

	memcpy(&f, &wide, sizeof f);
	return f;
}

/* Round to nearest, ties to even; a NaN stays one. */
static uint16_t
to_bfloat16(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	if (f != f)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Types of 8 bits: exponent and mantissa bits, bias. */
static const struct tiny {
	int exponent, mantissa, bias;
	enum small_top top;
} tiny[KDTYPE_COUNT] = {
	[KDTYPE_E4M3] = { 4, 3, 7, SMALL_FN_TOP }, [KDTYPE_E5M2] = { 5, 2, 15, SMALL_IEEE },
	[KDTYPE_E4M3FNUZ] = { 4, 3, 8, SMALL_FNUZ }, [KDTYPE_E5M2FNUZ] = { 5, 2, 16, SMALL_FNUZ },
};

/* Values of 8 bits saturate, as the vendors' conversions do unless told otherwise. */
static uint8_t
to_tiny(enum kdtype t, double x)
{
	const struct tiny *f = &tiny[t];

	x = isnan(x) ? x : fmin(fmax(x, -kdtype_max(t)), kdtype_max(t));
	return (uint8_t)small_narrow(x, f->exponent, f->mantissa, f->bias, f->top);
}

void
values_widen(enum kdtype t, const void *from, size_t n, double *to)
{
	for (size_t i = 0; i < n; i++)
		switch (t) {
		case KDTYPE_F32:
		case KDTYPE_TF32:
			to[i] = ((const float *)from)[i];
			break;
		case KDTYPE_F64:
			to[i] = ((const double *)from)[i];
			break;
		case KDTYPE_F16:
			to[i] = (double)((const _Float16 *)from)[i];
			break;
		case KDTYPE_BF16:
			to[i] = from_bfloat16(((const uint16_t *)from)[i]);
			break;
		case KDTYPE_E4M3:
		case KDTYPE_E5M2:
		case KDTYPE_E4M3FNUZ:
		case KDTYPE_E5M2FNUZ:
			to[i] = small_widen(((const uint8_t *)from)[i], tiny[t].exponent, tiny[t].mantissa,
			    tiny[t].bias, tiny[t].top);
			break;
		case KDTYPE_I8:
			to[i] = ((const int8_t *)from)[i];
			break;
		case KDTYPE_I32:
			to[i] = ((const int32_t *)from)[i];
			break;
		case KDTYPE_I64:
		case KDTYPE_COUNT:
			to[i] = (double)((const int64_t *)from)[i];
			break;
		}
}

void
values_narrow(enum kdtype t, const double *from, size_t n, void *to)
{
	for (size_t i = 0; i < n; i++)
		switch (t) {
		case KDTYPE_F32:
		case KDTYPE_TF32:
			((float *)to)[i] = (float)from[i];
			break;
		case KDTYPE_F64:
			((double *)to)[i] = from[i];
			break;
		case KDTYPE_F16:
			((_Float16 *)to)[i] = (_Float16)from[i];
			break;
		case KDTYPE_BF16:
			((uint16_t *)to)[i] = to_bfloat16((float)from[i]);
			break;
		case KDTYPE_E4M3:
		case KDTYPE_E5M2:
		case KDTYPE_E4M3FNUZ:
		case KDTYPE_E5M2FNUZ:
			((uint8_t *)to)[i] = to_tiny(t, from[i]);
			break;
		case KDTYPE_I8:
			((int8_t *)to)[i] = (int8_t)fmin(fmax(rint(from[i]), -128), 127);
			break;
		case KDTYPE_I32:
			((int32_t *)to)[i] = (int32_t)lrint(from[i]);
			break;
		case KDTYPE_I64:
		case KDTYPE_COUNT:
			((int64_t *)to)[i] = (int64_t)llrint(from[i]);
			break;
		}
}

/*
 * ---- normal distribution: ziggurat of 256 layers (Marsaglia and Tsang 2000; constants computed, not tabulated) ----
 */

enum { LAYERS = 256 };
static const double zig_r = 3.6541528853610088;	/* where the tail begins */
static const double zig_v = 0.00492867323399;	/* area of a layer */
static double zig_x[LAYERS + 1], zig_f[LAYERS + 1];

static double
density(double x)
{
	return exp(-0.5 * x * x);
}

static void
zig_init(void)
{
	zig_x[0] = zig_v / density(zig_r);
	zig_x[1] = zig_r;
	for (int i = 2; i < LAYERS; i++)
		zig_x[i] = sqrt(-2 * log(zig_v / zig_x[i - 1] + density(zig_x[i - 1])));
	zig_x[LAYERS] = 0;
	for (int i = 0; i <= LAYERS; i++)
		zig_f[i] = density(zig_x[i]);
}

static double
normal(struct krng *rng)
{
	for (;;) {
		uint64_t bits = krng_u64(rng);
		size_t i = bits & (LAYERS - 1);
		double u = (double)(bits >> 11) * 0x1p-52 - 1, x = u * zig_x[i], tail, height;

		if (fabs(x) < zig_x[i + 1])
			return x;
		if (i > 0) {
			if (zig_f[i] + krng_double(rng) * (zig_f[i + 1] - zig_f[i]) < density(x))
				return x;
			continue;
		}
		do {
			tail = -log1p(-krng_double(rng)) / zig_r;
			height = -log1p(-krng_double(rng));
		} while (2 * height < tail * tail);
		return u < 0 ? -zig_r - tail : zig_r + tail;
	}
}

static double
sign(struct krng *rng, double x)
{
	return krng_u64(rng) >> 63 ? -x : x;
}

/* Magnitudes spread evenly over powers of ten. */
static double
spread(struct krng *rng, double low, double high)
{
	return sign(rng, exp10(low + (high - low) * krng_double(rng)));
}

static double
draw(enum kdist d, struct krng *rng, size_t i, size_t n, double common)
{
	switch (d) {
	case KDIST_NORMAL:
		return normal(rng);
	case KDIST_UNIFORM:
		return krng_double(rng);
	case KDIST_ZERO_ONE:
		return (double)(krng_u64(rng) >> 63);
	case KDIST_LARGE:
		return spread(rng, -2, 4);
	case KDIST_TINY:
		return spread(rng, -42, -36);
	case KDIST_ALL_EQUAL:
		return common;
	case KDIST_SORTED:
		return 6 * ((double)i + krng_double(rng)) / (double)n - 3;
	case KDIST_HEAVY_TAIL:
		return sign(rng, pow(1 - krng_double(rng), -1 / 1.5));
	case KDIST_ALTERNATING:
		return i % 2 ? -fabs(normal(rng)) : fabs(normal(rng));
	case KDIST_COUNT:
		break;
	}
	return 0;
}

void
values_draw(enum kdtype t, enum kdist d, struct krng *rng, size_t n, void *to)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	enum { CHUNK = 512 };
	double chunk[CHUNK], common;
	/* Integers are drawn as normals of this width, large ones wider. */
	double width = kdtype_is_float(t) || d == KDIST_ZERO_ONE ? 1 : 100;

	pthread_once(&once, zig_init);
	common = normal(rng);
	for (size_t done = 0; done < n;) {
		size_t count = n - done < CHUNK ? n - done : CHUNK;

		for (size_t i = 0; i < count; i++)
			chunk[i] = width * draw(d, rng, done + i, n, common);
		values_narrow(t, chunk, count, (char *)to + done * kdtype_size(t));
		done += count;
	}
}
