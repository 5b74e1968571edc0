/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: how useful a task's inputs are, tried with the oracle on a few small workloads: a
 * kernel could ignore inputs that have no influence on the results, and hard-code those that never
 * vary. Gives notes, not faults.
 */

#include "kharness.h"

enum { WORKLOADS = 4, DRAWS = 4 };

static struct trial {
	const struct ktask_workload *w[WORKLOADS]; /* the smallest ones */
	size_t count;
} trial; /* of this process */

static size_t
bytes_of(const struct ktask_workload *w)
{
	size_t in, out;

	memory_slot(w, &in, &out);
	return in + out;
}

static void
choose_workloads(void)
{
	workloads_each(w) {
		size_t at = trial.count < WORKLOADS ? trial.count++ : WORKLOADS - 1;

		if (trial.w[at] && bytes_of(trial.w[at]) <= bytes_of(w))
			continue;
		for (; at && bytes_of(trial.w[at - 1]) > bytes_of(w); at--)
			trial.w[at] = trial.w[at - 1];
		trial.w[at] = w;
	}
}

/* Whether the oracle's results for the batch differ from those when it was drawn. */
static bool
has_moved(struct batch *b)
{
	struct call was = *b->calls;
	bool moved = false;

	batch_expect(b);
	tensors_each(o) {
		size_t i = tensor_number(o);
		size_t size = kdtype_is_float(o->dtype) ? sizeof(double) : kdtype_size(o->dtype);

		if (!o->output)
			continue;
		moved |=
		    judge.space->differs(&(struct pair){ was.expected[i], b->calls->expected[i],
		                             tensor_elements(b->w, o) * size },
		        1);
		judge.space->release(b->calls->expected[i]);
	}
	memcpy(b->calls->expected, was.expected, sizeof was.expected);
	return moved;
}

/* The same call, with other contents of tensor I. */
static bool
tensor_moves(const struct ktask_workload *w, size_t i)
{
	struct batch b, other;
	void *own;
	bool moved;

	batch_draw(&b, w, judge.task->distributions[0], 1, true);
	batch_draw(&other, w, judge.task->distributions[0], 1, false);
	own = b.calls->raw[i];
	b.calls->raw[i] = other.calls->raw[i];
	moved = has_moved(&b);
	b.calls->raw[i] = own;
	batch_free(&b);
	batch_free(&other);
	return moved;
}

/* The same call, with the sizes and scalars of another workload. */
static bool
workload_moves(const struct ktask_workload *w, const struct ktask_workload *other)
{
	struct batch b;
	bool moved;

	batch_draw(&b, w, judge.task->distributions[0], 1, true);
	b.w = other;
	moved = has_moved(&b);
	b.w = w;
	batch_free(&b);
	return moved;
}

static bool
scalar_moves(const struct ktask_workload *w, const struct ktask_tensor *s)
{
	struct ktask_workload other = *w;
	json_auto_t *values = w->values ? json_deep_copy(w->values) : json_object();
	double v = ktask_scalar(w, s), low, high;

	if (!ktask_range(s->dtype, v, s->min, s->max, &low, &high))
		low = high = v;
	v = v > low ? low : high;
	json_object_set_new(values, s->name,
	    kdtype_is_float(s->dtype) ? json_real(v) : json_integer((json_int_t)v));
	other.values = values;
	return workload_moves(w, &other);
}

/* Whether any workload shows that input I matters; inputs with given contents are not tried. */
static bool
input_matters(size_t i)
{
	const struct ktask_tensor *in = &judge.task->tensors[i];
	bool matters = false;

	for (size_t k = 0; k < trial.count && !matters; k++)
		for (int n = 0; n < DRAWS && !matters; n++)
			matters = in->scalar ? scalar_moves(trial.w[k], in)
			                     : json_object_get(trial.w[k]->values, in->name) ||
			        tensor_moves(trial.w[k], i);
	return matters;
}

static bool
scalar_varies(const struct ktask_tensor *s)
{
	double low, high, first = ktask_scalar(judge.task->workloads, s);
	bool varies = false;

	workloads_each(w) {
		double v = ktask_scalar(w, s);

		varies |=
		    v < first || v > first || ktask_range(s->dtype, v, s->min, s->max, &low, &high);
	}
	return varies;
}

static void
try_input(size_t i)
{
	const struct ktask_tensor *in = &judge.task->tensors[i];

	if (!in->input || in->fixed)
		return;
	if (in->scalar && !scalar_varies(in))
		kwarn("%s: note: inputs.%s is %g in all calls, so a kernel may hard-code it; give "
		      "it \"min\" and \"max\", or \"fixed\": true",
		    judge.task->file, in->name, ktask_scalar(judge.task->workloads, in));
	else if (!input_matters(i))
		kwarn("%s: note: inputs.%s has no influence on the results, "
		      "so a kernel may ignore it",
		    judge.task->file, in->name);
}

/* An axis that is in no shape: the same tensors, with another value of the axis. */
static void
try_axis(size_t i)
{
	const struct ktask_axis *a = &judge.task->axes[i];
	bool tried = false;

	kforeach_of(at, trial.w, trial.count) {
		const struct ktask_workload *w = *at;
		struct ktask_workload other = *w;

		other.axis[i] = w->axis[i] > a->limits.min ? a->limits.min : a->limits.max;
		if (!ktask_settle(judge.task, &other))
			continue;
		tensors_each(tensor)
			if (tensor_elements(w, tensor) != tensor_elements(&other, tensor))
				return;
		tried = true;
		if (workload_moves(w, &other))
			return;
	}
	if (tried)
		kwarn("%s: note: axes.%s has no influence on the results, "
		      "so a kernel may ignore it",
		    judge.task->file, a->name);
}

/* So do whole numbers near the limits of their type, which as an index could be anywhere. */
static void
try_limits(const struct ktask_tensor *in)
{
	bool whole = !kdtype_is_float(in->dtype) && kdtype_size(in->dtype) > 1;

	if (!in->scalar && in->input && whole && in->distribution == KDIST_COUNT &&
	    !json_object_get(trial.w[0]->values, in->name) && !batch_may_be_special(in))
		kwarn("%s: note: numbers near the limits of %s never occur in inputs.%s; add "
		      "\"special\" to \"distributions\" if kernels must handle them, or give it a "
		      "\"distribution\"",
		    judge.task->file, kdtype_name(in->dtype), in->name);
}

/* NaN and infinities must be requested by name: most kernels need not handle them. */
static void
try_special(const struct ktask_workload *w)
{
	size_t finite = 0, count = 0;
	struct batch b;

	kforeach_of(dist, judge.task->distributions, judge.task->distribution_count)
		if (*dist == KDIST_SPECIAL)
			return;
	for (int n = 0; n < DRAWS; n++) {
		batch_draw(&b, w, KDIST_SPECIAL, 1, true);
		tensors_each(o) {
			size_t i = tensor_number(o);
			bool real = o->output && kdtype_is_float(o->dtype);
			size_t elements = real ? tensor_elements(w, o) : 0;
			auto_free double *values = kmalloc(elements * sizeof *values + 1);

			if (elements)
				judge.space->fetch(
				    values, b.calls->expected[i], elements * sizeof *values);
			count += elements;
			kforeach_of(value, values, elements)
				finite += isfinite(*value) != 0;
		}
		batch_free(&b);
	}
	if (finite && finite < count)
		kwarn("%s: note: with NaN and infinite inputs, "
		      "%zu %% of the results are finite on workload %s; "
		      "add \"special\" to \"distributions\" if kernels must handle them",
		    judge.task->file, finite * 100 / count, w->name);
}

void
lint_inputs(void)
{
	choose_workloads();
	for (size_t i = 0; i < judge.task->tensor_count; i++)
		try_input(i);
	for (size_t i = 0; i < judge.task->axis_count; i++)
		if (judge.task->axes[i].kind == KAXIS_VAR && !judge.task->axes[i].limits.fixed)
			try_axis(i);
	tensors_each(tensor)
		try_limits(tensor);
	try_special(trial.w[trial.count - 1]);
}
