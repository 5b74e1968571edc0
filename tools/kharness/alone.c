/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: what one call costs by itself. Samples of several calls back to back hide what a call
 * costs that begins on an idle device: starting it, and the host's time until the entry returned. A
 * few goes with one call each, from cold caches and checked like all others, tell.
 */
#include <math.h>

#include "kharness.h"
#include "kstat.h"

/* Time for all of them, as a share of that of the samples. */
static const double share = 0.1;

static bool
is_right(struct judge *j, struct runner *r, struct subject *s, const struct batch *b)
{
	char where[256], text[512];
	struct verdict v;

	if (!memory_intact(j, &r->m, b, where, sizeof where)) {
		snprintf(text, sizeof text, "it wrote %s when it was called once (workload %s)",
		    where, b->w->name);
		subject_fail(s, "run_error", "out_of_bounds_write", text);
		kbuf_printf(&s->log, "%s\n", text);
		return false;
	}
	if (!j->oracle)
		return true;
	verdict_begin(&v);
	memory_check(j, &r->m, b, 0, &v);
	verdict_end(j, &v);
	if (!v.ok) {
		subject_explain(s, b, &v);
		subject_fail(
		    s, "wrong_value", "timed_run", "the result of a call by itself was wrong");
	}
	return v.ok;
}

/* One go with one call; false when it failed, which stands in S. */
static bool
call_once(
    struct judge *j, struct runner *r, struct subject *s, const struct batch *b, struct alone *a)
{
	struct span span;
	enum outcome e;

	memory_load(j, &r->m, b);
	j->space->flush();
	e = runner_go(j, r, b, &span);
	if (e != OUT_OK) {
		subject_outcome(s, e, r, b);
		return false;
	}
	if (!is_right(j, r, s, b))
		return false;
	/* The host's time is the runner's word; no more of it can be than the judge has seen. */
	a->host_ns[a->count] = fmin((double)span.host_ns, (double)span.judge_ns);
	a->ns[a->count++] = runner_ns(j, r, &span);
	return true;
}

bool
alone_measure(struct judge *j, struct runner *r, struct subject *s, const struct ktask_workload *w,
    struct alone *a)
{
	int64_t start = know_ns();
	bool good = true;

	a->count = 0;
	while (good && a->count < ALONE_MAX &&
	    (a->count == 0 || (double)(know_ns() - start) < share * j->o.timing_s * 1e9)) {
		struct batch b;

		batch_draw(j, &b, w, j->task->distributions[0], 1, true);
		good = call_once(j, r, s, &b, a);
		batch_free(j, &b);
	}
	return good;
}

void
alone_add(const struct judge *j, const struct alone *a, json_t *row)
{
	if (!a->count)
		return;
	json_object_set_new(row, "alone_ns",
	    json_integer((json_int_t)llround(kstat_quantile(a->ns, a->count, 0.5))));
	json_object_set_new(row, "alone_samples", json_integer((json_int_t)a->count));
	if (j->device)
		json_object_set_new(row, "host_ns",
		    json_integer((json_int_t)llround(kstat_quantile(a->host_ns, a->count, 0.5))));
}
