/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a run reads. Every file is named here before it is read, and read through
 * input_read, which refuses all others. So the list that kremote requests (--inputs) is always
 * complete.
 */

#include "karch.h"
#include "keval.h"
#include "ktask.h"
#include "kverdict.h"

void
input(struct keval *k, const char *path, bool needed)
{
	if (!k->inputs)
		k->inputs = json_object();
	if (!json_object_get(k->inputs, path))
		json_object_set_new_nocheck(k->inputs, path, json_boolean(needed));
}

void
input_past(struct keval *k, const char *id)
{
	auto_free char *path = past_path(k, id);

	/* If it does not exist, there is no comparison. */
	if (path)
		input(k, path, false);
}

static void
input_beside_task(struct keval *k, const char *name)
{
	auto_free char *path = name ? kbeside(k->task_file, name) : NULL;

	if (path)
		input(k, path, true);
}

static void
inputs_of_task(struct keval *k)
{
	json_auto_t *recordings = ktask_recordings(k->task);

	input(k, k->task_file, true);
	input_beside_task(k, task_reference(k));
	input_beside_task(k, kjson_str_or(k->task, "oracle", NULL));
	kjson_foreach(baseline, json_object_get(k->task, "baselines"))
		input_beside_task(k, kjson_str_or(baseline, "file", NULL));
	kjson_foreach_text(recording, recordings)
		input_beside_task(k, recording);
}

static void
inputs_of_tier(struct keval *k, const char *tier)
{
	kjson_foreach_text(file, json_object_get(kcamp_json(k->camp, tier), "files")) {
		auto_free char *path = kcamp_path(k->camp, file ?: "");

		input(k, path, true);
	}
}

static void
inputs_of_archive(struct keval *k)
{
	char *path = k->archive ? kstrdup(k->archive) : NULL;

	while (path && k->archive_count < LEN(k->archives)) {
		json_auto_t *header = kin_first(path);

		input(k, path, true);
		k->archives[k->archive_count++] = path;
		path = karch_before(path, header);
	}
}

void
inputs_of_run(struct keval *k)
{
	input(k, k->camp->file, true);
	if (k->task)
		inputs_of_task(k);
	inputs_of_tier(k, "eval.build");
	inputs_of_tier(k, "eval.correctness");
	inputs_of_tier(k, "eval.timing");
	inputs_of_archive(k);
	input(k, kverdict_path(k->camp->dir), false);
	input_past(k, KARCH_REFERENCE);
}

void
inputs_of_subject(struct keval *k, struct subject *s)
{
	s->twin = subject_duplicate(k, s);
	if (s->incumbent)
		input_past(k, s->incumbent);
	if (s->twin)
		input_past(k, s->twin);
}

void
inputs_print(const struct keval *k)
{
	const char *path;
	json_t *needed;

	json_object_foreach(k->inputs, path, needed)
		if (json_is_true(needed) || kis_there(path))
			kout_raw(path, strlen(path));
}

char *
input_read(const struct keval *k, const char *path, size_t max, size_t *len)
{
	const json_t *needed = json_object_get(k->inputs, path);

	if (!needed)
		kdie(K_IO, "%s: bug in kiln: keval reads this file, but --inputs does not list it",
		    path);
	if (json_is_true(needed))
		return len ? kread_file_or_die(path, max, len) : kread_text_or_die(path, max);
	return kread_if_there(path, max, len);
}
