/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to get the same again: commands, and the digest of every file that the campaign rests on.
 * See kreport.h.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kio.h"
#include "kplace.h"
#include "kreport.h"

#define FILE_MAX ((size_t)1 << 30)

/* Names of files below the campaign's folder. */
struct names {
	char **list;
	size_t count;
};

static void
add_name(const struct report *r, struct names *names, char *name)
{
	char *path = kasprintf("%s/%s", r->dir, name);

	if (access(path, F_OK)) {
		free(name);
	} else {
		names->list = krealloc(names->list, (names->count + 1) * sizeof *names->list);
		names->list[names->count++] = name;
	}
	free(path);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Manifest, task and the programs it names. */
static void
add_sources(const struct report *r, struct names *names)
{
	const char *task = kcamp_str(r->camp, "task");

	add_name(r, names, kstrdup("campaign.json"));
	add_name(r, names, kstrdup(task));
	add_name(r, names, ktask_beside(task, r->task->reference));
	if (r->task->oracle)
		add_name(r, names, ktask_beside(task, r->task->oracle));
	for (size_t i = 0; i < r->task->baseline_count; i++)
		add_name(r, names, ktask_beside(task, r->task->baselines[i].file));
}

static void
add_facts(const struct report *r, struct names *names)
{
	static const char *const stages[] = { "sample", "prompt", "reply", "digest", "eval" };
	static const char *const singles[] = { "machine.json", "ceilings.json", "tips.md" };

	for (size_t i = 0; i < LEN(singles); i++)
		add_name(r, names, kplace_trial(".", 0, singles[i]));
	for (long t = 1; t <= r->last; t++) {
		add_name(r, names, kplace_trial(".", t, "evidence.ndjson"));
		add_name(r, names, kplace_trial(".", t, "verify.ndjson"));
	}
	for (size_t i = 0; i < r->count; i++)
		for (size_t s = 0; s < LEN(stages); s++)
			add_name(r, names, kplace_id(".", r->list[i].id, stages[s]));
}

/* In the form that sha256sum -c reads. */
static void
add_digests(const struct report *r, const struct names *names, struct kbuf *out)
{
	for (size_t i = 0; i < names->count; i++) {
		char *path = kasprintf("%s/%s", r->dir, names->list[i]), hex[65], *data;
		size_t len;

		data = kread_file_or_die(path, FILE_MAX, &len);
		ksha256_hex(data, len, hex);
		kbuf_printf(out, "%s  %s\n", hex, names->list[i]);
		free(data);
		free(path);
	}
}

static void
free_names(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
}

/* Digests of a group of files; returns the digest of the list itself. */
static void
put_digests(struct doc *d, const struct report *r, struct names *names, const char *what)
{
	struct kbuf text = { 0 };
	char hex[65];

	qsort(names->list, names->count, sizeof *names->list, by_name);
	add_digests(r, names, &text);
	ksha256_hex(text.data, text.len, hex);
	doc_details(d, "%s: %s, digest of the list %s", what,
	    plural((long long)names->count, "file", "files"), hex);
	if (text.len)
		doc_code(d, text.data, text.len, "text");
	doc_details_end(d);
	kbuf_free(&text);
	free_names(names);
}

static void
put_commands(struct doc *d, const struct report *r)
{
	static const char same[] =
	    "make views     # scores, archives and gradients again, from the stored evaluations\n"
	    "make report    # this page again: from the same facts the same bytes\n";
	static const char replay[] =
	    "for t in trials/[0-9]*/[0-9]*/reply.ndjson; do\n"
	    "\tcell=${t#trials/} cell=${cell%/reply.ndjson}\n"
	    "\tmkdir -p \"replies/${cell%/*}\" && cp \"$t\" \"replies/$cell.ndjson\"\n"
	    "done\n"
	    "mv trials trials.old && rm -f archive.ndjson\n"
	    "jq '.model = {provider: \"replay\"}' campaign.json >new.json && mv new.json "
	    "campaign.json\n";
	char *measure = kasprintf(
	    "# the best alone: built, checked and timed again\nmake redo CELL=%s FROM=eval\n"
	    "# the best beside the reference and the baselines, when it was not verified yet\nmake "
	    "verify\n"
	    "# all of them; no model is called\nrm trials/*/*/eval.ndjson && make views\n",
	    r->best ? r->best->id : "001/01");
	char *run = kasprintf("%smake -j4 trials N=%ld && make verify report\n", replay, r->last);

	doc_text(d, "In the campaign's folder. The page and the views, from what is there:");
	doc_code(d, same, strlen(same), "sh");
	doc_text(d,
	    "The measurements, on this machine or another; times will differ, verdicts should "
	    "not:");
	doc_code(d, measure, strlen(measure), "sh");
	doc_text(d,
	    "The whole search, in a copy of the folder, with the replies that were given. Prompts "
	    "depend on measured times, so where other times lead to another parent a recorded "
	    "reply answers a prompt that was not quite the same; the records say where "
	    "(\1reply.recorded.prompt_match\1):");
	doc_code(d, run, strlen(run), "sh");
	free(measure);
	free(run);
}

void
put_reproduce(struct doc *d, const struct report *r)
{
	struct names sources = { 0 }, facts = { 0 };

	doc_section(d, "reproduce", "How to reproduce it");
	put_commands(d, r);
	add_sources(r, &sources);
	add_facts(r, &facts);
	doc_text(
	    d, "SHA-256 of what the campaign rests on, in the form that \1sha256sum -c\1 reads:");
	put_digests(d, r, &sources, "Task and sources");
	put_digests(d, r, &facts, "Facts");
}
