/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judged: what the rounds of a linear search are judged by: the set of shapes, the task except its
 * descriptions, and the programs that results are compared with. The seal records them when round 1
 * is closed, and from then on they may not change: a wider tolerance, a slower reference or other
 * shapes would make later rounds look better. See kcampaign.h.
 */
#include "kcampaign.h"

#define FROZEN "frozen"

/* The line of the seal, or NULL: round 1 is open. New reference. */
static json_t *
frozen_line(void)
{
	struct kseal s;
	json_t *line;

	kseal_open(&s, ".", FROZEN);
	line = json_incref((json_t *)kseal_last(&s, FROZEN));
	kseal_close(&s);
	return line;
}

/* Adds the current state as a line of S. */
static void
add_frozen(struct kseal *s)
{
	auto_free char **paths = NULL;
	struct ktask *t = ktask_load(kcamp.task);
	json_auto_t *recordings = ktask_recordings(t->json);
	size_t n = 0;

	paths = kcalloc(json_array_size(recordings) + 3, sizeof *paths);
	paths[n++] = ktask_path(t, t->reference);
	if (t->oracle)
		paths[n++] = ktask_path(t, t->oracle);
	kjson_foreach_text(file, recordings)
		paths[n++] = ktask_path(t, file);
	kseal_add(s, FROZEN,
	    json_pack("{s:O,s:s,s:o}", "task", t->json, "set", kcamp_str("eval.set"), "files",
	        kseal_files(".", (const char *const *)paths)));
	while (n)
		free(paths[--n]);
	ktask_free(t);
}

bool
judged_freeze(void)
{
	auto_close int lock = kseal_lock(".", true);
	struct kseal s;
	bool first;

	kseal_open(&s, ".", FROZEN);
	first = !kseal_last(&s, FROZEN);
	if (first)
		add_frozen(&s);
	kseal_save(&s);
	kseal_close(&s);
	return first;
}

bool
judged_faults(struct kbuf *text)
{
	json_auto_t *line = frozen_line(), *changes = NULL, *input = NULL;
	size_t before = text->len;
	auto_free char *fault = NULL;

	if (!line)
		return false;
	input = json_pack("[{s:s,s:{s:O},s:{s:s}},{s:s,s:O,s:o}]", "file", kcamp.file, "was",
	    "eval.set", json_object_get(line, "set"), "now", "eval.set", kcamp_str("eval.set"),
	    "file", kcamp.task, "was", json_object_get(line, "task"), "now",
	    kjson_load(kcamp.task));
	changes = kjq("views/judged.jq", input);
	kjson_foreach_text(change, changes)
		kbuf_printf(text,
		    "%s, so rounds before and after cannot be compared (" KSEAL_FILE
		    ":%ld); restore it, or begin a new campaign\n",
		    change, kjson_int(line, "n"));
	fault = kseal_changed(".", FROZEN, "round 1 was closed");
	kbuf_printf(text, "%s%s", fault ?: "", fault ? "\n" : "");
	return text->len > before;
}
