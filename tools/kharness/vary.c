/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: workloads that the task does not list: sizes and scalars similar to those of a listed
 * one, drawn anew in every run. Anything that is the same in every call could be hard-coded, or
 * ignored. The rule is in docs/task.md.
 */

#include "kharness.h"

enum {
	TRIES = 200,
	/* tries to give an axis another value than the listed one, or an odd one */
	OTHERS = 32,
	/* half of the sizes are next to a multiple of a power of two, at most 2 to the BLOCKS */
	BLOCKS = 8,
	/* one scalar in this many is close to an end of the range that the task states */
	ENDS = 4
};
/*
 * No closer than this part of the range: at the end itself an honest kernel's errors may have no
 * bound, as those of a recurrence whose factor comes to 1.
 */
static const double margin = 0.005;

struct variation {
	const struct ktask_workload *w; /* the listed one */
	struct ktask_workload *to;
	struct krng *rng; /* NULL: the largest sizes */
	/* the only axis that varies; as many as there are: all do; VARY_SCALARS: none */
	size_t only;
	bool odd;                             /* sizes are odd multiples of their units */
	bool divides[KTASK_AXES][KTASK_AXES]; /* [b][a]: in every workload listed, b divides a */
};

static void __attribute__((format(printf, 2, 3)))
tell(struct ktask_workload *to, const char *fmt, ...)
{
	size_t len = strlen(to->drawn);
	va_list ap;

	if (len && len + 3 < sizeof to->drawn) {
		strcpy(to->drawn + len, ", ");
		len += 2;
	}
	va_start(ap, fmt);
	vsnprintf(to->drawn + len, sizeof to->drawn - len, fmt, ap);
	va_end(ap);
}

/* Contents of inputs that a workload gives, such as offsets, are only valid for its sizes. */
static bool
has_contents(const struct ktask_workload *w)
{
	const char *name;
	json_t *v;

	json_object_foreach((json_t *)w->values, name, v)
		if (json_is_array(v) || json_is_object(v))
			return true;
	return false;
}

static bool
is_free(const struct variation *x, size_t i)
{
	const struct ktask_axis *a = &judge.task->axes[i];

	return a->kind == KAXIS_VAR && !a->limits.fixed &&
	    (x->only == i || x->only == judge.task->axis_count) &&
	    (a->limits.stated || !has_contents(x->w));
}

static bool
always_divides(size_t b, size_t a)
{
	if (a == b || judge.task->axes[a].kind == KAXIS_EXPR ||
	    judge.task->axes[b].kind == KAXIS_EXPR)
		return false;
	workloads_each(w) {
		const int64_t *axis = w->axis;

		if (axis[b] < 1 || axis[a] < 1 || axis[a] % axis[b])
			return false;
	}
	return true;
}

static int64_t
gcd(int64_t a, int64_t b)
{
	return b ? gcd(b, a % b) : a;
}

/*
 * A multiple of UNIT in the range; -1 when there is none. Kernels go wrong most easily when
 * nothing, one element, or all but one is left over after whole vectors and tiles.
 */
static int64_t
multiple(struct krng *rng, int64_t low, int64_t high, int64_t unit)
{
	int64_t first = (low + unit - 1) / unit, last = high / unit, v, block, near;

	if (first > last)
		return -1;
	if (!rng)
		return last * unit;
	v = (first + (int64_t)krng_below(rng, (size_t)(last - first + 1))) * unit;
	block = (int64_t)2 << krng_below(rng, BLOCKS);
	near = v / block * block + (int64_t)krng_below(rng, 3) - 1;
	return unit == 1 && krng_below(rng, 2) && near >= low && near <= high ? near : v;
}

/* The same, but not LISTED, and an odd multiple if ODD, where there is one. */
static int64_t
other_multiple(struct krng *rng, int64_t low, int64_t high, int64_t unit, int64_t listed, bool odd)
{
	int64_t v = listed;

	for (int n = 0; n < OTHERS && (v == listed || (odd && v / unit % 2 == 0)); n++)
		v = multiple(rng, low, high, unit);
	return v;
}

/*
 * Axis I, after the smaller ones: between half and twice the listed value. False when no value
 * fits.
 */
static bool
draw_axis(struct variation *x, size_t i, const bool *done)
{
	const struct ktask_limits *l = &judge.task->axes[i].limits;
	int64_t v = x->w->axis[i], unit = l->step, low = (v + 1) / 2, high = 2 * v + 1, now;

	for (size_t b = 0; b < judge.task->axis_count; b++) {
		int64_t with = x->to->axis[b];

		if (!done[b] || !x->divides[b][i])
			continue;
		if (x->divides[i][b]) {
			x->to->axis[i] = with;
			return true;
		}
		unit = unit / gcd(unit, with) * with;
	}
	now = other_multiple(
	    x->rng, low > l->min ? low : l->min, high < l->max ? high : l->max, unit, v, x->odd);
	if (now < 0)
		now = other_multiple(x->rng, l->min, l->max, unit, v, x->odd);
	x->to->axis[i] = now;
	return now >= 0;
}

/* The smallest axis that is not done; the number of axes when all are. */
static size_t
next_axis(const struct variation *x, const bool *done)
{
	size_t best = judge.task->axis_count;

	for (size_t i = 0; i < judge.task->axis_count; i++)
		if (!done[i] &&
		    (best == judge.task->axis_count || x->w->axis[i] < x->w->axis[best]))
			best = i;
	return best;
}

static bool
try_axes(struct variation *x)
{
	const struct ktask *t = judge.task;
	bool done[KTASK_AXES] = { false };

	memcpy(x->to->axis, x->w->axis, sizeof x->to->axis);
	for (size_t i = 0; i < t->axis_count; i++)
		done[i] = !is_free(x, i);
	for (size_t i; (i = next_axis(x, done)) < t->axis_count; done[i] = true)
		if (!draw_axis(x, i, done))
			return false;
	for (size_t b = 0; b < t->axis_count; b++)
		for (size_t a = 0; a < t->axis_count; a++)
			if (x->divides[b][a] &&
			    (x->to->axis[b] < 1 || x->to->axis[a] % x->to->axis[b]))
				return false;
	return ktask_settle(t, x->to);
}

static bool
is_listed(const struct ktask_workload *w)
{
	return kany(
	    workloads_each(x), !memcmp(x->axis, w->axis, judge.task->axis_count * sizeof *w->axis));
}

/* At most as large as the listed one, or small, and within the arenas. */
static bool
is_affordable(const struct variation *x, size_t in_bytes, size_t out_bytes)
{
	size_t in, out, was_in, was_out;

	memory_slot(x->w, &was_in, &was_out);
	memory_slot(x->to, &in, &out);
	return in <= in_bytes && out <= out_bytes &&
	    (in + out <= was_in + was_out || workload_is_small(x->to));
}

static void
draw_axes(struct variation *x, size_t in_bytes, size_t out_bytes)
{
	const struct ktask *t = judge.task;
	bool found = false, any = false;

	for (size_t i = 0; i < t->axis_count; i++)
		any |= is_free(x, i);
	for (size_t b = 0; b < t->axis_count; b++)
		for (size_t a = 0; a < t->axis_count; a++)
			x->divides[b][a] = always_divides(b, a);
	for (int n = 0; any && n < TRIES && !found; n++)
		found = try_axes(x) && !is_listed(x->to) && is_affordable(x, in_bytes, out_bytes);
	if (!found)
		memcpy(x->to->axis, x->w->axis, sizeof x->to->axis);
	for (size_t i = 0; found && i < t->axis_count; i++)
		if (t->axes[i].kind == KAXIS_VAR && x->to->axis[i] != x->w->axis[i])
			tell(x->to, "%s drawn as %lld", t->axes[i].name, (long long)x->to->axis[i]);
}

static double
draw_scalar(struct krng *rng, const struct ktask_tensor *s, double v)
{
	double low, high, u = krng_double(rng);

	if (!ktask_range(s->dtype, v, s->min, s->max, &low, &high))
		return v;
	if (!isnan(s->min) && !isnan(s->max)) {
		u = krng_below(rng, ENDS) ? margin + (1 - 2 * margin) * u : margin * (1 + u);
		u = krng_below(rng, 2) ? u : 1 - u;
	}
	if (kdtype_is_float(s->dtype))
		return low + (high - low) * u;
	return low + floor(u * (high - low + 1));
}

static void
draw_scalars(struct variation *x)
{
	tensors_each(s) {
		double v, now;

		if (!s->scalar || s->fixed)
			continue;
		v = ktask_scalar(x->w, s);
		now = draw_scalar(x->rng, s, v);
		if (!(now < v || now > v))
			continue;
		json_object_set_new((json_t *)x->to->values, s->name,
		    kdtype_is_float(s->dtype) ? json_real(now) : json_integer((json_int_t)now));
		tell(x->to, "%s drawn as %g", s->name, now);
	}
}

/* Number of rows of a group in a workload's list, which holds offsets or counts. */
static int64_t
rows_of(const json_t *list, bool offsets, size_t group)
{
	int64_t v = json_integer_value(json_array_get(list, group + offsets));

	return offsets ? v - json_integer_value(json_array_get(list, group)) : v;
}

/* Put the groups of a grouped operation into another order. */
static void
draw_groups(struct variation *x)
{
	const char *name =
	    judge.task->groups < 0 ? "" : judge.task->tensors[judge.task->groups].name;
	const json_t *list = json_object_get(x->w->values, name);
	bool offsets = judge.task->group_offsets;
	size_t n = json_array_size(list) - (offsets && list);
	auto_free size_t *order = kcalloc(n + 1, sizeof *order);
	int64_t at = json_integer_value(json_array_get(list, 0));
	json_auto_t *moved = json_array();

	for (size_t i = 0; i < n; i++)
		order[i] = i;
	if (offsets)
		json_array_append_new(moved, json_integer(at));
	for (size_t i = 0; i < n; i++) {
		size_t k = i + krng_below(x->rng, n - i), group = order[k];

		order[k] = order[i];
		at = rows_of(list, offsets, group) + (offsets ? at : 0);
		json_array_append_new(moved, json_integer(at));
	}
	if (list && !json_equal(moved, (json_t *)list)) {
		json_object_set((json_t *)x->to->values, name, moved);
		tell(x->to, "%s in a different order", name);
	}
}

bool
vary_draw(const struct ktask_workload *w, size_t only, bool odd, struct krng *rng, size_t in_bytes,
    size_t out_bytes, struct ktask_workload *to)
{
	struct variation x = { .w = w, .to = to, .rng = rng, .only = only, .odd = odd };

	*to = *w;
	to->values = w->values ? json_deep_copy(w->values) : json_object();
	draw_axes(&x, in_bytes, out_bytes);
	if (only >= judge.task->axis_count && rng) {
		draw_scalars(&x);
		draw_groups(&x);
	}
	if (*to->drawn)
		return true;
	vary_free(to);
	return false;
}

void
vary_scalars(const struct ktask_workload *w, struct ktask_workload *to)
{
	struct krng rng = judge_stream(judge.draws++, "scalars");

	if (vary_draw(w, VARY_SCALARS, false, &rng, 0, 0, to))
		return;
	*to = *w;
	json_incref((json_t *)to->values);
}

void
vary_free(struct ktask_workload *w)
{
	json_decref((json_t *)w->values);
	w->values = NULL;
}
