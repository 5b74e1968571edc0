/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a second model summarises the records; its answer is kept if it has the required form. See
 * krecords.h.
 */
#include "kfence.h"
#include "kproc.h"
#include "krecords.h"
#include "ktemplate.h"

enum { WORDS = 350, RECORDS_MAX = 40000, TEMPLATE_MAX = 1 << 20 };

/* Files of one compaction, all in memory/. */
struct files {
	char *done, *prompt, *reply, *refused;
};

static struct files
files_of(long number)
{
	return (struct files){ kasprintf("memory/compact-%03ld.ndjson", number),
		kasprintf("memory/compact-%03ld.prompt.ndjson", number),
		kasprintf("memory/compact-%03ld.reply.ndjson", number),
		kasprintf("memory/compact-%03ld.refused.ndjson", number) };
}

static void
files_free(struct files *f)
{
	free(f->done);
	free(f->prompt);
	free(f->reply);
	free(f->refused);
}

/* prompts/memory/NAME of the campaign, else the one that ships with kiln, filled in. */
static void
render(struct kbuf *out, const char *name, const json_t *facts)
{
	auto_free char *own = kasprintf("prompts/memory/%s.txt", name),
	               *path = kis_there(own) ? kstrdup(own) : kdata_path(own),
	               *text = kread_file_or_die(path, TEMPLATE_MAX, NULL);
	struct ktemplate t = { 0 };

	ktemplate_fill(&t, out, text, path, facts);
}

/* The records that are not masked, except v0: their names go into COVERS, their text into B. */
static void
gather(json_t *covers, struct kbuf *b)
{
	size_t count;
	auto_free long *list = kmemo_versions(".", &count);

	kforeach_of(one, list, count) {
		json_t *v;

		if (*one == 0 || kmemo_masked(&campaign.masks, *one, KMEMO_ALL))
			continue;
		v = checked_version(*one);
		json_array_append_new(covers, json_sprintf("v%ld", *one));
		kmemo_entry(b, v, KMEMO_ALL);
		json_decref(v);
	}
}

/*
 * The request: a record with a prompt for kllm, and what it covers. NULL when there is nothing to
 * summarise.
 */
static json_t *
question(long number)
{
	json_t *covers = json_array(), *facts, *record;
	struct kbuf text = { 0 }, block = { 0 }, system = { 0 }, user = { 0 };
	const char *gpu = kcamp_str(campaign.camp, "gpu");
	char hex[65], *part, *salt;

	gather(covers, &text);
	if (!json_array_size(covers)) {
		json_decref(covers);
		return NULL;
	}
	part = kfence_shorten(text.data, RECORDS_MAX);
	/* The authors of texts in the records do not know the campaign's seed. */
	salt = kasprintf("%.0f/compact/%ld", kcamp_num(campaign.camp, "seed"), number);
	kfence_data(&block, part, "records", salt);
	facts = json_pack("{s:s,s:s,s:s,s:s,s:I,s:s,s:i}", "task", campaign.task->name, "device",
	    *gpu ? gpu : "this machine", "first", json_string_value(json_array_get(covers, 0)),
	    "last", json_string_value(json_array_get(covers, json_array_size(covers) - 1)), "count",
	    (json_int_t)json_array_size(covers), "records", block.data, "words", WORDS);
	render(&system, "system", facts);
	render(&user, "user", facts);
	kbuf_add(&block, system.data, system.len);
	block.len = 0;
	kbuf_printf(&block, "%s\n%s", system.data, user.data);
	ksha256_hex(block.data, block.len, hex);
	record = json_pack("{s:s,s:s,s:I,s:i,s:o,s:o,s:{s:s,s:s,s:i,s:s,s:[]}}", "schema",
	    "compact/1", "campaign", kcamp_str(campaign.camp, "name"), "trial", (json_int_t)number,
	    "branch", 0, "id", json_sprintf("%03ld/00", number), "covers", covers, "prompt",
	    "system", system.data, "user", user.data, "stable_bytes", 0, "sha256", hex, "sections");
	if (!record)
		kdie(K_IO, "out of memory");
	kbuf_free(&text);
	kbuf_free(&block);
	kbuf_free(&system);
	kbuf_free(&user);
	json_decref(facts);
	free(part);
	free(salt);
	return record;
}

/*
 * Runs kllm with the provider of the campaign's second model; returns its exit code, which is ours
 * when it fails.
 */
static int
ask(const struct files *f)
{
	const char *const argv[] = { "kllm", "--feedback", "-o", f->reply, f->prompt, NULL };
	int code = kproc_tool(argv, NULL, NULL);

	if (code)
		kwarn("%s: kllm returned no answer", f->done);
	return code;
}

static void
write_line(const char *path, const json_t *record)
{
	auto_buf struct kbuf b = { 0 };

	put_json(&b, record);
	put_file(path, b.data, b.len);
}

/* The answer becomes a compaction, or is renamed with the reason. */
static int
accept(const struct files *f)
{
	char why[200];
	json_auto_t *whole = kin_first(f->reply);
	json_t *sections;
	const char *text = kjson_str_or(whole, "reply.text", NULL);

	if (!text)
		kdie(K_USAGE, "%s: no record with 'reply.text'", f->reply);
	sections = kmemo_sections(text, why, sizeof why);
	if (sections) {
		json_object_set_new(whole, "compact", sections);
		write_line(f->done, whole);
	} else {
		kwarn("%s: the answer cannot be used: %s; it is kept as %s", f->done, why,
		    f->refused);
		write_line(f->refused, whole);
	}
	unlink(f->reply);
	unlink(f->prompt);
	return sections ? K_OK : K_NO;
}

static void
put_prompt(const json_t *record)
{
	kout_open(given.output);
	kout_json(record);
	kout_commit();
}

int
command_compact(void)
{
	long number = campaign.trials.last;
	struct files f = files_of(number);
	json_auto_t *record = NULL;
	int code = K_OK;

	if (given.output && !given.prompt)
		kdie(K_USAGE, "-o needs --prompt; the answer goes to %s", f.done);
	record = question(number);
	if (!record) {
		kwarn("there is nothing to summarise");
		code = K_NO;
	} else if (given.prompt) {
		put_prompt(record);
	} else if (kis_there(f.refused)) {
		kwarn("%s: an earlier answer could not be used; remove it to ask again", f.refused);
		code = K_NO;
	} else if (!kis_there(f.done)) {
		/* Use an answer that a killed run has paid for. */
		if (!kis_there(f.reply)) {
			write_line(f.prompt, record);
			code = ask(&f);
		}
		if (!code)
			code = accept(&f);
	}
	files_free(&f);
	return code;
}
