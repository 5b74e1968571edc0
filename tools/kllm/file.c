/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file: a person or an agent is the model. The prompt is written next to the output; the answer is
 * read when somebody has put it there; until then the exit code asks to try again.
 */

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

/* Seconds since the last change; a time in the future counts as long ago. */
static double
age_of(const struct stat *st)
{
	struct timespec now;
	double age;

	clock_gettime(CLOCK_REALTIME, &now);
	age = (double)(now.tv_sec - st->st_mtim.tv_sec) +
	    1e-9 * (double)(now.tv_nsec - st->st_mtim.tv_nsec);
	return age < 0 ? settle_s : age;
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
		age = age_of(&st);
		if (age < settle_s) {
			usleep((useconds_t)((settle_s - age) * 1e6) + 1000);
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

static const char *const finishes[] = { "stop", "length", "refusal", "content_filter", "other" };

static void
from_json(const char *path)
{
	json_auto_t *o = kjson_load(path);
	const json_t *text = json_object_get(o, "text");
	const char *reasoning = kjson_str(o, "reasoning"),
	           *finish = kjson_str_or(o, "finish", "stop");
	const char *model = kjson_maybe(o, "model");
	size_t i;

	if (!json_is_string(text))
		kdie_usage("%s: 'text' is missing or not a string", path);
	kbuf_add(&reply.text, json_string_value(text), json_string_length(text));
	kbuf_puts(&reply.reasoning, reasoning);
	i = kindex_of(finish, finishes, LEN(finishes));
	reply.finish = i < LEN(finishes) ? finishes[i] : "other";
	if (model) {
		free(reply.model);
		reply.model = kstrdup(model);
	}
	kusage_read(&reply.usage, json_object_get(o, "usage"));
}

json_t *
ask_file(void)
{
	auto_free char *prompt = NULL, *txt = NULL, *json = NULL, *text = NULL;
	bool too_large;
	size_t len;

	if (!call.folder)
		kdie_usage("the provider 'file' needs -o FILE; prompt and answer go into the same "
		           "folder");
	prompt = kasprintf("%s/prompt.md", call.folder);
	txt = kasprintf("%s/reply.txt", call.folder);
	json = kasprintf("%s/reply.json", call.folder);
	write_prompt(prompt, txt, json);
	reply_init("file", *call.model ? call.model : "file");
	text = take(json, &len, &too_large);
	if (text) {
		from_json(json);
	} else if (!too_large) {
		text = take(txt, &len, &too_large);
		if (!text && !too_large)
			kdie(K_AGAIN, "%s: waiting for %s, the answer to %s", call.id, txt, prompt);
		kbuf_add(&reply.text, text, text ? len : 0);
	}
	if (too_large)
		reply_too_large();
	if (reply.usage.known)
		reply_price();
	return reply_finish();
}
