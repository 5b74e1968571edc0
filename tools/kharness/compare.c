/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: are the results right? An element may differ from the oracle by
 *
 *   rtol * |expected| + c * eps * sqrt(L) * scale
 *
 * where L is the length of the reduction and scale the root mean square of the expected values
 * around it: rounding errors of a sum grow like a random walk (Higham, Accuracy and Stability of
 * Numerical Algorithms, section 4.2) and are relative to its terms, not to its result.
 *
 * Inputs that were rounded to a coarser type err by eps_coarse * scale, however long the sum is, so
 * the longer it is, the more rounding would pass. Sums with few terms that are not zero tell the
 * two apart: adding zero is exact, so the honest error is bounded by the number of these terms
 * (equation 4.4 there, where n is that number), while the error of rounded inputs is as large as
 * before. Tasks that are linear, whose results are sums of products, are therefore also judged on
 * sparse inputs (batch.c: some two terms a sum), where the L of the rule is 4 at most.
 *
 * Where a problem is ill-conditioned or a method cancels large numbers, any rounding error grows,
 * whatever the order of operations. If a few elements differ by more, the oracle runs again. What
 * small changes of the inputs do to an element, scaled to eps, is then a scale of its own (section
 * 1.6 there: the error of a stable method is at most the condition times the backward error). What
 * the oracle's own rounding errors do to it, scaled to eps, is allowed c times: they have grown
 * with L already.
 */
#include <float.h>

#include "kharness.h"

enum { C = 8, C_TF32 = 4, RTOL_EPS = 8, RTOL_EPS_STORAGE = 2, GROUP = 64, SPARSE_LENGTH = 4 };
/*
 * The condition matters if at most one element in this many differs; how often the oracle runs for
 * it, for how long at most, and the number of elements that chance may leave.
 */
enum { ILL_CONDITIONED = 4, RUNS_MIN = 4, RUNS_MAX = 64, RUNS_GROW = 4, LEFT = 8 };
static const int64_t condition_ns = 2000000000;
/* The first runs are always made, and need 32 bytes of the judge's memory for each element. */
enum { CONDITION_MOST = 1 << 26 };
/* About this many elements are compared while they are in the caches. */
enum { SLICE = 1 << 14 };

void
verdict_begin(struct verdict *v)
{
	*v = (struct verdict){ .ok = true, .excuses = true, .worst = -1 };
}

/* Smallest normal number: below it, flushing to zero is allowed. */
static double
smallest(enum kdtype t)
{
	switch (t) {
	case KDTYPE_F64:
		return DBL_MIN;
	case KDTYPE_F16:
	case KDTYPE_E5M2:
		return 0x1p-14;
	case KDTYPE_E4M3:
		return 0x1p-6;
	case KDTYPE_E4M3FNUZ:
		return 0x1p-7;
	case KDTYPE_E5M2FNUZ:
		return 0x1p-15;
	default:
		return FLT_MIN;
	}
}

bool
compare_is_sharp(const struct ktask_workload *w)
{
	const struct ktask *t = judge.task;
	bool real = false;

	tensors_each(x)
		real |= batch_may_be_sparse(w, x);
	return real && t->linear && t->atol < 0 && ktask_value(t, w, t->reduction) > SPARSE_LENGTH;
}

static struct rule
rule_of(const struct batch *b, const struct call *c, size_t tensor, size_t n)
{
	const struct ktask *t = judge.task;
	enum kdtype type = t->tensors[tensor].dtype;
	/* Storage types: sums are expected in float32, with one rounding at the end. */
	bool storage = kdtype_is_storage(type);
	double eps = type == KDTYPE_TF32 ? FLT_EPSILON : kdtype_eps(type),
	       sum_eps = storage ? FLT_EPSILON : eps;
	bool sharp = b->dist == KDIST_SPARSE && compare_is_sharp(b->w);
	int64_t length = sharp ? SPARSE_LENGTH : ktask_value(t, b->w, t->reduction);
	struct rule r = { .rtol = t->rtol >= 0 ? t->rtol
		                               : (storage ? RTOL_EPS_STORAGE : RTOL_EPS) * eps,
		.atol = t->atol >= 0 ? t->atol : smallest(type),
		.fixed_scale = c->scale[tensor] };

	if (t->atol < 0) {
		r.per_error = C * sum_eps;
		r.per_scale = r.per_error * sqrt(length > 1 ? (double)length : 1);
	}
	/* Both factors of a product lose bits; the errors of many products grow like their sum. */
	if (t->atol < 0 && type == KDTYPE_TF32)
		*(sharp ? &r.rtol : &r.per_scale) += C_TF32 * kdtype_eps(type);
	/*
	 * {0,1} inputs of a linear task: sums of integers are exact, if the results can be
	 * represented exactly at all. Recorded inputs are other numbers.
	 */
	r.exact = t->linear && b->dist == KDIST_ZERO_ONE && !recorded_any(b->w) &&
	    judge.space->is_exact(type, c->expected[tensor], n);
	return r;
}

static size_t
group_of(const struct batch *b, const struct ktask_tensor *x)
{
	size_t last = ktask_last_axis(judge.task, b->w, x);

	return last < GROUP ? (GROUP + last - 1) / last * last : last;
}

/* Which is further beyond its tolerance, by the ratio; a NaN or infinite error is worst. */
static bool
is_worse(const struct comparison_result *r, const struct verdict *v)
{
	double old = v->worst / (v->tolerance > 0 ? v->tolerance : DBL_MIN);
	double now = r->worst / (r->tolerance > 0 ? r->tolerance : DBL_MIN);

	return r->worst >= 0 && (v->worst < 0 || now > old);
}

/*
 * It does not matter if elements were not written, if the inputs were not kept (in the task's
 * lint), if the task states its tolerance, or for sums of products: the rule is made for these, and
 * small differences tell them from sums of rounded inputs.
 */
static bool
may_be_ill_conditioned(
    const struct call *c, const struct comparison *k, const struct comparison_result *r)
{
	double allowed = (1 - judge.task->matched_ratio) * (double)k->n;
	bool inputs = false;

	kforeach_of(one, c->raw, judge.task->tensor_count)
		inputs |= *one != NULL;
	return (double)r->mismatches > allowed && r->unwritten < r->mismatches &&
	    r->mismatches <= (k->n + ILL_CONDITIONED - 1) / ILL_CONDITIONED &&
	    k->n <= CONDITION_MOST && k->rule.per_scale > 0 && !k->rule.exact &&
	    isfinite(r->worst) && inputs;
}

/*
 * The rule for ill-conditioned elements. A few runs of the oracle may all happen to leave one where
 * it is; more are made while they explain most of what is left, if they are quick.
 */
static void
compare_conditioned(const struct batch *b, const struct call *c, size_t tensor,
    struct comparison *k, struct comparison_result *r)
{
	int64_t start = know_ns(), last = 0, now = start;
	size_t before;
	int runs = RUNS_MIN;

	do {
		double *slack =
		    batch_slack(b, c, tensor, k->rule.per_scale, k->rule.per_error, runs);

		before = r->mismatches;
		k->slack = slack;
		judge.space->compare(k, r);
		judge.space->release(slack);
		last = know_ns() - now;
		now += last;
		runs *= RUNS_GROW;
	} while (r->mismatches && (r->mismatches < LEFT || r->mismatches < before / 2) &&
	    runs <= RUNS_MAX && now - start + RUNS_GROW * last < condition_ns);
	k->slack = NULL;
}

/* N elements, of which EXPECTED has the first. */
static void
compare_elements(const struct batch *b, const struct call *c, size_t tensor, size_t n,
    const void *got, uint64_t poison, struct verdict *v)
{
	const struct ktask_tensor *x = &judge.task->tensors[tensor];
	struct comparison k = { .dtype = x->dtype,
		.n = n,
		.group = group_of(b, x),
		.expected = c->expected[tensor],
		.got = got,
		.cap = judge.task->max_error_cap,
		.poison = poison };
	struct comparison_result r;

	if (kdtype_is_float(x->dtype))
		k.rule = rule_of(b, c, tensor, n);
	judge.space->compare(&k, &r);
	if (v->excuses && may_be_ill_conditioned(c, &k, &r))
		compare_conditioned(b, c, tensor, &k, &r);
	v->elements += n;
	v->mismatches += r.mismatches;
	v->unwritten += x->input ? 0 : r.unwritten;
	v->max_abs = fmax(v->max_abs, r.max_abs);
	v->max_share = fmax(v->max_share, r.max_share);
	if (r.over_cap)
		v->ok = false;
	if (!is_worse(&r, v))
		return;
	v->worst = r.worst;
	v->tolerance = r.tolerance;
	v->worst_at = r.worst_at;
	v->tensor = x->name;
}

void
compare_tensor(const struct batch *b, const struct call *c, size_t tensor, const void *got,
    uint64_t poison, struct verdict *v)
{
	size_t n = tensor_elements(b->w, &judge.task->tensors[tensor]);

	compare_elements(b, c, tensor, n, got, poison, v);
}

void
compare_outputs(const struct batch *b, size_t tensor, const char *then, const char *now,
    uint64_t poison, struct verdict *v)
{
	const struct ktask_tensor *x = &judge.task->tensors[tensor];
	size_t n = tensor_elements(b->w, x), size = kdtype_size(x->dtype), group = group_of(b, x),
	       slice = judge.device ? n : (SLICE + group - 1) / group * group;
	/* No inputs: the oracle is too slow to find out how they affect an element. */
	struct call c = { .expected = { NULL } };

	c.expected[tensor] = judge.space->alloc((n < 2 * slice ? n : 2 * slice) * sizeof(double));
	for (size_t from = 0, some; from < n; from += some) {
		const char *expected = then + from * size, *got = now + from * size;

		/* The remainder joins the last slice, as it joins the last group. */
		some = n - from < 2 * slice ? n - from : slice;
		if (!judge.space->differs(&(struct pair){ expected, got, some * size }, 1)) {
			v->elements += some;
			continue;
		}
		judge.space->widen(x->dtype, expected, some, c.expected[tensor]);
		compare_elements(b, &c, tensor, some, got, poison, v);
	}
	judge.space->release(c.expected[tensor]);
}

void
verdict_end(struct verdict *v)
{
	if ((double)v->mismatches > (1 - judge.task->matched_ratio) * (double)v->elements)
		v->ok = false;
}
