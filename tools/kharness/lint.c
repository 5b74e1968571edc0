/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: is the task worth solving? A kernel that writes zeros, a constant, or an old answer
 * must be judged wrong. This is tried with the judge's own comparison, on the oracle's results for
 * every timed workload.
 */

#include "kgroups.h"
#include "kharness.h"

/*
 * On a GPU, whose results are copied to the host for this, workloads with this many output
 * elements.
 */
enum { DEVICE_MIN = 1024, DEVICE_MAX = 1 << 22 };
/*
 * Results for different inputs differ by this many tolerances. A few numbers that all inputs add
 * to, in a long sum, need fewer: a kernel that leaves out one input in N moves such a sum by 1 /
 * sqrt(N) of what other inputs do, which shows long before it pays.
 */
enum { FEW = 16 };
static const double contrast = 100, contrast_few = 20;
/*
 * What is true for this many inputs is true for all; fewer may agree by chance, as an argmax or a
 * sum of random numbers does.
 */
enum { DRAWS = 16 };

struct lint {
	struct judge *j;
	struct judge host; /* the same judge, for results that were copied to the host */
	const struct ktask_workload *w;
	size_t faults;
	/*
	 * If all results are integers: a workload whose results never change, and whether the
	 * results of any workload do.
	 */
	const struct ktask_workload *constant;
	bool varies;
};

static void __attribute__((format(printf, 2, 3))) complain(struct lint *l, const char *fmt, ...)
{
	va_list ap;
	char text[512];

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	kwarn("%s: workload %s: %s", l->j->task->file, l->w->name, text);
	l->faults++;
}

static double
mean(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += isfinite(x[i]) ? x[i] / (double)n : 0;
	return sum;
}

/* Whether the judge would accept these values as output I of the batch. */
static bool
accepted(struct lint *l, const struct batch *b, size_t i, const double *values, struct verdict *v)
{
	const struct ktask_tensor *x = &l->j->task->tensors[i];
	size_t n = ktask_elements(l->j->task, b->w, x);
	auto_free void *raw = kmalloc(n * kdtype_size(x->dtype));
	uint64_t poison = 0;

	values_narrow(x->dtype, values, n, raw);
	verdict_begin(v);
	compare_tensor(&l->host, b, &b->calls[0], i, raw, poison, v);
	verdict_end(&l->host, v);
	return v->ok;
}

/* What the oracle returns, rounded to the type, is right by definition. */
static void
try_truth(struct lint *l, const struct batch *b, size_t i)
{
	struct verdict v;

	if (!accepted(l, b, i, b->calls[0].expected[i], &v))
		complain(l,
		    "the oracle's own %s, rounded to %s, "
		    "would not pass: the tolerance is too tight (%s)",
		    l->j->task->tensors[i].name, kdtype_name(l->j->task->tensors[i].dtype),
		    kdist_name(b->dist));
}

/*
 * Sizes and scalars that the check will draw: test what the oracle makes of them before any kernel
 * is judged.
 */
static void
try_drawn(struct lint *l)
{
	struct ktask_workload drawn;
	struct krng rng;
	struct batch b;
	size_t in, out;

	memory_largest(l->j, false, &in, &out);
	krng_init(&rng, l->j->o.seed, (long)l->j->draws, 0, "sizes");
	if (!vary_draw(l->j->task, l->w, l->j->task->axis_count, false, &rng, in, out, &drawn))
		return;
	batch_draw(l->j, &b, &drawn, l->j->task->distributions[0], 1, true);
	batch_free(l->j, &b);
	vary_free(&drawn);
}

/* One call's inputs and results, in the host's memory. */
static void
draw(struct lint *l, struct batch *b, enum kdist d)
{
	const struct space *sp = l->j->space;

	batch_draw(l->j, b, l->w, d, 1, true);
	for (size_t i = 0; i < l->j->task->tensor_count; i++) {
		const struct ktask_tensor *x = &l->j->task->tensors[i];
		size_t n = ktask_elements(l->j->task, l->w, x);
		void *from = b->calls[0].expected[i], *to;

		if (from) {
			n *= kdtype_is_float(x->dtype) ? sizeof(double) : kdtype_size(x->dtype);
			to = l->host.space->alloc(n);
			sp->fetch(to, from, n);
			sp->release(from);
			b->calls[0].expected[i] = to;
		}
		/* Inputs are not needed. */
		sp->release(b->calls[0].raw[i]);
		b->calls[0].raw[i] = NULL;
	}
}

/*
 * What is wrong with output I of a batch, compared with another batch, or NULL; the caller frees.
 */
static char *
find_impostors(struct lint *l, const struct batch *b, const struct batch *other, size_t i)
{
	const char *name = l->j->task->tensors[i].name;
	size_t n = ktask_elements(l->j->task, b->w, &l->j->task->tensors[i]);
	const double *expected = b->calls[0].expected[i];
	auto_free double *fake = kcalloc(n, sizeof *fake);
	double level = mean(expected, n), least = n > FEW ? contrast : contrast_few;
	struct kbuf faults = { 0 };
	struct verdict v;

	if (accepted(l, b, i, fake, &v))
		kbuf_printf(&faults, "; %s of zeros would pass", name);
	for (size_t k = 0; k < n; k++)
		fake[k] = level;
	/* A single element is its own mean. */
	if (n > 1 && accepted(l, b, i, fake, &v))
		kbuf_printf(&faults, "; %s filled with its mean would pass", name);
	if (accepted(l, b, i, other->calls[0].expected[i], &v))
		kbuf_printf(&faults, "; %s computed from other inputs would pass", name);
	else if (v.worst < least * v.tolerance)
		kbuf_printf(&faults,
		    "; %s hardly depends on the inputs: it changes by %.3g, "
		    "which must be %.0f times the tolerance of %.3g; "
		    "put another distribution first, or narrow \"tolerance\"",
		    name, v.worst, least, v.tolerance);
	return faults.data;
}

/*
 * Only for the first distribution: others may well be degenerate on purpose. Two sums may happen to
 * be close to each other, so a fault counts only if it shows on every draw.
 */
static void
try_impostors(struct lint *l, const struct batch *b, const struct batch *other, size_t i)
{
	char *fault = find_impostors(l, b, other, i);

	for (int n = 1; n < DRAWS && fault; n++) {
		struct batch again[2];

		free(fault);
		for (size_t k = 0; k < LEN(again); k++)
			draw(l, &again[k], b->dist);
		fault = find_impostors(l, &again[0], &again[1], i);
		for (size_t k = 0; k < LEN(again); k++)
			batch_free(&l->host, &again[k]);
	}
	if (fault)
		complain(l, "%s", fault + strlen("; "));
	free(fault);
}

/* Whether the batches have the same values in all outputs. */
static bool
same_results(const struct lint *l, const struct batch *a, const struct batch *b)
{
	const struct ktask *t = l->j->task;

	for (size_t i = 0; i < t->tensor_count; i++)
		if (t->tensors[i].output &&
		    memcmp(a->calls[0].expected[i], b->calls[0].expected[i],
		        ktask_elements(t, l->w, &t->tensors[i]) * kdtype_size(t->tensors[i].dtype)))
			return false;
	return true;
}

/*
 * For a task with only integer results: these are exact, so only a constant could pass wrongly. A
 * single workload may well overwrite everything that it is given.
 */
static void
try_constant(struct lint *l)
{
	struct batch first, other;
	bool same = true;

	/* What is recorded is judged as well, and random numbers may all give one result. */
	draw(l, &first,
	    recorded_any(l->j->task, l->w) ? KDIST_RECORDED : l->j->task->distributions[0]);
	for (int n = 1; n < DRAWS && same; n++) {
		draw(l, &other, l->j->task->distributions[0]);
		same = same_results(l, &first, &other);
		batch_free(&l->host, &other);
	}
	batch_free(&l->host, &first);
	if (same)
		l->constant = l->w;
	l->varies |= !same;
}

static bool
has_float_output(const struct ktask *t)
{
	for (size_t i = 0; i < t->tensor_count; i++)
		if (t->tensors[i].output && kdtype_is_float(t->tensors[i].dtype))
			return true;
	return false;
}

static bool
is_fit(const struct judge *j, const struct ktask_workload *w)
{
	size_t n = 0;

	for (size_t i = 0; i < j->task->tensor_count; i++)
		if (j->task->tensors[i].output)
			n += ktask_elements(j->task, w, &j->task->tensors[i]);
	return j->device ? n <= DEVICE_MAX && (w->timed || n >= DEVICE_MIN) : w->timed;
}

static void
lint_workload(struct lint *l)
{
	const struct ktask *t = l->j->task;
	bool varies = recorded_varies(t, l->w);

	/* There are no other inputs, which the remaining checks need. */
	if (!varies)
		kwarn("%s: note: workload %s: all inputs are recorded, and none may be drawn anew, "
		      "so a kernel may remember their results; give one \"fresh\": true if the "
		      "kernel is right for any of its numbers",
		    t->file, l->w->name);
	if (!varies && !has_float_output(t))
		return;
	if (!has_float_output(t)) {
		try_constant(l);
		return;
	}
	for (size_t d = 0; d < t->distribution_count; d++) {
		struct batch a, b;

		draw(l, &a, t->distributions[d]);
		draw(l, &b, t->distributions[d]);
		for (size_t i = 0; i < t->tensor_count; i++) {
			if (!t->tensors[i].output || !kdtype_is_float(t->tensors[i].dtype))
				continue;
			try_truth(l, &a, i);
			if (d == 0 && varies)
				try_impostors(l, &a, &b, i);
		}
		batch_free(&l->host, &a);
		batch_free(&l->host, &b);
	}
}

/* Things that are allowed, but hardly ever intended. */
static void
advise(const struct ktask *t)
{
	bool recorded = false;

	/* Recorded files have fixed sizes. */
	for (size_t k = 0; k < t->workload_count; k++)
		recorded |= recorded_any(t, &t->workloads[k]);
	for (size_t i = 0; i < t->axis_count && !recorded; i++) {
		bool varies = false;

		for (size_t k = 1; k < t->workload_count; k++)
			varies |= t->workloads[k].axis[i] != t->workloads[0].axis[i];
		if (!varies && t->axes[i].kind == KAXIS_VAR && !t->axes[i].limits.stated &&
		    !json_object_get(
		        json_object_get(json_object_get(t->json, "axes"), t->axes[i].name),
		        "fixed"))
			kwarn("%s: note: axis %s has the same size in all workloads; give it "
			      "\"min\" and \"max\", or \"fixed\": true",
			    t->file, t->axes[i].name);
	}
	if (!t->reduction && has_float_output(t))
		kwarn("%s: note: \"reduction\" is missing, "
		      "so the tolerance assumes a reduction of length 1",
		    t->file);
}

/* A grouped operation is tried on groups of a realistic routing. */
static size_t
lint_groups(const struct ktask *t)
{
	auto_free char *text = NULL;
	size_t faults = kgroups_faults(t, &text);

	kpart_foreach(line, text, "\n")
		kwarn("%s: %s", t->file, line);
	return faults;
}

bool
lint_task(struct judge *j)
{
	struct lint l = { .j = j, .host = *j };

	l.host.space = &space_host;
	advise(j->task);
	l.faults += lint_groups(j->task);
	if (j->oracle)
		lint_inputs(j);
	for (size_t i = 0; j->oracle && i < j->task->workload_count; i++) {
		l.w = &j->task->workloads[i];
		try_drawn(&l);
		if (is_fit(j, l.w))
			lint_workload(&l);
	}
	if (l.constant && !l.varies) {
		l.w = l.constant;
		complain(&l, "the results are the same for all inputs: a constant would pass");
	}
	return l.faults == 0;
}
