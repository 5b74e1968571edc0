/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes: which workloads a linear search measures in every round: proposed from the baseline, and
 * rejected if they are cherry-picked. See kcampaign.h.
 */
#include "kcampaign.h"

#include "kgain.h"
#include "klinear.h"
#include "ktask.h"

enum { LEAST = 3, MOST = 5 };

/* A workload that is timed on the full set. */
struct shape {
	const struct ktask_workload *w;
	double size;       /* operations, else bytes, else the baseline's time */
	double ms, spread; /* of the baseline; 0 if not measured */
	bool quick, fails, skew;
	const char *why; /* the reason why it is proposed; else NULL */
};

static struct shapes {
	struct ktask *task;
	const char *quick, *full; /* names of the sets */
	json_t *baseline;         /* the record of trial 000; NULL when there is none yet */
	struct shape *at;
	size_t count;
} shapes;

/* Does a case of the baseline fail on the workload? */
static bool
is_failing(const json_t *baseline, const char *name)
{
	json_t *one;
	size_t i;

	json_array_foreach(kjson_path(baseline, "eval.correctness.cases"), i, one)
		if (kjson_is(one, "workload", name) && !kjson_bool_or(one, "ok", true))
			return true;
	return false;
}

static bool
has_set(const struct ktask *t, const char *set)
{
	for (size_t i = 0; i < t->workload_count; i++)
		if (t->workloads[i].sets && ktask_in_set(&t->workloads[i], set))
			return true;
	return false;
}

static int
by_size(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return x->size != y->size ? (x->size > y->size) - (x->size < y->size)
	                          : strcmp(x->w->name, y->w->name);
}

static void
add_shape(const struct ktask_workload *w)
{
	const json_t *row = kgain_row(kjson_path(shapes.baseline, "eval.timing"), w->name);
	const char *formula = shapes.task->flops ? shapes.task->flops : shapes.task->bytes;
	struct shape *x = &shapes.at[shapes.count++];

	*x = (struct shape){ .w = w,
		.quick = ktask_in_set(w, shapes.quick),
		.fails = is_failing(shapes.baseline, w->name),
		.skew = kjson_bool_or(
		    kgain_workload(json_object_get(shapes.task->json, "workloads"), w->name),
		    "skew", false) };
	if (row) {
		x->ms = kgain_time_ns(row) / 1e6;
		x->spread = kjson_num_or(row, "sd_ns", 0) / kjson_num_or(row, "mean_ns", NAN);
	}
	x->size = formula ? (double)ktask_value(shapes.task, w, formula) : x->ms;
}

static void
open_shapes(void)
{
	shapes = (struct shapes){ .task = ktask_load(camp->task),
		.quick = kcamp_str(camp, "eval.set"),
		.full = KLINEAR_FULL_SET };
	if (!has_set(shapes.task, shapes.full))
		shapes.full = shapes.quick;
	shapes.baseline = fact_of(0, 0, STAGE_EVAL);
	shapes.at = kcalloc(shapes.task->workload_count + 1, sizeof *shapes.at);
	for (size_t i = 0; i < shapes.task->workload_count; i++)
		if (shapes.task->workloads[i].timed &&
		    ktask_in_set(&shapes.task->workloads[i], shapes.full))
			add_shape(&shapes.task->workloads[i]);
	qsort(shapes.at, shapes.count, sizeof *shapes.at, by_size);
}

static void
close_shapes(void)
{
	ktask_free(shapes.task);
	json_decref(shapes.baseline);
	free(shapes.at);
}

static size_t
count_quick(void)
{
	size_t n = 0;

	for (size_t i = 0; i < shapes.count; i++)
		n += shapes.at[i].quick;
	return n;
}

static bool
covers(double size)
{
	for (size_t i = 0; i < shapes.count; i++)
		if (shapes.at[i].quick && shapes.at[i].size == size)
			return true;
	return false;
}

/* What makes the quick set cherry-picked, one line each. */
static void
find_faults(struct kbuf *text)
{
	size_t quick = count_quick(), skewed = 0, chosen = 0;

	for (size_t i = 0; i < shapes.task->workload_count; i++) {
		const struct ktask_workload *w = &shapes.task->workloads[i];

		if (ktask_in_set(w, shapes.quick) && !ktask_in_set(w, shapes.full))
			kbuf_printf(text,
			    "the set %s contains the workload %s, but the full set %s does not\n",
			    shapes.quick, w->name, shapes.full);
	}
	for (size_t i = 0; i < shapes.count; i++) {
		skewed += shapes.at[i].skew;
		chosen += shapes.at[i].skew && shapes.at[i].quick;
		if (shapes.at[i].quick && shapes.at[i].fails)
			kbuf_printf(text,
			    "the set %s contains the workload %s, on which the baseline fails\n",
			    shapes.quick, shapes.at[i].w->name);
	}
	if (quick == shapes.count)
		return;
	if (quick < LEAST && shapes.count >= LEAST)
		kbuf_printf(text, "the set %s times %zu of %zu shapes; the minimum is %d\n",
		    shapes.quick, quick, shapes.count, LEAST);
	if (quick > MOST)
		kbuf_printf(text,
		    "the set %s times %zu of %zu shapes; the maximum for a choice is %d: leave "
		    "some out, or use the full set (eval.set: %s)\n",
		    shapes.quick, quick, shapes.count, MOST, shapes.full);
	if (!covers(shapes.at[0].size))
		kbuf_printf(text, "the set %s leaves out the smallest shape, %s\n", shapes.quick,
		    shapes.at[0].w->name);
	if (!covers(shapes.at[shapes.count - 1].size))
		kbuf_printf(text, "the set %s leaves out the largest shape, %s\n", shapes.quick,
		    shapes.at[shapes.count - 1].w->name);
	if (skewed && !chosen)
		kbuf_printf(text, "the set %s leaves out every skewed shape\n", shapes.quick);
}

bool
shapes_faults(struct kbuf *text)
{
	size_t before = text->len;

	open_shapes();
	find_faults(text);
	close_shapes();
	return text->len > before;
}

static size_t
choose(struct shape *x, const char *why, size_t chosen)
{
	if (!x || x->why || x->fails)
		return chosen;
	x->why = why;
	return chosen + 1;
}

/* The noisiest shape that is not chosen yet; SKEW: of the skewed ones. NULL: none. */
static struct shape *
most_spread(bool skew)
{
	struct shape *most = NULL;

	for (size_t i = 0; i < shapes.count; i++)
		if (!shapes.at[i].why && !shapes.at[i].fails && (!skew || shapes.at[i].skew) &&
		    (!most || shapes.at[i].spread > most->spread))
			most = &shapes.at[i];
	return most;
}

static bool
has_skew(void)
{
	for (size_t i = 0; i < shapes.count; i++)
		if (shapes.at[i].why && shapes.at[i].skew)
			return true;
	return false;
}

/* Adds the other pass of a step: both or neither. */
static size_t
add_partners(size_t chosen)
{
	for (size_t i = 0; i < shapes.count; i++)
		for (size_t k = 0; k < shapes.count && shapes.at[i].why && shapes.at[i].w->pair;
		     k++)
			if (shapes.at[k].w->pair &&
			    !strcmp(shapes.at[k].w->pair, shapes.at[i].w->pair))
				chosen = choose(&shapes.at[k], "other pass of the step", chosen);
	return chosen;
}

/*
 * Three to five: smallest, middle, largest, a skewed one if there is one, then those with the
 * largest spread.
 */
static void
propose(void)
{
	struct shape *passing[2] = { NULL, NULL };
	size_t chosen = 0;

	for (size_t i = 0; i < shapes.count; i++)
		if (!shapes.at[i].fails) {
			passing[0] = passing[0] ? passing[0] : &shapes.at[i];
			passing[1] = &shapes.at[i];
		}
	chosen = choose(passing[0], "smallest: launch cost", chosen);
	chosen = choose(passing[1], "largest: memory or compute", chosen);
	if (shapes.count)
		chosen = choose(&shapes.at[(shapes.count - 1) / 2], "middle", chosen);
	if (!has_skew())
		chosen = choose(most_spread(true), "skewed groups", chosen);
	while (chosen < MOST && most_spread(false))
		chosen = choose(most_spread(false), "noisiest", chosen);
	add_partners(chosen);
}

static void
put_proposal(void)
{
	size_t same = 0;
	const char *unit = shapes.task->flops ? "GFLOP" : shapes.task->bytes ? "GB" : "ms";
	double scale = shapes.task->flops || shapes.task->bytes ? 1e-9 : 1;

	tell("%-24s %12s %10s %7s  %-6s %s\n", "timed shape", unit, "ms", "spread", shapes.quick,
	    "proposed");
	for (size_t i = 0; i < shapes.count; i++) {
		const struct shape *x = &shapes.at[i];

		tell("%-24.24s %12.4g %10.4g %5.1f %%  %-6s %s\n", x->w->name, x->size * scale,
		    x->ms, 100 * x->spread, x->quick ? "yes" : "-",
		    x->fails     ? "- (the baseline fails on it)"
		        : x->why ? x->why
		                 : "-");
		same += x->quick == (x->why != NULL);
	}
	if (same == shapes.count)
		tell("The set %s already has these shapes.\n", shapes.quick);
	else
		tell("To use it, put \"%s\" into the \"sets\" of these workloads in %s before "
		     "round "
		     "2 begins.\n",
		    shapes.quick, shapes.task->file);
}

int
command_shapes(void)
{
	int code = K_OK;

	if (given.check) {
		if (shapes_faults(&page) | judged_faults(&page))
			code = K_NO;
		else
			tell("the set %s represents the full set\n", kcamp_str(camp, "eval.set"));
	} else {
		open_shapes();
		if (!shapes.baseline)
			kdie(K_USAGE,
			    "the baseline has not been measured yet; run kcampaign baseline");
		propose();
		put_proposal();
		close_shapes();
	}
	emit();
	return code;
}
