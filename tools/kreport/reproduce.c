/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of every file that the campaign is based on. See kreport.h. */
#include "kreport.h"
#include "kseal.h"

/* NAME: of a file in the campaign's folder, which may be missing. */
static void
add_name(json_t *names, const char *name)
{
	if (kis_there(kplace_in(kcamp.dir, name)))
		kjson_add(names, name);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(
	    json_string_value(*(json_t *const *)a), json_string_value(*(json_t *const *)b));
}

/* Manifest, task and the programs it names. */
static void
add_sources(json_t *names)
{
	const char *task = kcamp_str("task");
	json_auto_t *recordings = ktask_recordings(report.task->json);

	add_name(names, "campaign.json");
	add_name(names, task);
	add_name(names, kbeside(task, report.task->reference));
	if (report.task->oracle)
		add_name(names, kbeside(task, report.task->oracle));
	kforeach_of(baseline, report.task->baselines, report.task->baseline_count)
		add_name(names, kbeside(task, baseline->file));
	kjson_foreach_text(recording, recordings)
		add_name(names, kbeside(task, recording));
}

static void
add_fact(const char *path, json_t *names)
{
	const char *name = path + strlen(kplace_in(kcamp.dir, ""));

	if (atol(name + strlen("trials/")) <= ktrials.last)
		add_name(names, name);
}

/*
 * Facts of the trials in the report. An evaluation names its reply by its digest, the reply its
 * prompt, and so on: one digest covers a candidate.
 */
static void
add_facts(json_t *names)
{
	static const char *const facts[] = { "trials/000/machine.json", "trials/000/ceilings.json",
		"trials/000/tips.md", "trials/*/evidence.ndjson", "trials/*/verify.ndjson",
		"trials/*/*/digest.ndjson", "trials/*/*/eval.ndjson" };

	kforeach(fact, facts)
		kpath_foreach(path, kplace_in(kcamp.dir, *fact))
			add_fact(path, names);
}

/*
 * Digests of a group of files, in the format that sha256sum -c reads, and the digest of that list.
 */
static json_t *
group_json(const char *what, void (*add)(json_t *names))
{
	auto_buf struct kbuf text = kbuf_empty();
	json_auto_t *names = json_array();
	const char *digest;

	add(names);
	kjson_sort(names, by_name);
	kjson_foreach_text(name, names)
		if ((digest = kseal_file(kplace_in(kcamp.dir, name))))
			kbuf_printf(&text, "%s  %s\n", digest, name);
	return json_pack("{s:s,s:I,s:s,s:s}", "what", what, "count",
	    (json_int_t)json_array_size(names), "sha256", ksha256(text.data, text.len), "list",
	    text.data);
}

json_t *
digests_json(void)
{
	return json_pack(
	    "[o,o]", group_json("Task and sources", add_sources), group_json("Facts", add_facts));
}
