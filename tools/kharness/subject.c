/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: the results for one shared object, in the form of the record and of the log that the
 * model reads.
 */

#include "kharness.h"

const char *
subject_workload(const struct ktask_workload *w)
{
	return kshown("%s%s%s", w->name, *w->drawn ? " with " : "", w->drawn);
}

void
subject_fail(struct subject *s, enum status status, const char *check, const char *detail)
{
	s->status = status;
	kjson_append(s->reasons, "{s:s,s:o}", "check", check, "detail", kjson_string(detail));
}

void
subject_tell(struct subject *s, enum status status, const char *check, const char *detail)
{
	subject_fail(s, status, check, detail);
	kbuf_printf(&s->log, "%s\n", detail);
}

bool
subject_passed(struct subject *s, enum outcome e, const struct runner *r, const struct batch *b)
{
	/* Failures are run errors; what can only be an attempt to cheat is rejected. */
	bool cheat = e == OUT_PROTOCOL || e == OUT_AWAKE;

	if (e == OUT_OK)
		return true;
	subject_fail(s, cheat ? STATUS_REJECTED : STATUS_RUN_ERROR, r->check, r->why);
	if (r->wrote)
		kjson_put(json_array_get(s->reasons, json_array_size(s->reasons) - 1), "tensor",
		    r->wrote);
	kbuf_printf(&s->log, "%s", r->why);
	if (b)
		kbuf_printf(&s->log, " (workload %s, inputs %s)", subject_workload(b->w),
		    kdist_name(b->dist));
	kbuf_puts(&s->log, "\n");
	if (r->printed.len)
		kbuf_printf(&s->log, "It printed:\n%.*s\n", (int)r->printed.len, r->printed.data);
	return false;
}

void
subject_explain(struct subject *s, const struct batch *b, const struct verdict *v)
{
	kbuf_printf(&s->log,
	    "wrong: workload %s, inputs %s: %zu of %zu elements of the outputs differ; ",
	    subject_workload(b->w), kdist_name(b->dist), v->mismatches, v->elements);
	if (v->unwritten)
		kbuf_printf(&s->log, "%zu were never written; ", v->unwritten);
	if (isfinite(v->worst))
		kbuf_printf(&s->log, "worst at %s[%zu]: off by %.3g, allowed %.3g\n", v->tensor,
		    v->worst_at, v->worst, v->tolerance);
	else
		kbuf_printf(&s->log,
		    "worst at %s[%zu]: NaN or infinite where the right result is finite, or the "
		    "other way round\n",
		    v->tensor, v->worst_at);
}
