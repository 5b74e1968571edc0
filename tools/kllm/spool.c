/* SPDX-License-Identifier: Apache-2.0 */
/* spool: see spool.h. */
#include "spool.h"

#include "secret.h"

/* Path for a step, or NULL when the output is stdout; the caller frees. */
static char *
spool_path(int step)
{
	return call.out ? call_beside(step > 1 ? ".spool2" : ".spool") : NULL;
}

int
spool_begin(int step, const json_t *intent, size_t room)
{
	char *path = spool_path(step), *text, *line;
	size_t len;
	int fd, e;

	if (!path)
		return 0;
	text = json_dumps(intent, KIO_DUMP);
	line = kasprintf("%s\n", text);
	len = strlen(line);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0 || (errno = posix_fallocate(fd, 0, (off_t)(len + room))) != 0 ||
	    kwrite_all(fd, line, len) < 0 || fsync(fd) < 0 || ksync_folder(path) < 0) {
		e = errno;
		if (fd >= 0) {
			close(fd);
			unlink(path);
		}
		fd = -1;
		errno = e;
	}
	free(text);
	free(line);
	free(path);
	return fd;
}

void
spool_end(int spool, const struct transport *t, const struct kbuf *body, bool whole)
{
	off_t intent = spool ? lseek(spool, 0, SEEK_CUR) : 0;
	struct kbuf answer = { 0 };

	if (!spool)
		return;
	if (whole) {
		kbuf_printf(&answer, "HTTP 200\n%s\n", t->head.data ? t->head.data : "");
		kbuf_add(&answer, body->data, body->len);
		secret_redact(&answer);
	}
	if (kwrite_all(spool, answer.data, answer.len) < 0 ||
	    ftruncate(spool, intent + (off_t)answer.len) < 0 || fsync(spool) < 0) {
		kwarn("cannot write the answer to the spool: %s", strerror(errno));
		if (ftruncate(spool, intent) < 0)
			kwarn("cannot truncate the spool: %s", strerror(errno));
	}
	close(spool);
	kbuf_free(&answer);
}

static bool
is_ours(const json_t *intent, const char *model)
{
	return kjson_is(intent, "schema", "exchange/1") && kjson_is(intent, "model", model) &&
	    kjson_is(intent, "prompt_sha256", call.sha256);
}

enum spool_state
spool_resume(int step, const char *model, struct kanswer *a, int64_t *reserved)
{
	auto_free char *path = spool_path(step);
	char *text, *end, *body;
	enum spool_state state = SPOOL_NONE;
	json_t *intent;
	size_t len;

	*reserved = 0;
	text = path ? kread_file(path, 3 * KLLM_BODY_MAX, &len) : NULL;
	if (!text)
		return SPOOL_NONE;
	/* After a kill, the space reserved for the rest of the answer still follows, as NULs. */
	while (len && !text[len - 1])
		len--;
	end = strchr(text, '\n');
	intent = end ? json_loadb(text, (size_t)(end - text), 0, NULL) : NULL;
	if (intent && is_ours(intent, model)) {
		state = SPOOL_PARTIAL;
		*reserved = kjson_int(intent, "reserved_nanousd");
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
spool_discard(int step)
{
	auto_free char *path = spool_path(step);

	if (path)
		unlink(path);
}

void
spool_remove(void)
{
	for (int step = 1; step <= SPOOL_STEPS; step++)
		spool_discard(step);
}
