/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a second model summarises the records; its answer is kept if it has the required form. See
 * krecords.h.
 */
#include "krecords.h"

enum { WORDS = 350, RECORDS_MAX = 40000 };

/* A file of the compaction after the last trial; the caller frees. */
static char *
file_of(const char *what)
{
	return kasprintf("memory/compact-%03ld%s.ndjson", ktrials.last, what);
}

/* prompts/memory/NAME of the campaign, else the one that ships with kiln, filled in. */
static void
render(struct kbuf *out, const char *name, const json_t *facts)
{
	auto_free char *own = kasprintf("prompts/memory/%s.txt", name),
	               *path = kis_there(own) ? kstrdup(own) : kdata_path(own);
	struct ktemplate t = { 0 };

	ktemplate_file(&t, out, path, facts);
}

/* The records that are not masked, except v0: their names go into COVERS, their text into B. */
static void
gather(json_t *covers, struct kbuf *b)
{
	size_t count;
	auto_free long *list = kmemo_versions(&count);

	kforeach_of(one, list, count) {
		json_auto_t *v = NULL;

		if (*one == 0 || kmemo_masked(*one, KMEMO_ALL))
			continue;
		v = checked_version(*one);
		json_array_append_new(covers, json_sprintf("v%ld", *one));
		kmemo_entry(b, v, KMEMO_ALL);
	}
}

/*
 * The request: a record with a prompt for kllm, and what it covers. NULL when there is nothing to
 * summarise.
 */
static json_t *
question(void)
{
	json_auto_t *covers = json_array(), *facts = NULL;
	json_t *record;
	auto_buf struct kbuf text = { 0 }, block = { 0 }, prompt = { 0 };
	const char *gpu = kcamp_str("gpu");
	auto_free char *part = NULL, *salt = NULL;
	long number = ktrials.last;
	size_t count, system;

	gather(covers, &text);
	count = json_array_size(covers);
	if (!count)
		return NULL;
	part = kfence_shorten(text.data, RECORDS_MAX);
	/* The authors of texts in the records do not know the campaign's seed. */
	salt = kasprintf("%.0f/compact/%ld", kcamp_num("seed"), number);
	kfence_data(&block, part, "records", salt);
	facts = json_pack("{s:s,s:s,s:s,s:s,s:I,s:s,s:i}", "task", campaign.task->name, "device",
	    *gpu ? gpu : "this machine", "first", kjson_item(covers, 0), "last",
	    kjson_item(covers, count - 1), "count", (json_int_t)count, "records", block.data,
	    "words", WORDS);
	render(&prompt, "system", facts);
	system = prompt.len;
	kbuf_puts(&prompt, "\n");
	render(&prompt, "user", facts);
	record = json_pack("{s:s,s:s,s:I,s:i,s:o,s:O,s:{s:s%,s:s,s:i,s:s,s:[]}}", "schema",
	    "compact/1", "campaign", kcamp_str("name"), "trial", (json_int_t)number, "branch", 0,
	    "id", json_sprintf("%03ld/00", number), "covers", covers, "prompt", "system",
	    prompt.data, system, "user", prompt.data + system + 1, "stable_bytes", 0, "sha256",
	    ksha256(prompt.data, prompt.len), "sections");
	if (!record)
		kdie(K_IO, "out of memory");
	return record;
}

/*
 * Runs kllm with the provider of the campaign's second model; returns its exit code, which is ours
 * when it fails.
 */
static int
ask(const char *done, const char *prompt, const char *reply)
{
	const char *const argv[] = { "kllm", "--feedback", "-o", reply, prompt, NULL };
	int code = kproc_tool(argv, NULL, NULL);

	if (code)
		kwarn("%s: kllm returned no answer", done);
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
accept(const char *done, const char *refused, const char *reply)
{
	json_auto_t *whole = kin_first(reply), *sections = json_object();
	const char *text = kjson_maybe(whole, "reply.text"), *why;

	if (!text)
		kdie_usage("%s: no record with 'reply.text'", reply);
	if (!(why = kmemo_sections(text, sections)))
		json_object_set(whole, "compact", sections);
	else
		kwarn("%s: the answer cannot be used: %s; it is kept as %s", done, why, refused);
	write_line(why ? refused : done, whole);
	unlink(reply);
	return why ? K_NO : K_OK;
}

/* Asks, or uses an answer that a killed run has paid for. */
static int
summarise(const json_t *record, const char *done, const char *refused)
{
	auto_free char *prompt = file_of(".prompt"), *reply = file_of(".reply");
	int code = K_OK;

	if (!kis_there(reply)) {
		write_line(prompt, record);
		code = ask(done, prompt, reply);
	}
	if (!code) {
		code = accept(done, refused, reply);
		unlink(prompt);
	}
	return code;
}

int
command_compact(void)
{
	auto_free char *done = file_of(""), *refused = file_of(".refused");
	json_auto_t *record = NULL;
	int code = K_NO;

	if (given.output && !given.prompt)
		kdie_usage("-o needs --prompt; the answer goes to %s", done);
	record = question();
	if (given.prompt && record) {
		kout_only(given.output, record);
		code = K_OK;
	} else if (!record) {
		kwarn("there is nothing to summarise");
	} else if (kis_there(refused)) {
		kwarn("%s: an earlier answer could not be used; remove it to ask again", refused);
	} else {
		code = kis_there(done) ? K_OK : summarise(record, done, refused);
	}
	return code;
}
