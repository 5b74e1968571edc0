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

/* False with errno set; what is written then counts as nothing. */
static bool
put(struct spool *s, const char *data, size_t len)
{
	while (len) {
		ssize_t n = pwrite(s->fd, data, len, s->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		data += n;
		s->len += n;
		len -= (size_t)n;
	}
	return true;
}

/* The answer goes on without a spool: it is paid for, and the record may yet be written. */
static void
give_up(struct spool *s)
{
	kwarn("cannot write the answer to the spool: %s", strerror(errno));
	if (ftruncate(s->fd, s->intent_len) < 0)
		kwarn("cannot truncate the spool: %s", strerror(errno));
	close(s->fd);
	s->fd = 0;
}

static bool
reserve(int fd, size_t room)
{
	int e;

	while ((e = posix_fallocate(fd, 0, (off_t)room)) == EINTR)
		;
	errno = e;
	return !e;
}

bool
spool_begin(struct spool *s, const struct call *c, int step, const json_t *intent, size_t room)
{
	char *path = spool_path(c, step), *line;
	bool safe;
	int e;

	*s = (struct spool){ 0 };
	if (!path)
		return true;
	line = json_dumps(intent, KIO_DUMP);
	s->intent_len = (long)strlen(line) + 1;
	s->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	safe = s->fd >= 0 && reserve(s->fd, (size_t)s->intent_len + room) &&
	    put(s, line, strlen(line)) && put(s, "\n", 1) && fsync(s->fd) == 0 &&
	    ksync_folder(path) == 0;
	e = errno;
	if (!safe && s->fd >= 0) {
		close(s->fd);
		unlink(path);
	}
	if (!safe)
		s->fd = 0;
	free(line);
	free(path);
	errno = e;
	return safe;
}

void
spool_head(struct spool *s, const struct transport *t)
{
	struct kbuf safe = { 0 };

	if (s->fd <= 0 || t->status != 200)
		return;
	kbuf_printf(&safe, "HTTP 200\n%s", t->head.data ? t->head.data : "");
	secret_redact(&safe);
	if (!put(s, safe.data, safe.len) || !put(s, "\n", 1))
		give_up(s);
	kbuf_free(&safe);
}

void
spool_body(struct spool *s, const char *bytes, size_t len)
{
	struct kbuf safe = { 0 };

	if (s->fd <= 0)
		return;
	secret_feed(&s->redactor, bytes, len, &safe);
	if (!put(s, safe.data ? safe.data : "", safe.len))
		give_up(s);
	kbuf_free(&safe);
}

void
spool_end(struct spool *s, bool keep)
{
	struct kbuf rest = { 0 };

	if (s->fd <= 0)
		return;
	secret_flush(&s->redactor, &rest);
	if (!put(s, rest.data ? rest.data : "", rest.len) ||
	    ftruncate(s->fd, keep ? s->len : s->intent_len) < 0 || fsync(s->fd) < 0) {
		give_up(s);
	} else {
		close(s->fd);
		s->fd = 0;
	}
	kbuf_free(&rest);
}

static bool
is_ours(const json_t *intent, const struct call *c, const char *model)
{
	return !strcmp(kjson_str_or(intent, "schema", ""), "exchange/1") &&
	    !strcmp(kjson_str_or(intent, "model", ""), model) &&
	    !strcmp(kjson_str_or(intent, "prompt_sha256", ""), c->sha256);
}

enum spool_state
spool_resume(
    const struct call *c, int step, const char *model, struct kanswer *a, int64_t *reserved)
{
	char *path = spool_path(c, step), *text, *end, *body;
	enum spool_state state = SPOOL_NONE;
	json_t *intent;
	size_t len;

	*reserved = 0;
	text = path ? kread_file(path, 3 * KLLM_BODY_MAX, &len) : NULL;
	free(path);
	if (!text)
		return SPOOL_NONE;
	/* After a kill the room that was taken for more of the answer still follows, as NULs. */
	while (len && !text[len - 1])
		len--;
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
