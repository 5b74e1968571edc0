/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: inputs of one or more calls, drawn afresh, and the results expected of them, which never leave this
 * process.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kharness.h"

/* Outputs of fewer elements than this get a scale of their own, see below. */
enum { FEW = 64, PERTURBATIONS = 4 };

static size_t
wide_size(enum kdtype t)
{
	return kdtype_is_float(t) ? sizeof(double) : kdtype_size(t);
}

/* Tensors as the oracle wants them; outputs that are no inputs are left empty. The caller frees each. */
static void
widen(const struct ktask *t, const struct ktask_workload *w, const struct call *c, void **values)
{
	for (size_t i = 0; i < t->tensor_count; i++) {
		const struct ktask_tensor *x = &t->tensors[i];
		size_t n = ktask_elements(t, w, x);

		values[i] = NULL;
		if (x->scalar)
			continue;
		values[i] = kmalloc(n * wide_size(x->dtype));
		if (x->input && kdtype_is_float(x->dtype))
			values_widen(x->dtype, c->raw[i], n, values[i]);
		else if (x->input)
			memcpy(values[i], c->raw[i], n * kdtype_size(x->dtype));
	}
}

/* Each floating input times 1 -+ eps. */
static void
perturb(const struct ktask *t, const struct ktask_workload *w, struct krng *rng, void **values)
{
	for (size_t i = 0; i < t->tensor_count; i++) {
		const struct ktask_tensor *x = &t->tensors[i];
		double *v = values[i], eps = kdtype_eps(x->dtype);

		for (size_t k = 0, n = ktask_elements(t, w, x); !x->scalar && x->input && eps > 0 && k < n; k++)
			v[k] *= krng_u64(rng) >> 63 ? 1 + eps : 1 - eps;
	}
}

/*
 * How far rounding of the inputs moves a small output, in units of eps: the root mean square over a few perturbed runs.
 * The size of the result itself is no measure there, because one sum may happen to cancel.
 */
static void
small_scales(struct judge *j, const struct ktask_workload *w, struct call *c, struct krng *rng)
{
	const struct ktask *t = j->task;
	double sum[KTASK_TENSORS] = { 0 };
	bool any = false;

	for (size_t i = 0; i < t->tensor_count; i++)
		any |= t->tensors[i].output && ktask_elements(t, w, &t->tensors[i]) < FEW;
	for (int p = 0; any && p < PERTURBATIONS; p++) {
		void *values[KTASK_TENSORS];

		widen(t, w, c, values);
		perturb(t, w, rng, values);
		oracle_call(j->oracle, w, values);
		for (size_t i = 0; i < t->tensor_count; i++) {
			const struct ktask_tensor *x = &t->tensors[i];
			size_t n = ktask_elements(t, w, x);

			for (size_t k = 0; x->output && kdtype_is_float(x->dtype) && n < FEW && k < n; k++) {
				double d = ((double *)values[i])[k] - ((double *)c->expected[i])[k];

				d /= kdtype_eps(x->dtype);
				sum[i] += isfinite(d) ? d * d / (double)(n * PERTURBATIONS) : 0;
			}
			free(values[i]);
		}
	}
	for (size_t i = 0; i < t->tensor_count; i++)
		c->scale[i] = sqrt(sum[i]);
}

static void
expect(struct judge *j, const struct ktask_workload *w, struct call *c, struct krng *rng)
{
	const struct ktask *t = j->task;
	void *values[KTASK_TENSORS];

	widen(t, w, c, values);
	oracle_call(j->oracle, w, values);
	for (size_t i = 0; i < t->tensor_count; i++)
		if (t->tensors[i].output)
			c->expected[i] = values[i];
		else
			free(values[i]);
	small_scales(j, w, c, rng);
}

static void
draw(struct judge *j, const struct batch *b, struct call *c, struct krng *rng)
{
	const struct ktask *t = j->task;

	for (size_t i = 0; i < t->tensor_count; i++) {
		const struct ktask_tensor *x = &t->tensors[i];
		size_t n = ktask_elements(t, b->w, x);

		if (x->scalar || !x->input)
			continue;
		c->raw[i] = kmalloc(n * kdtype_size(x->dtype));
		values_draw(x->dtype, x->distribution < KDIST_COUNT ? x->distribution : b->dist, rng, n, c->raw[i]);
	}
}

void
batch_draw(struct judge *j, struct batch *b, const struct ktask_workload *w, enum kdist dist, size_t count,
    bool expected)
{
	struct krng rng;

	*b = (struct batch){ .w = w, .dist = dist, .count = count, .calls = kcalloc(count, sizeof *b->calls),
	    .seed = j->draws };
	krng_init(&rng, j->o.seed, (long)j->draws++, 0, "inputs");
	for (size_t i = 0; i < count; i++) {
		draw(j, b, &b->calls[i], &rng);
		if (expected && j->oracle)
			expect(j, w, &b->calls[i], &rng);
	}
}

void
batch_free(struct batch *b)
{
	for (size_t i = 0; i < b->count; i++)
		for (size_t k = 0; k < KTASK_TENSORS; k++) {
			free(b->calls[i].raw[k]);
			free(b->calls[i].expected[k]);
		}
	free(b->calls);
	*b = (struct batch){ 0 };
}
