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

static struct lint {
	const struct space *space; /* the judge's; results are copied to the host's */
	const struct ktask_workload *w;
	size_t faults;
	/*
	 * If all results are integers: a workload whose results never change, and whether the
	 * results of any workload do.
	 */
	const struct ktask_workload *constant;
	bool varies;
} lint;

static void __attribute__((format(printf, 1, 2))) complain(const char *fmt, ...)
{
	va_list ap;
	char text[512];

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	kwarn("%s: workload %s: %s", judge.task->file, lint.w->name, text);
	lint.faults++;
}

static double
mean(const double *x, size_t n)
{
	double sum = 0;

	kforeach_of(value, x, n)
		sum += isfinite(*value) ? *value / (double)n : 0;
	return sum;
}

/* Whether the judge would accept these values as output I of the batch. */
static bool
accepted(const struct batch *b, size_t i, const double *values, struct verdict *v)
{
	const struct ktask_tensor *x = &judge.task->tensors[i];
	size_t n = tensor_elements(b->w, x);
	auto_free void *raw = kmalloc(n * kdtype_size(x->dtype));
	uint64_t poison = 0;

	values_narrow(x->dtype, values, n, raw);
	verdict_begin(v);
	judge.space = &space_host;
	compare_tensor(b, &b->calls[0], i, raw, poison, v);
	verdict_end(v);
	judge.space = lint.space;
	return v->ok;
}

/* What the oracle returns, rounded to the type, is right by definition. */
static void
try_truth(const struct batch *b, size_t i)
{
	struct verdict v;

	if (!accepted(b, i, b->calls[0].expected[i], &v))
		complain("the oracle's own %s, rounded to %s, "
		         "would not pass: the tolerance is too tight (%s)",
		    judge.task->tensors[i].name, kdtype_name(judge.task->tensors[i].dtype),
		    kdist_name(b->dist));
}

/*
 * Sizes and scalars that the check will draw: test what the oracle makes of them before any kernel
 * is judged.
 */
static void
try_drawn(void)
{
	struct ktask_workload drawn;
	struct krng rng = judge_stream(judge.draws, "sizes");
	struct batch b;
	size_t in, out;

	memory_largest(false, &in, &out);
	if (!vary_draw(lint.w, judge.task->axis_count, false, &rng, in, out, &drawn))
		return;
	batch_draw(&b, &drawn, judge.task->distributions[0], 1, true);
	batch_free(&b);
	vary_free(&drawn);
}

/* One call's inputs and results, in the host's memory; free with drop. */
static void
draw(struct batch *b, enum kdist d)
{
	const struct space *sp = judge.space;

	batch_draw(b, lint.w, d, 1, true);
	tensors_each(x) {
		size_t i = tensor_number(x);
		size_t n = tensor_elements(lint.w, x);
		void *from = b->calls[0].expected[i], *to;

		if (from) {
			n *= kdtype_is_float(x->dtype) ? sizeof(double) : kdtype_size(x->dtype);
			to = space_host.alloc(n);
			sp->fetch(to, from, n);
			sp->release(from);
			b->calls[0].expected[i] = to;
		}
		/* Inputs are not needed. */
		sp->release(b->calls[0].raw[i]);
		b->calls[0].raw[i] = NULL;
	}
}

static void
drop(struct batch *b)
{
	judge.space = &space_host;
	batch_free(b);
	judge.space = lint.space;
}

/*
 * What is wrong with output I of a batch, compared with another batch, or NULL; the caller frees.
 */
static char *
find_impostors(const struct batch *b, const struct batch *other, size_t i)
{
	const char *name = judge.task->tensors[i].name;
	size_t n = tensor_elements(b->w, &judge.task->tensors[i]);
	const double *expected = b->calls[0].expected[i];
	auto_free double *fake = kcalloc(n, sizeof *fake);
	double level = mean(expected, n), least = n > FEW ? contrast : contrast_few;
	struct kbuf faults = { 0 };
	struct verdict v;

	if (accepted(b, i, fake, &v))
		kbuf_printf(&faults, "; %s of zeros would pass", name);
	kforeach_of(value, fake, n)
		*value = level;
	/* A single element is its own mean. */
	if (n > 1 && accepted(b, i, fake, &v))
		kbuf_printf(&faults, "; %s filled with its mean would pass", name);
	if (accepted(b, i, other->calls[0].expected[i], &v))
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
try_impostors(const struct batch *b, const struct batch *other, size_t i)
{
	char *fault = find_impostors(b, other, i);

	for (int n = 1; n < DRAWS && fault; n++) {
		struct batch again[2];

		free(fault);
		kforeach(batch, again)
			draw(batch, b->dist);
		fault = find_impostors(&again[0], &again[1], i);
		kforeach(batch, again)
			drop(batch);
	}
	if (fault)
		complain("%s", fault + strlen("; "));
	free(fault);
}

/* Whether the batches have the same values in all outputs. */
static bool
same_results(const struct batch *a, const struct batch *b)
{
	for (size_t i = 0; i < judge.task->tensor_count; i++)
		if (judge.task->tensors[i].output &&
		    memcmp(a->calls[0].expected[i], b->calls[0].expected[i],
		        tensor_bytes(lint.w, &judge.task->tensors[i])))
			return false;
	return true;
}

/*
 * For a task with only integer results: these are exact, so only a constant could pass wrongly. A
 * single workload may well overwrite everything that it is given.
 */
static void
try_constant(void)
{
	struct batch first, other;
	bool same = true;

	/* What is recorded is judged as well, and random numbers may all give one result. */
	draw(&first, recorded_any(lint.w) ? KDIST_RECORDED : judge.task->distributions[0]);
	for (int n = 1; n < DRAWS && same; n++) {
		draw(&other, judge.task->distributions[0]);
		same = same_results(&first, &other);
		drop(&other);
	}
	drop(&first);
	if (same)
		lint.constant = lint.w;
	lint.varies |= !same;
}

static bool
has_float_output(void)
{
	return kany(tensors_each(x), x->output && kdtype_is_float(x->dtype));
}

static bool
is_fit(const struct ktask_workload *w)
{
	size_t n = 0;

	tensors_each(x)
		if (x->output)
			n += tensor_elements(w, x);
	return judge.device ? n <= DEVICE_MAX && (w->timed || n >= DEVICE_MIN) : w->timed;
}

static void
lint_workload(void)
{
	const struct ktask *t = judge.task;
	bool varies = recorded_varies(lint.w);

	/* There are no other inputs, which the remaining checks need. */
	if (!varies)
		kwarn("%s: note: workload %s: all inputs are recorded, and none may be drawn anew, "
		      "so a kernel may remember their results; give one \"fresh\": true if the "
		      "kernel is right for any of its numbers",
		    t->file, lint.w->name);
	if (!varies && !has_float_output())
		return;
	if (!has_float_output()) {
		try_constant();
		return;
	}
	for (size_t d = 0; d < t->distribution_count; d++) {
		struct batch a, b;

		draw(&a, t->distributions[d]);
		draw(&b, t->distributions[d]);
		for (size_t i = 0; i < t->tensor_count; i++) {
			if (!t->tensors[i].output || !kdtype_is_float(t->tensors[i].dtype))
				continue;
			try_truth(&a, i);
			if (d == 0 && varies)
				try_impostors(&a, &b, i);
		}
		drop(&a);
		drop(&b);
	}
}

/* Things that are allowed, but hardly ever intended. */
static void
advise(void)
{
	const struct ktask *t = judge.task;
	bool recorded = false;

	/* Recorded files have fixed sizes. */
	workloads_each(w)
		recorded |= recorded_any(w);
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
	if (!t->reduction && has_float_output())
		kwarn("%s: note: \"reduction\" is missing, "
		      "so the tolerance assumes a reduction of length 1",
		    t->file);
}

/* A grouped operation is tried on groups of a realistic routing. */
static size_t
lint_groups(void)
{
	auto_free char *text = NULL;
	size_t faults = kgroups_faults(judge.task, &text);

	kpart_foreach(line, text, "\n")
		kwarn("%s: %s", judge.task->file, line);
	return faults;
}

bool
lint_task(void)
{
	lint.space = judge.space;
	advise();
	lint.faults += lint_groups();
	if (judge.oracle)
		lint_inputs();
	for (size_t i = 0; judge.oracle && i < judge.task->workload_count; i++) {
		lint.w = &judge.task->workloads[i];
		try_drawn();
		if (is_fit(lint.w))
			lint_workload();
	}
	if (lint.constant && !lint.varies) {
		lint.w = lint.constant;
		complain("the results are the same for all inputs: a constant would pass");
	}
	return lint.faults == 0;
}
