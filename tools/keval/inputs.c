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

/* NEEDED: the run ends if it is missing; other files may be absent. */
static void
put(struct keval *k, const char *path, bool needed)
{
	if (!k->inputs)
		k->inputs = json_object();
	if (!json_object_get(k->inputs, path))
		json_object_set_new_nocheck(k->inputs, path, json_boolean(needed));
}

void
input(struct keval *k, const char *path)
{
	put(k, path, true);
}

void
input_maybe(struct keval *k, const char *path)
{
	put(k, path, false);
}

void
input_past(struct keval *k, const char *id)
{
	auto_free char *path = past_path(k, id);

	/* If it does not exist, there is no comparison. */
	if (path)
		put(k, path, false);
}

static void
input_beside_task(struct keval *k, const char *name)
{
	auto_free char *path = name ? kbeside(k->task_file, name) : NULL;

	if (path)
		input(k, path);
}

static void
inputs_of_task(struct keval *k)
{
	const json_t *baselines = json_object_get(k->task, "baselines");
	json_auto_t *recordings = ktask_recordings(k->task);

	input(k, k->task_file);
	input_beside_task(k, task_reference(k));
	input_beside_task(k, kjson_str_or(k->task, "oracle", NULL));
	for (size_t i = 0; i < json_array_size(baselines); i++)
		input_beside_task(k, kjson_str_or(json_array_get(baselines, i), "file", NULL));
	for (size_t i = 0; i < json_array_size(recordings); i++)
		input_beside_task(k, json_string_value(json_array_get(recordings, i)));
}

static void
inputs_of_tier(struct keval *k, const char *tier)
{
	const json_t *files = json_object_get(kcamp_json(k->camp, tier), "files");

	for (size_t i = 0; i < json_array_size(files); i++) {
		auto_free char *path =
		    kcamp_path(k->camp, json_string_value(json_array_get(files, i)) ?: "");

		input(k, path);
	}
}

static void
inputs_of_archive(struct keval *k)
{
	char *path = k->archive ? kstrdup(k->archive) : NULL;
	json_t *header;

	while (path && k->archive_count < LEN(k->archives)) {
		input(k, path);
		k->archives[k->archive_count++] = path;
		header = kin_first(path);
		path = karch_before(path, header);
		json_decref(header);
	}
}

void
inputs_of_run(struct keval *k)
{
	input(k, k->camp->file);
	if (k->task)
		inputs_of_task(k);
	inputs_of_tier(k, "eval.build");
	inputs_of_tier(k, "eval.correctness");
	inputs_of_tier(k, "eval.timing");
	inputs_of_archive(k);
	input_maybe(k, kverdict_path(k->camp->dir));
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
