/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: is what came out right. An element may differ from the oracle by rtol * |expected| + c * eps * sqrt(L) *
 * scale, where L is the length of the reduction and scale the root mean square of the expected values around it:
 * rounding errors of a sum grow like a random walk (Higham, Accuracy and Stability of Numerical Algorithms, section
 * 4.2) and are relative to its terms, not to its result.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kharness.h"

enum { C = 8, RTOL_EPS = 8, RTOL_EPS_HALF = 2, GROUP = 64 };

void
verdict_begin(struct verdict *v)
{
	*v = (struct verdict){ .ok = true, .worst = -1 };
}

/* What may differ, besides RTOL * |expected|. */
struct rule {
	double rtol, per_scale, atol, fixed_scale;
	bool exact;
};

/* Smallest normal number: below it, flushing to zero is allowed. */
static double
smallest(enum kdtype t)
{
	return t == KDTYPE_F64 ? DBL_MIN : t == KDTYPE_F16 ? 0x1p-14 : FLT_MIN;
}

/*
 * {0,1} inputs of a task that is linear: sums of integers are exact, provided that the results can be told exactly at
 * all.
 */
static bool
is_exact(const struct judge *j, const struct batch *b, enum kdtype t, const double *expected, size_t n)
{
	if (!j->task->linear || b->dist != KDIST_ZERO_ONE)
		return false;
	for (size_t i = 0; i < n; i++) {
		double back;
		uint64_t raw;

		values_narrow(t, &expected[i], 1, &raw);
		values_widen(t, &raw, 1, &back);
		if (back < expected[i] || back > expected[i])
			return false;
	}
	return true;
}

static struct rule
rule_of(const struct judge *j, const struct batch *b, const struct call *c, size_t tensor, const double *expected,
    size_t n)
{
	const struct ktask *t = j->task;
	enum kdtype type = t->tensors[tensor].dtype;
	/* Types of 16 bits are for storage: sums are expected in float32, and one rounding at the end. */
	bool half = kdtype_size(type) == 2;
	double eps = kdtype_eps(type), sum_eps = half ? FLT_EPSILON : eps;
	int64_t length = ktask_value(t, b->w, t->reduction);
	struct rule r = { .rtol = t->rtol >= 0 ? t->rtol : (half ? RTOL_EPS_HALF : RTOL_EPS) * eps,
	    .atol = t->atol >= 0 ? t->atol : smallest(type), .fixed_scale = c->scale[tensor] };

	if (t->atol < 0)
		r.per_scale = C * sum_eps * sqrt(length > 1 ? (double)length : 1);
	r.exact = is_exact(j, b, type, expected, n);
	return r;
}

/* Root mean square of the finite ones. */
static double
rms(const double *x, size_t n)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(x[i])) {
			sum += x[i] * x[i];
			count++;
		}
	return count ? sqrt(sum / (double)count) : 0;
}

/* A result beyond the type's range must come out as infinite. */
static double
in_range(enum kdtype t, double e)
{
	double max = t == KDTYPE_F64 ? DBL_MAX : t == KDTYPE_F16 ? 65504 : FLT_MAX;

	return fabs(e) > max ? copysign(INFINITY, e) : e;
}

static bool
same_special(double expected, double got)
{
	return isnan(expected) ? isnan(got) : isinf(expected) && isinf(got) && signbit(expected) == signbit(got);
}

static void
note(struct verdict *v, const struct ktask_tensor *x, size_t at, double error, double tolerance)
{
	/* Furthest beyond: by the ratio; a NaN or infinite error beats all. */
	double old = v->worst / (v->tolerance > 0 ? v->tolerance : DBL_MIN);
	double now = error / (tolerance > 0 ? tolerance : DBL_MIN);

	if (v->worst >= 0 && !(now > old))
		return;
	v->worst = error;
	v->tolerance = tolerance;
	v->worst_at = at;
	v->tensor = x->name;
}

/* Elements FROM to TO, which share a scale. */
static void
compare_group(const struct judge *j, const struct ktask_tensor *x, const struct rule *r, const double *expected,
    const double *got, size_t from, size_t to, struct verdict *v)
{
	double scale = fmax(rms(expected + from, to - from), r->fixed_scale), cap = j->task->max_error_cap;

	for (size_t i = from; i < to; i++) {
		double e = in_range(x->dtype, expected[i]), error = fabs(got[i] - e);
		double tolerance = r->exact ? 0 : r->rtol * fabs(e) + r->per_scale * scale + r->atol;

		if (!isfinite(e) || !isfinite(got[i])) {
			if (same_special(e, got[i]))
				continue;
			error = INFINITY;
		}
		if (error > v->max_abs)
			v->max_abs = error;
		if (error > v->max_rel * fabs(e) && fabs(e) > 0)
			v->max_rel = error / fabs(e);
		if (error > tolerance) {
			v->mismatches++;
			note(v, x, i, error, tolerance);
		}
		if (cap >= 0 && error > cap)
			v->ok = false;
	}
}

static void
compare_floats(const struct judge *j, const struct batch *b, const struct call *c, size_t tensor, const void *got,
    size_t n, struct verdict *v)
{
	const struct ktask_tensor *x = &j->task->tensors[tensor];
	size_t last = ktask_last_axis(j->task, b->w, x), group = last < GROUP ? (GROUP + last - 1) / last * last : last;
	double *wide = kmalloc(n * sizeof *wide);
	const double *expected = c->expected[tensor];
	struct rule r = rule_of(j, b, c, tensor, expected, n);

	values_widen(x->dtype, got, n, wide);
	for (size_t from = 0; from < n;) {
		/* What is left over joins the last group. */
		size_t to = n - from < 2 * group ? n : from + group;

		compare_group(j, x, &r, expected, wide, from, to, v);
		from = to;
	}
	free(wide);
}

static void
compare_integers(const struct ktask_tensor *x, const void *expected, const void *got, size_t n, struct verdict *v)
{
	size_t size = kdtype_size(x->dtype);

	for (size_t i = 0; i < n; i++) {
		const char *e = (const char *)expected + i * size, *g = (const char *)got + i * size;
		double a, b;

		if (!memcmp(e, g, size))
			continue;
		values_widen(x->dtype, e, 1, &a);
		values_widen(x->dtype, g, 1, &b);
		v->mismatches++;
		v->max_abs = fmax(v->max_abs, fabs(a - b));
		note(v, x, i, fabs(a - b), 0);
	}
}

static size_t
count_poison(const void *got, size_t n, size_t size, const void *poison)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += !memcmp((const char *)got + i * size, poison, size);
	return count;
}

void
compare_tensor(const struct judge *j, const struct batch *b, const struct call *c, size_t tensor, const void *got,
    const void *poison, struct verdict *v)
{
	const struct ktask_tensor *x = &j->task->tensors[tensor];
	size_t n = ktask_elements(j->task, b->w, x), before = v->mismatches;

	v->elements += n;
	if (kdtype_is_float(x->dtype))
		compare_floats(j, b, c, tensor, got, n, v);
	else
		compare_integers(x, c->expected[tensor], got, n, v);
	if (v->mismatches > before && !x->input)
		v->unwritten += count_poison(got, n, kdtype_size(x->dtype), poison);
}

void
verdict_end(const struct judge *j, struct verdict *v)
{
	if ((double)v->mismatches > (1 - j->task->matched_ratio) * (double)v->elements)
		v->ok = false;
}
