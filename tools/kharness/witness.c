/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: calls of a go that the oracle does not check, because it is slow. All racers get the
 * same inputs, so each is compared with the first. If they differ, the oracle decides for one call
 * which is wrong.
 */
#include "kharness.h"

/* Outputs that take more memory than this, and than the slots of a race, are not kept. */
static const size_t bytes_max = (size_t)256 << 20;

void
witness_take(struct witness *w, const struct memory *m, const struct batch *b)
{
	bool all = true;

	kforeach_of(c, b->calls, b->count)
		all &= call_is_checked(c);
	if (all || !judge.oracle ||
	    (m->out.bytes > bytes_max && m->out.bytes > judge.space->arena_bytes))
		return;
	w->calls = b->count;
	w->outputs = memory_outputs(m);
}

void
witness_drop(struct witness *w)
{
	judge.space->release(w->outputs);
	*w = (struct witness){ 0 };
}

/* How far output I of a call is from the witness', by its tolerance; 0: within it. */
static double
distance(
    const struct witness *w, const struct memory *m, const struct batch *b, size_t call, size_t i)
{
	const struct ktask_tensor *x = &judge.task->tensors[i];
	size_t bytes = tensor_bytes(b->w, x), at = m->places[call].tensor[i];
	const char *now = m->out.memory + at, *then = w->outputs + at;
	struct verdict v;

	if (!kdtype_is_float(x->dtype))
		return judge.space->differs(&(struct pair){ now, then, bytes }, 1) ? INFINITY : 0;
	verdict_begin(&v);
	compare_outputs(b, i, then, now, m->poison, &v);
	verdict_end(&v);
	return v.ok ? 0 : v.tolerance > 0 ? v.worst / v.tolerance : INFINITY;
}

size_t
witness_differs(const struct witness *w, const struct memory *m, const struct batch *b)
{
	size_t calls = b->count < w->calls ? b->count : w->calls, from, furthest = b->count;
	int64_t start = know_ns();
	double most = 0;
	struct krng rng = judge_stream(judge.draws++, "first of the others");

	from = krng_below(&rng, calls);
	for (size_t n = 0; n < calls && kseconds_since(start) < judge.space->oracle_s; n++) {
		size_t k = (from + n) % calls;

		if (call_is_checked(&b->calls[k]))
			continue;
		for (size_t i = 0; i < judge.task->tensor_count; i++) {
			double d = judge.task->tensors[i].output ? distance(w, m, b, k, i) : 0;

			if (d > most) {
				most = d;
				furthest = k;
			}
		}
	}
	return furthest;
}
