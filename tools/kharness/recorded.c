/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: inputs with contents from a file, as they were in real use, and similar ones: a kernel
 * that remembers the results of recorded inputs must not pass.
 *
 * The structure is kept: zeros, infinities and NaN stay where they are, whole numbers stay whole,
 * ascending numbers ascending, and none exceeds the smallest and the largest recorded value. Every
 * other number moves by a random share of the way to another number in the file, and then all of
 * them move by one common share towards one of them, so that their sum changes, too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kharness.h"
#include "knpy.h"
#include "kstat.h"

struct recording {
	struct recording *next;
	char *path;
	enum kdtype dtype;
	struct knpy file;
	double *values; /* in the judge's space; NULL: not needed yet */
	bool whole;     /* whole numbers alone */
	int direction;  /* 1: ascending, -1: descending, 0: neither */
};

/* Files stay in memory: most are used in every round. */
static struct recording *recordings;

/* Whether the file's elements fit a tensor of type T. */
static bool
is_of_type(const struct knpy *a, enum kdtype t)
{
	const char *name = kdtype_name(t);
	/*
	 * float16 is NumPy's only narrow type: the bits of others are stored as unsigned numbers.
	 */
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
	/* All are the same: there is nothing to sort. */
	return up == down ? 0 : up ? 1 : -1;
}

static void
look_at(const struct judge *j, struct recording *r)
{
	size_t n = r->file.count;
	double *v = kcalloc(n, sizeof *v);

	values_widen(r->dtype, r->file.data, n, v);
	r->whole = is_whole(v, n);
	r->direction = direction_of(v, n);
	r->values = j->space->alloc(n * sizeof *v);
	j->space->store(r->values, v, n * sizeof *v);
	free(v);
}

/* A finite number from the file; 0 if a few attempts find none. */
static double
any_of(const struct recording *r, struct krng *rng)
{
	for (int i = 0; i < 16; i++) {
		size_t at = krng_below(rng, r->file.count);
		double v;

		values_widen(r->dtype, (const char *)r->file.data + at * r->file.size, 1, &v);
		if (isfinite(v))
			return v;
	}
	return 0;
}

static void
put_in_order(const struct judge *j, const struct recording *r, void *to)
{
	size_t n = r->file.count;
	double *v = kcalloc(n, sizeof *v);
	char *raw = kmalloc(n * r->file.size);

	j->space->fetch(raw, to, n * r->file.size);
	values_widen(r->dtype, raw, n, v);
	kstat_sort(v, n);
	for (size_t i = 0; r->direction < 0 && i < n / 2; i++) {
		double low = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = low;
	}
	values_narrow(r->dtype, v, n, raw);
	j->space->store(to, raw, n * r->file.size);
	free(raw);
	free(v);
}

static void
redraw(const struct judge *j, struct recording *r, struct krng *rng, void *to)
{
	struct recorded how = { .n = r->file.count };

	if (!r->values)
		look_at(j, r);
	how.values = r->values;
	how.to = any_of(r, rng);
	how.whole = r->whole;
	how.share = r->whole ? 0 : krng_double(rng) / 2;
	how.seed = krng_u64(rng);
	j->space->redraw(r->dtype, &how, to);
	if (r->direction)
		put_in_order(j, r, to);
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
	bool fresh;

	if (!ktask_recorded(b->w, x, &fresh))
		return false;
	r = recording_of(j, b->w, x);
	if (!fresh || b->dist == KDIST_RECORDED)
		j->space->store(to, r->file.data, r->file.count * r->file.size);
	else
		redraw(j, r, rng, to);
	return true;
}
