/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file: a person or an agent is the model. The prompt is written next to the output; the answer is
 * read when somebody has put it there; until then the exit code asks to try again.
 */

#include "klimit.h"
#include "kllm.h"

/* A file is complete when it has not changed for this long; wait until then. */
static const double settle_s = 1.0;

/* What the person or agent sees; the digest ties the answer to the prompt. */
static void
compose(struct kbuf *b)
{
	kbuf_printf(b, "<!-- kiln prompt %s sha256 %s -->\n", call.id, call.sha256);
	kbuf_printf(b,
	    "<!-- Answer in reply.txt (plain text) or reply.json ({\"text\", \"model\", "
	    "\"usage\"}) next to this file, then run make again. -->\n\n");
	kbuf_printf(b, "# System\n\n%s\n\n# User\n\n%s", call.system, call.user);
	if (b->data[b->len - 1] != '\n')
		kbuf_puts(b, "\n");
}

/* Answers to an earlier prompt of this cell are renamed, neither used nor destroyed. */
static void
put_aside(const char *path)
{
	auto_free char *old = kset_aside(path);

	if (old)
		kwarn("%s answers an older prompt; moved it to %s", path, old);
}

/* Write prompt.md unless it is already there with the right content. */
static void
write_prompt(const char *path, const char *txt, const char *json)
{
	auto_buf struct kbuf b = { 0 };
	size_t len = 0;
	auto_free char *there = kread_file(path, KLLM_BODY_MAX, &len);

	compose(&b);
	if (!there || len != b.len || memcmp(there, b.data, len)) {
		if (there) {
			put_aside(txt);
			put_aside(json);
		}
		if (kwrite_file(path, b.data, b.len) < 0)
			kdie_io("%s", path);
	}
}

/*
 * The file's content once it no longer changes; NULL when there is none (or an empty one) yet, or
 * TOO_LARGE.
 */
static char *
take(const char *path, size_t *len, bool *too_large)
{
	struct stat st;
	char *text;
	double age;

	*too_large = false;
	while (kfind_link(path, &st) && st.st_size > 0) {
		/* A link could make any file of this user part of a record. */
		if (!S_ISREG(st.st_mode))
			kdie_usage("%s: is not a regular file; put the answer itself there", path);
		age = klimit_age(&st);
		/* A time in the future is as good as one long ago. */
		if (age >= 0 && age < settle_s) {
			klimit_sleep(settle_s - age + 0.001);
			continue;
		}
		text = kread_file(path, KLLM_BODY_MAX, len);
		*too_large = !text && errno == EFBIG;
		if (!text && !*too_large)
			kdie_io("%s", path);
		return text;
	}
	return NULL;
}

json_t *
ask_file(void)
{
	const char *prompt, *txt, *json;
	auto_free char *text = NULL;
	bool too_large;
	size_t len;

	if (!call.out)
		kdie_usage("the provider 'file' needs -o FILE; prompt and answer go into the same "
		           "folder");
	prompt = kbeside(call.out, "prompt.md");
	txt = kbeside(call.out, "reply.txt");
	json = kbeside(call.out, "reply.json");
	write_prompt(prompt, txt, json);
	reply_init("file", *call.model ? call.model : "file");
	text = take(json, &len, &too_large);
	if (text) {
		json_auto_t *o = kjson_load(json);

		if (!reply_read(o))
			kdie_usage("%s: 'text' is missing or not a string", json);
	} else if (!too_large) {
		text = take(txt, &len, &too_large);
		if (!text && !too_large)
			kdie(K_AGAIN, "%s: waiting for %s, the answer to %s", call.id, txt, prompt);
		kbuf_add(&reply.text, text, text ? len : 0);
	}
	if (too_large)
		reply_too_large();
	reply_price();
	return reply_finish();
}
