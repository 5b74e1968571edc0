/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a run reads. Every file is named here before it is read, and read through
 * input_read, which refuses all others. So the list that kremote requests (--inputs) is always
 * complete.
 */

#include "keval.h"

void
input(const char *path, bool needed)
{
	if (!keval.inputs)
		keval.inputs = json_object();
	if (!json_object_get(keval.inputs, path))
		json_object_set_new_nocheck(keval.inputs, path, json_boolean(needed));
}

void
input_past(const char *id)
{
	const char *path = past_path(id);

	/* If it does not exist, there is no comparison. */
	if (path)
		input(path, false);
}

static void
input_beside_task(const char *name)
{
	if (name)
		input(kbeside(keval.task_file, name), true);
}

static void
inputs_of_task(void)
{
	json_auto_t *recordings = ktask_recordings(keval.task);

	input(keval.task_file, true);
	input_beside_task(task_reference());
	input_beside_task(kjson_maybe(keval.task, "oracle"));
	kjson_foreach(baseline, keval.task, "baselines")
		input_beside_task(kjson_maybe(baseline, "file"));
	kjson_foreach_text(recording, recordings)
		input_beside_task(recording);
}

static void
inputs_of_tier(const char *tier)
{
	kjson_foreach_text(file, kcamp_json(tier), "files")
		input(kcamp_path(file ?: ""), true);
}

static void
inputs_of_archive(void)
{
	char *path = kstrdup(keval.archive);

	while (path && keval.archive_count < LEN(keval.archives)) {
		json_auto_t *header = kin_first(path);

		input(path, true);
		keval.archives[keval.archive_count++] = path;
		path = karch_before(path, header);
	}
}

void
inputs_of_run(void)
{
	input(kcamp.file, true);
	if (keval.task)
		inputs_of_task();
	inputs_of_tier("eval.build");
	inputs_of_tier("eval.correctness");
	inputs_of_tier("eval.timing");
	inputs_of_archive();
	input(kverdict_path(), false);
	input_past(KARCH_REFERENCE);
}

void
inputs_of_subject(struct subject *s)
{
	s->twin = subject_duplicate(s);
	if (s->incumbent)
		input_past(s->incumbent);
	if (s->twin)
		input_past(s->twin);
}

void
inputs_print(void)
{
	kjson_foreach_member(path, needed, keval.inputs)
		if (json_is_true(needed) || kis_there(path))
			kout_raw(path, strlen(path));
}

char *
input_read(const char *path, size_t max, size_t *len)
{
	const json_t *needed = json_object_get(keval.inputs, path);

	if (!needed)
		kdie(K_IO, "%s: bug in kiln: keval reads this file, but --inputs does not list it",
		    path);
	if (json_is_true(needed))
		return len ? kread_file_or_die(path, max, len) : kread_text_or_die(path, max);
	return kread_if_there(path, max, len);
}
