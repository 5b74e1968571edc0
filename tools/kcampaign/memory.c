/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a campaign remembers, forgets and passes on: which goals of pipeline.mk belong to which
 * moment. See kcampaign.h.
 */
#include "kcampaign.h"

#include <stdlib.h>
#include <string.h>

#include "kmemo.h"

/* Is trial LAST one of every so many by KNOB (0: never)? */
static bool
is_due(const struct kcamp *c, const char *knob, long last)
{
	long every = kcamp_int(c, knob);

	return every && last > 0 && last % every == 0;
}

/* A summary that is due and was not made, or not yet: the goal's file says which. */
static bool
wants_summary(const struct kcamp *c, long last)
{
	return *kcamp_str(c, "feedback.provider") && is_due(c, "memory.compact_every", last);
}

/* GOALS is filled with at most MEMORY_GOALS goals, owned by the caller, and ends with NULL. */
void
memory_goals(const struct kcamp *c, enum memory_moment moment, long last, char **goals)
{
	bool memory = kmemo_enabled(c);
	size_t n = 0;

	switch (moment) {
	case MEMORY_VIEWS:
	case MEMORY_BEGIN:
		if (memory && last >= 0)
			goals[n++] = kstrdup("memory-all");
		if (moment == MEMORY_BEGIN && memory && wants_summary(c, last))
			goals[n++] = kasprintf("memory/compact-%03ld.ndjson", last);
		break;
	case MEMORY_BEFORE:
		if (memory && last > 0 && kcamp_int(c, "memory.restart_after"))
			goals[n++] = kstrdup("memory-restart");
		break;
	case MEMORY_AFTER:
		if (memory)
			goals[n++] = kstrdup(last > 1 ? "memory-add" : "memory-all");
		if (memory && wants_summary(c, last))
			goals[n++] = kasprintf("memory/compact-%03ld.ndjson", last);
		if (memory && last > 0)
			goals[n++] = kstrdup("tips-add");
		break;
	case MEMORY_END:
		if (memory && last > 0)
			goals[n++] = kstrdup("library-add");
		break;
	}
	goals[n] = NULL;
}
