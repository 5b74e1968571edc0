/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of every file that the campaign is based on. See kreport.h. */
#include <glob.h>

#include "kplace.h"
#include "kreport.h"
#include "kseal.h"

/* Names of files in the campaign's folder. */
struct names {
	char **list;
	size_t count;
};

static void
add_name(struct names *names, char *name)
{
	auto_free char *path = kasprintf("%s/%s", report.dir, name);

	if (!kis_there(path)) {
		free(name);
	} else {
		names->list = krealloc(names->list, (names->count + 1) * sizeof *names->list);
		names->list[names->count++] = name;
	}
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Manifest, task and the programs it names. */
static void
add_sources(struct names *names)
{
	const char *task = kcamp_str(report.camp, "task");
	json_auto_t *recordings = ktask_recordings(report.task->json);

	add_name(names, kstrdup("campaign.json"));
	add_name(names, kstrdup(task));
	add_name(names, kbeside(task, report.task->reference));
	if (report.task->oracle)
		add_name(names, kbeside(task, report.task->oracle));
	for (size_t i = 0; i < report.task->baseline_count; i++)
		add_name(names, kbeside(task, report.task->baselines[i].file));
	kjson_foreach(recording, recordings)
		add_name(names, kbeside(task, json_string_value(recording)));
}

/*
 * Facts of the trials in the report. An evaluation names its reply by its digest, the reply its
 * prompt, and so on: one digest covers a candidate.
 */
static void
add_facts(struct names *names)
{
	auto_free char *pattern = kplace_in(report.dir,
	                   "trials/{000/{machine.json,ceilings.json,tips.md},*/"
	                   "{evidence,verify}.ndjson,*/*/{digest,eval}.ndjson}"),
	               *prefix = kplace_in(report.dir, "");
	glob_t found;

	if (!glob(pattern, GLOB_BRACE | GLOB_NOSORT, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *name = found.gl_pathv[i] + strlen(prefix);

			if (atol(name + strlen("trials/")) <= report.last)
				add_name(names, kstrdup(name));
		}
	globfree(&found);
}

/*
 * Digests of a group of files, in the format that sha256sum -c reads, and the digest of that list.
 * Frees NAMES.
 */
static json_t *
digests_json(struct names *names, const char *what)
{
	auto_buf struct kbuf text = kbuf_empty();
	char hex[65];
	json_t *o;

	qsort(names->list, names->count, sizeof *names->list, by_name);
	for (size_t i = 0; i < names->count; i++) {
		auto_free char *path = kplace_in(report.dir, names->list[i]);

		if (kseal_file(path, hex))
			kbuf_printf(&text, "%s  %s\n", hex, names->list[i]);
		free(names->list[i]);
	}
	ksha256_hex(text.data, text.len, hex);
	o = json_pack("{s:s,s:I,s:s,s:s}", "what", what, "count", (json_int_t)names->count,
	    "sha256", hex, "list", text.data);
	free(names->list);
	return o;
}

void
add_digests(json_t *f)
{
	struct names sources = { 0 }, facts = { 0 };

	add_sources(&sources);
	add_facts(&facts);
	json_object_set_new(f, "digests",
	    json_pack("[o,o]", digests_json(&sources, "Task and sources"),
	        digests_json(&facts, "Facts")));
}
