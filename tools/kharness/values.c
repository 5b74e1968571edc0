/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: reading and writing the numbers of tensors: conversion between element types and
 * double, and random inputs.
 */
#include <pthread.h>

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
	[KDTYPE_E4M3] = { 4, 3, 7, SMALL_FN_TOP },
	[KDTYPE_E5M2] = { 5, 2, 15, SMALL_IEEE },
	[KDTYPE_E4M3FNUZ] = { 4, 3, 8, SMALL_FNUZ },
	[KDTYPE_E5M2FNUZ] = { 5, 2, 16, SMALL_FNUZ },
};

/* 8-bit values saturate, as the vendors' conversions do by default. */
static uint8_t
to_tiny(enum kdtype t, double x)
{
	const struct tiny *f = &tiny[t];

	x = isnan(x) ? x : fmin(fmax(x, -kdtype_max(t)), kdtype_max(t));
	return (uint8_t)small_narrow(x, f->exponent, f->mantissa, f->bias, f->top);
}

/* One loop per type: a single loop with the types inside it is several times as slow. */
#define EACH(expression) \
	do { \
		for (size_t i = 0; i < n; i++) \
			to[i] = expression; \
	} while (0)

HOT void
values_widen(enum kdtype t, const void *from, size_t n, double *restrict to)
{
	const uint8_t *bytes = from;

	switch (t) {
	case KDTYPE_F32:
	case KDTYPE_TF32:
		EACH(((const float *)from)[i]);
		break;
	case KDTYPE_F64:
		memcpy(to, from, n * sizeof *to);
		break;
	case KDTYPE_F16:
		EACH((double)((const _Float16 *)from)[i]);
		break;
	case KDTYPE_BF16:
		EACH(from_bfloat16(((const uint16_t *)from)[i]));
		break;
	case KDTYPE_E4M3:
	case KDTYPE_E5M2:
	case KDTYPE_E4M3FNUZ:
	case KDTYPE_E5M2FNUZ:
		EACH(small_widen(
		    bytes[i], tiny[t].exponent, tiny[t].mantissa, tiny[t].bias, tiny[t].top));
		break;
	case KDTYPE_I8:
		EACH(((const int8_t *)from)[i]);
		break;
	case KDTYPE_I32:
		EACH(((const int32_t *)from)[i]);
		break;
	case KDTYPE_I16:
		EACH(((const int16_t *)from)[i]);
		break;
	case KDTYPE_U8:
	case KDTYPE_BOOL:
		EACH(bytes[i]);
		break;
	case KDTYPE_U16:
		EACH(((const uint16_t *)from)[i]);
		break;
	case KDTYPE_U32:
		EACH(((const uint32_t *)from)[i]);
		break;
	case KDTYPE_U64:
		EACH((double)((const uint64_t *)from)[i]);
		break;
	case KDTYPE_I64:
	case KDTYPE_COUNT:
		EACH((double)((const int64_t *)from)[i]);
		break;
	}
}

HOT static void
narrow_floats(enum kdtype t, const double *from, size_t n, void *into)
{
	if (kdtype_size(t) == 1) {
		uint8_t *to = into;

		EACH(to_tiny(t, from[i]));
	} else if (t == KDTYPE_F16) {
		_Float16 *to = into;

		EACH((_Float16)from[i]);
	} else if (t == KDTYPE_BF16) {
		uint16_t *to = into;

		EACH(to_bfloat16((float)from[i]));
	} else if (t == KDTYPE_F64) {
		memcpy(into, from, n * sizeof *from);
	} else {
		float *restrict to = into;

		EACH((float)from[i]);
	}
}

/* Rounded, and within a type's limits; a NaN becomes LOW. */
static inline double
whole_within(double x, double low, double high)
{
	x = rint(x);
	return x > low ? x < high ? x : high : low;
}

/* All types of whole numbers but int32 and int64: whatever is drawn for those fits them. */
HOT static void
narrow_whole(enum kdtype t, const double *from, size_t n, void *into)
{
	double low = kdtype_min(t), high = kdtype_max(t);

	if (kdtype_size(t) == 1) {
		uint8_t *restrict to = into;

		EACH((uint8_t)(int)whole_within(from[i], low, high));
	} else if (kdtype_size(t) == 2) {
		uint16_t *restrict to = into;

		EACH((uint16_t)(int)whole_within(from[i], low, high));
	} else if (t == KDTYPE_U32) {
		uint32_t *restrict to = into;

		EACH((uint32_t)whole_within(from[i], low, high));
	} else {
		uint64_t *restrict to = into;

		/* The limit above the largest 64-bit value is a double; that value is not. */
		EACH(whole_within(from[i], low, 0x1p64) < 0x1p64
		        ? (uint64_t)whole_within(from[i], low, 0x1p64)
		        : UINT64_MAX);
	}
}

void
values_narrow(enum kdtype t, const double *from, size_t n, void *into)
{
	if (kdtype_is_float(t)) {
		narrow_floats(t, from, n, into);
	} else if (t == KDTYPE_I32) {
		int32_t *to = into;

		EACH((int32_t)lrint(from[i]));
	} else if (t == KDTYPE_I64) {
		int64_t *to = into;

		EACH((int64_t)llrint(from[i]));
	} else {
		narrow_whole(t, from, n, into);
	}
}

/*
 * Random words that are cheap, because they are generated in place; their seed is drawn from the
 * run's generator.
 */
struct words {
	uint64_t seed, i;
};

static struct words
words_from(struct krng *rng)
{
	return (struct words){ .seed = krng_u64(rng) };
}

static inline uint64_t
next_word(struct words *w)
{
	return small_word(w->seed, w->i++);
}

/* From 0 to 1. */
static inline double
next_double(struct words *w)
{
	return (double)(int64_t)(next_word(w) >> 11) * 0x1p-53;
}

static inline double
normal(struct words *w)
{
	return small_normal(next_word(w));
}

/* ---- magnitudes spread evenly over powers of ten ---- */

enum { POWERS = 256 };
static double powers[POWERS]; /* of 2, from 0 to 1 */

/* 2 to the X: accurate to 8 digits; the rest of the mantissa is as random as X. */
static inline double
power_of_2(double x)
{
	double whole = floor(x), part = (x - whole) * POWERS, rest, v;
	uint64_t scale = (uint64_t)(int64_t)(whole + 1023) << 52;
	size_t i = (size_t)part;

	rest = (part - (double)i) * (M_LN2 / POWERS);
	memcpy(&v, &scale, sizeof v);
	return v * powers[i] * (1 + rest * (1 + rest / 2));
}

static inline double
sign(struct words *w, double x)
{
	return next_word(w) >> 63 ? -x : x;
}

static inline double
spread(struct words *w, double low, double high)
{
	const double log2_10 = 3.3219280948873623;

	return sign(w, power_of_2(log2_10 * (low + (high - low) * next_double(w))));
}

static void
init(void)
{
	for (int i = 0; i < POWERS; i++)
		powers[i] = exp2((double)i / POWERS);
}

/* A tensor of N elements; the elements from FIRST on are next. */
struct drawing {
	struct words words;
	size_t n, first, period;
	size_t every;     /* see struct recipe */
	double low, high; /* powers of ten of large numbers */
	double common;
};

/* N values; one loop per distribution. */
HOT static void
draw(enum kdist d, struct drawing *g, size_t n, double *restrict to)
{
	struct words words = g->words, *w = &words;
	size_t at = g->first;

	switch (d) {
	case KDIST_NORMAL:
		EACH(normal(w));
		break;
	case KDIST_UNIFORM:
		EACH(next_double(w));
		break;
	case KDIST_ZERO_ONE:
		EACH((double)(next_word(w) >> 63));
		break;
	case KDIST_LARGE:
		EACH(spread(w, g->low, g->high));
		break;
	case KDIST_TINY:
		EACH(spread(w, -42, -36));
		break;
	case KDIST_ALL_EQUAL:
		EACH(g->common);
		break;
	case KDIST_SORTED:
		EACH(small_sorted(~w->seed, at + i, g->n, next_double(w)));
		break;
	case KDIST_HEAVY_TAIL:
		EACH(sign(w, pow(1 - next_double(w), -1 / 1.5)));
		break;
	case KDIST_ALTERNATING:
		EACH((at + i) % 2 ? -fabs(normal(w)) : fabs(normal(w)));
		break;
	case KDIST_SPECIAL:
		EACH(small_special(~w->seed, at + i, g->period, normal(w)));
		break;
	case KDIST_SPARSE:
		EACH(small_sparse(w->seed, at + i, (double)g->period));
		break;
	case KDIST_COUNT:
	case KDIST_MIXED:
	case KDIST_RECORDED:
		break;
	}
	g->words = words;
	g->first += n;
}

/* Advance to the next element that is drawn, by this distance on average. */
static void
skip(struct drawing *g)
{
	if (g->every)
		g->first += next_word(&g->words) % (2 * g->every - 1);
}

double
values_width(enum kdtype t, enum kdist d)
{
	bool unscaled = kdtype_is_float(t) || t == KDTYPE_BOOL || d == KDIST_ZERO_ONE;

	return unscaled ? 1 : 100;
}

void
values_draw(enum kdtype t, struct recipe how, struct krng *rng, size_t n, void *to)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	enum { CHUNK = 512 };
	double chunk[CHUNK];
	/* Integers are drawn as normals of this width, large types wider. */
	double width = values_width(t, how.dist);
	struct drawing g = { .words = words_from(rng),
		.n = n,
		.period = how.period,
		.every = how.every,
		.low = how.every ? 2 : -2,
		/* Sums of whole numbers are exact, whatever is among them. */
		.high = how.every && width <= 1 ? 2.3 : 4 };

	pthread_once(&once, init);
	g.common = normal(&g.words);
	for (skip(&g); g.first < n; skip(&g)) {
		size_t done = g.first, count = n - done < CHUNK ? n - done : CHUNK;

		count = how.every ? 1 : count;
		draw(how.dist, &g, count, chunk);
		for (size_t i = 0; kdtype_min(t) >= 0 && i < count; i++)
			chunk[i] = small_unsigned(chunk[i], how.dist == KDIST_SORTED);
		for (size_t i = 0; width > 1 && i < count; i++)
			chunk[i] *= width;
		values_narrow(t, chunk, count, (char *)to + done * kdtype_size(t));
	}
}

/* The bits of a number next to a limit of a type of BITS bits, with or without a SIGN. */
static uint64_t
near_limit(uint64_t word, int bits, bool sign)
{
	uint64_t power = (uint64_t)1 << (word >> 8) % (uint64_t)bits,
	         top = (uint64_t)1 << (bits - 1);
	const uint64_t choice[] = { 0, 1, ~(uint64_t)0, power, power - 1, power + 1, sign ? top : 0,
		sign ? top - 1 : ~(uint64_t)0 };

	return choice[word % LEN(choice)];
}

/* Rows of one kind each; FEW: one number or two; ORDERED: ascending, except for one number. */
enum whole { SMALL, ANY, LIMITS, FEW, ORDERED, WHOLE_KINDS };

struct whole_row {
	enum whole kind;
	uint64_t first, second; /* bits of small numbers */
	size_t odd_one;
};

static uint64_t
small_whole(struct words *w, enum kdtype t)
{
	double v = normal(w) * values_width(t, KDIST_NORMAL);

	return (uint64_t)(int64_t)lrint(kdtype_min(t) < 0 ? v : fabs(v));
}

static struct whole_row
whole_row(struct words *w, enum kdtype t, size_t row)
{
	struct whole_row r = { .kind = next_word(w) % WHOLE_KINDS,
		.first = small_whole(w, t),
		.second = small_whole(w, t),
		.odd_one = next_word(w) % row };

	if (next_word(w) >> 63)
		r.second = r.first;
	return r;
}

void
values_draw_whole(enum kdtype t, size_t row, struct krng *rng, size_t n, void *to)
{
	struct words words = words_from(rng), rows = words_from(rng);
	size_t size = kdtype_size(t);
	struct whole_row r = { .kind = SMALL };

	for (size_t i = 0; i < n; i++) {
		uint64_t word = next_word(&words), bits = small_whole(&words, t);

		if (i % row == 0)
			r = whole_row(&rows, t, row);
		if (r.kind == ANY)
			bits = word;
		else if (r.kind == LIMITS && word >> 62)
			bits = near_limit(word, (int)(8 * size), kdtype_min(t) < 0);
		else if (r.kind == FEW)
			bits = word >> 62 ? r.first : r.second;
		else if (r.kind == ORDERED)
			bits = r.first + (i % row == r.odd_one ? 0 : i % row);
		if (t == KDTYPE_BOOL)
			bits &= 1;
		/* The low bytes come first, as in everything that kiln runs on. */
		memcpy((char *)to + i * size, &bits, size);
	}
}
