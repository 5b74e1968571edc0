/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: inputs whose contents a file gives, as they were where the kernel is used for real, and
 * others like them: a kernel that remembers the results of recorded inputs must not pass.
 *
 * What makes up the structure stays: zeros, infinities and NaN where they are, whole numbers whole,
 * ascending numbers ascending, and none is beyond the smallest and the largest recorded. Every
 * other number moves by a random share of the way to another one of the file, and then all of them
 * move by one share towards one of them, so that their sum changes, too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kharness.h"
#include "knpy.h"

struct recording {
	struct recording *next;
	char *path;
	enum kdtype dtype;
	struct knpy file;
	double *values; /* of those that other contents are drawn from; NULL: not needed so far */
	bool whole;     /* whole numbers alone */
	int direction;  /* 1: ascending, -1: descending, 0: neither */
};

/* Files stay in memory: most are drawn from in every round. */
static struct recording *recordings;

/* Whether the file's elements can be those of a tensor of type T. */
static bool
is_of_type(const struct knpy *a, enum kdtype t)
{
	const char *name = kdtype_name(t);
	/* NumPy has no narrow types but float16: their bits are unsigned numbers there. */
	bool bits = kdtype_is_storage(t) && a->kind == 'u';
	char kind = *name == 't' ? 'f' : *name;

	return a->size == kdtype_size(t) &&
	    (bits || (a->kind == kind && (t != KDTYPE_BF16 && (kind != 'f' || a->size > 1))));
}

static void
require(const struct judge *j, const struct ktask_workload *w, const struct ktask_tensor *x,
    const struct recording *r)
{
	size_t n = ktask_elements(j->task, w, x);

	if (!is_of_type(&r->file, x->dtype))
		kdie(K_USAGE, "%s: %s: holds elements of type %c%zu, but %s is %s", j->task->file,
		    r->path, r->file.kind, r->file.size, x->name, kdtype_name(x->dtype));
	if (r->file.count != n)
		kdie(K_USAGE, "%s: %s: holds %zu elements, but %s has %zu in workload %s",
		    j->task->file, r->path, r->file.count, x->name, n, w->name);
}

static struct recording *
recording_of(const struct judge *j, const struct ktask_workload *w, const struct ktask_tensor *x)
{
	bool fresh;
	const char *name = json_string_value(json_object_get(ktask_recorded(w, x, &fresh), "file"));
	char *path = ktask_path(j->task, name), why[256];
	struct recording *r = recordings;

	while (r && (strcmp(r->path, path) != 0 || r->dtype != x->dtype))
		r = r->next;
	if (!r) {
		r = kcalloc(1, sizeof *r);
		*r = (struct recording){ recordings, kstrdup(path), x->dtype, { 0 }, NULL, false,
			0 };
		if (!knpy_read(path, &r->file, why, sizeof why))
			kdie(K_USAGE, "%s: %s: %s", j->task->file, path, why);
		recordings = r;
	}
	require(j, w, x, r);
	free(path);
	return r;
}

static bool
is_whole(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i]) && (v[i] < rint(v[i]) || v[i] > rint(v[i])))
			return false;
	return true;
}

static int
direction_of(const double *v, size_t n)
{
	bool up = n > 1, down = n > 1;

	for (size_t i = 1; i < n; i++) {
		up &= v[i] >= v[i - 1];
		down &= v[i] <= v[i - 1];
	}
	/* All are the same: there is nothing to put in order. */
	return up == down ? 0 : up ? 1 : -1;
}

static void
look_at(struct recording *r)
{
	size_t n = r->file.count;

	r->values = kcalloc(n, sizeof *r->values);
	values_widen(r->dtype, r->file.data, n, r->values);
	r->whole = is_whole(r->values, n);
	r->direction = direction_of(r->values, n);
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int
descending(const void *a, const void *b)
{
	return ascending(b, a);
}

/* A finite number of the file; 0 when a few tries meet none. */
static double
any_of(const struct recording *r, struct krng *rng)
{
	for (int i = 0; i < 16; i++) {
		double v = r->values[krng_below(rng, r->file.count)];

		if (isfinite(v))
			return v;
	}
	return 0;
}

static double
redraw(const struct recording *r, double v, uint64_t seed, size_t i)
{
	double other = r->values[small_mix(seed, i) % r->file.count],
	       share = (double)(small_mix(~seed, i) >> 11) * 0x1p-53;

	if (!isfinite(other))
		return v;
	/* A zero means something among whole numbers, more often than not. */
	if (r->whole)
		return fabs(other) > 0 ? other : v;
	return v + share * (other - v);
}

static void
redraw_all(struct recording *r, struct krng *rng, double *v)
{
	size_t n = r->file.count;
	double to = any_of(r, rng), share = r->whole ? 0 : krng_double(rng) / 2;
	uint64_t seed = krng_u64(rng);

	for (size_t i = 0; i < n; i++) {
		double now = r->values[i];

		if (isfinite(now) && fabs(now) > 0) {
			now = redraw(r, now, seed, i);
			now += share * (to - now);
		}
		v[i] = now;
	}
	if (r->direction)
		qsort(v, n, sizeof *v, r->direction > 0 ? ascending : descending);
}

bool
recorded_varies(const struct ktask *t, const struct ktask_workload *w)
{
	bool fresh;

	for (size_t i = 0; i < t->tensor_count; i++) {
		const struct ktask_tensor *x = &t->tensors[i];

		if (!x->scalar && x->input && (!ktask_recorded(w, x, &fresh) || fresh) &&
		    !json_is_array(json_object_get(w->values, x->name)))
			return true;
	}
	return false;
}

bool
recorded_any(const struct ktask *t, const struct ktask_workload *w)
{
	bool any = false, fresh;

	for (size_t i = 0; i < t->tensor_count; i++)
		any |= ktask_recorded(w, &t->tensors[i], &fresh) != NULL;
	return any;
}

bool
recorded_draw(const struct judge *j, const struct batch *b, const struct ktask_tensor *x,
    struct krng *rng, void *to)
{
	struct recording *r;
	size_t bytes;
	bool fresh;
	double *v;
	char *raw;

	if (!ktask_recorded(b->w, x, &fresh))
		return false;
	r = recording_of(j, b->w, x);
	bytes = r->file.count * r->file.size;
	if (!fresh || b->dist == KDIST_RECORDED) {
		j->space->store(to, r->file.data, bytes);
		return true;
	}
	if (!r->values)
		look_at(r);
	v = kcalloc(r->file.count, sizeof *v);
	raw = kmalloc(bytes);
	redraw_all(r, rng, v);
	values_narrow(x->dtype, v, r->file.count, raw);
	j->space->store(to, raw, bytes);
	free(raw);
	free(v);
	return true;
}
