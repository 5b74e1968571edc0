/* SPDX-License-Identifier: Apache-2.0 */
/* spool: see spool.h. */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Path for a step, or NULL when the output is stdout; the caller frees. */
static char *
spool_path(const struct call *c, int step)
{
	char suffix[32];

	if (!c->out)
		return NULL;
	snprintf(suffix, sizeof suffix, step > 1 ? ".spool%d" : ".spool", step);
	return call_beside(c, suffix);
}

static void
put(struct spool *s, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(s->fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			kdie_errno(K_IO, "spool");
		data += n;
		len -= (size_t)n;
	}
}

void
spool_begin(struct spool *s, const struct call *c, int step, const json_t *intent)
{
	char *path = spool_path(c, step), *line;

	*s = (struct spool){ 0 };
	if (!path)
		return;
	s->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (s->fd < 0)
		kdie_errno(K_IO, "%s", path);
	line = json_dumps(intent, KIO_DUMP);
	s->intent_len = (long)strlen(line) + 1;
	put(s, line, strlen(line));
	put(s, "\n", 1);
	if (fsync(s->fd) < 0 || ksync_folder(path) < 0)
		kdie_errno(K_IO, "%s", path);
	free(line);
	free(path);
}

void
spool_head(struct spool *s, const struct transport *t)
{
	struct kbuf safe = { 0 };

	if (s->fd <= 0 || t->status != 200)
		return;
	kbuf_add(&safe, t->head.data, t->head.len);
	secret_redact(&safe);
	put(s, safe.data, safe.len);
	put(s, "\n", 1);
	kbuf_free(&safe);
}

void
spool_body(struct spool *s, const char *bytes, size_t len)
{
	struct kbuf safe = { 0 };

	if (s->fd <= 0)
		return;
	secret_feed(&s->redactor, bytes, len, &safe);
	put(s, safe.data ? safe.data : "", safe.len);
	kbuf_free(&safe);
}

void
spool_end(struct spool *s, bool keep)
{
	struct kbuf rest = { 0 };

	if (s->fd <= 0)
		return;
	secret_flush(&s->redactor, &rest);
	put(s, rest.data ? rest.data : "", rest.len);
	kbuf_free(&rest);
	if (!keep && ftruncate(s->fd, s->intent_len) < 0)
		kdie_errno(K_IO, "spool");
	close(s->fd);
	s->fd = 0;
}

static bool
is_ours(const json_t *intent, const struct call *c, const char *model)
{
	return !strcmp(kjson_str_or(intent, "schema", ""), "exchange/1") &&
	    !strcmp(kjson_str_or(intent, "model", ""), model) &&
	    !strcmp(kjson_str_or(intent, "prompt_sha256", ""), c->sha256);
}

enum spool_state
spool_resume(const struct call *c, int step, const char *model, struct kanswer *a, int64_t *reserved)
{
	char *path = spool_path(c, step), *text, *end, *body;
	enum spool_state state = SPOOL_NONE;
	json_t *intent;
	size_t len;

	*reserved = 0;
	text = path ? kread_file(path, 2 * KLLM_BODY_MAX, &len) : NULL;
	free(path);
	if (!text)
		return SPOOL_NONE;
	end = strchr(text, '\n');
	intent = end ? json_loadb(text, (size_t)(end - text), 0, NULL) : NULL;
	if (intent && is_ours(intent, c, model)) {
		state = SPOOL_PARTIAL;
		*reserved = kjson_int_or(intent, "reserved_nanousd", 0);
		body = strncmp(end + 1, "HTTP 200\n", 9) ? NULL : strstr(end + 1, "\n\n");
		if (body) {
			kanswer_feed(a, body + 2, len - (size_t)(body + 2 - text));
			kanswer_end(a);
		}
		if (kanswer_complete(a))
			state = SPOOL_WHOLE;
		else
			kanswer_free(a);
	}
	json_decref(intent);
	free(text);
	return state;
}

void
spool_discard(const struct call *c, int step)
{
	char *path = spool_path(c, step);

	if (path)
		unlink(path);
	free(path);
}

void
spool_remove(const struct call *c)
{
	for (int step = 1; step <= SPOOL_STEPS; step++)
		spool_discard(c, step);
}
