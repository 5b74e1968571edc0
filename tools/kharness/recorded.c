/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: inputs with contents from a file, as they were in real use, and similar ones: a kernel
 * that remembers the results of recorded inputs must not pass.
 *
 * The structure is kept: zeros, infinities and NaN stay where they are, whole numbers stay whole,
 * ascending numbers ascending, and none exceeds the smallest and the largest recorded value. Every
 * other number moves by a random share of the way to another number in the file, and then all of
 * them move by one common share towards one of them, so that their sum changes, too. If the file is
 * ascending or descending, the other number is the next one, so that the order stays. In masks of
 * integers zeros move, too.
 */

#include "kharness.h"
#include "knpy.h"
#include "small.h"

struct recording {
	struct recording *next;
	char *path;
	enum kdtype dtype;
	struct knpy file; /* its data are in the space alone */
	void *values;     /* in the judge's space */
	int whole;        /* whole numbers alone, or a mask of integers; see small.h */
	bool ordered;     /* ascending or descending */
};

/* They stay in memory: most are used in every round. */
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
require(const struct ktask_workload *w, const struct ktask_tensor *x, const struct recording *r)
{
	size_t n = tensor_elements(w, x);

	if (!is_of_type(&r->file, x->dtype))
		kdie(K_USAGE, "%s: %s: holds elements of type %c%zu, but %s is %s",
		    judge.task->file, r->path, r->file.kind, r->file.size, x->name,
		    kdtype_name(x->dtype));
	if (r->file.count != n)
		kdie(K_USAGE, "%s: %s: holds %zu elements, but %s has %zu in workload %s",
		    judge.task->file, r->path, r->file.count, x->name, n, w->name);
}

/* What keeps its structure; see the head of this file. */
HOT static void
look_at(struct recording *r)
{
	enum { CHUNK = 512 };
	size_t count = r->file.count;
	bool up = count > 1, down = count > 1, whole = true, mask = !kdtype_is_float(r->dtype);
	double v[CHUNK], last = 0, one = 0;

	for (size_t done = 0, n; done < count; done += n) {
		n = count - done < CHUNK ? count - done : CHUNK;
		values_widen(r->dtype, r->file.data + done * r->file.size, n, v);
		last = done ? last : v[0];
		for (size_t i = 0; i < n; last = v[i++]) {
			whole &= !isfinite(v[i]) || !(v[i] < rint(v[i]) || v[i] > rint(v[i]));
			one = fabs(one) > 0 ? one : v[i];
			mask &= !(fabs(v[i]) > 0) || !(fabs(v[i] - one) > 0);
			up &= v[i] >= last;
			down &= v[i] <= last;
		}
	}
	r->whole = !whole ? SMALL_BROKEN : mask ? SMALL_MASK : SMALL_WHOLE;
	/* If all are the same, there is no order to keep. */
	r->ordered = up != down;
}

static struct recording *
load(const char *path, enum kdtype dtype)
{
	struct recording *r = kcalloc(1, sizeof *r);
	char why[256];

	*r = (struct recording){ .next = recordings, .path = kstrdup(path), .dtype = dtype };
	if (!knpy_read(path, &r->file, why, sizeof why))
		kdie(K_USAGE, "%s: %s: %s", judge.task->file, path, why);
	return recordings = r;
}

/* Once it is known that the types agree. */
static void
keep(struct recording *r)
{
	size_t bytes = r->file.count * r->file.size;

	look_at(r);
	r->values = judge.space->alloc(bytes);
	judge.space->store(r->values, r->file.data, bytes);
	free(r->file.memory);
	r->file.memory = r->file.data = NULL;
}

static struct recording *
recording_of(const struct ktask_workload *w, const struct ktask_tensor *x)
{
	bool fresh;
	const char *name = json_string_value(json_object_get(ktask_recorded(w, x, &fresh), "file"));
	auto_free char *path = ktask_path(judge.task, name);
	struct recording *r = recordings;

	while (r && (strcmp(r->path, path) || r->dtype != x->dtype))
		r = r->next;
	if (!r)
		r = load(path, x->dtype);
	require(w, x, r);
	if (!r->values)
		keep(r);
	return r;
}

/* A finite number from the file; 0 if a few attempts find none. */
static double
any_of(const struct recording *r, struct krng *rng)
{
	for (int i = 0; i < 16; i++) {
		size_t at = krng_below(rng, r->file.count);
		uint64_t raw;
		double v;

		judge.space->fetch(&raw, (char *)r->values + at * r->file.size, r->file.size);
		values_widen(r->dtype, &raw, 1, &v);
		if (isfinite(v))
			return v;
	}
	return 0;
}

static void
redraw(const struct recording *r, struct krng *rng, void *to)
{
	struct recorded how = { .values = r->values,
		.n = r->file.count,
		.to = any_of(r, rng),
		.whole = r->whole,
		.ordered = r->ordered };

	how.share = r->whole ? 0 : krng_double(rng) / 2;
	how.seed = krng_u64(rng);
	judge.space->redraw(r->dtype, &how, to);
}

bool
recorded_varies(const struct ktask_workload *w)
{
	bool fresh;

	tensors_each(x) {
		if (!x->scalar && x->input && (!ktask_recorded(w, x, &fresh) || fresh) &&
		    !json_is_array(json_object_get(w->values, x->name)))
			return true;
	}
	return false;
}

bool
recorded_any(const struct ktask_workload *w)
{
	bool fresh;

	return kany(tensors_each(x), ktask_recorded(w, x, &fresh));
}

bool
recorded_draw(const struct batch *b, const struct ktask_tensor *x, struct krng *rng, void *to)
{
	struct recording *r;
	bool fresh;

	if (!ktask_recorded(b->w, x, &fresh))
		return false;
	r = recording_of(b->w, x);
	if (!fresh || b->dist == KDIST_RECORDED)
		judge.space->copy(to, r->values, r->file.count * r->file.size);
	else
		redraw(r, rng, to);
	return true;
}
