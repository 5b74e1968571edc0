/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of every file that the campaign is based on. See kreport.h. */
#include "kreport.h"
#include "kseal.h"

/*
 * Facts of the trials in the report. An evaluation names its reply by its digest, the reply its
 * prompt, and so on: one digest covers a candidate.
 */
static const char *const facts[] = { "trials/000/machine.json", "trials/000/ceilings.json",
	"trials/000/tips.md", "trials/*/evidence.ndjson", "trials/*/verify.ndjson",
	"trials/*/*/digest.ndjson", "trials/*/*/eval.ndjson" };

/* The digests, in the format that sha256sum -c reads. */
static struct list {
	struct kbuf text;
	long count;
} list;

/* NAME: of a file in the campaign's folder, which may be missing. */
static void
add_file(const char *name)
{
	const char *digest = kseal_file(kplace_in(kcamp.dir, name));

	if (digest)
		kbuf_printf(&list.text, "%s  %s\n", digest, name);
	list.count += digest != NULL;
}

/* A file next to the task; NULL: the task has none. */
static void
add_source(const char *name)
{
	if (name)
		add_file(kbeside(kcamp_str("task"), name));
}

json_t *
digests_json(void)
{
	json_auto_t *recordings = ktask_recordings(report.task->json);

	add_file("campaign.json");
	add_file(kcamp_str("task"));
	add_source(report.task->reference);
	add_source(report.task->oracle);
	kforeach_of(baseline, report.task->baselines, report.task->baseline_count)
		add_source(baseline->file);
	kjson_foreach_text(recording, recordings)
		add_source(recording);
	kforeach(fact, facts)
		kpath_foreach(path, kplace_in(kcamp.dir, *fact)) {
			const char *name = path + strlen(kplace_in(kcamp.dir, ""));

			if (atol(name + strlen("trials/")) <= ktrials.last)
				add_file(name);
		}
	return json_pack("{s:I,s:s,s:s}", "count", (json_int_t)list.count, "sha256",
	    ksha256(list.text.data, list.text.len), "list", list.text.data);
}
