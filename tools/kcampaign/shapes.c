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

struct shapes {
	struct ktask *task;
	const char *quick, *full; /* names of the sets */
	json_t *baseline;         /* the record of trial 000; NULL when there is none yet */
	struct shape *at;
	size_t count;
};

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
add_shape(struct shapes *s, const struct ktask_workload *w)
{
	const json_t *row = kgain_row(kjson_path(s->baseline, "eval.timing"), w->name);
	const char *formula = s->task->flops ? s->task->flops : s->task->bytes;
	struct shape *x = &s->at[s->count++];

	*x = (struct shape){ .w = w,
		.quick = ktask_in_set(w, s->quick),
		.fails = is_failing(s->baseline, w->name),
		.skew = kjson_bool_or(
		    kgain_workload(json_object_get(s->task->json, "workloads"), w->name), "skew",
		    false) };
	if (row) {
		x->ms = kgain_time_ns(row) / 1e6;
		x->spread = kjson_num_or(row, "sd_ns", 0) / kjson_num_or(row, "mean_ns", NAN);
	}
	x->size = formula ? (double)ktask_value(s->task, w, formula) : x->ms;
}

static void
open_shapes(struct shapes *s, const struct kcamp *c)
{
	auto_free char *file = kcamp_path(c, kcamp_str(c, "task"));

	*s = (struct shapes){ .task = ktask_load(file),
		.quick = kcamp_str(c, "eval.set"),
		.full = KLINEAR_FULL_SET };
	if (!has_set(s->task, s->full))
		s->full = s->quick;
	s->baseline = fact_of(0, 0, STAGE_EVAL);
	s->at = kcalloc(s->task->workload_count + 1, sizeof *s->at);
	for (size_t i = 0; i < s->task->workload_count; i++)
		if (s->task->workloads[i].timed && ktask_in_set(&s->task->workloads[i], s->full))
			add_shape(s, &s->task->workloads[i]);
	qsort(s->at, s->count, sizeof *s->at, by_size);
}

static void
close_shapes(struct shapes *s)
{
	ktask_free(s->task);
	json_decref(s->baseline);
	free(s->at);
}

static size_t
count_quick(const struct shapes *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		n += s->at[i].quick;
	return n;
}

static bool
covers(const struct shapes *s, double size)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->at[i].quick && s->at[i].size == size)
			return true;
	return false;
}

/* What makes the quick set cherry-picked, one line each. */
static void
find_faults(const struct shapes *s, struct kbuf *text)
{
	size_t quick = count_quick(s), skewed = 0, chosen = 0;

	for (size_t i = 0; i < s->task->workload_count; i++) {
		const struct ktask_workload *w = &s->task->workloads[i];

		if (ktask_in_set(w, s->quick) && !ktask_in_set(w, s->full))
			kbuf_printf(text,
			    "the set %s contains the workload %s, but the full set %s does not\n",
			    s->quick, w->name, s->full);
	}
	for (size_t i = 0; i < s->count; i++) {
		skewed += s->at[i].skew;
		chosen += s->at[i].skew && s->at[i].quick;
		if (s->at[i].quick && s->at[i].fails)
			kbuf_printf(text,
			    "the set %s contains the workload %s, on which the baseline fails\n",
			    s->quick, s->at[i].w->name);
	}
	if (quick == s->count)
		return;
	if (quick < LEAST && s->count >= LEAST)
		kbuf_printf(text, "the set %s times %zu of %zu shapes; the minimum is %d\n",
		    s->quick, quick, s->count, LEAST);
	if (quick > MOST)
		kbuf_printf(text,
		    "the set %s times %zu of %zu shapes; the maximum for a choice is %d: leave "
		    "some out, or use the full set (eval.set: %s)\n",
		    s->quick, quick, s->count, MOST, s->full);
	if (!covers(s, s->at[0].size))
		kbuf_printf(text, "the set %s leaves out the smallest shape, %s\n", s->quick,
		    s->at[0].w->name);
	if (!covers(s, s->at[s->count - 1].size))
		kbuf_printf(text, "the set %s leaves out the largest shape, %s\n", s->quick,
		    s->at[s->count - 1].w->name);
	if (skewed && !chosen)
		kbuf_printf(text, "the set %s leaves out every skewed shape\n", s->quick);
}

bool
shapes_faults(const struct kcamp *c, struct kbuf *text)
{
	struct shapes s;
	size_t before = text->len;

	open_shapes(&s, c);
	find_faults(&s, text);
	close_shapes(&s);
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

/* The shape, not yet chosen, for which PICK is largest; NULL: none. */
static struct shape *
most_spread(struct shapes *s, bool skew)
{
	struct shape *most = NULL;

	for (size_t i = 0; i < s->count; i++)
		if (!s->at[i].why && !s->at[i].fails && (!skew || s->at[i].skew) &&
		    (!most || s->at[i].spread > most->spread))
			most = &s->at[i];
	return most;
}

static bool
has_skew(const struct shapes *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->at[i].why && s->at[i].skew)
			return true;
	return false;
}

/* Adds the other pass of a step: both or neither. */
static size_t
add_partners(struct shapes *s, size_t chosen)
{
	for (size_t i = 0; i < s->count; i++)
		for (size_t k = 0; k < s->count && s->at[i].why && s->at[i].w->pair; k++)
			if (s->at[k].w->pair && !strcmp(s->at[k].w->pair, s->at[i].w->pair))
				chosen = choose(&s->at[k], "other pass of the step", chosen);
	return chosen;
}

/*
 * Three to five: smallest, middle, largest, a skewed one if there is one, then those with the
 * largest spread.
 */
static void
propose(struct shapes *s)
{
	struct shape *passing[2] = { NULL, NULL };
	size_t chosen = 0;

	for (size_t i = 0; i < s->count; i++)
		if (!s->at[i].fails) {
			passing[0] = passing[0] ? passing[0] : &s->at[i];
			passing[1] = &s->at[i];
		}
	chosen = choose(passing[0], "smallest: launch cost", chosen);
	chosen = choose(passing[1], "largest: memory or compute", chosen);
	if (s->count)
		chosen = choose(&s->at[(s->count - 1) / 2], "middle", chosen);
	if (!has_skew(s))
		chosen = choose(most_spread(s, true), "skewed groups", chosen);
	while (chosen < MOST && most_spread(s, false))
		chosen = choose(most_spread(s, false), "noisiest", chosen);
	add_partners(s, chosen);
}

static void
put_proposal(const struct shapes *s, struct kbuf *text)
{
	size_t same = 0;
	const char *unit = s->task->flops ? "GFLOP" : s->task->bytes ? "GB" : "ms";
	double scale = s->task->flops || s->task->bytes ? 1e-9 : 1;

	kbuf_printf(text, "%-24s %12s %10s %7s  %-6s %s\n", "timed shape", unit, "ms", "spread",
	    s->quick, "proposed");
	for (size_t i = 0; i < s->count; i++) {
		const struct shape *x = &s->at[i];

		kbuf_printf(text, "%-24.24s %12.4g %10.4g %5.1f %%  %-6s %s\n", x->w->name,
		    x->size * scale, x->ms, 100 * x->spread, x->quick ? "yes" : "-",
		    x->fails     ? "- (the baseline fails on it)"
		        : x->why ? x->why
		                 : "-");
		same += x->quick == (x->why != NULL);
	}
	if (same == s->count)
		kbuf_printf(text, "The set %s already has these shapes.\n", s->quick);
	else
		kbuf_printf(text,
		    "To use it, put \"%s\" into the \"sets\" of these workloads in %s before round "
		    "2 begins.\n",
		    s->quick, s->task->file);
}

int
command_shapes(const struct options *o)
{
	struct kcamp *c = kcamp_load(".");
	struct kbuf text = { 0 };
	struct shapes s;
	int code = K_OK;

	if (o->check) {
		if (shapes_faults(c, &text) | judged_faults(c, &text))
			code = K_NO;
		else
			kbuf_printf(&text, "the set %s represents the full set\n",
			    kcamp_str(c, "eval.set"));
	} else {
		open_shapes(&s, c);
		if (!s.baseline)
			kdie(K_USAGE,
			    "the baseline has not been measured yet; run kcampaign baseline");
		propose(&s);
		put_proposal(&s, &text);
		close_shapes(&s);
	}
	emit(o, &text);
	kcamp_free(c);
	return code;
}
