/* SPDX-License-Identifier: Apache-2.0 */
/* What a run reads, for whoever has to bring it to another machine first (kremote). It stands beside what reads it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "karch.h"
#include "keval.h"
#include "kio.h"
#include "kutil.h"

void
input(const char *path)
{
	kout_raw(path, strlen(path));
}

static void
input_of_campaign(const struct keval *k, const char *name)
{
	char *path = kcamp_path(k->camp, name);

	if (*name)
		input(path);
	free(path);
}

void
input_past(const struct keval *k, const char *id)
{
	char *path = karch_path(k->camp->dir, id, "eval");

	/* One that is not there is a comparison that is not made. */
	if (!access(path, F_OK))
		input(path);
	free(path);
}

static void
inputs_of_task(const struct keval *k, bool trusted)
{
	const json_t *baselines = json_object_get(k->task, "baselines");

	input(k->task_file);
	if (trusted || !kjson_str_or(k->task, "oracle", NULL))
		input_of_campaign(k, kjson_str_or(k->task, "reference", "reference.c"));
	input_of_campaign(k, kjson_str_or(k->task, "oracle", ""));
	for (size_t i = 0; trusted && i < json_array_size(baselines); i++)
		input_of_campaign(k, kjson_str_or(json_array_get(baselines, i), "file", ""));
}

void
inputs_of_run(const struct keval *k, bool trusted)
{
	static const char *const tiers[] = { "eval.build.files", "eval.correctness.files", "eval.timing.files" };

	input(k->camp->file);
	if (k->task)
		inputs_of_task(k, trusted);
	for (size_t i = 0; i < LEN(tiers); i++) {
		const json_t *files = kjson_path(k->camp->json, tiers[i]);

		for (size_t n = 0; n < json_array_size(files); n++)
			input_of_campaign(k, json_string_value(json_array_get(files, n)) ? : "");
	}
	if (k->archive)
		input(k->archive);
	input_past(k, "000/00");
}

void
inputs_of_subject(const struct keval *k, const struct subject *s)
{
	char *twin = s->code ? subject_duplicate(k, s) : NULL;

	if (s->incumbent)
		input_past(k, s->incumbent);
	if (twin)
		input_past(k, twin);
	free(twin);
}
